//! Output for people and scripts: data on standard output, messages on standard error.

pub(crate) mod progress;
mod short_ids;
mod table;
pub(crate) mod terminal_features;
pub(crate) mod word_wrap;

pub(crate) use table::{table, without_empty_columns};

use clap::builder::StyledStr;
use clap::builder::styling::{AnsiColor, Style};
use clap::error::ErrorKind;
use heirloom_model::{Fault, RecordId, text};
use progress::Progress;
use serde_json::{Value, json};
use short_ids::ShortIds;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use terminal_features::{TerminalFeatures, screen_width};
use unicode_width::UnicodeWidthStr;
use word_wrap::wrap_value;

/// Style of ids.
const ID_STYLE: Style = AnsiColor::Yellow.on_default();

/// Style of headings and labels of less weight.
pub(crate) const DIM_STYLE: Style = Style::new().dimmed();

/// Style of the word that begins an error.
const ERROR_STYLE: Style = AnsiColor::Red.on_default().bold();

/// Both output streams, and the choice of JSON.
pub(crate) struct Output {
    /// True if `--json` was given.
    pub(crate) json: bool,
    stdout: BufWriter<io::Stdout>,
    stderr: io::Stderr,
    features: TerminalFeatures,
    /// Width of the terminal of standard output; `None` if there is no terminal.
    width: Option<usize>,
    /// Address of the page of this memory, if the terminal shows links and a server runs.
    page_address: Option<String>,
    progress: Progress,
    /// Command whose progress is shown.
    command: &'static str,
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
            width: screen_width(),
            page_address: None,
            progress: Progress::default(),
            command: "",
            reader_left: false,
            failed: false,
        }
    }

    /// Returns true if standard error is a terminal that can show progress.
    pub(crate) fn shows_progress(&self) -> bool {
        self.features.can_rewrite_line
    }

    /// Shows progress while this command takes longer than a second, until it prints something.
    pub(crate) fn begin_progress(&mut self, command: &'static str) {
        self.command = command;
        let description = progress::describe_command(command);
        if let Some(description) = description.filter(|_| self.shows_progress()) {
            self.progress.begin(description);
        }
    }

    /// Removes the progress from the screen.
    pub(crate) fn end_progress(&self) {
        self.progress.end();
    }

    /// Returns the progress, for parts that print to standard error themselves.
    pub(crate) fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Returns the text in a style, without control characters, for [`Self::painted_line`].
    pub(crate) fn paint(&self, style: Style, content: &str) -> String {
        let content = text::replace_control_chars(content);
        match self.features.has_colors {
            true => format!("{style}{content}{style:#}"),
            false => content,
        }
    }

    /// Returns true if standard output shows links to the page.
    pub(crate) fn has_links(&self) -> bool {
        self.features.has_links && !self.json
    }

    /// Links ids to the page at this address.
    pub(crate) fn link_to_page(&mut self, address: Option<String>) {
        self.page_address = address;
    }

    /// Returns an id for [`Self::painted_line`]: its end on a terminal, else the whole one.
    pub(crate) fn id(&self, id: RecordId) -> String {
        let full = id.to_string();
        match self.width {
            Some(_) => self.paint_id(&full, &ShortIds::default().shorten(&full)),
            None => full,
        }
    }

    /// Returns an id for a message: its end on a terminal, else the whole one.
    pub(crate) fn plain_id(&self, id: RecordId) -> String {
        let full = id.to_string();
        match self.width {
            Some(_) => ShortIds::default().shorten(&full),
            None => full,
        }
    }

    /// Paints the short form of an id, and links it to its page.
    fn paint_id(&self, full: &str, short: &str) -> String {
        let painted = self.paint(ID_STYLE, short);
        match &self.page_address {
            // OSC 8: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
            Some(page) if full != short => {
                let page = text::replace_control_chars(page);
                format!("\x1b]8;;{page}/records/{full}\x1b\\{painted}\x1b]8;;\x1b\\")
            }
            _ => painted,
        }
    }

    /// Prints a table. On a terminal it fits the width, and the ids in `id_columns` are short: the end of each, as long
    /// as it has to be to be unique in the table.
    pub(crate) fn table(&mut self, rows: &[Vec<String>], id_columns: &[usize]) {
        let Some(width) = self.width else {
            return self.line(&table(rows));
        };
        let (mut rows, mut painted) = (rows.to_vec(), Vec::with_capacity(rows.len()));
        let id_cells = |row: &[String]| -> Vec<String> {
            let cells = id_columns.iter().filter_map(|at| row.get(*at));
            cells.cloned().collect()
        };
        let all: Vec<String> = rows.iter().flat_map(|row| id_cells(row)).collect();
        let short = ShortIds::for_ids(all.iter().map(String::as_str));
        for row in &mut rows {
            let ids = id_cells(row);
            painted.push(
                ids.iter()
                    .map(|id| (short.shorten(id), id.clone()))
                    .collect::<Vec<_>>(),
            );
            for at in id_columns {
                if let Some(cell) = row.get_mut(*at) {
                    *cell = short.shorten(cell);
                }
            }
        }
        table::fit_width(&mut rows, width, id_columns);
        for (line, ids) in table(&rows).lines().zip(painted) {
            let mut line = line.to_owned();
            for (short, full) in ids.iter().filter(|(short, _)| !short.is_empty()) {
                line = line.replacen(short.as_str(), &self.paint_id(full, short), 1);
            }
            self.painted_line(&line);
        }
    }

    /// Prints a table whose last column is complete: on a terminal its texts continue below their beginning.
    pub(crate) fn wrapped_table(&mut self, rows: &[Vec<String>]) {
        let text = match self.width {
            Some(width) => table::wrapped_table(rows, width),
            None => table(rows),
        };
        for line in text.lines() {
            self.line(line);
        }
    }

    /// Prints a value after a label from [`Self::paint`]. On a terminal the value continues below its beginning, `indent`
    /// columns from the left.
    pub(crate) fn labelled_line(&mut self, label: &str, indent: usize, value: &str) {
        let value = text::replace_control_chars(value);
        let lines = match self.width {
            Some(width) => wrap_value(&value, width.saturating_sub(indent)),
            None => vec![value],
        };
        for (number, line) in lines.iter().enumerate() {
            match number {
                0 => self.painted_line(&format!("{label}{line}")),
                _ => self.painted_line(&format!("{}{line}", " ".repeat(indent))),
            }
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
        if self.width.is_some() {
            self.progress.end();
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
        self.progress.end();
        self.flush();
        // A closed standard error is ignored: there is no other place to report to.
        let _ = writeln!(self.stderr, "{}", text::replace_control_chars(line));
    }

    /// Prints one message line without replacing terminal escapes.
    fn styled_talk(&mut self, line: &str) {
        self.progress.end();
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
        self.begin_progress(self.command);
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
            const LABEL: &str = "  hint: ";
            let width = self.width.filter(|_| self.stderr.is_terminal());
            let wrap = |line: &str| match width {
                Some(width) => wrap_value(line, width.saturating_sub(LABEL.width())),
                None => vec![line.to_owned()],
            };
            for (number, line) in hint.lines().flat_map(wrap).enumerate() {
                let label = if number == 0 { LABEL } else { "  " };
                self.talk(&format!("{label}{line}"));
            }
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
