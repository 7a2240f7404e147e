//! Receipts of contexts, and how often a record was told.

use super::apply::{Writer, answer};
use super::codec::{self, micros};
use super::failure::Failure;
use crate::receipts::{Newest, Receipt, Told, Use};
use crate::{Applied, Verdict};
use heirloom_model::record::Attrs;
use heirloom_model::{ProjectName, RecordId, clock, limits};
use rusqlite::{Connection, Row, params};
use std::collections::{BTreeMap, BTreeSet};

/// Receipts after which the inclusions of those that are gone are folded.
const FOLDED_EVERY: i64 = 50;

impl Writer<'_> {
    /// Keeps a receipt in the place of the oldest, and an inclusion for each of its records that is here.
    pub(super) fn keep(&mut self, receipt: &Receipt) -> Result<Applied, Failure> {
        let project = self.number_at(receipt.at)?;
        let sql = "SELECT ifnull(max(number) + 1, 0) FROM receipts WHERE project = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let number: i64 = statement.query_row([project], |row| row.get(0))?;
        let slots = i64::try_from(limits::RECEIPTS_KEPT).unwrap_or(i64::MAX);
        let sql = "INSERT OR REPLACE INTO receipts (project, slot, number, id, at, session, body) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.connection.prepare_cached(sql)?.execute(params![
            project,
            number % slots,
            number,
            receipt.id.as_bytes(),
            micros(receipt.at),
            receipt.session,
            serde_json::Value::Object(receipt.body.clone()).to_string(),
        ])?;
        let sql = "INSERT OR IGNORE INTO inclusions (project, record, at, receipt, session, iteration) \
             SELECT project, id, ?3, ?4, ?5, ?6 FROM records WHERE project = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        for record in &receipt.records {
            statement.execute(params![
                project,
                record.as_bytes(),
                micros(receipt.at),
                receipt.id.as_bytes(),
                receipt.session,
                receipt.iteration,
            ])?;
        }
        if number % FOLDED_EVERY == 0 {
            fold(self.connection, project)?;
        }
        Ok(answer(receipt.id, Verdict::Created, None))
    }
}

/// Makes one row of a record's inclusions whose receipts are gone, so that there are as many rows as receipts and
/// records allow, however often something is told. Its receipt is empty, and its iteration is how many there were.
fn fold(connection: &Connection, project: i64) -> Result<(), Failure> {
    const OLD: &str = "project = ?1 AND receipt <> x'' AND receipt NOT IN \
         (SELECT id FROM receipts WHERE project = ?1)";
    let sql =
        format!("SELECT record, count(*), max(at) FROM inclusions WHERE {OLD} GROUP BY record");
    let mut statement = connection.prepare_cached(&sql)?;
    let old = statement.query_map([project], |row| {
        Ok((row.get::<_, [u8; 16]>(0)?, row.get(1)?, row.get(2)?))
    })?;
    let old: Vec<([u8; 16], i64, i64)> = old.collect::<Result<_, _>>()?;
    let sql = "UPDATE inclusions SET iteration = iteration + ?3, at = max(at, ?4) \
         WHERE project = ?1 AND record = ?2 AND receipt = x''";
    let mut more = connection.prepare_cached(sql)?;
    let sql = "INSERT INTO inclusions (project, record, at, receipt, iteration) VALUES (?1, ?2, ?4, x'', ?3)";
    let mut first = connection.prepare_cached(sql)?;
    for (record, times, last) in old {
        let values = params![project, record, times, last];
        if more.execute(values)? == 0 {
            first.execute(values)?;
        }
    }
    let sql = format!("DELETE FROM inclusions WHERE {OLD}");
    connection.prepare_cached(&sql)?.execute([project])?;
    Ok(())
}

