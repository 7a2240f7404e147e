//! Limits: every cap of Heirloom, in one place.
//!
//! Beyond a cap the caller gets a diagnostic or an error that names the cap; nothing is cut silently.

/// Longest text of one record, bytes.
pub const RECORD_TEXT_BYTES_MAX: usize = 1 << 20;
/// Longest key of a record, bytes.
pub const KEY_BYTES_MAX: usize = 1_024;
/// Longest name: project, category, agent, task, plan, group, session, phase, source; bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// Maximum size of the file with the project folders of a store in the user's data folder, bytes.
pub const STORE_HOMES_BYTES_MAX: u64 = 64 << 10;
/// Longest typed attributes of one record as JSON, bytes.
pub const ATTRS_BYTES_MAX: usize = 1 << 20;
/// Maximum number of changes in one atomic write.
pub const CHANGES_MAX: usize = 10_000;
/// Maximum number of records that one `find` returns.
pub const FIND_MAX: usize = 1_000_000;

/// Longest text of one signal, bytes.
pub const SIGNAL_TEXT_BYTES_MAX: usize = 16 << 10;
/// Maximum number of signals per parser; further ones are counted in one diagnostic.
pub const SIGNALS_MAX: usize = 100_000;
/// Maximum number of diagnostics per parser; further ones are counted.
pub const DIAGNOSTICS_MAX: usize = 1_000;
/// Longest line of plain output that is searched for a signal, bytes.
pub const PLAIN_LINE_BYTES_MAX: usize = 64 << 10;
/// Longest line of a JSON stream, bytes.
pub const STREAM_LINE_BYTES_MAX: usize = 32 << 20;
/// Lines after which output in an unknown format is treated as plain text.
pub const STREAM_AUTO_LINES_MAX: u64 = 200;
/// Bytes after which output in an unknown format is treated as plain text.
pub const STREAM_AUTO_BYTES_MAX: usize = 1 << 20;
/// Maximum length of a tool call's input in stream events, characters.
pub const TOOL_INPUT_CHARS_MAX: usize = 200;
/// Maximum size of a tool's output of which tests are read; the middle of a longer one is left out.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 256 << 10;
/// Maximum size of the final text that a stream reader keeps, bytes.
pub const FINAL_TEXT_BYTES_MAX: usize = 256 << 10;
/// Maximum number of signal prefixes that may be active.
pub const SIGNAL_PREFIXES_MAX: usize = 16;

/// Longest accepted path, bytes.
pub const PATH_BYTES_MAX: usize = 4_096;
/// Maximum number of symbolic links in the resolution of one path.
pub const LINKS_MAX: usize = 40;
/// Maximum size of a git metadata file, bytes.
pub const GIT_FILE_BYTES_MAX: u64 = 1 << 20;

/// Maximum number of iterations of one `run`.
pub const ITERATIONS_MAX: u32 = 10_000;
/// Largest accepted stall limit: consecutive identical failures of a `run`.
pub const STALL_LIMIT_MAX: u32 = 10_000;
/// Largest accepted timeout of one iteration, seconds: a week.
pub const ITERATION_TIMEOUT_S_MAX: u64 = 604_800;
/// Default number of iterations of one `run`.
pub const ITERATIONS_DEFAULT: u32 = 10;
/// Default stall limit: consecutive identical failures after which a `run` stops.
pub const STALL_LIMIT_DEFAULT: u32 = 3;
/// Default timeout of one iteration, seconds.
pub const ITERATION_TIMEOUT_S_DEFAULT: u64 = 3_600;
/// Grace period between SIGTERM and SIGKILL for a process group, milliseconds.
pub const TERMINATE_GRACE_MS: u64 = 3_000;
/// Grace period for output after the agent has exited, milliseconds.
pub const DRAIN_GRACE_MS: u64 = 2_000;
/// Maximum size of the standard error tail that is kept for the error text, bytes.
pub const STDERR_TAIL_BYTES_MAX: usize = 16 << 10;
/// Maximum number of standard error lines in an outcome's error.
pub const STDERR_TAIL_LINES_MAX: usize = 20;
/// Maximum length of an outcome's error or message, characters.
pub const OUTCOME_TEXT_CHARS_MAX: usize = 2_000;
/// Longest prompt that is passed as an argument, bytes; a longer one is passed through standard input.
pub const PROMPT_ARG_BYTES_MAX: usize = 96 << 10;
/// Maximum number of files in one iteration's outcome.
pub const FILES_PER_OUTCOME_MAX: usize = 1_000;

