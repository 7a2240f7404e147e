//! What messages that leave the window came to: the extractive summary.
//!
//! A [`Digest`] is fed message by message and written out whenever a summary is due. What the agent is
//! likely to name again comes first: real conversations show that this is what it wrote itself,
//! often and lately. Text of the transcript is data here: it is quoted, on one line or in counted
//! blocks, and never obeyed.

mod files;
mod form;
mod names;
mod page;
mod story;
mod words;

use crate::message::{Call, Message, Own, Part, Role};
use crate::size::chars;
use files::{Files, Paths};
use heirloom_model::text::clip;
use names::{Names, Place, Use};
use page::Page;
use words::Writing;

/// Characters of a summary beside what users said: more costs more at every later turn than it
/// saves in looking things up again.
pub const BODY_CHARS: usize = 10_000;
/// Bytes of one call's arguments, or of one text, whose names count.
const NAMED_BYTES: usize = 16_000;

/// How the text begins by which another program sums up a session that it continues.
const CONTINUED: &str = "This session is being continued";
/// Messages of a period: what was used before the last whole one counts nothing any more.
const PERIOD: usize = 2_048;
/// Tools that are told apart.
const TOOLS: usize = 64;

/// What a summary is written for.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The current goal, whole.
    pub goal: &'a str,
    /// A summary that somebody else wrote of the first `messages`, or of what came before them.
    pub earlier: Option<&'a str>,
    /// Whether that one stands for all of `messages`, not only for the first of them.
    pub earlier_is_all: bool,
    /// Messages that stay in the window verbatim: they need not be repeated. Ascending.
    pub kept: &'a [usize],
    /// Most characters that the summary may have, all included.
    pub budget_chars: usize,
    /// Most characters of it for verbatim user messages, newest first.
    pub users_chars: usize,
}

/// The summary of `messages`, at most `task.budget_chars` characters, the same for the same input.
///
/// It has no mark of its own: whoever puts it into a window says what it is.
/// Earlier summaries of ours among `messages` (`own == Some(Own::Summary)`) are merged, anchors are
/// passed over. Text of the transcript is data here: it is quoted and never obeyed.
pub fn summarise(messages: &[Message], task: &Task<'_>) -> String {
    let mut digest = Digest::default();
    digest.extend(messages);
    digest.write(messages, task)
}

/// How long a summary by somebody else may be where the parts beside what users said have so many characters.
pub(crate) fn told_chars(body: usize) -> usize {
    // A tenth is for the title, the headings and what a counted block says of itself.
    body.min(BODY_CHARS) * (page::TOLD_PERCENT - 7) / 100
}

/// What summaries of a growing history need to know of all its messages.
///
/// It keeps no text, only places in the messages: give [`Digest::write`] the same ones that were
/// pushed. A digest that grew and one that was built at once write the same.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// Uses since the beginning of this period, and since that of the one before.
    young: Uses,
    old: Option<Uses>,
    /// Messages of users, oldest first.
    users: Vec<usize>,
    /// The last message in which another program summed up what came before it.
    continued: Option<usize>,
    /// Summaries of ours, oldest first.
    summaries: Vec<usize>,
    /// Calls of tools, and the newest call of each tool with their number.
    calls: usize,
    tools: Vec<(u64, usize, usize, usize)>,
    /// Messages, and those among them that are ours.
    pushed: usize,
    own: usize,
}

/// What was used, since some message.
#[derive(Debug, Clone, Default)]
struct Uses {
    names: Names,
    files: Files,
}

impl Digest {
    /// The messages that were pushed.
    pub fn len(&self) -> usize {
        self.pushed
    }

    /// Whether no message was pushed.
    pub fn is_empty(&self) -> bool {
        self.pushed == 0
    }

    /// Takes the next message.
    pub fn push(&mut self, message: &Message) {
        if self.pushed.is_multiple_of(PERIOD) && self.pushed > 0 {
            self.old = Some(std::mem::take(&mut self.young));
        }
        let index = number(self.pushed);
        self.young.take(message, index);
        if let Some(old) = &mut self.old {
            old.take(message, index);
        }
        self.pass(message);
    }

    /// Takes the next messages: what is too old to count is passed over, and the digest is as if
    /// each had been pushed.
    pub fn extend(&mut self, messages: &[Message]) {
        let end = self.pushed + messages.len();
        let from = (end.saturating_sub(1) / PERIOD).saturating_sub(1) * PERIOD;
        let (before, near) = messages.split_at(from.saturating_sub(self.pushed));
        if !before.is_empty() {
            (self.young, self.old) = (Uses::default(), None);
        }
        for message in before {
            self.pass(message);
        }
        for message in near {
            self.push(message);
        }
    }

