//! What the person or the script sees: data on standard output, talk on standard error.

use clap::error::ErrorKind;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};

/// The two streams, and whether JSON is wanted.
pub(crate) struct Output {
    /// Whether JSON was asked for.
    pub(crate) json: bool,
    stdout: BufWriter<io::Stdout>,
    stderr: io::Stderr,
    moves: bool,
    reader_left: bool,
    failed: bool,
}

impl Output {
    /// Output to this process's streams; `moves` says whether the terminal, if there is one, can rewrite a
    /// line.
    pub(crate) fn new(json: bool, moves: bool) -> Self {
        Self {
            json,
            stdout: BufWriter::new(io::stdout()),
            stderr: io::stderr(),
            moves,
            reader_left: false,
            failed: false,
        }
    }

    /// Whether a person looks at standard error, on a terminal that can show progress.
    pub(crate) fn shows_progress(&self) -> bool {
        self.moves && self.stderr.is_terminal()
    }

    /// Data: one line, terminal escapes made harmless.
    pub(crate) fn line(&mut self, line: &str) {
        self.data(&text::printable(line));
        self.data("\n");
    }

    /// Data: one JSON value on a line of its own.
    pub(crate) fn value(&mut self, value: &Value) {
        self.json_text(&format!("{value}\n"));
    }

    /// Data: text that is JSON already.
    pub(crate) fn json_text(&mut self, json: &str) {
        self.data(&tame_json(json));
    }

    /// Data as it is.
    pub(crate) fn data(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Data as it is, bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if self.reader_left || self.failed {
            return;
        }
        let written = self.stdout.write_all(bytes);
        self.settle(written);
    }

    /// Sends what was written so far on its way.
    pub(crate) fn flush(&mut self) {
        if self.reader_left || self.failed {
            return;
        }
        let flushed = self.stdout.flush();
        self.settle(flushed);
    }

    /// A reader who left is no failure; anything else is told once.
    fn settle(&mut self, outcome: io::Result<()>) {
        let Err(error) = outcome else { return };
        self.reader_left = error.kind() == io::ErrorKind::BrokenPipe;
        self.failed = !self.reader_left;
        if self.failed {
            self.talk(&format!(
                "heirloom: cannot write to standard output: {error}"
            ));
        }
    }

    /// Talk: one line for the person.
    pub(crate) fn talk(&mut self, line: &str) {
        self.flush();
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(self.stderr, "{}", text::printable(line));
    }

    /// Asks the person at the terminal, who has to type `yes`.
    ///
    /// Errors: `Refused` when nobody is there to be asked.
    pub(crate) fn ask(&mut self, question: &str) -> Result<bool, Fault> {
        if self.json || !io::stdin().is_terminal() || !self.stderr.is_terminal() {
            return Err(
                Fault::refused(format!("{question} Nobody is here to say yes"))
                    .hint("--yes says it, --dry-run only looks"),
            );
        }
        self.talk(&format!("{question} Type yes:"));
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        read.map_err(|error| Fault::failed(format!("cannot read the answer: {error}")))?;
        Ok(answer.trim() == "yes")
    }

    /// An error, folded: what, then what to do next.
    pub(crate) fn fault(&mut self, fault: &Fault) {
        if self.json {
            let error =
                json!({"kind": fault.kind.as_str(), "message": fault.message, "hint": fault.hint});
            let line = json!({ "error": error }).to_string();
            return self.talk(&tame_json(&line));
        }
        self.talk(&format!("heirloom: {}", fault.message));
        if let Some(hint) = &fault.hint {
            self.talk(&format!("  hint: {hint}"));
        }
    }

    /// The exit code: a reader who left early is no failure, a disk that is full is one.
    pub(crate) fn exit_code(&mut self, code: u8) -> u8 {
        self.flush();
        if self.failed && code == 0 { 1 } else { code }
    }
}

/// Says what is wrong with the arguments, or prints the help that was asked for. Returns the exit code.
pub(crate) fn misuse(error: &clap::Error) -> u8 {
    let asked =
        !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let before_command = std::env::args_os().take_while(|arg| arg != "--");
    let mut out = Output::new(before_command.into_iter().any(|arg| arg == "--json"), false);
    let said = error.render().to_string();
    if asked {
        // A reader who left early is no failure.
        let _ = error.print();
    } else if out.json {
        let what = said.split("\n\n").next().unwrap_or_default();
        let what = text::one_line(what.trim_start_matches("error: "));
        out.fault(&Fault::usage(what).hint("`heirloom COMMAND --help` shows what it takes"));
    } else {
        // What was typed is in it, escapes and all.
        out.talk(said.trim_end());
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// JSON in which what would steer a terminal is escaped: the same value.
///
/// Such characters stand in strings only.
fn tame_json(json: &str) -> Cow<'_, str> {
    let steers = |c: char| c != '\n' && !text::is_harmless(c);
    if json.bytes().all(|byte| byte < 0x7f) || !json.contains(steers) {
        return Cow::Borrowed(json);
    }
    let mut tame = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if steers(c) {
            tame.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            tame.push(c);
        }
    }
    Cow::Owned(tame)
}

/// A table for people: columns padded, the last one as wide as it is.
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
