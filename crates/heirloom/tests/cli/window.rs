//! `compact`, `expand`, `bench window`, and the policies of a window.
#![expect(
    clippy::disallowed_methods,
    reason = "files of a test, which a crash may cut"
)]

use crate::project::{Answer, Project, string};
use heirloom_model::limits::{
    WINDOW_ARCHIVE_BYTES_MAX, WINDOW_BENCH_BYTES_MAX, WINDOW_EXPANDED_MAX, WINDOW_INPUT_BYTES_MAX,
    WINDOW_NUMBER_MAX,
};
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

/// Target size at which a short conversation is summarised.
const LOW_TARGET: [&str; 2] = ["--target-tokens", "9000"];
const GOAL: &str = "find out why the deploy fails on every second Monday, and mend it";
/// A secret that the built-in rules detect.
const SECRET: &str = "ghp_Zq81kLmXvB4cRt8WzY1pQs5dFgH2nJ7uTe3A";

fn session_args() -> [&'static str; 4] {
    ["--session", "s", LOW_TARGET[0], LOW_TARGET[1]]
}

/// Returns the `n`th tool output, `length` characters long.
pub(crate) fn output(n: usize, length: usize) -> String {
    let line = |at: usize| format!("{n}.{at}: src/deploy_{n}.rs says queue_{at} is busy\n");
    let text: String = (0..length / 30 + 1).map(line).collect();
    text[..length].to_owned()
}

pub(crate) fn chat(turns: usize, length: usize) -> Vec<Value> {
    let mut all = vec![
        json!({"role": "system", "content": "You are careful."}),
        json!({"role": "user", "content": GOAL, "x_mine": {"b": 1, "a": 2}}),
    ];
    for n in 0..turns {
        let call = json!({"id": format!("c{n}"), "type": "function",
            "function": {"name": "bash", "arguments": format!("{{\"command\":\"cat src/deploy_{n}.rs\"}}")}});
        all.push(
            json!({"role": "assistant", "content": format!("step {n}"), "tool_calls": [call]}),
        );
        let content = output(n, length);
        all.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": content}));
    }
    all
}

pub(crate) fn anthropic(turns: usize, length: usize) -> Value {
    let mut all = vec![json!({"role": "user", "content": GOAL})];
    for n in 0..turns {
        let call =
            json!({"type": "tool_use", "id": format!("c{n}"), "name": "bash", "input": {"n": n}});
        all.push(json!({"role": "assistant", "content": [call]}));
        let answer = json!({"type": "tool_result", "tool_use_id": format!("c{n}"), "content": output(n, length)});
        all.push(json!({"role": "user", "content": [answer]}));
    }
    json!({"model": "m", "max_tokens": 9, "system": "You are careful.", "messages": all})
}