/// Largest accepted number of entries (decisions and errors) in the mirror.
pub const MIRROR_ENTRIES_MAX: usize = 100_000;
/// Default number of entries (decisions and errors) in the mirror.
pub const MIRROR_ENTRIES_DEFAULT: usize = 50;
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
/// Longest excerpt of an item in a receipt, characters.
pub const RECEIPT_EXCERPT_CHARS_MAX: usize = 80;
/// Minimum interval between two rewrites of a mirror by one process, milliseconds.
pub const MIRROR_PAUSE_MS: u64 = 1_000;
/// Maximum size of a mirror file, bytes.
pub const MIRROR_BYTES_MAX: u64 = 64 << 20;
/// Maximum size of an import file, bytes.
pub const IMPORT_BYTES_MAX: u64 = 1 << 30;
/// Maximum size of a file of another tool that `init` probes on its own, bytes.
pub const INIT_PROBE_BYTES_MAX: u64 = 64 << 20;
/// Largest config file, bytes.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of `--set` options of one call.
pub const SET_FLAGS_MAX: usize = 100;
/// Maximum size of a prompt file, bytes.
pub const PROMPT_FILE_BYTES_MAX: usize = 16 << 20;
/// Longest line of standard input that is read as one record, bytes: the longest text, escaped.
pub const STDIN_LINE_BYTES_MAX: usize = 4 * RECORD_TEXT_BYTES_MAX;
/// Records that `remember --stdin` and imports write in one durable batch.
pub const BATCH_RECORDS: usize = 256;
/// Characters per token, where no tokenizer is used.
pub const CHARS_PER_TOKEN: usize = 4;
/// Maximum number of attempts to decide a write when other processes commit first.
pub const MERGE_RETRIES_MAX: usize = 100;
/// Busy timeout: maximum wait for the write lock, milliseconds.
pub const BUSY_TIMEOUT_MS: u64 = 30_000;
/// Minimum number of hex digits of an abbreviated id.
pub const ID_PREFIX_MIN: usize = 4;
/// Longest text of one message, bytes.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// Maximum number of events that one query returns.
pub const EVENTS_MAX: usize = 10_000;
/// Longest search text of a purge, bytes.
pub const PURGE_TEXT_BYTES_MAX: usize = 4 << 10;

/// Minimum share of the longer text's words that near-duplicates have in common.
pub const NEAR_DUPLICATE_MIN: f64 = 0.75;

/// Maximum size of the standard input of `heirloom redact`, bytes.
pub const REDACT_INPUT_BYTES_MAX: usize = 16 << 20;
/// Maximum number of redaction rules in a configuration, and of entries in its allow list.
pub const REDACT_RULES_MAX: usize = 200;
/// Longest regular expression of a redaction rule, bytes.
pub const REDACT_RULE_BYTES_MAX: usize = 2_000;
/// Largest compiled redaction rule, bytes.
pub const REDACT_REGEX_BYTES_MAX: usize = 1 << 20;
/// Longest kind of a redaction rule, bytes.
pub const REDACT_KIND_BYTES_MAX: usize = 40;
/// Maximum size of a file for `redact --check`, bytes.
pub const REDACT_FILE_BYTES_MAX: u64 = 64 << 20;
/// Maximum number of findings that `redact --check` lists; further ones are counted.
pub const REDACT_FINDINGS_MAX: usize = 10_000;
/// Bytes at the beginning of a file that are searched for a NUL, which marks a binary file.
pub const REDACT_BINARY_PROBE_BYTES: usize = 8 << 10;
/// Days for which a backup from before a migration or a restore is retained.
pub const RETAINED_BACKUP_DAYS: i64 = 30;
/// Maximum size of a damaged database, and of its journal, for salvage, bytes.
pub const SALVAGE_BYTES_MAX: u64 = 4 << 30;
/// Maximum number of unrecovered rows that a repair lists.
pub const ROWS_LEFT_OUT_NAMED_MAX: usize = 1_000;
/// Free space below which `doctor` warns, bytes.
pub const DISK_FREE_BYTES_MIN: u64 = 100 << 20;
/// Free space below which `doctor` warns, as a multiple of the store's size: a repair or a restore needs it.
pub const DISK_FREE_STORES_MIN: u64 = 2;
/// Seconds by which the newest record may be in the future before `doctor` warns about the clock.
pub const CLOCK_AHEAD_S_MAX: i64 = 300;
/// Age after which a temporary file is stale, seconds: no write takes that long.
pub const STALE_TEMP_FILE_S_MIN: i64 = 3_600;
/// Maximum number of findings per check that `doctor` lists.
pub const FINDINGS_SHOWN_MAX: usize = 10;
/// Maximum number of entries of a project's folder that `doctor` reads.
pub const FOLDER_ENTRIES_MAX: usize = 100_000;
/// Maximum number of distinct stems of a query; further ones are ignored.
pub const QUESTION_TERMS_MAX: usize = 10_000;
/// Number of leading word pieces of a text that its vector is computed from.
pub const VECTOR_PIECES_MAX: usize = 192;
/// Number of leading word pieces of the first line that count twice.
pub const VECTOR_HEAD_PIECES_MAX: usize = 64;
/// Number of word pieces of a query that its vector is computed from.
pub const QUESTION_PIECES_MAX: usize = 512;

