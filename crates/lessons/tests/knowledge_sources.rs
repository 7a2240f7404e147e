//! Lessons of summaries, commands, commits, plans, reports and documents, from constructed events.

#[path = "knowledge_sources/cases.rs"]
mod cases;
#[path = "support/conversation.rs"]
mod conversation;

use conversation::Conversation;

use heirloom_agents::transcripts::{EventBody, PlanItem, ToolAction, ToolOutcome};
use heirloom_lessons::{DropReason, Lesson, LessonContent, SourceKind, Verdict};

const SUMMARY: &str = "This session is being continued from a previous conversation.\n\nAnalysis:\n4. Errors:\n   - **Not this one**: Fixed by `x`.\n\nSummary:\n1. Primary Request and Intent:\n   Build the importer.\n\n3. Files and Code Sections:\n   - **`src/a.ts`** — must be kept\n\n4. Errors and fixes:\n   - **Worker tests had no database**: The worker opens its own connection. Fixed by passing `sharePool: true` to `createWorker`.\n   - **Compile error: missing module**: Expected while editing. Fixed by creating it.\n   - **Import order**:\n     - Fix: Moved `env.ts` before `app.ts`\n     - User feedback: never import `app.ts` in scripts of the migration\n\n5. Problem Solving:\n   - The importer must not run twice at the same time because the lock table has no owner column.\n   - Used a map for the lookup\n\n7. Pending Tasks:\n   - Write the documentation of the importer\n";

#[test]
fn summary_is_parsed_into_errors_learnings_and_preferences() {
    let conversation = Conversation::default().push(EventBody::Summary(SUMMARY.to_owned()));
    let candidates = conversation.extractor().candidates();
    let errors: Vec<(&str, Option<&str>)> = candidates
        .iter()
        .filter_map(|candidate| match &candidate.content {
            LessonContent::Error {
                text, resolution, ..
            } => Some((text.as_str(), resolution.as_deref())),
            LessonContent::Knowledge { .. }
            | LessonContent::Attempt { .. }
            | LessonContent::Case { .. }
            | LessonContent::Steps(_) => None,
        })
        .collect();
    assert_eq!(
        errors,
        [
            (
                "Worker tests had no database: The worker opens its own connection.",
                Some("Fixed by passing `sharePool: true` to `createWorker`.")
            ),
            ("Import order.", Some("Moved `env.ts` before `app.ts`.")),
        ]
    );
    let texts = conversation.texts(SourceKind::CompactionSummary);
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with("The importer must not run twice"))
    );
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with("Never import `app.ts`"))
    );
    assert!(!texts.iter().any(|text| text.contains("must be kept")
        || text.contains("documentation")
        || text.contains("Not this one")));
}

#[test]
fn later_summary_does_not_repeat_points() {
    let one = EventBody::Summary(SUMMARY.to_owned());
    let once = Conversation::default().push(one.clone());
    let twice = Conversation::default().push(one.clone()).push(one);
    assert_eq!(
        once.texts(SourceKind::CompactionSummary),
        twice.texts(SourceKind::CompactionSummary)
    );
}

#[test]
fn repeated_commands_become_one_fact_for_each_purpose_and_folder() {
    let conversation = Conversation::default()
        .prompt("Fix the parser of dates, please.")
        .edit("/home/u/app/src/a.ts")
        .edit("/home/u/app/web/b.ts")
        .run(
            "npm test -- src/a.test.ts 2>&1 | tail -5",
            "Tests: 3 passed, 3 total",
        )
        .run("npm test", "Tests: 9 passed, 9 total")
        .run("cd /home/u/app/web && npm run lint", "")
        .run("cd /home/u/app/web && npm run lint", "")
        .run("npm run build", "");
    let texts = conversation.texts(SourceKind::Command);
    assert!(
        texts.contains(&"Tests: `npm test`.".to_owned()),
        "{texts:?}"
    );
    assert!(
        texts.contains(&"Lint in `web`: `npm run lint`.".to_owned()),
        "{texts:?}"
    );
    assert!(
        !texts.iter().any(|text| text.contains("build")),
        "once is not enough"
    );
}