pub(crate) fn responses(turns: usize, length: usize) -> Value {
    let mut all = vec![json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": GOAL}]})];
    for n in 0..turns {
        all.push(json!({"type": "function_call", "call_id": format!("c{n}"), "name": "bash", "arguments": "{}"}));
        all.push(json!({"type": "function_call_output", "call_id": format!("c{n}"), "output": output(n, length)}));
    }
    json!({"model": "m", "input": all})
}

fn history_text(messages: &[Value]) -> String {
    Value::Array(messages.to_vec()).to_string()
}

impl Project {
    #[track_caller]
    fn compact(&self, args: &[&str], history: &str) -> Answer {
        let answer = self.input(&[&["compact"], args].concat(), history.as_bytes());
        assert_eq!(answer.code, 0, "{answer:?}");
        answer
    }

    /// Returns the window and the report.
    #[track_caller]
    fn compact_with_report(&self, args: &[&str], history: &str) -> (Value, Value) {
        let file = self.home.path().join("report.json");
        let report = ["--report", file.to_str().unwrap()];
        let window = self.compact(&[args, &report].concat(), history).json();
        let report = fs::read_to_string(&file).unwrap();
        (window, serde_json::from_str(&report).unwrap())
    }

    /// Returns the files that windows stored, by name.
    fn stored_files(&self, folder: &str) -> BTreeMap<String, String> {
        let Ok(entries) = fs::read_dir(self.file(".heirloom").join(folder)) else {
            return BTreeMap::new();
        };
        let read = |entry: fs::DirEntry| {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{entry:?}");
            let text = fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        };
        entries.map(|entry| read(entry.unwrap())).collect()
    }
}

#[test]
fn every_wire_format_is_kept_and_expands_without_loss() {
    let project = Project::new();
    let openai = json!({"model": "m", "z": [1, 2], "messages": chat(60, 6_000)});
    for (form, body, list) in [
        ("openai", openai, "messages"),
        ("anthropic", anthropic(60, 6_000), "messages"),
        ("responses", responses(60, 6_000), "input"),
    ] {
        for args in [vec!["--format", form], vec![]] {
            let (window, report) =
                project.compact_with_report(&[&args[..], &LOW_TARGET].concat(), &body.to_string());
            assert_eq!(window["model"], "m", "{form}");
            let compacted = window[list].as_array().unwrap();
            let original = body[list].as_array().unwrap();
            assert!(compacted.len() < original.len(), "{form}");
            assert!(report["tokens_after"].as_u64() <= Some(9_000), "{report}");
            assert!(report["tokens_before"].as_u64() > Some(80_000), "{report}");
            assert_eq!(report["counting"], "estimate");
            assert_everything_expands(&project, &report, original);
        }
    }
}

/// Fails unless `expand` returns every message and output that the report names.
#[track_caller]
fn assert_everything_expands(project: &Project, report: &Value, original: &[Value]) {
    let shortened = report["shortened"].as_array().unwrap();
    let dropped = report["dropped"].as_array().unwrap();
    assert!(!shortened.is_empty() && !dropped.is_empty(), "{report}");
    for one in [shortened.first().unwrap(), shortened.last().unwrap()] {
        let index = usize::try_from(one["index"].as_u64().unwrap()).unwrap();
        let message = &original[index];
        let whole = [
            &message["content"],
            &message["output"],
            &message["content"][0]["content"],
        ];
        let whole = whole.iter().find_map(|value| value.as_str()).unwrap();
        let id = string(&one["id"]);
        assert_eq!(project.ok(&["expand", &id]).stdout, whole);
        assert_eq!(project.json(&["expand", &id])["text"], whole);
    }
    for one in dropped {
        let range = |key: &str| usize::try_from(one[key].as_u64().unwrap()).unwrap();
        let expected = Value::Array(original[range("from")..range("to")].to_vec());
        let id = string(&one["id"]);
        assert_eq!(project.ok(&["expand", &id]).json(), expected);
        let whole = project.json(&["expand", &id]);
        assert_eq!(
            (&whole["messages"], &whole["kind"]),
            (&expected, &json!("messages"))
        );
    }
}

#[test]
fn untouched_messages_keep_their_bytes() {
    let project = Project::new();
    let history = r#" [{"role":"user","content":"a  \u00e9","z":1.50,"a":{"k":1e3}} ,{"role":"assistant","content":"b"}]
"#;
    let answer = project.compact(&[], history);
    assert!(
        answer
            .stdout
            .contains(r#"{"role":"user","content":"a  \u00e9","z":1.50,"a":{"k":1e3}}"#)
    );
    // Compacting a window again changes nothing.
    let long = history_text(&chat(60, 6_000));
    let once = project.compact(&LOW_TARGET, &long).stdout;
    let twice = project.compact(&LOW_TARGET, &once).stdout;
    assert_eq!(twice, once);
}

#[test]
fn compact_with_and_without_a_session_gives_the_same_bytes() {
    let project = Project::new();
    let all = chat(70, 5_000);
    let mut before = Vec::new();
    for end in [20, 60, 90, all.len()] {
        let history = history_text(&all[..end]);
        let plain = project.compact(&LOW_TARGET, &history).stdout;
        let session = project.compact(&session_args(), &history).stdout;
        assert_eq!(plain, session, "{end}");
        before.push(plain);
    }
    // The same content is stored once.
    let (overflow, archive) = (
        project.stored_files("overflow"),
        project.stored_files("archive"),
    );
    assert!(!overflow.is_empty() && !archive.is_empty());
    for end in [20, 60, 90, all.len()] {
        let again = project
            .compact(&session_args(), &history_text(&all[..end]))
            .stdout;
        assert_eq!(again, before.remove(0), "{end}");
    }
    assert_eq!(
        (
            project.stored_files("overflow"),
            project.stored_files("archive")
        ),
        (overflow, archive)
    );
    let shown = project.json(&["session", "show", "s"]);
    assert_eq!(shown["messages"].as_array().unwrap().len(), all.len());
    let other = Project::uninitialised();
    assert_eq!(
        other.compact(&LOW_TARGET, &history_text(&all)).stdout,
        project.compact(&LOW_TARGET, &history_text(&all)).stdout
    );
}

#[test]
fn compact_without_a_project_stores_outputs_in_user_memory() {
    let project = Project::uninitialised();
    let all = chat(3, 9_000);
    let (_, report) = project.compact_with_report(&[], &history_text(&all));
    let id = string(&report["shortened"][0]["id"]);
    assert_eq!(
        project.ok(&["expand", &id]).stdout,
        all[3]["content"].as_str().unwrap()
    );
    assert!(!project.file(".heirloom").exists());
    project.expect(&["expand", "0123456789abcdef"], 3);
    // Without a place to store it, the call fails and prints nothing.
    let history = project.file("history.json");
    fs::write(&history, history_text(&all)).unwrap();
    let mut command = project.command(&["compact"]);
    command
        .env_remove("HOME")
        .stdin(File::open(&history).unwrap());
    let result = command.output().unwrap();
    assert_eq!(
        (result.status.code(), result.stdout.len()),
        (Some(1), 0),
        "{result:?}"
    );
}

#[test]
fn stored_outputs_and_session_messages_are_redacted() {
    let project = Project::new();
    let mut all = chat(60, 6_000);
    let secret = format!("{}\ntoken {SECRET}\n{}", output(0, 5_000), output(1, 3_000));
    all[3]["content"] = json!(secret);
    let last = all.len() - 1;
    all[last]["content"] = json!(secret);
    let short = project.compact(&[], &history_text(&chat(1, 10))).stdout;
    assert!(short.contains("x_mine"));
    let (_, report) = project.compact_with_report(&session_args(), &history_text(&all));
    let stored_text = [
        project.stored_files("overflow"),
        project.stored_files("archive"),
    ]
    .join_contents();
    assert!(stored_text.contains("[redacted:") && !stored_text.contains(SECRET));
    let id = string(&report["shortened"].as_array().unwrap().last().unwrap()["id"]);
    assert!(project.ok(&["expand", &id]).stdout.contains("[redacted:"));
    let shown = project.ok(&["session", "show", "s"]).stdout;
    assert!(shown.contains("[redacted:") && !shown.contains(SECRET));
}

trait JoinContents {
    fn join_contents(&self) -> String;
}

impl JoinContents for [BTreeMap<String, String>; 2] {
    fn join_contents(&self) -> String {
        self.iter().flat_map(BTreeMap::values).cloned().collect()
    }
}

#[test]
fn invalid_history_is_refused_with_its_message_index() {
    let project = Project::new();
    let call = |id: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]})
    };
    let ask = json!({"role": "user", "content": GOAL});
    for (history, expected) in [
        ("", "neither a JSON array nor a JSON object"),
        (
            "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"us",
            "message 1",
        ),
        (
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":",
            "message 1",
        ),
        ("{\"model\":\"m\"}", "neither `messages` nor `input`"),
        ("[{\"role\":\"wizard\",\"content\":\"a\"}]", "message 0"),
        (&history_text(&[ask.clone(), call("c")]), "message 1"),
    ] {
        for args in [
            &["compact", "--json"][..],
            &["compact", "--json", "--session", "s"],
        ] {
            let answer = project.input(args, history.as_bytes());
            assert_eq!(
                (answer.code, answer.stdout.as_str()),
                (2, ""),
                "{history}: {answer:?}"
            );
            assert!(
                string(&answer.error()["message"]).contains(expected),
                "{answer:?}"
            );
        }
    }
    let answer = project.input(&["compact"], b"[\"\xff\"]");
    assert!(
        answer.code == 2 && answer.stderr.contains("byte 2"),
        "{answer:?}"
    );
    // A tool result without a call is dropped, and can be expanded.
    let orphan = json!({"role": "tool", "tool_call_id": "gone", "content": "left over"});
    let (window, report) = project.compact_with_report(&[], &history_text(&[ask, orphan.clone()]));
    assert!(!window.to_string().contains("left over"));
    let id = string(&report["dropped"][0]["id"]);
    assert_eq!(project.ok(&["expand", &id]).json(), json!([orphan]));
}

