//! Offer with its size in a context.

use heirloom_model::context::{InclusionReason, ReceiptItem};
use heirloom_model::section::Offer;
use heirloom_model::{limits, text};

/// An offer with its size in the context.
pub(super) struct MeasuredOffer<'s> {
    pub(super) offer: &'s Offer,
    pub(super) lines: String,
    pub(super) chars: usize,
    /// Reason for which the offer can never be included: `Empty` or `TooLarge`.
    pub(super) exclusion: Option<InclusionReason>,
}

impl MeasuredOffer<'_> {
    pub(super) fn receipt_item(&self, reason: InclusionReason, lines: Option<&str>) -> ReceiptItem {
        let words = self.lines.trim_start_matches('\n');
        let words = words.strip_prefix("- ").unwrap_or(words);
        let item = ReceiptItem {
            id: None,
            file: None,
            score: self.offer.score,
            relevance: None,
            worth: None,
            excerpt: text::excerpt(words, limits::RECEIPT_EXCERPT_CHARS_MAX),
            chars: lines.map_or(self.chars, text::chars),
            reason,
        };
        item.with_origin(&self.offer.origin)
    }
}
