//! A number on everything: each cap of Heirloom, in one place.
//!
//! Beyond a cap the caller gets a diagnostic or an error that names the cap; nothing is cut silently.

/// Longest text of one record, bytes.
pub const RECORD_TEXT_BYTES_MAX: usize = 1 << 20;
/// Longest key of a record, bytes.
pub const KEY_BYTES_MAX: usize = 1_024;
/// Longest name: project, category, agent, task, plan, group, session, phase, source; bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// Longest typed attributes of one record as JSON, bytes.
pub const ATTRS_BYTES_MAX: usize = 1 << 20;
/// Most changes in one atomic write.
pub const CHANGES_MAX: usize = 10_000;
/// Most records that one `find` returns.
pub const FIND_MAX: usize = 1_000_000;

/// Longest text of one signal, bytes.
pub const SIGNAL_TEXT_BYTES_MAX: usize = 16 << 10;
/// Most signals that one parser accepts; the rest are counted in one diagnostic.
pub const SIGNALS_MAX: usize = 100_000;
/// Most diagnostics that one parser keeps; the rest are counted.
pub const DIAGNOSTICS_MAX: usize = 1_000;
/// Longest line of plain output in which a signal is looked for, bytes.
pub const PLAIN_LINE_BYTES_MAX: usize = 64 << 10;
/// Longest line of a JSON stream, bytes.
pub const STREAM_LINE_BYTES_MAX: usize = 32 << 20;
/// Most lines that are read before output in an unknown format is taken for plain text.
pub const STREAM_AUTO_LINES_MAX: u64 = 200;
/// Most bytes that are read before output in an unknown format is taken for plain text.
pub const STREAM_AUTO_BYTES_MAX: usize = 1 << 20;
/// Most characters of a tool call's input that a stream tells.
pub const TOOL_INPUT_CHARS_MAX: usize = 200;
/// Most bytes of assistant text that a stream keeps as its final text.
pub const FINAL_TEXT_BYTES_MAX: usize = 256 << 10;
/// Most signal prefixes that may be active.
pub const SIGNAL_PREFIXES_MAX: usize = 16;

/// Longest path that is looked at, bytes.
pub const PATH_BYTES_MAX: usize = 4_096;
/// Most symbolic links that one path may go through.
pub const LINKS_MAX: usize = 40;
/// Largest file of git that is read, bytes.
pub const GIT_FILE_BYTES_MAX: u64 = 1 << 20;

/// Most iterations of one `run`.
pub const ITERATIONS_MAX: u32 = 10_000;
/// Most identical failures in a row that a `run` may be told to bear.
pub const STALL_LIMIT_MAX: u32 = 10_000;
/// Most seconds that one iteration may be given: a week.
pub const ITERATION_TIMEOUT_S_MAX: u64 = 604_800;
/// Iterations of one `run` when nothing is said.
pub const ITERATIONS_DEFAULT: u32 = 10;
/// Identical failures in a row after which a `run` gives up.
pub const STALL_LIMIT_DEFAULT: u32 = 3;
/// Seconds that one iteration may take when nothing is said.
pub const ITERATION_TIMEOUT_S_DEFAULT: u64 = 3_600;
/// Milliseconds between asking a process group to end and killing it.
pub const TERMINATE_GRACE_MS: u64 = 3_000;
/// Milliseconds that output may still arrive after the agent has ended.
pub const DRAIN_GRACE_MS: u64 = 2_000;
/// Most bytes of an agent's standard error that are kept for its error.
pub const STDERR_TAIL_BYTES_MAX: usize = 16 << 10;
/// Most lines of standard error in an outcome's error.
pub const STDERR_TAIL_LINES_MAX: usize = 20;
/// Most characters of an outcome's error or message.
pub const OUTCOME_TEXT_CHARS_MAX: usize = 2_000;
/// Most bytes of a prompt that go into an argument; a longer one goes through standard input.
pub const PROMPT_ARG_BYTES_MAX: usize = 96 << 10;
/// Most files that one iteration's outcome lists.
pub const FILES_PER_OUTCOME_MAX: usize = 1_000;

