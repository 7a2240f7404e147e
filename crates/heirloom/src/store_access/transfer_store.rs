//! Stores at the ends of a transfer.

use super::CliSession;
use super::database_server::parse_address;
use super::private_files::create_folder;
use super::store_opening::open_store;
use crate::migration_progress;
use crate::store_access::trust::{MemoryOrigin, MemoryTrust};
use heirloom_fs::project_fs;
use heirloom_model::database_address::{is_database_address, without_password};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, ProjectName};
use heirloom_store::{
    DATABASE, PostgresStore, ProjectTransfer, SqliteStore, TransferEnd, transfer_project,
    transferable_projects,
};
use std::path::{Path, PathBuf};

/// Stores and projects of a transfer.
pub(crate) struct TransferRequest<'r> {
    /// Store to copy from.
    pub(crate) from: &'r str,
    /// Store to copy to.
    pub(crate) to: &'r str,
    /// Project to copy; `None` for all.
    pub(crate) project: Option<ProjectName>,
    /// Name of the copy, of a single project.
    pub(crate) name: Option<ProjectName>,
}

/// Copies projects from one store to another; calls `done` after each.
pub(crate) fn transfer(
    request: &TransferRequest<'_>,
    session: &mut CliSession,
    mut done: impl FnMut(&mut CliSession, ProjectTransfer),
) -> Result<(), Fault> {
    // A folder that is used here uses the copy on a server too.
    let source = local_memory(request.from, session);
    let own_folder = source.filter(|(_, origin)| *origin == MemoryOrigin::Own);
    let from = TransferStore::open(request.from, session)?;
    let to = TransferStore::create(request.to, session)?;
    let projects = match &request.project {
        Some(project) => vec![project.clone()],
        None => transferable_projects(from.end())?,
    };
    for project in projects {
        let name = request.name.as_ref().unwrap_or(&project);
        let copied = transfer_project(from.end(), to.end(), &project, name)?;
        if let (Some((folder, _)), TransferStore::Postgres(_)) = (&own_folder, &to) {
            let joined = MemoryTrust::new(&session.env, folder, Some(name.as_str()));
            joined.mark_own(session.clock()?.now())?;
        }
        done(session, copied);
    }
    Ok(())
}

/// Returns the folder that `named` names and the origin of its memory; `None` for a database server.
fn local_memory(named: &str, session: &CliSession) -> Option<(PathBuf, MemoryOrigin)> {
    if is_database_address(named) {
        return None;
    }
    let folder = memory_folder(Path::new(named));
    let folder = project_fs::canonicalize(&folder).unwrap_or(folder);
    let origin = MemoryTrust::new(&session.env, &folder, None).origin();
    Some((folder, origin))
}

/// Returns true if the memory to copy from was not created by this installation.
pub(crate) fn is_foreign_source(named: &str, session: &CliSession) -> bool {
    local_memory(named, session).is_some_and(|(_, origin)| match origin {
        MemoryOrigin::Foreign | MemoryOrigin::Tracked => true,
        MemoryOrigin::Own | MemoryOrigin::Absent => false,
    })
}

/// Store at one end of a transfer.
enum TransferStore {
    /// Database in a folder.
    Sqlite(Box<SqliteStore>),
    /// Database on a server.
    Postgres(Box<PostgresStore>),
}

impl TransferStore {
    /// Opens an existing store: an address, or a folder with a database or with `.heirloom`.
    fn open(named: &str, session: &CliSession) -> Result<Self, Fault> {
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
    fn create(named: &str, session: &CliSession) -> Result<Self, Fault> {
        if let Some(store) = open_server(named, session)? {
            return Ok(store);
        }
        let folder = memory_folder(Path::new(named));
        create_folder(&folder)?;
        let is_new = !folder.join(DATABASE).exists();
        let store = Self::open_folder(&folder, session)?;
        if is_new {
            let folder = project_fs::canonicalize(&folder).unwrap_or(folder);
            let trust = MemoryTrust::new(&session.env, &folder, None);
            trust.mark_own(session.clock()?.now())?;
        }
        Ok(store)
    }

    fn open_folder(folder: &Path, session: &CliSession) -> Result<Self, Fault> {
        let progress = migration_progress::progress_sink(&session.out);
        Ok(Self::Sqlite(Box::new(open_store(folder, &progress)?)))
    }

    /// Returns the end of the transfer.
    fn end(&self) -> TransferEnd<'_> {
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
    let store = PostgresStore::connect(&address)?;
    Ok(Some(TransferStore::Postgres(Box::new(store))))
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
