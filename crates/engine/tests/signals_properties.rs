//! What holds for every output: no panic, no dependence on chunks, nothing left behind.

use heirloom_engine::signals::{SignalParser, SignalRules, defuse, without_signals};
use heirloom_model::signal::Found;
use proptest::prelude::*;

fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Found> {
    let mut parser = SignalParser::new(&SignalRules::default());
    let mut found = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut |one| found.push(one));
    }
    parser.finish(&mut |one| found.push(one));
    found
}

fn message(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut parser = SignalParser::new(&SignalRules::default());
    parser.message(text, 1, &mut |one| found.push(one));
    found
}

/// Output made of the pieces that matter to the parser, so that they often meet.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "HEIRLOOM_MEMORY:", "AGENTIUM_STATUS:", "HEIRLOOM", "_MEMORY: ", " KEY_FACT", " DECISION a -- b",
            "\n", "\r\n", "\r", "\n> ", "\n- ", "\n1. ", "\n\n", "```", "````", "~~~", "```sh\n", "```text\n",
            "**", "_", "`", "> ", ">", "\t", "    ", " x ", "COMPLETE", "\u{1b}[31m", "\u{1b}]0;", "\u{7}",
            "\u{1b}", "\0", "\u{feff}", "é", ":",
            "\nHEIRLOOM_MEMORY: KEY_FACT x\n", "\n> HEIRLOOM_MEMORY: KEY_FACT y\n",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn chunks_do_not_matter(bytes in output(), size in 1_usize..40) {
        prop_assert_eq!(parse(bytes.chunks(size)), parse([bytes.as_slice()]));
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 1_usize..40) {
        prop_assert_eq!(parse(bytes.chunks(size)), parse([bytes.as_slice()]));
    }

    #[test]
    fn no_signal_is_left(bytes in output()) {
        let text = String::from_utf8_lossy(&bytes);
        let rules = SignalRules::default();
        let rest = without_signals(&text, &rules);
        let left = message(&rest);
        prop_assert!(!left.iter().any(|one| matches!(one, Found::Signal(_))), "{:?}: {:?}", rest, left);
        let has_signals = message(&text).iter().any(|one| matches!(one, Found::Signal(_)));
        prop_assert_eq!(rest == text, !has_signals);
    }

    #[test]
    fn defused_text_says_nothing(bytes in output(), marks in "[->*_` 1.)]{0,8}") {
        let text = String::from_utf8_lossy(&bytes).replace(['\n', '\r'], " ");
        let safe = defuse(&text, &SignalRules::default());
        prop_assert_eq!(message(&format!("{marks}{safe}")), vec![]);
        for (start, _) in safe.match_indices("HEIRLOOM_MEMORY") {
            prop_assert_eq!(message(&safe[start..]), vec![]);
        }
    }

    #[test]
    fn a_signal_keeps_the_rules_of_its_type(bytes in output()) {
        for one in parse([bytes.as_slice()]) {
            if let Found::Signal(signal) = one {
                prop_assert!(!signal.text.chars().any(char::is_control));
                prop_assert_eq!(signal.text.trim(), &signal.text);
                prop_assert!(signal.line >= 1);
            }
        }
    }
}
