//! Extractive summary of the messages that leave a window.
//!
//! A [`SummaryBuilder`] takes message after message and writes a summary when one is due. Identifiers that the agent
//! is likely to use again come first: in real conversations those are the ones it wrote itself, often and recently.
//! The transcript is untrusted data: it is quoted, on one line or in blocks with a character count, and never obeyed.

mod identifier_tokenizer;
mod identifiers;
mod identity_hasher;
mod key_events;
mod summary_format;
mod summary_layout;
mod summary_message;
mod touched_files;

use crate::message::{ChatMessage, ChatRole, InsertedMessage, MessagePart, ToolCall};
use crate::token_estimate::chars;
use heirloom_model::text::clip;
use identifier_tokenizer::TextSyntax;
use identifiers::{IdentifierTable, TextSpan, UseKind};
use summary_layout::SummaryLayout;
pub use summary_message::{SummaryMessage, TextFilter, Verbatim};
use touched_files::{CommandPaths, TouchedFiles};

/// Length of a summary without user text, characters: more costs more at every later turn than it saves in lookups.
pub const BODY_CHARS: usize = 10_000;
/// Number of bytes of one call's arguments, or of one text, that are searched for identifiers.
const NAMED_BYTES: usize = 16_000;

/// Prefix of the text by which another program summarises a continued session.
const CONTINUED: &str = "This session is being continued";
/// Length of a period in messages: identifiers used before the last whole period are forgotten.
const PERIOD: usize = 2_048;
/// Maximum number of tracked tools.
const TOOLS: usize = 64;

/// Parameters of a summary.
#[derive(Debug, Clone, Copy)]
pub struct SummaryTask<'a> {
    /// Full text of the current goal.
    pub goal: &'a str,
    /// An external summary of the first `messages`, or of what preceded them.
    pub earlier: Option<&'a str>,
    /// True if the external summary covers all of `messages`.
    pub earlier_covers_all: bool,
    /// Ascending indexes of messages that stay in the window verbatim and need no summary.
    pub retained: &'a [usize],
    /// Maximum length of the summary, characters.
    pub budget_chars: usize,
    /// Part of it for verbatim user messages, newest first, characters.
    pub user_text_chars: usize,
}

/// Writes the summary of `messages`, at most `task.budget_chars` characters. Deterministic.
///
/// The summary has no marker; the caller adds it. Earlier inserted summaries among `messages` are merged, anchors are
/// skipped. The transcript is untrusted data: it is quoted and never obeyed.
pub fn summarise(messages: &[SummaryMessage], task: &SummaryTask<'_>) -> String {
    let mut digest = SummaryBuilder::default();
    digest.extend(messages);
    digest.write(messages, task)
}

/// Returns the maximum length of an external summary for a body of this length, characters.
pub(crate) fn external_summary_chars_max(body: usize) -> usize {
    // Seven percent are reserved for the title, the headings and block headers.
    body.min(BODY_CHARS) * (summary_layout::EXTERNAL_PERCENT - 7) / 100
}

/// Builder of summaries of a growing history.
///
/// The builder stores positions and no text: pass the pushed messages to [`SummaryBuilder::write`]. Incremental and
/// one-time building give the same summary.
#[derive(Debug, Clone, Default)]
pub struct SummaryBuilder {
    /// Identifier uses since the start of this period, and since the start of the previous one.
    young: RecentUses,
    old: Option<RecentUses>,
    /// User messages, oldest first.
    users: Vec<usize>,
    /// Last message in which another program summarised the preceding session.
    continued: Option<usize>,
    /// Inserted summaries, oldest first.
    summaries: Vec<usize>,
    /// Number of tool calls; per tool its hash, the position of the newest call, and the number of calls.
    calls: usize,
    tools: Vec<(u64, usize, usize, usize)>,
    /// Number of messages, and of inserted ones among them.
    pushed: usize,
    own: usize,
}

/// Identifiers and files used since a message.
#[derive(Debug, Clone, Default)]
struct RecentUses {
    names: IdentifierTable,
    files: TouchedFiles,
}

impl SummaryBuilder {
    /// Returns the number of pushed messages.
    pub fn len(&self) -> usize {
        self.pushed
    }

    /// Returns true if no message was pushed.
    pub fn is_empty(&self) -> bool {
        self.pushed == 0
    }

    /// Adds the next message.
    pub fn push(&mut self, message: &SummaryMessage) {
        if self.pushed.is_multiple_of(PERIOD) && self.pushed > 0 {
            self.old = Some(std::mem::take(&mut self.young));
        }
        let index = index_u32(self.pushed);
        self.young.count_message(message, index);
        if let Some(old) = &mut self.old {
            old.count_message(message, index);
        }
        self.record_message(message);
    }

    /// Adds the next messages. Messages too old to count are skipped; the result equals pushing each one.
    pub fn extend(&mut self, messages: &[SummaryMessage]) {
        let end = self.pushed + messages.len();
        let from = (end.saturating_sub(1) / PERIOD).saturating_sub(1) * PERIOD;
        let (before, near) = messages.split_at(from.saturating_sub(self.pushed));
        if !before.is_empty() {
            (self.young, self.old) = (RecentUses::default(), None);
        }
        for message in before {
            self.record_message(message);
        }
        for message in near {
            self.push(message);
        }
    }

    /// Returns the uses that are recent enough to count.
    fn uses(&self) -> &RecentUses {
        self.old.as_ref().unwrap_or(&self.young)
    }