#[test]
fn command_is_told_as_it_passed() {
    let discover = "PYTHONPATH=src python3 -m unittest discover -s tests -p 'test_db*' -v";
    let passed = "Ran 4 tests in 0.01s\n\nOK";
    let conversation = Conversation::default()
        .run(discover, passed)
        .run(discover, passed);
    let texts = conversation.texts(SourceKind::Command);
    assert_eq!(texts, [format!("Tests: `{discover}`.")]);
}

#[test]
fn command_whose_last_use_failed_is_no_fact() {
    let conversation = Conversation::default()
        .run("cargo test", "test result: ok. 3 passed; 0 failed")
        .run("cargo test", "test result: ok. 3 passed; 0 failed")
        .fail("cargo test", "test result: FAILED. 2 passed; 1 failed");
    assert_eq!(conversation.texts(SourceKind::Command), [""; 0]);
}

#[test]
fn checks_before_commits_are_one_record() {
    let cycle = |conversation: Conversation, number: u32| {
        conversation
            .run("cargo clippy --all-targets", "")
            .run("cargo test", "test result: ok. 3 passed; 0 failed")
            .run(&format!("git commit -am 'step {number}'"), "[main 1] step")
    };
    let conversation = cycle(cycle(Conversation::default(), 1), 2);
    let kept = conversation.kept(SourceKind::Command);
    assert_eq!(
        kept,
        [
            "Before its commits this session ran `cargo clippy --all-targets` and `cargo test`; all passed."
        ]
    );
    let lessons = conversation.lessons();
    let is_duplicate = |lesson: &&Lesson| lesson.verdict == Verdict::Dropped(DropReason::Duplicate);
    assert_eq!(lessons.iter().filter(is_duplicate).count(), 2);
}

#[test]
fn slow_first_run_is_part_of_the_fact() {
    let packages = "Compiling one v1.0.0\n".repeat(30);
    let conversation = Conversation::default()
        .push(EventBody::Call {
            call: "a".to_owned(),
            tool: "Bash".to_owned(),
            action: ToolAction::Command("cargo test".to_owned()),
        })
        .wait(400)
        .push(EventBody::Result {
            call: "a".to_owned(),
            outcome: ToolOutcome::Succeeded,
            text: format!("{packages}test result: ok. 3 passed; 0 failed"),
        })
        .run("cargo test", "test result: ok. 3 passed; 0 failed");
    let texts = conversation.texts(SourceKind::Command);
    assert!(
        texts.iter().any(|text| text
            .contains("The first run took about 7 minutes because it compiled all dependencies")),
        "{texts:?}"
    );
}

#[test]
fn background_command_counts_when_its_output_is_read() {
    let started = "Command running in background with ID: b12. Output is being written to: x";
    let finished = "<retrieval_status>success</retrieval_status>\n<task_id>b12</task_id>\n<status>completed</status>\n<exit_code>0</exit_code>\n<output>\n4 passed in 1s\n</output>";
    let read = ToolAction::Other("{\"task_id\":\"b12\"}".to_owned());
    let conversation = Conversation::default()
        .run("pytest", started)
        .call("TaskOutput", read, ToolOutcome::Succeeded, finished)
        .run("pytest", "4 passed in 1s");
    let texts = conversation.texts(SourceKind::Command);
    assert_eq!(texts, ["Tests: `pytest`."]);
}

#[test]
fn tracker_workflow_is_one_record() {
    let conversation = Conversation::default()
        .run("gh issue view 12", "Title")
        .run("gh issue close 12 --comment 'done'", "")
        .run("gh issue view 13", "Title")
        .run("gh issue close 13", "");
    assert_eq!(
        conversation.texts(SourceKind::Command),
        ["Work is tracked with `gh issue`: `gh issue view <id>`, `gh issue close <id>`."]
    );
}

#[test]
fn commit_with_a_reason_is_a_decision() {
    let message = "git commit -m \"$(cat <<'EOF'\nfeat: cache sessions\n\nSessions live in Redis instead of cookies, because cookies are limited to 4 KB.\n\n- Add tests\n\nCo-Authored-By: X <x@example.org>\nEOF\n)\"";
    let conversation = Conversation::default().run(message, "[main 1] feat");
    assert_eq!(
        conversation.texts(SourceKind::Commit),
        [
            "Sessions live in Redis instead of cookies, because cookies are limited to 4 KB. Commit: feat: cache sessions"
        ]
    );
    let failed = Conversation::default().fail(message, "nothing to commit");
    assert_eq!(failed.texts(SourceKind::Commit), [""; 0]);
    let plain = Conversation::default().run("git commit -m 'fix: typo'", "[main 1]");
    assert_eq!(plain.texts(SourceKind::Commit), [""; 0]);
}

