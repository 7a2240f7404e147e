//! Machine paths in a text: home folders of people, and temporary files.

/// Folders that contain the home folders of people.
const HOMES: [&str; 4] = ["/home/", "/Users/", ":\\Users\\", ":/Users/"];

/// Names of accounts that are the same on many machines, in containers and as examples.
const ACCOUNTS_ANYWHERE: [&str; 14] = [
    "node", "app", "appuser", "runner", "vscode", "circleci", "jovyan", "git", "user", "username",
    "you", "me", "shared", "public",
];

/// Beginnings of the paths of temporary files.
const TEMPORARY: [&str; 4] = [
    "/tmp/",
    "/var/folders/",
    "/private/tmp/",
    "\\AppData\\Local\\Temp\\",
];

/// Returns true if a text names home folders of people, and none of them is the one of this machine.
pub(super) fn names_other_home(text: &str, home: &str) -> bool {
    let own = accounts(home);
    let named = accounts(text);
    let is_own = |name: &&str| own.contains(name);
    // A home folder elsewhere has no account in its path.
    let has_own_path = own.is_empty() && text.contains(home.trim_end_matches(['/', '\\']));
    !named.is_empty() && !named.iter().any(is_own) && !has_own_path
}

/// Returns true if a text names a temporary file.
pub(super) fn names_temporary_path(text: &str) -> bool {
    TEMPORARY.iter().any(|begin| {
        text.match_indices(begin)
            .any(|(at, _)| begins_path(text, at))
    })
}

/// Returns the accounts of the home folders in a text, without those of many machines.
fn accounts(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for begin in HOMES {
        for (at, _) in text.match_indices(begin) {
            let is_drive = begin.starts_with(':');
            let rest = text.get(at + begin.len()..).unwrap_or_default();
            let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')));
            let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let name = name.trim_end_matches('.');
            let is_anywhere = ACCOUNTS_ANYWHERE
                .iter()
                .any(|account| account.eq_ignore_ascii_case(name));
            if (is_drive || begins_path(text, at)) && !name.is_empty() && !is_anywhere {
                found.push(name);
            }
        }
    }
    found
}

/// Returns true if the path at this place is not the rest of a longer one, such as `src/home/index.ts`.
fn begins_path(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | ')' | '~')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_home_is_one_that_is_not_of_this_machine() {
        for (text, is_other) in [
            ("The SDK is in /home/ben/sdk.", true),
            ("The SDK is in `/Users/ben/sdk`.", true),
            (r"The SDK is in C:\Users\ben\sdk.", true),
            ("The SDK is in C:/Users/ben/sdk", true),
            ("The key is in /home/ben.", true),
            ("The SDK is in /home/ann/sdk.", false),
            ("Copy /home/ben/sdk to /home/ann/sdk.", false),
            ("The image runs as /home/node/app.", false),
            ("Set it to /home/<name>/sdk.", false),
            ("The page is src/home/ben/index.ts.", false),
            ("The route is https://a.test/Users/ben", false),
            ("The SDK is in ~/sdk.", false),
            ("The SDK is in /opt/sdk.", false),
        ] {
            assert_eq!(names_other_home(text, "/home/ann"), is_other, "{text}");
        }
        assert!(names_other_home("It is /home/ann/sdk", "/srv/ann"));
        assert!(!names_other_home("It is /srv/ann/sdk", "/srv/ann"));
        let windows = r"C:\Users\ann";
        assert!(!names_other_home(r"It is C:\Users\ann\sdk", windows));
        assert!(names_other_home("It is /home/ben/sdk", windows));
    }

    #[test]
    fn temporary_paths_are_found() {
        for (text, is_temporary) in [
            ("The log is /tmp/build.log.", true),
            ("It is in `/private/tmp/x`", true),
            (r"It is in C:\Users\a\AppData\Local\Temp\x", false),
            ("The folder src/tmp/a is generated.", false),
            ("Nothing is in /opt/a.", false),
        ] {
            assert_eq!(names_temporary_path(text), is_temporary, "{text}");
        }
    }
}
