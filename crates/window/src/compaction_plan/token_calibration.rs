//! Calibration of the size estimate by the usage that the provider reported.

/// Calibration of characters per token from the provider's usage reports.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenCalibration {
    chars: usize,
    tokens: u64,
    last: Option<(usize, u64)>,
}

/// Default characters per token, in thousandths.
const CHARS_PER_TOKEN_MILS: usize = 4_000;
/// Tokens that are counted before the default is replaced.
const CALIBRATED_TOKENS: u64 = 2_000;

impl TokenCalibration {
    /// Adds a request with its characters and reported tokens.
    pub(super) fn add(&mut self, chars: usize, tokens: u64) {
        if let Some((before, counted)) = self.last
            && chars > before
            && tokens > counted
        {
            self.chars += chars - before;
            self.tokens += tokens - counted;
        }
        self.last = Some((chars, tokens));
    }

    /// Returns characters per token in thousandths; four until two thousand tokens were counted.
    pub(super) fn mils(self) -> usize {
        if !self.is_calibrated() {
            return CHARS_PER_TOKEN_MILS;
        }
        let tokens = usize::try_from(self.tokens).unwrap_or(usize::MAX);
        (self.chars.saturating_mul(1_000) / tokens).clamp(1_500, 6_000)
    }
    /// Returns true if enough tokens were counted.
    pub(super) fn is_calibrated(self) -> bool {
        self.tokens >= CALIBRATED_TOKENS
    }
}
