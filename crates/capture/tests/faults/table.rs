//! Table of all engine operations that use the store. A new operation needs a new row.

use crate::world::{Past, World};
use heirloom_agents::{AgentProgram, StreamFormat};
use heirloom_capture::Runs;
use heirloom_capture::Transcripts;
use heirloom_capture::{ImportScope, Observer, RunRequest, TranscriptStart, TranscriptsRequest};
use heirloom_engine::{
    BulkChange, ContextRequest, ExternalContent, ExternalSource, HistorySource, ImportBundle,
    MirrorLoadOutcome, NewArtifact, NewEpisode, NewNote, NewOutput, NewRecord, NewTurn,
    OutputSource, PurgeTarget, ReembedMode, Remover, ReviewRetirement, RulesFile, SharedFile,
    TaskChange, Workspace,
};
use heirloom_formats::external_memory::{ImportedMemory, Mem0Memories, parse_claude_ai};
use heirloom_formats::mirror;
use heirloom_fs::project_fs::FileDigest;
use heirloom_model::case::Case;
use heirloom_model::context::Context;
use heirloom_model::kinds::{ArtifactType, EpisodeAction, StepState, TaskState};
use heirloom_model::{
    AgentStatus, ErrorKind, Fault, IterationOutcome, Kind, Mark, Role, Scope, limits,
};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Action of an operation.
pub(crate) type Act = fn(&World) -> Result<(), Fault>;

/// State that a fault may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// Everything or nothing.
    AllOrNothing,
    /// The first of several steps, each of them consistent, for this reason.
    Steps(&'static str),
}

/// Effect of a second, identical call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// No effect.
    Nothing,
    /// No effect, and an error that there is nothing to do.
    Refused,
    /// A further effect, for this reason.
    More(&'static str),
}

/// One row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) setup: Act,
    pub(crate) act: Act,
    pub(crate) leaves: Leaves,
    pub(crate) again: Again,
}

impl Operation {
    /// Returns the history that is compared between outcomes.
    pub(crate) fn past(&self) -> Past {
        match self.leaves {
            Steps(REVERTED) => Past::WithoutReverted,
            Steps(_) | AllOrNothing => Past::Whole,
        }
    }
}

use Again::{More, Nothing, Refused};
use Leaves::{AllOrNothing, Steps};

pub(crate) const COUNTED: Again = More("a repetition is counted");
const TOGGLES: Again = More("a second undo restores the second state");

pub(crate) const REVERTED: &str = "an import in parts is taken back when one fails; where that fails as well, it says how to undo it";

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

/// Operations that write and undo records.
pub(crate) fn records() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole("remember", nothing, |w| fact(w, "new", "k"), COUNTED),
        whole(
            "add_group_note",
            |w| group_note(w, "before"),
            |w| group_note(w, "noted"),
            More("a repeated note is another note"),
        ),
        whole(
            "repair_groups",
            |w| group_note(w, "noted"),
            |w| w.engine.groups().repair().map(drop),
            Nothing,
        ),
        whole(
            "sweep_inbox",
            create_abandoned_claim,
            |w| w.engine.files().sweep_inbox(Duration::MAX).map(drop),
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
                    .records()
                    .remember_all([all.to_vec(), vec![note]].concat())
                    .map(drop)
            },
            COUNTED,
        ),
        whole(
            "forget",
            filled,
            |w| w.engine.records().forget(w.named("old")).map(drop),
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
                let context = w.engine.contexts().build(&request)?;
                w.engine
                    .contexts()
                    .store_receipt(&request, &context, None)
                    .map(drop)
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
            |w| {
                w.engine
                    .sessions()
                    .add_turn("s1", &spoken("hello"))
                    .map(drop)
            },
            More("a repetition is another turn"),
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

/// Operations that retire records.
pub(crate) fn removals() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole(
            "review",
            doubled,
            |w| {
                w.engine
                    .conflicts()
                    .apply_review(ReviewRetirement::Duplicates)
                    .map(drop)
            },
            Nothing,
        ),
        whole(
            "acceptance of a proposal",
            proposed,
            |w| {
                let proposals = w.engine.records().proposals();
                proposals.accept(w.named("proposed")).map(drop)
            },
            Refused,
        ),
        whole(
            "rejection of a proposal",
            proposed,
            |w| {
                let proposals = w.engine.records().proposals();
                proposals.reject(w.named("proposed"), "user").map(drop)
            },
            Refused,
        ),
        whole(
            "retirement of several records",
            filled,
            |w| {
                let id = w.named("old");
                w.engine
                    .records()
                    .change_all(&[id], &BulkChange::Retire, "user")
                    .map(drop)
            },
            Nothing,
        ),
        whole(
            "prune of old episodes and artifacts",
            |w| {
                fill_beyond_retention(w)?;
                w.engine.tasks().log_episode(try_of("7"))?;
                w.engine.tasks().log_episode(NewEpisode {
                    action: EpisodeAction::Failed,
                    ..try_of("8")
                })?;
                registered(w)?;
                w.advance_days(60);
                Ok(())
            },
            |w| w.engine.maintenance().prune(usize::MAX).map(drop),
            Nothing,
        ),
        whole(
            "save_mirror",
            fill_beyond_retention,
            |w| w.engine.mirror().write().map(drop),
            Nothing,
        ),
        whole(
            "refresh_mirror",
            create_stale_mirror,
            |w| w.engine.mirror().refresh().map(drop),
            Nothing,
        ),
        whole(
            "refresh_mirror_throttled",
            create_stale_mirror,
            |w| w.engine.mirror().refresh_throttled().map(drop),
            Nothing,
        ),
    ]
}

