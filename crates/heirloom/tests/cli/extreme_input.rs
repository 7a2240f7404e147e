//! Extreme and invalid queries, texts, confidences and times: each call has a clear answer in bounded memory.

use crate::project::{Answer, Project, string, texts};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

const MEGABYTE: usize = 1 << 20;
/// Address space limit of `recall` in KB: several times the need, and a fraction of a machine's memory.
const SPACE_KB: usize = 700_000;

/// Runs `recall` with the query on standard input and limited memory.
#[track_caller]
fn recall_in_limited_memory(project: &Project, question: &[u8]) -> Answer {
    let program = env!("CARGO_BIN_EXE_heirloom");
    let line = format!("ulimit -v {SPACE_KB} && exec {program} recall - --json");
    let mut command = project.command::<&str>(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line]).current_dir(project.path());
    let settings = command.stdin(Stdio::null()).get_envs();
    shell.env_clear();
    for (name, value) in settings {
        shell.env(name, value.unwrap());
    }
    shell.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = shell.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let question = question.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&question).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Answer {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn project_with_facts() -> Project {
    let project = Project::new();
    project.remember("the deploy fails without a token", &[]);
    project.remember("tests are run with nextest", &["--key", "tests"]);
    project
}

fn repeat_to_size(piece: &str, bytes: usize) -> Vec<u8> {
    piece.repeat(bytes / piece.len()).into_bytes()
}

/// Returns the texts of the hits, best first.
fn hit_texts(answer: &Value) -> Vec<String> {
    texts(&answer["hits"])
}

#[test]
fn recall_query_of_a_megabyte_succeeds_in_bounded_memory() {
    let project = project_with_facts();
    for piece in [
        "a",
        "🙂",
        "\"",
        "aB",
        "a/b_c::d-",
        "\"a b\" ",
        "e\u{301}\u{301}\u{301}",
        "kind:knowledge ",
        "3 days ago in March 2026-05-01 ",
        "\u{202e}שלום ",
    ] {
        let output = recall_in_limited_memory(&project, &repeat_to_size(piece, MEGABYTE));
        assert_eq!(output.code, 0, "{piece}: {}", output.stderr);
        assert!(output.json()["hits"].is_array(), "{piece}");
    }
}

#[test]
fn recall_query_with_ten_thousand_terms_uses_every_term() {
    let project = project_with_facts();
    let mut terms: Vec<String> = (0..10_000).map(|n| format!("zq{n}")).collect();
    terms.push("nextest".to_owned());
    let output = recall_in_limited_memory(&project, terms.join(" ").as_bytes());
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(hit_texts(&output.json())[0], "tests are run with nextest");
    let many = "kind:error ".repeat(limits::RECALL_QUERY_BYTES_MAX / 2 / 11);
    let output = recall_in_limited_memory(&project, many.as_bytes());
    assert!(
        output.json()["notes"]
            .to_string()
            .contains("only the first")
    );
}

#[test]
fn recall_query_operators_are_plain_words() {
    let project = project_with_facts();
    for question in [
        r#""foo" AND (deploy OR -baz*) NEAR/3 ^x:"#,
        "deploy -token +fails ~2 [a TO b] {x} ^3 \\",
        "deploy' OR 1=1; DROP TABLE records; --",
        "\"deploy fails\" \"without",
        "deploy:: :fails : :: \"\" ``",
        "text:deploy records.text MATCH 'x'",
    ] {
        let found = project.json(&["recall", question, "--all"]);
        let first = &hit_texts(&found)[0];
        assert_eq!(first, "the deploy fails without a token", "{question}");
    }
    assert_eq!(project.json(&["doctor"])["ok"], true);
}

#[test]
fn binary_bytes_in_query_or_message_are_accepted() {
    let project = project_with_facts();
    let wild = [
        &b"\0deploy\0 fails \0\0"[..],
        b"\xff\xfe deploy \xc3\x28 fails \xf0\x9f",
        b"\x1b[31m deploy \x1b[0m\r\n\tfails\x07\x08",
    ];
    for question in wild {
        let output = recall_in_limited_memory(&project, question);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let first = &hit_texts(&output.json())[0];
        assert_eq!(first, "the deploy fails without a token");
    }
    for turn in wild {
        let add = ["session", "add", "--session", "s", "--role", "user"];
        let output = project.input(&add, turn);
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
    let shown = project.ok(&["session", "show", "s"]).stdout;
    assert!(!shown.contains(['\0', '\u{1b}', '\u{7}']), "{shown:?}");
    assert_eq!(project.json(&["doctor"])["ok"], true);
}

#[test]
fn unusual_texts_are_stored_found_and_forgotten() {
    let project = Project::new();
    let long: Vec<String> = (0..90_000).map(|n| format!("zq{n:08}")).collect();
    let mut long = long.join(" ");
    long.truncate(MEGABYTE);
    let accented = "cafe\u{301} is open";
    let mut ids = Vec::new();
    for text in [
        "x",
        ".",
        "?!… --- ***",
        "🙂🙃",
        "\u{301}",
        "זה טקסט מימין לשמאל",
        "هذا نص من اليمين إلى اليسار",
        accented,
        "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}"
            .repeat(2_000)
            .as_str(),
        long.as_str(),
    ] {
        let line = format!("{}\n", json!({ "text": text }));
        let output = project.input(&["remember", "--stdin"], line.as_bytes());
        assert_eq!(output.code, 0, "{output:?}");
        let answer = output.lines().remove(0);
        assert_eq!(answer["outcome"], "created", "{text:.40}");
        let id = string(&answer["id"]);
        assert_eq!(project.json(&["show", &id])["text"], text);
        ids.push(id);
    }
    let found = |question: &str| hit_texts(&project.json(&["recall", question]));
    assert_eq!(found("caf\u{e9}")[0], accented);
    assert_eq!(found("טקסט")[0], "זה טקסט מימין לשמאל");
    assert_eq!(found("zq00000777")[0], long);
    assert_eq!(found("x")[0], "x");
    assert_eq!(project.json(&["doctor"])["ok"], true);
    for id in ids {
        project.ok(&["forget", &id]);
    }
    assert_eq!(found("x zq00000777"), [""; 0]);
    assert_eq!(project.json(&["doctor"])["ok"], true);
}

#[test]
fn text_over_size_limit_reports_the_limit() {
    let project = Project::new();
    let line = |size| format!("{}\n", json!({ "text": "x".repeat(size) }));
    let output = project.input(&["remember", "--stdin"], line(MEGABYTE + 1).as_bytes());
    let message = string(&output.lines()[0]["error"]);
    assert_eq!(output.code, 1);
    assert!(message.contains("line 1"), "{message}");
    assert!(message.contains("at most 1048576"), "{message}");
}

#[test]
fn invalid_confidence_is_refused_as_option_and_in_json() {
    let project = Project::new();
    for bad in ["NaN", "7", "-1", "inf", "1e999", "0.5.1", ""] {
        let output = project.expect(&["remember", "x", "--confidence", bad], 2);
        assert!(output.stderr.contains("confidence"), "{bad}: {output:?}");
    }
    for bad in ["7", "-0.1", "\"NaN\"", "null1", "1e999", "[]"] {
        let line = format!("{{\"text\": \"x\", \"confidence\": {bad}}}\n");
        let output = project.input(&["remember", "--stdin"], line.as_bytes());
        assert_eq!(output.code, 1, "{bad}: {output:?}");
        assert!(output.lines()[0]["error"].is_string(), "{bad}: {output:?}");
    }
    assert_eq!(project.list("knowledge"), Vec::<Value>::new());
}

#[test]
fn invalid_time_is_refused_with_an_example() {
    let project = project_with_facts();
    for args in [
        &["remember", "x", "--true-from", "2999-01-01"][..],
        &["remember", "x", "--true-to", "soon"],
        &["recall", "x", "--as-of", "2026-02-30T00:00:00Z"],
        &["list", "--as-of", "99999999999999"],
        &["episode", "list", "--since", ""],
        &["episode", "list", "--until", "12:00"],
    ] {
        let output = project.expect(args, 2);
        assert!(output.stderr.contains("2026-05-01T12:00:00Z"), "{output:?}");
        assert!(output.stderr.contains(args[args.len() - 2]), "{output:?}");
    }
    let line = "{\"text\": \"x\", \"true_to\": \"soon\"}\n";
    let output = project.input(&["remember", "--stdin"], line.as_bytes());
    let message = string(&output.lines()[0]["error"]);
    assert!(
        message.contains("`true_to`") && message.contains("RFC 3339"),
        "{message}"
    );
    for filter in ["on:2026-13-45", "before:soon", "after:9999999-01-01"] {
        let output = project.ok(&["recall", &format!("{filter} x")]);
        assert!(output.stderr.contains(filter), "{output:?}");
    }
}

#[test]
fn as_of_in_the_future_succeeds_with_a_note() {
    let project = project_with_facts();
    let later = "2999-01-01T00:00:00Z";
    for args in [
        ["list", "--as-of", later],
        ["recall deploy", "--as-of", later],
    ] {
        let words: Vec<&str> = args.iter().flat_map(|arg| arg.split(' ')).collect();
        let output = project.ok(&words);
        assert!(output.stderr.contains("future"), "{output:?}");
        assert!(output.stdout.contains("deploy"), "{output:?}");
    }
    let empty = project.json(&["episode", "list", "--since", later]);
    assert_eq!(empty["episodes"], json!([]));
}

#[test]
fn recall_marks_expired_future_and_disputed_records() {
    let project = Project::new();
    let (then, later) = ("2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z");
    project.remember("the port was 80", &["--key", "a", "--true-to", then]);
    project.remember("the port will be 90", &["--key", "b", "--true-from", later]);
    let found = project.json(&["recall", "port"]);
    let hit_with_text = |text: &str| {
        let all = found["hits"].as_array().unwrap();
        let one = all.iter().find(|hit| hit["text"] == text);
        one.unwrap_or_else(|| panic!("{found}")).clone()
    };
    assert_eq!(hit_with_text("the port was 80")["true_to"], then);
    assert_eq!(hit_with_text("the port will be 90")["true_from"], later);
    let output = project.ok(&["recall", "port"]).stdout;
    assert!(output.contains("until 2001-01-01"), "{output}");
    assert!(output.contains("from 2999-01-01"), "{output}");
    assert_eq!(project.ok(&["context"]).stdout, "");
    let ask = ["--set", "memory.conflict_policy=ask", "remember"];
    for (text, source) in [("the host is a", "ann"), ("the host is b", "bob")] {
        let words = [&ask[..], &[text, "--key", "host", "--source", source]].concat();
        project.ok(&words);
    }
    let found = project.json(&["recall", "host", "-k", "1"]);
    assert_eq!(found["hits"][0]["disputed"], true, "{found}");
    let output = project.ok(&["recall", "host"]).stdout;
    assert!(output.contains("disputed"), "{output}");
}

#[test]
fn commands_on_empty_store_or_unknown_project_return_empty_lists() {
    let project = Project::new();
    let elsewhere = project_with_facts();
    for (project, name) in [(&project, None), (&elsewhere, Some("nobody/knows"))] {
        let with = |args: &[&str]| {
            let mut all = args.to_vec();
            if let Some(name) = name {
                all.extend(["--project", name]);
            }
            all.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>()
        };
        for (args, plural) in [
            (&["recall", "deploy"][..], "hits"),
            (&["recall", "kind:error"], "hits"),
            (&["tried", "deploy"], "tried"),
            (&["list"], "records"),
            (&["list", "--all"], "records"),
            (&["conflicts"], "conflicts"),
            (&["review"], "duplicates"),
            (&["review", "--apply", "--yes"], "retired"),
            (&["episode", "list"], "episodes"),
            (&["artifact", "list"], "artifacts"),
            (&["artifact", "verify"], "artifacts"),
            (&["task", "list"], "tasks"),
            (&["analytics"], "by_approach"),
        ] {
            let found = project.ok(&with(&[args, &["--json"]].concat())).json();
            assert_eq!(found[plural], json!([]), "{args:?}: {found}");
        }
        for args in [&["recall", "deploy"][..], &["list"]] {
            let output = project.ok(&with(args));
            assert!(
                output.stderr.contains("nothing is remembered here"),
                "{output:?}"
            );
        }
        let output = project.expect(&with(&["session", "show", "s"]), 3);
        assert!(output.stderr.contains("no session `s`"), "{output:?}");
        assert!(output.stderr.contains("session add"), "{output:?}");
        project.expect(&with(&["task", "show", "1"]), 3);
        project.ok(&with(&["prune", "--apply"]));
        project.ok(&with(&["context"]));
    }
    let output = elsewhere.ok(&["list", "--category", "nothing"]);
    assert!(output.stderr.contains("no record matches"), "{output:?}");
}
