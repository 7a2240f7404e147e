//! Lookups that need no query planner: records and ids, counts by kind, and names of projects.

use super::row_codec::{self, COLUMNS};
use crate::StoreError;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_model::{Kind, ProjectName, Record, RecordId};
use rusqlite::params;

/// Reads the record `id`, current or not.
pub(crate) fn get(
    connection: Connection<'_>,
    project: &ProjectName,
    id: RecordId,
) -> Result<Record, Failure> {
    let found = find(connection, project, id)?;
    found.ok_or_else(|| {
        Failure::Store(StoreError::NotFound {
            what: "record",
            id: id.to_string(),
            project: project.to_string(),
        })
    })
}

/// Reads the record `id`, current or not; `None` if it does not exist.
pub(crate) fn find(
    connection: Connection<'_>,
    project: &ProjectName,
    id: RecordId,
) -> Result<Option<Record>, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(None);
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM records INDEXED BY records_by_id WHERE project = ?1 AND id = ?2"
    );
    let values = params![number, id.as_bytes()];
    Ok(row_codec::select(connection, project, &sql, values)?.pop())
}

/// Returns the ids that begin with `prefix`, oldest first.
pub(crate) fn ids_with_prefix(
    connection: Connection<'_>,
    project: &ProjectName,
    prefix: &str,
    limit: usize,
) -> Result<Vec<RecordId>, Failure> {
    if let Some(end) = prefix.strip_prefix('…') {
        return ids_with_end(connection, project, end, limit);
    }
    let Some((first, last)) = range_of_prefix(prefix) else {
        return Ok(Vec::new());
    };
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(Vec::new());
    };
    let sql = "SELECT id FROM records INDEXED BY records_by_id \
         WHERE project = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id LIMIT ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![number, first, last, limit];
    Ok(statement.query_map(values, |row| row.get(0).map(RecordId::from_bytes))?)
}

/// Scans all ids of the project, because their ends have no index; the database compares the whole bytes of the end.
fn ids_with_end(
    connection: Connection<'_>,
    project: &ProjectName,
    end: &str,
    limit: usize,
) -> Result<Vec<RecordId>, Failure> {
    let end: String = end.chars().filter(|c| *c != '-').collect();
    let is_hex = end.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || end.is_empty() || end.len() > 32 {
        return Ok(Vec::new());
    }
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(Vec::new());
    };
    let (end, mut found) = (end.to_lowercase(), Vec::new());
    let bytes = bytes_of_end(&end);
    let condition = match bytes.len() {
        0 => "?2 IS NOT NULL".to_owned(),
        count => format!("substr(id, -{count}) = ?2"),
    };
    let sql = format!(
        "SELECT id FROM records INDEXED BY records_by_id \
         WHERE project = ?1 AND {condition} ORDER BY id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![number, bytes])?;
    while let Some(row) = rows.next()?.filter(|_| found.len() < limit) {
        let id = RecordId::from_bytes(row.get(0)?);
        if id.to_string().replace('-', "").ends_with(&end) {
            found.push(id);
        }
    }
    Ok(found)
}

/// Returns the bytes of the last pairs of digits.
fn bytes_of_end(end: &str) -> Vec<u8> {
    let digits: Vec<u8> = end
        .chars()
        .filter_map(|c| c.to_digit(16))
        .filter_map(|digit| u8::try_from(digit).ok())
        .collect();
    let pairs = digits.rchunks_exact(2).rev();
    pairs
        .map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit))
        .collect()
}

/// Returns the smallest and the largest id with this prefix; `None` if no id can have it.
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

/// Statement that counts the unretired records of a kind.
const UNRETIRED: &str = "SELECT count(*) FROM records INDEXED BY current_by_kind \
     WHERE project = ?1 AND kind = ?2 AND retired_at IS NULL";

/// Counts the unretired records of each kind from the index: reading the rows would take twenty times as long.
pub(crate) fn count_unretired(
    connection: Connection<'_>,
    project: i64,
) -> Result<Vec<(Kind, u64)>, Failure> {
    connection.prefetch(|batch| {
        for kind in Kind::ALL {
            batch.add(UNRETIRED, params![project, kind.as_str()])?;
        }
        Ok(())
    })?;
    let mut statement = connection.prepare_cached(UNRETIRED)?;
    let mut counts = Vec::new();
    for kind in Kind::ALL {
        let values = params![project, kind.as_str()];
        counts.push((kind, statement.query_row(values, |row| row.get(0))?));
    }
    Ok(counts)
}

/// Returns the names of all projects, sorted.
pub(crate) fn projects(connection: Connection<'_>) -> Result<Vec<ProjectName>, Failure> {
    let mut statement = connection.prepare_cached("SELECT name FROM projects ORDER BY name")?;
    let mut rows = statement.query(params![])?;
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
    fn bytes_of_end_are_whole_bytes() {
        assert_eq!(bytes_of_end("099a8057"), [0x09, 0x9a, 0x80, 0x57]);
        assert_eq!(bytes_of_end("a8057"), [0x80, 0x57]);
        assert_eq!(bytes_of_end("7"), [0_u8; 0]);
    }

    #[test]
    fn id_prefix_becomes_range() {
        let (first, last) = range_of_prefix("01-8").unwrap();
        assert_eq!(first[..3], [0x01, 0x80, 0]);
        assert_eq!(last[..3], [0x01, 0x8f, 0xff]);
        assert_eq!(range_of_prefix(""), Some(([0; 16], [0xff; 16])));
        assert_eq!(range_of_prefix("01x"), None);
        assert_eq!(range_of_prefix(&"0".repeat(33)), None);
        assert_eq!(range_of_prefix(&"é".repeat(4)), None);
    }
}
