//! Schema layout for recognising rows, read from a new database of the same version.

use crate::sql::failure::Failure;
use crate::sqlite::migrate;
use crate::sqlite::schema_version::{self, Migration};
use heirloom_model::record::Attrs;
use heirloom_model::{Confidence, Kind, ProjectName, Role};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::collections::BTreeMap;

/// Upper bound of the row numbers in index entries; every time since 12 January 1970 is larger.
const ROW_NUMBERS_END: i64 = 1_000_000_000_000;

/// Column of a row.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    /// `INTEGER`, `REAL`, `TEXT` or `BLOB`; any other type accepts every value.
    kind: String,
    not_null: bool,
    /// True if a row may end before this column, because the column was added later.
    may_be_missing: bool,
}

/// Form of the rows of a table or of the entries of an index.
#[derive(Debug, Clone)]
pub(super) struct RowShape {
    /// Table that the rows belong to.
    pub(super) table: String,
    pub(super) columns: Vec<Column>,
    /// Index of the column that is the row number, which is not stored in the row.
    pub(super) row_number: Option<usize>,
}

/// All tables and indexes of one schema version.
#[derive(Debug)]
pub(super) struct SchemaLayout {
    /// Schema version.
    pub(super) version: u32,
    /// Tables with row numbers.
    pub(super) tables: Vec<RowShape>,
    /// Tables without row numbers, stored by their key like an index.
    pub(super) keyed: Vec<RowShape>,
    /// Entries of the indexes.
    pub(super) indexes: Vec<RowShape>,
    /// SQL statements of the schema, by name of the object.
    pub(super) statements: BTreeMap<String, String>,
}

impl SchemaLayout {
    /// Creates the layout of the schema after the migrations `known`.
    pub(super) fn of(known: &[Migration]) -> Result<Self, Failure> {
        let mut connection = Connection::open_in_memory()?;
        migrate::create_schema(&mut connection, known)?;
        let mut layout = Self {
            version: schema_version::newest(known),
            tables: Vec::new(),
            keyed: Vec::new(),
            indexes: Vec::new(),
            statements: read_statements(&connection)?,
        };
        let sql = "SELECT name, wr FROM pragma_table_list \
             WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
        let mut statement = connection.prepare(sql)?;
        let tables = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for table in tables {
            let (name, is_keyed): (String, bool) = table?;
            let shape = table_shape(&connection, &name, is_keyed)?;
            layout.indexes.extend(index_shapes(&connection, &shape)?);
            if is_keyed {
                layout.keyed.push(shape);
            } else {
                layout.tables.push(shape);
            }
        }
        Ok(layout)
    }

    /// Returns the table of this name; the flag is true if its rows have numbers.
    pub(super) fn table(&self, name: &str) -> Option<(&RowShape, bool)> {
        let numbered = self.tables.iter().map(|shape| (shape, true));
        let mut all = numbered.chain(self.keyed.iter().map(|shape| (shape, false)));
        all.find(|(shape, _)| shape.table == name)
    }