#[test]
fn oversized_message_is_reported_and_huge_output_shortened() {
    let project = Project::new();
    let mut all = chat(1, 10);
    all[1]["content"] = json!("word ".repeat(60_000));
    let (_, report) = project.compact_with_report(&[], &history_text(&all));
    assert!(report["over"].is_string(), "{report}");
    let huge = "a line of a log that nobody reads\n".repeat(3 << 20);
    assert!(huge.len() > 100 << 20);
    let mut all = chat(1, 10);
    all[3]["content"] = json!(huge);
    let (window, report) = project.compact_with_report(&[], &history_text(&all));
    assert!(window.to_string().len() < 10_000);
    let id = string(&report["shortened"][0]["id"]);
    assert!(
        project.ok(&["expand", &id]).stdout == huge,
        "not every byte"
    );
}

#[test]
fn edited_history_of_a_session_compacts_as_without_it() {
    let project = Project::new();
    let mut all = chat(60, 5_000);
    project.compact(&session_args(), &history_text(&all));
    all[5]["content"] = json!("edited by hand");
    let edited = project.compact(&session_args(), &history_text(&all)).stdout;
    assert_eq!(
        edited,
        project.compact(&LOW_TARGET, &history_text(&all)).stdout
    );
    all.truncate(30);
    let shorter = project.compact(&session_args(), &history_text(&all)).stdout;
    assert_eq!(
        shorter,
        project.compact(&LOW_TARGET, &history_text(&all)).stdout
    );
    let turns = project.json(&["session", "show", "s"]);
    assert_eq!(turns["messages"].as_array().unwrap().len(), 123);
}

