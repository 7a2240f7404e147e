//! Tests of session histories and agent outputs with a real store.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_engine::{Engine, HistorySource, NewOutput, NewTurn, OutputSource, Verdict};
use heirloom_formats::outputs::last_lines;
use heirloom_formats::session_history;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::limits::{
    CONTEXT_OUTPUTS_MAX, HISTORY_EXCERPT_CHARS_MAX, HISTORY_OLDER_MAX, HISTORY_SUMMARISED,
    HISTORY_TURNS_MAX, OUTPUT_CHARS_MAX, OUTPUT_FILE_BYTES_MAX, OUTPUT_FILES_MAX,
    OUTPUT_FULL_BYTES_MAX, OUTPUT_INPUT_BYTES_MAX, OUTPUT_METADATA_BYTES_MAX,
};
use heirloom_model::record::Attrs;
use heirloom_model::settings::HistorySettings;
use heirloom_model::{ErrorKind, FixedClock, ProjectName, Role, Settings, text};
use heirloom_store::SqliteStore;
use std::path::Path;
use std::sync::Arc;

fn engine_with(root: &Path, settings: Settings) -> Engine {
    let place = ProjectPaths {
        root: root.to_owned(),
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
    };
    let clock = FixedClock("2026-05-01T10:00:00Z".parse().unwrap());
    let store = Arc::new(SqliteStore::memory().unwrap());
    let name = ProjectName::new("p").unwrap();
    Engine::new(store, name, place, settings, Arc::new(clock)).unwrap()
}

fn engine(root: &Path) -> Engine {
    engine_with(root, Settings::default())
}

fn put(engine: &Engine, agent: &str, content: &str) -> Verdict {
    let new = NewOutput {
        plan: "REQ-1".to_owned(),
        agent: agent.to_owned(),
        content: content.to_owned(),
        ..NewOutput::default()
    };
    engine.outputs().put(&new).unwrap().verdict
}

fn say(engine: &Engine, role: Role, message: &str) {
    let turn = NewTurn {
        machine: false,
        role,
        sender: None,
        task: None,
        agent: None,
        text: message.to_owned(),
    };
    engine.sessions().add_turn("s", &turn).unwrap();
}

fn talk(engine: &Engine, interactions: usize) {
    for n in 0..interactions {
        say(engine, Role::User, &format!("goal {n}"));
        say(engine, Role::Assistant, &format!("answer {n}"));
    }
}

fn with_history(live: usize, budget_tokens: usize) -> Settings {
    Settings {
        history: HistorySettings {
            live_interactions: live,
            budget_tokens,
        },
        ..Settings::default()
    }
}

fn lines(engine: &Engine, room: Option<usize>) -> Vec<String> {
    let section = engine.sessions().history_section("s", room).unwrap();
    section.offers.into_iter().map(|offer| offer.text).collect()
}

#[test]
fn output_replaces_previous_output() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    assert_eq!(put(&engine, "coder", "one"), Verdict::Created);
    assert_eq!(put(&engine, "coder", "one"), Verdict::Unchanged);
    assert_eq!(put(&engine, "coder", "two"), Verdict::Replaced);
    assert_eq!(put(&engine, "tester", "three"), Verdict::Created);
    let found = engine.outputs().get("REQ-1", "coder").unwrap();
    assert_eq!(found.content, "two");
    assert_eq!(found.at.as_second(), 1_777_629_600);
    assert_eq!(engine.records().history(found.id).unwrap().len(), 2);
    assert_eq!(engine.outputs().list(Some("REQ-1")).unwrap().len(), 2);
    assert_eq!(engine.outputs().list(Some("REQ-2")).unwrap(), []);
    let nobody = engine.outputs().get("REQ-1", "nobody").unwrap_err();
    assert_eq!(nobody.kind, ErrorKind::NotFound);
}

