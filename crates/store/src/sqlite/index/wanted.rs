//! Which ordinals a search may find: filters apply inside the index, never behind a limit.

use super::super::codec::micros;
use super::super::failure::Failure;
use super::super::find;
use super::kinds::Kinds;
use super::{GONE_ORDINALS, Index};
use crate::{Filter, When};
use heirloom_model::{Kind, ProjectName, Scope, Timestamp};
use rusqlite::{Connection, ToSql, params};
use std::sync::{Mutex, PoisonError};

/// The ordinals that may be found.
pub(super) struct Wanted {
    /// A bit an ordinal.
    bits: Vec<u8>,
    /// Whether the bits say what is left out.
    is_without: bool,
}

impl Wanted {
    /// What `filter` wants.
    pub(super) fn of(
        connection: &Connection,
        project: &ProjectName,
        number: i64,
        index: &Index,
        filter: &Filter,
        kinds: &Mutex<Kinds>,
    ) -> Result<Self, Failure> {
        let mut wanted = Self {
            bits: vec![0; index.texts() as usize / 8 + 1],
            is_without: false,
        };
        if let When::Current(now) = filter.when
            && is_plain(filter, now, &filter.kinds)
            && let Some(others) = others(connection, number, index, &filter.kinds, kinds)?
        {
            wanted.is_without = true;
            wanted.bits = others;
            wanted.gone(connection, number)?;
            wanted.expired(connection, number, now)?;
            return Ok(wanted);
        }
        for ordinal in find::ordinals(connection, project, filter)? {
            wanted.set(ordinal);
        }
        if wants_turns(filter) {
            wanted.turns(connection, number, filter)?;
        }
        Ok(wanted)
    }

    /// Whether this ordinal may be found.
    pub(super) fn has(&self, ordinal: u32) -> bool {
        let byte = self.bits.get(ordinal as usize / 8).copied().unwrap_or(0);
        (byte & (1 << (ordinal % 8)) != 0) != self.is_without
    }

    /// How many may be found.
    pub(super) fn count(&self, index: &Index) -> u64 {
        let set: u64 = self
            .bits
            .iter()
            .map(|byte| u64::from(byte.count_ones()))
            .sum();
        if self.is_without {
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

    fn gone(&mut self, connection: &Connection, project: i64) -> Result<(), Failure> {
        let mut statement =
            connection.prepare_cached("SELECT block, bits FROM gone WHERE project = ?1")?;
        let mut rows = statement.query([project])?;
        while let Some(row) = rows.next()? {
            let from = row.get::<_, u32>(0)? as usize * (GONE_ORDINALS as usize / 8);
            let bits = row.get_ref(1)?.as_blob().unwrap_or(&[]);
            for (byte, gone) in self.bits.iter_mut().skip(from).zip(bits) {
                *byte |= gone;
            }
        }
        Ok(())
    }

    fn expired(
        &mut self,
        connection: &Connection,
        project: i64,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let kinds = heirloom_model::Kind::ALL
            .map(|kind| format!("'{kind}'"))
            .join(", ");
        let sql = format!(
            "SELECT ordinal FROM records INDEXED BY current_by_expiry \
             WHERE project = ?1 AND kind IN ({kinds}) AND expires_at <= ?2 \
             AND retired_at IS NULL AND expires_at IS NOT NULL AND ordinal IS NOT NULL"
        );
        self.set_all(connection, &sql, params![project, micros(now)])
    }

    fn turns(
        &mut self,
        connection: &Connection,
        project: i64,
        filter: &Filter,
    ) -> Result<(), Failure> {
        let mut sql = String::from(
            "SELECT m.ordinal FROM messages m JOIN sessions s ON s.project = m.project AND s.id = m.session \
             WHERE m.project = ?1 AND m.ordinal IS NOT NULL AND (?2 IS NULL OR m.session = ?2) \
             AND (?3 IS NULL OR s.task = ?3) AND (?4 IS NULL OR s.agent = ?4)",
        );
        let then = match filter.when {
            When::Current(now) => {
                sql.push_str(" AND m.retired_at IS NULL AND ?5 IS NOT NULL");
                micros(now)
            }
            When::AsOf(then) => {
                sql.push_str(" AND m.at <= ?5 AND (m.retired_at IS NULL OR m.retired_at > ?5)");
                micros(then)
            }
            When::Ever => {
                sql.push_str(" AND ?5 = 0");
                0
            }
        };
        sql.push_str(" AND (?6 IS NULL OR m.at >= ?6) AND (?7 IS NULL OR m.at < ?7)");
        let scope = &filter.scope;
        let from = filter.recorded_from.map(micros);
        let before = filter.recorded_before.map(micros);
        let values = params![
            project,
            scope.session,
            scope.task,
            scope.agent,
            then,
            from,
            before
        ];
        self.set_all(connection, &sql, values)
    }

    fn set_all(
        &mut self,
        connection: &Connection,
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

/// A bit for each text that is not of these kinds, where all are asked for or a process remembers which are which.
fn others(
    connection: &Connection,
    project: i64,
    index: &Index,
    wanted: &[Kind],
    kinds: &Mutex<Kinds>,
) -> Result<Option<Vec<u8>>, Failure> {
    if wanted.is_empty() {
        return Ok(Some(vec![0; index.texts() as usize / 8 + 1]));
    }
    let mut kinds = kinds.lock().unwrap_or_else(PoisonError::into_inner);
    kinds.others(connection, project, index, wanted)
}

/// Whether a filter asks for nothing but what is current, of these kinds.
fn is_plain(filter: &Filter, now: Timestamp, kinds: &[Kind]) -> bool {
    let bare = Filter {
        when: filter.when,
        order: filter.order,
        limit: filter.limit,
        after: filter.after,
        ..Filter::current(kinds, now)
    };
    *filter == bare
}

/// Whether turns of conversations may be what is asked for.
fn wants_turns(filter: &Filter) -> bool {
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
