//! Candidate filter: a bitmap of the ordinals that a search may return. It applies inside the index and never after a
//! limit.

use super::index_state::IndexState;
use super::project_cache::{ProjectCache, mark_other_kinds};
use super::writer::{GONE_ORDINALS, RETIRED_BLOCKS};
use crate::lane::{Lane, LaneKey};
use crate::relational::record_query;
use crate::relational::row_codec::micros;
use crate::sql::failure::Failure;
use crate::sql::{Connection, QueryBatch};
use crate::{AsOf, Filter};
use heirloom_model::{Kind, ProjectName, Scope, Timestamp};
use rusqlite::{ToSql, params};

/// Bitmap of candidate ordinals.
pub(super) struct CandidateFilter {
    /// One bit for each ordinal.
    bits: Vec<u8>,
    /// True if the bits mark excluded ordinals instead of included ones.
    is_negated: bool,
}

impl CandidateFilter {
    /// Evaluates `filter` against the index.
    pub(super) fn of(
        connection: Connection<'_>,
        project: &ProjectName,
        lane: LaneKey,
        index: &IndexState,
        filter: &Filter,
        cache: &ProjectCache,
    ) -> Result<Self, Failure> {
        let mut candidates = Self {
            bits: vec![0; index.texts() as usize / 8 + 1],
            is_negated: false,
        };
        if let AsOf::Current(now) = filter.as_of
            && is_plain(filter, now, &filter.kinds)
            && let Some(others) =
                bitmap_of_other_kinds(connection, lane, index, &filter.kinds, cache)?
        {
            candidates.is_negated = true;
            candidates.bits = others;
            candidates.set_retired(connection, lane)?;
            if lane.lane == Lane::Memory {
                candidates.set_expired(connection, lane.project, now)?;
            }
            return Ok(candidates);
        }
        match lane.lane {
            Lane::Memory => {
                for ordinal in record_query::ordinals(connection, project, filter)? {
                    candidates.set(ordinal);
                }
            }
            Lane::Archive if can_be_turn(filter) => {
                candidates.set_turns(connection, lane.project, filter)?;
            }
            Lane::Archive => {}
        }
        Ok(candidates)
    }

    /// Adds the queries of [`CandidateFilter::of`] that do not depend on the state of the index to a batch.
    pub(super) fn prefetch(
        batch: &mut QueryBatch<'_>,
        lane: LaneKey,
        filter: &Filter,
        cache: &ProjectCache,
    ) -> Result<(), Failure> {
        if let AsOf::Current(now) = filter.as_of
            && is_plain(filter, now, &filter.kinds)
            && (filter.kinds.is_empty() || cache.is_used(lane))
        {
            batch.add(RETIRED_BLOCKS, lane.values())?;
            if lane.lane == Lane::Memory {
                batch.add(&expired(), params![lane.project, micros(now)])?;
            }
            return Ok(());
        }
        match lane.lane {
            Lane::Memory => record_query::prefetch_ordinals(batch, lane.project, filter)?,
            Lane::Archive if can_be_turn(filter) => {
                let (sql, values) = turns_query(lane.project, filter);
                let values: Vec<&dyn ToSql> = values.iter().map(Box::as_ref).collect();
                batch.add(&sql, &values[..])?;
            }
            Lane::Archive => {}
        }
        Ok(())
    }

    /// Returns true if the search may return this ordinal.
    pub(super) fn contains(&self, ordinal: u32) -> bool {
        let byte = self.bits.get(ordinal as usize / 8).copied().unwrap_or(0);
        (byte & (1 << (ordinal % 8)) != 0) != self.is_negated
    }

    /// Returns the number of candidates.
    pub(super) fn count(&self, index: &IndexState) -> u64 {
        let set: u64 = self
            .bits
            .iter()
            .map(|byte| u64::from(byte.count_ones()))
            .sum();
        if self.is_negated {
            index.totals.texts.saturating_sub(set)
        } else {
            set
        }
    }

    fn set(&mut self, ordinal: u32) {
        if let Some(byte) = self.bits.get_mut(ordinal as usize / 8) {
            *byte |= 1 << (ordinal % 8);
        }
    }

    fn set_retired(&mut self, connection: Connection<'_>, lane: LaneKey) -> Result<(), Failure> {
        let mut statement = connection.prepare_cached(RETIRED_BLOCKS)?;
        let mut rows = statement.query(lane.values())?;
        while let Some(row) = rows.next()? {
            let from = row.get::<u32>(0)? as usize * (GONE_ORDINALS as usize / 8);
            let bits = row.get_ref(1)?.as_blob().unwrap_or(&[]);
            for (byte, gone) in self.bits.iter_mut().skip(from).zip(bits) {
                *byte |= gone;
            }
        }
        Ok(())
    }

