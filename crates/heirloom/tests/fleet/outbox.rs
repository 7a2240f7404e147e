//! Hooks while the database server cannot be reached.

use super::machine::{Database, Machine, text};
use heirloom_model::limits::OUTBOX_PROBE_MS;
use heirloom_testkit::{Prerequisite, require};
use std::time::{Duration, Instant};

const REMOTE: &str = "https://github.com/acme/shop.git";
/// Address at which nothing listens.
const NOWHERE: &str = "postgres://nobody@127.0.0.1:1/none";

fn failure(machine: &Machine, command: &str) -> String {
    serde_json::json!({
        "session_id": "s1",
        "cwd": machine.root(),
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "error": "error[E0308]: mismatched types in src/lib.rs",
    })
    .to_string()
}

#[test]
fn hook_without_server_is_silent_and_its_event_arrives_once() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let machine = Machine::new(&database.url(), REMOTE);
    machine.run(&["fleet", "init"]);
    machine.run(&["init"]);
    let secret = ["ghp_16C7e42F292c6912", "E7710c838347Ae178B4a"].concat();
    let input = failure(&machine, &format!("deploy --token {secret}"));
    let mut fastest = Duration::MAX;
    for _ in 0..3 {
        let mut command = machine.command(&["hook", "claude-code", "PostToolUseFailure"]);
        command.env("HEIRLOOM_STORE", NOWHERE);
        let began = Instant::now();
        let done = machine.run_with_input(&mut command, &input);
        fastest = fastest.min(began.elapsed());
        assert!(done.status.success());
        assert_eq!(text(&done), "");
    }
    const { assert!(OUTBOX_PROBE_MS < 50) };
    // The promise of 50 ms is measured by the benchmark; a debug build on a busy machine gets more.
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
    let outbox = machine.root().join(".heirloom/outbox");
    let waiting = |suffix: &str| {
        let names = outbox.read_dir().unwrap().flatten();
        names
            .filter(|entry| entry.file_name().to_string_lossy().contains(suffix))
            .map(|entry| std::fs::read_to_string(entry.path()).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(waiting(".json").len(), 3);
    assert!(waiting("").iter().all(|text| !text.contains(&secret)));
    let errors = machine.json(&["list", "--kind", "error"]);
    let errors = errors["records"].as_array().unwrap().len();
    assert_eq!(errors, 1, "the same failure three times");
    assert_eq!(waiting(".json").len(), 0);
    let before = machine.run(&["export", "--all"]);
    assert_eq!(machine.run(&["export", "--all"]), before);
    assert!(!before.contains(&secret));
}
