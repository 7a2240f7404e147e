//! Limits of summaries of conversations by a language model.

/// Maximum length of the transcript that a summary model gets, characters.
pub const WINDOW_TRANSCRIPT_CHARS_MAX: usize = 240_000;
/// Maximum length of a model's summary, characters.
pub const MODEL_SUMMARY_CHARS_MAX: usize = 12_000;
/// Number of model summaries that a session keeps; the oldest are dropped.
pub const MODEL_SUMMARIES_MAX: usize = 8;
