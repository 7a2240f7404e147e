//! Marks of host programs and of chat templates: elements, special tokens and words in square brackets.

use super::look_alikes::{
    comparable, is_closer, is_closing_bracket, is_hyphen, is_line, is_name_char, is_opener,
    is_opening_bracket, is_slash,
};
use super::{Edit, REPLACEMENT};
use std::sync::LazyLock;

/// Beginning of the names of our own envelopes.
const OWN_PREFIX: &str = "heirloom";
/// Namespace of the names of one host.
const NAMESPACE: &str = "antml";

/// Elements that hosts and templates use, whose names are too long for ordinary markup.
const LONG_NAMES: [&str; 73] = [
    "additional_data",
    "additional_metadata",
    "agent-message",
    "attached_files",
    "available_tools",
    "bash-input",
    "bash-notification",
    "bash-stderr",
    "bash-stdout",
    "begin_of_text",
    "collaboration_mode",
    "command-args",
    "command-contents",
    "command-message",
    "command-name",
    "current_datetime",
    "developer_message",
    "end_header_id",
    "end_of_text",
    "end_of_turn",
    "environment_context",
    "environment_details",
    "ephemeral_message",
    "eot_id",
    "function_call",
    "function_calls",
    "function_response",
    "function_result",
    "function_results",
    "git_status",
    "hook_context",
    "hook_prompt",
    "ide_diagnostics",
    "ide_opened_file",
    "ide_selection",
    "im_end",
    "im_start",
    "image_files",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "manually_attached_skills",
    "new-diagnostics",
    "open_and_recently_viewed_files",
    "post-tool-use-hook",
    "project_layout",
    "scratchpad",
    "session-start-hook",
    "session_context",
    "start_header_id",
    "start_of_turn",
    "state_snapshot",
    "subagent_notification",
    "system_instruction",
    "system_instructions",
    "system_message",
    "system_notification",
    "system_prompt",
    "system-reminder",
    "task-notification",
    "teammate-message",
    "tool_call",
    "tool_calls",
    "tool_output",
    "tool_response",
    "tool_result",
    "tool_results",
    "tool_use",
    "turn_aborted",
    "user_action",
    "user_info",
    "user_instructions",
    "user-memory-input",
];
/// As [`LONG_NAMES`], of a person's words and of commands.
const PERSON_NAMES: [&str; 8] = [
    "user_message",
    "user-prompt-submit-hook",
    "user_query",
    "user_request",
    "user_shell_command",
    "human_message",
    "assistant_message",
    "channel-message",
];
/// Elements whose names are ordinary words: they count only as complete tags.
const SHORT_NAMES: [&str; 30] = [
    "assistant",
    "attachment",
    "attachments",
    "bos",
    "channel",
    "developer",
    "eos",
    "function",
    "human",
    "instruction",
    "instructions",
    "invoke",
    "model",
    "pad",
    "parameter",
    "prompt",
    "reminder",
    "rules",
    "s",
    "skill",
    "sys",
    "system",
    "think",
    "thinking",
    "timestamp",
    "tool",
    "tools",
    "unk",
    "user",
    "eot",
];
/// Words in square brackets.
const BRACKETED: [&str; 9] = [
    "INST",
    "SYS",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "TOOL_CONTENT",
    "THINK",
    "CALL_ID",
];
/// Beginnings of notes in square brackets.
const BRACKETED_STARTS: [&str; 4] = [
    "TASK ANCHOR",
    "CONVERSATION SUMMARY",
    "SYSTEM NOTIFICATION",
    "Request interrupted",
];
/// Other forms of `<`, after any number of `amp;` for the first ones.
const ESCAPED_OPENERS: [&str; 9] = [
    "&lt;", "&lt", "&#60;", "&#060;", "&#x3c;", "&#x03c;", "\\u003c", "\\x3c", "%3c",
];
/// Other forms of `/`.
const ESCAPED_SLASHES: [&str; 6] = ["&sol;", "&#47;", "&#x2f;", "\\u002f", "\\x2f", "%2f"];
/// Other forms of `>`.
const ESCAPED_CLOSERS: [&str; 7] = ["&gt;", "&gt", "&#62;", "&#x3e;", "\\u003e", "\\x3e", "%3e"];
/// Greatest number of characters of a name, of the blanks before it, and of what precedes the end of a special token.
const NAME_CHARS_MAX: usize = 64;
const BLANKS_MAX: usize = 16;
const TOKEN_CHARS_MAX: usize = 64;
/// Greatest number of repetitions of `amp;`.
const AMPERSANDS_MAX: usize = 8;

