//! Chains of records, validity gaps, and counts of current records.

use super::index::{ContentStamp, ProjectCache};
use super::record_lookup;
use super::row_codec::{self, COLUMNS, micros};
use crate::KindCounts;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_model::{Kind, ProjectName, Record, RecordId, Timestamp, ValidityGap, clock, limits};
use rusqlite::params;

/// Returns all records that are connected with `id` as predecessors or successors, oldest first.
pub(crate) fn history(
    connection: Connection<'_>,
    project: &ProjectName,
    id: RecordId,
) -> Result<Vec<Record>, Failure> {
    record_lookup::get(connection, project, id)?;
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(Vec::new());
    };
    // Each step reads the successor of a record and its predecessors. PostgreSQL allows one recursive part only.
    let chain = if connection.is_postgres() {
        "SELECT CAST(?2 AS uuid) UNION SELECT n.id FROM chain CROSS JOIN LATERAL (\
           SELECT r.replaced_by AS id FROM records r WHERE r.project = ?1 AND r.id = chain.id \
             AND r.replaced_by IS NOT NULL \
           UNION ALL SELECT r.id FROM records r WHERE r.project = ?1 AND r.replaced_by = chain.id) n"
    } else {
        "SELECT ?2 \
         UNION SELECT r.replaced_by FROM chain CROSS JOIN records r \
           ON r.project = ?1 AND r.id = chain.id WHERE r.replaced_by IS NOT NULL \
         UNION SELECT r.id FROM chain CROSS JOIN records r \
           ON r.project = ?1 AND r.replaced_by = chain.id"
    };
    let sql = format!(
        "WITH RECURSIVE chain (id) AS ({chain}) \
         SELECT {COLUMNS} FROM records WHERE project = ?1 AND id IN (SELECT id FROM chain) \
         ORDER BY id LIMIT ?3"
    );
    let values = params![number, id.as_bytes(), limits::FIND_MAX];
    row_codec::select(connection, project, &sql, values)
}

/// Returns the validity gaps of these records, in order of id and time.
pub(crate) fn validity_gaps(
    connection: Connection<'_>,
    project: &ProjectName,
    ids: &[RecordId],
) -> Result<Vec<(RecordId, ValidityGap)>, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(Vec::new());
    };
    let sql = "SELECT id, retired_at, restored_at FROM lapses WHERE project = ?1 AND id IN (SELECT unhex(value) FROM json_each(?2)) ORDER BY id, retired_at, restored_at";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![number, row_codec::id_list(ids)];
    Ok(statement.query_map(values, |row| {
        let lapse = ValidityGap {
            retired_at: clock::from_micros(row.get(1)?),
            restored_at: clock::from_micros(row.get(2)?),
        };
        Ok((RecordId::from_bytes(row.get(0)?), lapse))
    })?)
}

/// Returns the number of current records of each kind at `now`. `stamp` is that of the database before the query.
pub(crate) fn counts(
    connection: Connection<'_>,
    project: &ProjectName,
    cache: &ProjectCache,
    stamp: Option<ContentStamp>,
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
    connection: Connection<'_>,
    project: i64,
    all: Vec<(Kind, u64)>,
    now: Timestamp,
) -> Result<KindCounts, Failure> {
    let sql = "SELECT count(*) FROM records INDEXED BY current_by_expiry \
         WHERE project = ?1 AND kind = ?2 AND retired_at IS NULL AND expires_at <= ?3";
    connection.prefetch(|batch| {
        for (kind, _) in all.iter().filter(|(_, all)| *all > 0) {
            batch.add(sql, params![project, kind.as_str(), micros(now)])?;
        }
        Ok(())
    })?;
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
