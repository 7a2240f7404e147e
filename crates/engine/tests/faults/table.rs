//! Every operation of the engine that touches the store. A new operation is a new row here.

use crate::world::{Past, World};
use heirloom_engine::places::FileDigest;
use heirloom_engine::transcripts::Agent;
use heirloom_engine::{
    ArtifactFilter, Carried, ContextRequest, EpisodeFilter, Filter, Foreign, ForeignPart,
    HistorySource, Keep, MirrorLoad, NewArtifact, NewEpisode, NewNote, NewOutput, NewRecord,
    NewTurn, Observer, OutputSource, Reach, RecallRequest, Remover, Retire, RulesFile, RunRequest,
    Selection, SharedFile, TaskChange, TranscriptStart, TranscriptsRequest, WindowRequest,
    Workspace, mirror,
};
use heirloom_model::context::Context;
use heirloom_model::kinds::{ArtifactType, EpisodeAction, StepState, TaskState};
use heirloom_model::stream::StreamFormat;
use heirloom_model::{AgentStatus, ErrorKind, Fault, Kind, Mark, Outcome, Role, Scope, limits};
use heirloom_window::Policy;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// What an operation does to the project.
pub(crate) type Act = fn(&World) -> Result<(), Fault>;

/// What a fault may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// Everything or nothing.
    AllOrNothing,
    /// The first of several steps, each of which is whole and sound by itself, for this reason.
    Steps(&'static str),
}

/// What the same call does once more, after it had its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// Nothing.
    Nothing,
    /// Nothing, but it says that there was nothing to do.
    Refused,
    /// Something, for this reason.
    More(&'static str),
}

/// One row.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) setup: Act,
    pub(crate) act: Act,
    pub(crate) leaves: Leaves,
    pub(crate) again: Again,
}

impl Operation {
    /// What of the past counts when two outcomes are compared.
    pub(crate) fn past(&self) -> Past {
        match self.leaves {
            Steps(TAKEN_BACK) => Past::WithoutTakenBack,
            Steps(_) | AllOrNothing => Past::Whole,
        }
    }
}

use Again::{More, Nothing, Refused};
use Leaves::{AllOrNothing, Steps};

pub(crate) const COUNTED: Again = More("what is said again is counted");
const TOGGLES: Again = More("undoing twice brings the second state back");

pub(crate) const TAKEN_BACK: &str = "an import in parts is taken back when one fails; where that fails as well, it says how to undo it";

pub(crate) fn row(
    name: &'static str,
    setup: Act,
    act: Act,
    leaves: Leaves,
    again: Again,
) -> Operation {
    Operation {
        name,
        setup,
        act,
        leaves,
        again,
    }
}

/// Remembering and going back.
pub(crate) fn records() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole("remember", nothing, |w| fact(w, "new", "k"), COUNTED),
        whole(
            "update_memory",
            |w| group_note(w, "before"),
            |w| group_note(w, "noted"),
            More("a note that is made again is another note"),
        ),
        whole(
            "mend_groups",
            |w| group_note(w, "noted"),
            |w| w.engine.mend_groups().map(drop),
            Nothing,
        ),
        whole(
            "sweep_inbox",
            dropped,
            |w| w.engine.sweep_inbox().map(drop),
            Nothing,
        ),
        whole(
            "remember over a value",
            filled,
            |w| fact(w, "new", "k"),
            COUNTED,
        ),
        whole(
            "remember what is known",
            filled,
            |w| fact(w, "old", "k"),
            COUNTED,
        ),
        whole(
            "remember_all",
            filled,
            |w| {
                let all = ["one", "two", "three"].map(|text| new(text, None));
                let note = NewRecord {
                    kind: Some(Kind::Note),
                    ..new("a note", None)
                };
                w.engine
                    .remember_all([all.to_vec(), vec![note]].concat())
                    .map(drop)
            },
            COUNTED,
        ),
        whole(
            "forget",
            filled,
            |w| w.engine.forget(w.named("old")).map(drop),
            Refused,
        ),
        whole("undo of a create", filled, |w| undo(w, "other"), TOGGLES),
        whole("undo of a replace", replaced, |w| undo(w, "newer"), TOGGLES),
        whole("undo of a forget", forgotten, |w| undo(w, "old"), TOGGLES),
        whole("undo of an undo", undone, |w| undo(w, "old"), TOGGLES),
        whole(
            "receipt of a context",
            filled,
            |w| {
                let request = ContextRequest::default();
                let context = w.engine.context(&request)?;
                w.engine.keep_receipt(&request, &context, None).map(drop)
            },
            More("each context has its receipt"),
        ),
        whole("pin", filled, |w| mark(w, Mark::Pinned(true)), Nothing),
        whole("mute", filled, |w| mark(w, Mark::Muted(true)), Nothing),
        whole("useful", filled, |w| mark(w, Mark::Useful(true)), COUNTED),
        whole("undo of a pin", pinned, |w| undo(w, "old"), TOGGLES),
        whole(
            "session add",
            filled,
            |w| w.engine.add_turn("s1", &spoken("hello")).map(drop),
            More("what is said again is another turn"),
        ),
        whole("put_output", filled, |w| put_output(w, "done"), Nothing),
        whole(
            "put_output over one",
            |w| put_output(w, "half done"),
            |w| put_output(w, "done"),
            Nothing,
        ),
    ]
}