/// Longest approach, and longest outcome, of an episode, bytes.
pub const EPISODE_TEXT_BYTES_MAX: usize = 64 << 10;
/// Newest episodes of a task that a context considers.
pub const CONTEXT_EPISODES_MAX: usize = 200;
/// Newest artifacts of a task that a context considers.
pub const CONTEXT_ARTIFACTS_MAX: usize = 200;
/// Page size of queries that filter by attributes, records.
pub const PAGE_RECORDS: usize = 1_000;
/// Default retention of episodes, days.
pub const EPISODES_KEPT_DAYS_DEFAULT: u32 = 30;
/// Largest accepted retention, days: a century. 0 keeps records for good.
pub const RETENTION_DAYS_MAX: u32 = 36_500;
/// Largest file whose checksum is computed, bytes.
pub const ARTIFACT_BYTES_MAX: u64 = 1 << 30;
/// Longest description of an artifact, bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 4 << 10;
/// Longest text in an agent's working memory, bytes.
pub const WORKING_TEXT_BYTES_MAX: usize = 64 << 10;
/// Maximum number of constraints, of context entries and of notes in an agent's working memory.
pub const WORKING_ITEMS_MAX: usize = 1_000;
/// Largest snapshot of an agent's working memory, bytes.
pub const WORKING_BYTES_MAX: usize = 4 << 20;
/// Maximum size of a shared context file, bytes.
pub const SHARED_FILE_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of files in one import of shared context.
pub const SHARED_FILES_MAX: usize = 1_000;
/// Maximum folder depth of an import of shared context.
pub const SHARED_FOLDER_DEPTH_MAX: usize = 8;
/// Longest summary of a file of shared context, characters.
pub const SHARED_SUMMARY_CHARS_MAX: usize = 200;

/// Longest query of a recall, bytes.
pub const RECALL_QUERY_BYTES_MAX: usize = 2 << 20;
/// Default number of hits of a recall.
pub const RECALL_HITS_DEFAULT: usize = 10;
/// Maximum number of hits of a recall.
pub const RECALL_HITS_MAX: usize = 1_000;
/// Minimum number of ranked candidates. Beyond three per hit of the default ten, results change in less than one
/// query of a hundred.
pub const RECALL_CANDIDATES_MIN: usize = 30;
/// Number of hits that are considered when another criterion than their count selects the results.
pub const RECALL_POOL_HITS: usize = 40;
/// Largest budget of a recall, tokens.
pub const RECALL_BUDGET_TOKENS_MAX: usize = 1_000_000;
/// Maximum number of filter values, phrases and dates of one query; further ones are treated as words.
pub const RECALL_PARTS_MAX: usize = 100;
/// Number of words of a candidate that proximity scoring considers.
pub const RECALL_PAIR_WORDS_MAX: usize = 4_096;
/// Maximum number of keys that one query is looked up by.
pub const RECALL_KEYS_MAX: usize = 4;
/// Maximum number of word pieces of a question whose similarity to those of a record is computed.
pub const RELEVANCE_QUESTION_PIECES_MAX: usize = 160;
/// Maximum number of word pieces of a record that are compared.
pub const RELEVANCE_RECORD_PIECES_MAX: usize = 96;
/// Maximum of the usefulness count, either way.
pub const USEFUL_MAX: i64 = 5;
/// Maximum number of pinned records that a context considers.
pub const PINNED_MAX: usize = 200;
/// Longest turn of `session add`, bytes.
pub const SESSION_ADD_BYTES_MAX: usize = 16 << 20;
/// Maximum number of resolved errors that a new error is compared with.
pub const ERRORS_COMPARED_MAX: usize = 1_000;
/// Maximum number of records that a review compares.
pub const REVIEW_RECORDS_MAX: usize = 20_000;

/// Length of the end of an agent's last output that prompts contain, characters.
pub const OUTPUT_CHARS_MAX: usize = 2_000;
/// Maximum size of an accepted output, bytes.
pub const OUTPUT_INPUT_BYTES_MAX: usize = 16 << 20;
/// Maximum size of the stored end of an output, bytes of JSON: with its metadata it fits a record's attributes.
pub const OUTPUT_FULL_BYTES_MAX: usize = 768 << 10;
/// Longest metadata of an output, bytes of JSON.
pub const OUTPUT_METADATA_BYTES_MAX: usize = 64 << 10;
/// Maximum size of an output file, bytes.
pub const OUTPUT_FILE_BYTES_MAX: u64 = 32 << 20;
/// Longest file name of an output without extension, bytes; a longer one ends with a hash.
pub const OUTPUT_NAME_BYTES_MAX: usize = 200;
/// Maximum number of output files, and of histories, that one import or list reads.
pub const OUTPUT_FILES_MAX: usize = 4_000;
/// Newest outputs of other agents that a context considers.
pub const CONTEXT_OUTPUTS_MAX: usize = 20;
/// Default number of a session's interactions that prompts contain in full.
pub const HISTORY_LIVE_DEFAULT: usize = 10;
/// Maximum number of a session's interactions that prompts contain in full.
pub const HISTORY_LIVE_MAX: usize = 1_000;
/// Default token budget of a conversation's turns in a context.
pub const HISTORY_BUDGET_TOKENS_DEFAULT: usize = 8_000;
/// Interactions that the summary for prompts covers.
pub const HISTORY_SUMMARISED: usize = 5;
/// Longest goal, and longest output, in a line of a summary, characters.
pub const HISTORY_EXCERPT_CHARS_MAX: usize = 160;
/// Number of older interactions that a summary lists; earlier ones are counted.
pub const HISTORY_OLDER_MAX: usize = 50;
/// Number of newest turns from which a session's history is built.
pub const HISTORY_TURNS_MAX: usize = 2_000;
/// Maximum size of a `history.json`, bytes.
pub const HISTORY_FILE_BYTES_MAX: u64 = 64 << 20;
/// Maximum number of interactions imported from one `history.json`; further ones are counted.
pub const HISTORY_INTERACTIONS_MAX: usize = 100_000;

