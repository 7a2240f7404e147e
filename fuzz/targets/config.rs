//! Config files and flags: accepted values are valid for their key, and project config cannot set trusted-only keys.
#![no_main]

use heirloom::fuzz_entry_points::{Setting, set_number, settings};
use libfuzzer_sys::fuzz_target;

/// Merges the config layers; `None` if a file or flag is refused.
fn merge_layers(user: &str, project: &str, flags: &[String]) -> Option<Vec<Setting>> {
    settings(user, project, flags).ok()
}

fuzz_target!(|bytes: &[u8]| {
    // The input is the user's file, the project's file, and one flag per line.
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, '\u{c}');
    let (user, project) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let flags: Vec<String> = parts.flat_map(str::lines).map(str::to_owned).collect();

    if let Some(merged) = merge_layers(user, project, &flags) {
        for one in &merged {
            assert!(one.is_valid, "{one:?}");
            assert!(!(one.trusted_only && one.layer == "project"), "{one:?}");
        }
        assert_eq!(merge_layers(user, project, &flags), Some(merged));
    }
    // Setting a number changes only that key.
    if let Ok(written) = set_number(user, "memory", "max_entries", 7) {
        let (before, after) = (merge_layers(user, "", &[]), merge_layers(&written, "", &[]));
        if let (Some(before), Some(after)) = (before, after) {
            for (was, is) in before.iter().zip(&after) {
                match is.key {
                    "memory.max_entries" => {
                        assert_eq!((is.value.as_str(), is.layer), ("7", "user"))
                    }
                    _ => assert_eq!(was, is),
                }
            }
        } else {
            assert!(merge_layers(user, "", &[]).is_none(), "{written:?}");
        }
    }
});