/// Most entries (decisions and errors) that the mirror may be told to keep.
pub const MIRROR_ENTRIES_MAX: usize = 100_000;
/// Entries (decisions and errors) kept in the mirror when nothing is said.
pub const MIRROR_ENTRIES_DEFAULT: usize = 50;
/// Characters of a context when nothing is said.
pub const CONTEXT_BUDGET_CHARS_DEFAULT: usize = 3_000;
/// Largest budget of a context, characters.
pub const CONTEXT_BUDGET_CHARS_MAX: usize = 10_000_000;
/// Largest budget of a context, tokens.
pub const CONTEXT_BUDGET_TOKENS_MAX: usize = CONTEXT_BUDGET_CHARS_MAX / CHARS_PER_TOKEN;
/// Facts that a context considers, whatever its budget.
pub const CONTEXT_FACTS_MIN: usize = 200;
/// Fewest of the newest open errors that a context considers, and of its task's own as many again.
pub const CONTEXT_ERRORS_MIN: usize = 100;
/// Most facts that a context considers; in between one for each [`CONTEXT_CHARS_PER_FACT`] of the budget, or for
/// each [`CONTEXT_CHARS_PER_SHORT_FACT`] if those do not fill it.
pub const CONTEXT_FACTS_MAX: usize = 10_000;
/// Characters of the budget for each fact that is considered: what a short sentence takes.
pub const CONTEXT_CHARS_PER_FACT: usize = 60;
/// The same where facts are short: less than one takes.
pub const CONTEXT_CHARS_PER_SHORT_FACT: usize = 10;
/// Completed steps and files of a task that come before errors in a context; older ones come last.
pub const CONTEXT_TASK_RECENT: usize = 10;
/// Longest excerpt of an item in a receipt, characters.
pub const RECEIPT_EXCERPT_CHARS_MAX: usize = 80;
/// Largest mirror that is read, bytes.
pub const MIRROR_BYTES_MAX: u64 = 64 << 20;
/// Largest import file that is read, bytes.
pub const IMPORT_BYTES_MAX: u64 = 1 << 30;
/// Largest file of another tool that `init` looks into by itself.
pub const OFFER_BYTES_MAX: u64 = 64 << 20;
/// Largest config file, bytes.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Most settings that one call may give with `--set`.
pub const SET_FLAGS_MAX: usize = 100;
/// Largest file with a prompt of the person's own, bytes.
pub const PROMPT_FILE_BYTES_MAX: usize = 16 << 20;
/// Longest line of standard input that is read as one record, bytes: a text of the longest kind, escaped.
pub const STDIN_LINE_BYTES_MAX: usize = 4 * RECORD_TEXT_BYTES_MAX;
/// Records that `remember --stdin` and imports write in one durable batch.
pub const BATCH_RECORDS: usize = 256;
/// Characters of one token where no tokenizer is asked for.
pub const CHARS_PER_TOKEN: usize = 4;
/// Times that a write is decided anew because another process was faster.
pub const DECISIONS_MAX: usize = 100;
/// Milliseconds that a writer waits for another one.
pub const BUSY_TIMEOUT_MS: u64 = 30_000;
/// Fewest hex digits of an abbreviated id.
pub const ID_PREFIX_MIN: usize = 4;
/// Longest text of one message, bytes.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// Most events that one question returns.
pub const EVENTS_MAX: usize = 10_000;
/// Longest text that a purge looks for, bytes.
pub const PURGE_TEXT_BYTES_MAX: usize = 4 << 10;

/// Least share of the longer text's words that the shorter one has, for the two to say nearly the same.
pub const NEAR_DUPLICATE_MIN: f64 = 0.75;

/// Longest standard input that `heirloom redact` takes, bytes.
pub const REDACT_INPUT_BYTES_MAX: usize = 16 << 20;
/// Most redaction rules of a configuration, and most entries of its allow list.
pub const REDACT_RULES_MAX: usize = 200;
/// Longest regular expression of a redaction rule, bytes.
pub const REDACT_RULE_BYTES_MAX: usize = 2_000;
/// Largest compiled redaction rule, bytes.
pub const REDACT_REGEX_BYTES_MAX: usize = 1 << 20;
/// Longest kind of a redaction rule, bytes.
pub const REDACT_KIND_BYTES_MAX: usize = 40;
/// Largest file that `redact --check` reads, bytes.
pub const REDACT_FILE_BYTES_MAX: u64 = 64 << 20;
/// Most findings that `redact --check` lists; the rest are counted.
pub const REDACT_FINDINGS_MAX: usize = 10_000;
/// Bytes at the beginning of a file in which a NUL says that it is no text.
pub const REDACT_BINARY_PROBE_BYTES: usize = 8 << 10;
/// Days that a copy from before a migration or a restore is kept.
pub const COPIES_KEPT_DAYS: i64 = 30;
/// Largest damaged database, and largest journal, out of which rows are recovered, bytes.
pub const SALVAGE_BYTES_MAX: u64 = 4 << 30;
/// Free space below which `doctor` warns, bytes.
pub const DISK_FREE_BYTES_MIN: u64 = 100 << 20;
/// Free space below which `doctor` warns, as a multiple of the store: what a repair or a restore needs.
pub const DISK_FREE_STORES_MIN: u64 = 2;
/// Seconds that the newest record may lie in the future before `doctor` warns about the clock.
pub const CLOCK_AHEAD_S_MAX: i64 = 300;
/// Seconds after which a temporary file counts as left over: no write takes that long.
pub const LEFT_OVER_S_MIN: i64 = 3_600;
/// Most findings of one check that `doctor` lists.
pub const FINDINGS_SHOWN_MAX: usize = 10;
/// Most entries of a project's folder that `doctor` looks at.
pub const FOLDER_ENTRIES_MAX: usize = 100_000;
/// Most distinct stems of a question; what comes later is left out.
pub const QUESTION_TERMS_MAX: usize = 10_000;
/// Pieces at the beginning of a text that its vector is made of.
pub const VECTOR_PIECES_MAX: usize = 192;
/// Pieces at the beginning of its first line that count once more.
pub const VECTOR_HEAD_PIECES_MAX: usize = 64;
/// Pieces of a question that its vector is made of.
pub const QUESTION_PIECES_MAX: usize = 512;

