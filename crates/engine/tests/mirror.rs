//! Tests of `memory.json`: golden files, and unusual and broken files.

use heirloom_formats::mirror::{MirrorFile, MirrorFormat, ParsedMirror, PrNumber, parse, to_json};

const SESSION: &str = include_str!("mirror/session.json");
const EMPTY: &str = include_str!("mirror/empty.json");
const ENTRIES: &str = include_str!("mirror/entries.json");
const ENTRIES_READ: &str = include_str!("mirror/entries-read.json");

#[track_caller]
fn parsed(bytes: &[u8]) -> ParsedMirror {
    match parse(bytes) {
        Ok(parsed) => parsed,
        Err(error) => panic!("{error}"),
    }
}

fn written(file: &MirrorFile) -> String {
    String::from_utf8(to_json(file)).unwrap_or_default()
}

/// Checks that `json` is read, the text that is written back, and the diagnostics as `at: message`.
#[track_caller]
fn check(json: &[u8], expect: &str, diagnostics: &[&str]) {
    let parsed = parsed(json);
    assert_eq!(written(&parsed.file), expect);
    let output: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|d| format!("{}: {}", d.at, d.message))
        .collect();
    assert_eq!(output, diagnostics);
}

#[track_caller]
fn assert_rejected(json: &[u8], expect: &str) {
    let message = parse(json).err().map(|error| error.to_string());
    assert_eq!(message.as_deref(), Some(expect));
}

#[test]
fn mirror_golden_file_round_trips() {
    check(SESSION.as_bytes(), SESSION, &[]);
    check(EMPTY.as_bytes(), EMPTY, &[]);
    assert_eq!(written(&MirrorFile::default()), EMPTY);
    assert_eq!(parsed(SESSION.as_bytes()).form, MirrorFormat::Session);
}

#[test]
fn mirror_null_and_absent_are_empty() {
    let nulls = br#"{"session_id":null,"repository":null,"iteration":null,"tasks":null,
        "decisions":null,"errors":null,"key_facts":null,"last_checkpoint":null}"#;
    check(nulls, EMPTY, &[]);
    check(b"{}", EMPTY, &[]);
    let task =
        br#"{"tasks":{"1":{"id":null,"type":null,"phase":null,"branch":null,"pr_number":null,
        "completed_steps":null,"pending_steps":null,"blocked_reason":null,"files_modified":null}},
        "decisions":[{}],"errors":[{"resolved":null}]}"#;
    let file = parsed(task).file;
    assert_eq!(file.tasks["1"].id, "1");
    assert_eq!((file.decisions.len(), file.errors.len()), (1, 1));
    assert_eq!(parsed(&to_json(&file)).file, file);
}

#[test]
fn mirror_later_format_is_read() {
    check(
        ENTRIES.as_bytes(),
        ENTRIES_READ,
        &[
            "entries[8]: PHASE_RESULT without a place in a mirror; kept as a fact",
            "entries[9]: STEP_DONE without a place in a mirror; kept as a fact",
            "entries[11]: an entry without a type; kept as a fact",
            "entries[12]: an entry without a text; skipped",
            "entries[13]: expected an object, found a number; skipped",
        ],
    );
    assert_eq!(parsed(ENTRIES.as_bytes()).form, MirrorFormat::Entries);
    check(br#"{"version":"1","entries":null}"#, EMPTY, &[]);
    check(
        br#"{"version":2,"entries":{}}"#,
        EMPTY,
        &[
            "version: version 2 is not known; read as version 1",
            "entries: expected a list, found an object; skipped",
        ],
    );
}

#[test]
fn mirror_invalid_parts_are_reported_others_kept() {
    let odd = br#"{"session_id":5,"repository":["x"],"iteration":-1,"last_checkpoint":"yesterday",
        "tasks":{"1":7,"2":{"phase":{},"pr_number":1.5,"completed_steps":"done","pending_steps":["a",null,"b"]}},
        "decisions":[null,{"description":"kept","iteration":"2"}],
        "errors":[{"error":"kept","resolved":"no"}],
        "key_facts":{"a":1}}"#;
    let parsed = parsed(odd);
    let output: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|d| format!("{}: {}", d.at, d.message))
        .collect();
    assert_eq!(
        output,
        [
            "session_id: expected text, found a number; read as text",
            "repository: expected text, found a list; skipped",
            "iteration: expected a whole number from 0 to 4294967295, found a number; skipped",
            "tasks.1: expected an object, found a number; skipped",
            "tasks.2.phase: expected text, found an object; skipped",
            "tasks.2.pr_number: expected a whole number, found a number; skipped",
            "tasks.2.completed_steps: expected a list, found text; skipped",
            "tasks.2.pending_steps[1]: expected text, found null; skipped",
            "decisions[0]: expected an object, found null; skipped",
            "decisions[1].iteration: expected a whole number from 0 to 4294967295, found text; skipped",
            "errors[0].resolved: expected true or false, found text; skipped",
            "key_facts: expected a list, found an object; skipped",
            "last_checkpoint: expected a time such as 2026-05-01T10:00:00Z; skipped",
        ]
    );
    assert_eq!(parsed.file.session_id, "5");
    assert_eq!(parsed.file.tasks["2"].pending_steps, ["a", "b"]);
    assert_eq!(parsed.file.decisions[0].description, "kept");
    assert_eq!(parsed.file.errors[0].error, "kept");
}

