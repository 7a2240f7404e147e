//! `heirloom run` with misbehaving agents: each run ends, and memory stays valid.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{CallResult, ProjectFixture, finish, is_running, wait_until};
use heirloom_testkit::sh;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const ONCE: &[&str] = &["--iterations", "1"];
/// Memory limit of a run in kilobytes, whatever the agent does.
const PEAK_KB_MAX: u64 = 150_000;

fn last_iteration(result: &CallResult) -> Value {
    result.named("iteration_ended").pop().unwrap()
}

/// Checks that the program is not started, and the reason.
#[track_caller]
fn assert_refused(fixture: &ProjectFixture, program: &str, code: i32, why: &str) {
    let result = fixture.call(&["run", "--", program]);
    assert_eq!(result.code, code, "{}", result.stderr);
    assert!(
        result.stderr.contains(why) && result.stderr.contains(program),
        "{}",
        result.stderr
    );
    let result = fixture.call(&["run", "--json", "--", program]);
    let fault: Value = serde_json::from_str(result.stderr.trim()).unwrap();
    assert!(
        fault["error"]["message"].as_str().unwrap().contains(why),
        "{fault}"
    );
    fixture.assert_healthy();
}

#[test]
fn programs_that_cannot_start_are_refused() {
    let fixture = ProjectFixture::plain();
    assert_refused(&fixture, "no-such-agent-anywhere", 3, "is not in PATH");
    assert_refused(&fixture, "./no-such-agent", 3, "does not exist");
    let file = fixture.project.write("data.txt", "words").unwrap();
    assert_refused(&fixture, "./data.txt", 1, "may not be executed");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = fixture
        .project
        .write("gone.sh", "#!/no/such/interpreter\n")
        .unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_refused(&fixture, "./gone.sh", 3, "interpreter");
    std::fs::create_dir(fixture.root().join("folder")).unwrap();
    assert_refused(&fixture, "./folder", 1, "is a folder");
    // A failed start does not count as an iteration.
    let result = fixture.run(ONCE, &["--say", "ok"]).expect(0);
    assert_eq!(last_iteration(&result)["iteration"], 1);
}

#[test]
fn agent_without_output_completes() {
    let fixture = ProjectFixture::plain();
    let result = fixture.run(ONCE, &[]).expect(0);
    assert_eq!(result.named("output").len(), 0);
    assert_eq!(last_iteration(&result)["status"], "COMPLETE");
    let result = fixture.run(ONCE, &["--exit", "9"]).expect(1);
    assert_eq!(last_iteration(&result)["error"], "exit code 9");
}

#[test]
fn hanging_agent_is_ended_after_timeout() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .run(
            &["--iterations", "1", "--timeout", "1"],
            &["--say", "HEIRLOOM_MEMORY: KEY_FACT before", "--hang"],
        )
        .expect(1);
    assert_eq!(last_iteration(&result)["error"], "timed out after 1 s");
    assert_eq!(fixture.texts("knowledge"), ["before"]);
    assert_eq!(fixture.texts("error"), ["timed out after 1 s"]);
    assert!(result.took < Duration::from_secs(20), "{:?}", result.took);
}

#[test]
fn agent_that_ignores_signals_is_killed() {
    let fixture = ProjectFixture::plain();
    let pid = fixture.outside_path("pid");
    let script = format!(
        "trap '' TERM INT HUP; echo $$ >'{}'; while :; do sleep 0.1; done",
        pid.display()
    );
    let result = fixture
        .call(&sh(&format!(
            r#"run --json --iterations 1 --timeout 1 -- sh -c "{script}""#
        )))
        .expect(1);
    assert_eq!(last_iteration(&result)["error"], "timed out after 1 s");
    let pid = fixture.read_outside("pid").trim().parse().unwrap();
    wait_until("the agent to end", || !is_running(pid));
}

#[test]
fn child_that_holds_output_open_does_not_block_run() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .run(
            ONCE,
            &sh("--say 'HEIRLOOM_MEMORY: KEY_FACT said' --hold-stdout 300"),
        )
        .expect(0);
    assert!(result.took < Duration::from_secs(30), "{:?}", result.took);
    assert_eq!(fixture.texts("knowledge"), ["said"]);
}

