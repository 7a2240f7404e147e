//! Creation of the schema, and migration of databases with an older one.

mod index_progress;
mod key_migration;

use super::database_location::DatabaseLocation;
use super::schema_version::{APPLICATION_ID, Migration, newest, supported_version};
use super::{backup, retained_backups};
use crate::migration_progress::{MigrationEvent, ProgressSink};
use crate::relational::index;
use crate::sql::failure::Failure;
use heirloom_model::{Clock, SystemClock};
use index_progress::IndexProgress;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// Creates the whole schema in an empty database.
pub(super) fn create_schema(
    connection: &mut Connection,
    known: &[Migration],
) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    apply_migrations(&transaction, 0, known, None)?;
    transaction.commit()?;
    Ok(())
}

/// Checks that the file is a Heirloom database of a version in `known`, and migrates an older one.
///
/// An older database is backed up first. All migrations run in one transaction: if one fails, the database is
/// unchanged. Of several processes one migrates and reports progress; the others wait.
pub(super) fn migrate(
    connection: &mut Connection,
    place: &DatabaseLocation,
    known: &[Migration],
    progress: &ProgressSink,
) -> Result<(), Failure> {
    let found = supported_version(connection, place, known)?;
    if found == newest(known) {
        return Ok(());
    }
    let counting = IndexProgress::attach(connection, progress)?;
    let done = migrate_with_progress(connection, place, known, progress, &counting);
    IndexProgress::detach(connection)?;
    done
}

fn migrate_with_progress(
    connection: &mut Connection,
    place: &DatabaseLocation,
    known: &[Migration],
    progress: &ProgressSink,
    counting: &IndexProgress,
) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = supported_version(&transaction, place, known)?;
    if found == newest(known) {
        return Ok(());
    }
    progress.report(&MigrationEvent::Started {
        from: found,
        to: newest(known),
    });
    let done = migrate_with_backup(transaction, found, place, known, progress, counting);
    progress.report(&match done {
        Ok(()) => MigrationEvent::Finished {
            texts: counting.total(),
        },
        Err(_) => MigrationEvent::Failed,
    });
    done
}

/// Backs up the database and migrates it.
fn migrate_with_backup(
    transaction: Transaction<'_>,
    found: u32,
    place: &DatabaseLocation,
    known: &[Migration],
    progress: &ProgressSink,
    counting: &IndexProgress,
) -> Result<(), Failure> {
    let copy = match place {
        DatabaseLocation::File(_) => {
            let time = retained_backups::format_time(SystemClock.now());
            let suffix = format!("before-v{}-{time}", newest(known));
            let copy = backup::copy_with_suffix(place, &suffix)?;
            progress.report(&MigrationEvent::BackedUp(copy.clone()));
            Some(copy)
        }
        DatabaseLocation::Memory => None,
    };
    let carried = apply_migrations(&transaction, found, known, Some(counting));
    let done = carried.and_then(|()| transaction.commit().map_err(Failure::from));
    match (&done, copy) {
        // The original is unchanged; a backup for each attempt would fill the disk.
        (Err(_), Some(copy)) => remove_backup(&copy),
        (Ok(()), Some(_)) => remove_expired_backups(place),
        _ => {}
    }
    done
}

/// Removes expired backups. Errors are ignored: the next migration tries again.
fn remove_expired_backups(place: &DatabaseLocation) {
    if let DatabaseLocation::File(path) = place {
        drop(retained_backups::remove_expired(path, SystemClock.now()));
    }
}

/// Migrates a database that no other process uses, without a backup. `Newer` has the path of `place`.
pub(super) fn migrate_exclusive(
    connection: &mut Connection,
    place: &DatabaseLocation,
    known: &[Migration],
    progress: &ProgressSink,
) -> Result<u32, Failure> {
    let counting = IndexProgress::attach(connection, progress)?;
    let migrate = |connection: &mut Connection| -> Result<u32, Failure> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let from = supported_version(&transaction, place, known)?;
        let to = newest(known);
        if from != to {
            progress.report(&MigrationEvent::Started { from, to });
        }
        apply_migrations(&transaction, from, known, Some(&counting))?;
        transaction.commit()?;
        if from != to {
            let texts = counting.total();
            progress.report(&MigrationEvent::Finished { texts });
        }
        Ok(from)
    };
    let found = migrate(connection);
    if found.is_err() {
        progress.report(&MigrationEvent::Failed);
    }
    IndexProgress::detach(connection)?;
    found
}

