//! Rows that were not salvaged, for the report.

use heirloom_model::limits;

/// Row that could not be salvaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRow {
    /// Table of the row.
    pub table: String,
    /// Id of the row, or its position in the file if its id cannot be read.
    pub id: String,
    /// Reason why it could not be salvaged.
    pub reason: String,
}

/// Rows that could not be salvaged: all are counted, the first of them are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SkippedRows {
    pub(super) count: usize,
    pub(super) rows: Vec<SkippedRow>,
}

impl SkippedRows {
    /// Adds a row.
    pub(super) fn push(&mut self, table: &str, id: String, reason: impl Into<String>) {
        self.count += 1;
        if self.rows.len() < limits::ROWS_LEFT_OUT_NAMED_MAX {
            self.rows.push(SkippedRow {
                table: table.to_owned(),
                id,
                reason: reason.into(),
            });
        }
    }

    /// Removes the rows after `position`.
    pub(super) fn truncate(&mut self, (count, named): (usize, usize)) {
        self.count = count;
        self.rows.truncate(named);
    }

    /// Returns the present length, for [`SkippedRows::truncate`].
    pub(super) fn position(&self) -> (usize, usize) {
        (self.count, self.rows.len())
    }

    /// Adds the rows of another list.
    pub(super) fn extend(&mut self, other: Self) {
        let free = limits::ROWS_LEFT_OUT_NAMED_MAX.saturating_sub(self.rows.len());
        self.count += other.count;
        self.rows.extend(other.rows.into_iter().take(free));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_limit_are_only_counted() {
        let mut skipped = SkippedRows::default();
        for n in 0..=limits::ROWS_LEFT_OUT_NAMED_MAX {
            skipped.push("records", n.to_string(), "has no reason");
        }
        assert_eq!(skipped.count, limits::ROWS_LEFT_OUT_NAMED_MAX + 1);
        assert_eq!(skipped.rows.len(), limits::ROWS_LEFT_OUT_NAMED_MAX);
        let mut all = SkippedRows::default();
        all.push("records", "0".to_owned(), "has no reason");
        all.extend(skipped);
        assert_eq!(all.count, limits::ROWS_LEFT_OUT_NAMED_MAX + 2);
        assert_eq!(all.rows.len(), limits::ROWS_LEFT_OUT_NAMED_MAX);
    }
}