    /// Returns the name and number of a project if this is an entry of the index from names to numbers.
    pub(super) fn is_name_of_project(values: &[ValueRef<'_>]) -> Option<(String, i64)> {
        let [ValueRef::Text(name), ValueRef::Integer(number)] = values else {
            return None;
        };
        let name = ProjectName::new(std::str::from_utf8(name).ok()?).ok()?;
        (*number > 0).then(|| (name.as_str().to_owned(), *number))
    }
}

/// Reads the statements of the schema, by name of the object.
fn read_statements(connection: &Connection) -> Result<BTreeMap<String, String>, Failure> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn table_shape(connection: &Connection, table: &str, is_keyed: bool) -> Result<RowShape, Failure> {
    let sql = "SELECT name, type, \"notnull\" OR (?2 AND pk > 0), pk, dflt_value IS NOT NULL \
         FROM pragma_table_xinfo(?1) WHERE hidden IN (0, 3) ORDER BY cid";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map((table, is_keyed), |row| {
        let column = Column {
            name: row.get(0)?,
            kind: row.get(1)?,
            not_null: row.get(2)?,
            may_be_missing: !row.get::<_, bool>(2)? || row.get(4)?,
        };
        Ok((column, row.get::<_, u32>(3)?))
    })?;
    let mut columns: Vec<(Column, u32)> = rows.collect::<Result<_, _>>()?;
    let mut row_number = None;
    if is_keyed {
        // The key comes first, in its own order.
        columns.sort_by_key(|(_, place)| if *place == 0 { u32::MAX } else { *place });
    } else if columns.iter().filter(|(_, place)| *place > 0).count() == 1 {
        let is_number = |(column, place): &(Column, u32)| *place == 1 && column.kind == "INTEGER";
        row_number = columns.iter().position(is_number);
    }
    Ok(RowShape {
        table: table.to_owned(),
        columns: columns.into_iter().map(|(column, _)| column).collect(),
        row_number,
    })
}

/// Returns the entry forms of a table's indexes, without the one that is the table itself.
fn index_shapes(connection: &Connection, table: &RowShape) -> Result<Vec<RowShape>, Failure> {
    let sql = "SELECT name FROM pragma_index_list(?1) WHERE NOT (origin = 'pk' AND ?2)";
    let is_keyed: bool = connection.query_row(
        "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1",
        [&table.table],
        |row| row.get(0),
    )?;
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map((&table.table, is_keyed), |row| row.get::<_, String>(0))?;
    let mut shapes = Vec::new();
    for name in names {
        let sql = "SELECT name, cid FROM pragma_index_xinfo(?1) ORDER BY seqno";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([name?], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut columns = Vec::new();
        for row in rows {
            let (name, place): (Option<String>, i64) = row?;
            let of_table = name.and_then(|n| table.columns.iter().find(|column| column.name == n));
            columns.push(of_table.cloned().unwrap_or_else(|| Column {
                name: String::new(),
                // The row number, or the result of an expression.
                kind: if place == -1 { "INTEGER" } else { "ANY" }.to_owned(),
                not_null: place == -1,
                may_be_missing: false,
            }));
        }
        shapes.push(RowShape {
            table: table.table.clone(),
            columns,
            row_number: None,
        });
    }
    Ok(shapes)
}

impl RowShape {
    /// Returns true if these can be the values of one row: by their types and the rules of the model.
    pub(super) fn fits(&self, values: &[ValueRef<'_>]) -> bool {
        self.misfit(values).is_none()
    }

    /// Returns the reason why these cannot be the values of one row.
    pub(super) fn misfit(&self, values: &[ValueRef<'_>]) -> Option<String> {
        let missing = self.columns.get(values.len()..);
        if !missing.is_some_and(|missing| missing.iter().all(|column| column.may_be_missing)) {
            return Some(format!("has {} columns", values.len()));
        }
        let mut pairs = self.columns.iter().zip(values).enumerate();
        let misfit = pairs.find(|(place, (column, value))| {
            if self.row_number == Some(*place) {
                return !matches!(value, ValueRef::Null);
            }
            !column.accepts(**value) || !is_sound(&self.table, &column.name, **value)
        });
        let (_, (column, _)) = misfit?;
        Some(format!(
            "has a value in `{}` that cannot be there",
            column.name
        ))
    }

    /// Returns true if these can be the values of one index entry.
    pub(super) fn fits_entry(&self, values: &[ValueRef<'_>]) -> bool {
        values.len() == self.columns.len()
            && (self.columns.iter().zip(values)).all(|(column, value)| column.accepts(*value))
            && !matches!(values.last(), Some(ValueRef::Integer(last)) if *last >= ROW_NUMBERS_END)
    }
}

impl Column {
    fn accepts(&self, value: ValueRef<'_>) -> bool {
        match value {
            ValueRef::Null => !self.not_null,
            ValueRef::Integer(_) => !matches!(self.kind.as_str(), "TEXT" | "BLOB"),
            ValueRef::Real(_) => !matches!(self.kind.as_str(), "TEXT" | "BLOB" | "INTEGER"),
            ValueRef::Text(text) => {
                !matches!(self.kind.as_str(), "INTEGER" | "REAL" | "BLOB")
                    && std::str::from_utf8(text).is_ok()
            }
            ValueRef::Blob(_) => !matches!(self.kind.as_str(), "INTEGER" | "REAL" | "TEXT"),
        }
    }
}

/// Returns true if the store could have written this value and can read it back.
fn is_sound(table: &str, column: &str, value: ValueRef<'_>) -> bool {
    if matches!(value, ValueRef::Null) {
        return true;
    }
    let text = value.as_str().ok();
    let number = value.as_i64().ok();
    match (table, column) {
        ("records", "kind") => {
            text.is_some_and(|text| Kind::ALL.into_iter().any(|kind| kind.as_str() == text))
        }
        ("messages", "role") => text.is_some_and(|role| role.parse::<Role>().is_ok()),
        ("projects" | "locations", "name") => {
            text.is_some_and(|name| ProjectName::new(name).is_ok())
        }
        (_, "attrs") => text.is_some_and(|json| serde_json::from_str::<Attrs>(json).is_ok()),
        (_, "id" | "replaced_by") => value.as_blob().is_err() || value.as_blob().is_ok_and(is_id),
        (_, "confidence") => {
            let confidence = value.as_f64().ok();
            let confidence =
                confidence.or(number.and_then(|n| i32::try_from(n).ok().map(f64::from)));
            confidence.and_then(Confidence::new).is_some()
        }
        (_, "iteration" | "tokens") => number.is_none_or(|n| u32::try_from(n).is_ok()),
        (_, "seq" | "project") => number.is_none_or(|n| n >= 0),
        _ => true,
    }
}

fn is_id(bytes: &[u8]) -> bool {
    bytes.len() == 16
}