/// Maximum number of dimensions of an external embedder's vectors.
pub const EMBEDDING_DIMS_MAX: usize = 4_096;
/// Longest model name of an external embedder, bytes.
pub const EMBEDDING_MODEL_BYTES_MAX: usize = 200;
/// Leading bytes of a text that an external embedder gets: no tokenizer makes more than the usual 8,192 tokens of it.
pub const EMBEDDING_TEXT_BYTES_MAX: usize = 8_000;
/// Maximum number of texts per embedding request.
pub const EMBEDDING_BATCH_TEXTS_MAX: usize = 64;
/// Maximum size of the texts per embedding request, bytes; a single text may exceed it.
pub const EMBEDDING_BATCH_BYTES_MAX: usize = 128 << 10;
/// Maximum size of an embeddings response, bytes.
pub const EMBEDDING_ANSWER_BYTES_MAX: u64 = 32 << 20;
/// Maximum number of attempts for one batch, if the service is busy or fails.
pub const EMBEDDING_TRIES_MAX: u32 = 4;
/// Back-off before the second attempt, milliseconds; it doubles with each later one.
pub const EMBEDDING_PAUSE_MS: u64 = 250;
/// Longest accepted `Retry-After` of an embeddings service, milliseconds.
pub const EMBEDDING_PAUSE_MS_MAX: u64 = 20_000;
/// Timeout of one batch request, milliseconds.
pub const EMBEDDING_BATCH_TIMEOUT_MS: u64 = 60_000;
/// Maximum size of a model file in a folder, bytes.
pub const EMBEDDING_MODEL_FILE_BYTES_MAX: u64 = 2 << 30;
/// Default timeout of a query's vector, milliseconds.
pub const EMBEDDING_QUESTION_MS_DEFAULT: u64 = 2_000;
/// Largest accepted timeout of a query's vector, milliseconds.
pub const EMBEDDING_QUESTION_MS_MAX: u64 = 60_000;
/// Number of texts that a command embeds before it exits, if it wrote many.
pub const EMBEDDING_CATCH_UP_MAX: usize = 1_000;
/// Time after which such a command starts no further batch, milliseconds.
pub const EMBEDDING_CATCH_UP_MS: u64 = 10_000;
/// Largest share of texts without a vector of an external model, as one in n: such texts rank by words alone.
pub const EMBEDDING_MISSING_ONE_IN: u64 = 20;

/// Maximum size of the data of one language model call, bytes.
pub const WRITER_DATA_BYTES_MAX: usize = 4 << 20;
/// Maximum size of a language model's response, bytes.
pub const WRITER_ANSWER_BYTES_MAX: u64 = 2 << 20;
/// Maximum number of attempts per call, if the service is busy or fails.
pub const WRITER_TRIES_MAX: u32 = 2;
/// Default back-off before the second attempt, milliseconds.
pub const WRITER_PAUSE_MS: u64 = 500;
/// Longest accepted `Retry-After` of a language model service, milliseconds.
pub const WRITER_PAUSE_MS_MAX: u64 = 10_000;
/// Connection timeout, milliseconds.
pub const WRITER_CONNECT_MS_MAX: u64 = 10_000;
/// Largest accepted timeout of one attempt, seconds.
pub const WRITER_TIMEOUT_S_MAX: u64 = 600;
/// Largest accepted number of output tokens.
pub const WRITER_OUTPUT_TOKENS_MAX: u64 = 32_000;
/// Largest accepted daily limit, in tokens and in cents.
pub const WRITER_DAILY_MAX: u64 = 1_000_000_000;
/// Maximum size of the spend ledger file, bytes.
pub const SPEND_LEDGER_BYTES_MAX: u64 = 64 << 10;

