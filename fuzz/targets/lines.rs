//! Lines of an export and of standard input: records, sessions and messages, and what is none.
#![no_main]

use heirloom::readers::{line_again, line_of_stdin};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(written) = line_again(line) {
            // What was understood once is understood again, and is the same.
            assert_eq!(line_again(written.as_bytes()), Ok(written));
        }
        if let Ok(text) = line_of_stdin(&String::from_utf8_lossy(line)) {
            assert!(!text.trim().is_empty());
        }
    }
});
