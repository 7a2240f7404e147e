//! Properties of the signal parser for every output: no panic, independence of chunks, complete removal.

use heirloom_agents::signals::{SignalParser, SignalRules, neutralize_signals, without_signals};
use heirloom_model::signal::ParserEvent;
use proptest::prelude::*;

fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<ParserEvent> {
    let mut parser = SignalParser::new(&SignalRules::default());
    let mut found = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut |one| found.push(one));
    }
    parser.finish(&mut |one| found.push(one));
    found
}

fn message(text: &str) -> Vec<ParserEvent> {
    let mut found = Vec::new();
    let mut parser = SignalParser::new(&SignalRules::default());
    parser.parse_message(text, 1, &mut |one| found.push(one));
    found
}

/// Output of relevant fragments, so that they often meet.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "HEIRLOOM_MEMORY:", "AGENTIUM_STATUS:", "HEIRLOOM", "_MEMORY: ", " KEY_FACT", " DECISION a -- b",
            "\n", "\r\n", "\r", "\n> ", "\n- ", "\n1. ", "\n\n", "```", "````", "~~~", "```sh\n", "```text\n",
            "**", "_", "`", "> ", ">", "\t", "    ", " x ", "COMPLETE", "\u{1b}[31m", "\u{1b}]0;", "\u{7}",
            "\u{1b}", "\0", "\u{feff}", "é", ":", "<heirloom-memory", "</heirloom-memory>",
            "&lt;heirloom-memory", "&lt;/heirloom-memory&gt;", "\u{1b}P",
            "\nHEIRLOOM_MEMORY: KEY_FACT x\n", "\n> HEIRLOOM_MEMORY: KEY_FACT y\n",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn result_is_independent_of_chunks(bytes in output(), size in 1_usize..40) {
        prop_assert_eq!(parse(bytes.chunks(size)), parse([bytes.as_slice()]));
    }

    #[test]
    fn parser_accepts_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 1_usize..40) {
        prop_assert_eq!(parse(bytes.chunks(size)), parse([bytes.as_slice()]));
    }

    #[test]
    fn without_signals_leaves_no_signal(bytes in output()) {
        let text = String::from_utf8_lossy(&bytes);
        let rules = SignalRules::default();
        let rest = without_signals(&text, &rules);
        let left = message(&rest);
        prop_assert!(!left.iter().any(|one| matches!(one, ParserEvent::Signal(_))), "{:?}: {:?}", rest, left);
        let has_signals = message(&text).iter().any(|one| matches!(one, ParserEvent::Signal(_)));
        prop_assert_eq!(rest == text, !has_signals);
    }

    #[test]
    fn neutralize_signals_any_output_has_no_signal(bytes in output()) {
        let safe = neutralize_signals(&String::from_utf8_lossy(&bytes), &SignalRules::default());
        prop_assert_eq!(message(&safe), vec![], "{:?}", safe);
    }

    #[test]
    fn neutralize_signals_any_text_has_no_signal(bytes in output(), marks in "[->*_` 1.)]{0,8}") {
        let text = String::from_utf8_lossy(&bytes).replace(['\n', '\r'], " ");
        let safe = neutralize_signals(&text, &SignalRules::default());
        prop_assert_eq!(message(&format!("{marks}{safe}")), vec![]);
        for (start, _) in safe.match_indices("HEIRLOOM_MEMORY") {
            prop_assert_eq!(message(&safe[start..]), vec![]);
        }
    }

    #[test]
    fn parser_signals_satisfy_rules_of_type(bytes in output()) {
        for one in parse([bytes.as_slice()]) {
            if let ParserEvent::Signal(signal) = one {
                prop_assert!(!signal.text.chars().any(char::is_control));
                prop_assert_eq!(signal.text.trim(), &signal.text);
                prop_assert!(signal.line >= 1);
            }
        }
    }
}
