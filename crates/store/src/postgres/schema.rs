//! Creation and check of the schema.

use super::PostgresStore;
use super::isolation::Isolation;
use crate::StoreError;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow, QueryBatch};
use rusqlite::params;
use std::path::PathBuf;

/// Migrations in order: each leads from one version of the schema to the next.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/postgres/0001_schema.sql")];
/// Tables that Citus copies to every node. All others are distributed by project.
const REFERENCE_TABLES: [&str; 3] = ["schema_state", "projects", "documents"];
/// Distributed tables; the first is the one that the others are placed with.
const DISTRIBUTED_TABLES: [&str; 16] = [
    "records",
    "lapses",
    "sessions",
    "messages",
    "batches",
    "events",
    "receipts",
    "inclusions",
    "index_totals",
    "ordinals",
    "postings",
    "tail",
    "gone",
    "vectors",
    "piece_counts",
    "commits",
];
/// Key of the advisory lock of migrations.
const MIGRATION_LOCK: i64 = 0x6865_6972_6c6f_6f6d;

/// Returns the newest version of the schema.
pub(super) fn newest() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

/// Creates the schema, or migrates an older one.
pub(super) fn create(store: &PostgresStore) -> Result<(), StoreError> {
    store.transact(Isolation::Write, |connection| {
        let Connection::Postgres(session) = connection else {
            return Ok(());
        };
        connection.execute("SELECT pg_advisory_xact_lock(?1)", [MIGRATION_LOCK])?;
        let from = version(connection)?;
        if from > newest() {
            return Err(newer(store, from).into());
        }
        for (version, migration) in (1_u32..).zip(MIGRATIONS) {
            if version > from {
                session.execute_batch(migration)?;
                if version == 1 && has_citus(connection)? {
                    distribute(connection)?;
                }
            }
        }
        let sql = "INSERT INTO schema_state (id, version) VALUES (1, ?1) \
             ON CONFLICT (id) DO UPDATE SET version = excluded.version";
        connection.execute(sql, [newest()])?;
        Ok(())
    })
}

/// Distributes the tables of a new schema.
fn distribute(connection: Connection<'_>) -> Result<(), Failure> {
    for table in REFERENCE_TABLES {
        let sql = "SELECT create_reference_table(CAST(CAST(?1 AS text) AS regclass))::text";
        connection.prepare_cached(sql)?.query(params![table])?;
    }
    for table in DISTRIBUTED_TABLES {
        let with = if table == "records" {
            "default"
        } else {
            "records"
        };
        let sql = "SELECT create_distributed_table(CAST(CAST(?1 AS text) AS regclass), 'project', \
             colocate_with => CAST(?2 AS text))::text";
        connection
            .prepare_cached(sql)?
            .query(params![table, with])?;
    }
    Ok(())
}

/// Returns true if the database has the extension Citus.
pub(super) fn has_citus(connection: Connection<'_>) -> Result<bool, Failure> {
    let sql = "SELECT count(*) FROM pg_extension WHERE extname = 'citus'";
    let count: i64 = connection.query_row(sql, params![], |row| row.get(0))?;
    Ok(count > 0)
}

/// Checks the version of the schema and that a commit is durable when it is acknowledged.
pub(super) fn check(store: &PostgresStore) -> Result<(), StoreError> {
    store.read(|connection| {
        let found = version(connection)?;
        if found > newest() {
            return Err(newer(store, found).into());
        }
        if found < newest() {
            let problem = match found {
                0 => "it has no tables of Heirloom".to_owned(),
                _ => format!(
                    "its schema has version {found}, and this Heirloom needs {}",
                    newest()
                ),
            };
            return Err(Failure::Store(StoreError::Server {
                server: store.server.clone(),
                problem,
                hint: "run `heirloom fleet init` once, with a user that may create tables",
                is_transient: false,
            }));
        }
        let sql = "SELECT current_setting('synchronous_commit')";
        let setting: String = connection.query_row(sql, params![], |row| row.get(0))?;
        if setting == "off" {
            return Err(Failure::Store(StoreError::Server {
                server: store.server.clone(),
                problem: "synchronous_commit is off, so a crash could lose acknowledged writes"
                    .to_owned(),
                hint: "set synchronous_commit = on for this database or user",
                is_transient: false,
            }));
        }
        Ok(())
    })
}

/// Returns the version of the schema; 0 if the tables do not exist.
pub(super) fn version(connection: Connection<'_>) -> Result<u32, Failure> {
    let sql = "SELECT count(*) FROM pg_class WHERE oid = to_regclass('schema_state')";
    let tables: i64 = connection.query_row(sql, params![], |row| row.get(0))?;
    if tables == 0 {
        return Ok(0);
    }
    let found = connection.query_row(VERSION, params![], |row| row.get(0));
    Ok(found.optional()?.unwrap_or(0))
}

fn newer(store: &PostgresStore, found: u32) -> StoreError {
    StoreError::Newer {
        path: PathBuf::from(&store.server),
        found,
        known: newest(),
    }
}

/// Refuses to write with a newer schema, which another version may have created since the start.
pub(super) fn refuse_newer(
    store: &PostgresStore,
    connection: Connection<'_>,
) -> Result<(), Failure> {
    let found = version_of_state(connection)?;
    match found > newest() {
        true => Err(newer(store, found).into()),
        false => Ok(()),
    }
}

/// Statement that reads the version of the schema of existing tables.
const VERSION: &str = "SELECT version FROM schema_state WHERE id = 1";

/// Adds the query of [`refuse_newer`] to a batch.
pub(super) fn prefetch_version(batch: &mut QueryBatch<'_>) -> Result<(), Failure> {
    Ok(batch.add(VERSION, params![])?)
}

fn version_of_state(connection: Connection<'_>) -> Result<u32, Failure> {
    Ok(connection.query_row(VERSION, params![], |row| row.get(0))?)
}

/// Removes the deleted rows from the files of the tables. They stay in the write-ahead log and in its archive.
pub(super) fn sweep(connection: Connection<'_>) -> Result<(), Failure> {
    for table in DISTRIBUTED_TABLES {
        connection.execute(&format!("VACUUM {table}"), params![])?;
    }
    Ok(())
}

/// Size of the database, bytes.
pub(super) fn size(connection: Connection<'_>) -> Result<u64, Failure> {
    let sql = "SELECT pg_database_size(current_database())";
    Ok(connection.query_row(sql, params![], |row| row.get(0))?)
}
