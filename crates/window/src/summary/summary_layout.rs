//! Layout of a summary: allocates its length to sections and writes them.

mod inventory;

use super::key_events::SessionEvents;
use super::summary_format::{
    self, ParsedSummary, Quote, SECTIONS, SummarySection, single_line, untruncated_quote,
};
use super::{BODY_CHARS, SummaryBuilder, SummaryMessage, SummaryTask};
use crate::markers;
use crate::token_estimate::chars;
use heirloom_model::text::clip;
use std::collections::HashSet;

/// Length above which the last request is truncated, characters.
const GOAL_CHARS: usize = 16_000;
/// Length of the excerpt of a user message that does not fit, characters.
const CUT_CHARS: usize = 160;
/// Number of files in the task state.
const STATE_FILES: usize = 6;

/// Prefix of the line with the tools in use.
const TOOLS: &str = "Tools: ";

/// Percentage of the body that an external summary may take.
pub(super) const EXTERNAL_PERCENT: usize = 70;

/// Input of the task state section.
struct TaskStateFields {
    files: Vec<String>,
    open: Vec<String>,
    next: Vec<String>,
    failed: Vec<String>,
}

/// Text of each section, and the remaining characters.
pub(super) struct SummaryLayout<'m> {
    digest: &'m SummaryBuilder,
    messages: &'m [SummaryMessage],
    earlier: Vec<ParsedSummary>,
    title: String,
    parts: [String; SECTIONS.len()],
    left: usize,
}

impl<'m> SummaryLayout<'m> {
    /// Writes all sections.
    pub(super) fn new(
        digest: &'m SummaryBuilder,
        messages: &'m [SummaryMessage],
        task: &SummaryTask<'_>,
    ) -> Self {
        let mut earlier: Vec<ParsedSummary> = Vec::new();
        for index in digest.summaries.iter().rev() {
            if task.retained.binary_search(index).is_err() {
                let text = messages.get(*index).map(|message| message.text());
                earlier.extend(text.as_deref().map(ParsedSummary::parse));
            }
        }
        if let Some(text) = task.earlier {
            // A summary of all messages is opaque text, even if it looks like ours.
            let read = if task.earlier_covers_all {
                ParsedSummary::from_external
            } else {
                ParsedSummary::parse
            };
            earlier.insert(0, read(text));
        }
        let before: usize = earlier.iter().map(|earlier| earlier.messages).sum();
        let calls = earlier.iter().map(|earlier| earlier.calls).sum::<usize>() + digest.calls;
        let title = summary_format::title(before + messages.len() - digest.own.min(messages.len()));
        let end = summary_format::calls_line(calls);
        let mut page = Self {
            digest,
            messages,
            earlier,
            left: task
                .budget_chars
                .saturating_sub(chars(&title) + chars(&end)),
            title,
            parts: std::array::from_fn(|_| String::new()),
        };
        let request = page.write_request(task);
        page.write_user_messages(task, &request);
        // User text has a budget of its own; the body has a fixed size.
        page.left = page.left.min(BODY_CHARS);
        page.write_body(task, SessionEvents::from_messages(messages));
        page.parts[SummarySection::State as usize].push_str(&end);
        page
    }

