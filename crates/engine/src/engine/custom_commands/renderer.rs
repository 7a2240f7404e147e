//! Rendering of a command: runs its programs, reads its files and assembles its prompt.

use super::{CommandBook, CommandFile};
use heirloom_agents::process::child_process::{
    ChildExit, Chunk, EndStatus, LaunchSpec, PumpLimits, spawn,
};
use heirloom_fs::project_fs::{
    DigestProblem, normalise_project_path, private_reason, read_bounded,
};
use heirloom_model::{ErrorKind, Fault, limits, text};
use heirloom_prompt::custom_commands::{Position, RenderStep, argument_variables};
use heirloom_redact::{RawTail, Redactor};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Rendered prompt of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderedCommand {
    /// The prompt.
    pub text: String,
    /// The programs that ran, in order.
    pub programs: Vec<ProgramRun>,
    /// Notes for the user: replaced bytes, removed secrets.
    pub notes: Vec<String>,
}

/// Program that ran for a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRun {
    /// The script.
    pub script: String,
    /// Exit code.
    pub exit_code: i32,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

impl CommandBook {
    /// Returns the steps of a command with these arguments, in order. Errors: `Usage` for invalid arguments.
    pub fn plan(&self, command: &CommandFile, args: &[String]) -> Result<Vec<RenderStep>, Fault> {
        let name = &command.name;
        let steps = command.definition.template.prepare(args);
        steps.map_err(|problem| {
            Fault::usage(format!("command `{name}`, {problem}"))
                .hint(format!("`heirloom cmd show {name}` shows its arguments"))
        })
    }

    /// Renders the prompt of a command with these arguments. Runs its programs, so the caller must have asked for
    /// permission.
    ///
    /// Output of programs and contents of files are redacted; the last line break of each is dropped. Errors: `Usage`
    /// for invalid arguments; `NotFound` for a missing file; `Refused` for a file outside of the project or one that
    /// is not text; `Failed` with standard error for a program that fails, times out or prints too much;
    /// `Interrupted`. The process group is killed then.
    pub fn render(
        &self,
        command: &CommandFile,
        args: &[String],
        redactor: &Redactor,
        interrupt: &Arc<AtomicBool>,
    ) -> Result<RenderedCommand, Fault> {
        let name = &command.name;
        let steps = self.plan(command, args)?;
        let allowed = Duration::from_secs(command.definition.timeout_s);
        let mut renderer = CommandRenderer {
            root: &self.root,
            name,
            args,
            redactor,
            interrupt,
            deadline: Instant::now().checked_add(allowed),
            timeout_s: command.definition.timeout_s,
            done: RenderedCommand::default(),
        };
        for step in steps {
            renderer.take(step)?;
        }
        Ok(renderer.done)
    }
}

/// State of rendering.
struct CommandRenderer<'c> {
    root: &'c Path,
    name: &'c str,
    args: &'c [String],
    redactor: &'c Redactor,
    interrupt: &'c Arc<AtomicBool>,
    deadline: Option<Instant>,
    timeout_s: u64,
    done: RenderedCommand,
}