#[test]
fn output_prompt_and_tail_excerpts() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let long: String = (0..1_000)
        .map(|n| format!("line {n} é👩\u{200d}👧\n"))
        .collect();
    put(&engine, "coder", &long);
    let found = engine.outputs().get("REQ-1", "coder").unwrap();
    let chars = text::chars(&found.content);
    assert!(
        (OUTPUT_CHARS_MAX - 3..=OUTPUT_CHARS_MAX).contains(&chars),
        "{chars}"
    );
    assert!(found.full == long.trim_end() && found.full.ends_with(&found.content));
    assert_eq!(found.left_out_bytes, 0);
    let tail = last_lines(&found.full, 300);
    assert_eq!(tail.lines().count(), 300);
    assert!(tail.starts_with("line 700 "));
    let section = engine
        .outputs()
        .own_output_section(Some("REQ-1"), "coder")
        .unwrap();
    let shown = &section.offers[0].text;
    assert!(shown.starts_with("line ") && found.content.ends_with(&**shown));
    put(&engine, "coder", &"words ".repeat(OUTPUT_CHARS_MAX));
    let of_others = engine
        .outputs()
        .other_outputs_section("REQ-1", None)
        .unwrap();
    assert!(of_others.offers[0].text.starts_with("[coder]: words "));
    assert!(
        section.notes[0].starts_with("the last "),
        "{:?}",
        section.notes
    );
}

#[test]
fn output_and_metadata_limits() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    put(&engine, "a", &"x".repeat(OUTPUT_FULL_BYTES_MAX));
    assert_eq!(
        engine.outputs().get("REQ-1", "a").unwrap().left_out_bytes,
        0
    );
    put(&engine, "a", &"x".repeat(OUTPUT_FULL_BYTES_MAX + 1));
    let found = engine.outputs().get("REQ-1", "a").unwrap();
    assert_eq!(
        (found.left_out_bytes, found.full.len()),
        (1, OUTPUT_FULL_BYTES_MAX)
    );
    // Each of these characters takes six bytes of JSON.
    put(&engine, "a", &"\u{1}".repeat(OUTPUT_FULL_BYTES_MAX));
    let retained = engine.outputs().get("REQ-1", "a").unwrap().full.len();
    assert_eq!(retained, OUTPUT_FULL_BYTES_MAX / 6);
    let new = |content: String, value: String| NewOutput {
        plan: "REQ-1".to_owned(),
        agent: "b".to_owned(),
        content,
        metadata: Attrs::from_iter([("k".to_owned(), value.into())]),
        ..NewOutput::default()
    };
    // Braces, name and quotes take eight bytes; two bytes are for an object without fields.
    let fits = "y".repeat(OUTPUT_METADATA_BYTES_MAX - 10);
    engine
        .outputs()
        .put(&new("x".to_owned(), fits.clone()))
        .unwrap();
    let over = engine
        .outputs()
        .put(&new("x".to_owned(), format!("{fits}y")));
    assert_eq!(over.unwrap_err().kind, ErrorKind::Usage);
    let over = new("x".repeat(OUTPUT_INPUT_BYTES_MAX + 1), String::new());
    assert_eq!(
        engine.outputs().put(&over).unwrap_err().kind,
        ErrorKind::Usage
    );
    let empty = new(" \n".to_owned(), String::new());
    assert_eq!(
        engine.outputs().put(&empty).unwrap_err().kind,
        ErrorKind::Usage
    );
}