    fn set_expired(
        &mut self,
        connection: Connection<'_>,
        project: i64,
        now: Timestamp,
    ) -> Result<(), Failure> {
        self.set_all(connection, &expired(), params![project, micros(now)])
    }

    fn set_turns(
        &mut self,
        connection: Connection<'_>,
        project: i64,
        filter: &Filter,
    ) -> Result<(), Failure> {
        let (sql, values) = turns_query(project, filter);
        let values: Vec<&dyn ToSql> = values.iter().map(Box::as_ref).collect();
        self.set_all(connection, &sql, &values)
    }

    fn set_all(
        &mut self,
        connection: Connection<'_>,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> Result<(), Failure> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            self.set(row.get(0)?);
        }
        Ok(())
    }
}

/// Builds the query for the ordinals of turns that match `filter`.
fn turns_query(project: i64, filter: &Filter) -> (String, Vec<Box<dyn ToSql>>) {
    let mut sql = String::from(
        "SELECT m.ordinal FROM messages m JOIN sessions s ON s.project = m.project AND s.id = m.session \
             WHERE m.project = ?1 AND m.ordinal IS NOT NULL",
    );
    let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(project)];
    let then = match filter.as_of {
        AsOf::Current(_) => {
            sql.push_str(" AND m.retired_at IS NULL");
            None
        }
        AsOf::Past(then) => Some(micros(then)),
        AsOf::Ever => None,
    };
    let scope = &filter.scope;
    let names = [
        ("m.session = ", &scope.session),
        ("s.task = ", &scope.task),
        ("s.agent = ", &scope.agent),
    ];
    let times = [
        ("m.at >= ", filter.recorded_from.map(micros)),
        ("m.at < ", filter.recorded_before.map(micros)),
        ("m.at <= ", then),
    ];
    let mut add = |condition: &str, value: Box<dyn ToSql>| {
        values.push(value);
        sql.push_str(&format!(" AND {condition}?{}", values.len()));
    };
    for (condition, name) in names {
        if let Some(name) = name {
            add(condition, Box::new(name.clone()));
        }
    }
    for (condition, time) in times {
        if let Some(time) = time {
            add(condition, Box::new(time));
        }
    }
    if then.is_some() {
        let then = values.len();
        sql.push_str(&format!(
            " AND (m.retired_at IS NULL OR m.retired_at > ?{then})"
        ));
    }
    (sql, values)
}

/// Statement that reads the ordinals of current records that have expired.
fn expired() -> String {
    let kinds = Kind::ALL.map(|kind| format!("'{kind}'")).join(", ");
    format!(
        "SELECT ordinal FROM records INDEXED BY current_by_expiry \
         WHERE project = ?1 AND kind IN ({kinds}) AND expires_at <= ?2 \
         AND retired_at IS NULL AND expires_at IS NOT NULL AND ordinal IS NOT NULL"
    )
}

/// Returns a bitmap of the texts of other kinds, empty without a kind filter; `None` if their kinds are not cached.
fn bitmap_of_other_kinds(
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    candidates: &[Kind],
    cache: &ProjectCache,
) -> Result<Option<Vec<u8>>, Failure> {
    let texts = index.texts() as usize;
    if candidates.is_empty() {
        return Ok(Some(vec![0; texts / 8 + 1]));
    }
    if lane.lane == Lane::Archive {
        // Turns have no kind.
        return Ok(Some(vec![u8::MAX; texts / 8 + 1]));
    }
    mark_other_kinds(cache, connection, lane, index, candidates)
}

/// Returns true if the filter only asks for current records of these kinds.
fn is_plain(filter: &Filter, now: Timestamp, kinds: &[Kind]) -> bool {
    let bare = Filter {
        as_of: filter.as_of,
        order: filter.order,
        limit: filter.limit,
        after: filter.after,
        ..Filter::current(kinds, now)
    };
    *filter == bare
}

/// Returns true if turns of conversations can match the filter.
fn can_be_turn(filter: &Filter) -> bool {
    let scope = Scope {
        session: None,
        task: None,
        agent: None,
        ..filter.scope.clone()
    };
    let of_records = Filter {
        scope,
        recorded_from: None,
        recorded_before: None,
        ..filter.clone()
    };
    is_plain(&of_records, Timestamp::UNIX_EPOCH, &[])
}