/// Maximum size of a custom command's file, bytes.
pub const COMMAND_BYTES_MAX: u64 = 256 << 10;
/// Longest template of a custom command, bytes.
pub const COMMAND_TEMPLATE_BYTES_MAX: usize = 64 << 10;
/// Maximum number of parts (texts, places, programs, files) of a template.
pub const COMMAND_PARTS_MAX: usize = 1_000;
/// Longest name of a custom command, folders included, bytes.
pub const COMMAND_NAME_BYTES_MAX: usize = 200;
/// Longest description of a custom command, bytes.
pub const COMMAND_DESCRIPTION_BYTES_MAX: usize = 4 << 10;
/// Maximum number of arguments of a custom command.
pub const COMMAND_ARGS_MAX: usize = 100;
/// Maximum total size of a custom command's arguments, bytes: each fits into an environment variable.
pub const COMMAND_ARGS_BYTES_MAX: usize = 96 << 10;
/// Longest prompt that a custom command renders, bytes.
pub const COMMAND_RENDERED_BYTES_MAX: usize = 4 << 20;
/// Maximum output of one program of a custom command, bytes.
pub const COMMAND_OUTPUT_BYTES_MAX: usize = 1 << 20;
/// Maximum size of a file that a custom command inserts, bytes.
pub const COMMAND_FILE_BYTES_MAX: u64 = 1 << 20;
/// Default timeout of a custom command's programs, seconds.
pub const COMMAND_TIMEOUT_S_DEFAULT: u64 = 30;
/// Largest accepted timeout of a custom command's programs, seconds.
pub const COMMAND_TIMEOUT_S_MAX: u64 = 3_600;
/// Maximum number of files of custom commands that are read from one folder.
pub const COMMAND_FILES_MAX: usize = 1_000;
/// Maximum folder depth of custom commands.
pub const COMMAND_FOLDER_DEPTH_MAX: usize = 8;
/// Longest accepted invocation, bytes.
pub const INVOCATION_BYTES_MAX: usize = 64 << 10;
/// Maximum number of directives of one invocation.
pub const DIRECTIVES_MAX: usize = 50;
/// Maximum number of files that one invocation injects, and of names of one `input`.
pub const DIRECTIVE_FILES_MAX: usize = 100;
/// Maximum size of an injected file, bytes.
pub const DIRECTIVE_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum total size of the files that one invocation reads, bytes.
pub const DIRECTIVE_TOTAL_BYTES_MAX: u64 = 8 << 20;
/// Maximum number of lines of an agent's output that `tail` injects.
pub const DIRECTIVE_TAIL_LINES_MAX: usize = 10_000;
/// Length of the excerpt of an invocation in an error message, characters.
pub const DIRECTIVE_SHOWN_CHARS: usize = 72;
/// Maximum number of files and folders that one pattern visits.
pub const DIRECTIVE_ENTRIES_MAX: usize = 100_000;
/// Maximum number of files and folders visited to suggest the nearest match of a missing file.
pub const DIRECTIVE_NEAR_ENTRIES_MAX: usize = 5_000;
/// Maximum folder depth of a walk through a project.
pub const FOLDER_DEPTH_MAX: usize = 64;
/// Maximum size of a file of a workspace or of team memory, bytes.
pub const WORKSPACE_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of files in one folder of a workspace or of team memory.
pub const WORKSPACE_FILES_MAX: usize = 1_000;
/// Maximum number of bullets and headings of all these files that become records.
pub const WORKSPACE_ITEMS_MAX: usize = 50_000;
/// Default size of one workspace file in a prompt, characters.
pub const WORKSPACE_FILE_CHARS_DEFAULT: usize = 4_000;
/// Largest accepted size of one workspace file in a prompt, characters.
pub const WORKSPACE_FILE_CHARS_MAX: usize = 1_000_000;
/// Default number of days before a daily log is archived.
pub const WORKSPACE_DAYS_DEFAULT: u32 = 7;
/// Number of newest lines of the learnings file in a prompt.
pub const WORKSPACE_LEARNING_LINES: usize = 20;
/// Size of a workspace file above which its oldest entries are moved to the archive, bytes.
pub const WORKSPACE_ARCHIVE_AT_BYTES: usize = 64 << 10;
/// Longest entry that a writer adds to a workspace file, bytes.
pub const WORKSPACE_ENTRY_BYTES_MAX: usize = 16 << 10;
/// Maximum size of the workspace index file, bytes.
pub const WORKSPACE_INDEX_BYTES_MAX: u64 = 32 << 20;
/// Number of previous versions of workspace files that are kept for undo.
pub const WORKSPACE_HISTORY_FILES: usize = 500;
/// Maximum total size of these versions, bytes.
pub const WORKSPACE_HISTORY_BYTES_MAX: u64 = 64 << 20;
/// Lock timeout of files that people edit too, milliseconds.
pub const FILE_LOCK_MS: u64 = 10_000;
/// Maximum number of pairs of old and new entries under one heading that are compared to detect edits.
pub const WORKSPACE_PAIRS_MAX: usize = 10_000;
/// Longest file name in team memory, bytes.
pub const TEAM_FILE_NAME_BYTES_MAX: usize = 200;
/// Longest note of `update_memory`, bytes.
pub const GROUP_NOTE_BYTES_MAX: usize = 16 << 10;
/// Number of conversation summaries that a group keeps; the oldest are dropped.
pub const GROUP_SUMMARIES_MAX: usize = 5;
/// Longest conversation summary inside a group summary, characters.
pub const GROUP_SUMMARY_CHARS_MAX: usize = 12_000;
/// Maximum size read from the end of a group file, bytes; a larger persona is omitted.
pub const GROUP_FILE_BYTES_MAX: u64 = 1 << 20;
/// Number of newest notes that a group's file is compared with.
pub const GROUP_NOTES_COMPARED_MAX: usize = 200;
/// Time within which a note that disappeared from the end of the file is written again once, seconds.
pub const GROUP_NOTE_BACK_S: i64 = 24 * 60 * 60;
/// Time after which an editor is assumed to have seen a note in the file, milliseconds. A note that was rewritten
/// once and is missing again stays removed.
pub const GROUP_NOTE_KNOWN_MS: i64 = 60_000;
/// Maximum size of an inbox file, bytes.
pub const INBOX_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of inbox files that one sweep processes.
pub const INBOX_SWEEP_MAX: usize = 1_000;
/// Time for which an unreadable inbox file is retried, because a program may still be writing it, milliseconds.
pub const INBOX_RETRY_MS: i64 = 2_000;
/// Maximum number of processed inbox files that are kept.
pub const INBOX_DONE_MAX: usize = 1_000;
/// Polling interval of `watch`, milliseconds.
pub const WATCH_PAUSE_MS: u64 = 100;
/// Polling interval of a server for inbox and workspace files, milliseconds.
pub const SERVER_WATCH_PAUSE_MS: u64 = 200;
/// Maximum number of notes about the files of a project that a server keeps for its clients.
pub const SERVER_FILE_NOTES_MAX: usize = 20;
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
/// Maximum number of tracked files in a project's outline.
pub const TRACKED_FILES_MAX: usize = 50_000;
/// Maximum size of a git index, bytes.
pub const GIT_INDEX_BYTES_MAX: u64 = 16 << 20;
/// Folder depth of a project's outline.
pub const TREE_DEPTH: usize = 3;
/// Maximum number of names in one line of that outline.
pub const TREE_NAMES_MAX: usize = 30;
/// Maximum size of a plan file or architecture document in a context, bytes.
pub const PROJECT_FILE_BYTES_MAX: u64 = 256 << 10;
/// Maximum number of files of one plan, and of architecture documents, that a context reads.
pub const PLAN_FILES_MAX: usize = 20;
/// Maximum number of entries read from a plan folder.
pub const PLAN_FOLDER_ENTRIES_MAX: usize = 1_000;
/// Longest goal of a plan, characters.
pub const PLAN_GOAL_CHARS_MAX: usize = 1_000;
/// Number of context receipts that a project keeps.
pub const RECEIPTS_KEPT: usize = 200;
/// Number of omitted items per section that a stored receipt lists; further ones are counted.
pub const RECEIPT_LEFT_OUT_MAX: usize = 20;
/// Busy timeout for storing a receipt, milliseconds: it must not delay a prompt.
pub const RECEIPT_WAIT_MS: u64 = 200;
/// Maximum size of a stored receipt, bytes.
pub const RECEIPT_BYTES_MAX: usize = 4 << 20;