#[test]
fn mirror_many_invalid_parts_are_counted() {
    let list = vec!["7"; 5_000].join(",");
    let parsed = parsed(format!(r#"{{"key_facts":[{list}]}}"#).as_bytes());
    assert_eq!(
        parsed.diagnostics.len(),
        heirloom_model::limits::DIAGNOSTICS_MAX
    );
    let last = parsed.diagnostics.last().map(|d| d.message.as_str());
    assert_eq!(last, Some("4001 more parts could not be used"));
}

#[test]
fn mirror_unknown_fields_survive() {
    let json = br#"{"session_id":"s","tasks":{"1":{"id":"1","pr_number":"7","last_status":"x"}},
        "decisions":[{"iteration":1,"description":"d","by":"me"}],
        "errors":[{"iteration":1,"error":"e","phase":"P","seen":2}],"zebra":{"b":1,"a":[]}}"#;
    let old = parsed(json).file;
    assert_eq!(parsed(&to_json(&old)).file, old);
    assert!(written(&old).ends_with("  \"zebra\": {\n    \"a\": [],\n    \"b\": 1\n  }\n}\n"));

    let mut new = old.clone();
    new.extra.clear();
    new.decisions[0].extra.clear();
    new.errors[0].extra.clear();
    if let Some(task) = new.tasks.get_mut("1") {
        task.extra.clear();
        task.pr_number = Some(PrNumber::Number(7));
    }
    new.preserve_unknown_fields(&old);
    assert_eq!(new, old);
    if let Some(task) = new.tasks.get_mut("1") {
        task.pr_number = Some(PrNumber::Number(8));
    }
    new.preserve_unknown_fields(&old);
    assert_eq!(new.tasks["1"].pr_number, Some(PrNumber::Number(8)));
}

#[test]
fn mirror_pr_number_spellings() {
    for (json, number, again) in [
        ("7", Some(7), "7"),
        ("\"7\"", Some(7), "\"7\""),
        ("\"#7\"", Some(7), "\"#7\""),
        ("\"draft\"", None, "\"draft\""),
        ("0", None, ""),
        ("\"\"", None, ""),
    ] {
        let file = parsed(format!(r#"{{"tasks":{{"1":{{"pr_number":{json}}}}}}}"#).as_bytes()).file;
        let pr = file.tasks["1"].pr_number.as_ref();
        assert_eq!(pr.and_then(PrNumber::number), number, "{json}");
        let line = format!("\"pr_number\": {again},");
        assert_eq!(written(&file).contains(&line), !again.is_empty(), "{json}");
    }
}

#[test]
fn mirror_invalid_utf8_is_repaired() {
    let facts = |json: &[u8]| {
        let parsed = parsed(json);
        let output: Vec<_> = parsed.diagnostics.into_iter().map(|d| d.message).collect();
        (parsed.file.key_facts.join("/"), output.join("/"))
    };
    let with = |fact: &str| format!(r#"{{"key_facts":["{fact}"]}}"#).into_bytes();
    let same = |text: &str| (text.to_owned(), String::new());
    assert_eq!(facts(b"\xef\xbb\xbf{\"key_facts\":[\"a\"]}"), same("a"));
    assert_eq!(facts(&with(r"\ud83d\ude00")), same("\u{1f600}"));
    assert_eq!(facts(&with(r"\\ud800")), same(r"\ud800"));
    assert_eq!(facts(&with(r"a\u0000b")), same("a\0b"));
    let lone = |text: &str, n: usize| {
        (
            text.to_owned(),
            match n {
                1 => "1 lone surrogate was replaced".to_owned(),
                n => format!("{n} lone surrogates were replaced"),
            },
        )
    };
    assert_eq!(facts(&with(r"a\ud800b")), lone("a\u{fffd}b", 1));
    assert_eq!(
        facts(&with(r"\uDC00\ud83d\uD83D\uDE00")),
        lone("\u{fffd}\u{fffd}\u{1f600}", 2)
    );
    assert_eq!(facts(&with(r"\\\ud800")), lone("\\\u{fffd}", 1));
    let invalid = facts(b"{\n\"key_facts\":[\"a\xff\xfe\"]}");
    assert_eq!(invalid.0, "a\u{fffd}\u{fffd}");
    assert_eq!(invalid.1, "invalid UTF-8 from line 2 on was replaced");
}

#[test]
fn mirror_invalid_json_is_rejected_with_position() {
    assert_rejected(b"", "line 1, column 0: the file is empty");
    assert_rejected(b" \n\n", "line 1, column 0: the file is empty");
    assert_rejected(b"[1]", "line 1, column 1: expected an object, found a list");
    assert_rejected(
        b"{\n  \"iteration\": 3,\n",
        "line 3, column 0: EOF while parsing a value",
    );
    assert_rejected(b"{} {}", "line 1, column 4: trailing characters");
    assert!(parse(b"{\"key_facts\":[\"a\0b\"]}").is_err());
    assert!(parse(b"\0\0\0").is_err());
    assert!(parse(&[b'['; 1_000_000]).is_err());
    assert!(parse(b"{\"key_facts\":[\"\\ud8").is_err());
    assert!(parse(&SESSION.as_bytes()[..SESSION.len() / 2]).is_err());
}