#[test]
fn last_plan_becomes_steps() {
    let item = |text: &str, is_done| PlanItem {
        text: text.to_owned(),
        is_done,
    };
    let plan = |items| ToolAction::Plan(items);
    let conversation = Conversation::default()
        .call(
            "TodoWrite",
            plan(vec![item("Read", false)]),
            ToolOutcome::Succeeded,
            "",
        )
        .call(
            "TodoWrite",
            plan(vec![item("Read", true), item("Write", false)]),
            ToolOutcome::Succeeded,
            "",
        );
    let lessons = conversation.lessons();
    let LessonContent::Steps(steps) = &lessons[0].candidate.content else {
        panic!("{lessons:?}");
    };
    let steps: Vec<(&str, bool)> = steps
        .iter()
        .map(|step| (step.text.as_str(), step.is_done))
        .collect();
    assert_eq!(steps, [("Read", true), ("Write", false)]);
    assert_eq!(lessons[0].verdict, Verdict::Kept);
}

#[test]
fn documents_become_merged_conventions() {
    let issue = |number: u32| {
        format!(
            "○ app-{number} · Part {number}   [OPEN]\n\n## Goal\nBuild part {number}.\n\n## No-gos\n- No new table for part {number}.\n\nDefinition of Done:\n- Unrelated problems are filed as issues with the label triage.\n- Part {number} works\n"
        )
    };
    let conversation = Conversation::default()
        .run("bd show app-1", &issue(1))
        .run("bd show app-2", &issue(2));
    let texts = conversation.texts(SourceKind::Document);
    assert_eq!(
        texts,
        [
            "Definition of done in the issues that this session read: Unrelated problems are filed as issues with the label triage.",
            "Constraints in the issues that this session read: No new table for part 1. No new table for part 2.",
        ]
    );
    let again = Conversation::default()
        .run("bd show app-1", &issue(1))
        .run("bd show app-1", &issue(1));
    assert_eq!(
        again.texts(SourceKind::Document),
        [""; 0],
        "one issue read twice repeats nothing"
    );
}

/// Feedback in a summary is kept if it is a rule: what is absent, quoted from one moment, or a report is not.
#[test]
fn feedback_of_a_summary_is_a_rule_or_nothing() {
    for (feedback, is_kept) in [
        ("None, found by reading the workflow logs", false),
        (
            "\"pushed, please continue\" after each of the attempts",
            false,
        ),
        ("\"it seems like the integration tests are failing\"", false),
        (
            "Asked me to check the formatter and the type checker",
            false,
        ),
        (
            "never import the app module in scripts of the migration",
            true,
        ),
        ("you must not change the tests, only the code", true),
    ] {
        let summary = SUMMARY.replace(
            "never import `app.ts` in scripts of the migration",
            feedback,
        );
        let event = EventBody::Summary(summary);
        let texts = Conversation::default()
            .push(event)
            .texts(SourceKind::CompactionSummary);
        let begins = feedback.trim_matches('"').to_lowercase();
        let begins = begins.get(..20).unwrap_or_default();
        let found = texts
            .iter()
            .any(|text| text.to_lowercase().contains(begins));
        assert_eq!(found, is_kept, "{feedback}: {texts:?}");
    }
}

/// A request is a task of its day: its wishes are neither decisions nor facts of the project.
#[test]
fn request_is_no_knowledge() {
    let request = "Build a page with a chart of the orders for each region and month, so that the team sees which regions grow and which do not, and link it from the start page next to the other reports that we show to managers every week. It opens from the menu as well and shows the current quarter first.\n\nFilters:\n- Region (one or many)\n- Quarter\n\nIt has to be reusable for invoices. Orders are connected to regions through the customer.";
    let conversation = Conversation::default().prompt(request);
    let candidates = conversation.extractor().candidates();
    let knowledge = candidates
        .iter()
        .filter(|candidate| candidate.source != SourceKind::Case);
    assert_eq!(knowledge.count(), 0, "{candidates:?}");
}

