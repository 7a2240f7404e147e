//! Titles of sessions: the first prompt of a person, on one line.

use super::record_label;
use heirloom_engine::Engine;
use heirloom_model::{Fault, Role, Session, text};

/// Number of turns at the beginning of a session that are searched for the first prompt.
const FIRST_TURNS: usize = 12;
/// Maximum number of characters of a title.
const TITLE_CHARS: usize = 90;
/// Elements in which programs wrap a prompt.
const WRAPPERS: [&str; 4] = ["command-args", "user_query", "user-query", "user_message"];
/// Beginnings of user turns that a program wrote.
const PROGRAM_TEXTS: [&str; 6] = [
    "Caveat:",
    "[Request interrupted",
    "This session is being continued",
    "# AGENTS.md instructions",
    "[TASK ANCHOR",
    "[What was said before is left out.]",
];

/// Returns the title of a session: its first prompt, otherwise `Session` with the beginning of its id.
pub(in crate::page) fn session_title(engine: &Engine, session: &Session) -> Result<String, Fault> {
    let prompt = first_prompt(engine, &session.id)?;
    Ok(prompt.unwrap_or_else(|| format!("Session {}", record_label::short_id(&session.id))))
}

/// Returns the first prompt of a session on one line, or `None` if its first turns have none.
pub(in crate::page) fn first_prompt(
    engine: &Engine,
    session: &str,
) -> Result<Option<String>, Fault> {
    let (_, turns) = engine.sessions().session_page(session, 0, FIRST_TURNS)?;
    let mut prompts = turns.iter().filter(|turn| turn.role == Role::User);
    Ok(prompts.find_map(|turn| prompt_title(&turn.text)))
}

/// Returns the first line of a person's words in a user turn, shortened; `None` if a program wrote all of it.
pub(super) fn prompt_title(turn: &str) -> Option<String> {
    let mut rest = turn.trim_start();
    // Programs put elements such as <system-reminder> before the words of a person. Their names have a joint, unlike
    // those of HTML in a question.
    while let Some(name) = program_element(rest) {
        let (_, inner) = rest.split_once('>')?;
        let (inner, after) = inner.split_once(&format!("</{name}>"))?;
        match WRAPPERS.contains(&name) && !inner.trim().is_empty() {
            true => return prompt_title(inner),
            false => rest = after.trim_start(),
        }
    }
    if PROGRAM_TEXTS.iter().any(|begin| rest.starts_with(begin)) {
        return None;
    }
    let lines = rest.lines().map(|line| line.trim().trim_start_matches('#'));
    let mut lines = lines.map(str::trim).filter(|line| has_words(line));
    let line = lines.next()?.replace('`', "");
    Some(text::excerpt(
        &text::replace_control_chars(&line),
        TITLE_CHARS,
    ))
}

/// Returns the name of the element at the beginning of a text if programs use such names.
fn program_element(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = inner.split(|c| !is_part(c)).next()?;
    (name.contains(['-', '_']) && inner.contains('>')).then_some(name)
}

/// Returns true for a line that is more than a command such as `/clear`, a rule, or the mark of an attachment.
fn has_words(line: &str) -> bool {
    let is_command = line.starts_with('/') && !line.contains(char::is_whitespace);
    let is_attachment = line.starts_with("[Image") || line.starts_with("[Pasted text");
    line.contains(char::is_alphanumeric) && !is_command && !is_attachment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_title_skips_program_text_and_takes_the_first_line() {
        for (turn, expected) in [
            (
                "Mend the redelivery\nand the tests",
                Some("Mend the redelivery"),
            ),
            (
                "<system-reminder>be nice</system-reminder>\n# Mend it",
                Some("Mend it"),
            ),
            (
                "<command-message>fix</command-message><command-name>/fix</command-name>\n<command-args>issue 42 now</command-args>",
                Some("issue 42 now"),
            ),
            (
                "<command-name>/clear</command-name><command-args></command-args>",
                None,
            ),
            (
                "<user_query>\nWhy is it slow?\n</user_query>",
                Some("Why is it slow?"),
            ),
            ("/clear", None),
            ("Why is `db` slow?", Some("Why is db slow?")),
            ("/review the parser", Some("/review the parser")),
            ("[Image #1]\nthis is wrong", Some("this is wrong")),
            ("Caveat: the messages below were generated", None),
            (
                "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
                None,
            ),
            ("<unclosed-element> text", None),
            ("<b>bold</b> is wrong", Some("<b>bold</b> is wrong")),
            ("  \n---\n", None),
        ] {
            assert_eq!(prompt_title(turn).as_deref(), expected, "{turn}");
        }
        let long = prompt_title(&"word ".repeat(60)).unwrap();
        assert_eq!(text::chars(&long), TITLE_CHARS);
        assert!(long.ends_with('…'), "{long}");
    }
}
