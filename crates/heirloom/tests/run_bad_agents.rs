//! `heirloom run` with agents that misbehave: each has a defined end, and memory stays whole.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{Desk, Ran, finish, lives, until};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const ONCE: &[&str] = &["--iterations", "1"];
/// The most memory that a run may take, whatever the agent does, kilobytes.
const PEAK_KB_MAX: u64 = 150_000;

fn last(ran: &Ran) -> Value {
    ran.named("iteration_ended").pop().unwrap()
}

/// Checks that the program was not started, and why.
#[track_caller]
fn refused(desk: &Desk, program: &str, code: i32, why: &str) {
    let ran = desk.call(&["run", "--", program]);
    assert_eq!(ran.code, code, "{}", ran.stderr);
    assert!(
        ran.stderr.contains(why) && ran.stderr.contains(program),
        "{}",
        ran.stderr
    );
    let ran = desk.call(&["run", "--json", "--", program]);
    let fault: Value = serde_json::from_str(ran.stderr.trim()).unwrap();
    assert!(
        fault["error"]["message"].as_str().unwrap().contains(why),
        "{fault}"
    );
    desk.healthy();
}

#[test]
fn programs_that_cannot_start() {
    let desk = Desk::plain();
    refused(&desk, "no-such-agent-anywhere", 3, "is not in PATH");
    refused(&desk, "./no-such-agent", 3, "does not exist");
    let file = desk.project.write("data.txt", "words").unwrap();
    refused(&desk, "./data.txt", 1, "may not be executed");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = desk
        .project
        .write("gone.sh", "#!/no/such/interpreter\n")
        .unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    refused(&desk, "./gone.sh", 3, "interpreter");
    std::fs::create_dir(desk.root().join("folder")).unwrap();
    refused(&desk, "./folder", 1, "is a folder");
    // An attempt that never started is no iteration.
    let ran = desk.run(ONCE, &["--say", "ok"]).expect(0);
    assert_eq!(last(&ran)["iteration"], 1);
}

#[test]
fn one_that_prints_nothing() {
    let desk = Desk::plain();
    let ran = desk.run(ONCE, &[]).expect(0);
    assert_eq!(ran.named("output").len(), 0);
    assert_eq!(last(&ran)["status"], "COMPLETE");
    let ran = desk.run(ONCE, &["--exit", "9"]).expect(1);
    assert_eq!(last(&ran)["error"], "exit code 9");
}

#[test]
fn one_that_hangs_is_ended_after_the_timeout() {
    let desk = Desk::plain();
    let ran = desk
        .run(
            &["--iterations", "1", "--timeout", "1"],
            &["--say", "HEIRLOOM_MEMORY: KEY_FACT before", "--hang"],
        )
        .expect(1);
    assert_eq!(last(&ran)["error"], "timed out after 1 s");
    assert_eq!(desk.texts("knowledge"), ["before"]);
    assert_eq!(desk.texts("error"), ["timed out after 1 s"]);
    assert!(ran.took < Duration::from_secs(20), "{:?}", ran.took);
}

#[test]
fn one_that_ignores_requests_is_killed() {
    let desk = Desk::plain();
    let pid = desk.aside("pid");
    let script = format!(
        "trap '' TERM INT HUP; echo $$ >'{}'; while :; do sleep 0.1; done",
        pid.display()
    );
    let ran = desk
        .call(&[
            "run",
            "--json",
            "--iterations",
            "1",
            "--timeout",
            "1",
            "--",
            "sh",
            "-c",
            &script,
        ])
        .expect(1);
    assert_eq!(last(&ran)["error"], "timed out after 1 s");
    let pid = desk.noted("pid").trim().parse().unwrap();
    until("the agent to end", || !lives(pid));
}

#[test]
fn a_child_that_holds_the_output_open_stops_nobody() {
    let desk = Desk::plain();
    let ran = desk
        .run(
            ONCE,
            &[
                "--say",
                "HEIRLOOM_MEMORY: KEY_FACT said",
                "--hold-stdout",
                "300",
            ],
        )
        .expect(0);
    assert!(ran.took < Duration::from_secs(30), "{:?}", ran.took);
    assert_eq!(desk.texts("knowledge"), ["said"]);
}

