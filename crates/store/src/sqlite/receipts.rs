//! Receipts of contexts, and how often a record was told.

use super::apply::{Writer, answer};
use super::codec::{self, micros};
use super::failure::Failure;
use crate::receipts::{Receipt, Told, Use};
use crate::{Applied, Verdict};
use heirloom_model::record::Attrs;
use heirloom_model::{ProjectName, RecordId, clock, limits};
use rusqlite::{Connection, Row, params};

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
        Ok(answer(receipt.id, Verdict::Created, None))
    }
}

/// The newest receipts, and how often these records were told.
pub(super) fn told(
    connection: &Connection,
    project: &ProjectName,
    newest: usize,
    records: &[RecordId],
) -> Result<Told, Failure> {
    let Some(project) = codec::project(connection, project)? else {
        return Ok(Told::default());
    };
    let mut told = Told::default();
    if newest > 0 {
        let sql = "SELECT id, at, session, body FROM receipts WHERE project = ?1 \
             ORDER BY number DESC LIMIT ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![project, newest])?;
        while let Some(row) = rows.next()? {
            told.receipts.push(receipt(row)?);
        }
    }
    let sql = "SELECT count(*), max(at) FROM inclusions WHERE project = ?1 AND record = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for record in records {
        let found = |row: &Row<'_>| Ok((row.get::<_, u64>(0)?, row.get::<_, Option<i64>>(1)?));
        let values = params![project, record.as_bytes()];
        if let (times, Some(last_at)) = statement.query_row(values, found)? {
            told.uses.push(Use {
                record: *record,
                times,
                last_at: clock::from_micros(last_at),
            });
        }
    }
    told.uses.sort_by_key(|one| one.record);
    told.uses.dedup_by_key(|one| one.record);
    Ok(told)
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
