//! Output for people and scripts: data on standard output, messages on standard error.

pub(crate) mod terminal_features;
pub(crate) mod word_wrap;

use clap::builder::StyledStr;
use clap::builder::styling::{AnsiColor, Style};
use clap::error::ErrorKind;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use terminal_features::TerminalFeatures;

/// Style of the word that begins an error.
const ERROR_STYLE: Style = AnsiColor::Red.on_default().bold();

/// Both output streams, and the choice of JSON.
pub(crate) struct Output {
    /// True if `--json` was given.
    pub(crate) json: bool,
    stdout: BufWriter<io::Stdout>,
    stderr: io::Stderr,
    features: TerminalFeatures,
    reader_left: bool,
    failed: bool,
}

impl Output {
    /// Creates the output of this process.
    pub(crate) fn new(json: bool, features: TerminalFeatures) -> Self {
        Self {
            json,
            stdout: BufWriter::new(io::stdout()),
            stderr: io::stderr(),
            features,
            reader_left: false,
            failed: false,
        }
    }

    /// Returns true if standard error is a terminal that can show progress.
    pub(crate) fn shows_progress(&self) -> bool {
        self.features.can_rewrite_line
    }

    /// Returns the text in a style, without control characters, for [`Self::painted_line`].
    pub(crate) fn paint(&self, style: Style, content: &str) -> String {
        let content = text::replace_control_chars(content);
        match self.features.has_colors {
            true => format!("{style}{content}{style:#}"),
            false => content,
        }
    }

    /// Prints a line whose parts come from [`Self::paint`].
    pub(crate) fn painted_line(&mut self, line: &str) {
        self.data(line);
        self.data("\n");
    }

    /// Prints a constant text with styles, which are removed where there are no colours.
    pub(crate) fn styled_text(&mut self, styled: &str) {
        let styled = styled.trim_end().to_owned();
        match self.features.has_colors {
            true => self.data(&styled),
            false => self.data(&StyledStr::from(styled).to_string()),
        }
        self.data("\n");
    }

    /// Prints a line of data with terminal escapes replaced.
    pub(crate) fn line(&mut self, line: &str) {
        self.data(&text::replace_control_chars(line));
        self.data("\n");
    }

    /// Prints one JSON value on a line.
    pub(crate) fn value(&mut self, value: &Value) {
        self.json_text(&format!("{value}\n"));
    }

    /// Prints text that is already JSON.
    pub(crate) fn json_text(&mut self, json: &str) {
        self.data(&escape_json(json));
    }

    /// Prints data unchanged.
    pub(crate) fn data(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Prints bytes unchanged.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if self.reader_left || self.failed {
            return;
        }
        let written = self.stdout.write_all(bytes);
        self.note_outcome(written);
    }

    /// Flushes standard output.
    pub(crate) fn flush(&mut self) {
        if self.reader_left || self.failed {
            return;
        }
        let flushed = self.stdout.flush();
        self.note_outcome(flushed);
    }

    /// Notes the result of a write: a closed pipe is not a failure; any other error is reported once.
    fn note_outcome(&mut self, outcome: io::Result<()>) {
        let Err(error) = outcome else { return };
        self.reader_left = error.kind() == io::ErrorKind::BrokenPipe;
        self.failed = !self.reader_left;
        if self.failed {
            self.talk(&format!(
                "heirloom: cannot write to standard output: {error}"
            ));
        }
    }

    /// Prints one message line on standard error.
    pub(crate) fn talk(&mut self, line: &str) {
        self.flush();
        // A closed standard error is ignored: there is no other place to report to.
        let _ = writeln!(self.stderr, "{}", text::replace_control_chars(line));
    }

    /// Prints one message line without replacing terminal escapes.
    fn styled_talk(&mut self, line: &str) {
        self.flush();
        // A closed standard error is ignored: there is no other place to report to.
        let _ = writeln!(self.stderr, "{line}");
    }

    /// Returns true if a person at a terminal can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        !self.json && io::stdin().is_terminal() && self.stderr.is_terminal()
    }

    /// Asks the person at the terminal, who has to type `yes`.
    ///
    /// Errors: `Refused` if there is no terminal.
    pub(crate) fn ask(&mut self, question: &str) -> Result<bool, Fault> {
        if !self.can_ask() {
            return Err(
                Fault::refused(format!("{question} There is no terminal to confirm this"))
                    .hint("--yes confirms it, --dry-run only shows the effect"),
            );
        }
        self.talk(&format!("{question} Type yes:"));
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        read.map_err(|error| Fault::failed(format!("cannot read the answer: {error}")))?;
        Ok(answer.trim() == "yes")
    }

    /// Prints an error: the message, then the hint.
    pub(crate) fn fault(&mut self, fault: &Fault) {
        if self.json {
            let error =
                json!({"kind": fault.kind.as_str(), "message": fault.message, "hint": fault.hint});
            let line = json!({ "error": error }).to_string();
            return self.talk(&escape_json(&line));
        }
        if self.features.has_error_colors {
            let message = text::replace_control_chars(&fault.message);
            let line = format!("{ERROR_STYLE}heirloom:{ERROR_STYLE:#} {message}");
            self.styled_talk(&line);
        } else {
            self.talk(&format!("heirloom: {}", fault.message));
        }
        if let Some(hint) = &fault.hint {
            self.talk(&format!("  hint: {hint}"));
        }
    }

    /// Returns the final exit code: a closed pipe is not a failure, a full disk is one.
    pub(crate) fn exit_code(&mut self, code: u8) -> u8 {
        self.flush();
        if self.failed && code == 0 { 1 } else { code }
    }
}

/// Prints a usage error, or the requested help; `unknown_command` replaces the error of clap. Returns the exit code.
pub(crate) fn report_misuse(
    error: &clap::Error,
    unknown_command: Option<&Fault>,
    features: TerminalFeatures,
) -> u8 {
    let is_help =
        !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let before_command = std::env::args_os().take_while(|arg| arg != "--");
    let json = before_command.into_iter().any(|arg| arg == "--json");
    let mut out = Output::new(json, features);
    let styled = error.render();
    let text = styled.to_string();
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    if is_help && error.use_stderr() {
        // A closed pipe is not a failure. The exit code stays that of wrong usage.
        let _ = io::stderr().write_all(
            match features.has_error_colors {
                true => styled.ansi().to_string().into_bytes(),
                false => text.into_bytes(),
            }
            .as_slice(),
        );
    } else if is_help {
        out.styled_text(&styled.ansi().to_string());
        return out.exit_code(code);
    } else if let Some(fault) = unknown_command {
        out.fault(fault);
    } else if out.json {
        let message = text.split("\n\n").next().unwrap_or_default();
        let message = text::one_line(message.trim_start_matches("error: "));
        out.fault(&Fault::usage(message).hint("`heirloom COMMAND --help` shows what it takes"));
    } else {
        // The message repeats the arguments, which may contain terminal escapes.
        out.talk(text.trim_end());
    }
    code
}

/// Escapes terminal control characters in JSON without changing its value.
///
/// Such characters occur only in strings.
fn escape_json(json: &str) -> Cow<'_, str> {
    let steers_terminal = |c: char| c != '\n' && !text::is_safe_to_display(c);
    if json.bytes().all(|byte| byte < 0x7f) || !json.contains(steers_terminal) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if steers_terminal(c) {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Formats a table for people: padded columns, the last one unpadded.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(comfy_table::ContentArrangement::Disabled);
    for row in rows {
        table.add_row(
            row.iter()
                .map(|cell| text::one_line(cell))
                .collect::<Vec<_>>(),
        );
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}
