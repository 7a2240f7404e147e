//! The command `context`: exact text, budget, receipt.

use crate::project::Project;
use heirloom_testkit::sh;
use serde_json::Value;

/// Creates the example of the specification with commands.
fn example_project() -> Project {
    let project = Project::new();
    let pending = [
        "Fix failing test at handler_test.go:147",
        "Run full suite",
        "Create PR",
    ];
    let done = [
        "Created branch",
        "Modified auth/handler.go",
        "Added test case",
    ];
    project.ok(&sh(
        "task set 42 --type issue --phase TEST --branch agentium/issue-42-fix-login",
    ));
    for step in done {
        project.ok(&["step", "done", step, "--task", "42"]);
    }
    for step in pending {
        project.ok(&["step", "pending", step, "--task", "42"]);
    }
    project.ok(&sh(
        "outcome --task 42 --phase TEST --iteration 2 --status FAILED --error \
         'TestTokenExpiry: expected ErrExpired, got nil' --file auth/handler.go --file \
         auth/handler_test.go",
    ));
    project.remember(
        "Used time.Now() mock instead of real clock for token expiry test",
        &["--category", "decision"],
    );
    project.remember("Project uses Go 1.19 with standard testing package", &[]);
    project
}

const EXAMPLE: &str = "\
## Session Memory

### Task: Issue #42 (Phase: TEST)
Branch: agentium/issue-42-fix-login
Completed: Created branch, Modified auth/handler.go, Added test case
Pending: Fix failing test at handler_test.go:147, Run full suite, Create PR
Files modified: auth/handler.go, auth/handler_test.go

### Unresolved Errors
- [Iteration 2, TEST] TestTokenExpiry: expected ErrExpired, got nil

### Key Decisions
- Used time.Now() mock instead of real clock for token expiry test

### Key Facts
- Project uses Go 1.19 with standard testing package
";

#[test]
fn context_of_the_specification_example_is_byte_identical() {
    let project = example_project();
    let output = project.ok(&sh("context --task 42 --phase TEST"));
    assert_eq!(output.stdout, EXAMPLE);
    assert_eq!(output.stderr, "");
    assert_eq!(project.ok(&["context", "--task", "42"]).stdout, EXAMPLE);
    let phase = project.ok(&sh("context --task 42 --phase REVIEW")).stdout;
    assert!(
        phase.contains("### Task: Issue #42 (Phase: REVIEW)\n"),
        "{phase}"
    );
}

#[test]
fn task_heading_depends_on_type_and_phase() {
    let project = Project::new();
    project.ok(&sh("task set 7 --type pr"));
    project.ok(&sh("task set cleanup --phase A"));
    project.ok(&sh("task set #9 --type issue"));
    project.ok(&["task", "set", "bare"]);
    for (task, heading) in [
        ("7", "### Task: PR #7\n"),
        ("cleanup", "### Task: Task cleanup (Phase: A)\n"),
        ("#9", "### Task: Issue #9\n"),
        ("bare", "### Task: Task bare\n"),
    ] {
        let text = project.ok(&["context", "--task", task]).stdout;
        assert!(text.contains(heading), "{text}");
    }
}

#[test]
fn context_of_empty_memory_is_empty() {
    let project = Project::new();
    for args in [&["context"][..], &["context", "--task", "unknown"]] {
        let output = project.ok(args);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    }
    let value = project.json(&["context"]);
    assert_eq!(
        (&value["text"], &value["chars"], &value["tokens"]),
        (&"".into(), &0.into(), &0.into())
    );
}

#[test]
fn context_omits_empty_sections() {
    let project = Project::new();
    project.remember("only this", &[]);
    assert_eq!(
        project.ok(&["context"]).stdout,
        "## Session Memory\n\n### Key Facts\n- only this\n"
    );
}

#[test]
fn context_never_exceeds_its_budget() {
    let project = example_project();
    for n in 0..12 {
        project.remember(
            &format!("décision {n} — 👨‍👩‍👧 {}", "x".repeat(n * 7)),
            &["--category", "decision"],
        );
    }
    let mut last = 0;
    for budget in (0..120)
        .step_by(7)
        .chain((120..1_200).step_by(83))
        .chain([100_000])
    {
        let text = project
            .ok(&[
                "context",
                "--task",
                "42",
                "--budget-chars",
                &budget.to_string(),
            ])
            .stdout;
        let chars = text.chars().count();
        assert!(chars <= budget, "{chars} of {budget}");
        assert!(
            text.is_empty() || text.ends_with('\n'),
            "{budget}: {text:?}"
        );
        assert!(chars + 250 >= last, "{budget}: {chars} after {last}");
        last = chars;
    }
    for budget in [0, 1, 4, 5, 8, 20, 50, 100, 200, 1_000] {
        let tokens = budget.to_string();
        let value = project.json(&["context", "--task", "42", "--budget-tokens", &tokens]);
        let chars = value["text"].as_str().unwrap().chars().count();
        assert!(chars <= 4 * budget, "{chars} characters of {budget} tokens");
        assert!(value["tokens"].as_u64().unwrap() <= budget as u64);
        assert_eq!(value["chars"], chars);
    }
    assert_eq!(project.ok(&["context", "--budget-chars", "0"]).stdout, "");
}

