//! Storage of receipts, with the number of deliveries of each record.

use super::change_keys::NEXT_RECEIPT;
use super::change_writer::{ChangeWriter, applied};
use crate::receipts::Receipt;
use crate::relational::row_codec::micros;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use crate::{AppliedChange, Verdict, validation};
use heirloom_model::limits;
use rusqlite::params;

/// Number of receipts between two foldings of old inclusions.
const FOLD_EVERY: i64 = 50;

impl ChangeWriter<'_> {
    /// Stores a receipt in the slot of the oldest, and an inclusion for each of its existing records.
    pub(super) fn store_receipt(&mut self, receipt: &Receipt) -> Result<AppliedChange, Failure> {
        let project = self.project_number(receipt.at)?;
        let known = self.known.borrow_mut().take_receipt_number();
        let number: i64 = match known {
            Some(number) => number,
            None => (self.connection).query_row(NEXT_RECEIPT, [project], |row| row.get(0))?,
        };
        let slots = i64::try_from(limits::RECEIPTS_KEPT).unwrap_or(i64::MAX);
        let sql = "INSERT INTO receipts (project, slot, number, id, at, session, body) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (project, slot) DO UPDATE SET \
             number = excluded.number, id = excluded.id, at = excluded.at, session = excluded.session, \
             body = excluded.body";
        self.connection.prepare_cached(sql)?.write(params![
            project,
            number % slots,
            number,
            receipt.id.as_bytes(),
            micros(receipt.at),
            receipt.session,
            validation::receipt_json(receipt)?,
        ])?;
        let sql = "INSERT INTO inclusions (project, record, at, receipt, session, iteration) \
             SELECT project, id, ?3, ?4, ?5, ?6 FROM records WHERE project = ?1 AND id = ?2 ON CONFLICT DO NOTHING";
        let mut statement = self.connection.prepare_cached(sql)?;
        for record in &receipt.records {
            statement.write(params![
                project,
                record.as_bytes(),
                micros(receipt.at),
                receipt.id.as_bytes(),
                receipt.session,
                receipt.iteration,
            ])?;
        }
        if number % FOLD_EVERY == 0 {
            fold_old_inclusions(self.connection, project)?;
        }
        Ok(applied(receipt.id, Verdict::Created, None))
    }
}

/// Folds the inclusions of a record whose receipts are gone into one row, so that the table stays small however often
/// a record is delivered. The folded row has an empty receipt, and its iteration is the number of inclusions.
fn fold_old_inclusions(connection: Connection<'_>, project: i64) -> Result<(), Failure> {
    const OLD: &str = "project = ?1 AND receipt <> x'' AND receipt NOT IN \
         (SELECT id FROM receipts WHERE project = ?1)";
    let sql = format!(
        "INSERT INTO inclusions (project, record, at, receipt, iteration) \
         SELECT project, record, max(at), x'', count(*) FROM inclusions WHERE {OLD} \
         GROUP BY project, record \
         ON CONFLICT (project, receipt, record) DO UPDATE SET \
         iteration = inclusions.iteration + excluded.iteration, \
         at = CASE WHEN inclusions.at > excluded.at THEN inclusions.at ELSE excluded.at END"
    );
    connection.prepare_cached(&sql)?.write([project])?;
    let sql = format!("DELETE FROM inclusions WHERE {OLD}");
    connection.prepare_cached(&sql)?.write([project])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, RecentReceipts, SqliteStore, Store};
    use heirloom_model::record::Attrs;
    use heirloom_model::{
        Confidence, IdSource, Kind, MergeRule, ProjectName, Record, Scope, Timestamp,
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_777_629_600 + second).unwrap()
    }

    #[test]
    fn repeated_deliveries_are_folded() {
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
            merge: MergeRule::Keep,
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
            let keep = Change::StoreReceipt(Box::new(receipt));
            store.apply(&project, &[keep]).unwrap();
        }
        let uses = store
            .delivery_stats(&project, RecentReceipts::Full(0), &[id])
            .unwrap()
            .usage;
        assert_eq!((uses[0].count, uses[0].last_at), (all, at(all as i64 - 1)));
        let sql = "SELECT count(*) FROM inclusions";
        let rows: u64 = (store.lock()).query_row(sql, [], |row| row.get(0)).unwrap();
        assert!(rows <= most + FOLD_EVERY.unsigned_abs() + 1, "{rows}");
    }
}
