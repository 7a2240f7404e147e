//! Limits of the sentence transformer: passages, quiet moments, and time per session and command.

/// Number of texts whose sentence vectors are computed and stored together, in quiet moments.
pub const SENTENCE_BATCH_TEXTS: usize = 8;
/// Pause between two quiet moments while texts wait, milliseconds.
pub const SENTENCE_PAUSE_MS: u64 = 200;
/// Pause between two quiet moments while no text waits, milliseconds.
pub const SENTENCE_IDLE_MS: u64 = 2_000;
/// Number of texts that the end of a turn or of a session embeds.
pub const SENTENCE_SESSION_TEXTS: usize = 64;
/// Time after which the end of a turn begins no further text, milliseconds.
pub const SENTENCE_TURN_MS: u64 = 100;
/// Time after which the end of a session begins no further text, milliseconds.
pub const SENTENCE_SESSION_MS: u64 = 300;
/// Time that a question's sentence vector needs in a new process, milliseconds.
pub const SENTENCE_QUESTION_MS: u64 = 15;
/// Word pieces of a question that its sentence vector reads; a pasted text follows.
pub const SENTENCE_QUESTION_PIECES: usize = 64;
/// Passages of a text; the rest is not read.
pub const SENTENCE_PASSAGES_MAX: usize = 6;
/// Number of questions whose sentence vectors a process keeps.
pub const SENTENCE_QUESTIONS_KEPT: usize = 256;
/// Longest text whose sentence vector a command computes after its answer, bytes.
pub const SENTENCE_COMMAND_BYTES_MAX: usize = 600;
