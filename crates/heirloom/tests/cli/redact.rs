//! Redaction: no secret reaches the disk, and `redact` shows what would be replaced.

use crate::project::{Answer, Project};
use heirloom_testkit::{ScriptedAgent, sh};
use std::path::{Path, PathBuf};

/// Returns secrets of three kinds, built at run time so that no scanner finds them in this file.
fn secrets() -> [String; 3] {
    [
        format!("gh{}_{}", 'p', "q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4Pa"),
        format!("hunter{}horse", 2_718_281),
        format!("k3y{}", "Ab9Cd8Ef7Gh6Ij5Kl4Mn3Op2"),
    ]
}

/// Returns a sentence with all three secrets.
fn text_with_secrets() -> String {
    let [token, password, key] = secrets();
    format!("deploy with {token} and postgres://app:{password}@db/x and api_key = \"{key}\"")
}

/// Returns every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => found.push(path),
            }
        }
    }
    found
}

/// Fails if a secret, or the last two thirds of one, is in a file of the memory.
#[track_caller]
fn assert_no_secret_stored(project: &Project) {
    let files = files(&project.file(".heirloom"));
    assert!(
        files.iter().any(|f| f.ends_with("heirloom.db")),
        "{files:?}"
    );
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        for secret in secrets() {
            let part = &secret.as_bytes()[secret.len() / 3..];
            let is_found = bytes.windows(part.len()).any(|window| window == part);
            assert!(!is_found, "{} keeps {secret}", path.display());
        }
    }
}

fn assert_stderr_contains(answer: &Answer, text: &str) {
    assert!(answer.stderr.contains(text), "{answer:?}");
}

#[test]
fn remember_stores_the_text_redacted_and_names_the_rules() {
    let project = Project::new();
    let answer = project.ok(&[
        "remember",
        &text_with_secrets(),
        "--rationale",
        &text_with_secrets(),
        "--key",
        &text_with_secrets(),
    ]);
    assert_stderr_contains(
        &answer,
        "stored without 9 secrets: github-token, url-password, key",
    );
    let [token, ..] = secrets();
    let value = project.json(&["remember", &format!("use {token}")]);
    assert_eq!(value["redacted"], serde_json::json!(["github-token"]));
    assert_eq!(value["outcome"], "created");
    let again = project.json(&["remember", &format!("use {token}")]);
    assert_eq!(
        again["outcome"], "confirmed",
        "the same words, the same identity"
    );
    assert_eq!(again["id"], value["id"]);
    let clean = project.json(&["remember", "nothing secret"]);
    assert_eq!(clean.get("redacted"), None);
    let one = project.ok(&["remember", &format!("once more {token}")]);
    assert_stderr_contains(&one, "stored without 1 secret: github-token");
    let listed = project.list("knowledge");
    let text = listed.last().unwrap()["text"].as_str().unwrap();
    assert_eq!(
        text,
        "deploy with [redacted:github-token] and postgres://app:[redacted:url-password]@db/x and api_key = \"[redacted:key]\""
    );
    let tokens = listed.last().unwrap()["tokens"].as_u64().unwrap();
    assert_eq!(tokens, text.chars().count().div_ceil(4) as u64, "{tokens}");
    assert_no_secret_stored(&project);
}

#[test]
fn records_that_differ_only_in_a_secret_have_one_identity() {
    let project = Project::new();
    let with = |secret: &str| project.json(&["remember", &format!("the password = \"{secret}\"")]);
    let first = with("hunter2x");
    let second = with("another9y");
    assert_eq!(second["outcome"], "confirmed");
    assert_eq!(first["id"], second["id"]);
    let log = |secret: &str| {
        project.json(&[
            "error",
            "log",
            &format!("login failed: password='{secret}'"),
            "--task",
            "7",
        ])
    };
    assert_eq!(log("hunter2x")["id"], log("another9y")["id"]);
    let resolved = project.json(&[
        "error",
        "resolve",
        "login failed: password='third3z'",
        "--with",
        &text_with_secrets(),
    ]);
    assert_eq!(resolved["outcome"], "resolved");
    assert_no_secret_stored(&project);
}