/// Length of the excerpt of an agent's first plan in anchors and summaries, characters.
pub const WINDOW_PLAN_CHARS_MAX: usize = 600;
/// Maximum number of ids of dropped messages in a window's summary.
pub const WINDOW_SUMMARY_IDS_MAX: usize = 4;
/// Maximum size of a history for `compact`, bytes.
pub const WINDOW_INPUT_BYTES_MAX: usize = 256 << 20;
/// Largest number of a window's policy: characters, tokens, messages or seconds.
pub const WINDOW_NUMBER_MAX: u32 = 1_000_000_000;
/// Maximum unpacked size of a conversation for `bench window`, bytes.
pub const WINDOW_BENCH_BYTES_MAX: u64 = 256 << 20;
/// Maximum size of an archive or overflow file for `expand`, bytes.
pub const WINDOW_ARCHIVE_BYTES_MAX: u64 = 512 << 20;
/// Number of expanded texts that a session remembers; the oldest are dropped.
pub const WINDOW_EXPANDED_MAX: usize = 1_000;

/// Maximum size of a hook event, bytes; the rest of a longer one is ignored.
pub const HOOK_INPUT_BYTES_MAX: usize = 8 << 20;
/// Deadline of a hook, milliseconds; after it the answer is empty.
pub const HOOK_DEADLINE_MS: u64 = 2_000;
/// Time after which the session-end hook stops reading the transcript, milliseconds: Claude Code waits for 1.5
/// seconds.
pub const HOOK_ARCHIVE_MS: u64 = 900;
/// Time that a hook may continue after its answer is sent, within its deadline, milliseconds.
pub const HOOK_AFTER_ANSWER_MS: u64 = 1_000;
/// Maximum length of the text that one hook answer injects, characters: every agent program accepts it.
pub const HOOK_TEXT_CHARS_MAX: usize = 8_000;
/// Maximum length of that text when a subagent starts, characters.
pub const HOOK_SUBAGENT_CHARS_MAX: usize = 3_000;
/// Leading bytes of a prompt that are used as the recall query.
pub const HOOK_QUESTION_BYTES_MAX: usize = 4_000;
/// Maximum number of hits injected into a prompt.
pub const HOOK_HITS_MAX: usize = 3;
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
/// Number of files, of steps and of failures that hooks remember per session.
pub const HOOK_SESSION_ITEMS_MAX: usize = 50;
/// Number of delivered records that a session remembers so as not to repeat them.
pub const HOOK_DELIVERED_MAX: usize = 500;
/// Length of the newest injected text that is kept to recognise an echo, characters.
pub const HOOK_ECHO_CHARS_MAX: usize = 16_000;
/// Number of sessions whose hook state is kept; the oldest are dropped.
pub const HOOK_SESSIONS_MAX: usize = 100;
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
/// Longest line of a transcript, bytes; a longer one is skipped.
pub const TRANSCRIPT_LINE_BYTES_MAX: usize = 32 << 20;
/// Maximum size of a transcript, bytes; a compressed one is limited both packed and unpacked.
pub const TRANSCRIPT_BYTES_MAX: u64 = 2 << 30;
/// Maximum compression ratio of a transcript, beyond the size that every one may have
/// ([`TRANSCRIPT_VALUE_BYTES_MAX`]).
pub const TRANSCRIPT_PACKED_RATIO_MAX: u64 = 100;
/// Maximum size of a transcript that is one JSON value, bytes.
pub const TRANSCRIPT_VALUE_BYTES_MAX: u64 = 64 << 20;
/// Leading bytes of a transcript that are searched for its session and folder.
pub const TRANSCRIPT_HEAD_BYTES_MAX: usize = 4 << 20;
/// Maximum number of files that one transcript import visits.
pub const TRANSCRIPT_FILES_MAX: usize = 20_000;
/// Longest prompt or answer of a transcript that is stored whole, characters.
pub const TRANSCRIPT_TEXT_CHARS_MAX: usize = 16_000;
/// Longest tool result that is stored whole, characters; of a longer one the beginning and the end are stored.
pub const TRANSCRIPT_RESULT_CHARS_MAX: usize = 600;
/// Longest description of a tool call, characters.
pub const TRANSCRIPT_CALL_CHARS_MAX: usize = 400;
/// Characters of the removed and of the added text of one edit that lessons are taken from.
pub const TRANSCRIPT_EDIT_CHARS_MAX: usize = 4_000;
/// Number of items of a plan or to-do list in a tool call.
pub const TRANSCRIPT_PLAN_ITEMS_MAX: usize = 100;
/// Number of changes of one conversation's task list that are followed.
pub const TRANSCRIPT_TASK_CHANGES_MAX: usize = 2_000;
/// Number of queued prompts of a conversation that wait for their delivery.
pub const TRANSCRIPT_QUEUED_PROMPTS_MAX: usize = 50;
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
/// Levels of subshells of a command line that are read.
pub const SUBSHELLS_MAX: usize = 4;
/// Number of lines that are stored as the source of a lesson.
pub const LESSON_EVIDENCE_MAX: usize = 6;
/// Longest stored line of a lesson's source, characters.
pub const LESSON_EVIDENCE_CHARS_MAX: usize = 240;
/// Number of newest failures of a conversation that wait for a fix.
pub const TRANSCRIPT_FAILURES_MAX: usize = 32;
/// Number of tool calls of a conversation that wait for their results.
pub const TRANSCRIPT_CALLS_MAX: usize = 1_000;
/// Maximum number of imports of one growing transcript that are distinguished.
pub const TRANSCRIPT_MARKS_MAX: usize = 32;
/// Maximum number of changes of one conversation that are buffered before a write.
pub const TRANSCRIPT_BUFFERED_CHANGES_MAX: usize = 2_000;

