//! Salvage of damaged databases: the recovered store passes the integrity check, whatever the damage.
#![no_main]

use heirloom_model::kinds::{KindData, Knowledge};
use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, IdSource, Kind, MergeRule, Message, ProjectName, Record, Role, Scope, Session,
    clock,
};
use heirloom_store::{Change, SqliteStore, Store, StoreError};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

const PAGE: usize = 4_096;

/// Damage commands, one after the other: one byte for the kind of damage, two numbers, and further bytes.
struct Damage<'a>(&'a [u8]);

impl Damage<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<usize> {
        Some(usize::from(self.byte()?) << 8 | usize::from(self.byte()?))
    }

    fn apply(&mut self, file: &mut Vec<u8>) -> Option<()> {
        let kind = self.byte()?;
        let (page, within) = (self.number()?, self.number()?);
        if file.is_empty() {
            return None;
        }
        let pages = file.len().div_ceil(PAGE);
        let page = page % pages * PAGE;
        let place = (page + within % PAGE).min(file.len() - 1);
        match kind % 6 {
            // Overwrites some bytes.
            0 | 1 => {
                for at in place..place + usize::from(self.byte()? % 16) + 1 {
                    let byte = self.byte()?;
                    if let Some(there) = file.get_mut(at) {
                        *there = byte;
                    }
                }
            }
            // Fills a page with one byte.
            2 => {
                let end = (page + PAGE).min(file.len());
                file[page..end].fill(self.byte()?);
            }
            // Copies a page over another one.
            3 => {
                let from = within % pages * PAGE;
                let copy = file[from..(from + PAGE).min(file.len())].to_vec();
                let length = copy.len().min(file.len() - page);
                file[page..page + length].copy_from_slice(&copy[..length]);
            }
            // Truncates the file.
            4 => file.truncate(place),
            // Inserts a byte.
            _ => {
                let byte = self.byte()?;
                file.insert(place, byte);
            }
        }
        Some(())
    }
}

/// Returns an intact database and its write-ahead log, as left by a killed process.
fn intact_database() -> &'static (Vec<u8>, Vec<u8>) {
    static INTACT: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    INTACT.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("salvage-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("heirloom.db");
        let store = SqliteStore::create(&path).expect("a store");
        fill(&store, 0);
        let copy = folder.join("copy.db");
        store.backup(&copy).expect("a copy");
        drop(store);
        let bytes = std::fs::read(&copy).expect("the copy");
        let store = SqliteStore::open(&path).expect("a store");
        fill(&store, 1);
        let journal = std::fs::read(folder.join("heirloom.db-wal")).unwrap_or_default();
        drop(store);
        std::fs::remove_dir_all(&folder).expect("to tidy up");
        (bytes, journal)
    })
}

/// Writes records of several kinds, one of them over several pages and some replaced, and a session.
fn fill(store: &dyn Store, round: i64) {
    let ids = IdSource::default();
    let project = ProjectName::new("p").expect("a name");
    for n in 0..8 {
        let at = clock::from_micros((1_777_629_600 + round * 1_000 + n) * 1_000_000);
        let long = if n == 3 { 9_000 } else { 40 };
        let record = Record {
            project: project.clone(),
            id: ids.next(at),
            kind: if n % 2 == 0 {
                Kind::Knowledge
            } else {
                Kind::Note
            },
            key: Some(format!("key {}", n % 3)),
            text: format!("text {n} of round {round} {}", "x".repeat(long)),
            attrs: if n % 2 == 0 {
                Knowledge::with_category("fact").to_attrs()
            } else {
                Attrs::new()
            },
            scope: Scope::default(),
            source: "user".to_owned(),
            confidence: Confidence::FULL,
            tokens: 9,
            recorded_at: at,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        };
        let put = Change::Put {
            record: Box::new(record),
            merge: MergeRule::Replace,
        };
        store.apply(&project, &[put]).expect("a write");
    }
    let at = clock::from_micros(1_777_629_700_000_000);
    let session = Session {
        project: project.clone(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: at,
        ended_at: None,
        attrs: Attrs::new(),
    };
    store.put_session(&session).expect("a session");
    let turn = Message {
        id: ids.next(at),
        seq: 0,
        role: Role::User,
        sender: None,
        text: "what was said".to_owned(),
        attrs: Attrs::new(),
        tokens: 3,
        at,
    };
    store
        .append_messages(&project, "s", &[turn])
        .expect("a turn");
}

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else {
        return;
    };
    let (database, journal) = match first % 4 {
        // Bytes that are not a database.
        0 => (rest.to_vec(), Vec::new()),
        n => {
            let (mut database, mut journal) = intact_database().clone();
            if n == 1 {
                journal.clear();
            }
            let target = if n == 3 { &mut journal } else { &mut database };
            let mut damage = Damage(rest);
            while damage.apply(target).is_some() {}
            (database, journal)
        }
    };
    let hint = ProjectName::new("hint").expect("a name");
    let (store, report) = match SqliteStore::salvage(&database, &journal, Some(&hint)) {
        Ok(recovered) => recovered,
        // A header with a newer schema version is trusted.
        Err(StoreError::Newer { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let findings = store.check().expect("to look");
    assert_eq!(findings, Vec::<String>::new());
    assert!(
        report.rows_of("records") <= 64,
        "rows out of nothing: {report:?}"
    );
});
