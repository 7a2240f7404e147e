//! The schema's versions, and how a database gets from one to the next.
//!
//! A migration that was released is never edited: a change of the schema is the next file.

use super::counting::Counting;
use super::failure::Failure;
use super::{Place, backup, copies, index, rekey};
use crate::StoreError;
use crate::upgrade::{Teller, Upgrade};
use heirloom_model::{Clock, SystemClock};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// `Heir`: tells our databases from any other SQLite file.
pub(super) const APPLICATION_ID: u32 = 0x4865_6972;

/// One step of the schema: the SQL that leads to the version that is its place in the list, from 1.
pub(super) type Migration = &'static str;

/// Every step.
pub(super) const MIGRATIONS: &[Migration] = &[
    include_str!("../../migrations/0001_records.sql"),
    include_str!("../../migrations/0002_audit.sql"),
    include_str!("../../migrations/0003_layers.sql"),
    include_str!("../../migrations/0004_receipts.sql"),
    include_str!("../../migrations/0005_receipts.sql"),
];

/// The first version with an index.
pub(super) const INDEXED_FROM: u32 = 3;

/// The schema's version of an open database.
pub(super) fn version(connection: &Connection) -> Result<u32, Failure> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// The newest version in `known`.
pub(super) fn newest(known: &[Migration]) -> u32 {
    u32::try_from(known.len()).unwrap_or(u32::MAX)
}

/// Lays the whole schema into a fresh database.
pub(super) fn lay_out(connection: &mut Connection, known: &[Migration]) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    carry_out(&transaction, 0, known, None)?;
    transaction.commit()?;
    Ok(())
}

/// Checks that the file is ours and of a version in `known`, and brings an older one up to date.
///
/// An older one is copied beside itself first. All steps are one transaction: when one fails the database
/// stays as it was. Of many processes one migrates and tells how far it is, the others wait and find it done.
pub(super) fn bring_up(
    connection: &mut Connection,
    place: &Place,
    known: &[Migration],
    teller: &Teller,
) -> Result<(), Failure> {
    let found = version_of_ours(connection, place, known)?;
    if found == newest(known) {
        return Ok(());
    }
    let counting = Counting::over(connection, teller)?;
    let done = bring_up_counted(connection, place, known, teller, &counting);
    Counting::end(connection)?;
    done
}

fn bring_up_counted(
    connection: &mut Connection,
    place: &Place,
    known: &[Migration],
    teller: &Teller,
    counting: &Counting,
) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version_of_ours(&transaction, place, known)?;
    if found == newest(known) {
        return Ok(());
    }
    teller.tell(&Upgrade::Begun {
        from: found,
        to: newest(known),
    });
    let done = migrate_copied(transaction, found, place, known, teller, counting);
    teller.tell(&match done {
        Ok(()) => Upgrade::Ended {
            texts: counting.total(),
        },
        Err(_) => Upgrade::Failed,
    });
    done
}

/// Copies the database beside itself, and migrates it.
fn migrate_copied(
    transaction: Transaction<'_>,
    found: u32,
    place: &Place,
    known: &[Migration],
    teller: &Teller,
    counting: &Counting,
) -> Result<(), Failure> {
    let copy = match place {
        Place::File(_) => {
            let time = copies::stamp(SystemClock.now());
            let suffix = format!("before-v{}-{time}", newest(known));
            let copy = backup::copy_beside(place, &suffix)?;
            teller.tell(&Upgrade::Copied(copy.clone()));
            Some(copy)
        }
        Place::Memory => None,
    };
    let carried = carry_out(&transaction, found, known, Some(counting));
    let done = carried.and_then(|()| transaction.commit().map_err(Failure::Sql));
    match (&done, copy) {
        // The original is as it was; a copy for each try would fill the disk.
        (Err(_), Some(copy)) => remove(&copy),
        (Ok(()), Some(_)) => tidy_up(place),
        _ => {}
    }
    done
}

/// Removes copies that are old enough. One that cannot be removed now goes the next time.
fn tidy_up(place: &Place) {
    if let Place::File(path) = place {
        drop(copies::remove_old(path, SystemClock.now()));
    }
}

