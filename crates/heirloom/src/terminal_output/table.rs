//! Tables of texts that fit the width of a terminal.

use super::word_wrap::wrap_value;
use heirloom_model::text;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks between two columns.
const GAP: usize = 2;

/// Columns to which a cell is cut at most, except in the last column.
const CELL_WIDTH_MIN: usize = 6;

/// Columns to which a cell of the last column is cut at most.
const LAST_CELL_WIDTH_MIN: usize = 16;

/// Formats a table for people: padded columns, the last one unpadded. Cells may be of any length.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let one_line = |row: &Vec<String>| row.iter().map(|cell| text::one_line(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(one_line).collect();
    let widths = column_widths(&rows);
    let lines = rows.iter().map(|row| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            let padding = width.saturating_sub(cell.width()) + GAP;
            line.extend(std::iter::repeat_n(' ', padding));
        }
        line.truncate(line.trim_end().len());
        line
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats a table for a terminal: texts of the last column that do not fit continue below their beginning.
pub(crate) fn wrapped_table(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let label_columns = columns.saturating_sub(1);
    let one_line = |row: &Vec<String>| row.iter().map(|cell| text::one_line(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(one_line).collect();
    let widths = column_widths(&rows);
    let indent: usize = widths.iter().take(label_columns).map(|one| one + GAP).sum();
    let mut lines = Vec::new();
    for (row, label) in rows.iter().zip(table(&rows).lines()) {
        let Some(last) = row.get(label_columns) else {
            lines.push(label.to_owned());
            continue;
        };
        let label = label.strip_suffix(last.trim_end()).unwrap_or_default();
        let parts = wrap_value(last, width.saturating_sub(indent));
        for (number, part) in parts.iter().enumerate() {
            let line = match number {
                0 => format!("{label}{part}"),
                _ => format!("{}{part}", " ".repeat(indent)),
            };
            lines.push(line.trim_end().to_owned());
        }
    }
    lines.join("\n")
}

/// Returns the width of the widest cell of each column, at least 1.
fn column_widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.width()).max().unwrap_or(0).max(1)
    };
    let last = columns.saturating_sub(1);
    // Nothing follows the last column, so that one long text does not pad all lines.
    (0..columns)
        .map(|at| if at == last { 0 } else { widest(at) })
        .collect()
}

/// Removes the columns whose cells are all empty.
pub(crate) fn without_empty_columns(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let is_used = |at: usize| {
        rows.iter()
            .any(|row| row.get(at).is_some_and(|cell| !cell.is_empty()))
    };
    let used: Vec<bool> = (0..columns).map(is_used).collect();
    let keep_used = |row: Vec<String>| {
        let cells = row.into_iter().zip(&used);
        cells
            .filter(|(_, used)| **used)
            .map(|(cell, _)| cell)
            .collect()
    };
    rows.into_iter().map(keep_used).collect()
}

/// Cuts the cells so that each row fits `width`, the widest columns first. Those of `fixed` are not cut. If the cells
/// would become too short, the columns before the last one are removed from right to left.
pub(crate) fn fit_width(rows: &mut [Vec<String>], width: usize, fixed: &[usize]) {
    for cell in rows.iter_mut().flatten() {
        *cell = text::replace_control_chars(&text::one_line(cell));
    }
    loop {
        let widths = cell_widths(rows, width, fixed);
        let is_too_wide = row_width(&widths) > width;
        let removed = widths.len().checked_sub(2);
        let removed = removed.filter(|at| is_too_wide && *at > 0 && !fixed.contains(at));
        let Some(removed) = removed else {
            for row in rows {
                for (cell, width) in row.iter_mut().zip(&widths) {
                    *cell = cut(cell, *width);
                }
            }
            return;
        };
        for row in rows.iter_mut().filter(|row| row.len() > removed) {
            row.remove(removed);
        }
    }
}

fn row_width(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// Returns the width of each column, the widest ones shortened to fit, but not below the smallest width.
fn cell_widths(rows: &[Vec<String>], width: usize, fixed: &[usize]) -> Vec<usize> {
    let mut widths = column_widths(rows);
    let columns = widths.len();
    if let Some(last) = widths.last_mut() {
        let cells = rows.iter().filter_map(|row| row.get(columns - 1));
        *last = cells.map(|cell| cell.width()).max().unwrap_or(0);
    }
    let least = |at: usize| match at + 1 == columns {
        true => LAST_CELL_WIDTH_MIN,
        false => CELL_WIDTH_MIN,
    };
    while row_width(&widths) > width {
        let shrinkable = |at: &usize| !fixed.contains(at) && widths.get(*at) > Some(&least(*at));
        let Some(at) = (0..columns)
            .filter(shrinkable)
            .max_by_key(|at| widths.get(*at))
        else {
            break;
        };
        if let Some(width) = widths.get_mut(at) {
            *width -= 1;
        }
    }
    widths
}

/// Cuts a text to `width` columns, with an ellipsis in the last one.
pub(crate) fn cut(content: &str, width: usize) -> String {
    if content.width() <= width {
        return content.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in content.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let cells = [
            [
                "099a8057",
                "convention",
                "indent",
                "use tabs in all files of this project, never blanks",
            ],
            [
                "099a8058",
                "decision",
                "a-very-long-key-of-a-decision",
                "short",
            ],
        ];
        cells.map(|row| row.map(str::to_owned).to_vec()).to_vec()
    }

    #[test]
    fn fit_width_cuts_the_widest_columns() {
        for width in [32, 40, 50, 60, 80, 100] {
            let mut rows = rows();
            fit_width(&mut rows, width, &[0]);
            let text = table(&rows);
            assert!(
                text.lines().all(|line| line.width() <= width),
                "{width}: {text}"
            );
            assert!(
                text.contains("099a8057") && text.contains("099a8058"),
                "{text}"
            );
            assert_eq!(text.lines().count(), 2);
        }
        let mut wide = rows();
        fit_width(&mut wide, 200, &[0]);
        assert_eq!(wide, rows());
    }

    #[test]
    fn table_pads_columns_and_keeps_long_cells_whole() {
        let long = "x".repeat(100_000);
        let cells = [["a", "日本", &long], ["bcd", "", "y"]];
        let rows = cells.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), format!("a    日本  {long}\nbcd        y"));
        assert_eq!(table(&[]), "");
    }

    #[test]
    fn cut_counts_columns_of_wide_characters() {
        assert_eq!(cut("日本語のテキスト", 7), "日本語…");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("one two", 5), "one…");
        assert_eq!(cut("é", 1), "é");
    }

    #[test]
    fn without_empty_columns_keeps_columns_with_one_text() {
        let rows = [["a", "", ""], ["b", "", "c"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec()).to_vec();
        assert_eq!(without_empty_columns(rows), [["a", ""], ["b", "c"]]);
    }
}