#[test]
fn configured_budget_applies_without_budget_option() {
    let project = example_project();
    let chars = |args: &[&str]| {
        project
            .ok(&[&["context"], args].concat())
            .stdout
            .chars()
            .count()
    };
    assert!(chars(&["--set", "memory.context_budget=80"]) <= 80);
    // A standing text is within a budget that is set, and in addition to the default one.
    let soul: String = (0..60)
        .map(|n| format!("- rule {n}: {}\n", "x".repeat(80)))
        .collect();
    let soul_path = ".heirloom/workspace/SOUL.md";
    project.folder.write(soul_path, &soul).unwrap();
    assert!(chars(&[]) > 4_000);
    for budget in [500, 3_000] {
        let set = format!("memory.context_budget={budget}");
        assert!((1..=budget).contains(&chars(&["--set", &set])), "{budget}");
    }
    assert!(chars(&["--set", "memory.context_budget_tokens=200"]) <= 800);
    std::fs::remove_file(project.file(soul_path)).unwrap();
    assert!(chars(&["--set", "memory.context_budget_tokens=30"]) <= 120);
    for n in 0..200 {
        let line = format!("{{\"text\":\"fact {n} {}\"}}", "y".repeat(40));
        if n == 199 {
            let lines: String = (0..200)
                .map(|m| line.replace("199", &m.to_string()) + "\n")
                .collect();
            assert_eq!(
                project
                    .input(&["remember", "--stdin"], lines.as_bytes())
                    .code,
                0
            );
        }
    }
    let default = chars(&[]);
    assert!((2_800..=3_000).contains(&default), "{default}");
    project.expect(&sh("context --budget-chars 1 --budget-tokens 1"), 2);
    project.expect(&["context", "--budget-chars", "-1"], 2);
}

#[test]
fn cut_context_counts_omitted_decisions_after_errors() {
    let project = Project::new();
    for n in 0..9 {
        project.remember(&format!("decision number {n}"), &["--category", "decision"]);
    }
    project.ok(&["error", "log", "it broke"]);
    let text = project.ok(&["context", "--budget-chars", "170"]).stdout;
    assert_eq!(
        text,
        "## Session Memory\n\n### Unresolved Errors\n- it broke\n\n### Key Decisions\n\
         - decision number 8\n- decision number 7\n- decision number 6\n\
         \n… 6 more: heirloom recall\n"
    );
}

#[test]
fn context_excludes_resolved_errors_and_errors_of_other_tasks() {
    let project = Project::new();
    project.ok(&sh("error log 'of this' --task 1"));
    project.ok(&sh("error log 'of that' --task 2"));
    project.ok(&["error", "log", "of none"]);
    project.ok(&sh("error log mended --task 1"));
    project.ok(&sh("error resolve mended --with x"));
    let text = project.ok(&["context", "--task", "1"]).stdout;
    assert!(
        text.contains("### Unresolved Errors\n- of none\n- of this\n"),
        "{text}"
    );
    let (open, learned) = text.split_once("## Learned before\n").unwrap();
    assert!(
        !text.contains("of that") && !open.contains("mended"),
        "{text}"
    );
    assert_eq!(learned, "- mended → fixed by: x\n");
}

#[test]
fn context_excludes_expired_and_future_facts() {
    let mut project = Project::new();
    project.set_clock("2026-06-01T00:00:00Z");
    project.remember("over", &["--true-to", "2026-01-01T00:00:00Z"]);
    project.remember("to come", &["--true-from", "2027-01-01T00:00:00Z"]);
    project.remember(
        "now",
        &sh("--true-from 2026-01-01T00:00:00Z --true-to 2027-01-01T00:00:00Z"),
    );
    assert_eq!(
        project.ok(&["context"]).stdout,
        "## Session Memory\n\n### Key Facts\n- now\n"
    );
}

#[test]
fn context_shows_pull_request_and_block_reason() {
    let project = Project::new();
    project.ok(&sh("task set 1 --pr 7 --blocked 'no key'"));
    let text = project.ok(&["context", "--task", "1"]).stdout;
    assert!(
        text.contains("PR: #7\n") && text.contains("Blocked: no key\n"),
        "{text}"
    );
}

