//! A command carried out: its programs run, its files read, its prompt put together.

use super::{CommandBook, CommandFile};
use crate::commands::{Position, Step, variables};
use crate::places::{DigestProblem, normalise_inside, whole_file};
use crate::redact::Redactor;
use crate::run::child::{Chunk, EndStatus, Ended, LaunchSpec, PumpLimits, spawn};
use heirloom_model::{ErrorKind, Fault, limits, text};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A prompt, and how it came to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The prompt.
    pub text: String,
    /// The programs that ran, in order.
    pub programs: Vec<ProgramRun>,
    /// What somebody should know: bytes that were replaced, secrets that were taken out.
    pub notes: Vec<String>,
}

/// A program that ran for a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRun {
    /// The script.
    pub script: String,
    /// Its exit code.
    pub exit_code: i32,
    /// Milliseconds that it took.
    pub duration_ms: u64,
}

impl CommandBook {
    /// What a command would do with these arguments, in order. Errors: `Usage` for arguments that do not fit.
    pub fn plan(&self, command: &CommandFile, args: &[String]) -> Result<Vec<Step>, Fault> {
        let name = &command.name;
        let steps = command.definition.template.prepare(args);
        steps.map_err(|problem| {
            Fault::usage(format!("command `{name}`, {problem}"))
                .hint(format!("`heirloom cmd show {name}` says what it takes"))
        })
    }

    /// The prompt of a command with these arguments. Runs its programs: whoever calls this has been allowed to.
    ///
    /// What programs print and files hold is redacted; the last line break of each is dropped. Errors: `Usage` for
    /// arguments that do not fit; `NotFound` for a file that is not there; `Refused` for a file outside of the project
    /// or one that is no text; `Failed` for a program that fails, runs too long or prints too much, with what it said;
    /// `Interrupted`. Its whole process group is ended then.
    pub fn render(
        &self,
        command: &CommandFile,
        args: &[String],
        redactor: &Redactor,
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Rendered, Fault> {
        let name = &command.name;
        let steps = self.plan(command, args)?;
        let allowed = Duration::from_secs(command.definition.timeout_s);
        let mut making = Making {
            root: &self.root,
            name,
            args,
            redactor,
            interrupt,
            deadline: Instant::now().checked_add(allowed),
            timeout_s: command.definition.timeout_s,
            done: Rendered::default(),
        };
        for step in steps {
            making.take(step)?;
        }
        Ok(making.done)
    }
}

/// A prompt in the making.
struct Making<'c> {
    root: &'c Path,
    name: &'c str,
    args: &'c [String],
    redactor: &'c Redactor,
    interrupt: &'c Arc<AtomicBool>,
    deadline: Option<Instant>,
    timeout_s: u64,
    done: Rendered,
}

