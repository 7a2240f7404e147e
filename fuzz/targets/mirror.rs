//! What a `memory.json` or an `.agentium.yaml` says: never a panic, and what was read is read again.
#![no_main]

use heirloom_engine::{agentium, mirror};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(parsed) = mirror::parse(bytes) {
        let written = mirror::to_json(&parsed.file);
        let again = mirror::parse(&written).expect("what was written is a mirror");
        assert_eq!(mirror::to_json(&again.file), written);
    }
    // The outcome does not matter: it must come back.
    drop(agentium::parse(&String::from_utf8_lossy(bytes)));
});
