//! Redaction: no panic, redacted text contains no secrets, and all other text is unchanged.
#![no_main]

use heirloom_redact::Redactor;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut from = 0;
    for one in REDACTOR.find(&text) {
        assert!(from <= one.start && one.start < one.end, "out of order");
        from = one.end;
    }
    assert_eq!(REDACTOR.is_clean(&text), from == 0);
    let clean = REDACTOR.redact(&text);
    // The text between redaction marks occurs in the original, in the same order.
    let mut rest = &*text;
    for (n, part) in clean.split("[redacted:").enumerate() {
        let part = part
            .split_once(']')
            .filter(|_| n > 0)
            .map_or(part, |(_, after)| after);
        let at = rest.find(part);
        assert!(at.is_some(), "{part:?} of {clean:?} is not in {text:?}");
        rest = &rest[at.unwrap_or(0) + part.len()..];
    }
    assert!(REDACTOR.is_clean(&clean), "{text:?} left {clean:?}");
});