impl Making<'_> {
    fn take(&mut self, step: Step) -> Result<(), Fault> {
        match step {
            Step::Text(text) => self.write(&text),
            Step::Shell { script, at } => {
                let printed = self.shell(&script, at)?;
                let what = format!("`{}` printed", shown(&script));
                self.insert(printed, &what)
            }
            Step::File { path, at } => {
                let content = self.file(&path, at)?;
                let what = format!("`{}` has", text::excerpt(&path, 80));
                self.insert(content, &what)
            }
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Fault> {
        self.done.text.push_str(text);
        let most = limits::COMMAND_RENDERED_BYTES_MAX;
        if self.done.text.len() <= most {
            return Ok(());
        }
        let name = self.name;
        Err(Fault::failed(format!(
            "command `{name}` makes a prompt of more than {most} bytes"
        ))
        .hint("insert less"))
    }

    /// Writes what came from outside, without its secrets and its last line break.
    fn insert(&mut self, mut text: String, what: &str) -> Result<(), Fault> {
        let mut kinds = Vec::new();
        self.redactor.redact_in_place(&mut text, &mut kinds);
        if !kinds.is_empty() {
            kinds.sort();
            kinds.dedup();
            let kinds = kinds.join(", ");
            self.done
                .notes
                .push(format!("{what} secrets, which were taken out: {kinds}"));
        }
        self.write(text.strip_suffix('\n').unwrap_or(&text))
    }

    fn place(&self, at: Position) -> String {
        format!("command `{}`, {at}", self.name)
    }

    fn file(&self, path: &str, at: Position) -> Result<String, Fault> {
        let place = self.place(at);
        let name = text::excerpt(path, 120);
        let inside = normalise_inside(self.root, path)
            .map_err(|problem| Fault::refused(format!("{place}: {problem}")))?;
        let most = limits::COMMAND_FILE_BYTES_MAX;
        let bytes = whole_file(&self.root.join(inside), most).map_err(|problem| {
            let fault = Fault::refused(format!("{place}: the file `{name}`: {problem}"));
            match problem {
                DigestProblem::Missing => Fault::not_found(fault.message)
                    .hint("paths are relative to the project's folder"),
                DigestProblem::TooLarge(_) => {
                    fault.hint(format!("at most {most} bytes of a file are inserted"))
                }
                DigestProblem::NoFile | DigestProblem::Unreadable(_) => fault,
            }
        })?;
        let length = bytes.len();
        if bytes.contains(&0) {
            return Err(Fault::refused(format!(
                "{place}: the file `{name}` is no text: {length} bytes with NUL among them"
            )));
        }
        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            Fault::refused(format!(
                "{place}: the file `{name}` of {length} bytes is not UTF-8 at byte {valid}"
            ))
        })
    }

    /// What a script prints, as text.
    fn shell(&mut self, script: &str, at: Position) -> Result<String, Fault> {
        let place = self.place(at);
        let variables = variables(self.args).into_iter();
        let spec = LaunchSpec {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: self.root.to_owned(),
            env: variables
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            stdin: None,
        };
        let mut ear = Ear::default();
        let ended = self.pump(&spec, &mut ear)?;
        let (seconds, most) = (self.timeout_s, limits::COMMAND_OUTPUT_BYTES_MAX);
        let how = match ended.status {
            _ if ear.flooded => format!("printed more than {most} bytes and was ended"),
            EndStatus::Exit(0) => {
                self.done.programs.push(ProgramRun {
                    script: script.to_owned(),
                    exit_code: 0,
                    duration_ms: ended.duration_ms,
                });
                return Ok(self.heard(ear.stdout, script));
            }
            EndStatus::Exit(code) => format!("failed with exit code {code}"),
            EndStatus::Signal(signal) => format!("was ended by signal {signal}"),
            EndStatus::TimedOut => format!("was ended: the command may take {seconds} s"),
            EndStatus::Interrupted => {
                let said = format!("{place}: `{}` was interrupted", shown(script));
                return Err(Fault::new(ErrorKind::Interrupted, said));
            }
        };
        let said = self.complaint(&ear.stderr);
        let fault = Fault::failed(format!("{place}: `{}` {how}{said}", shown(script)));
        Err(match ended.status {
            EndStatus::TimedOut => fault.hint("`timeout_s` in its file gives it more time"),
            EndStatus::Exit(_) | EndStatus::Signal(_) | EndStatus::Interrupted => fault,
        })
    }

    fn pump(&self, spec: &LaunchSpec, ear: &mut Ear) -> Result<Ended, Fault> {
        let stop = Arc::new(AtomicBool::new(false));
        let left = self
            .deadline
            .map(|at| at.saturating_duration_since(Instant::now()));
        let limits = PumpLimits {
            timeout: left,
            interrupt: Arc::clone(&stop),
            ..PumpLimits::default()
        };
        Ok(spawn(spec)?.pump(&limits, &mut |chunk| {
            ear.hear(chunk);
            if ear.flooded || self.interrupt.load(Ordering::Relaxed) {
                stop.store(true, Ordering::Relaxed);
            }
        }))
    }

    /// Printed bytes as text: what is no UTF-8, and what would steer a terminal, is replaced.
    fn heard(&mut self, bytes: Vec<u8>, script: &str) -> String {
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            let at = error.utf8_error().valid_up_to();
            let what = shown(script);
            self.done.notes.push(format!(
                "`{what}` printed what is not UTF-8 at byte {at}: such bytes were replaced"
            ));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        text::printable(&text::strip_ansi(&text).replace("\r\n", "\n"))
    }

    /// The end of what a program said of its failure.
    fn complaint(&self, stderr: &[u8]) -> String {
        let said = text::strip_ansi(&String::from_utf8_lossy(stderr));
        let said = self.redactor.redact(said.trim());
        let said = text::one_line(text::clip_start(&said, limits::OUTCOME_TEXT_CHARS_MAX));
        if said.is_empty() {
            said
        } else {
            format!(": {said}")
        }
    }
}

fn shown(script: &str) -> String {
    text::excerpt(script.trim(), 80)
}

/// What a program says, as far as it is kept.
#[derive(Default)]
struct Ear {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    flooded: bool,
}

impl Ear {
    fn hear(&mut self, chunk: Chunk<'_>) {
        match chunk {
            Chunk::Stdout(bytes) => {
                let room = limits::COMMAND_OUTPUT_BYTES_MAX - self.stdout.len();
                self.flooded |= bytes.len() > room;
                self.stdout
                    .extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Chunk::Stderr(bytes) => {
                let kept = limits::STDERR_TAIL_BYTES_MAX;
                self.stderr.extend_from_slice(bytes);
                let over = self.stderr.len().saturating_sub(kept);
                self.stderr.drain(..over);
            }
            Chunk::Tick => {}
        }
    }
}