/// Purges.
pub(crate) fn purges() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole(
            "purge of some words",
            replaced,
            |w| purge(w, &PurgeTarget::Containing("old".to_owned())),
            Nothing,
        ),
        whole(
            "purge of a record",
            forgotten,
            |w| purge(w, &PurgeTarget::Records(vec![w.first()])),
            Refused,
        ),
        whole(
            "purge of a session",
            |w| {
                filled(w)?;
                w.engine
                    .sessions()
                    .add_turn("s1", &spoken("hello"))
                    .map(drop)
            },
            |w| purge(w, &PurgeTarget::Session("s1".to_owned())),
            Refused,
        ),
        whole(
            "purge of everything beside a mirror",
            |w| {
                mirror_there(w)?;
                w.engine.mirror().load().map(drop)
            },
            |w| purge(w, &PurgeTarget::Project),
            Nothing,
        ),
    ]
}

/// Operations that resolve and reopen conflicts.
pub(crate) fn conflicts() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole(
            "remember against another source",
            filled,
            |w| say(w, "theirs", "bob"),
            More("each rejected value is history"),
        ),
        whole(
            "resolve for the winner",
            create_conflict,
            |w| decide(w, "old"),
            Refused,
        ),
        whole(
            "resolve for a loser",
            create_conflict,
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

/// Operations on tasks, steps, errors and outcomes.
pub(crate) fn tasks() -> Vec<Operation> {
    let whole = |name, setup, act, again| row(name, setup, act, AllOrNothing, again);
    vec![
        whole("task set", nothing, set_task, Nothing),
        whole("task set again", start_task, set_task, Nothing),
        whole(
            "task done",
            start_task,
            |w| finish(w, TaskState::Done),
            More("each end of a task is an episode"),
        ),
        whole(
            "task fail",
            start_task,
            |w| finish(w, TaskState::Failed),
            More("each end of a task is an episode"),
        ),
        whole(
            "step pending",
            nothing,
            |w| step(w, StepState::Pending),
            Nothing,
        ),
        whole(
            "step done",
            start_task,
            |w| step(w, StepState::Done),
            Nothing,
        ),
        whole("error log", nothing, |w| log(w, "it broke"), COUNTED),
        whole(
            "error log again",
            start_task,
            |w| log(w, "it broke"),
            COUNTED,
        ),
        whole(
            "error resolve by its text",
            start_task,
            |w| resolve(w, "broke"),
            Refused,
        ),
        whole(
            "error resolve by its id",
            start_task,
            |w| resolve(w, &w.named("it broke").to_string()),
            Refused,
        ),
        whole(
            "error resolve by a beginning of its id",
            start_task,
            |w| resolve(w, &w.named("it broke").to_string()[..30]),
            Refused,
        ),
        whole(
            "episode log",
            nothing,
            |w| w.engine.tasks().log_episode(try_of("8")).map(drop),
            More("each try is an episode"),
        ),
        whole(
            "case log",
            nothing,
            log_case,
            More("each case is an episode"),
        ),
        whole("artifact add", nothing, register, Nothing),
        whole("artifact add again", registered, register, Nothing),
        whole("artifact remove", registered, unregister, Refused),
        whole(
            "outcome of a success",
            start_task,
            |w| outcome(w, &success()),
            Nothing,
        ),
        whole(
            "outcome of a failure",
            start_task,
            |w| outcome(w, &failure()),
            COUNTED,
        ),
        row(
            "outcome of a controller's iteration",
            start_task,
            |w| {
                w.engine
                    .tasks()
                    .record_iteration(&scope(), &success(), "codex")
                    .map(drop)
            },
            Steps("the outcome is written before the session and the mirror"),
            Nothing,
        ),
    ]
}

/// Operations of observers and runs.
pub(crate) fn runs() -> Vec<Operation> {
    vec![
        row(
            "observe in three pushes",
            start_task,
            |w| observe(w, &[FACTS, STEPS, REST]),
            Steps("each push is durable by itself"),
            COUNTED,
        ),
        row(
            "observe in one push",
            start_task,
            |w| observe(w, &[FACTS]),
            AllOrNothing,
            COUNTED,
        ),
        row(
            "run",
            start_task,
            run,
            Steps("each iteration is written when it ends"),
            More("it is another run"),
        ),
    ]
}

/// Operations on files that people or teams edit.
pub(crate) fn workspaces() -> Vec<Operation> {
    const P: Workspace = Workspace::Project;
    const FILE: Leaves = Steps("the entry is written to the file before the records");
    vec![
        row(
            "sync of a workspace",
            create_page,
            |w| w.engine.workspace().sync().map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "sync of an edited workspace, anew",
            |w| {
                create_page(w)?;
                w.engine.workspace().sync()?;
                w.advance_minute();
                page(w, "# Facts\n- one is changed\n- three\n")
            },
            |w| w.engine.workspace().resync().map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "save-fact",
            filled,
            |w| w.engine.workspace().save_fact(P, "x").map(drop),
            FILE,
            Nothing,
        ),
        row(
            "learning",
            filled,
            |w| w.engine.workspace().log_learning(P, "x").map(drop),
            FILE,
            Nothing,
        ),
        row(
            "log of an error",
            filled,
            |w| w.engine.workspace().log_error(P, "x", Some("y")).map(drop),
            FILE,
            Nothing,
        ),
        row(
            "daily log",
            filled,
            |w| w.engine.workspace().append_daily_log(P, "x").map(drop),
            FILE,
            Nothing,
        ),
        row(
            "feature request",
            filled,
            |w| w.engine.workspace().add_feature_request(P, "x").map(drop),
            FILE,
            Nothing,
        ),
        row(
            "init of a workspace, without the store",
            filled,
            |w| w.engine.workspace().init().map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "share",
            filled,
            |w| w.engine.team().share(&[w.named("old")]).map(drop),
            FILE,
            Nothing,
        ),
        row(
            "unshare",
            |w| {
                filled(w)?;
                w.engine.team().share(&[w.named("old")])?;
                w.advance_minute();
                Ok(())
            },
            |w| w.engine.team().unshare(&[w.named("old")]).map(drop),
            Steps("the record moves to the person before the entry is removed"),
            Refused,
        ),
    ]
}

fn create_page(w: &World) -> Result<(), Fault> {
    filled(w)?;
    page(w, "# Facts\n- one\n- two\n")
}

fn page(w: &World, text: &str) -> Result<(), Fault> {
    let folder = w.root().join(".heirloom/workspace");
    heirloom_fs::durable::create_dir_private(&folder)?;
    let path = folder.join("MEMORY.md");
    Ok(heirloom_fs::durable::write_atomic(&path, text.as_bytes())?)
}

/// Operations on vectors of another model.
pub(crate) fn vectors() -> Vec<Operation> {
    const BATCHES: Leaves = Steps("each batch is durable, and the next call continues");
    const LONG: Duration = Duration::from_secs(60);
    let reembed: Act = |w| {
        w.engine
            .maintenance()
            .reembed(ReembedMode::Incremental, &mut |_, _| {})
            .map(drop)
    };
    vec![
        row("reembed in three batches", many, reembed, BATCHES, Nothing),
        row(
            "reembed anew",
            |w| {
                many(w)?;
                w.engine
                    .maintenance()
                    .reembed(ReembedMode::Incremental, &mut |_, _| {})
                    .map(drop)
            },
            |w| {
                w.engine
                    .maintenance()
                    .reembed(ReembedMode::FromScratch, &mut |_, _| {})
                    .map(drop)
            },
            BATCHES,
            Nothing,
        ),
        row(
            "catch up",
            |w| {
                filled(w)?;
                w.engine
                    .maintenance()
                    .reembed(ReembedMode::Incremental, &mut |_, _| {})?;
                fact(w, "late", "l")
            },
            |w| w.engine.maintenance().embed_backlog().map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "sentence vectors at the end of a session",
            filled,
            |w| {
                let engine = w.with_sentence_model();
                engine.maintenance().sentence_coverage()?;
                engine.maintenance().embed_sentences(64, LONG).map(drop)
            },
            BATCHES,
            Nothing,
        ),
        row(
            "sentence vectors in a quiet moment",
            filled,
            |w| {
                w.with_sentence_model()
                    .maintenance()
                    .embed_quietly()
                    .map(drop)
            },
            BATCHES,
            Nothing,
        ),
        row(
            "sentence vector after a command",
            filled,
            |w| {
                w.with_sentence_model()
                    .maintenance()
                    .embed_after_command()
                    .map(drop)
            },
            BATCHES,
            More("each command embeds another text"),
        ),
    ]
}

/// Writes more texts than two batches contain.
fn many(w: &World) -> Result<(), Fault> {
    let all =
        (0..2 * limits::EMBEDDING_BATCH_TEXTS_MAX + 1).map(|n| new(&format!("fact {n}"), None));
    w.engine.records().remember_all(all.collect()).map(drop)
}

/// Imports.
pub(crate) fn imports() -> Vec<Operation> {
    vec![
        row(
            "import of a mirror",
            start_task,
            |w| {
                let json = MIRROR.replace("\"s1\"", "\"\"");
                let parsed = mirror::parse(json.as_bytes()).unwrap();
                w.engine
                    .imports()
                    .import_mirror(parsed, "agentium memory.json")
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
        row(
            "import of a long mirror",
            start_task,
            |w| {
                let facts: Vec<_> = (0..300).map(|n| format!("\"fact {n}\"")).collect();
                let json = MIRROR.replace("\"a fact\"", &facts.join(","));
                let parsed = mirror::parse(json.as_bytes()).unwrap();
                w.engine
                    .imports()
                    .import_mirror(parsed, "agentium memory.json")
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
        row(
            "a first mirror is taken in",
            mirror_there,
            |w| match w.engine.mirror().load()? {
                MirrorLoadOutcome::Imported(_) | MirrorLoadOutcome::Nothing => Ok(()),
                MirrorLoadOutcome::SetAside { path, problem } => panic!("{path:?}: {problem}"),
            },
            Steps(REVERTED),
            Nothing,
        ),
    ]
    .into_iter()
    .chain(imports_of_files())
    .chain(transcript_imports())
    .collect()
}

fn imports_of_files() -> Vec<Operation> {
    vec![
        row(
            "import of exported records",
            start_task,
            |w| {
                w.engine
                    .imports()
                    .import_bundle(
                        ImportBundle {
                            records: foreign_export().records,
                            ..ImportBundle::default()
                        },
                        "jsonl m",
                    )
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
        row(
            "import of shared context",
            start_task,
            |w| {
                w.engine
                    .imports()
                    .import_shared(&shared(), "shared docs")
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
        row(
            "import of outputs",
            start_task,
            |w| {
                w.engine
                    .sessions()
                    .import_histories(&[], &output_sources(), "radium", false)
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
        row(
            "import of histories",
            start_task,
            |w| {
                w.engine
                    .sessions()
                    .import_histories(&histories(), &output_sources(), "radium", false)
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
        row(
            "import of what other tools left",
            start_task,
            |w| {
                w.engine
                    .imports()
                    .import_external(&foreign(), "init", false)
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
        row(
            "import of an export",
            start_task,
            |w| {
                w.engine
                    .imports()
                    .import_bundle(foreign_export(), "jsonl m")
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
    ]
}

fn transcript_imports() -> Vec<Operation> {
    vec![
        row(
            "import_transcript",
            create_transcript,
            |w| {
                let from = TranscriptStart::Continue;
                let file = w.root().join("talk.jsonl");
                Transcripts::new(&w.engine)
                    .import(AgentProgram::ClaudeCode, &file, from)
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
        row(
            "import_transcripts",
            create_transcript,
            |w| {
                let request = TranscriptsRequest {
                    agent: AgentProgram::ClaudeCode,
                    files: vec![w.root().join("talk.jsonl"), w.root().join("none")],
                    scope: ImportScope::WithSubfolders,
                    former_root: None,
                    seen_roots: Vec::new(),
                    is_explicit: false,
                    dry_run: false,
                };
                Transcripts::new(&w.engine)
                    .import_all(&request, "claude", &mut |_| {})
                    .map(drop)
            },
            Steps(REVERTED),
            Nothing,
        ),
    ]
}

/// Creates a project named by its config, and a transcript from it with a fact, a file, and a command that failed and
/// then worked.
pub(crate) fn create_transcript(w: &World) -> Result<(), Fault> {
    start_task(w)?;
    let folder = w.root().join(".heirloom");
    heirloom_fs::durable::create_dir_private(&folder)?;
    heirloom_fs::durable::write_atomic(&folder.join("config.toml"), b"")?;
    let head = format!(
        r#""sessionId":"talk-1","cwd":{},"timestamp":"2026-04-30T10:00:00Z""#,
        serde_json::json!(w.root())
    );
    let call = |id: &str, name: &str, input: &str| {
        format!(
            r#"{{{head},"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
        )
    };
    let result = |id: &str, message: &str, failed: bool| {
        format!(
            r#"{{{head},"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{message}","is_error":{failed}}}]}}}}"#
        )
    };
    let message = r#"{"type":"text","text":"HEIRLOOM_MEMORY: KEY_FACT told in a talk
HEIRLOOM_MEMORY: ERROR told and open"}"#;
    let lines = [
        format!(r#"{{{head},"type":"user","message":{{"content":"do it"}}}}"#),
        format!(r#"{{{head},"type":"assistant","message":{{"content":[{message}]}}}}"#),
        call("c1", "Bash", r#"{"command":"make"}"#),
        result("c1", "error: no rule", true),
        call("c2", "Edit", r#"{"file_path":"Makefile"}"#),
        result("c2", "changed", false),
        call("c3", "Bash", r#"{"command":"make"}"#),
        result("c3", "made", false),
    ];
    let file = w.root().join("talk.jsonl");
    let lines = lines.join("\n");
    Ok(heirloom_fs::durable::write_atomic(&file, lines.as_bytes())?)
}

/// Operations of contexts and receipts.
pub(crate) fn context_operations() -> Vec<Operation> {
    let reads = |name, act| row(name, start_task as Act, act, AllOrNothing, Nothing);
    vec![
        reads("what other tools left", |w| {
            // Few entries, because each read of each entry fails once.
            let mut few = foreign();
            few.retain(|part| {
                !matches!(
                    part.content,
                    ExternalContent::Rules(_) | ExternalContent::Shared(_)
                )
            });
            w.engine
                .imports()
                .import_external(&few, "init", true)
                .map(drop)
        }),
        reads("inject", |w| {
            w.engine.contexts().inject("a[recall:what is k]").map(drop)
        }),
        reads("context for an invocation", |w| {
            let invocation = Some("a[recall:what is k;tail:5]".to_owned());
            let request = ContextRequest {
                invocation,
                ..ContextRequest::default()
            };
            expect_complete(w.engine.contexts().build(&request))
        }),
        reads("context", |w| {
            let request = ContextRequest {
                task: Some("7".to_owned()),
                ..ContextRequest::default()
            };
            expect_complete(w.engine.contexts().build(&request))
        }),
        reads("user_section", |w| {
            w.engine.contexts().user_section().map(drop)
        }),
        reads("group_sections without the store", |w| {
            w.engine.groups().sections("main").map(drop)
        }),
        reads("groups without the store", |w| {
            w.engine.groups().list().map(drop)
        }),
        row(
            "context with every source",
            fill_outputs_and_history,
            |w| {
                let request = ContextRequest {
                    task: Some("7".to_owned()),
                    agent: Some("coder".to_owned()),
                    plan: Some("REQ-1".to_owned()),
                    group: Some("g".to_owned()),
                    session: Some("s1".to_owned()),
                    query: Some("old".to_owned()),
                    ..ContextRequest::default()
                };
                expect_complete(w.engine.contexts().build(&request))
            },
            AllOrNothing,
            Nothing,
        ),
        reads("standing records", |w| {
            w.engine.contexts().standing_records().map(drop)
        }),
        reads("receipts", |w| w.engine.contexts().receipts(10).map(drop)),
        reads("receipt", |w| {
            expect_not_found(w.engine.contexts().receipt("01890a5d"))
        }),
        reads("receipt_diff", |w| {
            expect_not_found(w.engine.contexts().receipt_diff("01890a5d", "01890a5e"))
        }),
        reads("uses", |w| {
            w.engine.contexts().delivery_counts(&[w.first()]).map(drop)
        }),
    ]
}

/// Accepts only "not found" for this id.
fn expect_not_found<T>(found: Result<T, Fault>) -> Result<(), Fault> {
    match found {
        Err(fault) if fault.kind == ErrorKind::NotFound => Ok(()),
        found => found.map(drop),
    }
}

/// Accepts only a context without failed sources. A failed source becomes a note in the receipt.
fn expect_complete(context: Result<Context, Fault>) -> Result<(), Fault> {
    match context?.notes.iter().find(|note| {
        !["has no output", "have no vector"]
            .iter()
            .any(|message| note.contains(message))
    }) {
        Some(note) => Err(Fault::failed(note.clone())),
        None => Ok(()),
    }
}

fn new(text: &str, key: Option<&str>) -> NewRecord {
    NewRecord {
        text: text.to_owned(),
        key: key.map(str::to_owned),
        ..NewRecord::default()
    }
}

fn fact(w: &World, text: &str, key: &str) -> Result<(), Fault> {
    w.engine.records().remember(new(text, Some(key))).map(drop)
}

fn group_note(w: &World, content: &str) -> Result<(), Fault> {
    let note = NewNote {
        content: content.to_owned(),
        ..NewNote::default()
    };
    w.engine.groups().add_note(&note).map(drop)
}

/// Creates a file in the inbox claimed by a process that died; its name contains the key of its note.
fn create_abandoned_claim(w: &World) -> Result<(), Fault> {
    let inbox = w.root().join(".heirloom/inbox");
    std::fs::create_dir_all(&inbox).unwrap();
    let name = ".claim-01890a5d-ac96-774b-bcce-b302099a8057-x.json";
    let ask = r#"{"type":"update_memory","payload":{"content":"dropped"}}"#;
    heirloom_fs::durable::write_atomic(&inbox.join(name), ask.as_bytes()).unwrap();
    Ok(())
}

fn undo(w: &World, text: &str) -> Result<(), Fault> {
    w.engine.records().undo(w.named(text)).map(drop)
}

pub(crate) fn scope() -> Scope {
    Scope {
        phase: Some("CODE".to_owned()),
        iteration: Some(3),
        agent: Some("codex".to_owned()),
        ..Scope::of_task("7")
    }
}

fn purge(w: &World, selection: &PurgeTarget) -> Result<(), Fault> {
    w.engine.maintenance().purge(selection).map(drop)
}

fn mark(w: &World, mark: Mark) -> Result<(), Fault> {
    w.engine.records().mark(w.named("old"), mark).map(drop)
}

fn pinned(w: &World) -> Result<(), Fault> {
    filled(w)?;
    w.advance_minute();
    mark(w, Mark::Pinned(true))
}

fn doubled(w: &World) -> Result<(), Fault> {
    filled(w)?;
    fact(w, "Old.", "again")
}

fn spoken(text: &str) -> NewTurn {
    NewTurn {
        machine: false,
        role: Role::User,
        sender: Some("Ada".to_owned()),
        task: None,
        agent: None,
        text: text.to_owned(),
    }
}

fn set_task(w: &World) -> Result<(), Fault> {
    let message = TaskChange {
        task_type: Some("issue".to_owned()),
        phase: Some("TEST".to_owned()),
        branch: Some("fix/7".to_owned()),
        pr_number: Some(12),
        ..TaskChange::default()
    };
    w.engine.tasks().set("7", &message, "user").map(drop)
}

fn finish(w: &World, state: TaskState) -> Result<(), Fault> {
    let some = |text: &str| Some(text.to_owned());
    let (agent, approach, outcome) = (some("codex"), some("by hand"), some("it works"));
    w.engine
        .tasks()
        .finish_task("7", state, agent, approach, outcome)
        .map(drop)
}

fn try_of(task: &str) -> NewEpisode {
    let mut new = NewEpisode::new(task, EpisodeAction::Attempted);
    new.scope.agent = Some("codex".to_owned());
    new.approach = Some("by hand".to_owned());
    new
}

fn log_case(w: &World) -> Result<(), Fault> {
    let case = Case {
        title: "Round prices".to_owned(),
        asked: "Round prices half up".to_owned(),
        ..Case::default()
    };
    let scope = Scope::of_task("8");
    w.engine.tasks().log_case(&case, scope, "codex").map(drop)
}

fn unregister(w: &World) -> Result<(), Fault> {
    let by = Remover::Agent("codex".to_owned());
    let id = w.named("docs/a.md");
    w.engine.artifacts().remove(id, &by).map(drop)
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
    w.engine.artifacts().add(&new).map(drop)
}

fn registered(w: &World) -> Result<(), Fault> {
    register(w)
}

/// Two files with more values than one write contains.
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

fn theirs() -> ImportedMemory {
    let json = br#"{"results":[{"id":"1","memory":"listens on 8080","run_id":"r"}],
        "relations":[{"source":"a","relationship":"needs","target":"b"}]}"#;
    let mut memories = Mem0Memories::default();
    memories.add_json(json).unwrap();
    let mut memory = memories.finish();
    let chat = br#"[{"uuid":"c","created_at":"2026-01-01T00:00:00Z",
        "chat_messages":[{"uuid":"m","sender":"human","text":"hello"}]}]"#;
    memory.extend(parse_claude_ai(chat).unwrap());
    memory
}

fn foreign() -> Vec<ExternalSource> {
    let rules = RulesFile {
        file: shared().remove(0),
        ..RulesFile::default()
    };
    let graph = br#"{"type":"relation","from":"a","to":"b","relationType":"uses"}"#;
    let contents = [
        ExternalContent::Rules(vec![rules]),
        ExternalContent::Mirror(MIRROR.as_bytes().to_vec()),
        ExternalContent::Mirror(b"{".to_vec()),
        ExternalContent::Graph(graph.to_vec()),
        ExternalContent::Histories(histories(), output_sources()),
        ExternalContent::Shared(shared()),
        ExternalContent::Memory(theirs()),
    ];
    let part = |content| ExternalSource {
        path: "AGENTS.md".to_owned(),
        format: "markdown",
        content,
    };
    contents.map(part).into()
}

fn step(w: &World, state: StepState) -> Result<(), Fault> {
    w.engine
        .tasks()
        .step("7", "write it", state, "codex")
        .map(drop)
}

fn log(w: &World, error: &str) -> Result<(), Fault> {
    w.engine.errors().log(error, scope(), "codex").map(drop)
}

fn resolve(w: &World, named: &str) -> Result<(), Fault> {
    w.engine
        .errors()
        .resolve(named, "turned it off and on", "user")
        .map(drop)
}

fn success() -> IterationOutcome {
    IterationOutcome {
        files: vec!["src/a.rs".to_owned(), "src/b.rs".to_owned()],
        pr_number: Some(9),
        ..IterationOutcome::with_status(AgentStatus::Complete)
    }
}

fn failure() -> IterationOutcome {
    IterationOutcome {
        error: Some("it broke".to_owned()),
        files: vec!["src/a.rs".to_owned()],
        ..IterationOutcome::with_status(AgentStatus::Failed)
    }
}

fn outcome(w: &World, outcome: &IterationOutcome) -> Result<(), Fault> {
    w.engine
        .tasks()
        .record_outcome(&scope(), outcome, "codex")
        .map(drop)
}

pub(crate) const FACTS: &str = "HEIRLOOM_MEMORY: KEY_FACT the port is 8080\n\
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
    let mut observer: Observer<'_> =
        Runs::new(&w.engine).observer(scope(), StreamFormat::Text, false)?;
    for push in pushes {
        observer.push(push.as_bytes(), &mut |_| {})?;
    }
    observer.finish(&mut |_| {})
}

fn run(w: &World) -> Result<(), Fault> {
    // One write, so that it is read as one chunk on a loaded machine too.
    let signals = r"printf 'HEIRLOOM_MEMORY: KEY_FACT found out\nHEIRLOOM_MEMORY: STEP_DONE write it\nHEIRLOOM_STATUS: COMPLETE\n'";
    let request = RunRequest {
        command: ["sh", "-c", signals].map(str::to_owned).to_vec(),
        task: Some("7".to_owned()),
        phase: Some("CODE".to_owned()),
        iterations: Some(1),
        timeout_s: Some(60),
        temp_dir: Some(w.root().to_owned()),
        ..RunRequest::default()
    };
    Runs::new(&w.engine)
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

/// Stores a proposal of an agent.
pub(crate) fn proposed(w: &World) -> Result<(), Fault> {
    filled(w)?;
    let proposal = NewRecord {
        source: Some("agent:codex".to_owned()),
        ..new("proposed", Some("habit"))
    };
    w.engine.records().remember(proposal).map(drop)
}

fn replaced(w: &World) -> Result<(), Fault> {
    filled(w)?;
    w.advance_minute();
    fact(w, "newer", "k")
}

fn forgotten(w: &World) -> Result<(), Fault> {
    filled(w)?;
    w.advance_minute();
    w.engine.records().forget(w.named("old")).map(drop)
}

/// Writes `text` under the key of `old`.
fn say(w: &World, text: &str, source: &str) -> Result<(), Fault> {
    let message = NewRecord {
        source: Some(source.to_owned()),
        ..new(text, Some("k"))
    };
    w.engine.records().remember(message).map(drop)
}

/// Creates a value that two other sources contradict.
pub(crate) fn create_conflict(w: &World) -> Result<(), Fault> {
    filled(w)?;
    w.advance_minute();
    say(w, "theirs", "bob")?;
    w.advance_minute();
    say(w, "hers", "eve")
}

fn decide(w: &World, keep: &str) -> Result<(), Fault> {
    let (id, keep) = (w.named("hers"), w.named(keep));
    w.engine.conflicts().resolve(id, keep, "user").map(drop)
}

fn decided(w: &World, keep: &str) -> Result<(), Fault> {
    create_conflict(w)?;
    w.advance_minute();
    decide(w, keep)
}

fn undone(w: &World) -> Result<(), Fault> {
    replaced(w)?;
    w.advance_minute();
    undo(w, "newer")
}

/// Creates a task in progress with a step, an error and facts.
pub(crate) fn start_task(w: &World) -> Result<(), Fault> {
    filled(w)?;
    step(w, StepState::Pending)?;
    log(w, "it broke")
}

/// Creates more decisions and errors than are retained.
fn fill_beyond_retention(w: &World) -> Result<(), Fault> {
    start_task(w)?;
    for n in 0..6 {
        let decision = NewRecord {
            category: Some("decision".to_owned()),
            ..new(&format!("decision {n}"), None)
        };
        w.engine.records().remember(decision)?;
        w.advance_minute();
    }
    log(w, "another error")
}

fn mirror_there(w: &World) -> Result<(), Fault> {
    start_task(w)?;
    let folder = w.root().join(".heirloom");
    heirloom_fs::durable::create_dir_private(&folder)?;
    let path = folder.join("memory.json");
    Ok(heirloom_fs::durable::write_atomic(
        &path,
        MIRROR.as_bytes(),
    )?)
}

/// Writes a mirror that lacks the last write.
fn create_stale_mirror(w: &World) -> Result<(), Fault> {
    mirror_there(w)?;
    w.engine.mirror().load()?;
    fact(w, "newest", "n")
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

/// Export of another project, the same at each call.
fn foreign_export() -> ImportBundle {
    static EXPORTED: OnceLock<ImportBundle> = OnceLock::new();
    EXPORTED.get_or_init(mixed_export).clone()
}

/// Records of several kinds, some retired, and a conversation.
fn mixed_export() -> ImportBundle {
    let other = World::one_day_earlier();
    fill_beyond_retention(&other).unwrap();
    other.advance_minute();
    fact(&other, "newest", "k").unwrap();
    let mut carried = ImportBundle::default();
    let records = other.all();
    carried.records = (1..).zip(records).collect();
    let id = carried.records[0].1.id;
    let (retired_at, restored_at) = (other.engine.now(), other.engine.now());
    let lapse = heirloom_model::ValidityGap {
        retired_at,
        restored_at,
    };
    carried.validity_gaps.insert(id, vec![lapse]);
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
    w.engine.outputs().put(&new).map(drop)
}

pub(crate) fn fill_outputs_and_history(w: &World) -> Result<(), Fault> {
    start_task(w)?;
    put_output(w, "half\ndone")?;
    w.engine
        .sessions()
        .add_turn("talk", &spoken("hello"))
        .map(drop)
}

pub(crate) fn output_sources() -> Vec<OutputSource> {
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
