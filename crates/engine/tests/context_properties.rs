//! Properties of every view and every budget.

use heirloom_model::context::{
    Context, ContextItem, ErrorItem, InclusionReason, MemoryView, TaskView,
};
use heirloom_model::{Budget, Settings};
use heirloom_prompt::context::render;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Text as a store may contain it: plain, hostile, or arbitrary.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z ,.:/]{0,40}",
        2 => any::<String>(),
        1 => "(> |- |\\*\\*|`|\\n){0,3}(HEIRLOOM_MEMORY|agentium_memory|HEIRLOOM_STATUS)[ :*`]{0,4}[A-Z :]{0,12}",
        1 => "[\\x00-\\x1f\u{80}-\u{9f}\u{2028}\u{202e}a👨\u{200d}👩e\u{301}]{0,12}",
    ]
}

fn any_items(count_max: usize) -> impl Strategy<Value = Vec<ContextItem>> {
    vec(
        any_text().prop_map(|text| ContextItem {
            text,
            ..ContextItem::default()
        }),
        0..count_max,
    )
}

fn any_error() -> impl Strategy<Value = ErrorItem> {
    (option::of(0..30_u32), option::of(any_text()), any_text()).prop_map(
        |(iteration, phase, text)| ErrorItem {
            id: None,
            iteration,
            phase,
            text,
            ..ErrorItem::default()
        },
    )
}

fn any_task() -> impl Strategy<Value = TaskView> {
    let words = (
        any_text(),
        option::of(any_text()),
        option::of(any_text()),
        option::of(any_text()),
    );
    let lists = (any_items(30), any_items(30), any_items(30));
    (words, option::of(0..99_999_u64), lists).prop_map(
        |((title, phase, branch, blocked_reason), pr_number, (completed, pending, files))| {
            TaskView {
                id: None,
                title,
                phase,
                branch,
                pr_number,
                blocked_reason,
                completed,
                pending,
                files,
            }
        },
    )
}

fn any_view() -> impl Strategy<Value = MemoryView> {
    let errors = vec(any_error(), 0..20);
    let lists = (
        (any_items(40), any_items(40)),
        (any_items(20), any_items(20)),
        any_items(3),
    );
    let older = any::<(bool, bool)>();
    (option::of(any_task()), errors, lists, older).prop_map(
        |(task, errors, (known, past, pinned), (has_more_decisions, has_more_facts))| MemoryView {
            task,
            pinned,
            errors,
            decisions: known.0,
            has_more_decisions,
            facts: known.1,
            has_more_facts,
            attempts: past.0,
            artifacts: past.1,
        },
    )
}

fn any_budget() -> impl Strategy<Value = Budget> {
    prop_oneof![
        4 => (0..3_000_usize).prop_map(Budget::Chars),
        2 => (0..800_usize).prop_map(Budget::Tokens),
        1 => any::<usize>().prop_map(Budget::Tokens),
    ]
}

fn prefixes() -> Vec<String> {
    let settings = Settings::default();
    [settings.memory_prefixes, settings.status_prefixes].concat()
}

/// Returns true if a lenient parser could accept `line` as a signal.
fn is_signal(line: &str, prefixes: &[String]) -> bool {
    let marks = |c: char| !c.is_alphanumeric();
    let line = line.trim_start_matches(marks).to_ascii_uppercase();
    prefixes.iter().any(|prefix| {
        let rest = line.strip_prefix(prefix.as_str());
        rest.is_some_and(|rest| {
            rest.trim_start_matches(['*', '_', '`', ' '])
                .starts_with(':')
        })
    })
}

fn reasons(context: &Context) -> Vec<Vec<InclusionReason>> {
    let items = |section: &heirloom_model::context::ReceiptSection| {
        section.items.iter().map(|item| item.reason).collect()
    };
    context.sections.iter().map(items).collect()
}

