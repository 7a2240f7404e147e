//! What the person or the script sees: data on standard output, talk on standard error.

use anstream::{AutoStream, ColorChoice};
use clap::error::ErrorKind;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// The two streams, and whether JSON is wanted.
pub(crate) struct Output {
    /// Whether JSON was asked for.
    pub(crate) json: bool,
    stdout: AutoStream<io::Stdout>,
    stderr: AutoStream<io::Stderr>,
    reader_left: bool,
    failed: bool,
}

impl Output {
    /// Output to this process's streams; colours and progress only on a terminal.
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            stdout: AutoStream::new(io::stdout(), ColorChoice::Auto),
            stderr: AutoStream::new(io::stderr(), ColorChoice::Auto),
            reader_left: false,
            failed: false,
        }
    }

    /// Whether a person looks at standard error.
    pub(crate) fn on_terminal(&self) -> bool {
        io::stderr().is_terminal()
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
        match self.stdout.write_all(bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.reader_left = true,
            Err(error) => {
                self.failed = true;
                self.talk(&format!(
                    "heirloom: cannot write to standard output: {error}"
                ));
            }
        }
    }

    /// Sends what was written so far on its way.
    pub(crate) fn flush(&mut self) {
        if let Err(error) = self.stdout.flush() {
            self.reader_left |= error.kind() == io::ErrorKind::BrokenPipe;
            self.failed |= error.kind() != io::ErrorKind::BrokenPipe;
        }
    }

    /// Talk: one line for the person.
    pub(crate) fn talk(&mut self, line: &str) {
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(self.stderr, "{}", text::printable(line));
    }

    /// An error, folded: what, then what to do next.
    pub(crate) fn fault(&mut self, fault: &Fault) {
        self.flush();
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
    let mut out = Output::new(before_command.into_iter().any(|arg| arg == "--json"));
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
/// Such characters stand in strings only. Raw, some of them would also be lost on the way: the stream
/// drops a DEL where no terminal reads it.
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