#[test]
fn output_path_escapes_rejected_and_secrets_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    for (plan, agent, stage, kind) in [
        ("REQ-1", "../x", None, ErrorKind::Refused),
        ("..", "x", None, ErrorKind::Refused),
        ("REQ-1", "x", Some("/etc"), ErrorKind::Refused),
        ("REQ-1", "a\nb", None, ErrorKind::Usage),
        ("REQ-1", "", None, ErrorKind::Usage),
    ] {
        let new = NewOutput {
            plan: plan.to_owned(),
            agent: agent.to_owned(),
            stage: stage.map(str::to_owned),
            content: "x".to_owned(),
            ..NewOutput::default()
        };
        assert_eq!(
            engine.outputs().put(&new).unwrap_err().kind,
            kind,
            "{plan} {agent}"
        );
    }
    let long = "x".repeat(300);
    let secret = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    // The excerpt for prompts begins in the middle of the secret.
    let message = format!("{secret} {}", "y".repeat(OUTPUT_CHARS_MAX - 20));
    put(&engine, "coder", &message);
    let found = engine.outputs().get("REQ-1", "coder").unwrap();
    assert!(!found.full.contains("C3d4") && !found.content.contains("C3d4"));
    let files = engine.outputs().output_files("wip", "REQ-1").unwrap();
    assert_eq!(
        files.put(&long, "x", &Attrs::new()).unwrap_err().kind,
        ErrorKind::Usage
    );
    files.put("coder", &message, &Attrs::new()).unwrap();
    let retained =
        std::fs::read_to_string(folder.path().join("radium/wip/REQ-1/memory/coder.json"));
    assert!(!retained.unwrap().contains("C3d4"));
}

#[test]
fn outputs_of_other_agents_newest_first_and_limited() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    put(&engine, "me", "mine");
    for n in 0..CONTEXT_OUTPUTS_MAX {
        put(&engine, &format!("agent {n}"), &format!("first\n[me]: {n}"));
    }
    let section = |me| engine.outputs().other_outputs_section("REQ-1", me).unwrap();
    let others = section(Some("me"));
    assert_eq!(
        (others.offers.len(), others.notes.len()),
        (CONTEXT_OUTPUTS_MAX, 0)
    );
    assert_eq!(others.offers[0].text, "[agent 19]: first\n[me]: 19");
    let all = section(None);
    assert_eq!(
        (all.offers.len(), all.notes.len()),
        (CONTEXT_OUTPUTS_MAX, 1)
    );
}

#[test]
fn outputs_of_other_processes_are_visible_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let [ours, theirs] = [(), ()].map(|()| engine.outputs().output_files("wip", "REQ-1").unwrap());
    assert_eq!(ours.get("coder").unwrap(), None);
    for message in ["one", "two", "six"] {
        theirs.put("coder", message, &Attrs::new()).unwrap();
        assert_eq!(ours.get("coder").unwrap().unwrap().content, message);
    }
    theirs.put("a/b", "x", &Attrs::new()).unwrap();
    assert_eq!(ours.agents().unwrap(), ["a/b", "coder"]);
    let path = folder.path().join("radium/wip/REQ-1/memory/coder.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let half = b"{\"agent_id\":\"coder\",\"cont";
    heirloom_fs::durable::write_atomic(&path, half).unwrap();
    assert_eq!(ours.get("coder").unwrap_err().kind, ErrorKind::Failed);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(ours.get("coder").unwrap(), None);
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert_eq!(ours.get("coder").unwrap_err().kind, ErrorKind::Refused);
    assert!(ours.put("coder", "x", &Attrs::new()).is_err());
}

#[test]
fn outputs_export_import_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let first = engine(folder.path());
    put(&first, "coder", "the last words");
    let (written, reported) = first.outputs().export_outputs(None).unwrap();
    assert_eq!((written.len(), reported.len()), (1, 0));
    let second = engine(folder.path());
    let (sources, reported) = second.outputs().output_sources(None).unwrap();
    assert_eq!((sources.len(), reported.len()), (1, 0));
    let dry = second
        .sessions()
        .import_histories(&[], &sources, "radium", true)
        .unwrap();
    assert_eq!((dry.created, dry.batch), (1, None));
    assert_eq!(second.outputs().list(None).unwrap(), []);
    let report = second
        .sessions()
        .import_histories(&[], &sources, "radium", false)
        .unwrap();
    assert_eq!((report.created, report.known), (1, 0));
    let found = second.outputs().get("REQ-1", "coder").unwrap();
    assert_eq!(found.content, "the last words");
    assert_eq!(found.at.as_second(), 1_777_629_600);
    for dry in [true, false] {
        let again = second
            .sessions()
            .import_histories(&[], &sources, "radium", dry)
            .unwrap();
        assert_eq!((again.created, again.known), (0, 1));
    }
    second.records().undo(report.batch.unwrap()).unwrap();
    assert_eq!(second.outputs().list(None).unwrap(), []);
}

