//! Keys that differ only in the case of their letters.

use super::change_writer::ChangeWriter;
use crate::sql::failure::Failure;
use heirloom_model::kinds::GRAPH_KEY_PREFIX;
use heirloom_model::{Authority, Record};
use rusqlite::ToSql;

/// Number of letters of which both cases are searched in the index.
const CASED_LETTERS_MAX: usize = 3;

/// Returns the unretired record of the same kind and category whose key differs only in the case of its letters. Two
/// such keys would be two values of one thing.
pub(super) fn holder_in_other_case(
    writer: &ChangeWriter<'_>,
    record: &Record,
) -> Result<Option<Record>, Failure> {
    let (Some(project), Some(key)) = (writer.number, &record.key) else {
        return Ok(None);
    };
    if !key.chars().any(has_case) || key.starts_with(GRAPH_KEY_PREFIX) {
        return Ok(None);
    }
    let (kind, category) = (record.kind.as_str(), record.category().unwrap_or(""));
    let prefixes = prefixes_in_all_cases(key);
    let ends: Vec<String> = prefixes
        .iter()
        .map(|prefix| format!("{prefix}\u{10ffff}"))
        .collect();
    let mut values: Vec<&dyn ToSql> = vec![&project, &kind, &category];
    let mut parts = Vec::with_capacity(prefixes.len());
    for (prefix, end) in prefixes.iter().zip(&ends) {
        let first = values.len() + 1;
        parts.push(format!(
            "SELECT key FROM records INDEXED BY records_by_identity WHERE project = ?1 AND kind = ?2 \
             AND ifnull(category, '') = ?3 AND retired_at IS NULL AND key >= ?{first} AND key < ?{}",
            first + 1
        ));
        values.push(prefix);
        values.push(end);
    }
    let mut statement = writer
        .connection
        .prepare_cached(&parts.join(" UNION ALL "))?;
    let known: Vec<String> = statement.query_map(&values[..], |row| row.get::<String>(0))?;
    let lower = key.to_lowercase();
    let same = known
        .into_iter()
        .filter(|known| known.to_lowercase() == lower);
    let mut found = Vec::new();
    for key in same {
        let other = Record {
            key: Some(key),
            ..record.clone()
        };
        found.extend(writer.current_with_identity(&other)?);
    }
    // Earlier versions kept both.
    Ok(found
        .into_iter()
        .max_by_key(|one| (Authority::of_record(one), std::cmp::Reverse(one.id))))
}

fn has_case(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase()
}

/// Returns the beginning of a key, with its first letters in both cases.
fn prefixes_in_all_cases(key: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut letters = 0;
    for c in key.chars() {
        if !has_case(c) {
            all.iter_mut().for_each(|prefix| prefix.push(c));
            continue;
        }
        if letters == CASED_LETTERS_MAX {
            break;
        }
        letters += 1;
        let forms: [String; 2] = [c.to_lowercase().collect(), c.to_uppercase().collect()];
        all = all
            .iter()
            .flat_map(|prefix| forms.iter().map(move |form| format!("{prefix}{form}")))
            .collect();
    }
    all
}
