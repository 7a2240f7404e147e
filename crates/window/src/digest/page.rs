//! A summary while it is written: each part within its share.

use super::form::{self, Earlier, SECTIONS, Said, Section, line, whole};
use super::names::{self, Name, Names, Same, Use};
use super::story::{self, Story};
use super::words::{self, Writing};
use super::{BODY_CHARS, Digest, Task, at, number};
use crate::message::{Message, Part};
use crate::own;
use crate::size::chars;
use heirloom_model::text::clip;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// Characters of the last request above which it is cut.
const GOAL_CHARS: usize = 16_000;
/// Characters that stand for a message of a user that does not fit.
const CUT_CHARS: usize = 160;
/// Outputs whose names count: the newest ones, and so many bytes of each.
const SHOWN_OUTPUTS: usize = 32;
const SHOWN_BYTES: usize = 1_200;
/// Files of each kind; the share is what really limits them.
const FILES_MOST: usize = 48;
/// Files that the state of the task names.
const STATE_FILES: usize = 6;

/// The share of the parts beside what users said, in hundredths, that somebody else's summary may have.
pub(super) const TOLD_PERCENT: usize = 70;

/// What the state of the task is made from.
struct Known {
    files: Vec<String>,
    open: Vec<String>,
    next: Vec<String>,
    failed: Vec<String>,
}

/// The text of each part, and the characters that are left.
pub(super) struct Page<'m> {
    digest: &'m Digest,
    messages: &'m [Message],
    earlier: Vec<Earlier>,
    title: String,
    parts: [String; SECTIONS.len()],
    left: usize,
}

impl<'m> Page<'m> {
    /// Writes all parts.
    pub(super) fn new(digest: &'m Digest, messages: &'m [Message], task: &Task<'_>) -> Self {
        let mut earlier: Vec<Earlier> = Vec::new();
        for index in digest.summaries.iter().rev() {
            if task.kept.binary_search(index).is_err() {
                let text = messages.get(*index).map(Message::text);
                earlier.extend(text.as_deref().map(Earlier::read));
            }
        }
        if let Some(text) = task.earlier {
            // What stands for everything is a text and nothing else, whatever it begins with.
            let read = if task.earlier_is_all {
                Earlier::note
            } else {
                Earlier::read
            };
            earlier.insert(0, read(text));
        }
        let before: usize = earlier.iter().map(|earlier| earlier.messages).sum();
        let calls = earlier.iter().map(|earlier| earlier.calls).sum::<usize>() + digest.calls;
        let title = form::title(before + messages.len() - digest.own.min(messages.len()));
        let end = form::calls_line(calls);
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
        let request = page.request(task);
        page.users(task, &request);
        // What users said has a purse of its own: the rest is of one size.
        page.left = page.left.min(BODY_CHARS);
        page.body(task, Story::of(messages));
        page.parts[Section::State as usize].push_str(&end);
        page
    }

    /// The parts one behind the other.
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

    /// The parts beside what people said.
    fn body(&mut self, task: &Task<'_>, story: Story) {
        let body = self.left;
        let share = |percent: usize| body * percent / 100;
        let state = share(12) + 60;
        self.left = self.left.saturating_sub(state);
        let known = if task.earlier_is_all {
            self.told(story, body)
        } else {
            self.sections(task, story, body)
        };
        let steps = known.open.first().or(known.next.first());
        let steps = steps.map_or("none noted", String::as_str);
        let errors = known.failed.first().map_or("none noted", String::as_str);
        let newest = known.files[..known.files.len().min(STATE_FILES)].join(" ");
        let open = known.open.len();
        let lines = [
            line(&format!("Goal: {}", line(task.goal, 200)), share(2)),
            line(&format!("Steps: {open} open; {steps}"), share(2)),
            line(&format!("Errors: {errors}"), share(2)),
            line(&format!("Files: {newest}"), share(3)),
            line(&format!("{TOOLS}{}", self.tools(share(3))), share(3)),
        ];
        self.left += state;
        self.list(Section::State, &lines, state);
        self.names();
    }