#[test]
fn package_scripts_are_a_fact() {
    let content = "{\n  \"name\": \"@x/api\",\n  \"scripts\": {\n    \"build\": \"tsup\",\n    \"test\": \"vitest run\"\n  }\n}";
    let conversation = Conversation::default().run("cat packages/api/package.json", content);
    assert_eq!(
        conversation.texts(SourceKind::Document),
        ["Scripts in the package.json of `@x/api`: build = `tsup`, test = `vitest run`."]
    );
}

#[test]
fn explanation_that_the_next_prompt_refutes_is_dropped() {
    let claim = "The generated export uses `FULL JOIN`, which SQLite doesn't support. I've fixed the query, it should work now.";
    let pasted = "I get this:\n\nTraceback (most recent call last):\nKeyError: 'total'\n";
    for (first, next, is_kept) in [
        (
            "Fix the export.",
            "There are still these errors: the rows are missing",
            false,
        ),
        ("Fix the export.", "same error", false),
        ("Fix the export.", "that didn't fix it", false),
        (pasted, pasted, false),
        ("Fix the export.", "Great. Now add a page for orders.", true),
        (pasted, "Now I get another one:\nValueError: bad date", true),
    ] {
        let conversation = Conversation::default()
            .prompt(first)
            .run("python3 export.py", "ok")
            .answer(claim)
            .prompt(next);
        let kept = conversation.kept(SourceKind::Explanation);
        assert_eq!(!kept.is_empty(), is_kept, "{next} {kept:?}");
    }
}

#[test]
fn withdrawn_statement_is_dropped() {
    let report = "**Findings**\n- The flaky importer test is caused by the connection pool, which only allows one `Session` at a time, so a second worker must wait for it until its own timeout of five seconds ends, and the importer then reports a missing file although the file is there.\n- The cache must be cleared before each run because `CacheStore` has no owner, and entries of an earlier run are returned instead of new ones, which only a restart of the service removes.\n- The exporter requires a lock because two workers write the same file, and `ExportWriter` doesn't support a second handle, so the last rows are missing.\n";
    let conversation = Conversation::default()
        .prompt("Evaluate the flaky importer test and propose a fix.")
        .answer(report)
        .prompt("Please look again.")
        .answer(
            "The connection pool was not the cause of the flaky importer test, `Session` is fine.",
        );
    let lessons = conversation.lessons();
    let with = |verdict: Verdict, word: &str| {
        let is_meant = |lesson: &&Lesson| {
            lesson.candidate.source == SourceKind::Report
                && lesson.verdict == verdict
                && lesson.candidate.full_text().contains(word)
        };
        lessons.iter().filter(is_meant).count()
    };
    let withdrawn = Verdict::Dropped(DropReason::Withdrawn);
    assert_eq!(with(withdrawn, "connection pool"), 1);
    assert_eq!(with(withdrawn, "CacheStore"), 0);
    assert_eq!(with(Verdict::Kept, "CacheStore"), 1);
    assert_eq!(with(Verdict::Kept, "ExportWriter"), 1);
}

#[test]
fn selection_keeps_at_most_twelve_records_of_bounded_size() {
    let lessons = Conversation::default()
        .prompt("Implement everything in the list of issues.")
        .commits(40)
        .answer("Everything is implemented and all tests pass.")
        .lessons();
    let kept: Vec<&Lesson> = lessons
        .iter()
        .filter(|lesson| lesson.verdict == Verdict::Kept)
        .collect();
    let is_case = |lesson: &&&Lesson| lesson.candidate.source == SourceKind::Case;
    let others = kept.len() - kept.iter().filter(is_case).count();
    assert!((8..=12).contains(&others), "{others}");
    for lesson in &kept {
        let parts: Vec<&String> = match &lesson.candidate.content {
            LessonContent::Knowledge { text, .. } | LessonContent::Error { text, .. } => vec![text],
            LessonContent::Attempt {
                approach, reason, ..
            } => vec![approach, reason],
            LessonContent::Case { case, .. } => vec![&case.asked, &case.did, &case.result],
            LessonContent::Steps(_) => vec![],
        };
        assert!(
            parts.iter().all(|part| part.chars().count() <= 400),
            "{lesson:?}"
        );
        assert!(!lesson.candidate.evidence.is_empty());
    }
    assert!(
        lessons
            .iter()
            .any(|lesson| lesson.verdict == Verdict::Dropped(DropReason::Limit))
    );
}
