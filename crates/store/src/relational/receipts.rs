//! Receipts of contexts and delivery statistics of records.

use super::row_codec;
use crate::receipts::{DeliveryStats, Receipt, RecentReceipts, RecordUsage};
use crate::sql::failure::Failure;
use crate::sql::{Connection, Row};
use heirloom_model::record::Attrs;
use heirloom_model::{ProjectName, RecordId, clock};
use rusqlite::params;
use std::collections::{BTreeMap, BTreeSet};

/// Reads recent receipts and the delivery statistics of these records.
pub(crate) fn delivery_stats(
    connection: Connection<'_>,
    project: &ProjectName,
    newest: RecentReceipts,
    records: &[RecordId],
) -> Result<DeliveryStats, Failure> {
    let Some(project) = row_codec::project(connection, project)? else {
        return Ok(DeliveryStats::default());
    };
    let mut stats = DeliveryStats::default();
    if let RecentReceipts::One(id) = newest {
        let sql = "SELECT id, at, session, body FROM receipts WHERE project = ?1 AND id = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![project, id.as_bytes()])?;
        while let Some(row) = rows.next()? {
            stats.receipts.push(receipt(row)?);
        }
    } else if newest.limit() > 0 {
        let body = match newest {
            RecentReceipts::Full(_) | RecentReceipts::One(_) => "body",
            // A body that is not JSON is reported by the code that parses it.
            RecentReceipts::Headers(_) => {
                "CASE WHEN json_valid(body) THEN json_remove(body, '$.sections', '$.text', '$.rules') ELSE body END"
            }
        };
        let sql = format!(
            "SELECT id, at, session, {body} FROM receipts WHERE project = ?1 \
             ORDER BY number DESC LIMIT ?2"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![project, newest.limit()])?;
        while let Some(row) = rows.next()? {
            stats.receipts.push(receipt(row)?);
        }
    }
    if let RecentReceipts::Headers(_) = newest {
        let sql =
            "SELECT record FROM inclusions WHERE project = ?1 AND receipt = ?2 ORDER BY record";
        connection.prefetch(|batch| {
            for receipt in &stats.receipts {
                batch.add(sql, params![project, receipt.id.as_bytes()])?;
            }
            Ok(())
        })?;
        let mut statement = connection.prepare_cached(sql)?;
        for receipt in &mut stats.receipts {
            let id = receipt.id.as_bytes();
            let records: Vec<[u8; 16]> =
                statement.query_map(params![project, id], |row| row.get(0))?;
            receipt.records = records.into_iter().map(RecordId::from_bytes).collect();
        }
    }
    stats.usage = record_usage(connection, project, records)?;
    Ok(stats)
}

/// Returns the delivery statistics of these records in order of id, without those that were never delivered. The
/// table is small and ordered by receipt, so it is scanned once.
fn record_usage(
    connection: Connection<'_>,
    project: i64,
    records: &[RecordId],
) -> Result<Vec<RecordUsage>, Failure> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let requested: BTreeSet<RecordId> = records.iter().copied().collect();
    let mut found: BTreeMap<RecordId, (u64, i64, Vec<i64>)> = BTreeMap::new();
    let sql = "SELECT record, CASE receipt WHEN x'' THEN iteration ELSE 1 END, at, receipt = x'' \
         FROM inclusions WHERE project = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([project])?;
    while let Some(row) = rows.next()? {
        let record = RecordId::from_bytes(row.get(0)?);
        if requested.contains(&record) {
            let one = found.entry(record).or_insert((0, i64::MIN, Vec::new()));
            let at: i64 = row.get(2)?;
            one.0 += row.get::<u64>(1)?;
            one.1 = one.1.max(at);
            if !row.get::<bool>(3)? {
                one.2.push(at);
            }
        }
    }
    let uses = found.into_iter().map(|(record, (count, last, mut at))| {
        at.sort_unstable();
        RecordUsage {
            record,
            count,
            last_at: clock::from_micros(last),
            delivery_times: at.into_iter().map(clock::from_micros).collect(),
        }
    });
    Ok(uses.collect())
}

/// Reads a receipt from a row of id, time, session and body.
pub(crate) fn receipt(row: Row<'_>) -> Result<Receipt, Failure> {
    let id = RecordId::from_bytes(row.get(0)?);
    let body: String = row.get(3)?;
    let body: Attrs = serde_json::from_str(&body)
        .map_err(|_| Failure::Damaged(format!("receipt {id} is not a JSON object")))?;
    Ok(Receipt {
        id,
        at: clock::from_micros(row.get(1)?),
        session: row.get(2)?,
        iteration: None,
        records: Vec::new(),
        body,
    })
}
