//! Cases: requests with what was done for them and what shows their end, from constructed events.

use crate::conversation::Conversation;
use heirloom_agents::transcripts::{EventBody, FileEdit, ToolAction, ToolOutcome};
use heirloom_lessons::{LessonContent, Verdict};
use heirloom_model::{Case, CaseState};

/// Returns the cases that become records.
fn cases(conversation: &Conversation) -> Vec<(Case, CaseState)> {
    let mut found: Vec<(u64, Case, CaseState)> = conversation
        .lessons()
        .into_iter()
        .filter(|lesson| lesson.verdict == Verdict::Kept)
        .filter_map(|lesson| match lesson.candidate.content {
            LessonContent::Case { case, state, .. } => {
                Some((lesson.candidate.evidence[0].position, *case, state))
            }
            LessonContent::Knowledge { .. }
            | LessonContent::Error { .. }
            | LessonContent::Attempt { .. }
            | LessonContent::Steps(_) => None,
        })
        .collect();
    found.sort_by_key(|(position, _, _)| *position);
    found
        .into_iter()
        .map(|(_, case, state)| (case, state))
        .collect()
}

fn only_case(conversation: &Conversation) -> (Case, CaseState) {
    let mut found = cases(conversation);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

const PASSED: &str = "test result: ok. 12 passed; 0 failed; 0 ignored";
const FAILED: &str = "test result: FAILED. 11 passed; 1 failed; 0 ignored";

#[test]
fn case_has_request_work_failures_and_result() {
    let code = FileEdit {
        path: "src/import/invoices.rs".to_owned(),
        removed: String::new(),
        added: "pub fn read_invoices(text: &str) -> Vec<Invoice> {".to_owned(),
    };
    let conversation = Conversation::default()
        .prompt("<system-reminder>x</system-reminder>\nPlease implement app-7. The parser `read_line` in src/import/line.rs stays as it is.")
        .run(
            "bd show app-7",
            "○ app-7 [TASK] · Import of invoices   [● P2 · OPEN]\n\n## Goal",
        )
        .call("Edit", ToolAction::Edit(vec![code]), ToolOutcome::Succeeded, "ok")
        .edit("src/import/invoices.rs")
        .edit("src/import/mod.rs")
        .run("cargo test -p import", PASSED)
        .run(
            "git commit -am 'feat: import invoices (app-7)'",
            "[main 1a2b3c4] feat: import invoices (app-7)",
        )
        .answer("All done.\n\n- The importer is implemented and pushed\n- 12 tests pass\n")
        .prompt("did you push?")
        .answer("Yes, everything is pushed.");
    let (case, state) = only_case(&conversation);
    assert_eq!(
        case.title,
        "Implement app-7 (Import of invoices). The parser `read_line` in src/import/line.rs stays as it is."
    );
    assert_eq!(
        case.did,
        "edited src/import/invoices.rs, mod.rs; verified by `cargo test -p import`; commit 1a2b3c4 import invoices (app-7)"
    );
    assert_eq!(case.result, "12 tests pass.");
    assert_eq!(case.files, ["src/import/invoices.rs", "src/import/mod.rs"]);
    assert!(case.symbols.contains(&"read_line".to_owned()), "{case:?}");
    assert!(
        case.symbols.contains(&"read_invoices".to_owned()),
        "{case:?}"
    );
    assert_eq!(state, CaseState::Done);
    assert_eq!(
        conversation.extractor().title().as_deref(),
        Some("Implement app-7 (Import of invoices)")
    );
}

#[test]
fn case_names_the_failure_on_its_way_with_its_resolution() {
    let fix = FileEdit {
        path: "src/price.rs".to_owned(),
        removed: "cents * percent / 100".to_owned(),
        added: "(cents * percent + 50) / 100".to_owned(),
    };
    let conversation = Conversation::default()
        .prompt("Round the discounts of orders half up.")
        .edit("src/price.rs")
        .fail("cargo test -p price", "thread 'rounds' panicked at src/price.rs:3:5:\nassertion `left == right` failed: cents must be rounded\n  left: 499\n right: 500\ntest result: FAILED. 1 passed; 1 failed")
        .call("Edit", ToolAction::Edit(vec![fix]), ToolOutcome::Succeeded, "ok")
        .run("cargo test -p price", PASSED)
        .answer("The discounts are rounded half up now.");
    let (case, state) = only_case(&conversation);
    assert_eq!(state, CaseState::Done);
    assert!(
        case.failed.starts_with("`cargo test -p price` failed: ") && case.failed.contains(" → "),
        "{case:?}"
    );
    assert!(
        case.text().contains("\nFailed: `cargo test"),
        "{}",
        case.text()
    );
}

#[test]
fn state_follows_from_evidence() {
    let begun = || {
        Conversation::default()
            .prompt("Fix the rounding of discounts in the cart.")
            .edit("src/cart.rs")
    };
    let commit = "git commit -am 'Fix rounding'";
    for (what, conversation, state) in [
        ("no evidence", begun().answer("Fixed."), CaseState::Unknown),
        ("passed", begun().run("cargo test", PASSED), CaseState::Done),
        (
            "edited after it passed",
            begun().run("cargo test", PASSED).edit("src/a.rs"),
            CaseState::Unknown,
        ),
        (
            "prose after it passed",
            begun().run("cargo test", PASSED).edit("CHANGELOG.md"),
            CaseState::Done,
        ),
        (
            "red at the end",
            begun().fail("cargo test", FAILED),
            CaseState::Failed,
        ),
        (
            "red, then mended",
            begun()
                .fail("cargo test", FAILED)
                .edit("src/cart.rs")
                .run("cargo test", PASSED),
            CaseState::Done,
        ),
        (
            "red behind a filter",
            begun().run("cargo test | tail -3", FAILED),
            CaseState::Failed,
        ),
        (
            "committed",
            begun().run(commit, "[main 1a2b3c4] Fix"),
            CaseState::Done,
        ),
        (
            "rejected commit",
            begun().fail(commit, "hook failed"),
            CaseState::Unknown,
        ),
        (
            "reverted",
            begun().run("git checkout -- src/cart.rs", ""),
            CaseState::Failed,
        ),
        (
            "reverted and made anew",
            begun()
                .run("git checkout -- src/cart.rs", "")
                .edit("src/cart.rs"),
            CaseState::Unknown,
        ),
        (
            "assent",
            begun().answer("Fixed.").prompt("thanks, works"),
            CaseState::Done,
        ),
        (
            "approval of the next step",
            begun().answer("Shall I go on?").prompt("yes"),
            CaseState::Unknown,
        ),
        (
            "dissent",
            begun()
                .run("cargo test", PASSED)
                .answer("Fixed.")
                .prompt("still fails for 499 cents"),
            CaseState::Failed,
        ),
        (
            "dissent, then mended",
            begun()
                .answer("Fixed.")
                .prompt("still fails for 499 cents")
                .edit("src/cart.rs")
                .run("cargo test", PASSED),
            CaseState::Done,
        ),
        (
            "dissent, then changed without evidence",
            begun()
                .answer("Fixed.")
                .prompt("still fails for 499 cents")
                .edit("src/cart.rs"),
            CaseState::Unknown,
        ),
    ] {
        assert_eq!(only_case(&conversation).1, state, "{what}");
    }
}

#[test]
fn dissent_is_the_result() {
    let dissent = Conversation::default()
        .prompt("Fix the rounding of discounts in the cart.")
        .edit("src/cart.rs")
        .answer("Fixed.")
        .prompt("still fails for 499 cents");
    let (case, _) = only_case(&dissent);
    assert_eq!(
        case.result,
        "not solved: the person said \"still fails for 499 cents\""
    );
}

#[test]
fn request_of_its_own_begins_a_case_and_steering_does_not() {
    let first = || {
        Conversation::default()
            .prompt("Add an export of orders as CSV files.")
            .edit("src/export.rs")
            .answer("Done: the export is implemented. All tests pass.")
    };
    for (what, conversation, count) in [
        ("another subject", first().prompt("Now add an import of orders from CSV files too.").edit("src/import.rs"), 2),
        ("assent", first().prompt("looks good").answer("Great."), 1),
        ("continuation", first().prompt("also quote names with a comma").edit("src/quote.rs"), 1),
        ("dissent", first().prompt("That doesn't work: Excel shows one column. Use semicolons as separators in the whole file.").edit("src/export.rs"), 1),
        ("the same files", first().prompt("Add a test of the export with an empty order.").edit("src/export.rs"), 1),
        ("only a commit", first().prompt("Please make a commit of everything now").run("git commit -am x", "[main 1a2b3c4] x"), 1),
        ("the remaining test", first().prompt("fix the remaining test").edit("tests/export.rs"), 1),
    ] {
        let found = cases(&conversation);
        assert_eq!(found.len(), count, "{what}: {found:#?}");
    }
    let steered = first()
        .prompt("also quote names with a comma in `quote_name`")
        .edit("src/quote.rs");
    let (case, _) = only_case(&steered);
    assert_eq!(
        case.asked,
        "Add an export of orders as CSV files. · quote_name · then: Also quote names with a comma in `quote_name`"
    );
}

#[test]
fn what_leaves_nothing_is_no_case() {
    let edit = |path: &str| ToolAction::Edit(vec![FileEdit::of_path(path.to_owned())]);
    for (what, conversation) in [
        (
            "a question",
            Conversation::default()
                .prompt("What does the function read_line do in this project?")
                .run("grep -rn read_line src", "src/a.rs:3")
                .answer("It reads one line and returns it without its end. All callers expect that the end is removed."),
        ),
        (
            "an interrupted request",
            Conversation::default()
                .prompt("Rewrite the importer so that it streams its input.")
                .call("Edit", edit("src/a.rs"), ToolOutcome::Rejected, "rejected")
                .prompt("[Request interrupted by user for tool use]"),
        ),
        (
            "a slash command",
            Conversation::default()
                .prompt("<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>")
                .answer("Cleared."),
        ),
        (
            "a rule",
            Conversation::default()
                .prompt("From now on always run the tests with `cargo nextest run`, never with `cargo test`.")
                .answer("Understood."),
        ),
        (
            "a proposal",
            Conversation::default()
                .prompt("Evaluate the client and propose an implementation plan for a new one with types.")
                .run("cat a", "b")
                .answer("**Findings**\n- The client wraps every query in a `Result`, and callers expect that wrapper in all cases.\n\n**Plan**\n- Start with one module as a pilot, then change the other imports in phases.\n"),
        ),
        (
            "edits of temporary files",
            Conversation::default()
                .prompt("Show me what the importer makes of this file.")
                .call("Write", edit("/tmp/try.py"), ToolOutcome::Succeeded, "ok")
                .run("python3 /tmp/try.py", "3 rows"),
        ),
        (
            "the prompt of a subagent",
            Conversation::default()
                .of_subagent(EventBody::Prompt("Fix the parser of dates in src/date.rs please.".to_owned()))
                .edit("src/date.rs"),
        ),
    ] {
        let found = cases(&conversation);
        assert!(found.is_empty(), "{what}: {found:#?}");
    }
}

#[test]
fn work_of_a_subagent_counts_for_the_request_of_the_person() {
    let conversation = Conversation::default()
        .prompt("Fix the parser of dates, with a subagent.")
        .of_subagent(EventBody::Prompt(
            "Read src/date.rs and mend it.".to_owned(),
        ))
        .edit("src/date.rs")
        .of_subagent(EventBody::AssistantText(
            "I changed the parser. All tests pass.".to_owned(),
        ))
        .answer("The parser is fixed.");
    let (case, _) = only_case(&conversation);
    assert_eq!(case.title, "Fix the parser of dates, with a subagent.");
    assert_eq!(case.files, ["src/date.rs"]);
    assert!(!case.text().contains("I changed"), "{}", case.text());
}

#[test]
fn explanation_that_becomes_a_record_makes_a_question_a_case() {
    let conversation = Conversation::default()
        .prompt("Why does `pnpm dev` of the shop hang when the database is stopped?")
        .run("cat src/pool.ts", "export const pool = createPool();")
        .answer("Root cause: `createPool` in `src/pool.ts` has no timeout because `connectTimeout` is only set for the worker, so the server waits for the database forever. That is why the command hangs.");
    let found = cases(&conversation);
    assert_eq!(found.len(), 1, "{:#?}", conversation.lessons());
    assert_eq!(found[0].1, CaseState::Unknown);
    assert!(found[0].0.did.is_empty());
}

#[test]
fn text_of_a_case_is_bounded_and_names_what_is_searched() {
    let mut conversation = Conversation::default().prompt(&format!(
        "The footer of `InvoicePage` overlaps the table in src/pages/invoice.tsx. {}\n```\nTypeError: table is undefined\n    at render (src/pages/invoice.tsx:3:9)\n```",
        "It has to stay below the table on paper too. ".repeat(30)
    ));
    for number in 0..20 {
        conversation =
            conversation.edit(&format!("packages/shop/src/pages/parts/part{number}.tsx"));
    }
    let conversation = conversation
        .run(
            &format!(
                "npx vitest run {}",
                "src/pages/invoice.test.tsx ".repeat(20)
            ),
            " Tests  16 passed (16)",
        )
        .answer(&format!(
            "The footer works now. {}",
            "All pages were checked and work. ".repeat(40)
        ));
    let (case, _) = only_case(&conversation);
    let text = case.text();
    assert!(text.chars().count() <= 600, "{text}");
    for word in [
        "footer",
        "InvoicePage",
        "src/pages/invoice.tsx",
        "TypeError: table is undefined",
        "part8.tsx",
        "npx vitest run",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