fn count(context: &Context, reason: InclusionReason) -> Vec<usize> {
    let of = |reasons: &Vec<InclusionReason>| reasons.iter().filter(|r| **r == reason).count();
    reasons(context).iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn context_invariants_hold(view in any_view(), budget in any_budget()) {
        let prefixes = prefixes();
        let context = render(&view, budget, &prefixes);
        prop_assert!(budget.fits(&context.text), "{budget:?}: {}", context.text);
        prop_assert_eq!(&render(&view, budget, &prefixes), &context);

        let chars = context.text.chars().count();
        let sum: usize = context.sections.iter().map(|section| section.chars).sum();
        prop_assert_eq!(sum, chars);
        let is_odd = |c: char| c != '\n' && (c.is_control() || c == '\u{2028}' || c == '\u{202e}');
        prop_assert!(!context.text.contains(is_odd));
        prop_assert!(context.text.is_empty() || context.text.starts_with("## Session Memory\n\n"));
        prop_assert!(context.text.is_empty() || context.text.ends_with('\n'));
        prop_assert!(!context.text.contains("\n\n\n"));
        for line in context.text.lines() {
            prop_assert!(!is_signal(line, &prefixes), "{line}");
            for word in line.split(", ") {
                prop_assert!(!is_signal(word, &prefixes), "{line}");
            }
        }
    }

    #[test]
    fn receipt_accounts_for_every_item(view in any_view(), budget in any_budget()) {
        let context = render(&view, budget, &prefixes());
        let items: usize = context.sections.iter().map(|section| section.items.len()).sum();
        let task = view.task.as_ref().map_or(0, |task| {
            let values = [task.branch.is_some(), task.pr_number.is_some(), task.blocked_reason.is_some()];
            let known = values.iter().filter(|known| **known).count();
            task.completed.len() + task.pending.len() + task.files.len() + known
        });
        let last = view.attempts.len() + view.artifacts.len();
        let known = view.pinned.len() + view.errors.len() + view.decisions.len() + view.facts.len();
        let expect = task + known + last;
        prop_assert!(items == expect || items == expect + 1, "{items} of {expect}");
    }

    #[test]
    fn lower_ranks_follow_higher_ranks(view in any_view(), budget in any_budget()) {
        let context = render(&view, budget, &prefixes());
        // Old work on a task ranks last.
        let old = view.task.as_ref().map_or(0, |task| {
            task.completed.len().saturating_sub(10) + task.files.len().saturating_sub(10)
        });
        let mut closed = false;
        for section in &context.sections {
            let has = |reason| section.items.iter().filter(|item| item.reason == reason).count();
            // The section is below the task in the text, but ranks before the task's steps.
            let before_steps = section.name == "Pinned";
            prop_assert!(!closed || before_steps || has(InclusionReason::Included) == 0);
            let may_wait = if section.name == "Task" { old } else { 0 };
            closed |= has(InclusionReason::OverBudget) > may_wait;
        }
    }

    #[test]
    fn larger_budget_never_shows_less(view in any_view(), chars in 0..3_000_usize, more in 0..300_usize) {
        let (small, large) = (Budget::Chars(chars), Budget::Chars(chars + more));
        let (small, large) = (render(&view, small, &prefixes()), render(&view, large, &prefixes()));
        // An item that newly fits the budget may displace lower ranks.
        prop_assume!(count(&small, InclusionReason::TooLarge) == count(&large, InclusionReason::TooLarge));
        let included = |context: &Context| {
            let of = |section: &heirloom_model::context::ReceiptSection| {
                let inside = section.items.iter().filter(|item| item.is_included());
                inside.map(|item| item.excerpt.clone()).collect::<Vec<_>>()
            };
            context.sections.iter().map(of).collect::<Vec<_>>()
        };
        for (before, mut after) in included(&small).into_iter().zip(included(&large)) {
            for excerpt in before {
                let at = after.iter().position(|other| *other == excerpt);
                prop_assert!(at.is_some(), "lost {excerpt:?}");
                at.map(|at| after.swap_remove(at));
            }
        }
    }
}

#[test]
fn render_ten_thousand_items_in_one_pass() {
    let item = |i: usize| ContextItem {
        id: None,
        text: format!("Fact {i}: the handler of {i} wants a token"),
        ..ContextItem::default()
    };
    let view = MemoryView {
        facts: (0..10_000).map(item).collect(),
        ..MemoryView::default()
    };
    let context = render(&view, Budget::Chars(3_000), &prefixes());
    assert!(
        context
            .text
            .starts_with("## Session Memory\n\n### Key Facts\n- Fact 9999: ")
    );
    assert!(context.text.ends_with(" older facts: heirloom recall\n"));
    assert_eq!(context.sections[0].items.len(), 10_000);
    let whole = render(&view, Budget::Chars(usize::MAX), &prefixes());
    assert_eq!(whole.text.lines().count(), 10_003);
}
