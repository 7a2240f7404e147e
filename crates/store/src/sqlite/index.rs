//! The index of a project in ordinary tables: what is written of a text, in the transaction that writes it.
//!
//! A text gets the next ordinal and a row in the tail; a full tail is merged into blocks. So a write pays for
//! one row, and now and then for a merge; what is found is the same whether it is merged or not.

mod beside;
mod check;
mod embedded;
mod ids;
mod kept;
mod kinds;
mod lexical;
mod matrix;
mod meanings;
mod merge;
mod near;
mod rebuild;
mod search;
mod tail;
mod wanted;

pub(super) use beside::forget as forget_copies;
pub(super) use check::check;
pub(super) use embedded::{embed, unembedded};
pub(super) use rebuild::{catch_up, rebuild, rebuild_all, remove};
pub(super) use search::search;

use super::codec;
use super::failure::Failure;
use heirloom_index::score::Totals;
use heirloom_index::words::{Document, Term};
use heirloom_index::{code, vector};
use heirloom_model::session::is_name;
use heirloom_model::{Message, ProjectName, RecordId};
use rusqlite::{Connection, OptionalExtension, params};
use std::borrow::Cow;
use std::sync::Mutex;

/// Ordinals to a row of `gone`.
const GONE_ORDINALS: u32 = 8_192;
/// Bytes of an entry in a tail's terms: the term and its code.
const ENTRY_BYTES: usize = 7;

/// What a process that is asked again keeps of the index.
#[derive(Debug, Default)]
pub(super) struct Kept {
    ids: Mutex<ids::Ids>,
    matrices: Mutex<matrix::Matrices>,
    words: Mutex<kept::Words>,
    kinds: Mutex<kinds::Kinds>,
}

/// What the index knows of one text: its words, and its meaning if it has any.
pub(super) struct Entry {
    document: Document,
    meaning: Option<vector::Document>,
}

impl Entry {
    /// The entry of this text.
    pub(super) fn of(text: &str) -> Self {
        Self {
            document: Document::of(text),
            meaning: vector::Document::of(text),
        }
    }

    /// The entry of a turn: its speaker's name belongs to it, but for roles and initials.
    pub(super) fn of_turn(message: &Message) -> Self {
        Self::of(&turn_text(message))
    }

    /// Its vector as it is stored.
    fn vector(&self) -> [u8; vector::ROW_BYTES] {
        let row = |meaning: &vector::Document| meaning.vector.to_bytes();
        self.meaning.as_ref().map_or(vector::EMPTY_ROW, row)
    }

    /// The distinct pieces that its meaning is made of.
    fn pieces(&self) -> Vec<u8> {
        let distinct = self.meaning.iter().flat_map(|meaning| &meaning.distinct);
        distinct.flat_map(|piece| piece.to_le_bytes()).collect()
    }

    fn terms(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.document.terms.len() * ENTRY_BYTES);
        for counted in &self.document.terms {
            let code = code::encode(self.document.len, counted.count, counted.in_head);
            bytes.extend_from_slice(&counted.term.0.to_le_bytes()[..ENTRY_BYTES - 1]);
            bytes.push(code);
        }
        bytes
    }
}

/// What the index has of a turn.
fn turn_text(message: &Message) -> Cow<'_, str> {
    match message.sender.as_ref().filter(|sender| is_name(sender)) {
        Some(name) => Cow::Owned(format!("{name}: {}", message.text)),
        None => Cow::Borrowed(&message.text),
    }
}

/// The terms and codes in a row of the tail.
fn entries(bytes: &[u8]) -> impl Iterator<Item = (Term, u8)> {
    bytes.as_chunks::<ENTRY_BYTES>().0.iter().map(|entry| {
        let [a, b, c, d, e, f, code] = *entry;
        (Term(u64::from_le_bytes([a, b, c, d, e, f, 0, 0])), code)
    })
}

/// The pieces in a row of the tail.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let pairs = bytes.as_chunks().0.iter();
    pairs.map(|pair| u16::from_le_bytes(*pair))
}

/// Sums over a project's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Index {
    totals: Totals,
    merged: u32,
    generation: i64,
    /// The version of the schema, which another content in the place of the database changes too.
    schema: i64,
}

impl Index {
    /// How many texts there are.
    fn texts(&self) -> u32 {
        u32::try_from(self.totals.texts).unwrap_or(u32::MAX)
    }
}

/// What stays the same as long as what is merged only grows.
type Epoch = (i64, i64);