impl CommandRenderer<'_> {
    fn take(&mut self, step: RenderStep) -> Result<(), Fault> {
        match step {
            RenderStep::Text(text) => self.write(&text),
            RenderStep::Shell { script, at } => {
                let printed = self.shell(&script, at)?;
                let what = format!("`{}` printed", script_excerpt(&script));
                self.insert(printed, &what)
            }
            RenderStep::File { path, at } => {
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

    /// Appends redacted external text without its last line break.
    fn insert(&mut self, mut text: String, what: &str) -> Result<(), Fault> {
        let mut kinds = Vec::new();
        self.redactor.redact_in_place(&mut text, &mut kinds);
        if !kinds.is_empty() {
            kinds.sort();
            kinds.dedup();
            let kinds = kinds.join(", ");
            self.done
                .notes
                .push(format!("{what} secrets, which were redacted: {kinds}"));
        }
        self.write(text.strip_suffix('\n').unwrap_or(&text))
    }

    fn place(&self, at: Position) -> String {
        format!("command `{}`, {at}", self.name)
    }

    fn file(&self, path: &str, at: Position) -> Result<String, Fault> {
        let place = self.place(at);
        let name = text::excerpt(path, 120);
        let inside = normalise_project_path(self.root, path)
            .map_err(|problem| Fault::refused(format!("{place}: {problem}")))?;
        if let Some(why) = private_reason(&inside) {
            return Err(Fault::refused(format!("{place}: the file `{name}`: {why}")));
        }
        let most = limits::COMMAND_FILE_BYTES_MAX;
        let bytes = read_bounded(&self.root.join(inside), most).map_err(|problem| {
            let fault = Fault::refused(format!("{place}: the file `{name}`: {problem}"));
            match problem {
                DigestProblem::Missing => Fault::not_found(fault.message)
                    .hint("paths are relative to the project's folder"),
                DigestProblem::TooLarge(_) => {
                    fault.hint(format!("at most {most} bytes of a file are inserted"))
                }
                DigestProblem::NotRegularFile | DigestProblem::Unreadable(_) => fault,
            }
        })?;
        let length = bytes.len();
        if bytes.contains(&0) {
            return Err(Fault::refused(format!(
                "{place}: the file `{name}` is not text: its {length} bytes contain NUL"
            )));
        }
        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            Fault::refused(format!(
                "{place}: the file `{name}` of {length} bytes is not UTF-8 at byte {valid}"
            ))
        })
    }

    /// Runs a script and returns its output as text.
    fn shell(&mut self, script: &str, at: Position) -> Result<String, Fault> {
        let place = self.place(at);
        let variables = argument_variables(self.args).into_iter();
        let spec = LaunchSpec {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: self.root.to_owned(),
            env: variables
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            stdin: None,
        };
        let mut output = ProgramOutput::new();
        let ended = self.pump(&spec, &mut output)?;
        let (seconds, most) = (self.timeout_s, limits::COMMAND_OUTPUT_BYTES_MAX);
        let how = match ended.status {
            _ if output.flooded => format!("printed more than {most} bytes and was ended"),
            EndStatus::Exit(0) => {
                self.done.programs.push(ProgramRun {
                    script: script.to_owned(),
                    exit_code: 0,
                    duration_ms: ended.duration_ms,
                });
                return Ok(self.decode_output(output.stdout, script));
            }
            EndStatus::Exit(code) => format!("failed with exit code {code}"),
            EndStatus::Signal(signal) => format!("was ended by signal {signal}"),
            EndStatus::TimedOut => format!("was ended: the command may take {seconds} s"),
            EndStatus::Interrupted => {
                let message = format!("{place}: `{}` was interrupted", script_excerpt(script));
                return Err(Fault::new(ErrorKind::Interrupted, message));
            }
        };
        let reason = self.failure_reason(output.stderr);
        let fault = Fault::failed(format!(
            "{place}: `{}` {how}{reason}",
            script_excerpt(script)
        ));
        Err(match ended.status {
            EndStatus::TimedOut => fault.hint("`timeout_s` in its file gives it more time"),
            EndStatus::Exit(_) | EndStatus::Signal(_) | EndStatus::Interrupted => fault,
        })
    }

    fn pump(&self, spec: &LaunchSpec, output: &mut ProgramOutput) -> Result<ChildExit, Fault> {
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
            output.append(chunk);
            if output.flooded || self.interrupt.load(Ordering::Relaxed) {
                stop.store(true, Ordering::Relaxed);
            }
        }))
    }

    /// Converts output to text; replaces invalid UTF-8 and terminal control characters.
    fn decode_output(&mut self, bytes: Vec<u8>, script: &str) -> String {
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            let at = error.utf8_error().valid_up_to();
            let what = script_excerpt(script);
            self.done.notes.push(format!(
                "`{what}` printed invalid UTF-8 at byte {at}: such bytes were replaced"
            ));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        text::replace_control_chars(&text::strip_ansi(&text).replace("\r\n", "\n"))
    }

    /// Returns the end of a failed program's standard error.
    fn failure_reason(&self, stderr: RawTail) -> String {
        let text = text::strip_ansi(&stderr.redact(self.redactor));
        let line = text::clip_start(text.trim(), limits::OUTCOME_TEXT_CHARS_MAX);
        let line = text::one_line(line);
        if line.is_empty() {
            line
        } else {
            format!(": {line}")
        }
    }
}

fn script_excerpt(script: &str) -> String {
    text::excerpt(script.trim(), 80)
}

/// Captured output of a program, within limits.
struct ProgramOutput {
    stdout: Vec<u8>,
    stderr: RawTail,
    flooded: bool,
}

impl ProgramOutput {
    fn new() -> Self {
        Self {
            stdout: Vec::new(),
            stderr: RawTail::new(limits::STDERR_TAIL_BYTES_MAX),
            flooded: false,
        }
    }

    fn append(&mut self, chunk: Chunk<'_>) {
        match chunk {
            Chunk::Stdout(bytes) => {
                let room = limits::COMMAND_OUTPUT_BYTES_MAX - self.stdout.len();
                self.flooded |= bytes.len() > room;
                self.stdout
                    .extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Chunk::Stderr(bytes) => {
                self.stderr.append(bytes);
            }
            Chunk::Tick => {}
        }
    }
}