/// Longest approach, and longest outcome, of an episode, bytes.
pub const EPISODE_TEXT_BYTES_MAX: usize = 64 << 10;
/// Newest episodes of a task that a context considers.
pub const CONTEXT_EPISODES_MAX: usize = 200;
/// Newest artifacts of a task that a context considers.
pub const CONTEXT_ARTIFACTS_MAX: usize = 200;
/// Records that a question which looks into their attributes reads at a time.
pub const PAGE_RECORDS: usize = 1_000;
/// Days that episodes are kept when nothing is said.
pub const EPISODES_KEPT_DAYS_DEFAULT: u32 = 30;
/// Most days that anything may be told to be kept: a century. 0 keeps it for good.
pub const RETENTION_DAYS_MAX: u32 = 36_500;
/// Largest file whose checksum is computed, bytes.
pub const ARTIFACT_BYTES_MAX: u64 = 1 << 30;
/// Longest description of an artifact, bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 4 << 10;
/// Longest text in an agent's working memory, bytes.
pub const WORKING_TEXT_BYTES_MAX: usize = 64 << 10;
/// Most constraints, most entries of the task's context and most notes in an agent's working memory.
pub const WORKING_ITEMS_MAX: usize = 1_000;
/// Largest snapshot of an agent's working memory, bytes.
pub const WORKING_BYTES_MAX: usize = 4 << 20;
/// Largest file of shared context that is read, bytes.
pub const SHARED_FILE_BYTES_MAX: u64 = 4 << 20;
/// Most files that one import of shared context reads.
pub const SHARED_FILES_MAX: usize = 1_000;
/// Folders inside each other that an import of shared context looks into.
pub const SHARED_FOLDER_DEPTH_MAX: usize = 8;
/// Longest summary of a file of shared context, characters.
pub const SHARED_SUMMARY_CHARS_MAX: usize = 200;

/// Longest question of a recall, bytes.
pub const RECALL_QUERY_BYTES_MAX: usize = 2 << 20;
/// Hits of a recall when nothing is said.
pub const RECALL_HITS_DEFAULT: usize = 10;
/// Most hits of a recall.
pub const RECALL_HITS_MAX: usize = 1_000;
/// Candidates that are ranked, however few hits are asked for: beyond three for each of the usual ten no answer
/// changes in one question of a hundred.
pub const RECALL_CANDIDATES_MIN: usize = 30;
/// Hits that are looked at where something else than their number decides which are told.
pub const RECALL_HITS_MANY: usize = 40;
/// Largest budget of a recall, tokens.
pub const RECALL_BUDGET_TOKENS_MAX: usize = 1_000_000;
/// Most values of filters, phrases and dates that one question may have; the rest are words.
pub const RECALL_PARTS_MAX: usize = 100;
/// Words of a candidate that are looked at for neighbours.
pub const RECALL_PAIR_WORDS_MAX: usize = 4_096;
/// Most keys that one question is looked up under.
pub const RECALL_KEYS_MAX: usize = 4;
/// How often `useful` counts at most, either way.
pub const USEFUL_MAX: i64 = 5;
/// Most pinned records that a context considers.
pub const PINNED_MAX: usize = 200;
/// Longest turn of `session add`, bytes.
pub const SESSION_ADD_BYTES_MAX: usize = 16 << 20;
/// Most resolved errors that a new one is compared with.
pub const ERRORS_COMPARED_MAX: usize = 1_000;
/// Most records that a review compares.
pub const REVIEW_RECORDS_MAX: usize = 20_000;

/// Characters of an agent's last output that go into prompts: its end.
pub const OUTPUT_CHARS_MAX: usize = 2_000;
/// Longest output that is taken, bytes.
pub const OUTPUT_INPUT_BYTES_MAX: usize = 16 << 20;
/// Longest end of an output that is kept, bytes of JSON: with its metadata it fits a record's attributes.
pub const OUTPUT_FULL_BYTES_MAX: usize = 768 << 10;
/// Longest metadata of an output, bytes of JSON.
pub const OUTPUT_METADATA_BYTES_MAX: usize = 64 << 10;
/// Largest file of an output that is read, bytes.
pub const OUTPUT_FILE_BYTES_MAX: u64 = 32 << 20;
/// Longest name of an output's file before its ending, bytes; a longer one ends with a hash.
pub const OUTPUT_NAME_BYTES_MAX: usize = 200;
/// Most files of outputs, and most histories, that one import or list reads.
pub const OUTPUT_FILES_MAX: usize = 4_000;
/// Newest outputs of other agents that a context considers.
pub const CONTEXT_OUTPUTS_MAX: usize = 20;
/// Interactions of a session that are told in full when nothing is said.
pub const HISTORY_LIVE_DEFAULT: usize = 10;
/// Most interactions of a session that may be told in full.
pub const HISTORY_LIVE_MAX: usize = 1_000;
/// Tokens of a conversation's turns in a context when nothing is said.
pub const HISTORY_BUDGET_TOKENS_DEFAULT: usize = 8_000;
/// Interactions that the summary for prompts covers.
pub const HISTORY_SUMMARISED: usize = 5;
/// Longest goal, and longest output, in a line of a summary, characters.
pub const HISTORY_EXCERPT_CHARS_MAX: usize = 160;
/// Older interactions that a summary names; those before them are counted.
pub const HISTORY_OLDER_MAX: usize = 50;
/// Newest turns of a session that its history is made of.
pub const HISTORY_TURNS_MAX: usize = 2_000;
/// Largest `history.json` that is read, bytes.
pub const HISTORY_FILE_BYTES_MAX: u64 = 64 << 20;
/// Most interactions that one `history.json` brings; the rest are counted.
pub const HISTORY_INTERACTIONS_MAX: usize = 100_000;