/// Names in the form in which they are compared.
struct Names {
    long: Vec<String>,
    short: Vec<String>,
    bracketed: Vec<String>,
    bracketed_starts: Vec<String>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let all = |names: &[&str]| names.iter().map(|name| comparable(name)).collect();
    let long: Vec<&str> = LONG_NAMES.iter().chain(&PERSON_NAMES).copied().collect();
    Names {
        long: all(&long),
        short: all(&SHORT_NAMES),
        bracketed: all(&BRACKETED),
        bracketed_starts: all(&BRACKETED_STARTS),
    }
});

/// Returns the replacements of all marks, in order. Comments with an end stay with `keeps_comments`.
pub(super) fn find_marks(text: &str, keeps_comments: bool) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut before = None;
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let length = match c {
            c if c.is_ascii_alphanumeric() || c == ' ' => None,
            '&' | '\\' | '%' => escaped_length(rest, &ESCAPED_OPENERS),
            c if is_opener(c) => Some(c.len_utf8()),
            c if is_opening_bracket(c) => {
                let after = rest.get(c.len_utf8()..).unwrap_or_default();
                if is_bracketed(after) {
                    edits.push(Edit {
                        at,
                        length: c.len_utf8(),
                        with: REPLACEMENT,
                    });
                }
                None
            }
            _ => None,
        };
        let after = length.and_then(|length| rest.get(length..));
        if let Some((length, after)) = length.zip(after)
            && c != REPLACEMENT
            && (begins_comment(after, keeps_comments) || is_mark(after, before))
        {
            edits.push(Edit {
                at,
                length,
                with: REPLACEMENT,
            });
        }
        before = Some(c);
    }
    edits
}

/// Returns the length of the first form with which a text begins.
fn escaped_length(text: &str, forms: &[&str]) -> Option<usize> {
    let begins = |text: &str, form: &str| {
        let head = text.as_bytes().get(..form.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(form.as_bytes()))
    };
    let mut rest = text.strip_prefix('&').unwrap_or_default();
    let mut skipped = 0;
    for _ in 0..AMPERSANDS_MAX {
        let Some(after) = rest.strip_prefix("amp;") else {
            break;
        };
        rest = after;
        skipped += "amp;".len();
    }
    forms.iter().find_map(|form| match form.strip_prefix('&') {
        Some(entity) if text.starts_with('&') => {
            begins(rest, entity).then_some(skipped + form.len())
        }
        Some(_) => None,
        None => begins(text, form).then_some(form.len()),
    })
}

/// Returns true if the text after an angle bracket begins a comment or a section of characters.
fn begins_comment(after: &str, is_kept_with_end: bool) -> bool {
    let end = match after {
        after if after.starts_with("!--") => "-->",
        after if after.starts_with("![CDATA[") => "]]>",
        _ => return false,
    };
    !(is_kept_with_end && after.contains(end))
}

/// Returns true if the text after an angle bracket makes a mark of both. `before` is the character before the bracket.
fn is_mark(after: &str, before: Option<char>) -> bool {
    if let Some(token) = after.strip_prefix(is_line) {
        return is_special_token(token);
    }
    let (rest, has_slash, has_blank) = skip_to_name(after);
    let name = read_name(rest);
    if name.comparable.is_empty() {
        return false;
    }
    let comparable_name = match name.comparable.strip_prefix(NAMESPACE) {
        Some(rest) if !rest.is_empty() => rest,
        _ => name.comparable.as_str(),
    };
    if comparable_name.starts_with(own_prefix()) {
        return true;
    }
    let names = &*NAMES;
    let is = |list: &[String]| list.iter().any(|known| known == comparable_name);
    let is_complete = ends_tag(name.rest);
    if is(&names.long) {
        // `i < tool_results` is a comparison.
        let is_tag = name.rest.is_empty() || name.rest.starts_with(char::is_whitespace);
        return is_complete || (is_tag && (has_slash || !has_blank));
    }
    // `Vec<User>` is a type.
    let is_type = before.is_some_and(|c| c.is_alphanumeric() || c == ':' || c == '_')
        && !has_slash
        && rest.starts_with(char::is_uppercase)
        && !rest.starts_with("SYS");
    is(&names.short) && is_complete && !is_type && (has_slash || !has_blank)
}

