//! Tables of databases of other programs, as an import reads them.

use serde_json::Value;

/// Value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ForeignValue {
    /// No value.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text; invalid UTF-8 is replaced.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// Rows of one table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignTable {
    /// Names of the columns that were read.
    pub columns: Vec<String>,
    /// Rows, each with one value for each column.
    pub rows: Vec<Vec<ForeignValue>>,
}

/// One row of a table.
#[derive(Debug, Clone, Copy)]
pub struct ForeignRow<'t> {
    columns: &'t [String],
    values: &'t [ForeignValue],
}

impl ForeignTable {
    /// Returns an iterator over the rows.
    pub fn rows(&self) -> impl Iterator<Item = ForeignRow<'_>> {
        self.rows.iter().map(|values| ForeignRow {
            columns: &self.columns,
            values,
        })
    }

    /// Returns true if the table has this column.
    pub fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }
}

impl<'t> ForeignRow<'t> {
    /// Returns the value of a column; `None` if the column is missing.
    pub fn get(self, column: &str) -> Option<&'t ForeignValue> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.values.get(at)
    }

    /// Returns the value of a column as trimmed text; `None` if it is missing, empty or bytes.
    pub fn text(self, column: &str) -> Option<String> {
        let text = match self.get(column)? {
            ForeignValue::Text(text) => text.trim().to_owned(),
            ForeignValue::Integer(number) => number.to_string(),
            ForeignValue::Real(number) => number.to_string(),
            ForeignValue::Null | ForeignValue::Blob(_) => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    /// Returns the value of a column as an integer; numbers in text are converted.
    pub fn integer(self, column: &str) -> Option<i64> {
        match self.get(column)? {
            ForeignValue::Integer(number) => Some(*number),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a cast of a floating-point number saturates"
            )]
            ForeignValue::Real(number) => Some(*number as i64),
            ForeignValue::Text(text) => text.trim().parse().ok(),
            ForeignValue::Null | ForeignValue::Blob(_) => None,
        }
    }

    /// Returns the value of a column as JSON; `None` if it is missing or is not JSON.
    pub fn json(self, column: &str) -> Option<Value> {
        serde_json::from_str(&self.text(column)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_and_missing_columns_are_none() {
        let table = ForeignTable {
            columns: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            rows: vec![vec![
                ForeignValue::Text(" 7 ".to_owned()),
                ForeignValue::Real(1.5),
                ForeignValue::Blob(vec![1]),
                ForeignValue::Text("[1]".to_owned()),
            ]],
        };
        let row = table.rows().next().unwrap();
        assert_eq!(row.text("a").as_deref(), Some("7"));
        assert_eq!((row.integer("a"), row.integer("b")), (Some(7), Some(1)));
        assert_eq!((row.text("c"), row.integer("c")), (None, None));
        assert_eq!(row.json("d"), Some(serde_json::json!([1])));
        assert_eq!(row.text("missing"), None);
        assert!(table.has_column("a") && !table.has_column("missing"));
    }
}