/// What takes records away.
pub(crate) fn removals() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole(
            "review",
            doubled,
            |w| w.engine.apply_review(Retire::Duplicates).map(drop),
            Nothing,
        ),
        whole(
            "prune",
            crowded,
            |w| w.engine.prune(Some("7")).map(drop),
            Nothing,
        ),
        whole(
            "prune of old episodes and artifacts",
            |w| {
                crowded(w)?;
                w.engine.log_episode(try_of("7"))?;
                w.engine.log_episode(NewEpisode {
                    action: EpisodeAction::Failed,
                    ..try_of("8")
                })?;
                registered(w)?;
                w.days_later(60);
                Ok(())
            },
            |w| w.engine.prune(Some("7")).map(drop),
            Nothing,
        ),
        whole(
            "save_mirror",
            crowded,
            |w| w.engine.save_mirror(Some("7")).map(drop),
            Nothing,
        ),
    ]
}

/// Deleting for good.
pub(crate) fn purges() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole(
            "purge of some words",
            replaced,
            |w| purge(w, &Selection::Containing("old".to_owned())),
            Nothing,
        ),
        whole(
            "purge of a record",
            forgotten,
            |w| purge(w, &Selection::Records(vec![w.first()])),
            Refused,
        ),
        whole(
            "purge of a session",
            |w| {
                filled(w)?;
                w.engine.add_turn("s1", &spoken("hello")).map(drop)
            },
            |w| purge(w, &Selection::Session("s1".to_owned())),
            Refused,
        ),
        whole(
            "purge of everything beside a mirror",
            |w| {
                mirror_there(w)?;
                w.engine.load_mirror().map(drop)
            },
            |w| purge(w, &Selection::Project),
            Nothing,
        ),
    ]
}

/// Deciding conflicts, and taking that back.
pub(crate) fn conflicts() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole(
            "remember against another source",
            filled,
            |w| say(w, "theirs", "bob"),
            More("each value that loses is history"),
        ),
        whole(
            "resolve for the winner",
            contested,
            |w| decide(w, "old"),
            Refused,
        ),
        whole(
            "resolve for a loser",
            contested,
            |w| decide(w, "theirs"),
            Refused,
        ),
        whole(
            "undo of a resolve for the winner",
            |w| decided(w, "old"),
            |w| undo(w, "old"),
            TOGGLES,
        ),
        whole(
            "undo of a resolve for a loser",
            |w| decided(w, "theirs"),
            |w| undo(w, "theirs"),
            TOGGLES,
        ),
    ]
}

/// Tasks, steps, errors and outcomes.
pub(crate) fn tasks() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole("task set", nothing, set_task, Nothing),
        whole("task set again", worked, set_task, Nothing),
        whole(
            "task done",
            worked,
            |w| finish(w, TaskState::Done),
            More("each end of a task is an episode"),
        ),
        whole(
            "task fail",
            worked,
            |w| finish(w, TaskState::Failed),
            More("each end of a task is an episode"),
        ),
        whole(
            "step pending",
            nothing,
            |w| step(w, StepState::Pending),
            Nothing,
        ),
        whole("step done", worked, |w| step(w, StepState::Done), Nothing),
        whole("error log", nothing, |w| log(w, "it broke"), COUNTED),
        whole("error log again", worked, |w| log(w, "it broke"), COUNTED),
        whole(
            "error resolve by its text",
            worked,
            |w| resolve(w, "broke"),
            Refused,
        ),
        whole(
            "error resolve by its id",
            worked,
            |w| resolve(w, &w.named("it broke").to_string()),
            Refused,
        ),
        whole(
            "error resolve by a beginning of its id",
            worked,
            |w| resolve(w, &w.named("it broke").to_string()[..30]),
            Refused,
        ),
        whole(
            "episode log",
            nothing,
            |w| w.engine.log_episode(try_of("8")).map(drop),
            More("each try is an episode"),
        ),
        whole("artifact add", nothing, register, Nothing),
        whole("artifact add again", registered, register, Nothing),
        whole(
            "artifact remove",
            registered,
            |w| {
                let by = Remover::Agent("codex".to_owned());
                let id = w.named("docs/a.md");
                w.engine.remove_artifact(id, &by).map(drop)
            },
            Refused,
        ),
        whole(
            "outcome of a success",
            worked,
            |w| outcome(w, &success()),
            Nothing,
        ),
        whole(
            "outcome of a failure",
            worked,
            |w| outcome(w, &failure()),
            COUNTED,
        ),
        row(
            "outcome of a controller's iteration",
            worked,
            |w| {
                w.engine
                    .record_iteration("7", &scope(), &success(), "codex")
                    .map(drop)
            },
            Steps("the outcome is whole before the session and the mirror follow it"),
            Nothing,
        ),
    ]
}

/// Observing and running.
pub(crate) fn runs() -> Vec<Operation> {
    vec![
        row(
            "observe in three pushes",
            worked,
            |w| observe(w, &[FACTS, STEPS, REST]),
            Steps("each push is durable by itself"),
            COUNTED,
        ),
        row(
            "observe in one push",
            worked,
            |w| observe(w, &[FACTS]),
            AllOrNothing,
            COUNTED,
        ),
        row(
            "run",
            worked,
            run,
            Steps("each iteration is written as it goes on"),
            More("it is another run"),
        ),
    ]
}

