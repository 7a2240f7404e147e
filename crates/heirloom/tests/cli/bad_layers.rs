//! What a person or a broken script may ask of memory, and tell it: each gets a clear answer, in bounded memory.

use crate::project::{Answer, Project, string, texts};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

const MEGABYTE: usize = 1 << 20;
/// Address space that a question may take, KB: several times what it needs, a fraction of what a machine has.
const SPACE_KB: usize = 700_000;

/// Asks through standard input, with a bound on memory.
#[track_caller]
fn asked(project: &Project, question: &[u8]) -> Answer {
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

fn filled() -> Project {
    let project = Project::new();
    project.remember("the deploy fails without a token", &[]);
    project.remember("tests are run with nextest", &["--key", "tests"]);
    project
}

fn times(piece: &str, bytes: usize) -> Vec<u8> {
    piece.repeat(bytes / piece.len()).into_bytes()
}

/// The texts of the hits, best first.
fn hits(answer: &Value) -> Vec<String> {
    texts(&answer["hits"])
}

#[test]
fn a_megabyte_of_anything_is_a_question() {
    let project = filled();
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
        let said = asked(&project, &times(piece, MEGABYTE));
        assert_eq!(said.code, 0, "{piece}: {}", said.stderr);
        assert!(said.json()["hits"].is_array(), "{piece}");
    }
}

#[test]
fn of_ten_thousand_terms_each_counts() {
    let project = filled();
    let mut terms: Vec<String> = (0..10_000).map(|n| format!("zq{n}")).collect();
    terms.push("nextest".to_owned());
    let said = asked(&project, terms.join(" ").as_bytes());
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(hits(&said.json())[0], "tests are run with nextest");
    let many = "kind:error ".repeat(limits::RECALL_QUERY_BYTES_MAX / 2 / 11);
    let said = asked(&project, many.as_bytes());
    assert!(said.json()["notes"].to_string().contains("only the first"));
}

#[test]
fn operators_of_other_searches_are_words() {
    let project = filled();
    for question in [
        r#""foo" AND (deploy OR -baz*) NEAR/3 ^x:"#,
        "deploy -token +fails ~2 [a TO b] {x} ^3 \\",
        "deploy' OR 1=1; DROP TABLE records; --",
        "\"deploy fails\" \"without",
        "deploy:: :fails : :: \"\" ``",
        "text:deploy records.text MATCH 'x'",
    ] {
        let found = project.json(&["recall", question]);
        let first = &hits(&found)[0];
        assert_eq!(first, "the deploy fails without a token", "{question}");
    }
    assert_eq!(project.json(&["doctor"])["ok"], true);
}

#[test]
fn bytes_that_are_no_text_do_not_stop_a_question_or_a_turn() {
    let project = filled();
    let wild = [
        &b"\0deploy\0 fails \0\0"[..],
        b"\xff\xfe deploy \xc3\x28 fails \xf0\x9f",
        b"\x1b[31mdeploy\x1b[0m\r\n\tfails\x07\x08",
    ];
    for question in wild {
        let said = asked(&project, question);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let first = &hits(&said.json())[0];
        assert_eq!(first, "the deploy fails without a token");
    }
    for turn in wild {
        let add = ["session", "add", "--session", "s", "--role", "user"];
        let said = project.input(&add, turn);
        assert_eq!(said.code, 0, "{}", said.stderr);
    }
    let shown = project.ok(&["session", "show", "s"]).stdout;
    assert!(!shown.contains(['\0', '\u{1b}', '\u{7}']), "{shown:?}");
    assert_eq!(project.json(&["doctor"])["ok"], true);
}

#[test]
fn a_text_of_any_form_is_kept_found_and_forgotten() {
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
        let said = project.input(&["remember", "--stdin"], line.as_bytes());
        assert_eq!(said.code, 0, "{said:?}");
        let answer = said.lines().remove(0);
        assert_eq!(answer["outcome"], "created", "{text:.40}");
        let id = string(&answer["id"]);
        assert_eq!(project.json(&["show", &id])["text"], text);
        ids.push(id);
    }
    let found = |question: &str| hits(&project.json(&["recall", question]));
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
fn a_text_over_the_cap_says_how_long_it_may_be() {
    let project = Project::new();
    let line = |size| format!("{}\n", json!({ "text": "x".repeat(size) }));
    let said = project.input(&["remember", "--stdin"], line(MEGABYTE + 1).as_bytes());
    let told = string(&said.lines()[0]["error"]);
    assert_eq!(said.code, 1);
    assert!(told.contains("line 1"), "{told}");
    assert!(told.contains("at most 1048576"), "{told}");
}