#[test]
fn outputs_import_reports_unreadable_files() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let source = |name: &str, bytes: &[u8]| OutputSource {
        path: format!("{name}.json"),
        stage: "wip".to_owned(),
        plan: "REQ-1".to_owned(),
        agent: Some(name.to_owned()),
        changed: 5,
        bytes: bytes.to_vec(),
    };
    let report = engine.sessions().import_histories(
        &[],
        &[
            source("half", b"{\"agent_id\":\"half\",\"content\":\"x"),
            source("binary", b"\0\xff\xfe"),
            source("other", br#"{"agent_id":"x","content":"x"}"#),
            source("typed", br#"{"agent_id":"typed","content":[]}"#),
            source(
                "good",
                br#"{"agent_id":"good","content":"x","iteration":7}"#,
            ),
        ],
        "radium",
        false,
    );
    let report = report.unwrap();
    assert_eq!(
        (report.created, report.diagnostics.len()),
        (1, 4),
        "{report:?}"
    );
    let good = engine.outputs().get("REQ-1", "good").unwrap();
    assert_eq!(
        (good.at.as_second(), &good.file["iteration"]),
        (5, &7.into())
    );
}

#[test]
fn history_lists_interactions_oldest_first_within_budget() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    talk(&engine, 12);
    let reported = lines(&engine, None);
    assert_eq!(reported.len(), 20);
    assert_eq!(reported[0], "[user]: goal 2");
    assert_eq!(reported[19], "[assistant]: answer 11");
    // Five interactions need less, so the budget is reduced further.
    let reported = lines(&engine, Some(30));
    assert!(text::tokens(&reported.join("\n")) <= 30);
    assert_eq!(reported.last().unwrap(), "[assistant]: answer 11");
    assert_eq!(lines(&engine, Some(0)), Vec::<String>::new());
    assert_eq!(
        engine
            .sessions()
            .history_section("nobody", None)
            .unwrap()
            .offers,
        []
    );
}

#[test]
fn history_summary_precedes_truncated_turns() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with(folder.path(), with_history(10, 400));
    for n in 0..6 {
        say(&engine, Role::User, &format!("goal {n}"));
        let answer = format!("{}\n\nanswer {n}", "words ".repeat(100));
        say(&engine, Role::Assistant, &answer);
    }
    let reported = lines(&engine, None);
    assert!(text::tokens(&reported.join("\n")) <= 400);
    let summary: Vec<_> = reported[0].lines().collect();
    assert_eq!(summary.len(), 1 + HISTORY_SUMMARISED);
    assert_eq!(summary[1], "- goal 1 → answer 1");
    assert!(reported.last().unwrap().ends_with("answer 5"));
}

#[test]
fn history_message_over_budget_is_truncated_with_note() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with(folder.path(), with_history(10, 10));
    say(&engine, Role::User, "before");
    say(&engine, Role::Assistant, &"é".repeat(500));
    let section = engine.sessions().history_section("s", None).unwrap();
    assert_eq!(section.offers.len(), 1);
    assert_eq!(text::chars(&section.offers[0].text), 39);
    assert!(section.notes[0].contains("is cut"), "{:?}", section.notes);
    let engine = engine_with(folder.path(), with_history(10, 0));
    say(&engine, Role::Assistant, &"é".repeat(100_000));
    assert_eq!(text::chars(&lines(&engine, None)[0]), 100_013);
}