    /// Records the data that counts independent of age.
    fn record_message(&mut self, message: &ChatMessage) {
        let index = self.pushed;
        self.pushed += 1;
        if message.inserted.is_some() {
            self.own += 1;
            if message.inserted == Some(InsertedMessage::Summary) {
                self.summaries.push(index);
            }
            return;
        }
        for (part, what) in message.parts.iter().enumerate() {
            if let MessagePart::Call(call) = what {
                self.calls += 1;
                self.record_tool(&call.name, index, part);
            }
        }
        if message.role == ChatRole::User && message.texts().any(|text| !text.trim().is_empty()) {
            self.users.push(index);
            if message
                .texts()
                .next()
                .is_some_and(|text| text.starts_with(CONTINUED))
            {
                self.continued = Some(index);
            }
        }
    }

    fn record_tool(&mut self, name: &str, message: usize, part: usize) {
        let hash = identifier_tokenizer::hash(name);
        match self.tools.iter().position(|tool| tool.0 == hash) {
            Some(at) => self.tools[at] = (hash, message, part, self.tools[at].3 + 1),
            None if self.tools.len() < TOOLS => self.tools.push((hash, message, part, 1)),
            None => {}
        }
    }

    /// Writes the summary of all pushed messages, which must be `messages`: see [`summarise`].
    pub fn write(&self, messages: &[SummaryMessage], task: &SummaryTask<'_>) -> String {
        let messages = &messages[..self.pushed.min(messages.len())];
        let text = SummaryLayout::new(self, messages, task).text();
        if chars(&text) > task.budget_chars {
            return clip(&text, task.budget_chars).to_owned();
        }
        text
    }
}

impl RecentUses {
    /// Counts the identifiers and files of a message.
    fn count_message(&mut self, message: &ChatMessage, index: u32) {
        if message.inserted.is_some() {
            if message.inserted == Some(InsertedMessage::Summary) {
                self.count_summary(message, index);
            }
            return;
        }
        for (part, what) in message.parts.iter().enumerate() {
            if let MessagePart::Call(call) = what {
                self.count_call(call, (index, index_u32(part)));
            }
        }
        let used = match message.role {
            ChatRole::Assistant => UseKind::AgentText,
            ChatRole::User => UseKind::UserText,
            ChatRole::System | ChatRole::Tool => return,
        };
        for (part, what) in message.parts.iter().enumerate() {
            if let MessagePart::Text { text, .. } = what {
                self.count_text(text, (index, index_u32(part)), used);
            }
        }
    }

    /// Counts the identifiers in the arguments of a call and records its files.
    fn count_call(&mut self, call: &ToolCall, at: (u32, u32)) {
        let text = counted_prefix(&call.arguments);
        let mut paths = CommandPaths::default();
        identifiers::for_each_token(text, TextSyntax::Json, at, |token, place| {
            self.names.record_use(token, place, UseKind::Argument);
            let start = place.start as usize;
            paths.add_token(text, start..start + token.len());
        });
        self.files.record_call(call, at, &paths);
    }

    fn count_text(&mut self, text: &str, at: (u32, u32), used: UseKind) {
        identifiers::for_each_token(
            counted_prefix(text),
            TextSyntax::Plain,
            at,
            |token, place| {
                self.names.record_use(token, place, used);
            },
        );
    }

    /// Counts the identifiers of an earlier summary. Its list is in order of likelihood; identifiers elsewhere rank
    /// like its middle, and after the list (in commands) plain words count too.
    fn count_summary(&mut self, message: &ChatMessage, index: u32) {
        for (part, what) in message.parts.iter().enumerate() {
            let MessagePart::Text { text, .. } = what else {
                continue;
            };
            let list = summary_format::identifier_list_range(text);
            let (mut listed, mut others) = (Vec::new(), Vec::new());
            identifiers::for_each_token(
                text,
                TextSyntax::Plain,
                (index, index_u32(part)),
                |token, place| {
                    if list.contains(&(place.start as usize)) {
                        listed.push((token, place));
                    } else if identifier_tokenizer::is_code_like(token)
                        || (!list.is_empty() && place.start as usize > list.end)
                    {
                        others.push((token, place));
                    }
                },
            );
            let of = listed.len();
            for (rank, (token, place)) in listed.into_iter().enumerate() {
                self.names
                    .record_use(token, place, UseKind::EarlierSummary(rank, of));
            }
            for (token, place) in others {
                self.names
                    .record_use(token, place, UseKind::EarlierSummary(1, 2));
            }
        }
    }
}

/// Returns the part of a text that is searched for identifiers.
fn counted_prefix(text: &str) -> &str {
    &text[..text.floor_char_boundary(NAMED_BYTES.min(text.len()))]
}

/// Converts an index to `u32`, saturating.
fn index_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Returns the text at a span.
fn text_at(messages: &[SummaryMessage], place: TextSpan) -> Option<&str> {
    let message = messages.get(place.message as usize)?;
    let text = match message.parts.get(place.part as usize)? {
        MessagePart::Text { text, .. } => text,
        MessagePart::Call(call) => &call.arguments,
        MessagePart::Output(output) => &output.text,
        MessagePart::Thinking { .. } | MessagePart::Image { .. } | MessagePart::Unknown { .. } => {
            return None;
        }
    };
    text.get(place.start as usize..(place.start + place.len) as usize)
}