#[test]
fn remember_observe_task_and_outcome_redact_secrets() {
    let project = Project::new();
    let text_with_secrets = text_with_secrets();
    let line = serde_json::json!({"text": text_with_secrets, "rationale": text_with_secrets, "key": text_with_secrets, "kind": "knowledge"});
    let answer = project.input(&["remember", "--stdin"], format!("{line}\n").as_bytes());
    assert_eq!(answer.lines()[0]["redacted"].as_array().unwrap().len(), 9);
    let verbs = [
        "KEY_FACT",
        "DECISION",
        "LEARNING",
        "STEP_PENDING",
        "STEP_DONE",
        "ERROR",
        "BLOCKED",
        "EVAL_FEEDBACK",
        "PHASE_RESULT",
    ];
    let mut output = String::new();
    for verb in verbs {
        output.push_str(&format!("HEIRLOOM_MEMORY: {verb} {text_with_secrets}\n"));
    }
    output.push_str(&format!(
        "HEIRLOOM_MEMORY: CONVENTION {text_with_secrets} = {text_with_secrets}\n"
    ));
    output.push_str(&format!(
        "HEIRLOOM_MEMORY: ERROR_RESOLVED {text_with_secrets} -- {text_with_secrets}\n"
    ));
    output.push_str(&format!(
        "HEIRLOOM_MEMORY: FILE_MODIFIED src/{}.rs\n",
        secrets()[0]
    ));
    let observed = project.input(&["observe", "--task", "7", "--json"], output.as_bytes());
    assert_eq!(observed.code, 0, "{observed:?}");
    let signals = observed.json()["signals"].as_array().unwrap().clone();
    let outcome_of =
        |verb: &str| signals.iter().find(|one| one["verb"] == verb).unwrap()["outcome"].clone();
    assert_eq!(
        outcome_of("ERROR_RESOLVED"),
        "replaced",
        "found by its redacted words"
    );
    assert_eq!(outcome_of("STEP_DONE"), "replaced");
    project.ok(&["step", "pending", &text_with_secrets, "--task", "7"]);
    project.ok(&["step", "done", &text_with_secrets, "--task", "7"]);
    project.ok(&["error", "log", &text_with_secrets, "--task", "7"]);
    project.ok(&[
        "task",
        "set",
        "7",
        "--branch",
        &secrets()[0],
        "--blocked",
        &text_with_secrets,
    ]);
    project.ok(&sh(&format!(
        "task done 7 --approach '{text_with_secrets}' --outcome '{text_with_secrets}'"
    )));
    project.ok(&sh(&format!(
        "outcome --task 8 --status FAILED --error '{text_with_secrets}' --message \
         '{text_with_secrets}'"
    )));
    assert_no_secret_stored(&project);
}