    /// What somebody else wrote of all this, and the files.
    fn told(&mut self, story: Story, body: usize) -> Known {
        let room = (body * TOLD_PERCENT / 100).min(self.left);
        let room = room.saturating_sub(heading_chars(Section::Notes) + 80);
        let note = self.earlier.first().and_then(|told| told.notes.first());
        if let Some(note) = note.map(|note| cut(&note.text, room)) {
            self.block(Section::Notes, &note);
        }
        Known {
            files: self.files(body * 6 / 100),
            open: story.open.unwrap_or_default(),
            next: story.next.into_iter().collect(),
            failed: story.failed,
        }
    }

    /// The parts that are made here.
    fn sections(&mut self, task: &Task<'_>, story: Story, body: usize) -> Known {
        let share = |percent: usize| body * percent / 100;
        self.notes(share(if task.earlier.is_some() { 45 } else { 20 }));
        let files = self.files(share(12));
        let next = match story.next {
            Some(next) => vec![next],
            None => self.with_earlier(Section::Next, Vec::new()),
        };
        let next = self.list(Section::Next, &next[..next.len().min(1)], share(3));
        let open = match story.open {
            Some(open) => open,
            None => self.with_earlier(Section::Open, Vec::new()),
        };
        let open = self.list(Section::Open, &open, share(7));
        let decisions = self.with_earlier(Section::Decisions, story.decisions);
        self.list(Section::Decisions, &decisions, share(14));
        let failed = self.with_earlier(Section::Failed, story.failed);
        let failed = self.list(Section::Failed, &failed, share(8));
        let fixed = self.with_earlier(Section::Fixed, story.fixed);
        self.list(Section::Fixed, &fixed, share(4));
        let commands = self.with_earlier(Section::Commands, story.commands);
        self.list(Section::Commands, &commands, share(15));
        Known {
            files,
            open,
            next,
            failed,
        }
    }

    /// Lines that are new, and those of earlier summaries behind them.
    fn with_earlier(&self, section: Section, newer: Vec<String>) -> Vec<String> {
        let mut all = newer;
        for earlier in &self.earlier {
            all.extend(earlier.items(section).map(|item| line(item, BODY_CHARS)));
        }
        let mut seen = HashSet::new();
        all.retain(|item| seen.insert(item.clone()));
        all
    }

