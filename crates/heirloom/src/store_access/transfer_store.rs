//! Stores at the ends of a transfer.

use super::CliSession;
use super::database_server::parse_address;
use super::private_files::create_folder;
use super::store_opening::open_store;
use crate::migration_progress;
use heirloom_model::Fault;
use heirloom_model::database_address::{is_database_address, without_password};
use heirloom_model::text::EscapedPath;
use heirloom_store::{DATABASE, PostgresStore, SqliteStore, TransferEnd};
use std::path::{Path, PathBuf};

/// Store at one end of a transfer.
pub(crate) enum TransferStore {
    /// Database in a folder.
    Sqlite(SqliteStore),
    /// Database on a server.
    Postgres(PostgresStore),
}

impl TransferStore {
    /// Opens an existing store: an address, or a folder with a database or with `.heirloom`.
    pub(crate) fn open(named: &str, session: &CliSession) -> Result<Self, Fault> {
        if let Some(store) = open_server(named, session)? {
            return Ok(store);
        }
        let folder = memory_folder(Path::new(named));
        if !folder.join(DATABASE).exists() {
            return Err(
                Fault::not_found(format!("no {DATABASE} in {}", folder.to_escaped()))
                    .hint("name the folder with the database, or postgres://USER@HOST/DATABASE"),
            );
        }
        Self::open_folder(&folder, session)
    }

    /// Opens a store as [`TransferStore::open`] does; creates a database in a folder that has none.
    pub(crate) fn create(named: &str, session: &CliSession) -> Result<Self, Fault> {
        if let Some(store) = open_server(named, session)? {
            return Ok(store);
        }
        let folder = memory_folder(Path::new(named));
        create_folder(&folder)?;
        Self::open_folder(&folder, session)
    }

    fn open_folder(folder: &Path, session: &CliSession) -> Result<Self, Fault> {
        let progress = migration_progress::progress_sink(&session.out);
        open_store(folder, &progress).map(Self::Sqlite)
    }

    /// Returns the end of the transfer.
    pub(crate) fn end(&self) -> TransferEnd<'_> {
        match self {
            Self::Sqlite(store) => TransferEnd::Sqlite(store),
            Self::Postgres(store) => TransferEnd::Postgres(store),
        }
    }
}

fn open_server(named: &str, session: &CliSession) -> Result<Option<TransferStore>, Fault> {
    if !is_database_address(named) {
        return Ok(None);
    }
    let address = parse_address(named, &session.env)?;
    Ok(Some(TransferStore::Postgres(PostgresStore::connect(
        &address,
    )?)))
}

/// Refuses an argument with a password, which other users of the machine can see.
pub(crate) fn refuse_password(address: &str) -> Result<(), Fault> {
    if without_password(address) == address {
        return Ok(());
    }
    Err(
        Fault::usage("an argument with a password is visible to other users of this machine")
            .hint("set PGPASSWORD, or write a password file and name it in PGPASSFILE"),
    )
}

/// Returns the folder with the database of a folder or of the project in it.
fn memory_folder(named: &Path) -> PathBuf {
    let inner = named.join(heirloom_fs::project_fs::HEIRLOOM_FOLDER);
    match named.join(DATABASE).exists() || !inner.is_dir() {
        true => named.to_owned(),
        false => inner,
    }
}
