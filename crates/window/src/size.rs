//! Sizes in characters. A token is four of them unless the history says otherwise.

/// Characters that the envelope of a message stands for: four tokens.
pub const ENVELOPE_CHARS: usize = 16;
/// Characters that a picture stands for: what providers charge for a usual one.
pub const IMAGE_CHARS: usize = 6_400;

/// The characters of a text (Unicode scalar values), counted without decoding it.
pub fn chars(text: &str) -> usize {
    // Every byte but a continuation begins a character.
    text.as_bytes()
        .chunks(255)
        .map(|chunk| {
            usize::from(
                chunk
                    .iter()
                    .map(|byte| u8::from((byte & 0xC0) != 0x80))
                    .fold(0_u8, u8::wrapping_add),
            )
        })
        .sum()
}

/// The characters that a message of so much content counts as: whole tokens, and its envelope.
pub(crate) fn message_chars(content: usize) -> usize {
    whole(content + ENVELOPE_CHARS)
}

/// As many characters as so many are in whole tokens.
pub(crate) fn whole(chars: usize) -> usize {
    chars.next_multiple_of(heirloom_model::limits::CHARS_PER_TOKEN)
}

/// The tokens of so many characters at four a token, rounded up.
pub fn tokens(chars: usize) -> usize {
    chars.div_ceil(heirloom_model::limits::CHARS_PER_TOKEN)
}
