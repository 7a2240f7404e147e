//! Random histories that grow turn by turn.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod histories;

use heirloom_window::protocol_validation::check;
use heirloom_window::{
    CompactedWindow, Conversation, Policy, WindowPiece, WindowState, WireFormat, compact,
};
use histories::{Kind, Step, history, steps};
use proptest::prelude::*;

/// Small thresholds, so that short histories reach every rule.
fn policy() -> Policy {
    Policy {
        read_max_length: 1_600,
        read_preview_length: 900,
        critical_max_length: 1_600,
        critical_preview_length: 900,
        max_output_length: 1_200,
        preview_length: 600,
        stale_threshold: 6,
        summary_threshold: 4_000,
        messages_to_keep: 6,
        step_min_tokens: 300,
        fallback_tokens: 9_000,
        fallback_messages: 6,
        ..Policy::default()
    }
}

fn read(form: WireFormat, messages: &[String]) -> Conversation {
    let mut out = Conversation::new(form);
    for message in messages {
        out.push(message).unwrap();
    }
    out
}

/// Checks that the whole history is in the window or can be restored by an id.
fn nothing_is_lost(history: &Conversation, made: &CompactedWindow) {
    let mut held = vec![false; history.messages.len()];
    for piece in &made.pieces {
        if let WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } = piece {
            held[*at] = true;
        }
    }
    for dropped in &made.report.dropped {
        held[dropped.inner_range.clone()].fill(true);
        let archive: Vec<serde_json::Value> =
            serde_json::from_str(&history.archive(dropped)).unwrap();
        assert_eq!(archive.len(), dropped.to - dropped.from);
    }
    for (at, held) in held.iter().enumerate() {
        assert!(
            *held || history.messages[at].inserted.is_some(),
            "message {at}"
        );
    }
    let overflows: Vec<(String, usize)> = made
        .overflows(history)
        .map(|one| (one.id.to_owned(), one.text.chars().count()))
        .collect();
    for one in made
        .report
        .shortened
        .iter()
        .filter(|one| one.full_text_at.is_some())
    {
        assert!(
            overflows.contains(&(one.id.clone(), one.chars_before)),
            "{one:?}"
        );
        assert!(one.chars_after < one.chars_before, "{one:?}");
    }
}

fn target_is_held(made: &CompactedWindow, policy: &Policy) {
    if made.report.tokens_after > policy.summary_threshold {
        assert!(made.report.over_budget_reason.is_some());
    }
    let words: usize = made.messages.iter().map(String::len).sum();
    // The estimate ignores JSON syntax, so this check only finds large deviations.
    assert!(words / 4 < made.report.tokens_after * 3 + 2_000, "{words}");
}

fn grows(form: WireFormat, kind: Kind, steps: &[Step]) -> Result<(), TestCaseError> {
    let policy = policy();
    let (messages, requests) = history(form, kind, steps);
    let mut state = WindowState::default();
    let mut before: Vec<String> = Vec::new();
    for end in &requests {
        let history = read(form, &messages[..*end]);
        let made = compact(&history, &policy, &mut state);
        let alone = compact(&history, &policy, &mut WindowState::default());
        prop_assert_eq!(&made.messages, &alone.messages, "without state, at {}", end);
        prop_assert_eq!(made.report.to_json(), alone.report.to_json());
        if !made.report.is_rewritten {
            prop_assert!(
                made.messages.starts_with(&before),
                "the beginning changed at {end}\n{:#?}\n{:#?}",
                before,
                made.messages
            );
        }
        nothing_is_lost(&history, &made);
        target_is_held(&made, &policy);
        let window = read(form, &made.messages);
        prop_assert_eq!(
            check(&window),
            Vec::new(),
            "at {}: {:#?}",
            end,
            made.messages
        );
        let again = compact(&window, &policy, &mut WindowState::default());
        prop_assert_eq!(&again.messages, &made.messages, "again, at {}", end);
        before = made.messages;
    }
    Ok(())
}

/// Returns steps with one call each group: tool index and length of the result.
fn calls(groups: &[&[(u8, usize)]]) -> Vec<Step> {
    groups
        .iter()
        .map(|group| Step::Calls(group.to_vec()))
        .collect()
}

/// At the last request of each history a further step almost pays.
#[test]
fn window_with_stubs_compacted_again_does_not_change() {
    // A stub of 365 characters counts as one of the greatest length.
    let mut steps = vec![Step::User(60)];
    steps.extend(calls(&[
        &[(1, 0)],
        &[(3, 0)],
        &[(1, 0)],
        &[(1, 0)],
        &[(3, 0)],
        &[(3, 0)],
        &[(1, 181)],
        &[(1, 0)],
        &[(1, 98)],
        &[(1, 0)],
        &[(1, 0)],
        &[(1, 448), (1, 689)],
        &[(1, 1_465)],
        &[(1, 2_210)],
    ]));
    steps.push(Step::Says(153));
    steps.extend(calls(&[&[(1, 851)]]));
    grows(WireFormat::Anthropic, Kind::Plain, &steps).unwrap();
    // The size of a message is rounded once, with its stubs.
    let mut steps = vec![Step::User(60)];
    steps.extend(calls(&[
        &[(1, 1_346), (1, 960)],
        &[(3, 613), (1, 1_413)],
        &[(1, 872)],
        &[(1, 933)],
        &[(1, 1_441)],
        &[(2, 951)],
    ]));
    steps.extend([Step::User(20), Step::User(61)]);
    grows(WireFormat::Openai, Kind::Plain, &steps).unwrap();
}

#[test]
fn stubs_count_equally_in_history_and_window() {
    let policy = Policy {
        task_anchor_interval: 0,
        step_min_tokens: 1,
        expected_turns: 100_000,
        summary_threshold: 0,
        fallback_tokens: 0,
        ..policy()
    };
    for form in [
        WireFormat::Openai,
        WireFormat::Anthropic,
        WireFormat::Responses,
    ] {
        for kind in [Kind::Plain, Kind::Thinking] {
            for length in 441..=448 {
                let mut steps = vec![Step::User(60)];
                let group: &[(u8, usize)] = &[(0, length), (0, length + 1)];
                steps.extend(calls(&[group; 8]));
                let (messages, _) = history(form, kind, &steps);
                let made = compact(&read(form, &messages), &policy, &mut WindowState::default());
                assert!(made.report.shortened.len() > 4, "{form:?} {length}");
                let window = read(form, &made.messages);
                let again = compact(&window, &policy, &mut WindowState::default());
                assert_eq!(again.messages, made.messages, "{form:?} {length}");
                let (after, counted) = (again.report.tokens_after, made.report.tokens_after);
                assert_eq!(after, counted, "{form:?} {kind:?} {length}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn growing_chat_stays_valid(steps in steps()) {
        grows(WireFormat::Openai, Kind::Plain, &steps)?;
    }

    #[test]
    fn growing_anthropic_messages_stay_valid(steps in steps()) {
        grows(WireFormat::Anthropic, Kind::Plain, &steps)?;
    }

    #[test]
    fn growing_anthropic_thinking_stays_valid(steps in steps()) {
        grows(WireFormat::Anthropic, Kind::Thinking, &steps)?;
    }

    #[test]
    fn growing_responses_items_stay_valid(steps in steps()) {
        grows(WireFormat::Responses, Kind::Plain, &steps)?;
    }

    #[test]
    fn growing_responses_reasoning_stays_valid(steps in steps()) {
        grows(WireFormat::Responses, Kind::Thinking, &steps)?;
    }
}