/// Files that people edit, and those of a team.
pub(crate) fn workspaces() -> Vec<Operation> {
    const P: Workspace = Workspace::Project;
    const FILE: Leaves = Steps("the file has the entry before the records follow it");
    vec![
        row(
            "sync of a workspace",
            page_there,
            |w| w.engine.sync_workspace().map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "sync of an edited workspace, anew",
            |w| {
                page_there(w)?;
                w.engine.sync_workspace()?;
                w.later();
                page(w, "# Facts\n- one is changed\n- three\n")
            },
            |w| w.engine.resync_workspace().map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "save-fact",
            filled,
            |w| w.engine.workspace_save_fact(P, "x").map(drop),
            FILE,
            Nothing,
        ),
        row(
            "learning",
            filled,
            |w| w.engine.workspace_log_learning(P, "x").map(drop),
            FILE,
            Nothing,
        ),
        row(
            "log of an error",
            filled,
            |w| w.engine.workspace_log_error(P, "x", Some("y")).map(drop),
            FILE,
            Nothing,
        ),
        row(
            "daily log",
            filled,
            |w| w.engine.workspace_daily_log(P, "x").map(drop),
            FILE,
            Nothing,
        ),
        row(
            "feature request",
            filled,
            |w| w.engine.workspace_feature_request(P, "x").map(drop),
            FILE,
            Nothing,
        ),
        row(
            "init of a workspace, without the store",
            filled,
            |w| w.engine.init_workspace().map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "share",
            filled,
            |w| w.engine.share(&[w.named("old")]).map(drop),
            FILE,
            Nothing,
        ),
        row(
            "unshare",
            |w| {
                filled(w)?;
                w.engine.share(&[w.named("old")])?;
                w.later();
                Ok(())
            },
            |w| w.engine.unshare(&[w.named("old")]).map(drop),
            Steps("the record is the person's before the entry goes"),
            Refused,
        ),
    ]
}

fn page_there(w: &World) -> Result<(), Fault> {
    filled(w)?;
    page(w, "# Facts\n- one\n- two\n")
}

fn page(w: &World, text: &str) -> Result<(), Fault> {
    let folder = w.root().join(".heirloom/workspace");
    heirloom_store::durable::create_dir_private(&folder)?;
    let path = folder.join("MEMORY.md");
    Ok(heirloom_store::durable::write_atomic(
        &path,
        text.as_bytes(),
    )?)
}

/// Vectors of another model.
pub(crate) fn vectors() -> Vec<Operation> {
    const BATCHES: Leaves = Steps("each batch is kept by itself, and the next call goes on");
    let reembed: Act = |w| w.engine.reembed(Keep::Known, &mut |_, _| {}).map(drop);
    vec![
        row("reembed in three batches", many, reembed, BATCHES, Nothing),
        row(
            "reembed anew",
            |w| {
                many(w)?;
                w.engine.reembed(Keep::Known, &mut |_, _| {}).map(drop)
            },
            |w| w.engine.reembed(Keep::Nothing, &mut |_, _| {}).map(drop),
            BATCHES,
            Nothing,
        ),
        row(
            "catch up",
            |w| {
                filled(w)?;
                w.engine.reembed(Keep::Known, &mut |_, _| {})?;
                fact(w, "late", "l")
            },
            |w| w.engine.catch_up().map(drop),
            AllOrNothing,
            Nothing,
        ),
    ]
}

/// More texts than two batches hold.
fn many(w: &World) -> Result<(), Fault> {
    let all =
        (0..2 * limits::EMBEDDING_BATCH_TEXTS_MAX + 1).map(|n| new(&format!("fact {n}"), None));
    w.engine.remember_all(all.collect()).map(drop)
}

/// Imports.
pub(crate) fn imports() -> Vec<Operation> {
    vec![
        row(
            "import of a mirror",
            worked,
            |w| {
                let json = MIRROR.replace("\"s1\"", "\"\"");
                let parsed = mirror::parse(json.as_bytes()).unwrap();
                w.engine
                    .import_mirror(parsed, "agentium memory.json")
                    .map(drop)
            },
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "import of a long mirror",
            worked,
            |w| {
                let facts: Vec<_> = (0..300).map(|n| format!("\"fact {n}\"")).collect();
                let json = MIRROR.replace("\"a fact\"", &facts.join(","));
                let parsed = mirror::parse(json.as_bytes()).unwrap();
                w.engine
                    .import_mirror(parsed, "agentium memory.json")
                    .map(drop)
            },
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "a first mirror is taken in",
            mirror_there,
            |w| match w.engine.load_mirror()? {
                MirrorLoad::Imported(_) | MirrorLoad::Nothing => Ok(()),
                MirrorLoad::SetAside { path, problem } => panic!("{path:?}: {problem}"),
            },
            Steps(TAKEN_BACK),
            Nothing,
        ),
    ]
    .into_iter()
    .chain(imports_of_files())
    .collect()
}