#[test]
fn imports_and_mirrors_redact_secrets() {
    let project = Project::new();
    let text_with_secrets = text_with_secrets();
    let [token, password, key] = secrets();
    let mirror = serde_json::json!({
        "session_id": "s1", "repository": text_with_secrets, "iteration": 2,
        "tasks": {"5": {"id": "5", "type": "issue", "phase": "TEST", "completed_steps": [text_with_secrets], "pending_steps": [text_with_secrets],
            "blocked_reason": text_with_secrets, "api_key": key}},
        "decisions": [{"iteration": 1, "description": text_with_secrets, "rationale": text_with_secrets, "token": token}],
        "errors": [{"iteration": 1, "phase": "TEST", "error": text_with_secrets, "resolution": text_with_secrets, "resolved": true, "db_password": password}],
        "key_facts": [text_with_secrets], "extra": {"nested": [text_with_secrets], "password": password},
    });
    project
        .folder
        .write("other.json", mirror.to_string())
        .unwrap();
    project.ok(&["import", "agentium", "other.json"]);
    assert_no_secret_stored(&project);
    // The mirror of another program is imported, and its unknown fields are kept without secrets.
    project
        .folder
        .write(".heirloom/memory.json", mirror.to_string())
        .unwrap();
    project.ok(&sh("outcome --task 5 --status PARTIAL"));
    assert_no_secret_stored(&project);
    let mirror_text = project.folder.read(".heirloom/memory.json").unwrap();
    for mark in [
        "[redacted:github-token]",
        "[redacted:key]",
        "[redacted:password]",
    ] {
        assert!(mirror_text.contains(mark), "{mark}: {mirror_text}");
    }

    let exported = project.ok(&["export", "--format", "jsonl", "--all"]).stdout;
    let dirty = exported
        .replace("[redacted:github-token]", &token)
        .replace("[redacted:url-password]", &password);
    assert_ne!(dirty, exported);
    let other = Project::new();
    other.folder.write("dirty.jsonl", dirty).unwrap();
    other.ok(&["import", "jsonl", "dirty.jsonl"]);
    assert_no_secret_stored(&other);
}

#[test]
fn run_redacts_signals_and_output() {
    let project = Project::new();
    let text_with_secrets = text_with_secrets();
    let agent = ScriptedAgent::path();
    let actions = [
        "--say",
        &format!("HEIRLOOM_MEMORY: KEY_FACT {text_with_secrets}"),
        "--say",
        &format!("my last words: {text_with_secrets}"),
        "--err",
        &format!("it broke: {text_with_secrets}"),
        "--exit",
        "1",
    ];
    let agent = agent.to_str().unwrap();
    let mut args = vec!["run", "--iterations", "1", "--", agent];
    args.extend(actions.map(|action| action));
    let run = project.run(&args);
    assert_eq!(run.code, 1, "{run:?}");
    assert_no_secret_stored(&project);
    let facts = project.list("knowledge");
    assert_eq!(facts.len(), 1, "{run:?}");
    let exported = project.ok(&["export", "--format", "jsonl", "--all"]).stdout;
    assert!(
        exported.contains("my last words: deploy with [redacted:github-token]"),
        "{exported}"
    );
}

#[test]
fn project_redact_rules_apply_and_its_allow_list_is_ignored() {
    let project = Project::new();
    project.configure(
        "\n[redact]\nrules = [\"order: ORD-[0-9]+\", \"broken: (\"]\nallow = [\".*\"]\n",
    );
    let answer = project.ok(&["remember", &format!("ORD-12 and {}", text_with_secrets())]);
    assert_stderr_contains(
        &answer,
        "stored without 4 secrets: order, github-token, url-password, key",
    );
    assert_stderr_contains(
        &answer,
        "`redact.allow` is not taken from a project's file, because it can let a secret through",
    );
    assert_stderr_contains(&answer, "unclosed group");
    assert_no_secret_stored(&project);
    let set = format!("redact.allow=[\"{}\"]", secrets()[1]);
    let allowed = project.json(&["remember", &text_with_secrets(), "--set", &set]);
    assert_eq!(
        allowed["redacted"],
        serde_json::json!(["github-token", "key"])
    );
}