fn apply_migrations(
    connection: &Connection,
    from: u32,
    known: &[Migration],
    counting: Option<&IndexProgress>,
) -> Result<(), Failure> {
    for (version, migration) in (1_u32..).zip(known) {
        if version > from {
            connection.execute_batch(migration)?;
            connection.pragma_update(None, "user_version", version)?;
        }
    }
    if (1..key_migration::KEYED_FROM).contains(&from)
        && connection.table_exists(None, "ordinals")?
    {
        key_migration::rekey(connection)?;
    }
    // Texts of older versions are not in the index yet.
    if from > 0 && connection.table_exists(None, "ordinals")? {
        counting.map_or(Ok(()), |counting| counting.start(connection))?;
        index::catch_up(connection.into())?;
    }
    Ok(())
}

/// Removes a useless backup. Errors are ignored.
fn remove_backup(copy: &Path) {
    let removed = std::fs::remove_file(copy);
    drop(removed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreError;
    use crate::sqlite::open;
    use crate::sqlite::schema_version::{MIGRATIONS, version};
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::thread;

    const OLD: &[Migration] = &["CREATE TABLE notes (text TEXT)"];
    const NEW: &[Migration] = &[
        "CREATE TABLE notes (text TEXT)",
        "ALTER TABLE notes ADD COLUMN size INTEGER; UPDATE notes SET size = length(text)",
        "CREATE TABLE more (x)",
    ];
    const BROKEN: &[Migration] = &[
        "CREATE TABLE notes (text TEXT)",
        "ALTER TABLE notes ADD COLUMN size INTEGER",
        "DELETE FROM notes; INSERT INTO no_such_table VALUES (1)",
    ];

    /// Creates a database of the old version with one row.
    fn old() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heirloom.db");
        let connection = open::create(&path, OLD).unwrap().connection;
        (connection.execute("INSERT INTO notes VALUES ('kept')", [])).unwrap();
        (folder, path)
    }

    fn copies(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_copy = |path: &PathBuf| path.to_string_lossy().contains("heirloom.db.before-v3-");
        paths.filter(is_copy).collect()
    }

    fn note(connection: &Connection) -> String {
        let sql = "SELECT text FROM notes";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn older_database_is_backed_up_and_migrated_once() {
        let (folder, path) = old();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let connection = open::open(&path, NEW, &ProgressSink::silent())
                        .unwrap()
                        .connection;
                    assert_eq!(version(&connection).unwrap(), 3);
                    assert_eq!(note(&connection), "kept");
                });
            }
        });
        let copies = copies(folder.path());
        assert_eq!(copies.len(), 1, "{copies:?}");
        let mode = copies[0].metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let copy = open::open(&copies[0], OLD, &ProgressSink::silent())
            .unwrap()
            .connection;
        assert_eq!(
            (version(&copy).unwrap(), note(&copy)),
            (1, "kept".to_owned())
        );
        drop(copy);
        assert!(matches!(
            open::open(&path, OLD, &ProgressSink::silent()),
            Err(StoreError::Newer {
                found: 3,
                known: 1,
                ..
            })
        ));
    }

    #[test]
    fn backup_contains_rows_of_write_ahead_log() {
        let (folder, path) = old();
        let writer = open::open(&path, OLD, &ProgressSink::silent())
            .unwrap()
            .connection;
        writer.execute("UPDATE notes SET text = 'new'", []).unwrap();
        let migrated = open::open(&path, NEW, &ProgressSink::silent())
            .unwrap()
            .connection;
        assert_eq!(note(&migrated), "new");
        let copy = open::open(&copies(folder.path())[0], OLD, &ProgressSink::silent())
            .unwrap()
            .connection;
        assert_eq!(note(&copy), "new");
    }

    #[test]
    fn failed_migration_leaves_original_unchanged() {
        let (folder, path) = old();
        for _ in 0..3 {
            assert!(matches!(
                open::open(&path, BROKEN, &ProgressSink::silent()),
                Err(StoreError::Backend(_))
            ));
        }
        assert_eq!(copies(folder.path()), Vec::<PathBuf>::new());
        let connection = open::open(&path, OLD, &ProgressSink::silent())
            .unwrap()
            .connection;
        assert_eq!(
            (version(&connection).unwrap(), note(&connection)),
            (1, "kept".to_owned())
        );
    }

    #[test]
    fn wal_mode_is_restored_on_open() {
        let (_folder, path) = old();
        let plain = Connection::open(&path).unwrap();
        plain
            .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .unwrap();
        plain.close().unwrap();
        let connection = open::open(&path, OLD, &ProgressSink::silent())
            .unwrap()
            .connection;
        let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
        assert_eq!(mode, Ok("wal".to_owned()));
    }

    #[test]
    fn versions_match_migration_files() {
        let store = crate::SqliteStore::memory().unwrap();
        assert_eq!(version(&store.lock()).unwrap(), newest(MIGRATIONS));
    }
}