/// Brings a database that nobody else uses up to date, without a copy. `Newer` names `place`.
pub(super) fn bring_up_alone(
    connection: &mut Connection,
    place: &Place,
    known: &[Migration],
    teller: &Teller,
) -> Result<u32, Failure> {
    let counting = Counting::over(connection, teller)?;
    let migrate = |connection: &mut Connection| -> Result<u32, Failure> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let from = version_of_ours(&transaction, place, known)?;
        let to = newest(known);
        if from != to {
            teller.tell(&Upgrade::Begun { from, to });
        }
        carry_out(&transaction, from, known, Some(&counting))?;
        transaction.commit()?;
        if from != to {
            let texts = counting.total();
            teller.tell(&Upgrade::Ended { texts });
        }
        Ok(from)
    };
    let found = migrate(connection);
    if found.is_err() {
        teller.tell(&Upgrade::Failed);
    }
    Counting::end(connection)?;
    found
}

/// The version, from 1 to the newest in `known`.
pub(super) fn version_of_ours(
    connection: &Connection,
    place: &Place,
    known: &[Migration],
) -> Result<u32, Failure> {
    let id: u32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found = version(connection)?;
    if id != APPLICATION_ID || found == 0 {
        return Err(Failure::Damaged("it is no Heirloom database".to_owned()));
    }
    if found > newest(known) {
        return Err(Failure::Store(StoreError::Newer {
            path: place.path(),
            found,
            known: newest(known),
        }));
    }
    Ok(found)
}

fn carry_out(
    connection: &Connection,
    from: u32,
    known: &[Migration],
    counting: Option<&Counting>,
) -> Result<(), Failure> {
    for (version, migration) in (1_u32..).zip(known) {
        if version > from {
            connection.execute_batch(migration)?;
            connection.pragma_update(None, "user_version", version)?;
        }
    }
    if (1..rekey::KEYED_FROM).contains(&from) && connection.table_exists(None, "ordinals")? {
        rekey::rekey(connection)?;
    }
    // What older versions wrote is not in the index yet.
    if from > 0 && connection.table_exists(None, "ordinals")? {
        counting.map_or(Ok(()), |counting| counting.begin(connection))?;
        index::catch_up(connection)?;
    }
    Ok(())
}

/// Removes a copy that is of no use; one that cannot be removed does no harm.
fn remove(copy: &Path) {
    let removed = std::fs::remove_file(copy);
    drop(removed);
}

#[cfg(test)]
mod tests {
    use super::super::open;
    use super::*;
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

    /// A database of the old version with one row.
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
    fn an_older_database_is_copied_and_brought_up_once() {
        let (folder, path) = old();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let connection = open::open(&path, NEW, &Teller::silent())
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
        let copy = open::open(&copies[0], OLD, &Teller::silent())
            .unwrap()
            .connection;
        assert_eq!(
            (version(&copy).unwrap(), note(&copy)),
            (1, "kept".to_owned())
        );
        drop(copy);
        assert!(matches!(
            open::open(&path, OLD, &Teller::silent()),
            Err(StoreError::Newer {
                found: 3,
                known: 1,
                ..
            })
        ));
    }

    #[test]
    fn the_copy_holds_what_is_only_in_the_journal() {
        let (folder, path) = old();
        let writer = open::open(&path, OLD, &Teller::silent())
            .unwrap()
            .connection;
        writer.execute("UPDATE notes SET text = 'new'", []).unwrap();
        let migrated = open::open(&path, NEW, &Teller::silent())
            .unwrap()
            .connection;
        assert_eq!(note(&migrated), "new");
        let copy = open::open(&copies(folder.path())[0], OLD, &Teller::silent())
            .unwrap()
            .connection;
        assert_eq!(note(&copy), "new");
    }

    #[test]
    fn a_failed_migration_leaves_the_original_in_use() {
        let (folder, path) = old();
        for _ in 0..3 {
            assert!(matches!(
                open::open(&path, BROKEN, &Teller::silent()),
                Err(StoreError::Backend(_))
            ));
        }
        assert_eq!(copies(folder.path()), Vec::<PathBuf>::new());
        let connection = open::open(&path, OLD, &Teller::silent())
            .unwrap()
            .connection;
        assert_eq!(
            (version(&connection).unwrap(), note(&connection)),
            (1, "kept".to_owned())
        );
    }

    #[test]
    fn a_database_without_a_journal_gets_it_back() {
        let (_folder, path) = old();
        let plain = Connection::open(&path).unwrap();
        plain
            .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .unwrap();
        plain.close().unwrap();
        let connection = open::open(&path, OLD, &Teller::silent())
            .unwrap()
            .connection;
        let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
        assert_eq!(mode, Ok("wal".to_owned()));
    }

    #[test]
    fn versions_are_the_files_in_order() {
        let store = crate::SqliteStore::memory().unwrap();
        assert_eq!(version(&store.lock()).unwrap(), newest(MIGRATIONS));
    }
}
