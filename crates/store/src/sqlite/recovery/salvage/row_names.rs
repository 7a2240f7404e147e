//! Names of rows, tables and columns: ids for display, and quoted names for SQL.

use super::schema_layout::RowShape;
use rusqlite::types::ValueRef;

/// Formats the id of a row for display, as far as it is known.
pub(super) fn id_of(shape: &RowShape, values: &[ValueRef<'_>]) -> Option<String> {
    let place = shape
        .columns
        .iter()
        .position(|column| column.name == "id")?;
    match values.get(place)? {
        ValueRef::Blob(bytes) => {
            let bytes: [u8; 16] = (*bytes).try_into().ok()?;
            Some(heirloom_model::RecordId::from_bytes(bytes).to_string())
        }
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    }
}

/// Returns the SQL expression for the displayed id of a row.
pub(super) fn id_sql(shape: &RowShape, is_numbered: bool) -> String {
    let has = |name: &str| shape.columns.iter().any(|column| column.name == name);
    let uuid = |name: &str| {
        format!(
            "CASE WHEN typeof({name}) = 'blob' AND length({name}) = 16 THEN \
             lower(substr(hex({name}), 1, 8) || '-' || substr(hex({name}), 9, 4) || '-' || \
             substr(hex({name}), 13, 4) || '-' || substr(hex({name}), 17, 4) || '-' || \
             substr(hex({name}), 21)) WHEN typeof({name}) = 'blob' THEN hex({name}) \
             ELSE CAST({name} AS TEXT) END"
        )
    };
    if has("id") {
        uuid("id")
    } else if has("record") {
        format!("'of ' || ifnull({}, 'the project')", uuid("record"))
    } else if is_numbered {
        "'row ' || rowid".to_owned()
    } else {
        "'a row'".to_owned()
    }
}

/// Quotes a name for SQL; one of our columns is called `group`.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
