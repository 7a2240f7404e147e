//! Wrappers at the beginning of texts: tags of agent programs and code fences. A stored text begins with its words.

use heirloom_model::record_meaning::is_exit_status;

/// Tags that agent programs put around tool output, prompts and reminders.
const TAGS: [&str; 16] = [
    "untrusted_context",
    "tool_use_error",
    "tool_output",
    "tool_result",
    "system-reminder",
    "hook_context",
    "error",
    "stdout",
    "stderr",
    "output",
    "result",
    "local-command-stdout",
    "local-command-stderr",
    "bash-stdout",
    "bash-stderr",
    "user_query",
];
/// Tags whose content is not part of the text either.
const DROPPED: [&str; 2] = ["system-reminder", "hook_context"];
/// Labels before the output of a tool.
const LABELS: [&str; 4] = ["Output:", "Stdout:", "Stderr:", "Error: (none)"];
/// Wrappers within each other that are removed.
const LEVELS_MAX: usize = 8;

/// Returns a text without the wrappers at its beginning, and without the ends that belong to them.
pub(crate) fn without_wrapping(text: &str) -> &str {
    let mut rest = text.trim();
    for _ in 0..LEVELS_MAX {
        let Some(inner) = unwrap_tag(rest)
            .or_else(|| unwrap_fence(rest))
            .or_else(|| unwrap_label(rest))
            .or_else(|| after_exit_status(rest))
        else {
            break;
        };
        rest = inner.trim();
    }
    rest
}

fn unwrap_tag(text: &str) -> Option<&str> {
    let after = text.strip_prefix('<')?;
    let name_end = after.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?;
    let name = after.get(..name_end)?;
    if !TAGS.contains(&name) {
        return None;
    }
    let inner = after.get(name_end..)?;
    let inner = inner.get(inner.find('>')? + 1..)?;
    let closing = format!("</{name}>");
    let Some(end) = inner.find(&closing) else {
        return Some(inner);
    };
    let (content, after) = (inner.get(..end)?, inner.get(end + closing.len()..)?);
    // What follows is only reached if the tag has nothing of the text.
    let is_dropped = DROPPED.contains(&name) || content.trim().is_empty();
    Some(if is_dropped { after } else { content })
}

fn unwrap_fence(text: &str) -> Option<&str> {
    let mark = text
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(mark).len();
    if length < 3 {
        return None;
    }
    let (language, inner) = text.split_once('\n').unwrap_or((text, ""));
    // Text on the line of the fence is a language, or inline code.
    if language.trim_start_matches(mark).contains(mark) {
        return None;
    }
    let closing = language.get(..length)?;
    let is_end = |line: &str| line.trim_end() == closing;
    let mut at = 0;
    for line in inner.split_inclusive('\n') {
        if is_end(line) {
            let (content, after) = (inner.get(..at)?, inner.get(at + line.len()..)?);
            return Some(if content.trim().is_empty() {
                after
            } else {
                content
            });
        }
        at += line.len();
    }
    Some(inner)
}

fn unwrap_label(text: &str) -> Option<&str> {
    LABELS.iter().find_map(|label| text.strip_prefix(label))
}

/// Returns the text after a first line that is only an exit status.
fn after_exit_status(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    is_exit_status(first).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_at_the_beginning_are_removed() {
        for (text, plain) in [
            ("no rule", "no rule"),
            (
                "<tool_use_error>String not found</tool_use_error>",
                "String not found",
            ),
            (
                "<untrusted_context>\nOutput: no rule\n</untrusted_context>",
                "no rule",
            ),
            ("```\nerror: x\n```\nmore", "error: x"),
            ("```text\nerror: x", "error: x"),
            ("~~~\nerror: x\n~~~", "error: x"),
            ("```\n```\nerror: x", "error: x"),
            ("```inline``` code", "```inline``` code"),
            (
                "<system-reminder>be nice</system-reminder>\nmend the build",
                "mend the build",
            ),
            ("<error code=\"1\">boom</error>", "boom"),
            ("<stdout></stdout><stderr>boom</stderr>", "boom"),
            ("<stdout>cut", "cut"),
            ("<T> is not a type", "<T> is not a type"),
            ("<div> is not closed", "<div> is not closed"),
            ("Output: x", "x"),
            ("Exit code 2\n```\nboom\n```", "boom"),
            ("Exit code 2", "Exit code 2"),
            ("", ""),
            ("```", ""),
        ] {
            assert_eq!(without_wrapping(text), plain, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn unwrapped_text_is_part_of_the_text(text in "(<stdout>|</stdout>|```|~~~|Output:|\n|<|\\PC){0,30}") {
            proptest::prop_assert!(text.contains(without_wrapping(&text)));
        }
    }
}
