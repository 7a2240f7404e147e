//! Random histories that grow turn by turn.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod histories;

use heirloom_window::check::check;
use heirloom_window::{Compacted, Conversation, Form, Piece, Policy, State, compact};
use histories::{Kind, Step, history, steps};
use proptest::prelude::*;

/// Small numbers, so that short histories go through everything.
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

fn read(form: Form, messages: &[String]) -> Conversation {
    let mut out = Conversation::new(form);
    for message in messages {
        out.push(message).unwrap();
    }
    out
}

/// Everything of the history is in the window, or can be asked for by an id.
fn nothing_is_lost(history: &Conversation, made: &Compacted) {
    let mut held = vec![false; history.messages.len()];
    for piece in &made.pieces {
        if let Piece::Kept(at) | Piece::Edited { at, .. } = piece {
            held[*at] = true;
        }
    }
    for dropped in &made.report.dropped {
        held[dropped.inner.clone()].fill(true);
        let archive: Vec<serde_json::Value> =
            serde_json::from_str(&history.archive(dropped)).unwrap();
        assert_eq!(archive.len(), dropped.to - dropped.from);
    }
    for (at, held) in held.iter().enumerate() {
        assert!(*held || history.messages[at].own.is_some(), "message {at}");
    }
    let overflows: Vec<(String, usize)> = made
        .overflows(history)
        .map(|one| (one.id.to_owned(), one.text.chars().count()))
        .collect();
    for one in made
        .report
        .shortened
        .iter()
        .filter(|one| one.whole.is_some())
    {
        assert!(
            overflows.contains(&(one.id.clone(), one.chars_before)),
            "{one:?}"
        );
        assert!(one.chars_after < one.chars_before, "{one:?}");
    }
}

fn target_is_held(made: &Compacted, policy: &Policy) {
    if made.report.tokens_after > policy.summary_threshold {
        assert!(made.report.over.is_some());
    }
    let words: usize = made.messages.iter().map(String::len).sum();
    // The estimate counts words, not braces: this only catches what is out by far.
    assert!(words / 4 < made.report.tokens_after * 3 + 2_000, "{words}");
}

fn grows(form: Form, kind: Kind, steps: &[Step]) -> Result<(), TestCaseError> {
    let policy = policy();
    let (messages, requests) = history(form, kind, steps);
    let mut state = State::default();
    let mut before: Vec<String> = Vec::new();
    for end in &requests {
        let history = read(form, &messages[..*end]);
        let made = compact(&history, &policy, &mut state);
        let alone = compact(&history, &policy, &mut State::default());
        prop_assert_eq!(&made.messages, &alone.messages, "without state, at {}", end);
        prop_assert_eq!(made.report.to_json(), alone.report.to_json());
        if !made.report.stepped {
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
        let again = compact(&window, &policy, &mut State::default());
        prop_assert_eq!(&again.messages, &made.messages, "again, at {}", end);
        before = made.messages;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_chat_grows(steps in steps()) {
        grows(Form::Openai, Kind::Plain, &steps)?;
    }

    #[test]
    fn anthropic_messages_grow(steps in steps()) {
        grows(Form::Anthropic, Kind::Plain, &steps)?;
    }

    #[test]
    fn anthropic_messages_with_thoughts_grow(steps in steps()) {
        grows(Form::Anthropic, Kind::Thinking, &steps)?;
    }

    #[test]
    fn responses_items_grow(steps in steps()) {
        grows(Form::Responses, Kind::Plain, &steps)?;
    }

    #[test]
    fn responses_items_with_reasoning_grow(steps in steps()) {
        grows(Form::Responses, Kind::Thinking, &steps)?;
    }
}
