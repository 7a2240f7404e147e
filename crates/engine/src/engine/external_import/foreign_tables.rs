//! Tables of SQLite databases of other programs.

use heirloom_model::Fault;
use heirloom_model::foreign_table::ForeignTable;
use heirloom_model::text::EscapedPath;
use heirloom_store::{ForeignDatabase, ForeignDatabaseError};
use std::path::Path;

/// A table and its columns that are read; missing columns are left out.
pub type TableColumns<'c> = (&'c str, &'c [&'c str]);

/// Reads these tables of the SQLite database at `path`, with its write-ahead log. Writes nothing, neither to the database
/// nor next to it. A missing table is `None`.
pub fn read_foreign_tables<const N: usize>(
    path: &Path,
    wanted: [TableColumns<'_>; N],
) -> Result<[Option<ForeignTable>; N], Fault> {
    let fault = |error: ForeignDatabaseError| {
        let message = format!("cannot read {}: {error}", path.to_escaped());
        let fault = match error {
            ForeignDatabaseError::File(
                heirloom_fs::durable::regular_file::FileReadError::Missing,
            ) => Fault::not_found(message),
            ForeignDatabaseError::File(_)
            | ForeignDatabaseError::NotSqlite
            | ForeignDatabaseError::TooManyRows => Fault::usage(message),
            ForeignDatabaseError::InUse(_) | ForeignDatabaseError::Damaged(_) => {
                Fault::failed(message)
            }
        };
        fault.hint("nothing was imported")
    };
    let mut database = ForeignDatabase::read(path).map_err(fault)?;
    let mut tables = [const { None }; N];
    for (slot, (table, columns)) in tables.iter_mut().zip(wanted) {
        *slot = database.table(table, columns).map_err(fault)?;
    }
    Ok(tables)
}
