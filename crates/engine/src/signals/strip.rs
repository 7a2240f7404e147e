//! Text that goes back into a prompt and must not write memory again.

use super::reading::Reading;
use super::rules::SignalRules;
use super::scan::{What, scan};
use heirloom_model::text::strip_ansi;

/// The text without its signal lines: exactly those that the parser takes from it as one message.
///
/// Lines that are no signal stay as they are. Where a signal line ended a quoted fence an empty line
/// remains, so that what follows does not slip into the fence.
pub fn without_signals(text: &str, rules: &SignalRules) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    scan(rules, &mut None, text.as_bytes(), &mut |hit| {
        if let What::Read(Reading::Signal(..)) = hit.what {
            out.push_str(&text[kept..hit.at.start]);
            if hit.leaves_fence {
                out.push('\n');
            }
            kept = hit.at.end;
        }
    });
    out.push_str(&text[kept..]);
    out
}

/// The text made unable to be a signal when an agent repeats it: no prefix has its colon any more.
pub fn defuse(text: &str, rules: &SignalRules) -> String {
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
    let (mut out, mut kept) = (String::with_capacity(text.len()), 0);
    for colon in colons {
        out.push_str(&text[kept..colon]);
        kept = colon + 1;
        // Without a blank in its place the words around it could grow together to another prefix.
        if !text[kept..].starts_with(char::is_whitespace) {
            out.push(' ');
        }
    }
    out.push_str(&text[kept..]);
    out
}
