//! Files that a directive names, in addition to other sources, within a budget.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test writes files directly, and a helper of a test may fail it"
)]

use heirloom_engine::{ContextRequest, Engine, NewOutput, NewRecord};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::context::{Context, InclusionReason};
use heirloom_model::settings::ContextSelection;
use heirloom_model::{Budget, FixedClock, ProjectName, Settings, text};
use heirloom_store::SqliteStore;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const BOTH: [ContextSelection; 2] = [ContextSelection::Worth, ContextSelection::Priority];
const PLAN: &str = "REQ-006";
const AGENT: &str = "coder";

/// Creates a project with a long file, outputs of several agents and many facts.
fn engine(root: &Path, selection: ContextSelection) -> Engine {
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root: root.to_owned(),
    };
    let engine = Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        Settings {
            context_selection: selection,
            ..Settings::default()
        },
        Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap())),
    )
    .unwrap();
    let line = |n: usize| format!("Rule {n:03} of the design: part {n} keeps its own clock.\n");
    let file: String = (0..143).map(line).collect();
    assert!((7_000..8_000).contains(&file.len()), "{}", file.len());
    fs::write(root.join("spec.md"), file).unwrap();
    fs::write(root.join("short.md"), "the short one\n").unwrap();
    for agent in [AGENT, "tester", "reviewer", "scout"] {
        let line = |n: usize| format!("{agent} did step {n} and found nothing to report.\n");
        let output = NewOutput {
            plan: PLAN.to_owned(),
            agent: agent.to_owned(),
            content: (0..60).map(line).collect(),
            ..NewOutput::default()
        };
        engine.outputs().put(&output).unwrap();
    }
    for n in 0..40 {
        let fact = NewRecord {
            text: format!("Unit{n} of the harbour reads batch{n} before the tide turns."),
            ..NewRecord::default()
        };
        engine.records().remember(fact).unwrap();
    }
    engine
}

fn build(engine: &Engine, invocation: &str, plan: bool, budget: Option<usize>) -> Context {
    let request = ContextRequest {
        invocation: Some(invocation.to_owned()),
        plan: plan.then(|| PLAN.to_owned()),
        budget: budget.map(Budget::Chars),
        ..ContextRequest::default()
    };
    let context = engine.contexts().build(&request).unwrap();
    assert!(text::chars(&context.text) <= context.budget.chars());
    context
}

/// Returns the lines of the file in a context.
fn lines_of_file(context: &Context) -> Vec<&str> {
    let lines = context.text.lines();
    lines.filter(|line| line.starts_with("Rule ")).collect()
}

#[test]
fn named_file_precedes_outputs_and_facts() {
    for selection in BOTH {
        let root = tempfile::tempdir().unwrap();
        let engine = engine(root.path(), selection);
        for plan in [true, false] {
            let context = build(&engine, "coder[input:spec.md]", plan, None);
            let lines = lines_of_file(&context);
            let chars: usize = lines.iter().map(|line| text::chars(line) + 1).sum();
            assert!(chars >= 2_400, "{selection:?}, {plan}: {chars}");
            let more = format!("… {} more lines did not fit", 143 - lines.len());
            assert!(context.text.contains(&more), "{}", context.text);
            let input = context.sections.iter().find(|one| one.name == "input");
            let item = &input.unwrap().items[0];
            let InclusionReason::Cut { of_chars } = item.reason else {
                panic!("{item:?}");
            };
            assert!(item.chars < of_chars && of_chars > 7_000, "{item:?}");
            let note = format!("input spec.md: {} of {of_chars} characters fit", item.chars);
            let notes = &context.notes;
            assert!(notes.iter().any(|one| one.contains(&note)), "{notes:?}");
        }
    }
}

#[test]
fn task_keeps_its_line_beside_a_long_file() {
    for selection in BOTH {
        let root = tempfile::tempdir().unwrap();
        let engine = engine(root.path(), selection);
        let change = heirloom_engine::TaskChange {
            title: Some("Heat the hangar".to_owned()),
            ..heirloom_engine::TaskChange::default()
        };
        engine.tasks().set("7", &change, "user").unwrap();
        let request = ContextRequest {
            task: Some("7".to_owned()),
            invocation: Some("coder[input:spec.md]".to_owned()),
            ..ContextRequest::default()
        };
        let context = engine.contexts().build(&request).unwrap();
        assert!(context.text.contains("Heat the hangar"), "{}", context.text);
        assert!(lines_of_file(&context).len() > 40, "{}", context.text);
    }
}

#[test]
fn short_file_is_whole_and_other_sources_follow() {
    for selection in BOTH {
        let root = tempfile::tempdir().unwrap();
        let engine = engine(root.path(), selection);
        let context = build(&engine, "coder[input:short.md]", true, None);
        assert!(context.text.contains("the short one"), "{}", context.text);
        assert!(context.text.contains("Unit"), "{}", context.text);
        assert!(!context.notes.iter().any(|note| note.contains("short.md")));
        let context = build(&engine, "coder[input:spec.md,short.md]", true, None);
        assert!(context.text.contains("the short one"), "{}", context.text);
        assert!(lines_of_file(&context).len() > 40, "{}", context.text);
    }
}

#[test]
fn larger_budget_contains_more_of_the_file_and_then_the_rest() {
    for selection in BOTH {
        let root = tempfile::tempdir().unwrap();
        let engine = engine(root.path(), selection);
        let mut before = 0;
        for budget in (200..14_000).step_by(400) {
            let context = build(&engine, "coder[input:spec.md]", true, Some(budget));
            let count = lines_of_file(&context).len();
            assert!(
                count >= before,
                "{selection:?}, {budget}: {count} of {before}"
            );
            before = count;
        }
        assert_eq!(before, 143);
        let whole = build(&engine, "coder[input:spec.md]", true, Some(14_000));
        assert!(whole.text.contains(" did step"), "{}", whole.text);
    }
}
