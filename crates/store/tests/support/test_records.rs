//! Test data of every kind for a store.

use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, IdSource, Kind, MergeRule, Message, ProjectName, Record, RecordId, Role, Scope,
    Session, Timestamp, clock,
};
use heirloom_store::{Change, Store};
use serde_json::json;
use std::path::Path;

pub(crate) const BEGINNING: i64 = 1_777_629_600_000_000;

pub(crate) fn at(second: i64) -> Timestamp {
    clock::from_micros(BEGINNING + second * 1_000_000)
}

pub(crate) fn project(name: &str) -> ProjectName {
    ProjectName::new(name).unwrap()
}

/// Creates a temporary folder, in memory if the system has such a place.
pub(crate) fn folder() -> tempfile::TempDir {
    let fast = Path::new("/dev/shm");
    tempfile::tempdir_in(fast)
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

/// Creates a text with `#N#` on every page that it fills.
pub(crate) fn marked(number: usize, bytes: usize) -> String {
    let mark = format!("#{number}# ");
    mark.repeat(bytes / mark.len() + 1)
}

pub(crate) fn record(ids: &IdSource, project: &ProjectName, number: usize, bytes: usize) -> Record {
    let second = i64::try_from(number).unwrap();
    let kind = Kind::ALL[number % Kind::ALL.len()];
    let mut attrs = Attrs::new();
    if kind == Kind::Knowledge {
        attrs.insert("category".to_owned(), json!("decision"));
        attrs.insert("rationale".to_owned(), json!("it is \"quoted\", ünïcode"));
    }
    if matches!(kind, Kind::Step | Kind::Error | Kind::Task) {
        attrs.insert("state".to_owned(), json!("open"));
    }
    Record {
        project: project.clone(),
        id: ids.next(at(second)),
        kind,
        key: Some(format!("key {number}")),
        text: marked(number, bytes),
        attrs,
        scope: Scope {
            task: number.is_multiple_of(2).then(|| format!("{}", number % 7)),
            iteration: number.is_multiple_of(3).then_some(2),
            ..Scope::default()
        },
        source: "user".to_owned(),
        confidence: Confidence::new(if number.is_multiple_of(2) { 1.0 } else { 0.75 }).unwrap(),
        tokens: 9,
        recorded_at: at(second),
        true_from: number.is_multiple_of(5).then(|| at(1)),
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: number.is_multiple_of(11).then(|| at(99_999)),
    }
}

pub(crate) fn put(record: Record) -> Change {
    Change::Put {
        record: Box::new(record),
        merge: MergeRule::Replace,
    }
}

/// Fills two projects with `count` records, every tenth spanning several pages; some replaced, retired and restored;
/// and sessions with messages, one of them large. `record_bytes` and `turn_bytes` are the sizes of the large ones.
pub(crate) fn fill(store: &dyn Store, count: usize, record_bytes: usize, turn_bytes: usize) {
    let ids = IdSource::default();
    let shop = project("github.com/acme/shop");
    let other = project("other");
    let mut first = Vec::new();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..count {
        let of = if number % 9 == 8 { &other } else { &shop };
        let bytes = if number % 10 == 9 { record_bytes } else { 150 };
        let record = record(&ids, of, number, bytes);
        if *of == shop {
            first.push(record.id);
            ours.push(put(record));
        } else {
            theirs.push(put(record));
        }
    }
    store.apply(&shop, &ours).unwrap();
    store.apply(&other, &theirs).unwrap();
    change_some(store, &ids, &shop, &first, count);
    for number in 0..4_usize {
        let session = Session {
            project: shop.clone(),
            id: format!("session-{number}"),
            agent: Some("codex".to_owned()),
            task: (number > 0).then(|| "7".to_owned()),
            started_at: at(number as i64),
            ended_at: (number > 1).then(|| at(50)),
            attrs: json!({"iteration": number}).as_object().unwrap().clone(),
        };
        store.put_session(&session).unwrap();
        let turns: Vec<Message> = (0..6)
            .map(|turn| Message {
                id: ids.next(at(100)),
                seq: 0,
                role: Role::Assistant,
                sender: Some("codex".to_owned()),
                text: marked(
                    900_000 + 10 * number + turn,
                    if turn == 3 { turn_bytes } else { 80 },
                ),
                attrs: Attrs::new(),
                tokens: 3,
                at: at(100),
            })
            .collect();
        store.append_messages(&shop, &session.id, &turns).unwrap();
    }
}

/// Replaces, retires and restores some records.
fn change_some(
    store: &dyn Store,
    ids: &IdSource,
    shop: &ProjectName,
    first: &[RecordId],
    count: usize,
) {
    for (n, id) in first.iter().enumerate().take(12) {
        let at = at(i64::try_from(count + n).unwrap());
        let old = store.get(shop, *id).unwrap();
        let change = match n % 3 {
            0 => Change::Revise {
                id: *id,
                record: Box::new(Record {
                    id: ids.next(at),
                    recorded_at: at,
                    text: format!("{} again", old.text),
                    ..old
                }),
            },
            _ => Change::Retire {
                id: *id,
                at,
                by: "user".to_owned(),
            },
        };
        store.apply(shop, &[change]).unwrap();
        if n % 3 == 2 {
            let restore = Change::Restore {
                id: *id,
                at,
                by: "user".to_owned(),
            };
            store.apply(shop, &[restore]).unwrap();
        }
    }
}