/// The newest receipts, and how often these records were told.
pub(super) fn told(
    connection: &Connection,
    project: &ProjectName,
    newest: Newest,
    records: &[RecordId],
) -> Result<Told, Failure> {
    let Some(project) = codec::project(connection, project)? else {
        return Ok(Told::default());
    };
    let mut told = Told::default();
    if newest.most() > 0 {
        let body = match newest {
            Newest::Whole(_) => "body",
            // What is no JSON is told of by whoever reads it.
            Newest::Heads(_) => {
                "CASE WHEN json_valid(body) THEN json_remove(body, '$.sections') ELSE body END"
            }
        };
        let sql = format!(
            "SELECT id, at, session, {body} FROM receipts WHERE project = ?1 \
             ORDER BY number DESC LIMIT ?2"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![project, newest.most()])?;
        while let Some(row) = rows.next()? {
            told.receipts.push(receipt(row)?);
        }
    }
    if let Newest::Heads(_) = newest {
        let sql =
            "SELECT record FROM inclusions WHERE project = ?1 AND receipt = ?2 ORDER BY record";
        let mut statement = connection.prepare_cached(sql)?;
        for receipt in &mut told.receipts {
            let id = receipt.id.as_bytes();
            let records = statement.query_map(params![project, id], |row| row.get(0))?;
            let records: Vec<[u8; 16]> = records.collect::<Result<_, _>>()?;
            receipt.records = records.into_iter().map(RecordId::from_bytes).collect();
        }
    }
    told.uses = uses(connection, project, records)?;
    Ok(told)
}

/// How often each of these records was told, by its id; those that never were are left out. There are few rows, and
/// they stand by receipt: all are looked at once.
fn uses(connection: &Connection, project: i64, records: &[RecordId]) -> Result<Vec<Use>, Failure> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: BTreeSet<RecordId> = records.iter().copied().collect();
    let mut found: BTreeMap<RecordId, (u64, i64, Vec<i64>)> = BTreeMap::new();
    let sql = "SELECT record, CASE receipt WHEN x'' THEN iteration ELSE 1 END, at, receipt = x'' \
         FROM inclusions WHERE project = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([project])?;
    while let Some(row) = rows.next()? {
        let record = RecordId::from_bytes(row.get(0)?);
        if wanted.contains(&record) {
            let one = found.entry(record).or_insert((0, i64::MIN, Vec::new()));
            let at: i64 = row.get(2)?;
            one.0 += row.get::<_, u64>(1)?;
            one.1 = one.1.max(at);
            if !row.get::<_, bool>(3)? {
                one.2.push(at);
            }
        }
    }
    let uses = found.into_iter().map(|(record, (times, last, mut at))| {
        at.sort_unstable();
        Use {
            record,
            times,
            last_at: clock::from_micros(last),
            at: at.into_iter().map(clock::from_micros).collect(),
        }
    });
    Ok(uses.collect())
}

fn receipt(row: &Row<'_>) -> Result<Receipt, Failure> {
    let id = RecordId::from_bytes(row.get(0)?);
    let body: String = row.get(3)?;
    let body: Attrs = serde_json::from_str(&body)
        .map_err(|_| Failure::Damaged(format!("receipt {id} is no JSON object")))?;
    Ok(Receipt {
        id,
        at: clock::from_micros(row.get(1)?),
        session: row.get(2)?,
        iteration: None,
        records: Vec::new(),
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, SqliteStore, Store};
    use heirloom_model::{Confidence, IdSource, Kind, Merge, Record, Scope, Timestamp};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_777_629_600 + second).unwrap()
    }

    #[test]
    fn what_is_told_without_end_is_counted_in_few_rows() {
        let store = SqliteStore::memory().unwrap();
        let project = ProjectName::new("p").unwrap();
        let ids = IdSource::default();
        let record = Record {
            project: project.clone(),
            id: ids.next(at(0)),
            kind: Kind::Note,
            key: None,
            text: "told".to_owned(),
            attrs: Attrs::new(),
            scope: Scope::default(),
            source: "user".to_owned(),
            confidence: Confidence::FULL,
            tokens: 1,
            recorded_at: at(0),
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        };
        let id = record.id;
        let put = Change::Put {
            record: Box::new(record),
            merge: Merge::Keep,
        };
        store.apply(&project, &[put]).unwrap();
        let most = limits::RECEIPTS_KEPT as u64;
        let all = 3 * most;
        for n in 0..all {
            let at = at(i64::try_from(n).unwrap());
            let receipt = Receipt {
                id: ids.next(at),
                at,
                session: None,
                iteration: None,
                records: vec![id],
                body: Attrs::new(),
            };
            let keep = Change::Keep(Box::new(receipt));
            store.apply(&project, &[keep]).unwrap();
        }
        let uses = store.told(&project, Newest::Whole(0), &[id]).unwrap().uses;
        assert_eq!((uses[0].times, uses[0].last_at), (all, at(all as i64 - 1)));
        let sql = "SELECT count(*) FROM inclusions";
        let rows: u64 = (store.lock()).query_row(sql, [], |row| row.get(0)).unwrap();
        assert!(rows <= most + FOLDED_EVERY.unsigned_abs() + 1, "{rows}");
    }
}
