//! Chains of records, and what is known of a project as a whole.

use super::codec::{self, COLUMNS, micros};
use super::failure::Failure;
use crate::Counts;
use heirloom_model::{Kind, Lapse, ProjectName, Record, RecordId, Timestamp, clock, limits};
use rusqlite::{Connection, params};

/// Everything that is connected with `id` by "took the place of", oldest first.
pub(super) fn history(
    connection: &Connection,
    project: &ProjectName,
    id: RecordId,
) -> Result<Vec<Record>, Failure> {
    super::apply::get(connection, project, id)?;
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
    codec::select(connection, project, &sql, values)
}

/// The times during which these records were not current, in order of id and time.
pub(super) fn lapses(
    connection: &Connection,
    project: &ProjectName,
    ids: &[RecordId],
) -> Result<Vec<(RecordId, Lapse)>, Failure> {
    let sql = "SELECT id, retired_at, restored_at FROM lapses \
         WHERE project = (SELECT id FROM projects WHERE name = ?1) \
         AND id IN (SELECT unhex(value) FROM json_each(?2)) ORDER BY id, retired_at, restored_at";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![project.as_str(), codec::id_list(ids)];
    let lapses = statement.query_map(values, |row| {
        let lapse = Lapse {
            retired_at: clock::from_micros(row.get(1)?),
            restored_at: clock::from_micros(row.get(2)?),
        };
        Ok((RecordId::from_bytes(row.get(0)?), lapse))
    })?;
    Ok(lapses.collect::<Result<_, _>>()?)
}

/// The ids that begin with `prefix`, oldest first.
pub(super) fn ids_with_prefix(
    connection: &Connection,
    project: &ProjectName,
    prefix: &str,
    limit: usize,
) -> Result<Vec<RecordId>, Failure> {
    let Some((first, last)) = range_of_prefix(prefix) else {
        return Ok(Vec::new());
    };
    let sql = "SELECT id FROM records INDEXED BY records_by_id \
         WHERE project = (SELECT id FROM projects WHERE name = ?1) AND id BETWEEN ?2 AND ?3 \
         ORDER BY id LIMIT ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![project.as_str(), first, last, limit];
    let ids = statement.query_map(values, |row| row.get(0).map(RecordId::from_bytes))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// The smallest and the largest id that begin with `prefix`; none for what no id begins with.
fn range_of_prefix(prefix: &str) -> Option<([u8; 16], [u8; 16])> {
    let digits = prefix.chars().filter(|c| *c != '-');
    let digits: Option<Vec<u32>> = digits.map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() <= 32)?;
    let filled = |rest: u32| {
        let mut bytes = [0_u8; 16];
        for (i, byte) in bytes.iter_mut().enumerate() {
            let digit = |i: usize| digits.get(i).copied().unwrap_or(rest);
            *byte = u8::try_from(digit(2 * i) * 16 + digit(2 * i + 1)).unwrap_or(u8::MAX);
        }
        bytes
    };
    Some((filled(0), filled(15)))
}

/// How many records of each kind are not retired. Counts index entries: reading the rows would cost twenty times as
/// much.
pub(super) fn unretired(
    connection: &Connection,
    project: &ProjectName,
) -> Result<Vec<(Kind, u64)>, Failure> {
    let Some(project) = codec::project(connection, project)? else {
        return Ok(Vec::new());
    };
    let sql = "SELECT count(*) FROM records INDEXED BY current_by_kind \
         WHERE project = ?1 AND kind = ?2 AND retired_at IS NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let mut counts = Vec::new();
    for kind in Kind::ALL {
        let values = params![project, kind.as_str()];
        counts.push((kind, statement.query_row(values, |row| row.get(0))?));
    }
    Ok(counts)
}

/// The same without those that have expired at `now`, which have a small index of their own; kinds without any are left
/// out.
pub(super) fn less_expired(
    connection: &Connection,
    project: &ProjectName,
    all: Vec<(Kind, u64)>,
    now: Timestamp,
) -> Result<Counts, Failure> {
    let Some(project) = codec::project(connection, project)? else {
        return Ok(Counts::new());
    };
    let sql = "SELECT count(*) FROM records INDEXED BY current_by_expiry \
         WHERE project = ?1 AND kind = ?2 AND retired_at IS NULL AND expires_at <= ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let mut counts = Counts::new();
    for (kind, all) in all.into_iter().filter(|(_, all)| *all > 0) {
        let values = params![project, kind.as_str(), micros(now)];
        let expired: u64 = statement.query_row(values, |row| row.get(0))?;
        if all > expired {
            counts.push((kind, all - expired));
        }
    }
    Ok(counts)
}

/// Every project, by name.
pub(super) fn projects(connection: &Connection) -> Result<Vec<ProjectName>, Failure> {
    let mut statement = connection.prepare_cached("SELECT name FROM projects ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let name = ProjectName::new(&name).map_err(|bad| Failure::Damaged(bad.to_string()))?;
        found.push(name);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_range() {
        let (first, last) = range_of_prefix("01-8").unwrap();
        assert_eq!(first[..3], [0x01, 0x80, 0]);
        assert_eq!(last[..3], [0x01, 0x8f, 0xff]);
        assert_eq!(range_of_prefix(""), Some(([0; 16], [0xff; 16])));
        assert_eq!(range_of_prefix("01x"), None);
        assert_eq!(range_of_prefix(&"0".repeat(33)), None);
        assert_eq!(range_of_prefix(&"é".repeat(4)), None);
    }
}
