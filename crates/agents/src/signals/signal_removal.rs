//! Removal and neutralisation of signals in text that returns to a prompt.

use super::enclosing_blocks::EnclosingBlocks;
use super::line_parser::ParsedLine;
use super::scan::{LineEvent, scan};
use super::signal_prefixes::SignalRules;
use heirloom_model::text::strip_ansi;

/// Removes the signal lines of a text: exactly those that the parser finds in it as one message.
///
/// Other lines stay unchanged. The open fences and envelopes after a removed line also stay the same, otherwise a later
/// line could become a signal: an empty line remains for a signal that ended a quoted fence, and the parts of the line
/// inside of envelopes remain.
pub fn without_signals(text: &str, rules: &SignalRules) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    scan(
        rules,
        &mut EnclosingBlocks::default(),
        text.as_bytes(),
        &mut |hit| {
            if let LineEvent::Parsed(ParsedLine::Signal(..)) = hit.event {
                out.push_str(&text[copied..hit.at.start]);
                out.push_str(&hit.blocks);
                copied = hit.at.end;
            }
        },
    );
    out.push_str(&text[copied..]);
    out
}

/// Neutralises signals: removes the colon after each prefix, so that an agent that repeats the text writes no memory.
pub fn neutralize_signals(text: &str, rules: &SignalRules) -> String {
    let text = strip_ansi(text);
    let mut colons = Vec::new();
    for prefix in rules.prefixes() {
        for (start, word) in text.match_indices(prefix.word.as_str()) {
            let marks = text.bytes().enumerate().skip(start + word.len());
            let marks = marks.take_while(|(_, byte)| matches!(byte, b'*' | b'_' | b'`' | b':'));
            colons.extend(marks.filter(|(_, byte)| *byte == b':').map(|(at, _)| at));
        }
    }
    if colons.is_empty() {
        return text;
    }
    colons.sort_unstable();
    colons.dedup();
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for colon in colons {
        out.push_str(&text[copied..colon]);
        copied = colon + 1;
        // Without a blank the adjacent words could form another prefix.
        if !text[copied..].starts_with(char::is_whitespace) {
            out.push(' ');
        }
    }
    out.push_str(&text[copied..]);
    out
}