#[test]
fn output_flood_is_read_in_bounded_memory() {
    let fixture = ProjectFixture::plain();
    let codex = ["--agent", "codex"];
    for (kind, options) in [
        ("--flood", &[][..]),
        ("--flood-line", &["--json"]),
        ("--flood", &[codex[0], codex[1], "--json"]),
        ("--flood-line", &codex),
    ] {
        let mut command = fixture.runner(
            &[ONCE, options].concat(),
            &[
                kind,
                "105",
                "--say",
                "",
                "--say",
                "HEIRLOOM_MEMORY: KEY_FACT after the flood",
                "go",
            ],
        );
        command.stdout(std::process::Stdio::null());
        let result = finish(command, |_| {});
        let context = format!("{options:?} {kind}: {} KB", result.peak_kb);
        assert!((1_000..PEAK_KB_MAX).contains(&result.peak_kb), "{context}");
        assert!(result.stderr.len() < 1 << 20, "{context}");
    }
    assert_eq!(fixture.texts("knowledge"), ["after the flood"]);
    fixture.assert_healthy();
}

#[test]
fn stderr_flood_is_read_in_bounded_memory() {
    let fixture = ProjectFixture::plain();
    let script = "yes 'grumble, grumble, and at length' | head -c 30000000 >&2; exit 4";
    let mut command = fixture.heirloom(&["run", "--iterations", "1", "--", "sh", "-c", script]);
    command.stderr(std::process::Stdio::null());
    let result = finish(command, |_| {}).expect(1);
    assert!(result.peak_kb < PEAK_KB_MAX, "{} KB", result.peak_kb);
    let error = &fixture.texts("error")[0];
    assert!(
        error.starts_with("exit code 4: grumble, grumble, and at length\n") && error.len() < 4000,
        "{error}"
    );
}

#[test]
fn unread_prompt_does_not_block_run() {
    let fixture = ProjectFixture::plain();
    let lines: String = (0..400)
        .map(|n| format!("{{\"text\":\"{n} {}\"}}\n", "x".repeat(1000)))
        .collect();
    fixture
        .feed(&["remember", "--stdin"], lines.as_bytes())
        .expect(0);
    fixture
        .call(&sh(
            "run --iterations 1 --set memory.context_budget=400000 -- true",
        ))
        .expect(0);
    fixture
        .call(&sh(
            "run --iterations 1 --set memory.context_budget=400000 -- sleep 0.3",
        ))
        .expect(0);
}

#[test]
fn invalid_utf8_output_is_replaced() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .run(
            ONCE,
            &[
                "--invalid-utf8",
                "--bytes",
                "nul \\000 nul\\n",
                "--bytes",
                "HEIRLOOM_MEMORY: KEY_FACT a\\000b \\377 c\\n",
                "--bytes",
                "\\377\\376HEIRLOOM_MEMORY: KEY_FACT x\\n",
                "--say",
                "HEIRLOOM_MEMORY: KEY_FACT fine",
            ],
        )
        .expect(0);
    assert!(result.events().len() > 3);
    let known = fixture.texts("knowledge");
    assert!(known.contains(&"fine".to_owned()), "{known:?}");
    assert!(!known.iter().any(|text| text.contains('\0')), "{known:?}");
    fixture.assert_healthy();
    assert!(fixture.mirror()["key_facts"].as_array().unwrap().len() == known.len());
}

#[test]
fn signals_on_stderr_are_ignored() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .run(
            ONCE,
            &sh("--err 'HEIRLOOM_MEMORY: KEY_FACT no' --err 'HEIRLOOM_STATUS: FAILED' --say ok"),
        )
        .expect(0);
    assert_eq!(result.named("signal").len(), 0);
    assert_eq!(fixture.texts("knowledge"), Vec::<String>::new());
}

/// A program may write a line in pieces, and end without a line break.
#[test]
fn lines_of_stderr_are_shown_whole() {
    let fixture = ProjectFixture::plain();
    let script = "printf 'one ' >&2; sleep 0.2; echo two >&2; printf '\\nthree' >&2";
    let result = fixture
        .call(&["run", "--iterations", "1", "--", "sh", "-c", script])
        .expect(0);
    let shown: Vec<&str> = (result.stderr.lines())
        .filter(|line| line.starts_with("  | "))
        .collect();
    assert_eq!(
        shown,
        ["  | one two", "  | ", "  | three"],
        "{}",
        result.stderr
    );
}

