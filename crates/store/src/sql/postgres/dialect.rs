//! Rewriting of the store's statements for PostgreSQL.
//!
//! The statements are SQLite's. They use what both databases share; what differs is one of the phrases here. A comment
//! that begins with `pg` contains text for PostgreSQL alone.

use std::collections::BTreeSet;

/// Phrases of SQLite, and PostgreSQL's equivalents.
const PHRASES: [(&str, &str); 10] = [
    (
        "retired_at IS NOT NULL AND kind = 'knowledge' \
         AND json_extract(attrs, '$.conflict') = 1 AND json_extract(attrs, '$.arbitrated') IS NULL",
        "is_open_conflict",
    ),
    ("ifnull(", "coalesce("),
    ("substr(id, -", "substr(uuid_send(id), 17 - "),
    ("x''", "''::bytea"),
    (
        "unhex(value) FROM json_each(",
        "CAST(value AS uuid) FROM json_array_elements_text(",
    ),
    (
        "json_extract(attrs, '$.disputed') IS NOT 1",
        "coalesce(attrs ->> 'disputed', '') <> 'true'",
    ),
    (
        "json_extract(attrs, '$.proposal') = 1",
        "attrs ->> 'proposal' = 'true'",
    ),
    (
        "CASE WHEN json_valid(body) THEN json_remove(body, '$.sections', '$.text', '$.rules') ELSE body END",
        "(body::jsonb - 'sections' - 'text' - 'rules')::text",
    ),
    ("(SELECT schema_version FROM pragma_schema_version)", "0"),
    ("/*pg", ""),
];

/// Statement in PostgreSQL's dialect.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Translation {
    /// Text of the statement.
    pub(crate) sql: String,
    /// Numbers of the parameters that occur in it.
    pub(crate) parameters: BTreeSet<usize>,
}

impl Translation {
    /// Returns true if the statement changes rows, also if it returns some.
    pub(crate) fn is_write(&self) -> bool {
        let verb = self.sql.split_whitespace().next().unwrap_or("");
        matches!(verb, "INSERT" | "UPDATE" | "DELETE") || self.sql.contains(" RETURNING ")
    }

    /// Rewrites a statement.
    pub(crate) fn of(sql: &str) -> Self {
        let mut text = without_index_hints(sql);
        for (phrase, equivalent) in PHRASES {
            if text.contains(phrase) {
                text = text.replace(phrase, equivalent);
            }
        }
        let text = text.replace("*/", "");
        let mut translation = Self {
            sql: String::with_capacity(text.len()),
            parameters: BTreeSet::new(),
        };
        let mut parts = text.split('?');
        translation.sql.push_str(parts.next().unwrap_or(""));
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let number: Option<usize> = part.get(..digits).and_then(|number| number.parse().ok());
            translation.parameters.extend(number);
            translation.sql.push('$');
            translation.sql.push_str(part);
        }
        translation
    }
}

/// Removes `INDEXED BY name`: PostgreSQL's planner chooses the index.
fn without_index_hints(sql: &str) -> String {
    const HINT: &str = " INDEXED BY ";
    let mut parts = sql.split(HINT);
    let mut text = String::from(parts.next().unwrap_or(""));
    for part in parts {
        let end = part.find(' ').unwrap_or(part.len());
        text.push_str(part.get(end..).unwrap_or(""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_of_sqlite_becomes_one_of_postgres() {
        let sql = "SELECT ifnull(key, '') FROM records INDEXED BY records_by_id WHERE project = ?1 AND id IN \
             (SELECT unhex(value) FROM json_each(?12)) AND receipt <> x''";
        let translation = Translation::of(sql);
        assert_eq!(
            translation.sql,
            "SELECT coalesce(key, '') FROM records WHERE project = $1 AND id IN \
             (SELECT CAST(value AS uuid) FROM json_array_elements_text($12)) AND receipt <> ''::bytea"
        );
        assert_eq!(translation.parameters, BTreeSet::from([1, 12]));
    }

    #[test]
    fn comment_for_postgres_becomes_text() {
        let translation = Translation::of("SELECT ?2/*pg::uuid*/ UNION SELECT id FROM records");
        assert_eq!(
            translation.sql,
            "SELECT $2::uuid UNION SELECT id FROM records"
        );
    }
}
