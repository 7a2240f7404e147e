//! Signal parser: independent of chunk boundaries; removed and neutralised signals are not found again.
#![no_main]

use heirloom_agents::signals::{SignalParser, SignalRules, neutralize_signals, without_signals};
use heirloom_model::signal::ParserEvent;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static RULES: LazyLock<SignalRules> = LazyLock::new(SignalRules::default);

fn parse<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<ParserEvent> {
    let mut parser = SignalParser::new(&RULES);
    let mut found = Vec::new();
    chunks.for_each(|chunk| parser.push(chunk, &mut |one| found.push(one)));
    parser.finish(&mut |one| found.push(one));
    found
}

fn message(text: &str) -> Vec<ParserEvent> {
    let mut found = Vec::new();
    SignalParser::new(&RULES).parse_message(text, 1, &mut |one| found.push(one));
    found
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte is the chunk size.
    let Some((size, output)) = bytes.split_first() else {
        return;
    };
    let whole = parse(std::iter::once(output));
    assert_eq!(parse(output.chunks(usize::from(*size).max(1))), whole);
    let signals = whole.iter().filter_map(|one| match one {
        ParserEvent::Signal(signal) => Some(signal),
        ParserEvent::Diagnostic(_) => None,
    });
    for signal in signals {
        assert!(signal.line >= 1 && !signal.text.chars().any(char::is_control));
        assert_eq!(signal.text.trim(), signal.text);
    }

    let text = String::from_utf8_lossy(output);
    let left = message(&without_signals(&text, &RULES));
    assert!(
        !left.iter().any(|one| matches!(one, ParserEvent::Signal(_))),
        "{left:?}"
    );
    assert_eq!(message(&neutralize_signals(&text, &RULES)), []);
});
