//! Consistency check of the index against the records and messages.

use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_search::index::posting_blocks::Block;
use rusqlite::params;

/// Checks as a finding and a query that counts the inconsistent rows.
const QUESTIONS: [(&str, &str); 5] = [
    (
        "records are not in it",
        "SELECT count(*) FROM records r WHERE NOT EXISTS (SELECT 1 FROM ordinals o \
         WHERE o.project = r.project AND o.ordinal = r.ordinal AND o.id = r.id AND o.lane = 0)",
    ),
    (
        "messages are not in it",
        "SELECT count(*) FROM messages m WHERE NOT EXISTS (SELECT 1 FROM ordinals o \
         WHERE o.project = m.project AND o.ordinal = m.ordinal AND o.id = m.id AND o.lane = 1)",
    ),
    (
        "ordinals have no text",
        "SELECT abs((SELECT count(*) FROM ordinals) - (SELECT count(*) FROM records) \
         - (SELECT count(*) FROM messages))",
    ),
    (
        "lanes have wrong totals",
        "SELECT count(*) FROM index_totals t WHERE t.texts <> \
         (SELECT count(*) FROM ordinals o WHERE o.project = t.project AND o.lane = t.lane)",
    ),
    (
        "lanes have a wrong tail length",
        "SELECT count(*) FROM index_totals t WHERE t.texts - t.merged <> \
         (SELECT count(*) FROM tail WHERE tail.project = t.project AND tail.lane = t.lane)",
    ),
];

/// Checks the index and returns the findings; none if it is sound.
pub(crate) fn check(connection: Connection<'_>) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    for (problem, sql) in QUESTIONS {
        let count: i64 = connection.query_row(sql, params![], |row| row.get(0))?;
        if count > 0 {
            findings.push(format!("the index: {count} {problem}"));
        }
    }
    findings.extend(marks(connection)?);
    findings.extend(blocks(connection)?);
    findings.extend(super::vector_sidecar::check(connection)?);
    Ok(findings)
}

/// Checks that exactly the retired texts are marked.
fn marks(connection: Connection<'_>) -> Result<Option<String>, Failure> {
    let mut marked = 0_u64;
    let mut statement = connection.prepare_cached("SELECT bits FROM gone")?;
    let mut rows = statement.query(params![])?;
    while let Some(row) = rows.next()? {
        let bits = row.get_ref(0)?.as_blob().unwrap_or(&[]);
        marked += bits
            .iter()
            .map(|byte| u64::from(byte.count_ones()))
            .sum::<u64>();
    }
    let sql = "SELECT (SELECT count(*) FROM records WHERE retired_at IS NOT NULL) \
         + (SELECT count(*) FROM messages WHERE retired_at IS NOT NULL)";
    let retired: u64 = connection.query_row(sql, params![], |row| row.get(0))?;
    Ok((marked != retired)
        .then(|| format!("the index: {marked} are marked as retired, {retired} are")))
}

/// Project, lane and term whose posting blocks follow each other.
type BlocksOfTerm = (i64, i64, i64);

/// Checks that every posting block can be read and continues the one before it.
fn blocks(connection: Connection<'_>) -> Result<Option<String>, Failure> {
    let sql =
        "SELECT project, lane, term, block, data FROM postings ORDER BY project, lane, term, block";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![])?;
    let mut bad = 0_u64;
    let mut before: Option<(BlocksOfTerm, i64, u32, u32)> = None;
    while let Some(row) = rows.next()? {
        let key = (row.get(0)?, row.get(1)?, row.get(2)?);
        let number: i64 = row.get(3)?;
        let bytes = row.get_ref(4)?.as_blob().unwrap_or(&[]);
        let Some(block) = Block::read(bytes) else {
            bad += 1;
            before = None;
            continue;
        };
        let (expected, df, last) = match before {
            Some((known, number, df, last)) if known == key => (number + 1, df, Some(last)),
            Some(_) | None => (0, 0, None),
        };
        let count = u32::try_from(block.len()).unwrap_or(u32::MAX);
        let is_next = number == expected
            && block.df() == df.saturating_add(count)
            && last.is_none_or(|last| block.first() > last)
            && block.last() >= block.first();
        bad += u64::from(!is_next);
        before = Some((key, number, block.df(), block.last()));
    }
    Ok((bad > 0).then(|| {
        format!("the index: {bad} blocks cannot be read or do not continue the previous one")
    }))
}