fn imports_of_files() -> Vec<Operation> {
    vec![
        row(
            "import of exported records",
            worked,
            |w| {
                w.engine
                    .import_all(
                        Carried {
                            records: elsewhere().records,
                            ..Carried::default()
                        },
                        "jsonl m",
                    )
                    .map(drop)
            },
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "import of shared context",
            worked,
            |w| w.engine.import_shared(&shared(), "shared docs").map(drop),
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "import of outputs",
            worked,
            |w| {
                w.engine
                    .import_outputs(&output_sources(), "radium", false)
                    .map(drop)
            },
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "import of histories",
            worked,
            |w| {
                w.engine
                    .import_histories(&histories(), &output_sources(), "radium", false)
                    .map(drop)
            },
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "import of what other tools left",
            worked,
            |w| w.engine.import_foreign(&foreign(), "init", false).map(drop),
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "import_transcript",
            transcript_there,
            |w| {
                let from = TranscriptStart::WhereItEnded;
                let file = w.root().join("talk.jsonl");
                w.engine
                    .import_transcript(Agent::Claude, &file, from)
                    .map(drop)
            },
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "import_transcripts",
            transcript_there,
            |w| {
                let request = TranscriptsRequest {
                    agent: Agent::Claude,
                    files: vec![w.root().join("talk.jsonl"), w.root().join("none")],
                    reach: Reach::Inside,
                    recorded_in: None,
                    named: false,
                    dry: false,
                };
                w.engine
                    .import_transcripts(&request, "claude", &mut |_| {})
                    .map(drop)
            },
            Steps(TAKEN_BACK),
            Nothing,
        ),
        row(
            "import of an export",
            worked,
            |w| w.engine.import_all(elsewhere(), "jsonl m").map(drop),
            Steps(TAKEN_BACK),
            Nothing,
        ),
    ]
}

