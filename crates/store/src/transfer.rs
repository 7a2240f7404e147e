//! Copy of projects from one store to another, with all rows that people and agents wrote.
//!
//! A project is copied in one transaction of the target, from one snapshot of the source, so an interrupted transfer is
//! repeated by starting it again: projects that are complete are recognised by the checksum of their rows. The index is
//! rebuilt in the target.

use crate::relational::{index, row_codec};
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow, Row};
use crate::{PostgresStore, SqliteStore, StoreError};
use blake3::{Hash, Hasher};
use heirloom_model::{ProjectName, clock};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{ToSql, params};

/// Rows that are read at once.
const ROWS_AT_ONCE: usize = 500;

/// Table of a project: its name, the columns of its key after the project, and its other columns.
struct Table {
    name: &'static str,
    key: &'static str,
    columns: &'static str,
}

/// Tables of a project in the order in which rows refer to each other.
const TABLES: [Table; 8] = [
    Table {
        name: "batches",
        key: "id",
        columns: "id, source, by, at, undone_at",
    },
    Table {
        name: "records",
        key: "id",
        columns: "id, kind, key, text, attrs, plan, \"group\", session, task, agent, phase, iteration, \
             source, confidence, tokens, recorded_at, true_from, true_to, retired_at, replaced_by, \
             expires_at, batch",
    },
    Table {
        name: "lapses",
        key: "id, retired_at, restored_at",
        columns: "id, retired_at, restored_at",
    },
    Table {
        name: "sessions",
        key: "id",
        columns: "id, agent, task, started_at, ended_at, attrs, batch, retired_at",
    },
    Table {
        name: "messages",
        key: "session, seq",
        columns: "session, seq, id, role, sender, text, attrs, tokens, at, batch, retired_at",
    },
    Table {
        name: "receipts",
        key: "slot",
        columns: "slot, number, id, at, session, body",
    },
    Table {
        name: "inclusions",
        key: "receipt, record",
        columns: "receipt, record, at, session, iteration",
    },
    // The key is not a column: rows get new ones in the same order.
    Table {
        name: "events",
        key: "rowid",
        columns: "at, action, by, record, other, batch, detail",
    },
];

/// Store at one end of a transfer.
#[derive(Debug, Clone, Copy)]
pub enum TransferEnd<'s> {
    /// Store in a file.
    Sqlite(&'s SqliteStore),
    /// Store on a server.
    Postgres(&'s PostgresStore),
}

/// Result of the transfer of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectTransfer {
    /// Name of the project in the source.
    pub project: ProjectName,
    /// False if the target had the same rows already.
    pub is_copied: bool,
    /// Number of rows by table.
    pub rows: Vec<(&'static str, u64)>,
    /// Checksum of the rows, equal in both stores.
    pub checksum: String,
}

impl TransferEnd<'_> {
    fn read<T>(self, work: impl Fn(Connection<'_>) -> Result<T, Failure>) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(store) => store.read_rows(work),
            Self::Postgres(store) => store.read_snapshot(work),
        }
    }

    fn write<T>(
        self,
        project: &ProjectName,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(store) => store.write_rows(work),
            Self::Postgres(store) => store.write(project, work),
        }
    }
}

/// Copies a project from one store to another, under another name if `name` is given.
///
/// Errors: `NotFound` if the source has no such project; `Refused` if the target has other rows under the name; `Damaged`
/// or `Backend` if the copied rows differ from those of the source. Then the target is unchanged.
pub fn transfer_project(
    from: TransferEnd<'_>,
    to: TransferEnd<'_>,
    project: &ProjectName,
    name: &ProjectName,
) -> Result<ProjectTransfer, StoreError> {
    let done = |is_copied: bool, summary: Summary| ProjectTransfer {
        project: project.clone(),
        is_copied,
        rows: summary.rows,
        checksum: summary.checksum.to_hex().to_string(),
    };
    let source = from.read(|connection| Summary::of(connection, project))?;
    let Some(source) = source else {
        return Err(StoreError::NotFound {
            what: "project",
            id: project.to_string(),
            project: project.to_string(),
        });
    };
    match to.read(|connection| Summary::of(connection, name))? {
        Some(target) if target.checksum == source.checksum => return Ok(done(false, target)),
        Some(target) if target.has_rows() => {
            return Err(StoreError::Refused(format!(
                "the target has a project `{name}` with other content, and nothing is merged"
            )));
        }
        Some(_) | None => {}
    }
    let copied = to.write(name, |target| {
        let copied = from.read(|source| copy(source, target, project, name))?;
        let written = Summary::of(target, name)?;
        if written.is_none_or(|written| written.checksum != copied.checksum) {
            return Err(Failure::Damaged(format!(
                "the copied rows of `{name}` differ from those of the source"
            )));
        }
        Ok(copied)
    })?;
    Ok(done(true, copied))
}

/// Number and checksum of a project's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Summary {
    rows: Vec<(&'static str, u64)>,
    checksum: Hash,
}

