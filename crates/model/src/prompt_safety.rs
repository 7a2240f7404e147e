//! Recalled text made safe for a prompt: without invisible characters, and without markup of host programs and of chat
//! templates, in every form in which a model may read it.
//!
//! Only the first character of such a mark is replaced, so code in a fact stays readable. The result never has more
//! characters than the text, and is not changed by another call.

mod code_fences;
mod invisible_chars;
mod look_alikes;
mod markup;

use code_fences::Fences;
use std::borrow::Cow;

/// Character that replaces the first one of a mark.
const REPLACEMENT: char = '‹';

/// Greatest number of passes: a replaced character may be a part of another mark.
const PASSES_MAX: usize = 8;

/// Replacement of a part of a text.
#[derive(Debug, PartialEq, Eq)]
struct Edit {
    at: usize,
    /// Number of bytes that are replaced.
    length: usize,
    with: char,
}

/// Returns a recalled text that neither ends its envelope nor poses as a message of a host or of a person.
pub fn neutralize_markup(text: &str) -> Cow<'_, str> {
    neutralize(text, Fences::Replaced)
}

/// As [`neutralize_markup`], for a whole document: its blocks of code and its comments stay if each of them has an end.
pub fn neutralize_document(text: &str) -> Cow<'_, str> {
    neutralize(text, Fences::KeptIfClosed)
}

/// As [`neutralize_document`], for a text that is put into a block of code whose fence is longer than those in it.
pub fn neutralize_block(text: &str) -> Cow<'_, str> {
    neutralize(text, Fences::Kept)
}

fn neutralize(text: &str, fences: Fences) -> Cow<'_, str> {
    let mut safe = invisible_chars::remove(text);
    for _ in 0..PASSES_MAX {
        let Cow::Owned(next) = replace_marks(&safe, fences) else {
            break;
        };
        safe = Cow::Owned(next);
    }
    safe
}

fn replace_marks(text: &str, fences: Fences) -> Cow<'_, str> {
    let mut edits = markup::find_marks(text, fences != Fences::Replaced);
    if fences != Fences::Kept {
        edits.extend(code_fences::find_fences(text, fences));
    }
    if edits.is_empty() {
        return Cow::Borrowed(text);
    }
    edits.sort_by_key(|edit| edit.at);
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for edit in edits {
        // A mark inside of one that is replaced already.
        let Some(before) = text.get(copied..edit.at) else {
            continue;
        };
        out.push_str(before);
        out.push(edit.with);
        copied = edit.at + edit.length;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests;
