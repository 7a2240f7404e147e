//! `Display` of directives: the written text parses to the same value.

use super::directive_values::{RangeText, is_pattern, parse_range};
use super::{Directive, FileInput, FileSelector, Invocation, LineRange};
use heirloom_model::Budget;
use std::fmt;

/// Quotes a text: double quotes around it, with quotes, line breaks and invisible characters escaped. The result is
/// one line.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_hidden(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns true for a character that is invisible or begins a line.
fn is_hidden(c: char) -> bool {
    !heirloom_model::text::is_safe_to_display(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns true if the text needs no quotes where one of `stops` ends a value.
fn can_be_unquoted(text: &str, stops: &[char]) -> bool {
    !text.is_empty()
        && !text.starts_with('"')
        && text.trim() == text
        && !text.contains(|c| stops.contains(&c) || is_hidden(c))
}

/// Renders a selector; a name that would parse as a pattern or a line range is quoted.
pub(super) fn render_selector(name: &FileSelector) -> String {
    let text = name.as_str();
    match name {
        FileSelector::Pattern(_) => text.to_owned(),
        FileSelector::Exact(_) => {
            let plain = can_be_unquoted(text, &[',', ';', '[', ']'])
                && !is_pattern(text)
                && matches!(parse_range(text), RangeText::None);
            if plain { text.to_owned() } else { quote(text) }
        }
    }
}

impl fmt::Display for FileSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render_selector(self))
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (from, Some(to)) if from == to => write!(f, "{from}"),
            (from, Some(to)) => write!(f, "{from}-{to}"),
            (from, None) => write!(f, "{from}-"),
        }
    }
}

impl fmt::Display for FileInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        self.lines.map_or(Ok(()), |lines| write!(f, ":{lines}"))
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(inputs) => {
                let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
                write!(f, "input:{}", inputs.join(","))
            }
            Self::Tail(lines) => write!(f, "tail:{lines}"),
            Self::Recall(words) if can_be_unquoted(words, &[';', '[', ']']) => {
                write!(f, "recall:{words}")
            }
            Self::Recall(words) => write!(f, "recall:{}", quote(words)),
            Self::Budget(Budget::Chars(chars)) => write!(f, "budget:{chars}"),
            Self::Budget(Budget::Tokens(tokens)) => write!(f, "budget:{tokens} tokens"),
        }
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if can_be_unquoted(&self.agent, &[';', '[', ']']) {
            f.write_str(&self.agent)?;
        } else {
            f.write_str(&quote(&self.agent))?;
        }
        for directive in &self.directives {
            write!(f, "[{directive}]")?;
        }
        Ok(())
    }
}
