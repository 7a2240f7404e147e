//! One face before the programs' own forms.

use super::{Agent, Out, Told, aider, claude, codex, gemini};
use heirloom_model::Timestamp;
use heirloom_model::limits::TRANSCRIPT_HEAD_BYTES_MAX;
use std::borrow::Cow;

/// Whose conversation a file holds, and where it was held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The conversation, by the program's own name for it.
    pub session: Option<String>,
    /// The working folder in which it began.
    pub folder: Option<String>,
    /// SHA-256 of the working folder, where the program records no more.
    pub folder_hash: Option<String>,
    /// The subagent whose conversation it is.
    pub agent: Option<String>,
    /// When it began.
    pub began: Option<Timestamp>,
}

/// Reads a head, line by line, as far as it must.
#[derive(Debug)]
pub struct HeadReader {
    agent: Agent,
    head: Head,
    read: usize,
}

impl HeadReader {
    /// A reader at the beginning of a file.
    pub fn new(agent: Agent) -> Self {
        let head = Head::default();
        Self {
            agent,
            head,
            read: 0,
        }
    }

    /// Reads a line; whether the next one is wanted.
    pub fn line(&mut self, line: &[u8]) -> bool {
        self.read += line.len() + 1;
        let text = text_of(line);
        let done = match self.agent {
            Agent::Claude => claude::head(&text, &mut self.head),
            Agent::Codex => codex::head(&text, &mut self.head),
            Agent::Gemini => gemini::head(&text, &mut self.head),
            Agent::Aider => aider::head(&text, &mut self.head),
        };
        !done && self.read < TRANSCRIPT_HEAD_BYTES_MAX
    }

    /// What was found; `None` if it is no transcript of this program.
    pub fn finish(self) -> Option<Head> {
        self.head.session.is_some().then_some(self.head)
    }
}

/// Finds what of a file no longer holds; reads the whole of it first.
#[derive(Debug)]
pub struct Survey(Looked);

#[derive(Debug)]
enum Looked {
    Claude(claude::Survey),
    Codex(codex::Survey),
    Gemini(gemini::Survey),
    Aider,
}

impl Survey {
    /// A survey at the beginning of a file.
    pub fn new(agent: Agent) -> Self {
        Self(match agent {
            Agent::Claude => Looked::Claude(claude::Survey::default()),
            Agent::Codex => Looked::Codex(codex::Survey::default()),
            Agent::Gemini => Looked::Gemini(gemini::Survey::default()),
            Agent::Aider => Looked::Aider,
        })
    }

    /// Whether it has anything to look for: if not, the file need not be read for it.
    pub fn is_needed(&self) -> bool {
        !matches!(self.0, Looked::Aider)
    }

    /// Reads the line at `at`.
    pub fn line(&mut self, at: u64, line: &[u8]) {
        let text = text_of(line);
        match &mut self.0 {
            Looked::Claude(survey) => survey.line(at, &text),
            Looked::Codex(survey) => survey.line(at, &text),
            Looked::Gemini(survey) => survey.line(at, &text),
            Looked::Aider => {}
        }
    }

    /// The reader that knows what was found.
    pub fn reader(self) -> Reader {
        let (dead, form) = match self.0 {
            Looked::Claude(survey) => (survey.dead(), Form::Claude(claude::Claude::default())),
            Looked::Codex(survey) => {
                let form = codex::Codex::new(survey.has_prompts());
                (survey.dead(), Form::Codex(form))
            }
            Looked::Gemini(survey) => (survey.dead(), Form::Gemini),
            Looked::Aider => (Vec::new(), Form::Aider(Box::default())),
        };
        Reader {
            dead,
            form,
            unreadable: 0,
        }
    }
}

/// Tells what a file says, line by line.
#[derive(Debug)]
pub struct Reader {
    /// Where lines begin that are passed over, in order.
    dead: Vec<u64>,
    form: Form,
    unreadable: u64,
}

#[derive(Debug)]
enum Form {
    Claude(claude::Claude),
    Codex(codex::Codex),
    Gemini,
    Aider(Box<aider::Aider>),
}

impl Reader {
    /// Reads the line at `at`; whether it could be read as a line of this program.
    pub fn line(&mut self, at: u64, line: &[u8], out: Out<'_>) -> bool {
        if self.dead.binary_search(&at).is_ok() {
            return true;
        }
        let text = text_of(line);
        if let Form::Aider(form) = &mut self.form {
            form.line(at, &text, out);
            return true;
        }
        if text.trim().is_empty() {
            return true;
        }
        let read = match &mut self.form {
            Form::Claude(form) => form.line(at, &text, out),
            Form::Codex(form) => form.line(at, &text, out),
            Form::Gemini => gemini::line(at, &text, out),
            Form::Aider(_) => Some(()),
        };
        self.unreadable += u64::from(read.is_none());
        read.is_some()
    }

    /// Tells what waits for lines that may belong to it: nothing more comes now.
    pub fn finish(&mut self, out: Out<'_>) {
        match &mut self.form {
            Form::Claude(form) => form.flush(out),
            Form::Aider(form) => form.flush(out),
            Form::Codex(_) | Form::Gemini => {}
        }
    }

    /// How many lines could not be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }
}

/// Something that is told by the main agent.
pub(super) fn told(id: String, at: Option<Timestamp>, event: super::Event) -> Told {
    Told {
        id,
        at,
        agent: None,
        event,
    }
}

/// A line as text; what is no character in it becomes a replacement character.
fn text_of(line: &[u8]) -> Cow<'_, str> {
    // Nearly every line is sound, and is looked through faster this way.
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    }
}
