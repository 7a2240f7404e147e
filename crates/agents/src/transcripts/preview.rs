//! Shortening of long texts.

use heirloom_model::limits::TRANSCRIPT_CALL_CHARS_MAX;
use heirloom_model::text;
use std::borrow::Cow;

/// Shortens a text longer than `chars_max` to its beginning and end, with a note on the omitted bytes.
pub fn preview(content: &str, chars_max: usize) -> Cow<'_, str> {
    // A text with at most `chars_max` bytes fits; counting the characters of megabytes would be wasted.
    if content.len() <= chars_max {
        return Cow::Borrowed(content);
    }
    let first = text::clip(content, chars_max * 2 / 3);
    let last = text::clip_start(&content[first.len()..], chars_max / 3);
    let left = content.len() - first.len() - last.len();
    if left <= OMISSION_BYTES {
        return Cow::Borrowed(content);
    }
    Cow::Owned(format!("{first}\n[… {left} bytes are not kept …]\n{last}"))
}

/// A gap of at most this size is kept, because the note would be as long.
const OMISSION_BYTES: usize = 40;

/// Returns the input of a call on one short line.
pub fn call_line(input: &str) -> String {
    // An input may be a whole file.
    let end = input.floor_char_boundary(TRANSCRIPT_CALL_CHARS_MAX * 8);
    text::excerpt(&input[..end], TRANSCRIPT_CALL_CHARS_MAX)
}
