//! What a window is made of, decided turn by turn as the history grew.
//!
//! Every decision looks only at the history before it and at sizes that are known without writing
//! any text: what a summary, a preview or a stub may have, not what it came to. So a whole history
//! is replayed in one pass, and with what was decided before in hand only the new turns are looked at.

mod ingest;
mod step;

use crate::conversation::Conversation;
use crate::message::{Form, Left, Message, Output, Part, Role};
use crate::policy::{Rules, Tool};
use crate::shorten::STALE_CHARS;
use crate::size::whole;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A message of the part of the history that is not summarised.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    /// Its characters in the window as it stands.
    size: usize,
    /// How many of them go when it becomes stale.
    saves: usize,
    /// How many of them are thoughts that a step before it makes worthless.
    thinking: usize,
    /// The message with the goal when it was said.
    goal: Option<usize>,
}

/// An anchor: one of ours in this window, or one that came back in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The message behind which it stands; itself, if it came back.
    pub(crate) after: usize,
    /// Whether it came back.
    pub(crate) came: bool,
    /// The calls that it says.
    pub(crate) calls: usize,
    /// The message whose goal it says.
    pub(crate) goal: Option<usize>,
    /// Whether it says the first plan: one of those in a window does.
    pub(crate) plans: bool,
    size: usize,
}

/// Messages that one summary took in.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) id: Arc<str>,
}

/// What a summary may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Room {
    /// Characters of its body.
    pub(crate) body: usize,
    /// Characters of that for the words of users.
    pub(crate) users: usize,
    /// Characters of the whole message.
    pub(crate) whole: usize,
}

/// What was done in a request's window that was not done in the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A reminder of the goal at the tail.
    Anchor,
    /// A long output shortened before it was sent for the first time.
    Overflow,
    /// Old outputs became stubs.
    Stale,
    /// Earlier reads of a file that was read again became stubs.
    Repeat,
    /// Older messages became a summary.
    Summary,
    /// Only the last messages were kept.
    Fallback,
    /// A call without an answer got one that says so.
    Missing,
    /// An answer without a call was left out.
    Orphan,
}

impl Action {
    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Overflow => "overflow",
            Self::Stale => "stale",
            Self::Repeat => "repeat",
            Self::Summary => "summary",
            Self::Fallback => "fallback",
            Self::Missing => "missing",
            Self::Orphan => "orphan",
        }
    }
}

/// The window as it was decided for the messages so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// Messages that were looked at.
    pub(crate) seen: usize,
    /// The first message at which something may be decided: behind the last one of ours.
    pub(crate) start: usize,
    /// The end of the system prompt.
    pub(crate) system_end: usize,
    /// The first message that is not summarised.
    pub(crate) cut: usize,
    /// What each summary took in.
    pub(crate) segments: Vec<Segment>,
    /// What the summary may have.
    pub(crate) room: Room,
    /// The calls before `cut`.
    pub(crate) calls_cut: usize,
    /// The goal when the summary was made.
    pub(crate) goal_cut: Option<usize>,
    /// Messages before `cut` that stay in the window verbatim.
    pub(crate) pinned: Vec<usize>,
    /// Outputs before this message are stale.
    pub(crate) bound: usize,
    /// Outputs that a later read of the same file made stale: message and part.
    pub(crate) repeated: Vec<(usize, usize)>,
    /// The same, waiting for a step.
    again: Vec<(usize, usize)>,
    pub(crate) anchors: Vec<Placed>,
    /// Anchors and summaries that came back and were replaced.
    pub(crate) gone: Vec<usize>,
    /// Thoughts in these ranges are left out.
    pub(crate) unthought: Vec<(usize, usize)>,
    /// Calls that nothing answered: the message behind which their answer would stand, and their
    /// message and part.
    pub(crate) missing: Vec<(usize, (usize, usize))>,
    /// Messages that are left out: answers to nothing, and turns that say nothing.
    pub(crate) orphans: BTreeSet<usize>,
    /// Answers to nothing in messages that hold something else: message and part.
    pub(crate) orphan_parts: BTreeSet<(usize, usize)>,
    pub(crate) calls: usize,
    pub(crate) goal: Option<usize>,
    pub(crate) plan: Option<String>,
    /// The first message that the last step changed.
    pub(crate) first_changed: usize,
    /// Actions of the last decision.
    pub(crate) actions: Vec<Action>,
    /// Whether the last messages alone were kept, once.
    pub(crate) fell_back: bool,
    /// Steps so far.
    pub(crate) steps: usize,
    /// Requests so far.
    pub(crate) turns: usize,
    /// Tokens that each request's window and the whole history cost, in thousandths.
    pub(crate) cost_window: u64,
    pub(crate) cost_none: u64,
    entries: Vec<Entry>,
    origin: usize,
    system_size: usize,
    pinned_size: usize,
    active_size: usize,
    anchors_size: usize,
    raw_size: usize,
    raw_before: usize,
    window_before: usize,
    free: usize,
    first_free: usize,
    scanned: usize,
    last_anchor: usize,
    last_user: Option<usize>,
    users_size: usize,
    reads: HashMap<String, (usize, usize)>,
    open: Vec<(usize, usize)>,
    request_time: Option<i64>,
    beside: usize,
    gauge: Gauge,
}

/// Characters a token, as the provider's own counts say.
#[derive(Debug, Clone, Copy, Default)]
struct Gauge {
    chars: usize,
    tokens: u64,
    last: Option<(usize, u64)>,
}

/// The usual characters of a token, in thousandths.
const CHARS_PER_TOKEN_MILS: usize = 4_000;

