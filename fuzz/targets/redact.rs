//! Redaction: whatever the text, no panic, nothing is found in what it left, and nothing else is changed.
#![no_main]

use heirloom_engine::redact::Redactor;
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
    // What stands between the marks was there before, in this order.
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
