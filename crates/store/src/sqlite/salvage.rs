//! Recovering the readable rows of a damaged database into a fresh one.
//!
//! The file is read as bytes, page by page, because SQLite refuses most of what is needed here: a tree with a
//! hole, a file whose header is gone. Rows come from the trees where these can be walked, else from whatever
//! page looks like one of ours. What is recovered is a database of the version that the file had, which is
//! then brought up to date like any other, and which passes `Store::check`.

mod bytes;
mod image;
mod insert;
mod journal;
mod layout;
mod settle;
mod survey;

use super::failure::Failure;
use super::migrate::{self, MIGRATIONS, Migration};
use super::open::Opened;
use super::{Place, SqliteStore, connect, index, inspect};
use crate::{StoreError, Teller};
use heirloom_model::ProjectName;
use image::Image;
use insert::{Count, Insert};
use layout::Layout;
use rusqlite::{Connection, TransactionBehavior};
use std::collections::BTreeMap;
use survey::Outcome;

/// Where the format keeps the version of the schema, and whose file it is.
const USER_VERSION_AT: usize = 60;
const APPLICATION_ID_AT: usize = 68;
/// Where it keeps how many pages there are.
const PAGES_AT: usize = 28;

/// What was recovered from a damaged database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// The version of the schema that the damaged file had, as far as could be told.
    pub schema_version: u32,
    /// Rows by table, those of the records' past and of other tables included.
    pub rows: BTreeMap<String, u64>,
    /// Pages that hold nothing that could be read, and pages that were cut off.
    pub pages_bad: usize,
    /// Rows on readable pages that could not be read.
    pub rows_bad: usize,
    /// Committed pages of the journal that could not be read.
    pub journal_pages_bad: usize,
    /// Projects whose name was lost, by the name that they have now.
    pub renamed: Vec<String>,
    /// Records that were retired because two were current for one identity.
    pub retired: u64,
    /// Sessions that were lost and exist again because their messages do.
    pub sessions_made: u64,
    /// Rows that were left out because what they belong to is lost.
    pub rows_left_out: u64,
    /// Whether every table was found and read from end to end.
    pub is_complete: bool,
}

impl Salvaged {
    /// How many rows of this table were recovered.
    pub fn of(&self, table: &str) -> u64 {
        self.rows.get(table).copied().unwrap_or(0)
    }

    /// How many rows were recovered in all.
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }
}

impl SqliteStore {
    /// Recovers what can be read of a damaged database and its journal into a store in memory.
    ///
    /// Never panics, whatever the bytes are; takes about four times their size in memory. `hint` is the name
    /// of the project if its own was lost and it is the only one without. Errors: `Newer`.
    pub fn salvage(
        database: &[u8],
        journal: &[u8],
        hint: Option<&ProjectName>,
    ) -> Result<(Self, Salvaged), StoreError> {
        let place = Place::Memory;
        let recovered = Connection::open_in_memory()
            .map_err(Failure::from)
            .and_then(|mut connection| {
                let salvaged = recover(database, journal, &mut connection, hint)?;
                connect::set_up(&mut connection)?;
                Ok((connection, salvaged))
            });
        match recovered {
            Ok((connection, salvaged)) => {
                Ok((Self::new(Opened::alone(connection, place)), salvaged))
            }
            Err(failure) => Err(failure.at(&place)),
        }
    }
}

/// The file with what its journal holds carried over; none if the journal holds nothing.
pub(super) fn folded(database: &[u8], journal: &[u8]) -> Option<Vec<u8>> {
    let image = Image::new(database, journal);
    let pages = 1..=image.pages;
    let pages = image
        .has_journal()
        .then(|| pages.filter_map(|n| image.page(n)));
    pages.map(|pages| pages.flatten().copied().collect())
}

/// Recovers what can be read into the empty database behind `connection`, brings it up to the newest
/// version and checks it.
pub(super) fn recover(
    database: &[u8],
    journal: &[u8],
    connection: &mut Connection,
    hint: Option<&ProjectName>,
) -> Result<Salvaged, Failure> {
    let image = Image::new(database, journal);
    let layout = layout_of(&image, MIGRATIONS)?;
    let known = MIGRATIONS.get(..at(layout.version)).unwrap_or(MIGRATIONS);
    connection.pragma_update(None, "foreign_keys", false)?;
    migrate::lay_out(connection, known)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let identity = settle::lift_identity(&transaction)?;
    let mut insert = Insert::into(&transaction);
    let outcome = survey::survey(&image, &layout, &mut insert);
    let (names, refused) = insert.finish()?;
    let mut salvaged = Salvaged {
        schema_version: layout.version,
        rows_bad: outcome.rows_bad + refused,
        pages_bad: outcome.pages_bad + missing_pages(&image),
        journal_pages_bad: image.frames_bad(),
        is_complete: outcome.is_complete,
        ..Salvaged::default()
    };
    settle::settle(&transaction, &layout, &names, hint, &mut salvaged)?;
    transaction.execute_batch(&identity)?;
    transaction.commit()?;
    migrate::bring_up_alone(connection, &Place::Memory, MIGRATIONS, &Teller::silent())?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    index::rebuild_all(&transaction)?;
    transaction.commit()?;
    salvaged.rows = inspect::row_counts(connection)?;
    let findings = inspect::check(connection)?;
    match findings.first() {
        None => Ok(salvaged),
        Some(finding) => {
            let problem = format!("what was recovered is not sound: {finding}");
            Err(Failure::Damaged(problem))
        }
    }
}

/// The layout that the damaged database had: what its header says, else the one that explains most.
fn layout_of(image: &Image<'_>, known: &[Migration]) -> Result<Layout, Failure> {
    let newest = migrate::newest(known);
    let number = |at| image.header().and_then(|header| bytes::u32_at(header, at));
    let said = number(USER_VERSION_AT).unwrap_or(0);
    let is_ours = number(APPLICATION_ID_AT) == Some(migrate::APPLICATION_ID);
    if is_ours && (1..=newest).contains(&said) {
        return Layout::of(known.get(..at(said)).unwrap_or(known));
    }
    let statements = survey::said(image);
    let mut best: Option<((usize, usize), Layout)> = None;
    for version in 1..=known.len() {
        let layout = Layout::of(known.get(..version).unwrap_or(known))?;
        let Outcome { rows, .. } = survey::survey(image, &layout, &mut Count);
        let is_said = |(name, sql): &(&String, &String)| statements.get(*name) == Some(*sql);
        let agreed = layout.said.iter().filter(is_said).count();
        let unsaid = layout.said.len() - agreed;
        // A version must not win by what it adds.
        let score = (rows, (2 * agreed).saturating_sub(unsaid));
        if best.as_ref().is_none_or(|(found, _)| score > *found) {
            best = Some((score, layout));
        }
    }
    match best {
        Some((_, layout)) => Ok(layout),
        None => Layout::of(known),
    }
}

/// Pages that the header speaks of and that are not there.
fn missing_pages(image: &Image<'_>) -> usize {
    let said = image
        .header()
        .and_then(|header| bytes::u32_at(header, PAGES_AT));
    at(said.unwrap_or(0).saturating_sub(image.pages))
}

fn at(version: u32) -> usize {
    usize::try_from(version).unwrap_or(usize::MAX)
}
