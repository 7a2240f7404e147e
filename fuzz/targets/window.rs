//! A window of anything: it is refused, or what comes out is sound, is the same again, and loses nothing.
#![no_main]

use heirloom_window::check::check;
use heirloom_window::{Conversation, Form, Policy, State, compact};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let form = [
        None,
        Some(Form::Openai),
        Some(Form::Anthropic),
        Some(Form::Responses),
    ];
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let Ok(history) = Conversation::parse(text, form[usize::from(*first) % 4]) else {
        return;
    };
    // Small numbers, so that short histories go through everything.
    let policy = Policy {
        max_output_length: 400,
        preview_length: 300,
        stale_threshold: usize::from(*first) / 4 % 8,
        summary_threshold: 400,
        messages_to_keep: 3,
        step_min_tokens: 50,
        fallback_tokens: 1_000,
        fallback_messages: 4,
        ..Policy::default()
    };
    let before = check(&history);
    let mut state = State::default();
    let made = compact(&history, &policy, &mut state);
    let again = compact(&history, &policy, &mut state);
    assert_eq!(made.messages, again.messages);
    let window = made.to_json(&history);
    let read = Conversation::parse(&window, Some(history.form)).expect("a window is read");
    for finding in check(&read) {
        assert!(
            before.iter().any(|known| known.rule == finding.rule),
            "{finding:?}"
        );
    }
    for overflow in made.overflows(&history) {
        assert!(!overflow.id.is_empty());
    }
    for dropped in &made.report.dropped {
        // Not as values: numbers beyond them and half surrogates are JSON too.
        let archive = history.archive(dropped);
        let archive: Vec<&RawValue> = serde_json::from_str(&archive).expect("an archive is JSON");
        assert_eq!(archive.len(), dropped.to - dropped.from);
    }
});