#[test]
fn history_older_interactions_are_summarised_and_searchable() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with(folder.path(), with_history(2, 0));
    say(&engine, Role::User, "paint the zeppelin");
    say(&engine, Role::Assistant, "it is green now");
    talk(&engine, HISTORY_OLDER_MAX + 2);
    let summary = engine.sessions().session_summary("s").unwrap();
    assert_eq!(
        (summary.interactions, summary.live),
        (HISTORY_OLDER_MAX + 3, 2)
    );
    assert_eq!(summary.recent.len(), HISTORY_SUMMARISED);
    assert_eq!(summary.older[0], "- 1 interactions before these");
    assert_eq!(summary.older.len(), HISTORY_OLDER_MAX + 1);
    let hits = engine
        .sessions()
        .search_sessions("zeppelin", None, 3)
        .unwrap();
    assert_eq!(hits[0].1.text, "paint the zeppelin");
    let here = engine
        .sessions()
        .search_sessions("zeppelin", Some("s"), 3)
        .unwrap();
    assert_eq!(here.len(), hits.len());
    assert_eq!(
        engine
            .sessions()
            .search_sessions("zeppelin", Some("other"), 3)
            .unwrap(),
        []
    );
    assert_eq!(
        engine
            .sessions()
            .search_sessions(" ", None, 3)
            .unwrap_err()
            .kind,
        ErrorKind::Usage
    );
}

#[test]
fn history_reads_only_newest_turns_of_long_session() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with(folder.path(), with_history(1_000, 0));
    let count = HISTORY_TURNS_MAX + 5;
    let list: Vec<_> = (0..count)
        .map(|n| format!(r#"{{"goal":"goal {n}","timestamp":{n}}}"#))
        .collect();
    let source = HistorySource {
        path: "history.json".to_owned(),
        session: "s".to_owned(),
        changed: 0,
        bytes: format!("[{}]", list.join(",")).into_bytes(),
    };
    engine
        .sessions()
        .import_histories(&[source], &[], "history", false)
        .unwrap();
    let summary = engine.sessions().session_summary("s").unwrap();
    assert_eq!(summary.interactions, HISTORY_TURNS_MAX);
    let last = format!("- goal {} → no answer", count - 1);
    assert_eq!(summary.recent.last(), Some(&last));
    let reported = lines(&engine, None);
    assert_eq!(reported.len(), 1_000);
    assert_eq!(
        reported.last(),
        Some(&format!("[user]: goal {}", count - 1))
    );
    let section = engine.sessions().history_section("s", Some(10)).unwrap();
    assert!(
        section
            .notes
            .last()
            .unwrap()
            .starts_with("older interactions")
    );
}

#[test]
fn history_reads_few_turns_if_sufficient() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with(folder.path(), with_history(10, 0));
    talk(&engine, 150);
    let reported = lines(&engine, None);
    assert_eq!(reported.len(), 20);
    assert_eq!(
        (reported[0].as_str(), reported[19].as_str()),
        ("[user]: goal 140", "[assistant]: answer 149")
    );
    // A long answer in many parts begins before the turns that are read first.
    say(&engine, Role::User, "the long one");
    for n in 0..250 {
        say(&engine, Role::Assistant, &format!("part {n}"));
    }
    let reported = lines(&engine, None);
    assert_eq!(reported.len(), 18 + 251);
    assert_eq!(reported[0], "[user]: goal 141");
    assert_eq!(reported[18], "[user]: the long one");
}