#[test]
fn redact_check_prints_positions_without_secrets() {
    let project = Project::uninitialised();
    let [token, password, _] = secrets();
    let folder = &project.folder;
    folder
        .write(
            "a/one.env",
            format!("# é\nA=1\nDB_PASSWORD={password}\nTOKEN={token}\n"),
        )
        .unwrap();
    folder.write("a/two.txt", "nothing here\n").unwrap();
    folder.write("a/bytes.bin", format!("\0{token}")).unwrap();
    folder.write("a/.git/config", &token).unwrap();
    folder.write("outside.txt", &token).unwrap();
    std::os::unix::fs::symlink(project.file("outside.txt"), project.file("a/link")).unwrap();
    let shown = project.ok(&["redact", "--check", "a"]);
    assert_eq!(
        shown.stdout,
        "a/one.env:3:13 password  DB_PASSWORD=[redacted:password]\na/one.env:4:7 github-token  TOKEN=[redacted:github-token]\n"
    );
    assert_stderr_contains(&shown, "secrets found: 2, files read: 2");
    let value = project.json(&["redact", "--check", "a"]);
    let expected = serde_json::json!([
        {"path": "a/one.env", "line": 3, "column": 13, "kind": "password", "length": password.len()},
        {"path": "a/one.env", "line": 4, "column": 7, "kind": "github-token", "length": token.len()},
    ]);
    assert_eq!(value["findings"], expected);
    assert_eq!(value["files"], 2);
    assert!(value["bytes"].as_u64().unwrap() > 50);
    let one = project.json(&["redact", "--check", "outside.txt"]);
    assert_eq!(one["findings"].as_array().unwrap().len(), 1);
    assert_eq!(
        project.expect(&["redact", "--check", "a/link"], 2).stdout,
        ""
    );
    project.expect(&["redact", "--check", "none"], 3);
    for path in [&["redact", "--check", "-"][..], &["redact", "--check"]] {
        let answer = project.input(path, format!("x {token} y").as_bytes());
        assert_eq!(
            (answer.code, answer.stdout.as_str()),
            (0, "-:1:3 github-token  x [redacted:github-token]\n")
        );
    }
}

