//! Table of a receipt's items for a person at the terminal.

use crate::terminal_output;
use heirloom_model::text;

/// Item of a receipt.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReceiptRow {
    /// True if the item is in the context.
    pub(crate) is_included: bool,
    /// Reason why it was included or left out.
    pub(crate) reason: String,
    /// Calibrated relevance to the question, 0 to 1, if it was compared.
    pub(crate) relevance: Option<f64>,
    /// Worth in the selection, if it competed.
    pub(crate) worth: Option<f64>,
    /// Size in the context, characters.
    pub(crate) chars: u64,
    /// Id of its record, or its file.
    pub(crate) origin: String,
    /// Beginning of its text.
    pub(crate) text: String,
}

/// Formats the items of one section as indented lines: the included ones, then those that were left out.
pub(crate) fn item_lines(mut rows: Vec<ReceiptRow>) -> Vec<String> {
    // The sort is stable: both groups stay in the order of the receipt.
    rows.sort_by_key(|row| !row.is_included);
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let table = terminal_output::table(&cells);
    table.lines().map(|line| format!("  {line}")).collect()
}

fn cells(row: &ReceiptRow) -> Vec<String> {
    let worth = row.worth.map(|worth| format!("worth {worth:.2}"));
    vec![
        if row.is_included { "in" } else { "out" }.to_owned(),
        row.reason.clone(),
        row.relevance.map(text::percent).unwrap_or_default(),
        worth.unwrap_or_default(),
        format!("{} chars", row.chars),
        row.origin.clone(),
        text::excerpt(&row.text, 60),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_lines_list_left_out_items_last() {
        let row = |is_included, reason: &str, relevance, worth, text: &str| ReceiptRow {
            is_included,
            reason: reason.to_owned(),
            relevance,
            worth,
            chars: 9,
            origin: String::new(),
            text: text.to_owned(),
        };
        let lines = item_lines(vec![
            row(false, "did not fit", Some(0.871), Some(1.25), "first"),
            row(true, "guaranteed", None, None, "second"),
            row(true, "by worth", Some(0.002), Some(0.5), "third"),
        ]);
        let words = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            lines.iter().map(words).collect::<Vec<_>>(),
            [
                "in guaranteed 9 chars second",
                "in by worth <1 % worth 0.50 9 chars third",
                "out did not fit 87 % worth 1.25 9 chars first",
            ]
        );
    }
}