#[test]
fn a_flood_is_read_in_bounded_memory() {
    let desk = Desk::plain();
    let codex = ["--agent", "codex"];
    for (kind, options) in [
        ("--flood", &[][..]),
        ("--flood-line", &["--json"]),
        ("--flood", &[codex[0], codex[1], "--json"]),
        ("--flood-line", &codex),
    ] {
        let mut command = desk.runner(
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
        let ran = finish(command, |_| {});
        let context = format!("{options:?} {kind}: {} KB", ran.peak_kb);
        assert!((1_000..PEAK_KB_MAX).contains(&ran.peak_kb), "{context}");
        assert!(ran.stderr.len() < 1 << 20, "{context}");
    }
    assert_eq!(desk.texts("knowledge"), ["after the flood"]);
    desk.healthy();
}

#[test]
fn a_flood_of_errors_is_read_in_bounded_memory() {
    let desk = Desk::plain();
    let script = "yes 'grumble, grumble, and at length' | head -c 30000000 >&2; exit 4";
    let mut command = desk.heirloom(&["run", "--iterations", "1", "--", "sh", "-c", script]);
    command.stderr(std::process::Stdio::null());
    let ran = finish(command, |_| {}).expect(1);
    assert!(ran.peak_kb < PEAK_KB_MAX, "{} KB", ran.peak_kb);
    let error = &desk.texts("error")[0];
    assert!(
        error.starts_with("exit code 4: grumble, grumble, and at length\n") && error.len() < 4000,
        "{error}"
    );
}

#[test]
fn a_prompt_that_nobody_reads_stops_nobody() {
    let desk = Desk::plain();
    let lines: String = (0..400)
        .map(|n| format!("{{\"text\":\"{n} {}\"}}\n", "x".repeat(1000)))
        .collect();
    desk.feed(&["remember", "--stdin"], lines.as_bytes())
        .expect(0);
    desk.call(&[
        "run",
        "--iterations",
        "1",
        "--set",
        "memory.context_budget=400000",
        "--",
        "true",
    ])
    .expect(0);
    desk.call(&[
        "run",
        "--iterations",
        "1",
        "--set",
        "memory.context_budget=400000",
        "--",
        "sleep",
        "0.3",
    ])
    .expect(0);
}

#[test]
fn bytes_that_are_no_text() {
    let desk = Desk::plain();
    let ran = desk
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
    assert!(ran.events().len() > 3);
    let known = desk.texts("knowledge");
    assert!(known.contains(&"fine".to_owned()), "{known:?}");
    assert!(!known.iter().any(|text| text.contains('\0')), "{known:?}");
    desk.healthy();
    assert!(desk.mirror()["key_facts"].as_array().unwrap().len() == known.len());
}

#[test]
fn signals_on_standard_error_do_not_count() {
    let desk = Desk::plain();
    let ran = desk
        .run(
            ONCE,
            &[
                "--err",
                "HEIRLOOM_MEMORY: KEY_FACT no",
                "--err",
                "HEIRLOOM_STATUS: FAILED",
                "--say",
                "ok",
            ],
        )
        .expect(0);
    assert_eq!(ran.named("signal").len(), 0);
    assert_eq!(desk.texts("knowledge"), Vec::<String>::new());
}

#[test]
fn an_echo_of_the_prompt_records_nothing_new() {
    let desk = Desk::plain();
    let facts = [
        "tests need Redis",
        "HEIRLOOM_MEMORY: KEY_FACT within a fact",
        "two lines\nHEIRLOOM_MEMORY: KEY_FACT second line",
        "AGENTIUM_STATUS: FAILED",
        "```\nHEIRLOOM_MEMORY: KEY_FACT fenced",
    ];
    for fact in facts {
        desk.call(&["remember", fact]).expect(0);
    }
    desk.call(&[
        "step",
        "pending",
        "HEIRLOOM_MEMORY: STEP_DONE x",
        "--task",
        "T",
    ])
    .expect(0);
    desk.call(&[
        "error",
        "log",
        "first\nHEIRLOOM_MEMORY: KEY_FACT in an error",
        "--task",
        "T",
    ])
    .expect(0);
    let before = desk.records("knowledge");
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
        let ran = desk
            .call(
                &[
                    &["run", "--json", "--iterations", "1", "--task", "T", "--"],
                    command,
                ]
                .concat(),
            )
            .expect(0);
        assert!(ran.text().contains("within a fact"), "{}", ran.text());
        assert_eq!(ran.named("signal"), Vec::<Value>::new(), "{command:?}");
        assert_eq!(ran.named("diagnostic"), Vec::<Value>::new(), "{command:?}");
    }
    assert_eq!(desk.records("knowledge"), before);
}

