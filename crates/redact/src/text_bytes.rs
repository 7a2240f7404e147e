//! Reads of the bytes of a text at an offset; an offset after the end of the text is valid.

/// Most blanks that are skipped at once.
const BLANKS_MAX: usize = 64;

/// Reads at an offset that need no state.
pub(super) trait TextBytes {
    /// Returns the byte at `at`; 0 after the end.
    fn byte(&self, at: usize) -> u8;

    /// Returns the offset of the first byte from `at` on that is not a blank.
    fn skip_blanks(&self, at: usize) -> usize;

    /// Returns true if the text at `at` is `word`, in any case.
    fn has_text_at(&self, at: usize, word: &[u8]) -> bool;

    /// Returns true if `word` begins at `at`, at the start of a word and in any case.
    fn has_word_at(&self, at: usize, word: &[u8]) -> bool;
}

impl TextBytes for [u8] {
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_blanks(&self, at: usize) -> usize {
        let rest = self.get(at..).unwrap_or_default();
        let blanks = rest
            .iter()
            .take(BLANKS_MAX)
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        at + blanks
    }

    #[inline]
    fn has_text_at(&self, at: usize, word: &[u8]) -> bool {
        self.get(at..at + word.len())
            .is_some_and(|here| here.eq_ignore_ascii_case(word))
    }

    #[inline]
    fn has_word_at(&self, at: usize, word: &[u8]) -> bool {
        let begins = at == 0 || !self.byte(at - 1).is_ascii_alphanumeric();
        begins && self.has_text_at(at, word)
    }
}
