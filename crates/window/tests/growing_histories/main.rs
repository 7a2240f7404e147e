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
