//! What the person or the script sees: data on standard output, talk on standard error.

use anstream::{AutoStream, ColorChoice};
use heirloom_model::{Fault, text};
use serde_json::{Value, json};
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
        let line = format!("{value}\n");
        self.data(&line);
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
            return self.talk(&line);
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
