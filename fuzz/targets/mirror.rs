//! Parsers of `memory.json` and `.agentium.yaml`: no panic, and a parsed mirror survives a round trip.
#![no_main]

use heirloom_formats::agentium;
use heirloom_formats::mirror;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(parsed) = mirror::parse(bytes) {
        let written = mirror::to_json(&parsed.file);
        let again = mirror::parse(&written).expect("what was written is a mirror");
        assert_eq!(mirror::to_json(&again.file), written);
    }
    // Only absence of panics is checked.
    drop(agentium::parse(&String::from_utf8_lossy(bytes)));
});
