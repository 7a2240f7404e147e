//! Records that sessions taught: knowledge and notes whose scope is a session or a task.

use super::record_label;
use super::view::Times;
use super::view::tasks::LearnedRow;
use heirloom_engine::{Engine, Filter, Order};
use heirloom_model::{Fault, Kind, Record, RecordId, Scope, Session};
use std::collections::BTreeMap;

/// Kinds of records that count as learned.
const KINDS: [Kind; 2] = [Kind::Knowledge, Kind::Note];
/// Maximum number of records after the start of a session that are searched for those of the session. There is no
/// index from sessions to records.
const SEARCHED: usize = 200;
/// Maximum number of sessions whose records are searched.
const SESSIONS: usize = 6;
/// Maximum number of shown records.
const SHOWN: usize = 20;

/// Returns the records that these sessions and this task taught, oldest first.
pub(in crate::page) fn learned_records(
    engine: &Engine,
    sessions: &[Session],
    task: Option<&str>,
) -> Result<Vec<Record>, Fault> {
    let mut found: BTreeMap<RecordId, Record> = BTreeMap::new();
    if let Some(task) = task {
        for kind in KINDS {
            let filter = Filter::current(&[kind], engine.now())
                .scope(Scope::of_task(task))
                .limit(SHOWN);
            let of_task = engine.records().find(&filter)?;
            found.extend(of_task.into_iter().map(|record| (record.id, record)));
        }
    }
    for session in sessions.iter().take(SESSIONS) {
        let mut filter = Filter::current(&KINDS, engine.now()).limit(SEARCHED);
        filter.order = Order::Oldest;
        filter.after = Some(RecordId::min_at(session.started_at));
        for record in engine.records().find(&filter)? {
            if record.scope.session.as_deref() == Some(session.id.as_str()) {
                found.insert(record.id, record);
            }
        }
    }
    Ok(found.into_values().take(SHOWN).collect())
}

/// Builds the row of a learned record.
pub(in crate::page) fn learned_row(record: &Record, times: &Times) -> LearnedRow {
    let key = record_label::given_key(record);
    LearnedRow {
        href: record_label::href(record),
        name: record_label::name(record),
        words: match key {
            "" => super::view::Html::default(),
            _ => record_label::text_html(record),
        },
        kind: record.kind.as_str(),
        meta: vec![
            record_label::source_label(&record.source),
            times.brief(record.recorded_at),
        ],
    }
}