impl Index {
    fn epoch(&self) -> Epoch {
        (self.generation, self.schema)
    }
}

/// The index of a project, if it has one.
fn of(connection: &Connection, project: i64) -> Result<Option<Index>, Failure> {
    let sql = "SELECT texts, len, head_len, merged, generation, \
         (SELECT schema_version FROM pragma_schema_version) FROM index_totals WHERE project = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([project], |row| {
        Ok(Index {
            totals: Totals {
                texts: row.get(0)?,
                len: row.get(1)?,
                head_len: row.get(2)?,
            },
            merged: row.get(3)?,
            generation: row.get(4)?,
            schema: row.get(5)?,
        })
    });
    Ok(found.optional()?)
}

/// Writes the entry of a record or a message, and returns its ordinal.
pub(super) fn add(
    connection: &Connection,
    project: i64,
    id: RecordId,
    is_turn: bool,
    entry: &Entry,
) -> Result<u32, Failure> {
    let document = &entry.document;
    let sql = "INSERT INTO index_totals VALUES (?1, 1, ?2, ?3, 0, 0) ON CONFLICT (project) DO UPDATE SET \
         texts = texts + 1, len = len + excluded.len, head_len = head_len + excluded.head_len \
         RETURNING texts, merged";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![project, document.len, document.head_len];
    let (texts, merged): (u32, u32) =
        statement.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let ordinal = texts.saturating_sub(1);
    let sql = "INSERT INTO ordinals (project, ordinal, id, is_turn) VALUES (?1, ?2, ?3, ?4)";
    let values = params![project, ordinal, id.as_bytes(), is_turn];
    connection.prepare_cached(sql)?.execute(values)?;
    let sql =
        "INSERT INTO tail (project, ordinal, terms, pieces, vector) VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![
        project,
        ordinal,
        entry.terms(),
        entry.pieces(),
        entry.vector()
    ];
    connection.prepare_cached(sql)?.execute(values)?;
    if (merge::Waiting { texts, merged }).is_too_long() {
        merge::merge(connection, project)?;
    }
    Ok(ordinal)
}

/// Merges what was added, where it is time for that: for whoever writes and leaves it to nobody.
pub(super) fn settle(connection: &Connection, project: &ProjectName) -> Result<(), Failure> {
    let Some(project) = codec::project(connection, project)? else {
        return Ok(());
    };
    match merge::Waiting::of(connection, project)? {
        Some(waiting) if waiting.is_long() => merge::merge(connection, project),
        Some(_) | None => Ok(()),
    }
}

