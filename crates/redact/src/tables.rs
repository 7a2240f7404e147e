//! Secrets in tables: the cell next to a name, and the column below one. Markdown, CSV, tabs, and the tables that
//! database shells print.

use super::scan::Scanner;
use super::secret_names::{self, SecretNameKind};
use super::value_rules;
use std::ops::{Deref, DerefMut, Range};

/// Maximum length of a line of a table, in bytes.
const LINE_MAX: usize = 4_096;
/// Maximum number of rows below a head that are examined.
const ROWS_MAX: usize = 2_000;
/// Maximum number of blanks and quotes between a cell and its delimiter.
const SIGNS_MAX: usize = 32;
/// Maximum number of columns.
const COLUMNS_MAX: usize = 64;
/// Maximum length of the name of a column, in bytes.
const NAME_MAX: usize = 48;

/// Scan of tables.
pub(super) struct TableScan<'s, 't>(pub(super) &'s mut Scanner<'t>);

impl<'t> Deref for TableScan<'_, 't> {
    type Target = Scanner<'t>;

    fn deref(&self) -> &Scanner<'t> {
        self.0
    }
}

impl<'t> DerefMut for TableScan<'_, 't> {
    fn deref_mut(&mut self) -> &mut Scanner<'t> {
        self.0
    }
}

impl<'t> TableScan<'_, 't> {
    /// Checks the table cell that is the name `name`: its neighbour, or the cells below it.
    pub(super) fn match_table_cell(&mut self, name: &Range<usize>) {
        if self.table_end > name.start {
            return;
        }
        let Some(line) = self.bounded_line(name.start) else {
            return;
        };
        let Some(delimiter) = delimiter_of(self.bytes, &line, name) else {
            return;
        };
        let cells = self.cells(&line, delimiter);
        if !(2..=COLUMNS_MAX).contains(&cells.len()) || !self.is_head(&cells) {
            self.match_labelled_row(&cells, name, delimiter);
            return;
        }
        let kinds: Vec<_> = cells.iter().map(|cell| self.cell_kind(cell)).collect();
        let (mut at, mut found) = (line.end, false);
        for _ in 0..ROWS_MAX {
            at = self.line_break_end(at);
            let Some(row) = self.bounded_line(at).filter(|row| !row.is_empty()) else {
                break;
            };
            let values = self.cells(&row, delimiter);
            at = row.end;
            if self.is_rule(&row) {
                continue;
            }
            if values.len() != cells.len() {
                break;
            }
            for (kind, cell) in kinds.iter().zip(&values) {
                if let Some(kind) = kind {
                    found |= self.check_cell(*kind, cell);
                }
            }
        }
        if found {
            self.table_end = at;
        } else {
            self.match_labelled_row(&cells, name, delimiter);
        }
    }

    /// Checks the cell behind a name: `| password | … |`.
    fn match_labelled_row(&mut self, cells: &[Range<usize>], name: &Range<usize>, delimiter: u8) {
        let at = cells
            .iter()
            .position(|cell| (cell.start..cell.end).contains(&name.start));
        let Some(cell) = at.and_then(|at| cells.get(at)) else {
            return;
        };
        // In a CSV file a label is the first of two cells; a list of words has more.
        let sits_right = match delimiter {
            b'|' => self.begins_with_bar(name.start),
            _ => at == Some(0) && cells.len() == 2,
        };
        let value = at.and_then(|at| cells.get(at + 1)).cloned();
        if let (Some(kind), Some(value), true) = (self.cell_kind(cell), value, sits_right) {
            self.check_cell(kind, &value);
        }
    }

    /// Returns true if the line of `at` begins with a bar, as the rows of Markdown do and pipes of a shell do not.
    fn begins_with_bar(&self, at: usize) -> bool {
        let line = self.bounded_line(at).unwrap_or(at..at);
        let text = self.bytes.get(line).unwrap_or_default();
        text.trim_ascii_start().starts_with(b"|")
    }

    /// Returns the kind of secret that a cell denotes as a whole.
    fn cell_kind(&self, cell: &Range<usize>) -> Option<SecretNameKind> {
        let text = self.text.get(cell.clone())?;
        (text.len() <= NAME_MAX)
            .then(|| secret_names::classify_name(text))
            .flatten()
    }

    /// Redacts a cell that holds a secret.
    fn check_cell(&mut self, kind: SecretNameKind, cell: &Range<usize>) -> bool {
        let Some(text) = self.text.get(cell.clone()) else {
            return false;
        };
        let is_secret = value_rules::is_secret_literal(kind, text) && value_rules::is_data(text);
        if is_secret {
            self.push(cell.start, cell.end, kind.kind());
        }
        is_secret
    }

    /// Returns true if all cells are names of columns: short, without digits only, and without code.
    fn is_head(&self, cells: &[Range<usize>]) -> bool {
        let named = |cell: &Range<usize>| {
            let text = self.text.get(cell.clone()).unwrap_or("");
            let fits = |c: char| c.is_alphanumeric() || " _-./#".contains(c);
            text.len() <= NAME_MAX && text.chars().all(fits)
        };
        cells.iter().all(named) && cells.iter().filter(|cell| !cell.is_empty()).count() >= 2
    }

    /// Returns true if a line is the rule below a head: `|---|---|`, `-----+-----`.
    fn is_rule(&self, line: &Range<usize>) -> bool {
        let bytes = &self.bytes[line.clone()];
        bytes.contains(&b'-') && bytes.iter().all(|b| b"-+|=: \t".contains(b))
    }

    /// Returns the cells of a line, without blanks, quotes and marks of emphasis around them.
    fn cells(&self, line: &Range<usize>, delimiter: u8) -> Vec<Range<usize>> {
        let bytes = &self.bytes[line.clone()];
        let mut cells = Vec::new();
        let (mut start, mut quoted) = (0, false);
        for at in 0..=bytes.len() {
            let byte = bytes.get(at).copied();
            if byte == Some(b'"') && matches!(delimiter, b',' | b';') {
                quoted = !quoted;
            }
            if (byte == Some(delimiter) && !quoted) || byte.is_none() {
                cells.push(self.trimmed(line.start + start..line.start + at));
                start = at + 1;
            }
            if cells.len() > COLUMNS_MAX {
                break;
            }
        }
        // The outer bars of a Markdown table are no cells.
        if delimiter == b'|' {
            if cells.first().is_some_and(Range::is_empty) {
                cells.remove(0);
            }
            if cells.last().is_some_and(Range::is_empty) {
                cells.pop();
            }
        }
        cells
    }

    /// Removes blanks, quotes and marks of emphasis around a cell.
    fn trimmed(&self, mut cell: Range<usize>) -> Range<usize> {
        let outer = |b: u8| matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'*');
        while cell.start < cell.end && outer(self.bytes[cell.start]) {
            cell.start += 1;
        }
        while cell.start < cell.end && outer(self.bytes[cell.end - 1]) {
            cell.end -= 1;
        }
        cell
    }

    /// Returns the line around `at`; `None` if it is too long for a table.
    fn bounded_line(&self, at: usize) -> Option<Range<usize>> {
        let from = at.saturating_sub(LINE_MAX);
        let before = self.bytes.get(from..at)?;
        let start = match before.iter().rposition(|b| *b == b'\n') {
            Some(n) => from + n + 1,
            None if from == 0 => 0,
            None => return None,
        };
        let rest = self.bytes.get(at..)?;
        let rest = rest.get(..LINE_MAX).unwrap_or(rest);
        let length = match memchr::memchr2(b'\n', b'\r', rest) {
            Some(n) => n,
            None if rest.len() < LINE_MAX => rest.len(),
            None => return None,
        };
        (start < at + length).then_some(start..at + length)
    }

    /// Returns the offset after the line break at `at`.
    fn line_break_end(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        match rest {
            [b'\r', b'\n', ..] => at + 2,
            [b'\n', ..] => at + 1,
            _ => self.bytes.len(),
        }
    }
}

