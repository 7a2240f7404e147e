//! The command `analytics`.

use crate::project::Project;
use heirloom_testkit::sh;
use serde_json::json;

#[test]
fn analytics_groups_attempts_by_approach_agent_category_and_week() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    project.ok(&sh("task set 1 --type issue"));
    for (second, task, agent, action, approach, ms) in [
        (1, "1", "a", "failed", "Mock the clock", "100"),
        (2, "1", "b", "completed", "mock the clock!", "300"),
        (3, "2", "a", "failed", "sleep", "10"),
        (4, "2", "a", "failed", "Sleep.", "30"),
    ] {
        project.set_clock(&format!("2026-05-01T10:00:0{second}Z"));
        project.ok(&sh(&format!(
            "episode log --task {task} --agent '{agent}' --action '{action}' --approach \
             '{approach}' --duration-ms '{ms}' --tokens-in '{ms}' --outcome 'so it went'"
        )));
    }
    let found = project.json(&["analytics"]);
    let group = |name: &str,
                 value: Option<&str>,
                 [n, succeeded_count, failed_count]: [u64; 3],
                 rate,
                 ms,
                 tokens| {
        let (rate, ms, tokens): (f64, u64, u64) = (rate, ms, tokens);
        json!({name: value, "attempts": n, "successes": succeeded_count, "failures": failed_count,
            "unknown": n - succeeded_count - failed_count, "rate": rate,
            "median_duration_ms": ms, "median_tokens": tokens})
    };
    assert_eq!(
        found["by_approach"],
        json!([
            group("approach", Some("Sleep."), [2, 0, 2], 0.0, 20, 20),
            group(
                "approach",
                Some("mock the clock!"),
                [2, 1, 1],
                0.5,
                200,
                200
            ),
        ])
    );
    assert_eq!(
        found["by_agent"],
        json!([
            group("agent", Some("a"), [3, 0, 3], 0.0, 30, 30),
            group("agent", Some("b"), [1, 1, 0], 1.0, 300, 300),
        ])
    );
    assert_eq!(
        found["by_category"],
        json!([
            group("category", None, [2, 0, 2], 0.0, 20, 20),
            group("category", Some("issue"), [2, 1, 1], 0.5, 200, 200),
        ])
    );
    assert_eq!(
        found["by_week"],
        json!([group("week", Some("2026-W18"), [4, 1, 3], 0.25, 65, 65)])
    );
    assert_eq!(
        found["repeated_failures"],
        json!([{"approach": "Sleep.", "failures": 2, "tasks": ["2"], "last_outcome": "so it went",
            "last_at": "2026-05-01T10:00:04Z"}])
    );
    let one = project.json(&["analytics", "--task", "1"]);
    assert_eq!(one["by_approach"].as_array().unwrap().len(), 1);
    assert_eq!(one["by_category"][0]["category"], "issue");
    assert_eq!(one["repeated_failures"], json!([]));
    let text = project.ok(&["analytics"]).stdout;
    for words in [
        "Approach",
        "50 %",
        "2026-W18",
        "failed 2 times and never worked: Sleep.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn attempts_of_unknown_result_are_counted_apart() {
    let project = Project::new();
    for (action, approach) in [
        ("completed", "mock the clock"),
        ("attempted", "sleep longer"),
        ("attempted", "raise the timeout"),
    ] {
        let line = "episode log --task 1 --agent a --action";
        project.ok(&sh(&format!("{line} {action} --approach '{approach}'")));
    }
    let agent = project.json(&["analytics"])["by_agent"][0].clone();
    let counts = ["attempts", "successes", "failures", "unknown"].map(|name| agent[name].clone());
    assert_eq!(counts, [json!(3), json!(1), json!(0), json!(2)]);
    assert_eq!(agent["rate"], 1.0);
    let text = project.ok(&["analytics"]).stdout;
    assert!(text.contains("unknown"), "{text}");
}

#[test]
fn analytics_without_attempts_is_empty() {
    let project = Project::new();
    let nothing = json!({"by_approach": [], "by_agent": [], "by_category": [], "by_week": [],
        "repeated_failures": []});
    assert_eq!(project.json(&["analytics"]), nothing);
    assert_eq!(project.json(&["analytics", "--task", "9"]), nothing);
    let answer = project.ok(&["analytics"]);
    assert!(answer.stderr.contains("no episodes yet"), "{answer:?}");
}