/// Merges a part of what was put off. Whether there is more.
pub(super) fn settle_part(connection: &Connection) -> Result<bool, Failure> {
    let sql = "SELECT project, texts, merged FROM index_totals WHERE texts > merged";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let project = row.get(0)?;
        let (texts, merged) = (row.get(1)?, row.get(2)?);
        if (merge::Waiting { texts, merged }).is_long() {
            drop(rows);
            merge::merge_part(connection, project)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Marks what has this ordinal as gone, or as here again.
pub(super) fn mark(
    connection: &Connection,
    project: i64,
    ordinal: u32,
    is_gone: bool,
) -> Result<(), Failure> {
    let block = ordinal / GONE_ORDINALS;
    let sql = "SELECT bits FROM gone WHERE project = ?1 AND block = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let known: Option<Vec<u8>> = statement
        .query_row([project, i64::from(block)], |row| row.get(0))
        .optional()?;
    if known.is_none() && !is_gone {
        return Ok(());
    }
    let mut bits = known.unwrap_or_default();
    bits.resize(GONE_ORDINALS as usize / 8, 0);
    let place = ordinal % GONE_ORDINALS;
    if let Some(byte) = bits.get_mut(place as usize / 8) {
        let bit = 1 << (place % 8);
        *byte = if is_gone { *byte | bit } else { *byte & !bit };
    }
    let sql = "INSERT INTO gone VALUES (?1, ?2, ?3) ON CONFLICT (project, block) DO UPDATE SET bits = excluded.bits";
    connection
        .prepare_cached(sql)?
        .execute(params![project, block, bits])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::apply::apply;
    use super::*;
    use crate::{Change, SqliteStore, Store};
    use heirloom_model::{
        Confidence, IdSource, Kind, Merge, ProjectName, Record, Role, Scope, Session, Timestamp,
    };
    use proptest::prelude::*;
    use rusqlite::types::Value;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_777_629_600 + second).unwrap()
    }

    fn record(ids: &IdSource, second: i64, text: &str, key: Option<String>) -> Record {
        Record {
            project: ProjectName::new("p").unwrap(),
            id: ids.next(at(second)),
            kind: Kind::Note,
            key,
            text: text.to_owned(),
            attrs: serde_json::Map::new(),
            scope: Scope::default(),
            source: "user".to_owned(),
            confidence: Confidence::FULL,
            tokens: 1,
            recorded_at: at(second),
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }

    /// Every row of the index, with the tail merged; what it says, not how it came about.
    fn dump(store: &SqliteStore) -> Vec<Vec<Value>> {
        let connection = store.lock();
        let sqls = [
            "SELECT texts, len, head_len, merged FROM index_totals",
            "SELECT * FROM ordinals ORDER BY 1, 2",
            "SELECT * FROM postings ORDER BY 1, 2, 3",
            "SELECT * FROM gone WHERE bits <> zeroblob(length(bits)) ORDER BY 1, 2",
            "SELECT * FROM vectors ORDER BY 1",
            "SELECT * FROM piece_counts ORDER BY 1",
            "SELECT id, ordinal FROM records ORDER BY 1",
            "SELECT id, ordinal FROM messages ORDER BY 1",
        ];
        let mut all = Vec::new();
        for sql in sqls {
            let mut statement = connection.prepare(sql).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                all.push((0..columns).map(|n| row.get(n).unwrap()).collect());
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn however_it_came_about_the_index_is_that_of_a_bulk_build(
            words in prop::collection::vec(("[a-e]{1,3}( [a-z]{1,4}){0,12}", 0..40_u8), 1..700),
            batch in 1_usize..90,
            put_off in 0_usize..4,
        ) {
            let store = SqliteStore::memory().unwrap();
            let project = ProjectName::new("p").unwrap();
            let ids = IdSource::default();
            let mut changes = Vec::new();
            for (n, (text, key)) in words.iter().enumerate() {
                // Some take the place of others, which are then gone.
                let key = (*key < 8).then(|| key.to_string());
                let record = record(&ids, i64::try_from(n).unwrap(), text, key);
                changes.push(Change::Put { record: Box::new(record), merge: Merge::Replace });
            }
            for (n, changes) in changes.chunks(batch).enumerate() {
                // Some put the merge off, which others then do.
                if n % 4 < put_off {
                    apply(&store.lock(), &project, changes).unwrap();
                } else {
                    store.apply(&project, changes).unwrap();
                }
            }
            prop_assert_eq!(check(&store.lock()).unwrap(), Vec::<String>::new());
            merge::merge(&store.lock(), 1).unwrap();
            let grown = dump(&store);
            rebuild(&store.lock(), 1).unwrap();
            prop_assert_eq!(check(&store.lock()).unwrap(), Vec::<String>::new());
            prop_assert_eq!(dump(&store), grown);
        }
    }

    #[test]
    fn a_merge_is_put_off_until_the_tail_is_too_long() {
        let store = SqliteStore::memory().unwrap();
        let project = ProjectName::new("p").unwrap();
        let ids = IdSource::default();
        let put = |n: i64| Change::Put {
            record: Box::new(record(&ids, n, &format!("word{n}"), None)),
            merge: Merge::Keep,
        };
        let waiting = || merge::Waiting::of(&store.lock(), 1).unwrap().unwrap();
        let changes: Vec<Change> = (0..5_000).map(put).collect();
        apply(&store.lock(), &project, &changes).unwrap();
        assert_eq!((waiting().texts, waiting().merged), (5_000, 0));
        assert!(waiting().is_long() && !waiting().is_too_long());
        // Part by part, as long as there is more; not what may stay.
        assert!(settle_part(&store.lock()).unwrap());
        assert_eq!(waiting().merged, 4_096);
        assert!(settle_part(&store.lock()).unwrap());
        assert_eq!(waiting().merged, 5_000);
        apply(&store.lock(), &project, &[put(5_000)]).unwrap();
        assert!(!settle_part(&store.lock()).unwrap());
        // Whoever leaves it to nobody merges what others put off.
        apply(&store.lock(), &project, &changes_from(&ids, 5_001..6_000)).unwrap();
        store.apply(&project, &[put(6_000)]).unwrap();
        assert_eq!((waiting().texts, waiting().merged), (6_001, 6_001));
        let many = changes_from(&ids, 6_001..6_001 + 16_384);
        for changes in many.chunks(2_000) {
            apply(&store.lock(), &project, changes).unwrap();
        }
        assert_eq!(waiting().merged, 6_001 + 16_384);
        assert_eq!(check(&store.lock()).unwrap(), Vec::<String>::new());
    }

    fn changes_from(ids: &IdSource, seconds: std::ops::Range<i64>) -> Vec<Change> {
        let put = |n: i64| Change::Put {
            record: Box::new(record(ids, n, &format!("word{}", n % 999), None)),
            merge: Merge::Keep,
        };
        seconds.map(put).collect()
    }

    /// Ids tell when something was said; writers may commit in another order, and turns come between records.
    #[test]
    fn a_bulk_build_keeps_the_order_in_which_texts_arrived() {
        let store = SqliteStore::memory().unwrap();
        let project = ProjectName::new("p").unwrap();
        let ids = IdSource::default();
        let session = Session {
            project: project.clone(),
            id: "s".to_owned(),
            agent: None,
            task: None,
            started_at: at(0),
            ended_at: None,
            attrs: serde_json::Map::new(),
        };
        store.put_session(&session).unwrap();
        let mut records: Vec<Record> = (0..300)
            .map(|n| record(&ids, n, &format!("word{n} shared"), None))
            .collect();
        records.reverse();
        for (seq, record) in records.into_iter().enumerate() {
            let put = Change::Put {
                record: Box::new(record),
                merge: Merge::Keep,
            };
            store.apply(&project, &[put]).unwrap();
            let turn = Message {
                id: ids.next(at(1_000)),
                seq: seq as u64,
                role: Role::User,
                sender: None,
                text: format!("said {seq}"),
                attrs: serde_json::Map::new(),
                tokens: 1,
                at: at(1_000),
            };
            store.append_messages(&project, "s", &[turn]).unwrap();
        }
        merge::merge(&store.lock(), 1).unwrap();
        let grown = dump(&store);
        rebuild(&store.lock(), 1).unwrap();
        assert_eq!(check(&store.lock()).unwrap(), Vec::<String>::new());
        assert_eq!(dump(&store), grown);
    }

    #[test]
    fn every_disagreement_with_the_records_is_found() {
        let store = SqliteStore::memory().unwrap();
        let project = ProjectName::new("p").unwrap();
        let ids = IdSource::default();
        let changes: Vec<Change> = (0..300)
            .map(|n| Change::Put {
                record: Box::new(record(&ids, n, &format!("word{n} shared"), None)),
                merge: Merge::Keep,
            })
            .collect();
        store.apply(&project, &changes[..256]).unwrap();
        store.apply(&project, &changes[256..]).unwrap();
        let session = Session {
            project: project.clone(),
            id: "s".to_owned(),
            agent: None,
            task: None,
            started_at: at(0),
            ended_at: None,
            attrs: serde_json::Map::new(),
        };
        store.put_session(&session).unwrap();
        let turn = Message {
            id: ids.next(at(1_000)),
            seq: 0,
            role: Role::User,
            sender: None,
            text: "said".to_owned(),
            attrs: serde_json::Map::new(),
            tokens: 1,
            at: at(1_000),
        };
        store.append_messages(&project, "s", &[turn]).unwrap();
        assert_eq!(check(&store.lock()).unwrap(), Vec::<String>::new());
        for harm in [
            "UPDATE records SET ordinal = NULL WHERE ordinal = 7",
            "UPDATE messages SET ordinal = 3",
            "DELETE FROM ordinals WHERE ordinal = 5",
            "DELETE FROM tail WHERE ordinal = 299",
            "UPDATE index_totals SET texts = texts + 1",
            "UPDATE records SET retired_at = recorded_at WHERE ordinal = 1",
            "DELETE FROM postings WHERE block = 0 AND length(data) = 20 AND term % 3 = 0; \
             UPDATE postings SET data = substr(data, 2) WHERE length(data) > 500",
        ] {
            let mut connection = store.lock();
            let transaction = connection.transaction().unwrap();
            transaction.execute_batch(harm).unwrap();
            assert_ne!(check(&transaction).unwrap(), Vec::<String>::new(), "{harm}");
            rebuild_all(&transaction).unwrap();
            assert_eq!(check(&transaction).unwrap(), Vec::<String>::new(), "{harm}");
            transaction.rollback().unwrap();
        }
    }
}