/// Most numbers of a vector that another embedder than the built-in one makes.
pub const EMBEDDING_DIMS_MAX: usize = 4_096;
/// Longest name of such an embedder's model, bytes.
pub const EMBEDDING_MODEL_BYTES_MAX: usize = 200;
/// Beginning of a text that it is given, bytes: no tokenizer makes more than the usual 8,192 tokens of it.
pub const EMBEDDING_TEXT_BYTES_MAX: usize = 8_000;
/// Most texts that it is given at once.
pub const EMBEDDING_BATCH_TEXTS_MAX: usize = 64;
/// Most bytes of text that it is given at once, but for a single text.
pub const EMBEDDING_BATCH_BYTES_MAX: usize = 128 << 10;
/// Largest answer of an embeddings service that is read, bytes.
pub const EMBEDDING_ANSWER_BYTES_MAX: u64 = 32 << 20;
/// Times that a service is asked for one batch, if it is busy or fails.
pub const EMBEDDING_TRIES_MAX: u32 = 4;
/// Milliseconds before the second try; twice as many before each later one.
pub const EMBEDDING_PAUSE_MS: u64 = 250;
/// Longest time that a service may ask to wait before it is tried again, milliseconds.
pub const EMBEDDING_PAUSE_MS_MAX: u64 = 20_000;
/// Milliseconds that one request for a batch may take.
pub const EMBEDDING_BATCH_TIMEOUT_MS: u64 = 60_000;
/// Largest file of a model in a folder that is read, bytes.
pub const EMBEDDING_MODEL_FILE_BYTES_MAX: u64 = 2 << 30;
/// Milliseconds that a question waits for its vector when nothing is said.
pub const EMBEDDING_QUESTION_MS_DEFAULT: u64 = 2_000;
/// Most milliseconds that a question may be told to wait for its vector.
pub const EMBEDDING_QUESTION_MS_MAX: u64 = 60_000;
/// Texts that a command which has written many embeds on its way out.
pub const EMBEDDING_CATCH_UP_MAX: usize = 1_000;
/// Milliseconds after which such a command begins no further batch.
pub const EMBEDDING_CATCH_UP_MS: u64 = 10_000;
/// One text in so many may lack its vector where vectors of another model rank: it counts by its words alone.
pub const EMBEDDING_MISSING_ONE_IN: u64 = 20;

/// Most text that a model which writes is given at once, bytes.
pub const WRITER_DATA_BYTES_MAX: usize = 4 << 20;
/// Largest answer of such a model's service that is read, bytes.
pub const WRITER_ANSWER_BYTES_MAX: u64 = 2 << 20;
/// Times that it is asked for one text, if it is busy or fails.
pub const WRITER_TRIES_MAX: u32 = 2;
/// Milliseconds before the second try, if the service does not say.
pub const WRITER_PAUSE_MS: u64 = 500;
/// Longest time that a service may ask to wait before the second try, milliseconds.
pub const WRITER_PAUSE_MS_MAX: u64 = 10_000;
/// Milliseconds in which there must be a connection.
pub const WRITER_CONNECT_MS_MAX: u64 = 10_000;
/// Most seconds that one try may be told to take.
pub const WRITER_TIMEOUT_S_MAX: u64 = 600;
/// Most tokens that an answer may be told to have.
pub const WRITER_OUTPUT_TOKENS_MAX: u64 = 32_000;
/// Most tokens, and most cents, that a day may be told to cost.
pub const WRITER_DAILY_MAX: u64 = 1_000_000_000;
/// Largest file of what a day has cost, bytes.
pub const WRITER_SPENT_BYTES_MAX: u64 = 64 << 10;