/// Returns the delimiter next to a name that is a cell: the sign before or after it, behind quotes and blanks.
fn delimiter_of(bytes: &[u8], line: &Range<usize>, name: &Range<usize>) -> Option<u8> {
    let outer = |b: &&u8| matches!(**b, b' ' | b'"' | b'\'' | b'`' | b'*');
    let after = bytes[name.end..line.end.max(name.end)]
        .iter()
        .find(|b| !outer(b));
    let before = bytes[line.start..name.start]
        .iter()
        .rev()
        .find(|b| !outer(b));
    let sign = |b: Option<&u8>| {
        b.copied()
            .filter(|b| matches!(b, b'|' | b',' | b';' | b'\t'))
    };
    let (after, before) = (sign(after), sign(before));
    after.or(before).filter(|delimiter| {
        *delimiter == b'|' || after.is_none() || before.is_none() || after == before
    })
}

/// Returns true if a delimiter of cells is next to a name.
pub(super) fn may_be_cell(bytes: &[u8], name: &Range<usize>) -> bool {
    let outer = |b: &&u8| matches!(**b, b' ' | b'"' | b'\'' | b'`' | b'*');
    let after = bytes
        .get(name.end..)
        .unwrap_or_default()
        .iter()
        .take(SIGNS_MAX)
        .find(|b| !outer(b));
    let before = bytes[..name.start]
        .iter()
        .rev()
        .take(SIGNS_MAX)
        .find(|b| !outer(b));
    let sign =
        |b: Option<&u8>| b.is_some_and(|b| matches!(b, b'|' | b',' | b';' | b'\t' | b'\n' | b'\r'));
    (sign(after) || after.is_none())
        && (sign(before) || before.is_none() || before.is_some_and(u8::is_ascii_alphanumeric))
}
