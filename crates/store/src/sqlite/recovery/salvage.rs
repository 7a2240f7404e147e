//! Salvage of the readable rows of a damaged database into a new one.
//!
//! The file is parsed page by page, because SQLite refuses most of what is needed: a tree with a hole, a file without
//! a header. Rows come from the trees that can be walked, else from any page that looks like one of ours. The result
//! is a database of the original schema version, which is then migrated as usual and passes `Store::check`.

mod invalid_rows;
mod page_image;
mod page_scan;
mod repair_constraints;
mod row_names;
mod row_sinks;
mod schema_layout;
mod skipped_rows;
mod wal;

use crate::relational::index;
use crate::sql::failure::Failure;
use crate::sqlite::database_location::DatabaseLocation;
use crate::sqlite::open::OpenedDatabase;
use crate::sqlite::schema_version::{self, MIGRATIONS, Migration};
use crate::sqlite::{SqliteStore, connection, file_format, integrity, migrate};
use crate::{ProgressSink, StoreError};
use heirloom_model::ProjectName;
pub(in crate::sqlite) use page_image::PageImage;
use page_scan::ScanReport;
use row_sinks::{CountingSink, InsertingSink};
use rusqlite::{Connection, TransactionBehavior};
use schema_layout::SchemaLayout;
pub use skipped_rows::SkippedRow;
use skipped_rows::SkippedRows;
use std::collections::{BTreeMap, BTreeSet};

/// Offsets in the file header: schema version and application id.
const USER_VERSION_AT: usize = 60;
const APPLICATION_ID_AT: usize = 68;
/// Offset of the page count in the file header.
const PAGES_AT: usize = 28;

/// Report of a salvage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SalvageReport {
    /// Schema version of the damaged file, as far as it could be determined.
    pub schema_version: u32,
    /// Number of salvaged rows by table, retired records included.
    pub rows: BTreeMap<String, u64>,
    /// Number of unreadable or missing pages.
    pub pages_bad: usize,
    /// Number of unreadable rows on readable pages.
    pub rows_bad: usize,
    /// Number of committed pages of the write-ahead log that could not be read.
    pub journal_pages_bad: usize,
    /// Numbers of the pages whose last content was among them; they have an older state.
    pub journal_pages_lost: BTreeSet<u32>,
    /// Projects whose name was lost, by their new name.
    pub renamed: Vec<String>,
    /// Number of records that were retired because two were current for one identity.
    pub retired: u64,
    /// Number of lost sessions that were recreated because their messages exist.
    pub sessions_recreated: u64,
    /// Number of rows that were left out, because a row that they refer to is lost or because the store could not
    /// have written them.
    pub rows_skipped: u64,
    /// First of all rows that were not salvaged, unreadable ones included.
    pub skipped: Vec<SkippedRow>,
    /// True if every table was found and read completely.
    pub is_complete: bool,
}

impl SalvageReport {
    /// Returns the number of salvaged rows of this table.
    pub fn rows_of(&self, table: &str) -> u64 {
        self.rows.get(table).copied().unwrap_or(0)
    }

    /// Returns the number of all salvaged rows.
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }
}

impl SqliteStore {
    /// Salvages a damaged database and its write-ahead log into an in-memory store.
    ///
    /// Never panics, whatever the bytes are; needs about four times their size in memory. `hint` is the name of the
    /// project if its own is lost and it is the only project without one. Errors: `Newer`.
    pub fn salvage(
        database: &[u8],
        journal: &[u8],
        hint: Option<&ProjectName>,
    ) -> Result<(Self, SalvageReport), StoreError> {
        let place = DatabaseLocation::Memory;
        let recovered = Connection::open_in_memory()
            .map_err(Failure::from)
            .and_then(|mut connection| {
                let image = PageImage::new(database, journal, None);
                let salvaged = recover(&image, &mut connection, hint)?;
                connection::set_up(&mut connection)?;
                Ok((connection, salvaged))
            });
        match recovered {
            Ok((connection, salvaged)) => Ok((
                Self::new(OpenedDatabase::unshared(connection, place)),
                salvaged,
            )),
            Err(failure) => Err(failure.at(&place)),
        }
    }
}

/// Returns the file with its log merged into it; `None` if the log is empty.
pub(in crate::sqlite) fn merge_journal(image: &PageImage<'_>) -> Option<Vec<u8>> {
    let pages = 1..=image.pages;
    let pages = image
        .has_journal()
        .then(|| pages.filter_map(|n| image.page(n)));
    pages.map(|pages| pages.flatten().copied().collect())
}