/// Largest file of a custom command, bytes.
pub const COMMAND_BYTES_MAX: u64 = 256 << 10;
/// Longest template of a custom command, bytes.
pub const COMMAND_TEMPLATE_BYTES_MAX: usize = 64 << 10;
/// Most parts (texts, places, programs, files) of a template.
pub const COMMAND_PARTS_MAX: usize = 1_000;
/// Longest name of a custom command, folders included, bytes.
pub const COMMAND_NAME_BYTES_MAX: usize = 200;
/// Longest description of a custom command, bytes.
pub const COMMAND_DESCRIPTION_BYTES_MAX: usize = 4 << 10;
/// Most arguments of a custom command.
pub const COMMAND_ARGS_MAX: usize = 100;
/// Longest arguments of a custom command together, bytes: each fits into a variable of a program.
pub const COMMAND_ARGS_BYTES_MAX: usize = 96 << 10;
/// Longest prompt that a custom command makes, bytes.
pub const COMMAND_RENDERED_BYTES_MAX: usize = 4 << 20;
/// Most bytes that one program of a custom command may print.
pub const COMMAND_OUTPUT_BYTES_MAX: usize = 1 << 20;
/// Largest file that a custom command inserts, bytes.
pub const COMMAND_FILE_BYTES_MAX: u64 = 1 << 20;
/// Seconds that the programs of a custom command may take when nothing is said.
pub const COMMAND_TIMEOUT_S_DEFAULT: u64 = 30;
/// Most seconds that they may be given.
pub const COMMAND_TIMEOUT_S_MAX: u64 = 3_600;
/// Most files of custom commands that are read from one folder.
pub const COMMAND_FILES_MAX: usize = 1_000;
/// Folders inside each other that custom commands are looked for in.
pub const COMMAND_FOLDER_DEPTH_MAX: usize = 8;
/// Longest invocation that is read, bytes.
pub const INVOCATION_BYTES_MAX: usize = 64 << 10;
/// Most directives of one invocation.
pub const DIRECTIVES_MAX: usize = 50;
/// Most files that one invocation injects, and most names of one `input`.
pub const DIRECTIVE_FILES_MAX: usize = 100;
/// Largest file that is injected, bytes.
pub const DIRECTIVE_FILE_BYTES_MAX: u64 = 1 << 20;
/// Most bytes of files that one invocation reads.
pub const DIRECTIVE_TOTAL_BYTES_MAX: u64 = 8 << 20;
/// Most lines of an agent's output that `tail` injects.
pub const DIRECTIVE_TAIL_LINES_MAX: usize = 10_000;
/// Characters of an invocation that are shown around a mistake in it.
pub const DIRECTIVE_SHOWN_CHARS: usize = 72;
/// Most files and folders that one pattern looks at.
pub const DIRECTIVE_ENTRIES_MAX: usize = 100_000;
/// Files and folders that are looked at for the nearest match of a file that is not there.
pub const DIRECTIVE_NEAR_ENTRIES_MAX: usize = 5_000;
/// Folders inside each other that a walk through a project goes down.
pub const FOLDER_DEPTH_MAX: usize = 64;
/// Largest file of a workspace, and of a team's memory, that is read, bytes.
pub const WORKSPACE_FILE_BYTES_MAX: u64 = 1 << 20;
/// Most files of one folder of a workspace, or of a team's memory, that are looked at.
pub const WORKSPACE_FILES_MAX: usize = 1_000;
/// Most bullets and headings of all these files that are records.
pub const WORKSPACE_ITEMS_MAX: usize = 50_000;
/// Characters of one workspace file in a prompt when nothing is said.
pub const WORKSPACE_FILE_CHARS_DEFAULT: usize = 4_000;
/// Most characters of one workspace file that a prompt may be told to have.
pub const WORKSPACE_FILE_CHARS_MAX: usize = 1_000_000;
/// Days that a daily log stays where it is when nothing is said.
pub const WORKSPACE_DAYS_DEFAULT: u32 = 7;
/// Last lines of the learnings that a prompt gets.
pub const WORKSPACE_LEARNING_LINES: usize = 20;
/// Size of a workspace file over which a writer moves its oldest entries to the archive, bytes.
pub const WORKSPACE_KEPT_BYTES: usize = 64 << 10;
/// Longest entry that a writer adds to a workspace file, bytes.
pub const WORKSPACE_ENTRY_BYTES_MAX: usize = 16 << 10;
/// Largest file that says what of a workspace is known, bytes.
pub const WORKSPACE_INDEX_BYTES_MAX: u64 = 32 << 20;
/// Milliseconds that a writer of files that people edit too waits for another one.
pub const FILE_LOCK_MS: u64 = 10_000;
/// Pairs of old and new entries under one heading of which it is asked whether one was edited into the other.
pub const WORKSPACE_PAIRS_MAX: usize = 10_000;
/// Longest name of a file of a team's memory, bytes.
pub const TEAM_FILE_NAME_BYTES_MAX: usize = 200;
/// Longest note of `update_memory`, bytes.
pub const GROUP_NOTE_BYTES_MAX: usize = 16 << 10;
/// Conversations whose summaries a group keeps; the oldest go.
pub const GROUP_SUMMARIES_MAX: usize = 5;
/// Longest summary of a conversation in that of its group, characters.
pub const GROUP_SUMMARY_CHARS_MAX: usize = 12_000;
/// How much of a file of a group is read, from its end, bytes; a persona that is larger is left out whole.
pub const GROUP_FILE_BYTES_MAX: u64 = 1 << 20;
/// Newest notes of a group that its file is compared with.
pub const GROUP_NOTES_COMPARED_MAX: usize = 200;
/// Seconds in which a note that is gone from the end of the file is written once more.
pub const GROUP_NOTE_BACK_S: i64 = 24 * 60 * 60;
/// Milliseconds after which somebody who saves the file knows a note that was written to it: if it came back before
/// and is gone again, it stays out.
pub const GROUP_NOTE_KNOWN_MS: i64 = 60_000;
/// Largest file of the inbox that is read, bytes.
pub const INBOX_FILE_BYTES_MAX: u64 = 1 << 20;
/// Most files of the inbox that one sweep takes.
pub const INBOX_SWEEP_MAX: usize = 1_000;
/// Milliseconds for which a file that cannot be read is left alone, because somebody may be writing it.
pub const INBOX_PATIENCE_MS: i64 = 2_000;
/// Most files that were taken and are kept.
pub const INBOX_DONE_MAX: usize = 1_000;
/// Milliseconds between two looks of `watch`.
pub const WATCH_PAUSE_MS: u64 = 100;
/// Most entries of a person's own memory that a context considers.
pub const USER_RECORDS_MAX: usize = 100;