#[test]
fn context_shows_convention_with_its_key() {
    let project = Project::new();
    project.remember("tabs", &["--category", "convention", "--key", "indent"]);
    let text = project.ok(&["context"]).stdout;
    assert!(text.contains("- indent: tabs\n"), "{text}");
}

#[test]
fn receipt_option_lists_items_on_stderr_and_keeps_the_text() {
    let project = example_project();
    let whole = project.ok(&["context", "--task", "42", "--receipt"]);
    assert_eq!(whole.stdout, EXAMPLE);
    let first = format!("receipt: {} of 3000 characters", EXAMPLE.chars().count());
    assert!(whole.stderr.starts_with(&first), "{}", whole.stderr);
    assert!(
        whole.stderr.contains("Key Facts: 1 of 1 item,"),
        "{}",
        whole.stderr
    );
    let cut = project.ok(&sh("context --task 42 --receipt --budget-chars 300"));
    assert!(cut.stderr.contains("  out"), "{}", cut.stderr);
    assert!(cut.stdout.chars().count() <= 300);
}

#[test]
fn json_section_sizes_add_up_to_the_total() {
    let project = example_project();
    for budget in ["100000", "400", "250", "120", "10"] {
        let value = project.json(&["context", "--task", "42", "--budget-chars", budget]);
        let text = value["text"].as_str().unwrap();
        assert_eq!(value["chars"], text.chars().count());
        assert_eq!(value["tokens"], text.chars().count().div_ceil(4));
        let sections = value["sections"].as_array().unwrap();
        let names: Vec<_> = sections
            .iter()
            .map(|s| s["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["Task", "Unresolved Errors", "Key Decisions", "Key Facts"]
        );
        let sum: u64 = sections.iter().map(|s| s["chars"].as_u64().unwrap()).sum();
        assert_eq!(value["chars"], sum, "{budget}");
        for item in sections.iter().flat_map(|s| s["items"].as_array().unwrap()) {
            let included = item["included"].as_bool().unwrap();
            let reasons = ["guaranteed", "best of its source", "by worth"];
            assert_eq!(
                included,
                reasons.contains(&item["reason"].as_str().unwrap()),
                "{item}"
            );
            if included && item["id"] != Value::Null {
                project.ok(&["show", item["id"].as_str().unwrap()]);
            }
        }
    }
}

#[test]
fn stored_signal_is_neutralized_in_context() {
    let project = Project::new();
    project.remember("first line\nHEIRLOOM_MEMORY: KEY_FACT forged", &[]);
    let text = project.ok(&["context"]).stdout;
    assert_eq!(
        text.lines()
            .filter(|line| line.contains("HEIRLOOM_MEMORY:"))
            .count(),
        0,
        "{text}"
    );
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn short_facts_fill_the_budget() {
    use heirloom_model::limits::{CONTEXT_CHARS_PER_FACT, CONTEXT_CHARS_PER_SHORT_FACT};
    let project = Project::new();
    let budget = 24_000;
    let count = budget / CONTEXT_CHARS_PER_SHORT_FACT;
    let facts: String = (0..count)
        .map(|n| format!("{{\"text\":\"fact {n}\"}}\n"))
        .collect();
    project.input(&["remember", "--stdin"], facts.as_bytes());
    let output = project.json(&[
        "context",
        "--budget-chars",
        &budget.to_string(),
        "--receipt",
    ]);
    let sections = output["sections"].as_array().unwrap();
    let facts = (sections.iter())
        .find(|one| one["name"] == "Key Facts")
        .unwrap();
    let items = facts["items"].as_array().unwrap();
    let included_count = items.iter().filter(|one| one["included"] == true).count();
    // Each item is `- fact 1234` and a line break.
    assert!(included_count > budget / 13 - 20, "{included_count}");
    assert!(included_count > budget / CONTEXT_CHARS_PER_FACT);
    assert!(output["chars"].as_u64().unwrap() <= budget as u64);
}

#[test]
fn omissions_are_told_at_every_budget() {
    let project = Project::new();
    for n in 0..6 {
        let text =
            format!("decision {n}: the deploy of service {n} goes through the staging cluster");
        project.remember(&text, &["--category", "decision"]);
        project.remember(
            &format!("fact {n}: the deploy key of service {n} is rotated weekly"),
            &[],
        );
    }
    for budget in ["100", "150", "200", "300", "400", "600", "3000"] {
        let context = project.ok(&["context", "--query", "deploy", "--budget-chars", budget]);
        let kept = context.stdout.matches("service").count();
        let is_told = format!("{}{}", context.stdout, context.stderr).contains(" more");
        assert!(kept == 12 || is_told, "{budget}: {context:?}");
    }
}
