//! Limits of what sessions teach.

/// Longest text of a conversation that lessons are taken from, characters; of a longer one the beginning and the end.
pub const LESSON_TEXT_CHARS_MAX: usize = 16_000;
/// Longest summary by an agent program that lessons are taken from, characters.
pub const LESSON_SUMMARY_CHARS_MAX: usize = 64_000;
/// Largest stored state of a session's learning, bytes. Without a stored state the conversation is read again.
pub const LESSON_STATE_BYTES_MAX: usize = 256 << 10;
/// Number of lessons of one session whose records are known.
pub const LESSON_LEDGER_MAX: usize = 500;
/// Number of records of one session or task that lessons are compared with, and that are shown.
pub const LESSON_RECORDS_MAX: usize = 500;
/// Largest transcript, bytes, that is read at the end of each turn; of a larger one the lessons wait for the end of the
/// session.
pub const LESSON_TURN_TRANSCRIPT_BYTES_MAX: u64 = 32 << 20;
/// Number of newest open errors of a task that a command which passed is compared with.
pub const LESSON_ERRORS_COMPARED_MAX: usize = 200;
/// Bytes of a command line that is read.
pub const COMMAND_LINE_BYTES_MAX: usize = 64 << 10;
/// Characters of a simple command of a command line.
pub const COMMAND_PART_CHARS_MAX: usize = 240;
/// Levels of subshells of a command line that are read.
pub const SUBSHELLS_MAX: usize = 4;
/// Number of lines that are stored as the source of a lesson.
pub const LESSON_EVIDENCE_MAX: usize = 6;
/// Longest stored line of a lesson's source, characters.
pub const LESSON_EVIDENCE_CHARS_MAX: usize = 240;
/// Characters of candidates and sentences in one request to the model that judges a session.
pub const LESSON_JUDGE_DATA_CHARS_MAX: usize = 60_000;
/// Number of candidates in one request to the model that judges a session.
pub const LESSON_JUDGE_CANDIDATES_MAX: usize = 100;
/// Number of requests to the model about one session. Further candidates stay as the program decided.
pub const LESSON_JUDGE_REQUESTS_MAX: usize = 4;
/// Number of sessions without an end that a model judges after one start, the newest ones.
pub const LESSON_JUDGED_SESSIONS_MAX: usize = 3;
/// Number of texts of the person that the model may add to the candidates of a session.
pub const LESSON_SPANS_MAX: usize = 12;
/// Number of changes of lessons that `learn --all` lists.
pub const LESSON_CHANGES_SHOWN_MAX: usize = 500;

/// Sessions in which a person says the same before it is a preference.
pub const WISH_SESSIONS_MIN: usize = 3;
/// Newest sessions whose wishes are compared.
pub const WISH_SESSIONS_COMPARED_MAX: usize = 200;