impl Gauge {
    /// A request of so many characters was so many tokens.
    fn add(&mut self, chars: usize, tokens: u64) {
        if let Some((before, counted)) = self.last
            && chars > before
            && tokens > counted
        {
            self.chars += chars - before;
            self.tokens += tokens - counted;
        }
        self.last = Some((chars, tokens));
    }

    /// Characters of a token in thousandths; four until two thousand tokens were counted.
    fn mils(self) -> usize {
        if self.tokens < 2_000 {
            return CHARS_PER_TOKEN_MILS;
        }
        let tokens = usize::try_from(self.tokens).unwrap_or(usize::MAX);
        (self.chars.saturating_mul(1_000) / tokens).clamp(1_500, 6_000)
    }
}

impl Plan {
    pub(crate) fn new(conversation: &Conversation) -> Self {
        let system_end = system_end(conversation);
        Self {
            start: conversation.own_end,
            beside: conversation.beside_chars,
            raw_size: conversation.beside_chars,
            system_end,
            cut: system_end,
            origin: system_end,
            scanned: system_end,
            bound: system_end,
            ..Self::default()
        }
    }

    /// Looks at everything that was said since, deciding at each request on the way.
    pub(crate) fn advance(&mut self, conversation: &Conversation, policy: &Rules<'_>) {
        while self.seen < conversation.messages.len() {
            let next = self.seen;
            if is_request(conversation, next) {
                self.decide(conversation, policy);
            }
            self.ingest(conversation, policy, next);
        }
    }

    /// The characters of the window as it stands.
    pub(crate) fn total(&self) -> usize {
        self.beside
            + self.system_size
            + self.pinned_size
            + self.room.whole
            + self.active_size
            + self.anchors_size
    }

    /// The characters that no step can free.
    pub(crate) fn fixed_chars(&self) -> usize {
        self.beside + self.system_size + self.pinned_size + self.room.whole
    }

    /// Whether it was made for a history with that beginning.
    pub(crate) fn fits(&self, conversation: &Conversation) -> bool {
        self.start == conversation.own_end
            && self.beside == conversation.beside_chars
            && self.system_end == system_end(conversation)
    }

    /// The characters of the whole history, nothing shortened.
    pub(crate) fn raw_total(&self) -> usize {
        self.raw_size
    }

    /// Characters a token in thousandths.
    pub(crate) fn chars_per_token_mils(&self) -> usize {
        self.gauge.mils()
    }

    /// Whether the provider's own counts say what a token is.
    pub(crate) fn is_calibrated(&self) -> bool {
        self.gauge.tokens >= 2_000
    }

    /// The characters of so many tokens.
    fn chars_of(&self, tokens: usize) -> usize {
        tokens.saturating_mul(self.gauge.mils()) / 1_000
    }

    /// Whether an output is a stub in this window.
    pub(crate) fn is_stale(
        &self,
        policy: &Rules<'_>,
        at: usize,
        part: usize,
        output: &Output,
    ) -> bool {
        (at < self.bound || self.repeated.contains(&(at, part)))
            && stale_saves(policy.tool(output), output) > 0
    }

    /// The message with the goal when a message of the window was said.
    pub(crate) fn goal_at(&self, at: usize) -> Option<usize> {
        let entry = self.entries.get(at.checked_sub(self.origin)?)?;
        entry.goal
    }

    fn entry(&mut self, at: usize) -> Option<&mut Entry> {
        self.entries.get_mut(at.checked_sub(self.origin)?)
    }
}

fn system_end(conversation: &Conversation) -> usize {
    conversation
        .messages
        .iter()
        .take_while(|message| message.role == Role::System && message.own.is_none())
        .count()
}

/// Whether the history before message `at` was sent as a request that `at` answers.
fn is_request(conversation: &Conversation, at: usize) -> bool {
    let message = &conversation.messages[at];
    message.role == Role::Assistant
        && at > 0
        && conversation.messages[at - 1].role != Role::Assistant
}

/// The characters of an output at entry: whole, or what its preview may have.
fn entry_chars(tool: Tool, output: &Output) -> usize {
    if output.chars > tool.max || output.left == Some(Left::Preview) {
        tool.preview
    } else {
        output.chars
    }
}

/// Whether an output is shortened at entry.
pub(crate) fn is_long(policy: &Rules<'_>, output: &Output) -> bool {
    output.chars > policy.tool(output).max
}

/// The characters that go when an output becomes stale; 0 if it never does.
fn stale_saves(tool: Tool, output: &Output) -> usize {
    // Most outputs are shorter than a stub: what is cheap to see comes first.
    if output.chars <= STALE_CHARS
        || tool.critical
        || output.value.is_none()
        || output.left == Some(Left::Stub)
    {
        return 0;
    }
    entry_chars(tool, output).saturating_sub(STALE_CHARS)
}

/// The size of a message at entry, and what of it may go.
fn measure(form: Form, policy: &Rules<'_>, message: &Message) -> Entry {
    let mut entry = Entry::default();
    let mut less = 0;
    for part in &message.parts {
        match part {
            Part::Output(output) => {
                let tool = policy.tool(output);
                less += output.chars;
                entry.size += entry_chars(tool, output);
                entry.saves += stale_saves(tool, output);
            }
            // Elsewhere a thought is no proof of what stood before it.
            Part::Thinking { chars, .. } if form == Form::Anthropic => entry.thinking += chars,
            Part::Thinking { .. }
            | Part::Text { .. }
            | Part::Call(_)
            | Part::Image { .. }
            | Part::Unknown { .. } => {}
        }
    }
    entry.size = whole(entry.size + message.chars - less);
    entry
}