#[test]
fn terminal_escapes_never_reach_a_terminal_raw() {
    let desk = Desk::plain();
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
    let ran = finish(
        desk.runner(&["--iterations", "1", "--task", "T"], &actions),
        |_| {},
    )
    .expect(1);
    harmless("run's talk", &ran.stderr);
    // Texts that were stored raw by somebody else must come out harmless, too.
    desk.feed(
        &["remember", "--stdin"],
        format!(
            "{}\n",
            serde_json::json!({"text": format!("stored {nasty}"), "task": "T"})
        )
        .as_bytes(),
    )
    .expect(0);
    let id = desk.records("knowledge")[0]["id"]
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
        let shown = desk.call(args).expect(0);
        harmless(&args.join(" "), &shown.text());
        harmless(&args.join(" "), &shown.stderr);
    }
    let observed = desk
        .feed(
            &["observe"],
            format!("HEIRLOOM_MEMORY: KEY_FACT other {nasty}\nHEIRLOOM_MEMORY: NONSENSE {nasty}\n")
                .as_bytes(),
        )
        .expect(0);
    harmless("observe", &observed.text());
    harmless("observe", &observed.stderr);
}

/// Fails if a text holds what a terminal would act on.
#[track_caller]
fn harmless(what: &str, text: &str) {
    let bad = text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    });
    assert_eq!(bad, None, "{what}: {text:?}");
}

#[test]
fn a_hundred_thousand_signals() {
    let desk = Desk::plain();
    let script = "i=0; while [ $i -lt 100010 ]; do i=$((i + 1)); echo \"HEIRLOOM_MEMORY: KEY_FACT fact number $i\"; done";
    let ran = desk
        .call(&[
            "run",
            "--json",
            "--iterations",
            "1",
            "--",
            "sh",
            "-c",
            script,
        ])
        .expect(0);
    assert_eq!(last(&ran)["signals"], 100_000);
    let said = ran.named("diagnostic");
    assert!(
        said.iter()
            .any(|one| one["message"].as_str().unwrap().contains("10 more signals")),
        "{said:?}"
    );
    let counts = desk.call(&["status", "--json"]).expect(0).json();
    assert_eq!(counts["counts"]["knowledge"], 100_000);
    // Far below what a slow way would take, far above what it takes.
    assert!(ran.took < Duration::from_secs(60), "{:?}", ran.took);
    assert_eq!(
        desk.mirror()["key_facts"].as_array().unwrap().len(),
        100_000
    );
    println!("{:?}, {} KB", ran.took, ran.peak_kb);
}

#[test]
fn a_hundred_thousand_signals_of_other_verbs() {
    let desk = Desk::plain();
    let script = "i=0; while [ $i -lt 25000 ]; do i=$((i + 1)); printf 'HEIRLOOM_MEMORY: STEP_PENDING step %s\\nHEIRLOOM_MEMORY: STEP_DONE step %s\\nHEIRLOOM_MEMORY: FILE_MODIFIED src/%s.rs\\nHEIRLOOM_MEMORY: DECISION choice %s BECAUSE why\\n' $i $i $i $i; done";
    let ran = desk
        .call(&[
            "run",
            "--json",
            "--iterations",
            "1",
            "--",
            "sh",
            "-c",
            script,
        ])
        .expect(0);
    assert_eq!(last(&ran)["signals"], 100_000);
    assert_eq!(last(&ran)["pending"], 0);
    assert!(ran.took < Duration::from_secs(60), "{:?}", ran.took);
    println!("{:?}, {} KB", ran.took, ran.peak_kb);
}

#[test]
fn thousands_of_errors_open_and_close() {
    let desk = Desk::plain();
    let script = "seq $1 | tr 0-9 a-j | sed 's/^/HEIRLOOM_MEMORY: ERROR trouble /'";
    // A success closes them all, though they are more than one write may hold.
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
    desk.call(&args("T", "10500")).expect(0);
    let errors = desk.records("error");
    assert_eq!(errors.len(), 10_500);
    assert!(errors.iter().all(|one| one["state"] == "resolved"));
    // The agent closes its own.
    let text: String = (0..3_000).map(|n| { let n: String = format!("{n}").bytes().map(|b| char::from(b - b'0' + b'a')).collect(); format!("HEIRLOOM_MEMORY: ERROR other {n}\nHEIRLOOM_MEMORY: ERROR_RESOLVED other {n} -- done\n") }).collect();
    let ran = desk
        .feed(&["observe", "--json", "--task", "U"], text.as_bytes())
        .expect(0);
    assert_eq!(ran.json()["diagnostics"], serde_json::json!([]));
    let open = desk.records("error");
    assert!(open.iter().all(|one| one["state"] == "resolved"));
    println!("{:?}", ran.took);
}
