//! Aider: Markdown. `#### ` is what a person typed, `> ` what the program says, the rest the model's words.

use super::reader::{Head, told};
use super::{Act, Event, Failed, Out};
use heirloom_model::Timestamp;

/// How the line begins that says when a conversation began.
const STARTED: &str = "# aider chat started at ";
/// How a line begins that names a changed file.
const APPLIED: &str = "> Applied edit to ";

/// What a line says of its conversation; whether that is all there is to know.
pub(super) fn head(text: &str, head: &mut Head) -> bool {
    let Some(when) = text.strip_prefix(STARTED) else {
        return false;
    };
    head.began = moment(when);
    head.session = Some(name(when));
    true
}

/// The time of a line; the file does not say of which zone, so it counts as UTC.
fn moment(when: &str) -> Option<Timestamp> {
    let (day, time) = when.trim().split_once(' ')?;
    format!("{day}T{time}Z").parse().ok()
}

fn name(when: &str) -> String {
    let digits = when.trim().chars().map(|c| match c.is_ascii_digit() {
        true => c,
        false => '-',
    });
    let name: String = digits.take(40).collect();
    format!("aider-{name}")
}

/// What the lines so far belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Voice {
    #[default]
    Nobody,
    Person,
    Model,
    Program,
}

/// Tells what the lines say.
#[derive(Debug, Default)]
pub(super) struct Aider {
    at: Option<Timestamp>,
    voice: Voice,
    began: u64,
    said: String,
    /// The command that a person had run, until its output has come.
    command: Option<String>,
    edits: Vec<String>,
}

impl Aider {
    pub(super) fn line(&mut self, at: u64, line: &str, out: Out<'_>) {
        let line = line.trim_end_matches('\r');
        if let Some(when) = line.strip_prefix(STARTED) {
            self.flush(out);
            self.at = moment(when);
            let id = format!("begins {at}");
            out(told(id, self.at, Event::Begins(name(when))));
            return;
        }
        let (voice, words) = if let Some(words) = line.strip_prefix("####") {
            (Voice::Person, words.strip_prefix(' ').unwrap_or(words))
        } else if let Some(words) = line.strip_prefix('>') {
            (Voice::Program, words.strip_prefix(' ').unwrap_or(words))
        } else if line.trim().is_empty() && self.voice != Voice::Model {
            return;
        } else {
            (Voice::Model, line)
        };
        if voice != self.voice {
            self.flush(out);
            self.voice = voice;
            self.began = at;
        }
        if let Some(file) = line.strip_prefix(APPLIED) {
            self.edits.push(file.trim().to_owned());
        }
        if self.said.len() < heirloom_model::limits::TRANSCRIPT_LINE_BYTES_MAX {
            self.said.push_str(words.trim_end());
            self.said.push('\n');
        }
    }

    /// Ends what was said.
    pub(super) fn flush(&mut self, out: Out<'_>) {
        let said = std::mem::take(&mut self.said);
        let said = said.trim();
        let id = self.began.to_string();
        match std::mem::take(&mut self.voice) {
            Voice::Nobody => {}
            Voice::Person => self.person(id, said, out),
            Voice::Model if said.is_empty() => {}
            Voice::Model => out(told(id, self.at, Event::Said(said.to_owned()))),
            Voice::Program => {
                if let Some(call) = self.command.take() {
                    let (failed, text) = (Failed::Stopped, said.to_owned());
                    out(told(id, self.at, Event::Result { call, failed, text }));
                }
            }
        }
        for file in std::mem::take(&mut self.edits) {
            out(told(
                format!("{} {file}", self.began),
                self.at,
                Event::Changed(file),
            ));
        }
    }

    fn person(&mut self, id: String, said: &str, out: Out<'_>) {
        let run = ["/run ", "/test ", "!"];
        if let Some(command) = run.iter().find_map(|start| said.strip_prefix(start)) {
            self.command = Some(id.clone());
            let act = Act::Command(command.trim().to_owned());
            let (call, tool) = (id.clone(), "run".to_owned());
            return out(told(id, self.at, Event::Call { call, tool, act }));
        }
        let asked = ["/ask ", "/code ", "/architect "];
        let said = asked
            .iter()
            .find_map(|start| said.strip_prefix(start))
            .unwrap_or(said);
        if !said.is_empty() && !said.starts_with('/') {
            out(told(id, self.at, Event::Prompt(said.to_owned())));
        }
    }
}
