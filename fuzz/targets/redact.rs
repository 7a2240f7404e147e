//! Redaction: whatever the text, no panic, nothing is found in what it left, and nothing else is changed.
#![no_main]

use heirloom_engine::redact::Redactor;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut from = 0;
    let mut rebuilt = String::new();
    for one in REDACTOR.find(&text) {
        assert!(from <= one.start && one.start < one.end, "out of order");
        rebuilt.push_str(&text[from..one.start]);
        rebuilt.push_str(&format!("[redacted:{}]", one.kind));
        from = one.end;
    }
    rebuilt.push_str(&text[from..]);
    let clean = REDACTOR.redact(&text);
    assert_eq!(clean, rebuilt);
    assert_eq!(REDACTOR.is_clean(&text), from == 0);
    assert!(REDACTOR.is_clean(&clean), "{text:?} left {clean:?}");
});
