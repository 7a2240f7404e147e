//! Comparison of the tokenizer with the reference results that `models/golden.py` recorded.

use heirloom_search::index::word_pieces::pieces;
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn pieces_match_reference() {
    let lines = include_str!("fixtures/pieces.jsonl");
    assert!(lines.lines().count() > 300);
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        let found: Vec<u64> = pieces(text, usize::MAX)
            .into_iter()
            .map(Into::into)
            .collect();
        let expected: Vec<u64> = case["pieces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_u64().unwrap())
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn limited_pieces_are_a_prefix_of_all(text: String, most in 0_usize..40) {
        let all = pieces(&text, usize::MAX);
        let some = pieces(&text, most);
        prop_assert_eq!(&some[..], &all[..most.min(all.len())]);
    }

    /// Words are split independently of their neighbours.
    #[test]
    fn words_are_split_independently(a in "[a-zA-Zé.]{0,30}", b in "\\PC{0,30}") {
        let both = pieces(&format!("{a} {b}"), usize::MAX);
        prop_assert_eq!(both, [pieces(&a, usize::MAX), pieces(&b, usize::MAX)].concat());
    }
}