fn own_prefix() -> &'static str {
    static PREFIX: LazyLock<String> = LazyLock::new(|| comparable(OWN_PREFIX));
    PREFIX.as_str()
}

/// Skips blanks, slashes and further brackets before a name. Returns true for a slash, and for a blank.
fn skip_to_name(text: &str) -> (&str, bool, bool) {
    let (mut rest, mut has_slash, mut has_blank) = (text, false, false);
    for _ in 0..BLANKS_MAX {
        if let Some(length) = escaped_length(rest, &ESCAPED_SLASHES) {
            has_slash = true;
            rest = rest.get(length..).unwrap_or_default();
            continue;
        }
        if let Some(length) = escaped_length(rest, &ESCAPED_OPENERS) {
            rest = rest.get(length..).unwrap_or_default();
            continue;
        }
        let Some(c) = rest.chars().next() else {
            break;
        };
        match c {
            c if is_slash(c) => has_slash = true,
            c if c.is_whitespace() => has_blank = true,
            c if is_opener(c) => {}
            _ => break,
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    (rest, has_slash, has_blank)
}

/// A name, and the text after it.
struct TagName<'t> {
    comparable: String,
    rest: &'t str,
}

/// Reads a name. Blanks next to a hyphen belong to it.
fn read_name(text: &str) -> TagName<'_> {
    let mut end = 0;
    let mut after_hyphen = false;
    for (at, c) in text.char_indices().take(NAME_CHARS_MAX) {
        let rest = text.get(at..).unwrap_or_default();
        let is_part = match c {
            c if is_name_char(c) => true,
            c if is_hyphen(c) || c == ':' => true,
            c if c.is_whitespace() => after_hyphen || rest.trim_start().starts_with(is_hyphen),
            _ => false,
        };
        if !is_part {
            break;
        }
        if !c.is_whitespace() {
            after_hyphen = is_hyphen(c);
        }
        end = at + c.len_utf8();
    }
    let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    TagName {
        comparable: comparable(name),
        rest,
    }
}

/// Returns true if the text after a name ends a tag, or begins an attribute.
fn ends_tag(rest: &str) -> bool {
    let is_end = |text: &str| {
        text.starts_with(is_closer) || escaped_length(text, &ESCAPED_CLOSERS).is_some()
    };
    if is_end(rest) || rest.starts_with('=') {
        return true;
    }
    let inner = rest.trim_start();
    if is_end(inner.trim_start_matches(is_slash)) {
        return true;
    }
    let is_attribute_char = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    let value = inner.trim_start_matches(is_attribute_char);
    let has_name = value.len() < inner.len() && inner.len() < rest.len();
    has_name && value.trim_start().starts_with('=') && !value.trim_start().starts_with("==")
}

/// Returns true if the text after `<|` is the rest of a special token, such as `im_start|>`.
fn is_special_token(after: &str) -> bool {
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return true;
    }
    let mut last = None;
    for c in after.chars().take(TOKEN_CHARS_MAX) {
        if is_closer(c) {
            return last.is_some_and(is_line);
        }
        let is_part =
            is_name_char(c) || is_line(c) || is_hyphen(c) || matches!(c, ' ' | '.' | ':' | '▁');
        if !is_part {
            return false;
        }
        last = Some(c);
    }
    false
}

/// Returns true if the text after a square bracket makes a mark of both.
fn is_bracketed(after: &str) -> bool {
    let (rest, ..) = skip_to_name(after);
    let name = read_name(rest);
    let is_closed = name.rest.trim_start().starts_with(is_closing_bracket);
    if is_closed && NAMES.bracketed.contains(&name.comparable) {
        return true;
    }
    let head: String = rest.chars().take(NAME_CHARS_MAX / 2).collect();
    let head = comparable(&head);
    NAMES
        .bracketed_starts
        .iter()
        .any(|start| head.starts_with(start.as_str()))
}