/// Salvages the readable rows into the empty database of `connection`, migrates it and checks it.
pub(in crate::sqlite) fn recover(
    image: &PageImage<'_>,
    connection: &mut Connection,
    hint: Option<&ProjectName>,
) -> Result<SalvageReport, Failure> {
    let layout = layout_of(image, MIGRATIONS)?;
    let known = MIGRATIONS
        .get(..to_usize(layout.version))
        .unwrap_or(MIGRATIONS);
    connection.pragma_update(None, "foreign_keys", false)?;
    migrate::create_schema(connection, known)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let identity = repair_constraints::drop_identity_index(&transaction)?;
    let mut insert = InsertingSink::into(&transaction);
    let outcome = page_scan::scan(image, &layout, &mut insert);
    let (names, refused) = insert.finish()?;
    let mut unread = outcome.skipped;
    unread.extend(refused);
    let mut salvaged = SalvageReport {
        schema_version: layout.version,
        rows_bad: outcome.pages_overfull + unread.count,
        pages_bad: outcome.pages_bad + missing_pages(image),
        journal_pages_bad: image.frames_bad(),
        journal_pages_lost: image.pages_lost().clone(),
        is_complete: outcome.is_complete,
        ..SalvageReport::default()
    };
    let mut skipped = SkippedRows::default();
    repair_constraints::repair_constraints(
        &transaction,
        &layout,
        &names,
        hint,
        &mut salvaged,
        &mut skipped,
    )?;
    transaction.execute_batch(&identity)?;
    transaction.commit()?;
    migrate::migrate_exclusive(
        connection,
        &DatabaseLocation::Memory,
        MIGRATIONS,
        &ProgressSink::silent(),
    )?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if invalid_rows::remove_unreadable_rows(&transaction, &mut skipped)? {
        repair_constraints::repair_after_removal(
            &transaction,
            &SchemaLayout::of(MIGRATIONS)?,
            &mut skipped,
        )?;
    }
    index::rebuild_all((&*transaction).into())?;
    salvaged.rows_skipped = u64::try_from(skipped.count).unwrap_or(u64::MAX);
    unread.extend(skipped);
    salvaged.skipped = repair_constraints::missing_rows(&transaction, unread.rows)?;
    transaction.commit()?;
    salvaged.rows = integrity::row_counts(connection)?;
    let findings = integrity::check(connection)?;
    match findings.first() {
        None => Ok(salvaged),
        Some(finding) => {
            let problem = format!("the recovered database is not sound: {finding}");
            Err(Failure::Damaged(problem))
        }
    }
}

/// Determines the schema of the damaged database: by its header, else the version that explains most rows.
fn layout_of(image: &PageImage<'_>, known: &[Migration]) -> Result<SchemaLayout, Failure> {
    let newest = schema_version::newest(known);
    let number = |at| {
        image
            .header()
            .and_then(|header| file_format::u32_at(header, at))
    };
    let stored = number(USER_VERSION_AT).unwrap_or(0);
    let is_ours = number(APPLICATION_ID_AT) == Some(schema_version::APPLICATION_ID);
    if is_ours && (1..=newest).contains(&stored) {
        return SchemaLayout::of(known.get(..to_usize(stored)).unwrap_or(known));
    }
    let statements = page_scan::schema_statements(image);
    let mut best: Option<((usize, usize), SchemaLayout)> = None;
    for version in 1..=known.len() {
        let layout = SchemaLayout::of(known.get(..version).unwrap_or(known))?;
        let ScanReport { rows, .. } = page_scan::scan(image, &layout, &mut CountingSink);
        let is_said = |(name, sql): &(&String, &String)| statements.get(*name) == Some(*sql);
        let agreed = layout.statements.iter().filter(is_said).count();
        let unsaid = layout.statements.len() - agreed;
        // Without this penalty a newer version would win by its additions.
        let score = (rows, (2 * agreed).saturating_sub(unsaid));
        if best.as_ref().is_none_or(|(found, _)| score > *found) {
            best = Some((score, layout));
        }
    }
    match best {
        Some((_, layout)) => Ok(layout),
        None => SchemaLayout::of(known),
    }
}

/// Counts the pages that the header promises but the file lacks.
fn missing_pages(image: &PageImage<'_>) -> usize {
    let stored = image
        .header()
        .and_then(|header| file_format::u32_at(header, PAGES_AT));
    to_usize(stored.unwrap_or(0).saturating_sub(image.pages))
}

fn to_usize(version: u32) -> usize {
    usize::try_from(version).unwrap_or(usize::MAX)
}
