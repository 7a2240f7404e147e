//! Patterns of tool and model names.

/// Returns true if a pattern matches a name: `*` matches any run of characters, `?` one.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, eaten)) = star else {
                    return false;
                };
                star = Some((at, eaten + 1));
                p = at + 1;
                n = eaten + 1;
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_pattern_supports_wildcards() {
        for (pattern, name, is) in [
            ("db_*", "db_query", true),
            ("db_*", "adb_query", false),
            ("*", "", true),
            ("*shot", "desktop_screenshot", true),
            ("?at", "cat", true),
            ("cat", "cats", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("", "", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), is, "{pattern} {name}");
        }
    }
}