/// Most characters that a row of the sources' table may keep for its source.
pub const SOURCE_MIN_CHARS_MAX: usize = 100_000;
/// Most offers of one source that a context considers; the rest are counted in a note.
pub const SOURCE_OFFERS_MAX: usize = 2_000;
/// Most entries of a team that a context considers.
pub const CONTEXT_TEAM_MAX: usize = 100;
/// Most learnings that a context considers.
pub const CONTEXT_LEARNINGS_MAX: usize = 20;
/// Newest mended errors, and newest episodes, among which a context without a question looks for learnings.
pub const CONTEXT_LESSONS_MAX: usize = 200;
/// Hits of memory that a context considers for its question.
pub const CONTEXT_RECALL_HITS: usize = 20;
/// Most bytes of a task's words that a context asks memory with.
pub const CONTEXT_QUESTION_BYTES_MAX: usize = 400;
/// Most tracked files of a project that its outline is made of.
pub const TRACKED_FILES_MAX: usize = 50_000;
/// Largest index of git that is read, bytes.
pub const GIT_INDEX_BYTES_MAX: u64 = 16 << 20;
/// Folders inside each other that the outline of a project tells.
pub const TREE_DEPTH: usize = 3;
/// Most names that one line of that outline has.
pub const TREE_NAMES_MAX: usize = 30;
/// Largest file of a plan, and largest architecture document, that a context reads, bytes.
pub const PROJECT_FILE_BYTES_MAX: u64 = 256 << 10;
/// Most files of one plan, and most architecture documents, that a context reads.
pub const PLAN_FILES_MAX: usize = 20;
/// Most entries of a folder of plans that are looked at.
pub const PLAN_FOLDER_ENTRIES_MAX: usize = 1_000;
/// Longest goal of a plan, characters.
pub const PLAN_GOAL_CHARS_MAX: usize = 1_000;
/// Receipts of contexts that a project keeps.
pub const RECEIPTS_KEPT: usize = 200;
/// Items of a section that were left out which a kept receipt names; of the others it has the number.
pub const RECEIPT_LEFT_OUT_MAX: usize = 20;
/// Milliseconds that the receipt of a context waits for other writers: nobody who wants a prompt waits for it.
pub const RECEIPT_WAIT_MS: u64 = 200;
/// Largest receipt that is kept, bytes.
pub const RECEIPT_BYTES_MAX: usize = 4 << 20;

/// Beginning of an agent's first plan that an anchor and a summary say again, characters.
pub const WINDOW_PLAN_CHARS_MAX: usize = 600;
/// Most ids of dropped messages that a summary in a window names.
pub const WINDOW_SUMMARY_IDS_MAX: usize = 4;
/// Largest history that `compact` reads, bytes.
pub const WINDOW_INPUT_BYTES_MAX: usize = 256 << 20;
/// Largest number of a window's policy: characters, tokens, messages or seconds.
pub const WINDOW_NUMBER_MAX: u32 = 1_000_000_000;
/// Largest conversation that `bench window` reads, unpacked, bytes.
pub const WINDOW_BENCH_BYTES_MAX: u64 = 256 << 20;
/// Largest file of kept texts or messages that `expand` reads, bytes.
pub const WINDOW_KEPT_BYTES_MAX: u64 = 512 << 20;
/// Texts that a session remembers as expanded; older ones are forgotten.
pub const WINDOW_EXPANDED_MAX: usize = 1_000;