/// Maximum length of the transcript that a summary model gets, characters.
pub const WINDOW_TRANSCRIPT_CHARS_MAX: usize = 240_000;
/// Maximum length of a model's summary, characters.
pub const MODEL_SUMMARY_CHARS_MAX: usize = 12_000;
/// Number of model summaries that a session keeps; the oldest are dropped.
pub const MODEL_SUMMARIES_MAX: usize = 8;
/// Number of newest archive ids that a session keeps.
pub const WINDOW_ARCHIVES_MAX: usize = 4_000;

/// Maximum number of projects that a server keeps open (LRU cache).
pub const OPEN_PROJECTS_MAX: usize = 64;
/// Maximum number of concurrent engine calls of a server; further ones wait in order.
pub const SERVER_CALLS_MAX: usize = 64;
/// Polling interval of a server for its stop flag, milliseconds.
pub const SERVER_STOP_PAUSE_MS: u64 = 50;

/// Additional connections of a store for concurrent readers.
pub const READERS_MAX: usize = 3;
/// Maximum number of writes in one group commit.
pub const WRITES_TOGETHER_MAX: usize = 128;
/// Maximum memory for the cached data of all projects of a store, bytes: those of 1.3 million texts.
pub const PROJECT_CACHE_BYTES_MAX: usize = 512 << 20;
/// Number of vectors that a sidecar may lack before it is rewritten.
pub const SIDECAR_LAG_VECTORS: u32 = 4_096;
/// Maximum number of vectors in a sidecar: 68 MB.
pub const SIDECAR_VECTORS_MAX: u32 = 262_144;
/// Maximum size of an MCP message, bytes; a longer line is skipped.
pub const MCP_MESSAGE_BYTES_MAX: usize = 8 << 20;
/// Page size of an MCP list.
pub const MCP_PAGE_ITEMS: usize = 100;
/// Maximum number of recent contexts that an MCP client sees.
pub const MCP_CONTEXTS_MAX: usize = 50;
/// Maximum number of client roots that are searched for a memory.
pub const MCP_ROOTS_MAX: usize = 100;
/// Longest URI of a resource or root, bytes.
pub const MCP_URI_BYTES_MAX: usize = 8 << 10;
/// Maximum number of concurrent MCP sessions over HTTP; further clients are rejected with a retry time.
pub const MCP_SESSIONS_MAX: usize = 256;
/// Timeout of a client's answer to `roots/list`, milliseconds.
pub const MCP_ROOTS_WAIT_MS: u64 = 5_000;
/// Interval between progress notifications, milliseconds.
pub const MCP_PROGRESS_PAUSE_MS: u64 = 1_000;
/// Time for pending calls to finish after a client disconnects, milliseconds.
pub const MCP_STOP_WAIT_MS: u64 = 60_000;
/// Maximum number of resource subscriptions of an MCP client.
pub const MCP_SUBSCRIPTIONS_MAX: usize = 100;
/// Polling interval of subscribed resource files, milliseconds.
pub const MCP_WATCH_PAUSE_MS: u64 = 2_000;