    /// Joins the sections.
    pub(super) fn text(&self) -> String {
        let mut out = self.title.clone();
        for ((_, heading), part) in SECTIONS.iter().zip(&self.parts) {
            if !part.is_empty() {
                out.push_str(heading);
                out.push('\n');
                out.push_str(part);
            }
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Writes the sections other than user text.
    fn write_body(&mut self, task: &SummaryTask<'_>, story: SessionEvents) {
        let body = self.left;
        let share = |percent: usize| body * percent / 100;
        let state = share(12) + 60;
        self.left = self.left.saturating_sub(state);
        let known = if task.earlier_covers_all {
            self.write_external(story, body)
        } else {
            self.write_sections(task, story, body)
        };
        let steps = known.open.first().or(known.next.first());
        let steps = steps.map_or("none noted", String::as_str);
        let errors = known.failed.first().map_or("none noted", String::as_str);
        let newest = known.files[..known.files.len().min(STATE_FILES)].join(" ");
        let open = known.open.len();
        let lines = [
            single_line(&format!("Goal: {}", single_line(task.goal, 200)), share(2)),
            single_line(&format!("Steps: {open} open; {steps}"), share(2)),
            single_line(&format!("Errors: {errors}"), share(2)),
            single_line(&format!("Files: {newest}"), share(3)),
            single_line(&format!("{TOOLS}{}", self.tool_line(share(3))), share(3)),
        ];
        self.left += state;
        self.write_list(SummarySection::State, &lines, state);
        self.write_identifiers();
    }

    /// Writes an external summary of all messages, and the files.
    fn write_external(&mut self, story: SessionEvents, body: usize) -> TaskStateFields {
        let room = (body * EXTERNAL_PERCENT / 100).min(self.left);
        let room = room.saturating_sub(heading_chars(SummarySection::Notes) + 80);
        let note = self.earlier.first().and_then(|told| told.notes.first());
        if let Some(note) = note.map(|note| clip_quote(&note.text, room)) {
            self.block(SummarySection::Notes, &note);
        }
        TaskStateFields {
            files: self.write_files(body * 6 / 100),
            open: story.open.unwrap_or_default(),
            next: story.next.into_iter().collect(),
            failed: story.failed,
        }
    }

    /// Writes the extracted sections.
    fn write_sections(
        &mut self,
        task: &SummaryTask<'_>,
        story: SessionEvents,
        body: usize,
    ) -> TaskStateFields {
        let share = |percent: usize| body * percent / 100;
        self.write_notes(share(if task.earlier.is_some() { 45 } else { 20 }));
        let files = self.write_files(share(12));
        let next = match story.next {
            Some(next) => vec![next],
            None => self.with_earlier(SummarySection::Next, Vec::new()),
        };
        let next = self.write_list(SummarySection::Next, &next[..next.len().min(1)], share(3));
        let open = match story.open {
            Some(open) => open,
            None => self.with_earlier(SummarySection::Open, Vec::new()),
        };
        let open = self.write_list(SummarySection::Open, &open, share(7));
        let decisions = self.with_earlier(SummarySection::Decisions, story.decisions);
        self.write_list(SummarySection::Decisions, &decisions, share(14));
        let failed = self.with_earlier(SummarySection::Failed, story.failed);
        let failed = self.write_list(SummarySection::Failed, &failed, share(8));
        let fixed = self.with_earlier(SummarySection::Fixed, story.fixed);
        self.write_list(SummarySection::Fixed, &fixed, share(4));
        let commands = self.with_earlier(SummarySection::Commands, story.commands);
        self.write_list(SummarySection::Commands, &commands, share(15));
        TaskStateFields {
            files,
            open,
            next,
            failed,
        }
    }

    /// Returns new lines followed by those of earlier summaries, without duplicates.
    fn with_earlier(&self, section: SummarySection, newer: Vec<String>) -> Vec<String> {
        let mut all = newer;
        for earlier in &self.earlier {
            all.extend(
                earlier
                    .items(section)
                    .map(|item| single_line(item, BODY_CHARS)),
            );
        }
        let mut seen = HashSet::new();
        all.retain(|item| seen.insert(item.clone()));
        all
    }

    /// Writes the first lines that fit the share; returns them.
    fn write_list(
        &mut self,
        section: SummarySection,
        lines: &[String],
        share: usize,
    ) -> Vec<String> {
        let mut share = share.min(self.left);
        let mut written = Vec::new();
        for item in lines {
            if item.is_empty() {
                continue;
            }
            let heading = if written.is_empty() {
                heading_chars(section)
            } else {
                0
            };
            let cost = chars(item) + 3 + heading;
            if cost > share {
                break;
            }
            share -= cost;
            self.left -= cost;
            let part = &mut self.parts[section as usize];
            part.push_str("- ");
            part.push_str(item);
            part.push('\n');
            written.push(item.clone());
        }
        written
    }

    /// Writes a block if it fits; returns true if it did.
    fn block(&mut self, section: SummarySection, quote: &Quote) -> bool {
        let block = quote.block();
        let heading = if self.parts[section as usize].is_empty() {
            heading_chars(section)
        } else {
            0
        };
        let cost = chars(&block) + heading;
        if cost > self.left {
            return false;
        }
        self.left -= cost;
        self.parts[section as usize].push_str(&block);
        true
    }

    /// Writes the last request, truncated if it is very long; returns the written text.
    fn write_request(&mut self, task: &SummaryTask<'_>) -> String {
        let quote = clip_quote(task.goal, GOAL_CHARS.min(self.left / 2));
        let stays = |index: &usize| {
            self.messages
                .get(*index)
                .is_some_and(|kept| kept.text() == task.goal)
        };
        if !quote.text.trim().is_empty() && !task.retained.iter().any(stays) {
            self.block(SummarySection::Request, &quote);
        }
        quote.text
    }

    /// Writes user messages newest first, whole while the budget lasts: those of the messages, then those of earlier
    /// summaries.
    fn write_user_messages(&mut self, task: &SummaryTask<'_>, request: &str) {
        // Block headers are charged to the budget of the body.
        let rest = self
            .left
            .saturating_sub(task.user_text_chars)
            .min(BODY_CHARS);
        let reserve = (rest * 3 / 4).max(self.left / 20);
        let mut purse = task.user_text_chars;
        let (digest, messages) = (self.digest, self.messages);
        let from_messages = digest.users.iter().rev().filter_map(|index| {
            let text = messages.get(*index)?.text();
            let stays = task.retained.binary_search(index).is_ok();
            (!stays && !markers::is_program_text(&text)).then(|| untruncated_quote(&text))
        });
        let earlier = std::mem::take(&mut self.earlier);
        let before = earlier
            .iter()
            .flat_map(|earlier| earlier.request.iter().chain(&earlier.users).cloned());
        let mut seen: HashSet<String> = HashSet::from([task.goal.to_owned(), request.to_owned()]);
        for quote in from_messages.chain(before) {
            let room = purse.min(self.left.saturating_sub(reserve + 80));
            if room < CUT_CHARS {
                break;
            }
            if quote.text.trim().is_empty() || !seen.insert(quote.text.clone()) {
                continue;
            }
            let quote = if chars(&quote.text) <= room {
                quote
            } else if quote.cut_from.is_none() {
                clip_quote(&quote.text, CUT_CHARS)
            } else {
                continue;
            };
            if self.block(SummarySection::Users, &quote) {
                purse -= chars(&quote.text);
            }
        }
        self.earlier = earlier;
    }

    /// Writes summaries of other writers, newest first.
    fn write_notes(&mut self, share: usize) {
        let continued = self.digest.continued;
        let continued =
            continued.and_then(|index| Some(untruncated_quote(&self.messages.get(index)?.text())));
        let earlier = self
            .earlier
            .iter()
            .flat_map(|earlier| earlier.notes.iter().cloned());
        let all: Vec<Quote> = continued.into_iter().chain(earlier).collect();
        let mut share = share.min(self.left);
        for note in all {
            let room = share.saturating_sub(heading_chars(SummarySection::Notes) + 80);
            let fits = chars(&note.text) <= room;
            let note = if fits {
                note
            } else {
                clip_quote(&note.text, room)
            };
            if note.text.is_empty() {
                return;
            }
            let before = self.left;
            self.block(SummarySection::Notes, &note);
            share = share.saturating_sub(before - self.left);
        }
    }
}

/// Returns the length of a section's heading line.
fn heading_chars(section: SummarySection) -> usize {
    SECTIONS[section as usize].1.len() + 1
}

/// Quotes a text, truncated to `chars_max`.
fn clip_quote(text: &str, chars_max: usize) -> Quote {
    let all = chars(text);
    if all <= chars_max {
        return untruncated_quote(text);
    }
    Quote {
        text: clip(text, chars_max).to_owned(),
        cut_from: Some(all),
    }
}