/// A project that is told by its config, and a conversation that was held in it: a fact, a file, and a command that
/// failed and then worked.
pub(crate) fn transcript_there(w: &World) -> Result<(), Fault> {
    worked(w)?;
    let folder = w.root().join(".heirloom");
    heirloom_store::durable::create_dir_private(&folder)?;
    heirloom_store::durable::write_atomic(&folder.join("config.toml"), b"")?;
    let head = format!(
        r#""sessionId":"talk-1","cwd":{},"timestamp":"2026-04-30T10:00:00Z""#,
        serde_json::json!(w.root())
    );
    let call = |id: &str, name: &str, input: &str| {
        format!(
            r#"{{{head},"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
        )
    };
    let result = |id: &str, said: &str, failed: bool| {
        format!(
            r#"{{{head},"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{said}","is_error":{failed}}}]}}}}"#
        )
    };
    let said = r#"{"type":"text","text":"HEIRLOOM_MEMORY: KEY_FACT told in a talk
HEIRLOOM_MEMORY: ERROR told and open"}"#;
    let lines = [
        format!(r#"{{{head},"type":"user","message":{{"content":"do it"}}}}"#),
        format!(r#"{{{head},"type":"assistant","message":{{"content":[{said}]}}}}"#),
        call("c1", "Bash", r#"{"command":"make"}"#),
        result("c1", "error: no rule", true),
        call("c2", "Edit", r#"{"file_path":"Makefile"}"#),
        result("c2", "changed", false),
        call("c3", "Bash", r#"{"command":"make"}"#),
        result("c3", "made", false),
    ];
    let file = w.root().join("talk.jsonl");
    let lines = lines.join("\n");
    Ok(heirloom_store::durable::write_atomic(
        &file,
        lines.as_bytes(),
    )?)
}

/// What a prompt gets, and what was kept of it.
pub(crate) fn prompting() -> Vec<Operation> {
    let reads = |name, act| row(name, worked as Act, act, AllOrNothing, Nothing);
    vec![
        reads("what other tools left", |w| {
            // Few entries: each read of each of them fails once.
            let mut few = foreign();
            few.retain(|part| !matches!(part.content, Foreign::Rules(_) | Foreign::Shared(_)));
            w.engine.import_foreign(&few, "init", true).map(drop)
        }),
        reads("inject", |w| {
            w.engine.inject("a[recall:what is k]").map(drop)
        }),
        reads("context for an invocation", |w| {
            let invocation = Some("a[recall:what is k;tail:5]".to_owned());
            let request = ContextRequest {
                invocation,
                ..ContextRequest::default()
            };
            nothing_missing(w.engine.context(&request))
        }),
        reads("context", |w| {
            let request = ContextRequest {
                task: Some("7".to_owned()),
                ..ContextRequest::default()
            };
            nothing_missing(w.engine.context(&request))
        }),
        reads("user_section", |w| w.engine.user_section().map(drop)),
        reads("group_sections without the store", |w| {
            w.engine.group_sections("main").map(drop)
        }),
        reads("groups without the store", |w| w.engine.groups().map(drop)),
        reads("context with every source", |w| {
            let request = ContextRequest {
                task: Some("7".to_owned()),
                agent: Some("coder".to_owned()),
                plan: Some("p".to_owned()),
                group: Some("g".to_owned()),
                session: Some("s1".to_owned()),
                query: Some("old".to_owned()),
                ..ContextRequest::default()
            };
            nothing_missing(w.engine.context(&request))
        }),
        reads("receipts", |w| w.engine.receipts(10).map(drop)),
        reads("receipt", |w| found_none(w.engine.receipt("01890a5d"))),
        reads("receipt_diff", |w| {
            found_none(w.engine.receipt_diff("01890a5d", "01890a5e"))
        }),
        reads("uses", |w| w.engine.uses(&[w.first()]).map(drop)),
    ]
}

/// Nothing of this id is there, and nothing else went wrong.
fn found_none<T>(found: Result<T, Fault>) -> Result<(), Fault> {
    match found {
        Err(fault) if fault.kind == ErrorKind::NotFound => Ok(()),
        found => found.map(drop),
    }
}

/// A context in which nothing failed: a source that does is told in a note, and the others are there.
fn nothing_missing(context: Result<Context, Fault>) -> Result<(), Fault> {
    match context?.notes.iter().find(|note| {
        !["has no output", "have no vector"]
            .iter()
            .any(|said| note.contains(said))
    }) {
        Some(note) => Err(Fault::failed(note.clone())),
        None => Ok(()),
    }
}

/// Every operation that only reads: its faults are told and change nothing.
pub(crate) fn reading() -> Vec<Operation> {
    let reads = |name, act| row(name, worked as Act, act, AllOrNothing, Nothing);
    vec![
        reads("recall", |w| {
            let request = RecallRequest {
                question: "what is k".to_owned(),
                ..RecallRequest::default()
            };
            w.engine.recall(&request).map(drop)
        }),
        reads("recall_with", |w| {
            let request = RecallRequest {
                question: "what is k".to_owned(),
                ..RecallRequest::default()
            };
            w.engine.recall_with(&w.engine, &request).map(drop)
        }),
        reads("recall without words", |w| {
            let request = RecallRequest {
                question: "kind:error task:7".to_owned(),
                ..RecallRequest::default()
            };
            w.engine.recall(&request).map(drop)
        }),
        reads("review", |w| w.engine.review().map(drop)),
        reads("tried", |w| w.engine.tried("by hand", None).map(drop)),
        reads("latest session", |w| w.engine.latest_session().map(drop)),
        reads("export of records", |w| {
            w.engine.export_records(true, &mut |_, _| {}).map(drop)
        }),
        reads("export of sessions", |w| {
            w.engine.export_sessions(&mut |_, _| {})
        }),
        reads("export of a mirror", |w| w.engine.mirror_bytes().map(drop)),
        reads("episode list", |w| {
            w.engine.episodes(&EpisodeFilter::default()).map(drop)
        }),
        reads("analytics", |w| w.engine.analytics(None).map(drop)),
        reads("analytics of a task", |w| {
            w.engine.analytics(Some("7")).map(drop)
        }),
        reads("artifact list", |w| {
            w.engine.artifacts(&ArtifactFilter::default()).map(drop)
        }),
        reads("artifact verify", |w| {
            let all = ArtifactFilter::default();
            w.engine.verify_artifacts(&all).map(drop)
        }),
        reads("purgeable", |w| {
            w.engine.purgeable(&Selection::Project).map(drop)
        }),
        reads("backup", |w| {
            w.engine.backup(&w.root().join("copy.db")).map(drop)
        }),
        reads("list", |w| {
            let filter = heirloom_engine::Filter::current(&[], w.engine.now());
            w.engine.find(&filter).map(drop)
        }),
        reads("task record", |w| w.engine.task_record("7").map(drop)),
        reads("audit", |w| w.engine.audit(10).map(drop)),
        reads("audit of a record", |w| {
            w.engine.audit_of(w.named("it broke")).map(drop)
        }),
        reads("prunable", |w| w.engine.prunable(None).map(drop)),
        reads("last_write", |w| w.engine.last_write().map(drop)),
        reads("history", |w| {
            w.engine.history(w.named("it broke")).map(drop)
        }),
        reads("show by a beginning", |w| {
            let id = w.named("it broke").to_string();
            let id = w.engine.resolve_id(&id[..30])?;
            w.engine.get(id).map(drop)
        }),
        reads("task show", |w| w.engine.task("7").map(drop)),
        reads("task list", |w| w.engine.tasks().map(drop)),
        row(
            "conflicts",
            contested,
            |w| w.engine.conflicts().map(drop),
            AllOrNothing,
            Nothing,
        ),
        reads("open errors", |w| w.engine.open_errors(None).map(drop)),
        reads("heads of receipts", |w| w.engine.receipt_heads(9).map(drop)),
        reads("describe", |w| w.engine.describe_store().map(drop)),
        reads("check", |w| w.engine.check_store().map(drop)),
        reads("observe without recording", |w| {
            let mut observer = w.engine.observer(scope(), StreamFormat::Text, true)?;
            observer.push(FACTS.as_bytes(), &mut |_| {})?;
            observer.finish(&mut |_| {})
        }),
    ]
}

/// The same of what counts and reads nothing.
pub(crate) fn counting() -> Vec<Operation> {
    let counts = |name, act| row(name, worked as Act, act, AllOrNothing, Nothing);
    vec![
        counts("counts", |w| w.engine.counts().map(drop)),
        counts("count", |w| {
            let all = Filter::current(&[], w.engine.now());
            w.engine.count(&all).map(drop)
        }),
        counts("task progress", |w| w.engine.task_progress("7").map(drop)),
    ]
}

/// The same of outputs and histories.
pub(crate) fn hearing() -> Vec<Operation> {
    let hears = |name, act| row(name, told as Act, act, AllOrNothing, Nothing);
    vec![
        hears("output", |w| w.engine.output("REQ-1", "coder").map(drop)),
        hears("outputs", |w| w.engine.outputs(None).map(drop)),
        hears("output_tail", |w| {
            w.engine.output_tail(None, "coder", 2).map(drop)
        }),
        hears("own_output_section", |w| {
            w.engine.own_output_section(None, "coder").map(drop)
        }),
        hears("other_outputs_section", |w| {
            w.engine.other_outputs_section("REQ-1", None).map(drop)
        }),
        hears("output_files without the store", |w| {
            w.engine.output_files("wip", "REQ-1").map(drop)?;
            w.engine.output_sources(None).map(drop)
        }),
        hears("export_outputs", |w| {
            w.engine.export_outputs(None).map(drop)
        }),
        hears("import_outputs, dry", |w| {
            w.engine
                .import_outputs(&output_sources(), "radium", true)
                .map(drop)
        }),
        hears("session_interactions", |w| {
            w.engine.session_interactions("talk").map(drop)
        }),
        hears("session_summary", |w| {
            w.engine.session_summary("talk").map(drop)
        }),
        hears("search_sessions", |w| {
            w.engine.search_sessions("hello", None, 3).map(drop)
        }),
        hears("history_section", |w| {
            w.engine.history_section("talk", None).map(drop)
        }),
    ]
}

fn new(text: &str, key: Option<&str>) -> NewRecord {
    NewRecord {
        text: text.to_owned(),
        key: key.map(str::to_owned),
        ..NewRecord::default()
    }
}

fn fact(w: &World, text: &str, key: &str) -> Result<(), Fault> {
    w.engine.remember(new(text, Some(key))).map(drop)
}

fn group_note(w: &World, content: &str) -> Result<(), Fault> {
    let note = NewNote {
        content: content.to_owned(),
        ..NewNote::default()
    };
    w.engine.update_memory(&note).map(drop)
}

/// A file in the inbox that somebody claimed who died since: the key of its note is in its name.
fn dropped(w: &World) -> Result<(), Fault> {
    let inbox = w.root().join(".heirloom/inbox");
    std::fs::create_dir_all(&inbox).unwrap();
    let name = ".claim-01890a5d-ac96-774b-bcce-b302099a8057-x.json";
    let ask = r#"{"type":"update_memory","payload":{"content":"dropped"}}"#;
    heirloom_store::durable::write_atomic(&inbox.join(name), ask.as_bytes()).unwrap();
    Ok(())
}

fn undo(w: &World, text: &str) -> Result<(), Fault> {
    w.engine.undo(w.named(text)).map(drop)
}

fn scope() -> Scope {
    Scope {
        phase: Some("CODE".to_owned()),
        iteration: Some(3),
        agent: Some("codex".to_owned()),
        ..Scope::of_task("7")
    }
}

fn purge(w: &World, selection: &Selection) -> Result<(), Fault> {
    w.engine.purge(selection).map(drop)
}

fn mark(w: &World, mark: Mark) -> Result<(), Fault> {
    w.engine.mark(w.named("old"), mark).map(drop)
}

fn pinned(w: &World) -> Result<(), Fault> {
    filled(w)?;
    w.later();
    mark(w, Mark::Pinned(true))
}

fn doubled(w: &World) -> Result<(), Fault> {
    filled(w)?;
    fact(w, "Old.", "again")
}

fn spoken(text: &str) -> NewTurn {
    NewTurn {
        role: Role::User,
        sender: Some("Ada".to_owned()),
        task: None,
        agent: None,
        text: text.to_owned(),
    }
}

fn set_task(w: &World) -> Result<(), Fault> {
    let said = TaskChange {
        task_type: Some("issue".to_owned()),
        phase: Some("TEST".to_owned()),
        branch: Some("fix/7".to_owned()),
        pr_number: Some(12),
        ..TaskChange::default()
    };
    w.engine.set_task("7", &said, "user").map(drop)
}

fn finish(w: &World, state: TaskState) -> Result<(), Fault> {
    let some = |text: &str| Some(text.to_owned());
    let (agent, approach, outcome) = (some("codex"), some("by hand"), some("it works"));
    w.engine
        .finish_task("7", state, agent, approach, outcome)
        .map(drop)
}

fn try_of(task: &str) -> NewEpisode {
    let mut new = NewEpisode::of(task, EpisodeAction::Attempted);
    new.scope.agent = Some("codex".to_owned());
    new.approach = Some("by hand".to_owned());
    new
}

fn register(w: &World) -> Result<(), Fault> {
    let new = NewArtifact {
        path: "docs/a.md".to_owned(),
        scope: Scope {
            agent: Some("codex".to_owned()),
            ..Scope::of_task("8")
        },
        artifact_type: ArtifactType::Document,
        description: Some("how it works".to_owned()),
        digest: Some(FileDigest {
            size_bytes: 3,
            checksum: "ab".repeat(32),
        }),
    };
    w.engine.add_artifact(&new).map(drop)
}

fn registered(w: &World) -> Result<(), Fault> {
    register(w)
}

/// Two files, with more values than one write holds.
fn shared() -> Vec<SharedFile> {
    let file = |name: &str| {
        let bullets: String = (0..150).map(|n| format!("- {name} {n}\n")).collect();
        SharedFile {
            path: format!("docs/{name}.md"),
            text: format!("# Facts\n{bullets}"),
        }
    };
    vec![file("one"), file("two")]
}

fn foreign() -> Vec<ForeignPart> {
    let rules = RulesFile {
        file: shared().remove(0),
        about: None,
    };
    let graph = br#"{"type":"relation","from":"a","to":"b","relationType":"uses"}"#;
    let contents = [
        Foreign::Rules(vec![rules]),
        Foreign::Mirror(MIRROR.as_bytes().to_vec()),
        Foreign::Mirror(b"{".to_vec()),
        Foreign::Graph(graph.to_vec()),
        Foreign::Past(histories(), output_sources()),
        Foreign::Shared(shared()),
    ];
    let part = |content| ForeignPart {
        path: "AGENTS.md".to_owned(),
        format: "markdown",
        content,
    };
    contents.map(part).into()
}

fn step(w: &World, state: StepState) -> Result<(), Fault> {
    w.engine.step("7", "write it", state, "codex").map(drop)
}

fn log(w: &World, error: &str) -> Result<(), Fault> {
    w.engine.log_error(error, scope(), "codex").map(drop)
}

fn resolve(w: &World, named: &str) -> Result<(), Fault> {
    w.engine
        .resolve_error(named, "turned it off and on", "user")
        .map(drop)
}

fn success() -> Outcome {
    Outcome {
        files: vec!["src/a.rs".to_owned(), "src/b.rs".to_owned()],
        pr_number: Some(9),
        ..Outcome::of(AgentStatus::Complete)
    }
}

fn failure() -> Outcome {
    Outcome {
        error: Some("it broke".to_owned()),
        files: vec!["src/a.rs".to_owned()],
        ..Outcome::of(AgentStatus::Failed)
    }
}

fn outcome(w: &World, outcome: &Outcome) -> Result<(), Fault> {
    w.engine
        .record_outcome(&scope(), outcome, "codex")
        .map(drop)
}

const FACTS: &str = "HEIRLOOM_MEMORY: KEY_FACT the port is 8080\n\
    HEIRLOOM_MEMORY: LEARNING run it twice\n\
    HEIRLOOM_MEMORY: EVAL_FEEDBACK well done\n";
const STEPS: &str = "HEIRLOOM_MEMORY: STEP_PENDING measure it\n\
    HEIRLOOM_MEMORY: STEP_DONE write it\n\
    HEIRLOOM_MEMORY: FILE_MODIFIED src/a.rs\n\
    HEIRLOOM_MEMORY: BLOCKED no key\n";
const REST: &str = "HEIRLOOM_MEMORY: ERROR_RESOLVED it broke -- mended\n\
    HEIRLOOM_MEMORY: CONVENTION indent = tabs\n\
    HEIRLOOM_MEMORY: UNBLOCKED\n\
    HEIRLOOM_STATUS: PARTIAL half of it\n";

fn observe(w: &World, pushes: &[&str]) -> Result<(), Fault> {
    let mut observer: Observer<'_> = w.engine.observer(scope(), StreamFormat::Text, false)?;
    for push in pushes {
        observer.push(push.as_bytes(), &mut |_| {})?;
    }
    observer.finish(&mut |_| {})
}

fn run(w: &World) -> Result<(), Fault> {
    // One write, so that it is read as one chunk however loaded the machine is.
    let signals = r"printf 'HEIRLOOM_MEMORY: KEY_FACT found out\nHEIRLOOM_MEMORY: STEP_DONE write it\nHEIRLOOM_STATUS: COMPLETE\n'";
    let request = RunRequest {
        command: ["sh", "-c", signals].map(str::to_owned).to_vec(),
        adapter: None,
        task: Some("7".to_owned()),
        task_type: None,
        phase: Some("CODE".to_owned()),
        approach: None,
        iterations: Some(1),
        until_done: false,
        timeout_s: Some(60),
        temp_dir: Some(w.root().to_owned()),
    };
    w.engine
        .run(&request, Arc::new(AtomicBool::new(false)), &mut |_| {})
        .map(drop)
}

fn nothing(_: &World) -> Result<(), Fault> {
    Ok(())
}

pub(crate) fn filled(w: &World) -> Result<(), Fault> {
    fact(w, "old", "k")?;
    fact(w, "other", "another")
}

fn replaced(w: &World) -> Result<(), Fault> {
    filled(w)?;
    w.later();
    fact(w, "newer", "k")
}

fn forgotten(w: &World) -> Result<(), Fault> {
    filled(w)?;
    w.later();
    w.engine.forget(w.named("old")).map(drop)
}

/// Says `text` under the key of `old`.
fn say(w: &World, text: &str, source: &str) -> Result<(), Fault> {
    let said = NewRecord {
        source: Some(source.to_owned()),
        ..new(text, Some("k"))
    };
    w.engine.remember(said).map(drop)
}

/// A value, and what two other sources say against it.
fn contested(w: &World) -> Result<(), Fault> {
    filled(w)?;
    w.later();
    say(w, "theirs", "bob")?;
    w.later();
    say(w, "hers", "eve")
}

fn decide(w: &World, keep: &str) -> Result<(), Fault> {
    let (id, keep) = (w.named("hers"), w.named(keep));
    w.engine.resolve_conflict(id, keep, "user").map(drop)
}

fn decided(w: &World, keep: &str) -> Result<(), Fault> {
    contested(w)?;
    w.later();
    decide(w, keep)
}

fn undone(w: &World) -> Result<(), Fault> {
    replaced(w)?;
    w.later();
    undo(w, "newer")
}

/// A task that somebody works on, with a step, an error and facts.
fn worked(w: &World) -> Result<(), Fault> {
    filled(w)?;
    step(w, StepState::Pending)?;
    log(w, "it broke")
}

/// More decisions and errors than are kept.
fn crowded(w: &World) -> Result<(), Fault> {
    worked(w)?;
    for n in 0..6 {
        let decision = NewRecord {
            category: Some("decision".to_owned()),
            ..new(&format!("decision {n}"), None)
        };
        w.engine.remember(decision)?;
        w.later();
    }
    log(w, "another error")
}

fn mirror_there(w: &World) -> Result<(), Fault> {
    worked(w)?;
    let folder = w.root().join(".heirloom");
    heirloom_store::durable::create_dir_private(&folder)?;
    let path = folder.join("memory.json");
    Ok(heirloom_store::durable::write_atomic(
        &path,
        MIRROR.as_bytes(),
    )?)
}

const MIRROR: &str = r#"{
  "session_id": "s1", "repository": "acme/shop", "iteration": 2,
  "tasks": {"42": {"id": "42", "type": "issue", "phase": "CODE",
    "completed_steps": ["read"], "pending_steps": ["write", "test"], "files_modified": ["a.rs"]}},
  "decisions": [{"iteration": 1, "task_id": "42", "description": "use it", "rationale": "it is there"}],
  "errors": [{"iteration": 2, "task_id": "42", "phase": "CODE", "error": "no such file", "resolved": false}],
  "key_facts": ["a fact"],
  "last_checkpoint": "2026-04-30T10:00:00Z"
}"#;

/// What another project exported: the same at each call.
fn elsewhere() -> Carried {
    static EXPORTED: OnceLock<Carried> = OnceLock::new();
    EXPORTED.get_or_init(exported).clone()
}

/// Records of several kinds, some of them past, and a conversation.
fn exported() -> Carried {
    let other = World::the_day_before();
    crowded(&other).unwrap();
    other.later();
    fact(&other, "newest", "k").unwrap();
    let mut carried = Carried::default();
    let records = other.all();
    carried.records = (1..).zip(records).collect();
    let id = carried.records[0].1.id;
    let (retired_at, restored_at) = (other.engine.now(), other.engine.now());
    let lapse = heirloom_model::Lapse {
        retired_at,
        restored_at,
    };
    carried.lapses.insert(id, vec![lapse]);
    let session = heirloom_model::Session {
        project: other.engine.project().clone(),
        id: "elsewhere".to_owned(),
        agent: None,
        task: Some("7".to_owned()),
        started_at: other.engine.now(),
        ended_at: None,
        attrs: serde_json::Map::new(),
    };
    let ids = heirloom_model::IdSource::default();
    let turn = |text: &str| heirloom_model::Message {
        id: ids.next(other.engine.now()),
        seq: 0,
        role: Role::User,
        sender: None,
        text: text.to_owned(),
        attrs: serde_json::Map::new(),
        tokens: 1,
        at: other.engine.now(),
    };
    let turns = ["hello", "good day"].map(turn).to_vec();
    carried.messages.insert(session.id.clone(), turns);
    carried.sessions.push(session);
    carried
}

fn put_output(w: &World, content: &str) -> Result<(), Fault> {
    let new = NewOutput {
        plan: "REQ-1".to_owned(),
        agent: "coder".to_owned(),
        content: content.to_owned(),
        ..NewOutput::default()
    };
    w.engine.put_output(&new).map(drop)
}

fn told(w: &World) -> Result<(), Fault> {
    worked(w)?;
    put_output(w, "half\ndone")?;
    w.engine.add_turn("talk", &spoken("hello")).map(drop)
}

fn output_sources() -> Vec<OutputSource> {
    let source = |agent: &str| OutputSource {
        path: format!("radium/wip/REQ-2/memory/{agent}.json"),
        stage: "wip".to_owned(),
        plan: "REQ-2".to_owned(),
        agent: Some(agent.to_owned()),
        changed: 1_777_000_000,
        bytes: format!(
            r#"{{"agent_id":"{agent}","content":"{agent} is done","timestamp":1777000000}}"#
        )
        .into_bytes(),
    };
    vec![source("coder"), source("tester")]
}

fn histories() -> Vec<HistorySource> {
    vec![HistorySource {
        path: "history.json".to_owned(),
        session: "old".to_owned(),
        changed: 1_777_000_000,
        bytes: br#"[{"timestamp":1777000000,"goal":"g","plan":"p","output":"o"},{"goal":"h"}]"#
            .to_vec(),
    }]
}

/// Windows of conversations.
pub(crate) fn windows() -> Vec<Operation> {
    vec![
        row(
            "compact",
            told,
            |w| compacted(w).map(drop),
            Steps("the turns of a conversation come first, then how far they go"),
            Nothing,
        ),
        row(
            "compact with a summary",
            told,
            summed_up,
            Steps(
                "the record of a summary and its line in the log come before the turns, each once",
            ),
            Nothing,
        ),
        row(
            "session_window",
            summed_up,
            |w| w.engine.session_window("talk").map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "expand",
            |w| compacted(w).map(drop),
            |w| {
                let id = heirloom_model::text::hash16(&"line\n".repeat(2_000));
                w.engine.expand(&id, Some("talk")).map(drop)
            },
            AllOrNothing,
            Nothing,
        ),
    ]
}

/// A conversation that is summed up, for a group.
fn summed_up(w: &World) -> Result<(), Fault> {
    let mut long = vec![
        serde_json::json!({"role": "user", "content": "find out why the deploy fails on every second Monday"}),
    ];
    for n in 0..30 {
        let id = format!("c{n}");
        long.push(
            serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}}
            ]}),
        );
        let text = format!("line {n} of the log\n").repeat(100);
        long.push(serde_json::json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    let made = w.engine.compact(&WindowRequest {
        history: &serde_json::Value::Array(long).to_string(),
        form: None,
        model: None,
        policy: &Policy::default().with_target(6_000),
        session: Some("talk"),
        agent: Some("coder"),
        group: Some("mine"),
    })?;
    assert!(made.report.summary.is_some());
    Ok(())
}

/// A conversation with an output that is too long for a window.
fn compacted(w: &World) -> Result<(), Fault> {
    let long = serde_json::json!([
        {"role": "user", "content": "find out why the deploy fails on every second Monday"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "line\n".repeat(2_000)},
    ]);
    let made = w.engine.compact(&WindowRequest {
        history: &long.to_string(),
        form: None,
        model: None,
        policy: &Policy::default(),
        session: Some("talk"),
        agent: None,
        group: None,
    })?;
    assert_eq!(made.report.shortened.len(), 1);
    Ok(())
}
