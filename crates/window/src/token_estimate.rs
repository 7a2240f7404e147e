//! Token estimates: sizes in characters, at four characters per token unless the history is calibrated.

/// Characters counted for the envelope of a message: four tokens.
pub const ENVELOPE_CHARS: usize = 16;
/// Characters counted for an image: the usual price of providers.
pub const IMAGE_CHARS: usize = 6_400;

/// Counts the characters of a text (Unicode scalar values) without decoding it.
pub fn chars(text: &str) -> usize {
    // Every byte except continuation bytes begins a character.
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

/// Returns the counted size of a message with this content length: whole tokens, plus its envelope.
pub(crate) fn counted_message_chars(content: usize) -> usize {
    round_to_tokens(content + ENVELOPE_CHARS)
}

/// Rounds characters up to whole tokens.
pub(crate) fn round_to_tokens(chars: usize) -> usize {
    chars.next_multiple_of(heirloom_model::limits::CHARS_PER_TOKEN)
}

/// Estimates the tokens of a number of characters, rounded up.
pub fn tokens(chars: usize) -> usize {
    chars.div_ceil(heirloom_model::limits::CHARS_PER_TOKEN)
}
