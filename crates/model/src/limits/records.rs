//! Limits of records, names, messages and typed attributes.

/// Longest text of one record, bytes.
pub const RECORD_TEXT_BYTES_MAX: usize = 1 << 20;
/// Longest key of a record, bytes.
pub const KEY_BYTES_MAX: usize = 1_024;
/// Longest name: project, category, agent, task, plan, group, session, phase, source; bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// Longest typed attributes of one record as JSON, bytes.
pub const ATTRS_BYTES_MAX: usize = 1 << 20;
/// Minimum number of hex digits of an abbreviated id.
pub const ID_PREFIX_MIN: usize = 4;
/// Longest text of one message, bytes.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// Longest approach, and longest outcome, of an episode, bytes.
pub const EPISODE_TEXT_BYTES_MAX: usize = 64 << 10;
/// Longest text of an episode that describes a request of a session, characters.
pub const CASE_CHARS_MAX: usize = 600;
/// Longest line of such an episode, characters.
pub const CASE_LINE_CHARS_MAX: usize = 480;
/// Largest file whose checksum is computed, bytes.
pub const ARTIFACT_BYTES_MAX: u64 = 1 << 30;
/// Longest description of an artifact, bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 4 << 10;
/// Maximum number of sides of a conflict that an error message lists.
pub const CONFLICT_SIDES_SHOWN_MAX: usize = 10;