/// Bytes of a hook's event that are read; of a longer one the rest is passed over.
pub const HOOK_INPUT_BYTES_MAX: usize = 8 << 20;
/// Milliseconds after which a hook answers nothing, whatever it is at.
pub const HOOK_DEADLINE_MS: u64 = 2_000;
/// Milliseconds after which the hook of a session that ends reads no more of what was said in it: Claude Code waits for
/// 1.5 seconds.
pub const HOOK_ARCHIVE_MS: u64 = 900;
/// Milliseconds that a hook goes on for when its answer is out, within its deadline.
pub const HOOK_BEHIND_MS: u64 = 1_000;
/// Most characters that one answer of a hook puts before a model: what every host takes.
pub const HOOK_TEXT_CHARS_MAX: usize = 8_000;
/// Most characters of it when a subagent starts.
pub const HOOK_SUBAGENT_CHARS_MAX: usize = 3_000;
/// Beginning of a prompt that memory is asked with, bytes.
pub const HOOK_QUESTION_BYTES_MAX: usize = 4_000;
/// Hits that a prompt gets at most.
pub const HOOK_HITS_MAX: usize = 3;
/// Characters of one hit that a prompt gets.
pub const HOOK_HIT_CHARS_MAX: usize = 800;
/// Characters of the line of a failure that are remembered.
pub const HOOK_ERROR_CHARS_MAX: usize = 300;
/// Failures of one command that are open at once; of more the oldest says what the newest does.
pub const HOOK_FAILURES_OPEN_MAX: usize = 5;
/// Characters of a command that are remembered of one that failed.
pub const HOOK_COMMAND_CHARS_MAX: usize = 300;
/// Files, steps and failures of a session that its hooks keep in mind, of each so many.
pub const HOOK_SESSION_ITEMS_MAX: usize = 50;
/// Records that a session was told of and is not told again.
pub const HOOK_TOLD_MAX: usize = 500;
/// Newest characters that a session was told, by which an echo is known.
pub const HOOK_ECHO_CHARS_MAX: usize = 16_000;
/// Sessions that hooks keep in mind; the oldest are forgotten.
pub const HOOK_SESSIONS_MAX: usize = 100;
/// Largest file of a session's hooks that is read, bytes.
pub const HOOK_SESSION_BYTES_MAX: u64 = 256 << 10;
/// Milliseconds that a hook waits for another one of its session.
pub const HOOK_WAIT_MS: u64 = 300;
/// Most bytes of a transcript that one hook reads.
pub const HOOK_TRANSCRIPT_BYTES_MAX: u64 = 4 << 20;
/// Size at which the log of hooks, and the list of their calls, begins anew; one older part of each is kept, bytes.
pub const HOOK_LOG_BYTES_MAX: u64 = 64 << 10;
/// Longest line of the log of hooks, characters.
pub const HOOK_LOG_CHARS_MAX: usize = 500;
/// Largest settings file of an agent program that `install` reads, bytes.
pub const HOST_SETTINGS_BYTES_MAX: u64 = 4 << 20;
/// Longest line of a transcript that is read, bytes; a longer one is passed over.
pub const TRANSCRIPT_LINE_BYTES_MAX: usize = 32 << 20;
/// Largest transcript that is one JSON value, bytes.
pub const TRANSCRIPT_VALUE_BYTES_MAX: u64 = 64 << 20;
/// Beginning of a transcript in which its session and folder are looked for, bytes.
pub const TRANSCRIPT_HEAD_BYTES_MAX: usize = 4 << 20;
/// Most files that one import of transcripts looks at.
pub const TRANSCRIPT_FILES_MAX: usize = 20_000;
/// Longest prompt or answer of a transcript that is kept whole, characters.
pub const TRANSCRIPT_TEXT_CHARS_MAX: usize = 16_000;
/// Longest answer of a tool that is kept whole, characters; of a longer one its beginning and its end.
pub const TRANSCRIPT_RESULT_CHARS_MAX: usize = 600;
/// Longest line that tells what a tool was called for, characters.
pub const TRANSCRIPT_CALL_CHARS_MAX: usize = 400;
/// Newest failures of a conversation that wait for what works.
pub const TRANSCRIPT_FAILURES_MAX: usize = 32;
/// Calls of a conversation that wait for their answers.
pub const TRANSCRIPT_CALLS_MAX: usize = 1_000;
/// Most imports of one growing transcript that are told apart.
pub const TRANSCRIPT_MARKS_MAX: usize = 32;
/// Most changes of one conversation that are held before they are written.
pub const TRANSCRIPT_HELD_MAX: usize = 2_000;

/// Characters of a conversation that whoever writes its summary is shown at most.
pub const WINDOW_TRANSCRIPT_CHARS_MAX: usize = 240_000;
/// Characters of a summary by a model that are kept.
pub const WINDOW_WRITTEN_CHARS_MAX: usize = 12_000;
/// Summaries by a model that a session keeps; older ones are forgotten.
pub const WINDOW_WRITTEN_MAX: usize = 8;
/// Ids of what its windows left out that a session keeps; the newest.
pub const WINDOW_ARCHIVES_MAX: usize = 4_000;

/// Projects that a server keeps open.
pub const SERVED_PROJECTS_OPEN: usize = 64;
/// Calls of the engine that a server makes at once; the others wait in order.
pub const SERVER_CALLS_AT_ONCE: usize = 64;
/// Pause between two looks of a server whether it shall end, milliseconds.
pub const SERVER_STOP_PAUSE_MS: u64 = 50;

