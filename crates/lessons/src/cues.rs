//! Cue phrases, weights and thresholds, read once from `data/*.toml`.

use std::sync::OnceLock;

/// Data of all sources.
#[derive(Debug, Default)]
pub(crate) struct Cues {}

impl Cues {
    /// Returns the built-in data.
    pub(crate) fn get() -> &'static Self {
        static CUES: OnceLock<Cues> = OnceLock::new();
        CUES.get_or_init(Cues::default)
    }
}
