//! Characters that a model reads and a person does not see.

use crate::text::is_safe_to_display;
use std::borrow::Cow;

/// First code point of symbols that have emoji forms.
const SYMBOLS_START: char = '\u{2000}';

/// Removes invisible characters. Characters that control a terminal or the direction of text become `\u{fffd}`, and
/// separators of lines and paragraphs a space. Joiners stay where a script or an emoji needs them.
pub(super) fn remove(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.as_bytes().iter().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut is_changed = false;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let kept = match c {
            '\n' | '\t' => Some(c),
            '\r' if next == Some('\n') => None,
            '\u{2028}' | '\u{2029}' => Some(' '),
            '\u{200c}' | '\u{200d}' => Some(c).filter(|_| {
                let before = out.chars().next_back();
                is_joined(before, next, c)
            }),
            '\u{fe0e}' | '\u{fe0f}' => Some(c).filter(|_| {
                let before = out.chars().next_back();
                before.is_some_and(is_symbol)
            }),
            c if is_invisible(c) => None,
            c if !is_safe_to_display(c) => Some('\u{fffd}'),
            c => Some(c),
        };
        is_changed |= kept != Some(c);
        out.extend(kept);
    }
    match is_changed {
        true => Cow::Owned(out),
        false => Cow::Borrowed(text),
    }
}

/// Returns true for a character without a glyph, other than blanks, joiners and controls.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for a symbol that may have an emoji form.
fn is_symbol(c: char) -> bool {
    c >= SYMBOLS_START
        && !c.is_alphanumeric()
        && !c.is_whitespace()
        && !is_invisible(c)
        && is_safe_to_display(c)
        && !matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Returns true between two characters that a joiner connects or keeps apart.
fn is_joined(before: Option<char>, after: Option<char>, joiner: char) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return false;
    };
    let is_emoji = |c: char| is_symbol(c) || matches!(c, '\u{fe0f}');
    (has_joiners(before) && has_joiners(after))
        || (joiner == '\u{200d}' && is_emoji(before) && is_symbol(after))
}

/// Returns true for letters of scripts whose spelling has joiners: Arabic to Mongolian.
fn has_joiners(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}