/// Connections that a store opens beside its first one, for threads that read at the same time.
pub const READERS_MAX: usize = 3;
/// Writes of different threads that share a transaction and its sync.
pub const WRITES_TOGETHER_MAX: usize = 128;
/// Vectors that the file beside a database may lack before it is written anew.
pub const VECTORS_BESIDE_LAG: u32 = 4_096;
/// Most vectors that stand in a file beside the database: 68 MB.
pub const VECTORS_BESIDE_MAX: u32 = 262_144;
/// Largest message that an MCP client may send, bytes; a longer line is passed over.
pub const MCP_MESSAGE_BYTES_MAX: usize = 8 << 20;
/// Entries of one page of an MCP list.
pub const MCP_PAGE_ITEMS: usize = 100;
/// Most recent contexts that an MCP client is shown.
pub const MCP_CONTEXTS_MAX: usize = 50;
/// Most folders of a client that are looked at for a memory.
pub const MCP_ROOTS_MAX: usize = 100;
/// Longest address of a resource or folder that is read, bytes.
pub const MCP_URI_BYTES_MAX: usize = 8 << 10;
/// Sessions of MCP over HTTP at once; who comes then is told to come later.
pub const MCP_SESSIONS_MAX: usize = 256;
/// Milliseconds that a client has to say which folders it works on.
pub const MCP_ROOTS_WAIT_MS: u64 = 5_000;
/// Milliseconds between two notes to a client that a call is still worked on.
pub const MCP_PROGRESS_PAUSE_MS: u64 = 1_000;
/// Milliseconds that answers which are still worked on have when a client has gone.
pub const MCP_STOP_WAIT_MS: u64 = 60_000;
/// Most resources that an MCP client is told of when they change.
pub const MCP_SUBSCRIPTIONS_MAX: usize = 100;
/// Milliseconds between two looks at the files of such resources.
pub const MCP_WATCH_PAUSE_MS: u64 = 2_000;

/// Tokens that a server's memory may have.
pub const TOKENS_MAX: usize = 1_000;
/// Largest file of tokens that is read, bytes.
pub const TOKENS_BYTES_MAX: u64 = 1 << 20;
/// Login links that wait to be used; the oldest are forgotten.
pub const LOGIN_LINKS_MAX: usize = 20;
/// Seconds that a login link may be used.
pub const LOGIN_LINK_S: i64 = 120;
/// People that are logged in at once; who was not seen longest is logged out.
pub const LOGINS_MAX: usize = 200;
/// Seconds after which somebody is logged out who was not seen.
pub const LOGIN_S: u64 = 12 * 3_600;
/// Largest body of a request, bytes.
pub const SERVER_BODY_BYTES_MAX: usize = 8 << 20;
/// Bodies over 64 KiB that a server holds at once, bytes; the others wait for room.
pub const SERVER_BODIES_BYTES_MAX: usize = 64 << 20;
/// Seconds that a body may take to arrive.
pub const SERVER_BODY_S: u64 = 30;
/// Seconds that the head of a request may take, and that a connection may be idle.
pub const SERVER_HEAD_S: u64 = 30;
/// Longest head of a request, bytes.
pub const SERVER_HEAD_BYTES_MAX: usize = 64 << 10;
/// Seconds that a client may leave an answer unread.
pub const SERVER_WRITE_S: u64 = 30;
/// Connections at once; further ones wait to be accepted.
pub const SERVER_CONNECTIONS_MAX: usize = 4_096;
/// Seconds that what is in flight is waited for when a server ends.
pub const SERVER_STOP_S: u64 = 10;
/// Deepest nesting of JSON that a server reads.
pub const SERVER_JSON_DEPTH_MAX: usize = 64;
/// Items of one part of a list when nothing is said.
pub const API_PAGE_DEFAULT: usize = 50;
/// Most items of one part of a list.
pub const API_PAGE_MAX: usize = 1_000;
/// Changes that a server keeps for who follows it; who is further behind asks the store.
pub const SERVER_EVENTS_KEPT: usize = 1_000;
/// Pause between two looks at what other processes wrote, milliseconds.
pub const SERVER_EVENTS_PAUSE_MS: u64 = 250;
/// Pause after which an idle stream of events says that it is there, seconds.
pub const SERVER_EVENTS_IDLE_S: u64 = 15;
/// Answers that a server keeps for requests that come again; the oldest are forgotten.
pub const IDEMPOTENCY_KEPT: usize = 10_000;
/// Bytes of answers that a server keeps for requests that come again.
pub const IDEMPOTENCY_BYTES_MAX: usize = 16 << 20;
/// Longest `Idempotency-Key`, bytes.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 200;
/// Working memories that a server holds; the one that was not used longest is forgotten.
pub const WORKING_HELD: usize = 1_000;
/// Seconds between two prunings by a server: a day.
pub const SERVER_PRUNE_S: u64 = 86_400;
/// Seconds after its start at which a server prunes for the first time.
pub const SERVER_PRUNE_FIRST_S: u64 = 3_600;
/// Calls of the engine that compute longer than they wait, or only read, which a server makes at once.
pub const SERVER_COMPUTING_AT_ONCE: usize = 4;
