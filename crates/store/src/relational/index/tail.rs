//! Tail of the index: the unmerged rows, read once for both arms of a query.

use super::index_entry::{entries, pieces};
use crate::lane::LaneKey;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_search::index::tokenizer::Term;
use rusqlite::params;
use std::sync::Arc;

/// Part of a project's tail that a query needs.
#[derive(Default)]
pub(super) struct Tail {
    /// For each term of the query, in query order: the ordinals that have it, and their codes.
    pub(super) postings: Vec<Vec<(u32, u8)>>,
    /// For each distinct word piece of the query, ascending: its document frequency in the tail.
    counts: Vec<(u16, u32)>,
    /// Packed vectors in order of their ordinals.
    pub(super) vectors: Arc<Vec<u8>>,
}

/// Stored row of the tail.
pub(super) struct TailRow<'r> {
    pub(super) terms: &'r [u8],
    pub(super) pieces: &'r [u8],
    pub(super) vector: &'r [u8],
}

/// Statement that reads the rows of the tail from an ordinal on.
pub(super) const ROWS: &str = "SELECT ordinal, terms, pieces, vector FROM tail \
     WHERE project = ?1 AND lane = ?2 AND ordinal >= ?3 ORDER BY ordinal";

/// Calls `each` with the rows of the tail from an ordinal on, in order.
pub(super) fn each_row(
    connection: Connection<'_>,
    lane: LaneKey,
    from: u32,
    mut each: impl FnMut(u32, TailRow<'_>),
) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(ROWS)?;
    let mut rows = statement.query(params![lane.project, lane.lane, from])?;
    while let Some(row) = rows.next()? {
        let bytes = |column| -> Result<&[u8], Failure> {
            Ok(row.get_ref(column)?.as_blob().unwrap_or(&[]))
        };
        let (terms, pieces, vector) = (bytes(1)?, bytes(2)?, bytes(3)?);
        let row_of = TailRow {
            terms,
            pieces,
            vector,
        };
        each(row.get(0)?, row_of);
    }
    Ok(())
}

impl Tail {
    /// Reads the tail's data for these terms and pieces.
    pub(super) fn read(
        connection: Connection<'_>,
        lane: LaneKey,
        terms: &[Term],
        queried: &[u16],
    ) -> Result<Self, Failure> {
        let mut places: Vec<(Term, usize)> = terms.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let postings = vec![Vec::new(); terms.len()];
        let counts = queried.iter().map(|piece| (*piece, 0));
        let mut tail = Self::of(postings, counts, Arc::default());
        let mut vectors = Vec::new();
        each_row(connection, lane, 0, |ordinal, row| {
            if !places.is_empty() {
                tail.add_terms(&places, ordinal, row.terms);
            }
            if !queried.is_empty() {
                tail.add_pieces(row.pieces);
                vectors.extend_from_slice(row.vector);
            }
        })?;
        tail.vectors = Arc::new(vectors);
        Ok(tail)
    }

    /// Creates a tail from its parts.
    pub(super) fn of(
        postings: Vec<Vec<(u32, u8)>>,
        counts: impl Iterator<Item = (u16, u32)>,
        vectors: Arc<Vec<u8>>,
    ) -> Self {
        let mut counts: Vec<(u16, u32)> = counts.collect();
        counts.sort_unstable();
        counts.dedup();
        Self {
            postings,
            counts,
            vectors,
        }
    }

    /// Returns the document frequency of a word piece of the query in the tail.
    pub(super) fn count(&self, piece: u16) -> u32 {
        let place = self
            .counts
            .binary_search_by_key(&piece, |(piece, _)| *piece);
        let found = place.ok().and_then(|at| self.counts.get(at));
        found.map_or(0, |(_, count)| *count)
    }

    /// Merges in one pass, because both lists are sorted.
    fn add_terms(&mut self, places: &[(Term, usize)], ordinal: u32, bytes: &[u8]) {
        let mut queried = places.iter().peekable();
        for (term, code) in entries(bytes) {
            while queried.next_if(|(queried, _)| *queried < term).is_some() {}
            let place = match queried.peek() {
                Some((queried, place)) if *queried == term => *place,
                Some(_) => continue,
                None => return,
            };
            if let Some(postings) = self.postings.get_mut(place) {
                postings.push((ordinal, code));
            }
        }
    }

    fn add_pieces(&mut self, bytes: &[u8]) {
        let mut queried = self.counts.iter_mut().peekable();
        for piece in pieces(bytes) {
            while queried.next_if(|(queried, _)| *queried < piece).is_some() {}
            match queried.peek_mut() {
                Some((queried, count)) if *queried == piece => *count += 1,
                Some(_) => {}
                None => return,
            }
        }
    }
}
