//! Query parser: every text parses deterministically, and the remaining words contain no filters.
#![no_main]

use heirloom_model::Timestamp;
use heirloom_model::similarity::ComparableText;
use heirloom_search::recall::{ParsedQuery, error_signature};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let question = String::from_utf8_lossy(bytes);
    let now = Timestamp::from_second(1_779_289_200).unwrap_or(Timestamp::UNIX_EPOCH);
    let parsed = ParsedQuery::parse(&question, now);
    for span in &parsed.dates {
        assert!(span.from < span.to);
    }
    if let (Some(after), Some(before)) = (parsed.filters.after, parsed.filters.before) {
        assert!(after < before || !parsed.notes.is_empty());
    }
    assert_eq!(parsed, ParsedQuery::parse(&question, now));
    let words = ParsedQuery::parse_as_text(&question, now);
    assert!(words.filters.is_empty());
    assert!(words.phrases.len() <= question.len());

    let signature = error_signature::signature(&question);
    assert_eq!(signature.trim(), signature);
    let comparable = ComparableText::from_text(&question);
    assert!(comparable.is_empty() || comparable.is_near_duplicate(&comparable));
});
