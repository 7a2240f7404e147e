//! Chains of records, validity gaps, and counts of current records.

use super::database_files::wal_check::DatabaseStamp;
use super::error_conversion::Failure;
use super::index::ProjectCache;
use super::record_lookup;
use super::row_codec::{self, COLUMNS, micros};
use crate::KindCounts;
use heirloom_model::{Kind, ProjectName, Record, RecordId, Timestamp, ValidityGap, clock, limits};
use rusqlite::{Connection, params};

/// Returns all records that are connected with `id` as predecessors or successors, oldest first.
pub(super) fn history(
    connection: &Connection,
    project: &ProjectName,
    id: RecordId,
) -> Result<Vec<Record>, Failure> {
    record_lookup::get(connection, project, id)?;
    let sql = format!(
        "WITH RECURSIVE here (project) AS (SELECT id FROM projects WHERE name = ?1), \
         chain (id) AS (\
           SELECT ?2 \
           UNION SELECT r.replaced_by FROM chain CROSS JOIN records r \
             ON r.project = (SELECT project FROM here) AND r.id = chain.id \
             WHERE r.replaced_by IS NOT NULL \
           UNION SELECT r.id FROM chain CROSS JOIN records r \
             ON r.project = (SELECT project FROM here) AND r.replaced_by = chain.id) \
         SELECT {COLUMNS} FROM records \
         WHERE project = (SELECT project FROM here) AND id IN (SELECT id FROM chain) \
         ORDER BY id LIMIT ?3"
    );
    let values = params![project.as_str(), id.as_bytes(), limits::FIND_MAX];
    row_codec::select(connection, project, &sql, values)
}

/// Returns the validity gaps of these records, in order of id and time.
pub(super) fn validity_gaps(
    connection: &Connection,
    project: &ProjectName,
    ids: &[RecordId],
) -> Result<Vec<(RecordId, ValidityGap)>, Failure> {
    let sql = "SELECT id, retired_at, restored_at FROM lapses \
         WHERE project = (SELECT id FROM projects WHERE name = ?1) \
         AND id IN (SELECT unhex(value) FROM json_each(?2)) ORDER BY id, retired_at, restored_at";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![project.as_str(), row_codec::id_list(ids)];
    let lapses = statement.query_map(values, |row| {
        let lapse = ValidityGap {
            retired_at: clock::from_micros(row.get(1)?),
            restored_at: clock::from_micros(row.get(2)?),
        };
        Ok((RecordId::from_bytes(row.get(0)?), lapse))
    })?;
    Ok(lapses.collect::<Result<_, _>>()?)
}

/// Returns the number of current records of each kind at `now`. `stamp` is that of the database before the query.
pub(super) fn counts(
    connection: &Connection,
    project: &ProjectName,
    cache: &ProjectCache,
    stamp: Option<DatabaseStamp>,
    now: Timestamp,
) -> Result<KindCounts, Failure> {
    let Some(project) = row_codec::project(connection, project)? else {
        return Ok(KindCounts::new());
    };
    let all = cache.count_unretired(connection, project, stamp)?;
    subtract_expired(connection, project, all, now)
}

/// Subtracts the records that have expired at `now`, which have a small index of their own; kinds without records are
/// omitted.
fn subtract_expired(
    connection: &Connection,
    project: i64,
    all: Vec<(Kind, u64)>,
    now: Timestamp,
) -> Result<KindCounts, Failure> {
    let sql = "SELECT count(*) FROM records INDEXED BY current_by_expiry \
         WHERE project = ?1 AND kind = ?2 AND retired_at IS NULL AND expires_at <= ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let mut counts = KindCounts::new();
    for (kind, all) in all.into_iter().filter(|(_, all)| *all > 0) {
        let values = params![project, kind.as_str(), micros(now)];
        let expired: u64 = statement.query_row(values, |row| row.get(0))?;
        if all > expired {
            counts.push((kind, all - expired));
        }
    }
    Ok(counts)
}