/// Maximum number of access tokens.
pub const TOKENS_MAX: usize = 1_000;
/// Maximum size of the token file, bytes.
pub const TOKENS_BYTES_MAX: u64 = 1 << 20;
/// Number of unused login links; the oldest are dropped.
pub const LOGIN_LINKS_MAX: usize = 20;
/// Lifetime of a login link, seconds.
pub const LOGIN_LINK_S: i64 = 120;
/// Maximum number of concurrent logins; the least recently used one is logged out.
pub const LOGINS_MAX: usize = 200;
/// Idle timeout of a login, seconds.
pub const LOGIN_S: u64 = 12 * 3_600;
/// Maximum size of a request body, bytes.
pub const SERVER_BODY_BYTES_MAX: usize = 8 << 20;
/// Maximum total size of request bodies over 64 KiB in memory, bytes; further ones wait.
pub const SERVER_BODIES_BYTES_MAX: usize = 64 << 20;
/// Timeout of a request body, seconds.
pub const SERVER_BODY_S: u64 = 30;
/// Timeout of a request head, and of an idle connection, seconds.
pub const SERVER_HEAD_S: u64 = 30;
/// Longest head of a request, bytes.
pub const SERVER_HEAD_BYTES_MAX: usize = 64 << 10;
/// Write timeout of a response that the client does not read, seconds.
pub const SERVER_WRITE_S: u64 = 30;
/// Maximum number of concurrent connections; further ones wait to be accepted.
pub const SERVER_CONNECTIONS_MAX: usize = 4_096;
/// Grace period for requests in flight when a server stops, seconds.
pub const SERVER_STOP_S: u64 = 10;
/// Maximum nesting depth of JSON requests.
pub const SERVER_JSON_DEPTH_MAX: usize = 64;
/// Default page size of the HTTP API.
pub const API_PAGE_DEFAULT: usize = 50;
/// Maximum page size of the HTTP API.
pub const API_PAGE_MAX: usize = 1_000;
/// Number of recent changes that a server keeps for followers; a follower that is further behind reads the store.
pub const SERVER_EVENTS_KEPT: usize = 1_000;
/// Polling interval for writes of other processes, milliseconds.
pub const SERVER_EVENTS_PAUSE_MS: u64 = 250;
/// Keep-alive interval of an idle event stream, seconds.
pub const SERVER_EVENTS_IDLE_S: u64 = 15;
/// Number of responses that a server keeps for idempotency keys; the oldest are dropped.
pub const IDEMPOTENCY_KEPT: usize = 10_000;
/// Total size of those responses, bytes.
pub const IDEMPOTENCY_BYTES_MAX: usize = 16 << 20;
/// Longest `Idempotency-Key`, bytes.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 200;
/// Maximum number of working memories of a server; the least recently used one is dropped.
pub const WORKING_MEMORIES_MAX: usize = 1_000;
/// Pruning interval of a server, seconds: a day.
pub const SERVER_PRUNE_S: u64 = 86_400;
/// Delay of a server's first pruning after its start, seconds.
pub const SERVER_PRUNE_FIRST_S: u64 = 3_600;
/// Maximum number of concurrent engine calls that are read-only or bound by computation.
pub const SERVER_COMPUTE_CALLS_MAX: usize = 4;
