//! Generality of a rule: whether a sentence of a conversation still tells something outside of it.

/// Words that make a request a rule: it holds every time.
const LASTING: [&str; 12] = [
    "always",
    "never",
    "whenever",
    "every time",
    "each time",
    "next time",
    "from now on",
    "going forward",
    "in future",
    "in the future",
    "by default",
    "no longer",
];

/// First words of a request for one piece of work.
const REQUESTS: [&str; 40] = [
    "add",
    "adjust",
    "also",
    "change",
    "check",
    "clean",
    "close",
    "commit",
    "confirm",
    "continue",
    "create",
    "delete",
    "fix",
    "go",
    "implement",
    "improve",
    "investigate",
    "lets",
    "let's",
    "look",
    "make",
    "merge",
    "move",
    "open",
    "please",
    "push",
    "remove",
    "rename",
    "replace",
    "revert",
    "review",
    "simplify",
    "spawn",
    "start",
    "try",
    "undo",
    "update",
    "verify",
    "wait",
    "write",
];

/// First words of a sentence about the thoughts or acts of the person, or that refers to the one before it.
const REMARKS: [&str; 22] = [
    "i", "i'm", "im", "i've", "i'd", "that", "thats", "that's", "this", "these", "those", "it",
    "its", "it's", "they", "he", "she", "you", "why", "what", "how", "ok",
];

/// Words after "this" with which a sentence is about the project.
const PROJECT: [&str; 6] = [
    "project",
    "repo",
    "repository",
    "codebase",
    "package",
    "machine",
];

/// Verbs after "I" with which a person states a preference.
const PREFERENCES: [&str; 6] = ["prefer", "want", "always", "never", "don't", "expect"];

/// Words that forbid or require something of all work.
const DUTIES: [&str; 7] = ["don't", "dont", "do not", "not", "must", "only", "no"];

/// Returns true for a rule whose words say that it holds for all work, such as "Never push to main". Of more rules than a
/// start has space for, these are first: "Docker is running on your host" is newer and about one day.
pub(super) fn is_lasting_rule(rule: &str) -> bool {
    let spaced = format!(" {} ", words_of(&normal_words(rule)).join(" "));
    has_any(&spaced, &LASTING) || has_any(&spaced, &DUTIES)
}

/// Returns true for a rule that a reader understands without its conversation: no item of a list, no request for one
/// piece of work such as "Push it up", no remark such as "I thought we removed it", and nothing about one issue.
pub(super) fn is_general_rule(rule: &str) -> bool {
    let plain = normal_words(rule);
    let words = words_of(&plain);
    let (Some(first), second) = (words.first(), words.get(1).copied().unwrap_or_default()) else {
        return false;
    };
    let is_item = first.chars().all(|c| c.is_ascii_digit());
    let names_issue = plain
        .split('#')
        .skip(1)
        .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if is_item || names_issue || plain.ends_with('?') {
        return false;
    }
    let spaced = format!(" {} ", words.join(" "));
    let is_lasting = has_any(&spaced, &LASTING);
    match *first {
        "i" => PREFERENCES.contains(&second),
        "this" => PROJECT.contains(&second),
        "you" => is_lasting,
        first if REMARKS.contains(&first) => false,
        first => is_lasting || !REQUESTS.contains(&first),
    }
}

/// Returns a rule in lower case, without the marks before its first word.
fn normal_words(rule: &str) -> String {
    let lower = rule.trim().to_lowercase().replace('’', "'");
    lower
        .trim_start_matches(['-', '*', '"', '\'', ' '])
        .to_owned()
}

fn words_of(plain: &str) -> Vec<&str> {
    plain
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect()
}

fn has_any(spaced: &str, phrases: &[&str]) -> bool {
    phrases
        .iter()
        .any(|phrase| spaced.contains(&format!(" {phrase} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_general_rule_without_its_conversation() {
        for (rule, is_general) in [
            ("Always run the linter before a commit.", true),
            ("Do not start helpers without a task.", true),
            ("We use migrations in staging too.", true),
            ("Add a test whenever a bug is mended.", true),
            ("This project uses tabs.", true),
            ("You should never push to main.", true),
            ("Start the server with the script going forward.", true),
            ("I prefer small commits.", true),
            ("Tests immer mit Postgres ausführen.", true),
            ("测试必须使用 Postgres。", true),
            ("Push it up and open the pull request.", false),
            ("Add the helper `open_all()` with a flag.", false),
            ("1. Simplify the check: always allow.", false),
            ("I thought we removed the old file.", false),
            ("I suspect that every folder is read.", false),
            ("That means all logs belong beside it.", false),
            ("Update the index for any new page.", false),
            ("Add the helper: for each pointer, derive the key.", false),
            ("You did not push the branch.", false),
            ("Keep issue #1204 up to date with all decisions.", false),
            ("Should every test run twice?", false),
            ("", false),
        ] {
            assert_eq!(is_general_rule(rule), is_general, "{rule}");
        }
    }
}