    /// Writes as many lines as the share pays, the first ones; gives those.
    fn list(&mut self, section: Section, lines: &[String], share: usize) -> Vec<String> {
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

    /// Writes a block if it fits.
    fn block(&mut self, section: Section, said: &Said) -> bool {
        let block = said.block();
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

    /// The last request, whole unless it is very long; gives the text that stands there.
    fn request(&mut self, task: &Task<'_>) -> String {
        let said = cut(task.goal, GOAL_CHARS.min(self.left / 2));
        let stays = |index: &usize| {
            self.messages
                .get(*index)
                .is_some_and(|kept| kept.text() == task.goal)
        };
        if !said.text.trim().is_empty() && !task.kept.iter().any(stays) {
            self.block(Section::Request, &said);
        }
        said.text
    }

    /// What users said, newest first, each whole while the purse lasts: here, then in earlier summaries.
    fn users(&mut self, task: &Task<'_>, request: &str) {
        // The headers of the blocks are paid from what is left for the rest.
        let rest = self.left.saturating_sub(task.users_chars).min(BODY_CHARS);
        let reserve = (rest * 3 / 4).max(self.left / 20);
        let mut purse = task.users_chars;
        let (digest, messages) = (self.digest, self.messages);
        let here = digest.users.iter().rev().filter_map(|index| {
            let text = messages.get(*index)?.text();
            let stays = task.kept.binary_search(index).is_ok();
            (!stays && !own::is_injected(&text)).then(|| whole(&text))
        });
        let earlier = std::mem::take(&mut self.earlier);
        let before = earlier
            .iter()
            .flat_map(|earlier| earlier.request.iter().chain(&earlier.users).cloned());
        let mut seen: HashSet<String> = HashSet::from([task.goal.to_owned(), request.to_owned()]);
        for said in here.chain(before) {
            let room = purse.min(self.left.saturating_sub(reserve + 80));
            if room < CUT_CHARS {
                break;
            }
            if said.text.trim().is_empty() || !seen.insert(said.text.clone()) {
                continue;
            }
            let said = if chars(&said.text) <= room {
                said
            } else if said.cut_from.is_none() {
                cut(&said.text, CUT_CHARS)
            } else {
                continue;
            };
            if self.block(Section::Users, &said) {
                purse -= chars(&said.text);
            }
        }
        self.earlier = earlier;
    }

    /// What other writers summed up: the newest first.
    fn notes(&mut self, share: usize) {
        let continued = self.digest.continued;
        let continued = continued.and_then(|index| Some(whole(&self.messages.get(index)?.text())));
        let earlier = self
            .earlier
            .iter()
            .flat_map(|earlier| earlier.notes.iter().cloned());
        let all: Vec<Said> = continued.into_iter().chain(earlier).collect();
        let mut share = share.min(self.left);
        for note in all {
            let room = share.saturating_sub(heading_chars(Section::Notes) + 80);
            let fits = chars(&note.text) <= room;
            let note = if fits { note } else { cut(&note.text, room) };
            if note.text.is_empty() {
                return;
            }
            let before = self.left;
            self.block(Section::Notes, &note);
            share = share.saturating_sub(before - self.left);
        }
    }

    /// The files that were touched, the changed ones first; gives those that are written.
    fn files(&mut self, share: usize) -> Vec<String> {
        let (mut edited, mut read) = (Vec::new(), Vec::new());
        for file in self.digest.uses().files.newest() {
            let list = if file.edited { &mut edited } else { &mut read };
            if list.len() < FILES_MOST
                && let Some(path) = at(self.messages, file.place)
            {
                list.push(path.to_owned());
            }
        }
        for earlier in &self.earlier {
            for item in earlier.items(Section::Files) {
                if let Some(paths) = item.strip_prefix(EDITED) {
                    edited.extend(paths.split(' ').map(str::to_owned));
                } else if let Some(paths) = item.strip_prefix(READ) {
                    read.extend(paths.split(' ').map(str::to_owned));
                }
            }
        }
        let mut seen = HashSet::new();
        let mut room =
            share.saturating_sub(heading_chars(Section::Files) + EDITED.len() + READ.len() + 6);
        let mut fit = |paths: Vec<String>| -> Vec<String> {
            let mut out = Vec::new();
            for path in paths {
                let cost = chars(&path) + 1;
                if cost <= room && !path.is_empty() && seen.insert(path.clone()) {
                    room -= cost;
                    out.push(path);
                }
            }
            out
        };
        let (edited, read) = (fit(edited), fit(read));
        let lines: Vec<String> = [(EDITED, &edited), (READ, &read)]
            .into_iter()
            .filter(|(_, paths)| !paths.is_empty())
            .map(|(what, paths)| format!("{what}{}", paths.join(" ")))
            .collect();
        self.list(Section::Files, &lines, share);
        [edited, read].concat()
    }

    /// The tools in use, with the arguments that they take, the most used first: as many as that
    /// many characters hold whole, because half a name is no name when the summary is read again.
    fn tools(&self, chars_max: usize) -> String {
        let mut tools = self.digest.tools.clone();
        tools.sort_by_key(|tool| (std::cmp::Reverse(tool.3), tool.1));
        let mut lines: Vec<String> = Vec::new();
        for (_, message, part, _) in tools.into_iter().take(TOOLS_MOST) {
            let parts = self.messages.get(message).map(|message| &message.parts);
            if let Some(Part::Call(call)) = parts.and_then(|parts| parts.get(part)) {
                let name = call.name.replace([';', '('], " ");
                let keys = story::keys(call).join(", ").replace(';', ",");
                lines.push(line(&format!("{name}({keys})"), 100));
            }
        }
        for earlier in &self.earlier {
            for item in earlier.items(Section::State) {
                let tools = item.strip_prefix(TOOLS).unwrap_or("").split("; ");
                lines.extend(tools.filter(|tool| !tool.is_empty()).map(str::to_owned));
            }
        }
        let mut seen = HashSet::new();
        lines.retain(|tool| seen.insert(tool.split('(').next().unwrap_or("").to_owned()));
        lines.truncate(TOOLS_MOST);
        let mut room = chars_max.saturating_sub(TOOLS.len());
        let fit = lines.iter().take_while(|tool| {
            let cost = chars(tool) + 2;
            let fits = cost <= room;
            room = room.saturating_sub(cost);
            fits
        });
        fit.cloned().collect::<Vec<_>>().join("; ")
    }

    /// Names that are likely to be used again and stand nowhere else in the summary.
    fn names(&mut self) {
        let now = number(self.digest.pushed);
        let mut room = self.left.saturating_sub(heading_chars(Section::Names) + 3);
        let most = room / 7 + 512;
        let shown = self.shown();
        let mut ranked: Vec<(u64, &Name)> = self
            .digest
            .uses()
            .names
            .best(now, most)
            .into_iter()
            .chain(shown.best(now, most))
            .map(|name| (name.value(now), name))
            .collect();
        ranked.sort_by_key(|(value, _)| std::cmp::Reverse(*value));
        let written = self.text();
        let mut seen: HashSet<u64, BuildHasherDefault<Same>> = HashSet::default();
        let headings = SECTIONS.iter().map(|(_, heading)| *heading);
        for text in headings.chain([written.as_str()]) {
            words::scan(text, Writing::Plain, |range| {
                seen.insert(words::hash(&text[range]));
            });
        }
        let mut list: Vec<&str> = Vec::new();
        for (_, name) in ranked {
            let Some(token) = at(self.messages, name.place) else {
                continue;
            };
            let cost = chars(token) + 1;
            if cost > room {
                break;
            }
            if seen.insert(words::hash(token)) {
                room -= cost;
                list.push(token);
            }
        }
        let list = list.join(" ");
        self.list(Section::Names, &[list], usize::MAX);
    }

    /// Names in the newest outputs.
    fn shown(&self) -> Names {
        let mut names = Names::with_room(1_024);
        let mut outputs = 0;
        let from = self.messages.iter().rposition(|message| {
            outputs += message.outputs().count();
            outputs >= SHOWN_OUTPUTS
        });
        for (index, message) in self.messages.iter().enumerate().skip(from.unwrap_or(0)) {
            for (part, what) in message.parts.iter().enumerate() {
                if let Part::Output(output) = what {
                    let text = output.text.as_str();
                    let head = &text[..text.floor_char_boundary(SHOWN_BYTES.min(text.len()))];
                    names::each(
                        head,
                        Writing::Plain,
                        (number(index), number(part)),
                        |token, place| {
                            names.count(token, place, Use::Shown);
                        },
                    );
                }
            }
        }
        names
    }
}

const TOOLS: &str = "Tools: ";
/// Tools that a summary names.
const TOOLS_MOST: usize = 8;
const EDITED: &str = "changed: ";
const READ: &str = "read: ";

/// What a part costs beside its lines.
fn heading_chars(section: Section) -> usize {
    SECTIONS[section as usize].1.len() + 1
}

/// The text, or its beginning if it is longer than that.
fn cut(text: &str, chars_max: usize) -> Said {
    let all = chars(text);
    if all <= chars_max {
        return whole(text);
    }
    Said {
        text: clip(text, chars_max).to_owned(),
        cut_from: Some(all),
    }
}
