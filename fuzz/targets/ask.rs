//! A question's text: any gives a value, and what is left as words holds no filter any more.
#![no_main]

use heirloom_engine::recall::{Asked, trace};
use heirloom_model::Timestamp;
use heirloom_model::likeness::Likeness;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let question = String::from_utf8_lossy(bytes);
    let now = Timestamp::from_second(1_779_289_200).unwrap_or(Timestamp::UNIX_EPOCH);
    let asked = Asked::of(&question, now);
    for span in &asked.dates {
        assert!(span.from < span.to);
    }
    if let (Some(after), Some(before)) = (asked.filters.after, asked.filters.before) {
        assert!(after < before || !asked.notes.is_empty());
    }
    assert_eq!(asked, Asked::of(&question, now));
    let words = Asked::words(&question, now);
    assert!(words.filters.is_empty() && words.errors.is_empty());
    assert!(words.phrases.len() <= question.len());

    let signature = trace::signature(&question);
    assert_eq!(signature.trim(), signature);
    let said = Likeness::of(&question);
    assert!(said.words().is_empty() || said.is_near_duplicate(&said));
});