#[test]
fn history_import_is_idempotent_exportable_and_undoable() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let text = r#"{"session":[
        {"timestamp":{"secs_since_epoch":1777000000},"goal":"g","plan":"p","output":"o","metadata":{"k":1},"x":[2]},
        {"timestamp":1777000060,"goal":"","plan":{"steps":["a"]},"output":"o2"},
        {"timestamp":1777000120,"goal":"last","plan":null,"output":""}]}"#;
    let source = HistorySource {
        path: "history.json".to_owned(),
        session: "s".to_owned(),
        changed: 0,
        bytes: text.as_bytes().to_vec(),
    };
    let sources = [source];
    let import = |dry| {
        engine
            .sessions()
            .import_histories(&sources, &[], "history", dry)
            .unwrap()
    };
    assert_eq!((import(true).created, import(true).batch), (7, None));
    let report = import(false);
    assert_eq!(
        (report.created, report.diagnostics.len()),
        (7, 0),
        "{report:?}"
    );
    let again = import(false);
    assert_eq!((again.created, again.known, again.batch), (0, 7, None));
    let out = engine.sessions().session_interactions("s").unwrap();
    assert_eq!(
        out,
        session_history::parse(text.as_bytes())
            .unwrap()
            .interactions
    );
    say(&engine, Role::User, "more");
    say(&engine, Role::Assistant, "done");
    assert_eq!(
        engine.sessions().session_interactions("s").unwrap().len(),
        4
    );
    engine.records().undo(report.batch.unwrap()).unwrap();
    assert_eq!(
        engine.sessions().session_interactions("s").unwrap().len(),
        1
    );
}

#[test]
fn history_summary_line_limit() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    say(&engine, Role::User, &"g".repeat(HISTORY_EXCERPT_CHARS_MAX));
    say(
        &engine,
        Role::Assistant,
        &"a".repeat(HISTORY_EXCERPT_CHARS_MAX + 1),
    );
    let line = engine
        .sessions()
        .session_summary("s")
        .unwrap()
        .recent
        .remove(0);
    let (goal, outcome) = line.split_once(" → ").unwrap();
    assert!(!goal.contains('…') && outcome.ends_with('…'));
    assert_eq!(text::chars(goal), HISTORY_EXCERPT_CHARS_MAX + 2);
    assert_eq!(text::chars(outcome), HISTORY_EXCERPT_CHARS_MAX);
}

#[test]
fn history_import_file_limits() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let memory = folder.path().join("radium/wip/REQ-1/memory");
    std::fs::create_dir_all(&memory).unwrap();
    let put = |name: &str| {
        let mut new = std::fs::OpenOptions::new();
        new.write(true)
            .create_new(true)
            .open(memory.join(name))
            .unwrap()
    };
    let large = put("0000.json");
    large.set_len(OUTPUT_FILE_BYTES_MAX + 1).unwrap();
    for n in 1..=OUTPUT_FILES_MAX {
        put(&format!("{n:04}.json"));
    }
    let (found, reported) = engine.outputs().output_sources(None).unwrap();
    assert_eq!(
        (found.len(), reported.len()),
        (OUTPUT_FILES_MAX, 1),
        "{reported:?}"
    );
    large.set_len(OUTPUT_FILE_BYTES_MAX).unwrap();
    std::fs::remove_file(memory.join("0002.json")).unwrap();
    let (found, reported) = engine.outputs().output_sources(None).unwrap();
    assert_eq!((found.len(), reported), (OUTPUT_FILES_MAX, vec![]));
    assert_eq!(found[0].bytes.len() as u64, OUTPUT_FILE_BYTES_MAX);
    put("one_more.json");
    let (found, reported) = engine.outputs().output_sources(None).unwrap();
    assert_eq!((found.len(), reported.len()), (OUTPUT_FILES_MAX, 1));
}

#[test]
fn system_message_is_no_interaction() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    say(&engine, Role::System, "You are a coder.");
    let sessions = engine.sessions();
    assert_eq!(sessions.session_interactions("s").unwrap(), []);
    say(&engine, Role::User, "Fix the login");
    say(&engine, Role::Assistant, "It is fixed.");
    let summary = sessions.session_summary("s").unwrap();
    assert_eq!(summary.recent, ["- Fix the login → It is fixed."]);
    assert_eq!((summary.interactions, summary.live), (1, 1));
}