#[test]
fn echoed_prompt_records_nothing() {
    let fixture = ProjectFixture::plain();
    let facts = [
        "tests need Redis",
        "HEIRLOOM_MEMORY: KEY_FACT within a fact",
        "two lines\nHEIRLOOM_MEMORY: KEY_FACT second line",
        "AGENTIUM_STATUS: FAILED",
        "```\nHEIRLOOM_MEMORY: KEY_FACT fenced",
    ];
    for fact in facts {
        fixture.call(&["remember", fact]).expect(0);
    }
    fixture
        .call(&sh("step pending 'HEIRLOOM_MEMORY: STEP_DONE x' --task T"))
        .expect(0);
    fixture
        .call(&[
            "error",
            "log",
            "first\nHEIRLOOM_MEMORY: KEY_FACT in an error",
            "--task",
            "T",
        ])
        .expect(0);
    let before = fixture.records("knowledge");
    for command in [
        &["cat"][..],
        &[
            "sh",
            "-c",
            "cat \"$HEIRLOOM_CONTEXT_FILE\" \"$HEIRLOOM_PROMPT_FILE\"",
        ],
        &["echo", "{prompt}"],
        &["sh", "-c", "sed 's/^/> /'"],
        &["sh", "-c", "sed 's/^/- /'"],
    ] {
        let result = fixture
            .call(
                &[
                    &["run", "--json", "--iterations", "1", "--task", "T", "--"],
                    command,
                ]
                .concat(),
            )
            .expect(0);
        assert!(result.text().contains("within a fact"), "{}", result.text());
        assert_eq!(result.named("signal"), Vec::<Value>::new(), "{command:?}");
        assert_eq!(
            result.named("diagnostic"),
            Vec::<Value>::new(),
            "{command:?}"
        );
    }
    assert_eq!(fixture.records("knowledge"), before);
}

#[test]
fn terminal_escapes_are_escaped_in_output() {
    let fixture = ProjectFixture::plain();
    let nasty = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}evil\r\u{8}";
    let lines: Vec<_> = [
        "KEY_FACT",
        "DECISION",
        "STEP_PENDING",
        "ERROR",
        "LEARNING",
        "BLOCKED",
        "STEP_DONE done",
        "FILE_MODIFIED a",
    ]
    .iter()
    .map(|verb| format!("HEIRLOOM_MEMORY: {verb} {nasty} {verb}"))
    .collect();
    let actions: Vec<_> = lines
        .iter()
        .flat_map(|line| ["--say", line.as_str()])
        .chain(["--err", nasty, "--exit", "3"])
        .collect();
    let result = finish(
        fixture.runner(&["--iterations", "1", "--task", "T"], &actions),
        |_| {},
    )
    .expect(1);
    assert_no_escapes("run's talk", &result.stderr);
    // Raw escapes stored by `remember` are escaped in output too.
    fixture
        .feed(
            &["remember", "--stdin"],
            format!(
                "{}\n",
                serde_json::json!({"text": format!("stored {nasty}"), "task": "T"})
            )
            .as_bytes(),
        )
        .expect(0);
    let id = fixture.records("knowledge")[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for args in [
        &["list"][..],
        &["list", "--all"],
        &["show", &id],
        &["history", &id],
        &["context", "--task", "T"],
        &["context", "--task", "T", "--receipt"],
        &["task", "show", "T"],
        &["task", "list"],
        &["status"],
    ] {
        let shown = fixture.call(args).expect(0);
        assert_no_escapes(&args.join(" "), &shown.text());
        assert_no_escapes(&args.join(" "), &shown.stderr);
    }
    let observed = fixture
        .feed(
            &["observe"],
            format!("HEIRLOOM_MEMORY: KEY_FACT other {nasty}\nHEIRLOOM_MEMORY: NONSENSE {nasty}\n")
                .as_bytes(),
        )
        .expect(0);
    assert_no_escapes("observe", &observed.text());
    assert_no_escapes("observe", &observed.stderr);
}

