//! What the tail, which is not merged yet, says to a question: read once, for all of its arms.

use super::super::failure::Failure;
use super::{entries, pieces};
use heirloom_index::words::Term;
use rusqlite::{Connection, params};
use std::sync::Arc;

/// The tail of a project, as far as a question asks for it.
#[derive(Default)]
pub(super) struct Tail {
    /// For each term of the question, in its order: the ordinals that have it, and their codes.
    pub(super) postings: Vec<Vec<(u32, u8)>>,
    /// For each distinct piece of the question, ascending: how many texts have it.
    counts: Vec<(u16, u32)>,
    /// Packed vectors, in the order of their ordinals.
    pub(super) vectors: Arc<Vec<u8>>,
}

/// A row of the tail, as it is stored.
pub(super) struct Row<'r> {
    pub(super) terms: &'r [u8],
    pub(super) pieces: &'r [u8],
    pub(super) vector: &'r [u8],
}

/// Calls `each` with the rows of the tail from a text on, in the order of their ordinals.
pub(super) fn each_row(
    connection: &Connection,
    project: i64,
    from: u32,
    mut each: impl FnMut(u32, Row<'_>),
) -> Result<(), Failure> {
    let sql = "SELECT ordinal, terms, pieces, vector FROM tail \
         WHERE project = ?1 AND ordinal >= ?2 ORDER BY ordinal";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![project, from])?;
    while let Some(row) = rows.next()? {
        let bytes = |column| -> Result<&[u8], Failure> {
            Ok(row.get_ref(column)?.as_blob().unwrap_or(&[]))
        };
        let (terms, pieces, vector) = (bytes(1)?, bytes(2)?, bytes(3)?);
        let row_of = Row {
            terms,
            pieces,
            vector,
        };
        each(row.get(0)?, row_of);
    }
    Ok(())
}

impl Tail {
    /// What the tail has of these terms and pieces.
    pub(super) fn read(
        connection: &Connection,
        project: i64,
        terms: &[Term],
        asked: &[u16],
    ) -> Result<Self, Failure> {
        let mut places: Vec<(Term, usize)> = terms.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let postings = vec![Vec::new(); terms.len()];
        let counts = asked.iter().map(|piece| (*piece, 0));
        let mut tail = Self::of(postings, counts, Arc::default());
        let mut vectors = Vec::new();
        each_row(connection, project, 0, |ordinal, row| {
            if !places.is_empty() {
                tail.add_terms(&places, ordinal, row.terms);
            }
            if !asked.is_empty() {
                tail.add_pieces(row.pieces);
                vectors.extend_from_slice(row.vector);
            }
        })?;
        tail.vectors = Arc::new(vectors);
        Ok(tail)
    }

    /// A tail that says this.
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

    /// In how many of its texts a piece of the question is.
    pub(super) fn count(&self, piece: u16) -> u32 {
        let place = self
            .counts
            .binary_search_by_key(&piece, |(piece, _)| *piece);
        let found = place.ok().and_then(|at| self.counts.get(at));
        found.map_or(0, |(_, count)| *count)
    }

    /// Both lists ascend: one pass over both.
    fn add_terms(&mut self, places: &[(Term, usize)], ordinal: u32, bytes: &[u8]) {
        let mut asked = places.iter().peekable();
        for (term, code) in entries(bytes) {
            while asked.next_if(|(asked, _)| *asked < term).is_some() {}
            let place = match asked.peek() {
                Some((asked, place)) if *asked == term => *place,
                Some(_) => continue,
                None => return,
            };
            if let Some(postings) = self.postings.get_mut(place) {
                postings.push((ordinal, code));
            }
        }
    }

    fn add_pieces(&mut self, bytes: &[u8]) {
        let mut asked = self.counts.iter_mut().peekable();
        for piece in pieces(bytes) {
            while asked.next_if(|(asked, _)| *asked < piece).is_some() {}
            match asked.peek_mut() {
                Some((asked, count)) if *asked == piece => *count += 1,
                Some(_) => {}
                None => return,
            }
        }
    }
}