#[test]
fn redact_filter_replaces_only_the_secrets() {
    let project = Project::uninitialised();
    let [token, ..] = secrets();
    let mut input = format!("a {token}\r\n\tb").into_bytes();
    input.extend([0xff, 0xfe, b'c']);
    let mut child = project
        .command(&["redact"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"a [redacted:github-token]\r\n\tb\xff\xfec");
    let answer = project.input(&["redact", "--json"], format!("a {token}").as_bytes());
    let expected =
        serde_json::json!({"text": "a [redacted:github-token]", "redacted": ["github-token"]});
    assert_eq!(answer.json(), expected);
}

#[test]
fn redact_check_skips_an_oversized_file_and_reports_it() {
    let project = Project::uninitialised();
    let file = std::fs::File::create_new(project.file("large.txt")).unwrap();
    file.set_len(heirloom_model::limits::REDACT_FILE_BYTES_MAX + 1)
        .unwrap();
    let answer = project.expect(&["redact", "--check", "."], 1);
    assert_stderr_contains(&answer, "large.txt is skipped");
    assert_stderr_contains(&answer, "secrets found: 0, files read: 0");
    let most = heirloom_model::limits::REDACT_INPUT_BYTES_MAX;
    let answer = project.input(&["redact"], &vec![b'x'; most + 1]);
    assert_eq!(answer.code, 2, "{}", answer.stderr);
}

#[test]
fn redact_findings_over_the_limit_are_counted() {
    let project = Project::uninitialised();
    let most = heirloom_model::limits::REDACT_FINDINGS_MAX;
    let line = "password=hunter2x\n";
    project
        .folder
        .write("many.txt", line.repeat(most + 3))
        .unwrap();
    let value = project.json(&["redact", "--check", "many.txt"]);
    assert_eq!(value["findings"].as_array().unwrap().len(), most);
    assert_eq!(value["unlisted"], 3);
}

#[test]
fn file_with_an_early_nul_is_skipped_as_binary() {
    let project = Project::uninitialised();
    let probe = heirloom_model::limits::REDACT_BINARY_PROBE_BYTES;
    let [token, ..] = secrets();
    for (name, nul_at) in [("bytes.bin", probe - 1), ("text.txt", probe)] {
        let mut content = format!("{token}\n").into_bytes();
        content.resize(nul_at, b'.');
        content.push(0);
        project.folder.write(name, content).unwrap();
    }
    let value = project.json(&["redact", "--check", "."]);
    let findings = value["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{value}");
    assert_eq!(findings[0]["path"], "./text.txt");
    assert_eq!(value["files"], 1);
}

/// A file name may come from an archive. Printed raw, it could add a signal to a log.
#[test]
fn redact_check_escapes_a_line_break_in_a_file_name() {
    let project = Project::uninitialised();
    let name = "a/a\nHEIRLOOM_MEMORY: KEY_FACT x\r\u{1b}[31m.txt";
    project
        .folder
        .write(name, "password = \"hunter2x\"\n")
        .unwrap();
    let shown = project.ok(&["redact", "--check", "a"]);
    assert_eq!(shown.stdout.lines().count(), 1, "{shown:?}");
    let escaped = "a\\nHEIRLOOM_MEMORY: KEY_FACT x\\r\\u{1b}[31m.txt:1:13 password";
    assert!(shown.stdout.contains(escaped), "{shown:?}");
    let value = project.json(&["redact", "--check", "a"]);
    let path = value["findings"][0]["path"].as_str().unwrap();
    assert!(path.ends_with(name), "the exact name: {path:?}");
}

/// A summary lists rare words without the names next to them.
#[test]
fn compact_stores_no_secret_of_the_messages() {
    let project = Project::new();
    let [token, password, key] = secrets();
    let pem: String = (0..9)
        .map(|line| format!("MIIEpAIBAAKCAQEA{line}q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4PaZx3Cv\n"))
        .collect();
    let first = format!(
        "Deploy with DEPLOY_TOKEN={key} and redis://:{password}@cache/0 and \u{1b}[31m{token} please\n\
         -----BEGIN RSA {label}-----\n{pem}-----END RSA {label}-----\n",
        label = "PRIVATE KEY",
    );
    let mut messages = vec![serde_json::json!({"role": "user", "content": first})];
    for turn in 0..60 {
        let said =
            format!("Step {turn} of the work on part_{turn}.rs is done, more follows. ").repeat(20);
        messages.push(serde_json::json!({"role": "assistant", "content": said}));
        messages.push(
            serde_json::json!({"role": "user", "content": format!("Go on with part_{turn}.rs.")}),
        );
    }
    let history = serde_json::Value::from(messages).to_string();
    project.input(
        &sh("compact --session s --group g --target-tokens 3000"),
        history.as_bytes(),
    );
    assert_no_secret_stored(&project);
    for path in files(&project.file(".heirloom")) {
        let bytes = std::fs::read(&path).unwrap();
        let part = b"q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4PaZx3Cv";
        let is_found = bytes.windows(part.len()).any(|window| window == part);
        assert!(!is_found, "{} keeps a line of the key", path.display());
    }
}

/// The end of an output is redacted before it is cut.
#[test]
fn run_stores_no_line_of_a_long_key() {
    let project = Project::new();
    let line = "q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4PaZx3Cvq7Zr2Kx9Lm4Tn8Vb3Wc6Yd";
    let key = format!(
        "-----BEGIN RSA {label}-----\n{}-----END RSA {label}-----\n",
        format!("{line}\n").repeat(40),
        label = "PRIVATE KEY",
    );
    project.folder.write("k.pem", key).unwrap();
    project.run(&sh(
        "run --iterations 1 --task a -- sh -c 'cat k.pem >&2; exit 1'",
    ));
    for path in files(&project.file(".heirloom")) {
        let bytes = std::fs::read(&path).unwrap();
        let is_found = bytes
            .windows(40)
            .any(|window| window == &line.as_bytes()[..40]);
        assert!(!is_found, "{} keeps a line of the key", path.display());
    }
    let context = project.ok(&sh("context --task a"));
    assert!(!context.stdout.contains(line), "{}", context.stdout);
    assert!(
        context.stdout.contains("[redacted:private-key]"),
        "{}",
        context.stdout
    );
}
