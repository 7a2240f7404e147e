//! Config files and flags: whatever they say, a value that was taken fits its key, and no project says what runs.
#![no_main]

use heirloom::readers::{Setting, edited, settings};
use libfuzzer_sys::fuzz_target;

/// `None` if a text or flag is refused.
fn lay(user: &str, project: &str, flags: &[String]) -> Option<Vec<Setting>> {
    settings(user, project, flags).ok()
}

fuzz_target!(|bytes: &[u8]| {
    // Flags are lines behind the project's file, which stands behind the user's.
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, '\u{c}');
    let (user, project) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let flags: Vec<String> = parts.flat_map(str::lines).map(str::to_owned).collect();

    if let Some(laid) = lay(user, project, &flags) {
        for one in &laid {
            assert!(one.fits, "{one:?}");
            assert!(!(one.trusted_only && one.layer == "project"), "{one:?}");
        }
        assert_eq!(lay(user, project, &flags), Some(laid));
    }
    // A file in which a number is set says what it said before, and that number.
    if let Ok(written) = edited(user, "memory", "max_entries", 7) {
        let (before, after) = (lay(user, "", &[]), lay(&written, "", &[]));
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
            assert!(lay(user, "", &[]).is_none(), "{written:?}");
        }
    }
});