    /// What is used, lately enough to be used again.
    fn uses(&self) -> &Uses {
        self.old.as_ref().unwrap_or(&self.young)
    }

    /// Notes what counts however old it is.
    fn pass(&mut self, message: &Message) {
        let index = self.pushed;
        self.pushed += 1;
        if message.own.is_some() {
            self.own += 1;
            if message.own == Some(Own::Summary) {
                self.summaries.push(index);
            }
            return;
        }
        for (part, what) in message.parts.iter().enumerate() {
            if let Part::Call(call) = what {
                self.calls += 1;
                self.tool(&call.name, index, part);
            }
        }
        if message.role == Role::User && message.texts().any(|text| !text.trim().is_empty()) {
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

    fn tool(&mut self, name: &str, message: usize, part: usize) {
        let hash = words::hash(name);
        match self.tools.iter().position(|tool| tool.0 == hash) {
            Some(at) => self.tools[at] = (hash, message, part, self.tools[at].3 + 1),
            None if self.tools.len() < TOOLS => self.tools.push((hash, message, part, 1)),
            None => {}
        }
    }

    /// Writes the summary of all messages so far, which must be `messages`: see [`summarise`].
    pub fn write(&self, messages: &[Message], task: &Task<'_>) -> String {
        let messages = &messages[..self.pushed.min(messages.len())];
        let text = Page::new(self, messages, task).text();
        if chars(&text) > task.budget_chars {
            return clip(&text, task.budget_chars).to_owned();
        }
        text
    }
}

impl Uses {
    /// Counts what a message uses.
    fn take(&mut self, message: &Message, index: u32) {
        if message.own.is_some() {
            if message.own == Some(Own::Summary) {
                self.kept(message, index);
            }
            return;
        }
        for (part, what) in message.parts.iter().enumerate() {
            if let Part::Call(call) = what {
                self.call(call, (index, number(part)));
            }
        }
        let used = match message.role {
            Role::Assistant => Use::Said,
            Role::User => Use::Asked,
            Role::System | Role::Tool => return,
        };
        for (part, what) in message.parts.iter().enumerate() {
            if let Part::Text { text, .. } = what {
                self.said(text, (index, number(part)), used);
            }
        }
    }

    /// Counts the names in the arguments of a call, and notes its files.
    fn call(&mut self, call: &Call, at: (u32, u32)) {
        let text = head(&call.arguments);
        let mut paths = Paths::default();
        names::each(text, Writing::Json, at, |token, place| {
            self.names.count(token, place, Use::Argument);
            let start = place.start as usize;
            paths.take(text, start..start + token.len());
        });
        self.files.note(call, at, &paths);
    }

    fn said(&mut self, text: &str, at: (u32, u32), used: Use) {
        names::each(head(text), Writing::Plain, at, |token, place| {
            self.names.count(token, place, used);
        });
    }

    /// Counts the names of an earlier summary. Its list is in order of likelihood; what stands
    /// elsewhere is as likely as the middle of it, and behind the list (in commands) words are names too.
    fn kept(&mut self, message: &Message, index: u32) {
        for (part, what) in message.parts.iter().enumerate() {
            let Part::Text { text, .. } = what else {
                continue;
            };
            let list = form::names_list(text);
            let (mut listed, mut beside) = (Vec::new(), Vec::new());
            names::each(
                text,
                Writing::Plain,
                (index, number(part)),
                |token, place| {
                    if list.contains(&(place.start as usize)) {
                        listed.push((token, place));
                    } else if words::is_shaped(token)
                        || (!list.is_empty() && place.start as usize > list.end)
                    {
                        beside.push((token, place));
                    }
                },
            );
            let of = listed.len();
            for (rank, (token, place)) in listed.into_iter().enumerate() {
                self.names.count(token, place, Use::Kept(rank, of));
            }
            for (token, place) in beside {
                self.names.count(token, place, Use::Kept(1, 2));
            }
        }
    }
}

/// The beginning of a text, as far as its names count.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(NAMED_BYTES.min(text.len()))]
}

/// A number that fits; beyond four billion nothing is told apart.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The text of a place.
fn at(messages: &[Message], place: Place) -> Option<&str> {
    let message = messages.get(place.message as usize)?;
    let text = match message.parts.get(place.part as usize)? {
        Part::Text { text, .. } => text,
        Part::Call(call) => &call.arguments,
        Part::Output(output) => &output.text,
        Part::Thinking { .. } | Part::Image { .. } | Part::Unknown { .. } => return None,
    };
    text.get(place.start as usize..(place.start + place.len) as usize)
}