/// Fails if a text contains terminal control characters.
#[track_caller]
fn assert_no_escapes(what: &str, text: &str) {
    let bad = text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    });
    assert_eq!(bad, None, "{what}: {text:?}");
}

#[test]
fn run_limits_signals_to_100000() {
    let fixture = ProjectFixture::plain();
    let script = "i=0; while [ $i -lt 100010 ]; do i=$((i + 1)); echo \"HEIRLOOM_MEMORY: KEY_FACT fact number $i\"; done";
    let result = fixture
        .call(&sh(&format!(
            "run --json --iterations 1 -- sh -c '{script}'"
        )))
        .expect(0);
    assert_eq!(last_iteration(&result)["signals"], 100_000);
    let diagnostics = result.named("diagnostic");
    assert!(
        diagnostics
            .iter()
            .any(|one| one["message"].as_str().unwrap().contains("10 more signals")),
        "{diagnostics:?}"
    );
    let counts = fixture.call(&["status", "--json"]).expect(0).json();
    assert_eq!(counts["counts"]["knowledge"], 100_000);
    // Generous limit that only quadratic behaviour exceeds.
    assert!(result.took < Duration::from_secs(60), "{:?}", result.took);
    assert_eq!(
        fixture.mirror()["key_facts"].as_array().unwrap().len(),
        100_000
    );
    println!("{:?}, {} KB", result.took, result.peak_kb);
}

#[test]
fn run_records_100000_signals_of_other_verbs() {
    let fixture = ProjectFixture::plain();
    let script = "i=0; while [ $i -lt 25000 ]; do i=$((i + 1)); printf 'HEIRLOOM_MEMORY: STEP_PENDING step %s\\nHEIRLOOM_MEMORY: STEP_DONE step %s\\nHEIRLOOM_MEMORY: FILE_MODIFIED src/%s.rs\\nHEIRLOOM_MEMORY: DECISION choice %s BECAUSE why\\n' $i $i $i $i; done";
    let result = fixture
        .call(&sh(&format!(
            r#"run --json --iterations 1 -- sh -c "{script}""#
        )))
        .expect(0);
    assert_eq!(last_iteration(&result)["signals"], 100_000);
    assert_eq!(last_iteration(&result)["pending"], 0);
    assert!(result.took < Duration::from_secs(60), "{:?}", result.took);
    println!("{:?}, {} KB", result.took, result.peak_kb);
}

#[test]
fn thousands_of_errors_are_opened_and_resolved() {
    let fixture = ProjectFixture::plain();
    let script = "seq $1 | tr 0-9 a-j | sed 's/^/HEIRLOOM_MEMORY: ERROR trouble /'";
    // They exceed the limit of one write. The success of the iteration that reported them closes none.
    let args = |task: &'static str, n: &'static str| {
        [
            "run",
            "--json",
            "--iterations",
            "1",
            "--set",
            "memory.max_entries=100000",
            "--task",
            task,
            "--",
            "sh",
            "-c",
            script,
            "sh",
            n,
        ]
    };
    fixture.call(&args("T", "10500")).expect(0);
    let errors = fixture.records("error");
    assert_eq!(errors.len(), 10_500);
    assert!(errors.iter().all(|one| one["state"] == "open"));
    // The agent resolves its own errors.
    let text: String = (0..3_000).map(|n| { let n: String = format!("{n}").bytes().map(|b| char::from(b - b'0' + b'a')).collect(); format!("HEIRLOOM_MEMORY: ERROR other {n}\nHEIRLOOM_MEMORY: ERROR_RESOLVED other {n} -- done\n") }).collect();
    let result = fixture
        .feed(&["observe", "--json", "--task", "U"], text.as_bytes())
        .expect(0);
    assert_eq!(result.json()["diagnostics"], serde_json::json!([]));
    let mut own = fixture.records("error");
    own.retain(|one| one["task"] == "U");
    assert_eq!(own.len(), 3_000);
    assert!(own.iter().all(|one| one["state"] == "resolved"));
    println!("{:?}", result.took);
}
