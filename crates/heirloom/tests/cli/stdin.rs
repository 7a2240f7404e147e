//! `remember --stdin`, and many concurrent writers.

use crate::project::Project;
use heirloom_testkit::sh;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

#[test]
fn stdin_lines_are_acknowledged_in_order() {
    let project = Project::new();
    let input = "{\"text\":\"a\"}\n{\"text\":\"b\",\"category\":\"decision\",\"rationale\":\"r\"}\n{\"text\":\"a.\"}\n";
    let output = project.input(&["remember", "--stdin"], input.as_bytes());
    assert_eq!(output.code, 0, "{output:?}");
    let answers = output.lines();
    let outcomes: Vec<_> = answers
        .iter()
        .map(|a| a["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["created", "created", "confirmed"]);
    assert_eq!(answers[0]["id"], answers[2]["id"]);
    assert_eq!(project.list("knowledge").len(), 2);
}

#[test]
fn stdin_line_with_every_field_is_stored() {
    let project = Project::new();
    let line = concat!(
        r#"{"text":"x","kind":"knowledge","category":"convention","key":"k","confidence":0.25,"#,
        r#""source":"s","rationale":"r","plan":"p","group":"g","session":"se","task":"t","agent":"a","#,
        r#""phase":"ph","iteration":4,"true_from":"2026-01-01T00:00:00Z","true_to":null}"#
    );
    let output = project.input(&["remember", "--stdin"], line.as_bytes());
    assert_eq!(output.code, 0, "{output:?}");
    let record = project.list("knowledge").remove(0);
    for (column, value) in [
        ("category", "convention"),
        ("key", "k"),
        ("source", "s"),
        ("rationale", "r"),
        ("plan", "p"),
        ("group", "g"),
        ("session", "se"),
        ("task", "t"),
        ("agent", "a"),
        ("phase", "ph"),
        ("true_from", "2026-01-01T00:00:00Z"),
    ] {
        assert_eq!(record[column], value, "{column}");
    }
    assert_eq!(record["confidence"], 0.25);
    assert_eq!(record["iteration"], 4);
}

#[test]
fn stdin_line_with_a_kind_creates_that_kind() {
    let project = Project::new();
    let input = concat!(
        "{\"text\":\"write it\",\"kind\":\"step\",\"task\":\"9\"}\n",
        "{\"text\":\"it broke\",\"kind\":\"error\",\"task\":\"9\",\"phase\":\"TEST\"}\n",
        "{\"text\":\"seen\",\"kind\":\"note\"}\n",
        "{\"text\":\"9\",\"kind\":\"task\"}\n",
    );
    let output = project.input(&["remember", "--stdin"], input.as_bytes());
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(project.list("step")[0]["state"], "pending");
    assert_eq!(project.list("error")[0]["state"], "open");
    assert_eq!(project.list("note")[0]["category"], "Notes");
    assert_eq!(project.list("task")[0]["key"], "9");
}

#[test]
fn invalid_stdin_lines_get_errors_and_the_others_are_stored() {
    let project = Project::new();
    let bad: [&[u8]; 13] = [
        b"nonsense",
        b"[1]",
        b"\"text\"",
        b"{}",
        b"{\"text\":\"  \"}",
        b"{\"text\":[1]}",
        b"{\"text\":\"x\",\"kind\":\"nonsense\"}",
        b"{\"text\":\"x\",\"confidence\":7}",
        b"{\"text\":\"x\",\"confidence\":\"sure\"}",
        b"{\"text\":\"x\",\"iteration\":0}",
        b"{\"text\":\"x\",\"task\":\"a\\nb\"}",
        b"{\"text\":\"x\",\"colour\":\"red\"}",
        b"{\"text\":\"x\",\"true_from\":\"yesterday\"}",
    ];
    let mut input = Vec::new();
    for (n, line) in bad.iter().enumerate() {
        input.extend_from_slice(line);
        input.extend_from_slice(format!("\n{{\"text\":\"good {n}\"}}\n").as_bytes());
    }
    let output = project.input(&["remember", "--stdin"], &input);
    assert_eq!(output.code, 1, "{output:?}");
    let answers = output.lines();
    assert_eq!(answers.len(), 2 * bad.len());
    for (n, pair) in answers.chunks(2).enumerate() {
        assert!(pair[0]["error"].is_string(), "line {n}: {}", pair[0]);
        assert_eq!(pair[1]["outcome"], "created", "line {n}");
    }
    assert!(output.stderr.contains("13 of 26"), "{output:?}");
    assert_eq!(project.list("knowledge").len(), bad.len());
}

#[test]
fn stdin_error_names_its_line_number() {
    let project = Project::new();
    let input = "{\"text\":\"a\"}\n\nnonsense\n{\"text\":\"x\",\"confidence\":7}\n";
    let output = project.input(&["remember", "--stdin"], input.as_bytes());
    let answers = output.lines();
    assert_eq!(answers.len(), 3, "{output:?}");
    for (answer, line) in [(&answers[1], "line 3: "), (&answers[2], "line 4: ")] {
        let error = answer["error"].as_str().unwrap();
        assert!(error.starts_with(line), "{error}");
    }
}

#[test]
fn stdin_with_crlf_or_without_final_line_break_is_accepted() {
    let project = Project::new();
    let output = project.input(
        &["remember", "--stdin"],
        b"{\"text\":\"a\"}\r\n{\"text\":\"b\"}",
    );
    assert_eq!((output.code, output.lines().len()), (0, 2), "{output:?}");
    let output = project.input(&["remember", "--stdin"], b"");
    assert_eq!((output.code, output.stdout.as_str()), (0, ""));
}

#[test]
fn invalid_utf_8_is_replaced_and_oversized_lines_are_refused() {
    let project = Project::new();
    let mut input = b"{\"text\":\"caf\xe9\"}\n{\"text\":\"".to_vec();
    input.extend(std::iter::repeat_n(b'x', 5 << 20));
    input.extend_from_slice(b"\"}\n{\"text\":\"");
    input.extend(std::iter::repeat_n(b'y', (1 << 20) + 1));
    input.extend_from_slice(b"\"}\n{\"text\":\"after\"}\n");
    let output = project.input(&["remember", "--stdin"], &input);
    assert_eq!(output.code, 1);
    let answers = output.lines();
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[0]["outcome"], "created");
    assert!(answers[1]["error"].is_string(), "{}", answers[1]);
    let over = answers[2]["error"].as_str().unwrap();
    assert!(over.contains("1048576"), "{over}");
    assert_eq!(answers[3]["outcome"], "created");
    let texts: Vec<_> = project
        .list("knowledge")
        .iter()
        .map(|r| r["text"].clone())
        .collect();
    assert_eq!(texts, ["after", "caf\u{fffd}"]);
}

#[test]
fn five_thousand_stdin_lines_are_all_stored() {
    let project = Project::new();
    let lines: String = (0..5_000)
        .map(|n| format!("{{\"text\":\"fact {n} of many\"}}\n"))
        .collect();
    let output = project.input(&["remember", "--stdin"], lines.as_bytes());
    assert_eq!(output.code, 0);
    assert_eq!(output.stdout.lines().count(), 5_000);
    assert_eq!(project.json(&["status"])["counts"]["knowledge"], 5_000);
    let records = project.list("knowledge");
    assert_eq!(records[0]["text"], "fact 4999 of many");
    assert_eq!(records[4_999]["text"], "fact 0 of many");
}

#[test]
fn stdin_line_is_acknowledged_while_stdin_stays_open() {
    let project = Project::new();
    let mut child = project
        .command(&["remember", "--stdin"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for n in 0..3 {
        writeln!(stdin, "{{\"text\":\"fact {n}\"}}").unwrap();
        stdin.flush().unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        assert!(answer.contains("\"created\""), "{answer}");
        // A line is durable when acknowledged: another process reads it while this one still runs.
        assert_eq!(project.list("knowledge").len(), n + 1);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn acknowledged_lines_survive_a_kill() {
    let project = Project::new();
    let mut child = project
        .command(&["remember", "--stdin"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut answer = String::new();
    for n in 0..20 {
        writeln!(stdin, "{{\"text\":\"fact {n}\"}}").unwrap();
        answer.clear();
        stdout.read_line(&mut answer).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(project.list("knowledge").len(), 20);
    assert_eq!(project.json(&["status"])["health"], "ok");
}

#[test]
fn text_together_with_stdin_is_refused() {
    let project = Project::new();
    project.expect(&["remember", "x", "--stdin"], 2);
    project.expect(&["remember"], 2);
}

#[test]
fn forty_concurrent_writers_all_succeed() {
    let project = Project::new();
    let children: Vec<_> = (0..40)
        .map(|n| {
            project
                .command(&["remember", &format!("fact {n}"), "--json"])
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let mut texts: Vec<_> = project
        .list("knowledge")
        .iter()
        .map(|r| r["text"].as_str().unwrap().to_owned())
        .collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 40);
}

#[test]
fn concurrent_writers_of_one_text_create_one_record() {
    let project = Project::new();
    let children: Vec<_> = (0..20)
        .map(|_| {
            project
                .command(&["remember", "the same fact"])
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let records = project.list("knowledge");
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["confirmations"], 19);
}

#[test]
fn dash_as_text_reads_stdin_in_every_command() {
    let project = Project::new();
    let text = "the deploy needs a VPN\n";
    for (call, kind) in [
        (&["remember", "-"][..], "knowledge"),
        (&["propose", "-", "--source", "ann"], "knowledge"),
        (&["step", "done", "-", "--task", "7"], "step"),
        (&["error", "log", "-"], "error"),
        (&["group", "note", "main", "-"], "note"),
        (&["workspace", "fact", "-"], "note"),
        (
            &["output", "put", "-", "--plan", "P", "--agent", "a"],
            "output",
        ),
    ] {
        let output = project.input(call, text.as_bytes());
        assert_eq!(output.code, 0, "{call:?}: {output:?}");
        let records = project.list(kind);
        let has = records
            .iter()
            .any(|record| record["text"].as_str() == Some(text.trim()));
        let has_dash = records
            .iter()
            .any(|record| record["text"].as_str() == Some("-"));
        assert!(
            !has_dash && (has || call[0] == "workspace"),
            "{call:?}: {records:?}"
        );
    }
    let output = project.input(&sh("error resolve VPN --with -"), b"start it\n");
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(project.list("error")[0]["resolution"], "start it");
    let output = project.input(&["tried", "-"], b"mock the clock\n");
    assert_eq!(output.code, 0, "{output:?}");
    let output = project.input(&["remember", "-"], b"");
    assert_eq!(output.code, 2, "{output:?}");
    assert!(
        project
            .ok(&["workspace", "show"])
            .stdout
            .contains("needs a VPN")
    );
}