#[test]
fn expanded_output_is_not_shortened_again() {
    let project = Project::new();
    let mut all = chat(3, 6_000);
    let (_, report) = project.compact_with_report(&["--session", "s"], &history_text(&all));
    let id = string(&report["shortened"][0]["id"]);
    let whole = project.ok(&["expand", &id, "--session", "s"]).stdout;
    let call = json!({"id": "again", "type": "function", "function":
        {"name": "bash", "arguments": format!("{{\"command\":\"heirloom expand {id} --session s\"}}")}});
    let before = project
        .compact(&["--session", "s"], &history_text(&all))
        .json();
    all.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    all.push(
        json!({"role": "tool", "tool_call_id": "again", "content": format!("$ heirloom\n{whole}")}),
    );
    let compacted = project
        .compact(&["--session", "s"], &history_text(&all))
        .json();
    let compacted = compacted.as_array().unwrap();
    assert!(
        compacted
            .iter()
            .any(|one| one["content"] == all[all.len() - 1]["content"])
    );
    let before = before.as_array().unwrap();
    assert_eq!(&compacted[..before.len()], &before[..]);
    let plain = project.compact(&[], &history_text(&all)).json();
    assert_ne!(&plain, &Value::Array(compacted.to_vec()));
    assert_eq!(WINDOW_EXPANDED_MAX, 1_000);
}

#[test]
fn concurrent_compacts_of_a_session_store_each_message_once() {
    let project = Project::new();
    let all = chat(40, 5_000);
    let history = project.file("history.json");
    fs::write(&history, history_text(&all)).unwrap();
    let start = || {
        let mut command = project.command(&[&["compact"], &session_args()[..]].concat());
        command.stdin(File::open(&history).unwrap());
        command.spawn().unwrap()
    };
    let running = [start(), start(), start()];
    let result: Vec<_> = running
        .map(|child| child.wait_with_output().unwrap())
        .into();
    for one in &result {
        assert!(one.status.success(), "{one:?}");
        assert_eq!(one.stdout, result[0].stdout);
    }
    let turns = project.json(&["session", "show", "s"]);
    assert_eq!(turns["messages"].as_array().unwrap().len(), all.len());
}

