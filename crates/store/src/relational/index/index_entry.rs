//! Index data of one text, in memory and in its stored form.

use heirloom_model::Message;
use heirloom_model::session::is_personal_name;
use heirloom_search::index::tokenizer::{DocumentTerms, Term};
use heirloom_search::index::{posting_code, vector};
use std::borrow::Cow;

/// Size of an entry in a tail's terms: the term and its posting code.
const ENTRY_BYTES: usize = 7;

/// Index data of one text: its terms, and its vector if it has one.
pub(crate) struct IndexEntry {
    pub(super) document: DocumentTerms,
    pub(super) embedding: Option<vector::EmbeddedDocument>,
}

impl IndexEntry {
    /// Computes the entry of a text.
    pub(crate) fn from_text(text: &str) -> Self {
        Self {
            document: DocumentTerms::of(text),
            embedding: vector::EmbeddedDocument::of(text),
        }
    }

    /// Computes the entry of a turn. The speaker's name is indexed with the text, except for roles and initials.
    pub(crate) fn from_message(message: &Message) -> Self {
        Self::from_text(&turn_text(message))
    }

    /// Returns the vector in stored form.
    pub(super) fn vector(&self) -> [u8; vector::ROW_BYTES] {
        let row = |meaning: &vector::EmbeddedDocument| meaning.vector.to_bytes();
        self.embedding.as_ref().map_or(vector::EMPTY_ROW, row)
    }

    /// Returns the distinct word pieces of the vector in stored form.
    pub(super) fn pieces(&self) -> Vec<u8> {
        let distinct = self.embedding.iter().flat_map(|meaning| &meaning.distinct);
        distinct.flat_map(|piece| piece.to_le_bytes()).collect()
    }

    /// Returns the terms with their posting codes in stored form.
    pub(super) fn terms(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.document.terms.len() * ENTRY_BYTES);
        for counted in &self.document.terms {
            let code = posting_code::encode(self.document.len, counted.count, counted.in_head);
            bytes.extend_from_slice(&counted.term.0.to_le_bytes()[..ENTRY_BYTES - 1]);
            bytes.push(code);
        }
        bytes
    }
}

/// Returns the indexed text of a turn.
pub(super) fn turn_text(message: &Message) -> Cow<'_, str> {
    match message
        .sender
        .as_ref()
        .filter(|sender| is_personal_name(sender))
    {
        Some(name) => Cow::Owned(format!("{name}: {}", message.text)),
        None => Cow::Borrowed(&message.text),
    }
}

/// Iterates over the terms and codes in a row of the tail.
pub(super) fn entries(bytes: &[u8]) -> impl Iterator<Item = (Term, u8)> {
    bytes.as_chunks::<ENTRY_BYTES>().0.iter().map(|entry| {
        let [a, b, c, d, e, f, code] = *entry;
        (Term(u64::from_le_bytes([a, b, c, d, e, f, 0, 0])), code)
    })
}

/// Iterates over the word pieces in a row of the tail.
pub(super) fn pieces(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let pairs = bytes.as_chunks().0.iter();
    pairs.map(|pair| u16::from_le_bytes(*pair))
}
