//! Limits of hooks of agent programs.

/// Maximum size of a hook event, bytes; the rest of a longer one is ignored.
pub const HOOK_INPUT_BYTES_MAX: usize = 8 << 20;
/// Deadline of a hook, milliseconds; after it the answer is empty.
pub const HOOK_DEADLINE_MS: u64 = 2_000;
/// Time after which the session-end hook stops reading the transcript, milliseconds: Claude Code waits for 1.5
/// seconds.
pub const HOOK_ARCHIVE_MS: u64 = 900;
/// Maximum time that a hook waits for a transcript that its program writes late, milliseconds.
pub const HOOK_TRANSCRIPT_WAIT_MS: u64 = 500;
/// Time that a hook may continue after its answer is sent, within its deadline, milliseconds.
pub const HOOK_AFTER_ANSWER_MS: u64 = 1_000;
/// Maximum length of the text that one hook answer injects, characters: every agent program accepts it.
pub const HOOK_TEXT_CHARS_MAX: usize = 8_000;
/// Maximum length of what memory tells at the start of a session, with its envelope and how lessons are left,
/// characters: a list that is read whole; the rest comes with prompts.
pub const HOOK_START_CHARS_MAX: usize = 1_200;
/// Maximum length of what memory tells a subagent at its start, characters.
pub const HOOK_SUBAGENT_CHARS_MAX: usize = 800;
/// Maximum length of the standing instructions of people at the start of a session, with their envelope, characters.
pub const HOOK_STANDING_CHARS_MAX: usize = 4_000;
/// Maximum length of those instructions at the start of a subagent, characters.
pub const HOOK_SUBAGENT_STANDING_CHARS_MAX: usize = 1_500;
/// Maximum length of one item of a session's start, characters: one line.
pub const HOOK_START_ITEM_CHARS_MAX: usize = 160;
/// Number of rules of people that the start of a session tells, in addition to pinned records.
pub const HOOK_START_RULES_MAX: usize = 5;
/// Number of these that were said in conversations and that no person confirmed.
pub const HOOK_START_SAID_RULES_MAX: usize = 2;
/// Number of items of open work, and of known pitfalls, that the start of a session tells.
pub const HOOK_START_ITEMS_MAX: usize = 3;
/// Number of the last sessions whose failures and cases the start of a session considers.
pub const HOOK_START_SESSIONS: usize = 3;
/// Days after which untouched work counts as abandoned at the start of a session.
pub const HOOK_START_WORK_DAYS: i64 = 14;
/// Leading bytes of a prompt that are used as the recall query.
pub const HOOK_QUESTION_BYTES_MAX: usize = 8_000;
/// Maximum number of hits of recall that are considered for a prompt. Cases of the same files are often behind the steps and
/// failures of the newest sessions.
pub const HOOK_CANDIDATES_MAX: usize = 60;
/// Maximum number of hits injected into a prompt.
pub const HOOK_HITS_MAX: usize = 3;
/// Maximum number of these that are cases.
pub const HOOK_CASES_MAX: usize = 1;
/// Maximum length of one injected hit, characters.
pub const HOOK_HIT_CHARS_MAX: usize = 800;
/// Maximum length of an anchor, the reminder of the goal after tool calls, tokens.
pub const HOOK_ANCHOR_TOKENS_MAX: usize = 60;
/// Maximum length of the paragraph with which a session's first context ends, tokens.
pub const HOOK_TEACHING_TOKENS_MAX: usize = 60;
/// Largest number of tool calls between two anchors.
pub const HOOK_ANCHOR_EVERY_MAX: u32 = 1_000;
/// Maximum length of a stored failure line, characters.
pub const HOOK_ERROR_CHARS_MAX: usize = 300;
/// Maximum number of open failures of one command; with more, the oldest is updated with the newest.
pub const HOOK_FAILURES_OPEN_MAX: usize = 5;
/// Maximum length of the stored command of a failure, characters.
pub const HOOK_COMMAND_CHARS_MAX: usize = 300;
/// Maximum length of the command in the text of a failure, characters. A longer one is mostly data, such as the message of
/// a commit or a script, whose words would answer questions about other things.
pub const FAILURE_TEXT_COMMAND_CHARS_MAX: usize = 120;
/// Number of files, of steps and of failures that hooks remember per session.
pub const HOOK_SESSION_ITEMS_MAX: usize = 50;
/// Number of delivered records that a session remembers so as not to repeat them.
pub const HOOK_DELIVERED_MAX: usize = 500;
/// Length of the newest injected text that is kept to recognise an echo, characters.
pub const HOOK_ECHO_CHARS_MAX: usize = 16_000;
/// Number of sessions whose hook state is kept; the oldest are dropped.
pub const HOOK_SESSIONS_MAX: usize = 100;
/// Time without an event after which a session without an end may be over, seconds. Programs send an event for every
/// tool call, and long calls take minutes; reading a running session twice costs time and changes nothing.
pub const HOOK_SESSION_IDLE_S: u64 = 60;
/// Maximum size of a session's hook state file, bytes.
pub const HOOK_SESSION_BYTES_MAX: u64 = 256 << 10;
/// Lock timeout between hooks of one session, milliseconds.
pub const HOOK_WAIT_MS: u64 = 300;
/// Maximum number of transcript bytes that one hook reads.
pub const HOOK_TRANSCRIPT_BYTES_MAX: u64 = 4 << 20;
/// Size at which the hook log and the hook call log are rotated, bytes; one older part of each is kept.
pub const HOOK_LOG_BYTES_MAX: u64 = 64 << 10;
/// Longest line of the hook log, characters.
pub const HOOK_LOG_CHARS_MAX: usize = 500;
/// Maximum size of an agent program's settings file for `install`, bytes.
pub const HOST_SETTINGS_BYTES_MAX: u64 = 4 << 20;

/// Maximum number of running sessions whose folder is recorded.
pub const HOOK_SESSION_FOLDERS_MAX: usize = 500;
