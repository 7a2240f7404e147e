//! Window compaction: refused input, or a valid, deterministic window without losses.
#![no_main]

use heirloom_window::protocol_validation::check;
use heirloom_window::{Conversation, Policy, WindowState, WireFormat, compact};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let form = [
        None,
        Some(WireFormat::Openai),
        Some(WireFormat::Anthropic),
        Some(WireFormat::Responses),
    ];
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let Ok(history) = Conversation::parse(text, form[usize::from(*first) % 4]) else {
        return;
    };
    // Small limits, so that short histories reach every compaction step.
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
    let mut state = WindowState::default();
    let made = compact(&history, &policy, &mut state);
    let again = compact(&history, &policy, &mut state);
    assert_eq!(made.messages, again.messages);
    let window = made.to_json(&history);
    let read = Conversation::parse(&window, Some(history.format)).expect("a window is read");
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
        // Raw values, because `Value` cannot represent large numbers and lone surrogates.
        let archive = history.archive(dropped);
        let archive: Vec<&RawValue> = serde_json::from_str(&archive).expect("an archive is JSON");
        assert_eq!(archive.len(), dropped.to - dropped.from);
    }
});
