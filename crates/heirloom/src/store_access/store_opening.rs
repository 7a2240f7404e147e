//! Opening of a store in a folder; a missing database is never replaced by an empty one.

use heirloom_fs::durable;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use heirloom_store::{DATABASE, MARKER, ProgressSink, SqliteStore, StoreMarker};
use std::path::Path;

pub(super) fn open_store(
    folder: &Path,
    progress_sink: &ProgressSink,
) -> Result<SqliteStore, Fault> {
    let database = folder.join(DATABASE);
    let marker = folder.join(MARKER);
    if marker.is_symlink() {
        return Err(Fault::refused(format!(
            "{} is a symbolic link, and links are not followed",
            marker.to_escaped()
        ))
        .hint("remove the link; its target was not touched"));
    }
    if path_exists(&database)? || path_exists(&marker)? {
        let store = SqliteStore::open_with_progress(&database, progress_sink)
            .map_err(|error| explain_missing_store(error.into(), &marker))?;
        if !marker.exists() {
            // Recreate the marker (best effort): without it a later loss of the database would look like a fresh
            // project.
            let marked = durable::write_atomic(&marker, &StoreMarker::new().to_bytes());
            drop(marked);
        }
        return Ok(store);
    }
    let store = SqliteStore::create(&database)?;
    durable::write_atomic(&marker, &StoreMarker::new().to_bytes())?;
    Ok(store)
}

/// Returns true if the path exists, even as a dangling link. A folder that cannot be searched is an error, not a
/// missing database.
fn path_exists(path: &Path) -> Result<bool, Fault> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(
            Fault::failed(format!("cannot access {}: {error}", path.to_escaped()))
                .hint("check the folder, its owner and its permissions"),
        ),
    }
}

fn explain_missing_store(fault: Fault, marker: &Path) -> Fault {
    if fault.kind != heirloom_model::ErrorKind::NotFound {
        return fault;
    }
    let hint = format!(
        "a database existed here and is missing: `heirloom restore FILE` puts a backup in its place, or delete {} to begin with an empty memory",
        marker.to_escaped()
    );
    Fault {
        hint: Some(hint),
        ..fault
    }
}
