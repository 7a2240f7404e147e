//! Directives as they would be typed: what is written reads the same again.

use super::values::{RangeText, is_pattern, range_of};
use super::{Directive, Input, Invocation, Lines, Name};
use heirloom_model::Budget;
use std::fmt;

/// A text with what would end or hide it escaped, between double quotes; always one line.
pub(super) fn quoted(text: &str) -> String {
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

/// A character that nobody sees, or that begins a line.
fn is_hidden(c: char) -> bool {
    !heirloom_model::text::is_harmless(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether the text can stand without quotes where `stops` would end it.
fn is_bare(text: &str, stops: &[char]) -> bool {
    !text.is_empty()
        && !text.starts_with('"')
        && text.trim() == text
        && !text.contains(|c| stops.contains(&c) || is_hidden(c))
}

/// The name as it is typed: in quotes where it would be taken for something else.
pub(super) fn name(name: &Name) -> String {
    let text = name.as_str();
    match name {
        Name::Pattern(_) => text.to_owned(),
        Name::Exact(_) => {
            let plain = is_bare(text, &[',', ';', '[', ']'])
                && !is_pattern(text)
                && matches!(range_of(text), RangeText::None);
            if plain { text.to_owned() } else { quoted(text) }
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(self))
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (from, Some(to)) if from == to => write!(f, "{from}"),
            (from, Some(to)) => write!(f, "{from}-{to}"),
            (from, None) => write!(f, "{from}-"),
        }
    }
}

impl fmt::Display for Input {
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
            Self::Recall(words) if is_bare(words, &[';', '[', ']']) => write!(f, "recall:{words}"),
            Self::Recall(words) => write!(f, "recall:{}", quoted(words)),
            Self::Budget(Budget::Chars(chars)) => write!(f, "budget:{chars}"),
            Self::Budget(Budget::Tokens(tokens)) => write!(f, "budget:{tokens} tokens"),
        }
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_bare(&self.agent, &[';', '[', ']']) {
            f.write_str(&self.agent)?;
        } else {
            f.write_str(&quoted(&self.agent))?;
        }
        for directive in &self.directives {
            write!(f, "[{directive}]")?;
        }
        Ok(())
    }
}
