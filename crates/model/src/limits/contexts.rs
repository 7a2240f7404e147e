//! Limits of contexts and their sources.

/// Default budget of a context, characters.
pub const CONTEXT_BUDGET_CHARS_DEFAULT: usize = 3_000;
/// Largest budget of a context, characters.
pub const CONTEXT_BUDGET_CHARS_MAX: usize = 10_000_000;
/// Largest budget of a context, tokens.
pub const CONTEXT_BUDGET_TOKENS_MAX: usize = CONTEXT_BUDGET_CHARS_MAX / CHARS_PER_TOKEN;
/// Default allowance of standing texts in a context, characters.
pub const STANDING_CHARS_DEFAULT: usize = 8_000;
/// Largest accepted allowance of standing texts in a context, characters.
pub const STANDING_CHARS_MAX: usize = 100_000;
/// Minimum number of facts that a context considers, independent of its budget.
pub const CONTEXT_FACTS_MIN: usize = 200;
/// Minimum number of newest open errors that a context considers, and again that number of its task's own errors.
pub const CONTEXT_ERRORS_MIN: usize = 100;
/// Number of the newest records of a kind that compete in a context; older ones follow if they fit.
pub const CONTEXT_NEWEST: usize = 20;
/// Maximum number of facts that a context considers. In between, it is one per [`CONTEXT_CHARS_PER_FACT`] of the
/// budget, or one per [`CONTEXT_CHARS_PER_SHORT_FACT`] if those do not fill it.
pub const CONTEXT_FACTS_MAX: usize = 10_000;
/// Characters of the budget per considered fact: the length of a short sentence.
pub const CONTEXT_CHARS_PER_FACT: usize = 60;
/// Characters of the budget per considered fact if facts are short.
pub const CONTEXT_CHARS_PER_SHORT_FACT: usize = 10;
/// Percentage of a context that the shares of its sections may claim together; larger totals are scaled down.
pub const CONTEXT_SHARES_PERCENT_MAX: u32 = 50;
/// Newest completed steps and files of a task that come before errors in a context; older ones come last.
pub const CONTEXT_TASK_RECENT: usize = 10;
/// Characters per token, where no tokenizer is used.
pub const CHARS_PER_TOKEN: usize = 4;
/// Newest episodes of a task that a context considers.
pub const CONTEXT_EPISODES_MAX: usize = 200;
/// Newest artifacts of a task that a context considers.
pub const CONTEXT_ARTIFACTS_MAX: usize = 200;
/// Maximum number of pinned records that a context considers.
pub const PINNED_MAX: usize = 200;
/// Number of the newest preferences and of the newest conventions that the start of a session considers.
pub const STANDING_RECORDS_MAX: usize = 200;
/// Newest outputs of other agents that a context considers.
pub const CONTEXT_OUTPUTS_MAX: usize = 20;
/// Maximum number of user memory entries that a context considers.
pub const USER_RECORDS_MAX: usize = 100;
/// Largest accepted minimum of a row in the source table, characters.
pub const SOURCE_MIN_CHARS_MAX: usize = 100_000;
/// Maximum number of offers of one source that a context considers; further ones are counted in a note.
pub const SOURCE_OFFERS_MAX: usize = 2_000;
/// Maximum number of team entries that a context considers.
pub const CONTEXT_TEAM_MAX: usize = 100;
/// Maximum number of learnings that a context considers.
pub const CONTEXT_LEARNINGS_MAX: usize = 20;
/// Number of newest resolved errors, and of newest episodes, searched for learnings by a context without a query.
pub const CONTEXT_LESSONS_MAX: usize = 200;
/// Number of recall hits that a context considers for its query.
pub const CONTEXT_RECALL_HITS: usize = 20;
/// Maximum length of the recall query derived from a task's text, bytes.
pub const CONTEXT_QUESTION_BYTES_MAX: usize = 400;
