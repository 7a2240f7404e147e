//! What is kept of long texts.

use heirloom_model::limits::TRANSCRIPT_CALL_CHARS_MAX;
use heirloom_model::text;
use std::borrow::Cow;

/// The beginning and the end of a text that is longer than `chars_max`, with a word on what is missing.
pub fn preview(said: &str, chars_max: usize) -> Cow<'_, str> {
    // Counting characters of what surely fits, and of megabytes, would be for nothing.
    if said.len() <= chars_max {
        return Cow::Borrowed(said);
    }
    let first = text::clip(said, chars_max * 2 / 3);
    let last = text::clip_start(&said[first.len()..], chars_max / 3);
    let left = said.len() - first.len() - last.len();
    if left <= MARK_BYTES {
        return Cow::Borrowed(said);
    }
    Cow::Owned(format!("{first}\n[… {left} bytes are not kept …]\n{last}"))
}

/// A gap that is no longer than what would say so is no gap.
const MARK_BYTES: usize = 40;

/// The input of a call on one short line.
pub fn call_line(input: &str) -> String {
    // Inputs may be whole files.
    let end = input.floor_char_boundary(TRANSCRIPT_CALL_CHARS_MAX * 8);
    text::excerpt(&input[..end], TRANSCRIPT_CALL_CHARS_MAX)
}