#[test]
fn a_confidence_that_is_none_is_refused_wherever_it_is_said() {
    let project = Project::new();
    for bad in ["NaN", "7", "-1", "inf", "1e999", "0.5.1", ""] {
        let said = project.expect(&["remember", "x", "--confidence", bad], 2);
        assert!(said.stderr.contains("confidence"), "{bad}: {said:?}");
    }
    for bad in ["7", "-0.1", "\"NaN\"", "null1", "1e999", "[]"] {
        let line = format!("{{\"text\": \"x\", \"confidence\": {bad}}}\n");
        let said = project.input(&["remember", "--stdin"], line.as_bytes());
        assert_eq!(said.code, 1, "{bad}: {said:?}");
        assert!(said.lines()[0]["error"].is_string(), "{bad}: {said:?}");
    }
    assert_eq!(project.list("knowledge"), Vec::<Value>::new());
}

#[test]
fn a_time_that_is_none_is_refused_with_an_example() {
    let project = filled();
    for args in [
        &["remember", "x", "--true-from", "2999-01-01"][..],
        &["remember", "x", "--true-to", "soon"],
        &["recall", "x", "--as-of", "2026-02-30T00:00:00Z"],
        &["list", "--as-of", "99999999999999"],
        &["episode", "list", "--since", ""],
        &["episode", "list", "--until", "12:00"],
    ] {
        let said = project.expect(args, 2);
        assert!(said.stderr.contains("2026-05-01T12:00:00Z"), "{said:?}");
        assert!(said.stderr.contains(args[args.len() - 2]), "{said:?}");
    }
    let line = "{\"text\": \"x\", \"true_to\": \"soon\"}\n";
    let said = project.input(&["remember", "--stdin"], line.as_bytes());
    let told = string(&said.lines()[0]["error"]);
    assert!(
        told.contains("`true_to`") && told.contains("RFC 3339"),
        "{told}"
    );
    for filter in ["on:2026-13-45", "before:soon", "after:9999999-01-01"] {
        let said = project.expect(&["recall", &format!("{filter} x")], 2);
        assert!(said.stderr.contains(filter), "{said:?}");
    }
}

#[test]
fn what_lies_in_the_future_is_said_to() {
    let project = filled();
    let later = "2999-01-01T00:00:00Z";
    for args in [
        ["list", "--as-of", later],
        ["recall deploy", "--as-of", later],
    ] {
        let words: Vec<&str> = args.iter().flat_map(|arg| arg.split(' ')).collect();
        let said = project.ok(&words);
        assert!(said.stderr.contains("future"), "{said:?}");
        assert!(said.stdout.contains("deploy"), "{said:?}");
    }
    let empty = project.json(&["episode", "list", "--since", later]);
    assert_eq!(empty["episodes"], json!([]));
}

#[test]
fn what_does_not_hold_now_is_told_so() {
    let project = Project::new();
    let (then, later) = ("2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z");
    project.remember("the port was 80", &["--key", "a", "--true-to", then]);
    project.remember("the port will be 90", &["--key", "b", "--true-from", later]);
    let found = project.json(&["recall", "port"]);
    let of = |text: &str| {
        let all = found["hits"].as_array().unwrap();
        let one = all.iter().find(|hit| hit["text"] == text);
        one.unwrap_or_else(|| panic!("{found}")).clone()
    };
    assert_eq!(of("the port was 80")["true_to"], then);
    assert_eq!(of("the port will be 90")["true_from"], later);
    let said = project.ok(&["recall", "port"]).stdout;
    assert!(said.contains("until 2001-01-01"), "{said}");
    assert!(said.contains("from 2999-01-01"), "{said}");
    assert_eq!(project.ok(&["context"]).stdout, "");
    let ask = ["--set", "memory.conflict_policy=ask", "remember"];
    for (text, source) in [("the host is a", "ann"), ("the host is b", "bob")] {
        let words = [&ask[..], &[text, "--key", "host", "--source", source]].concat();
        project.ok(&words);
    }
    let found = project.json(&["recall", "host", "-k", "1"]);
    assert_eq!(found["hits"][0]["disputed"], true, "{found}");
    let said = project.ok(&["recall", "host"]).stdout;
    assert!(said.contains("disputed"), "{said}");
}

#[test]
fn an_empty_store_and_an_unknown_project_answer_everything() {
    let project = Project::new();
    let elsewhere = filled();
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
            let said = project.ok(&with(args));
            assert!(
                said.stderr.contains("nothing is remembered here"),
                "{said:?}"
            );
        }
        let said = project.expect(&with(&["session", "show", "s"]), 3);
        assert!(said.stderr.contains("no session `s`"), "{said:?}");
        assert!(said.stderr.contains("session add"), "{said:?}");
        project.expect(&with(&["task", "show", "1"]), 3);
        project.ok(&with(&["prune", "--apply"]));
        project.ok(&with(&["context"]));
    }
    let said = elsewhere.ok(&["list", "--category", "nothing"]);
    assert!(said.stderr.contains("no record fits"), "{said:?}");
}
