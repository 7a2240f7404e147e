//! Lines of exports and standard input: accepted lines survive a round trip.
#![no_main]

use heirloom::fuzz_entry_points::{parse_stdin_line, round_trip_line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(written) = round_trip_line(line) {
            // A round trip of the result returns the same line.
            assert_eq!(round_trip_line(written.as_bytes()), Ok(written));
        }
        if let Ok(text) = parse_stdin_line(&String::from_utf8_lossy(line)) {
            assert!(!text.trim().is_empty());
        }
    }
});