impl Summary {
    /// Reads all rows of a project; `None` if it does not exist.
    fn of(connection: Connection<'_>, project: &ProjectName) -> Result<Option<Self>, Failure> {
        let Some(number) = row_codec::project(connection, project)? else {
            return Ok(None);
        };
        let mut hasher = Hasher::new();
        let mut rows = Vec::new();
        for table in &TABLES {
            let count = each_row(connection, table, number, &mut |values| {
                hash_row(&mut hasher, values);
                Ok(())
            })?;
            rows.push((table.name, count));
        }
        Ok(Some(Self {
            rows,
            checksum: hasher.finalize(),
        }))
    }

    fn has_rows(&self) -> bool {
        self.rows.iter().any(|(_, count)| *count > 0)
    }
}

fn copy(
    source: Connection<'_>,
    target: Connection<'_>,
    project: &ProjectName,
    name: &ProjectName,
) -> Result<Summary, Failure> {
    let Some(from) = row_codec::project(source, project)? else {
        return Err(Failure::Damaged(format!("the project `{project}` is gone")));
    };
    let sql = "SELECT created_at FROM projects WHERE id = ?1";
    let created = source.query_row(sql, [from], |row| row.get(0)).optional()?;
    let (to, _) =
        row_codec::project_or_new(target, name, clock::from_micros(created.unwrap_or(0)))?;
    let mut hasher = Hasher::new();
    let mut rows = Vec::new();
    for table in &TABLES {
        let columns = table.columns.split(',').count();
        let places: Vec<String> = (2..columns + 2).map(|n| format!("?{n}")).collect();
        let sql = format!(
            "INSERT INTO {} (project, {}) VALUES (?1, {})",
            table.name,
            table.columns,
            places.join(", ")
        );
        let mut insert = target.prepare_cached(&sql)?;
        let count = each_row(source, table, from, &mut |values| {
            hash_row(&mut hasher, values);
            let mut all: Vec<&dyn ToSql> = vec![&to];
            all.extend(values.iter().map(|value| value as &dyn ToSql));
            insert.write(&all[..])?;
            Ok(())
        })?;
        rows.push((table.name, count));
    }
    index::rebuild(target, to)?;
    Ok(Summary {
        rows,
        checksum: hasher.finalize(),
    })
}

/// Calls `each` with the columns of every row of a project in order of the key; returns the number of rows.
fn each_row(
    connection: Connection<'_>,
    table: &Table,
    project: i64,
    each: &mut dyn FnMut(&[Value]) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let keys = table.key.split(',').count();
    let select = format!(
        "SELECT {}, {} FROM {} WHERE project = ?1",
        table.key, table.columns, table.name
    );
    let places: Vec<String> = (3..keys + 3).map(|n| format!("?{n}")).collect();
    let order = format!(" ORDER BY {} LIMIT ?2", table.key);
    let first = format!("{select}{order}");
    let next = format!(
        "{select} AND ({}) > ({}){order}",
        table.key,
        places.join(", ")
    );
    let (mut count, mut last): (u64, Option<Vec<Value>>) = (0, None);
    loop {
        let mut rows = Vec::new();
        {
            let limit = ROWS_AT_ONCE;
            let mut values: Vec<&dyn ToSql> = vec![&project, &limit];
            let sql = if last.is_some() { &next } else { &first };
            values.extend(last.iter().flatten().map(|value| value as &dyn ToSql));
            let mut statement = connection.prepare_cached(sql)?;
            let mut found = statement.query(&values[..])?;
            while let Some(row) = found.next()? {
                rows.push(values_of(row)?);
            }
        }
        for row in &rows {
            each(row.get(keys..).unwrap_or_default())?;
            count += 1;
        }
        match rows.pop() {
            Some(mut row) if rows.len() + 1 == ROWS_AT_ONCE => {
                row.truncate(keys);
                last = Some(row);
            }
            _ => return Ok(count),
        }
    }
}

fn values_of(row: Row<'_>) -> Result<Vec<Value>, Failure> {
    let values = (0..row.column_count()).map(|column| {
        let value = row.get_ref(column)?;
        Ok(match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        })
    });
    values.collect()
}

/// Adds a row to the checksum: each value with its type and length.
fn hash_row(hasher: &mut Hasher, values: &[Value]) {
    for value in values {
        match value {
            Value::Null => {
                hasher.update(b"n");
            }
            Value::Integer(number) => {
                hasher.update(b"i").update(&number.to_le_bytes());
            }
            Value::Real(number) => {
                hasher.update(b"r").update(&number.to_le_bytes());
            }
            Value::Text(text) => hash_bytes(hasher, b"t", text.as_bytes()),
            Value::Blob(bytes) => hash_bytes(hasher, b"b", bytes),
        }
    }
    hasher.update(b"\n");
}

fn hash_bytes(hasher: &mut Hasher, kind: &[u8], bytes: &[u8]) {
    hasher
        .update(kind)
        .update(&(bytes.len() as u64).to_le_bytes())
        .update(bytes);
}

/// Returns the names of the projects of a store.
pub fn transferable_projects(end: TransferEnd<'_>) -> Result<Vec<ProjectName>, StoreError> {
    end.read(|connection| {
        let sql = "SELECT name FROM projects ORDER BY name";
        let names: Vec<String> = connection.prepare_cached(sql)?.query_column(params![])?;
        let names = names
            .iter()
            .map(|name| ProjectName::new(name).map_err(|bad| Failure::Damaged(bad.to_string())));
        names.collect()
    })
}