/// Everything is stored before the first byte, so that nothing is lost if printing fails or the program is killed.
#[test]
fn outputs_are_stored_before_the_first_byte_is_printed() {
    let project = Project::new();
    let all = chat(60, 6_000);
    let history = project.file("history.json");
    fs::write(&history, history_text(&all)).unwrap();
    let mut command = project.command(&[&["compact"], &session_args()[..]].concat());
    command
        .stdin(File::open(&history).unwrap())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The window is larger than the pipe's buffer: after its first byte the program is still writing.
    let mut first = [0];
    std::io::Read::read_exact(&mut child.stdout.as_mut().unwrap(), &mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let stored = (
        project.stored_files("overflow"),
        project.stored_files("archive"),
    );
    let (_, report) = project.compact_with_report(&LOW_TARGET, &history_text(&all));
    assert_everything_expands(&project, &report, &all);
    assert_eq!(
        (
            project.stored_files("overflow"),
            project.stored_files("archive")
        ),
        stored
    );
    let turns = project.json(&["session", "show", "s"]);
    assert_eq!(turns["messages"].as_array().unwrap().len(), all.len());
}

#[test]
fn compact_that_cannot_store_outputs_is_refused() {
    let project = Project::new();
    let elsewhere = project.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, project.file(".heirloom/overflow")).unwrap();
    let answer = project.input(&["compact"], history_text(&chat(3, 9_000)).as_bytes());
    assert_eq!((answer.code, answer.stdout.as_str()), (4, ""), "{answer:?}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    let off = ["compact", "--set", "memory.enabled=false"];
    let answer = project.input(&off, history_text(&chat(3, 9_000)).as_bytes());
    assert_eq!((answer.code, answer.stdout.as_str()), (4, ""), "{answer:?}");
}

#[test]
fn purge_lists_stored_outputs_and_deletes_them() {
    let project = Project::new();
    let all = chat(60, 6_000);
    let (_, report) = project.compact_with_report(&session_args(), &history_text(&all));
    let count = project.stored_files("overflow").len() + project.stored_files("archive").len();
    assert!(count > 2);
    let purged = project.json(&["purge", "--session", "s", "--yes"]);
    assert_eq!(purged["copies"].as_array().unwrap().len(), count);
    let purged = project.json(&["purge", "--free", "--copies", "--yes"]);
    assert_eq!(purged["copies"], json!([]));
    assert!(
        project.stored_files("overflow").is_empty() && project.stored_files("archive").is_empty()
    );
    let id = string(&report["shortened"][0]["id"]);
    project.expect(&["expand", &id], 3);
    // The next window stores them again.
    project.compact_with_report(&session_args(), &history_text(&all));
    assert_everything_expands(&project, &report, &all);
}

#[test]
fn policy_is_read_from_settings_file_and_target() {
    let project = Project::new();
    let history = history_text(&chat(6, 3_000));
    let whole = project.compact_with_report(&[], &history).1;
    assert_eq!(whole["shortened"], json!([]));
    let policy = project.file("policy");
    for policy_text in [
        "profile = 'seed'\n",
        "[window]\nmax_output_length = 2000\npreview_length = 400",
        r#"{"max_output_length": 2000, "preview_length": 400, "tools": {"b*h": {"max_length": 1500}}}"#,
    ] {
        fs::write(&policy, policy_text).unwrap();
        let report = project
            .compact_with_report(&["--policy", policy.to_str().unwrap()], &history)
            .1;
        let shortened = report["shortened"].as_array().unwrap();
        assert!(shortened.len() == 6, "{policy_text}: {report}");
    }
    let of_settings = project
        .compact_with_report(&["--set", "window.profile=seed"], &history)
        .1;
    assert_eq!(of_settings["shortened"].as_array().unwrap().len(), 6);
    let target = project
        .compact_with_report(&["--target-tokens", "3000"], &history)
        .1;
    assert_ne!(target["dropped"], json!([]), "{target}");
    for (policy_text, hint) in [
        ("summary_treshold = 9", "`summary_threshold`"),
        ("{\"stale_treshold\": 9}", "`stale_threshold`"),
    ] {
        fs::write(&policy, policy_text).unwrap();
        let args = ["compact", "--json", "--policy", policy.to_str().unwrap()];
        let answer = project.input(&args, history.as_bytes());
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(string(&answer.error()["hint"]).contains(hint), "{answer:?}");
    }
    for (policy_text, code) in [
        ("messages_to_keep = 0", 2),
        ("x = = 3", 2),
        ("cache_read = 'cheap'", 2),
    ] {
        fs::write(&policy, policy_text).unwrap();
        let args = ["compact", "--policy", policy.to_str().unwrap()];
        assert_eq!(
            project.input(&args, history.as_bytes()).code,
            code,
            "{policy_text}"
        );
    }
    assert_eq!(
        project.input(&["compact", "--policy", "gone"], b"[]").code,
        3
    );
    let most = format!("window.summary_threshold={WINDOW_NUMBER_MAX}");
    project.compact(&["--set", &most], &history);
    let over = format!(
        "window.summary_threshold={}",
        u64::from(WINDOW_NUMBER_MAX) + 1
    );
    assert_eq!(project.input(&["compact", "--set", &over], b"[]").code, 2);
}

#[test]
fn oversized_inputs_and_stored_files_are_refused() {
    let project = Project::new();
    let large = project.file("large.json");
    let file = File::create(&large).unwrap();
    file.set_len(WINDOW_INPUT_BYTES_MAX as u64 + 1).unwrap();
    let mut command = project.command(&["compact"]);
    let result = command.stdin(File::open(&large).unwrap()).output().unwrap();
    let message = String::from_utf8_lossy(&result.stderr).into_owned();
    assert!(
        message.contains(&WINDOW_INPUT_BYTES_MAX.to_string()),
        "{message}"
    );
    file.set_len(WINDOW_BENCH_BYTES_MAX + 1).unwrap();
    let answer = project.expect(&["bench", "window", "--in", large.to_str().unwrap()], 2);
    assert!(
        answer.stderr.contains(&WINDOW_BENCH_BYTES_MAX.to_string()),
        "{answer:?}"
    );
    fs::create_dir(project.file(".heirloom/overflow")).unwrap();
    let stored_file = project.file(".heirloom/overflow/overflow_0123456789abcdef_x.txt");
    File::create(&stored_file)
        .unwrap()
        .set_len(WINDOW_ARCHIVE_BYTES_MAX + 1)
        .unwrap();
    let answer = project.expect(&["expand", "0123456789abcdef"], 1);
    assert!(
        answer.stderr.contains("overflow_0123456789abcdef_x.txt"),
        "{answer:?}"
    );
}

#[test]
fn bench_window_replays_conversations_under_each_policy() {
    let project = Project::new();
    let file = |name: &str, text: &str| {
        fs::write(project.file(name), text).unwrap();
    };
    file(
        "a.json",
        &json!({"id": "a", "messages": chat(50, 6_000)}).to_string(),
    );
    let line = |message: &Value| {
        json!({"type": message["role"], "uuid": "u", "message": message}).to_string()
    };
    let claude = anthropic(30, 5_000);
    let claude: Vec<String> = claude["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect();
    file("b.jsonl", &claude.join("\n"));
    let codex = responses(30, 5_000);
    let item = |item: &Value| json!({"type": "response_item", "payload": item}).to_string();
    let codex: Vec<String> = codex["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(item)
        .collect();
    file("c.jsonl", &codex.join("\n"));
    let value = project.json(&sh("bench window --in a.json b.jsonl c.jsonl"));
    let files = value["files"].as_array().unwrap();
    assert_eq!(files.len(), 3);
    for one in files {
        let (none, with) = (&one["policies"]["none"], &one["policies"]["settings"]);
        assert!(one["turns"].as_u64() >= Some(29), "{one}");
        assert!(with["cost"].as_f64() < none["cost"].as_f64(), "{one}");
        assert_eq!((&with["lost"], &none["lost"]), (&json!(0), &json!(0)));
    }
    for name in [
        "none",
        "settings",
        "compress-every-turn",
        "keep-last-40k",
        "seed",
    ] {
        assert!(value["sum"][name]["cost"].is_number(), "{name}");
    }
    assert_eq!(value["sum"]["none"]["cost"], 1.0);
    let table = project.ok(&sh("bench window --in a.json --exact")).stdout;
    assert!(
        table.contains("keep-last-40k") && table.contains("a.json"),
        "{table}"
    );
    project.expect(&["bench", "window", "--in", "gone.json"], 3);
    project.expect(&["bench", "window", "--in", ".heirloom/config.toml"], 2);
}

#[test]
fn cost_uses_the_prices_of_the_model() {
    let project = Project::new();
    let body = |model: &str| json!({"model": model, "messages": chat(40, 4_500)}).to_string();
    let cost =
        |args: &[&str], history: &str| project.compact_with_report(args, history).1["cost"].clone();
    let claude = cost(&[], &body("claude-sonnet-4-5"));
    let gpt = cost(&[], &body("gpt-4o"));
    assert_ne!(claude, gpt);
    // `--model` overrides the body. An array names no model, so the general keys apply.
    let typed = ["--model", "claude-opus-4-5"];
    assert_eq!(cost(&typed, &body("gpt-4o")), claude);
    assert_eq!(cost(&[], &history_text(&chat(40, 4_500))), claude);
    assert_eq!(
        cost(&["--model", "gpt-4o"], &history_text(&chat(40, 4_500))),
        gpt
    );
    let option = ["--set", "window.cache_read=0.1"];
    assert_eq!(cost(&option, &body("gpt-4o")), claude);
    let rows = ["--set", "window.prices=[\"gpt-4o 1.25 0.1 300 prefix\"]"];
    assert_eq!(cost(&rows, &body("gpt-4o")), claude);
    for bad in ["gpt-4o 1 2", "a 1 2 3 often"] {
        let set = format!("window.prices=[\"{bad}\"]");
        let answer = project.input(&["compact", "--set", &set], b"[]");
        assert_eq!(answer.code, 2, "{answer:?}");
    }
}
