//! A write over PostgreSQL takes effect exactly once, also if the connection is lost during its commit.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/commit_proxy.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod commit_proxy;
#[path = "support/proxied_store.rs"]
mod proxied_store;
#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;
#[path = "support/test_records.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_records;

use commit_proxy::Cut;
use heirloom_model::{IdSource, Session};
use heirloom_store::{Filter, Store, Verdict};
use heirloom_testkit::{Prerequisite, require};
use proxied_store::proxied_store;
use test_database::TestDatabase;
use test_records::{at, project, put, record};

#[test]
fn write_takes_effect_once_when_connection_is_cut_at_commit() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (store, proxy) = proxied_store(&database);
    let (ids, project) = (IdSource::default(), project("p"));
    let cuts = [Cut::Never, Cut::AfterCommit, Cut::BeforeCommit];
    let mut written = Vec::new();
    // The first write creates the project, once without and once with a cut.
    for number in 0..24 {
        proxy.cut_commits(cuts[number % 3], 1);
        let record = record(&ids, &project, number, 100);
        let applied = store.apply(&project, &[put(record.clone())]).unwrap();
        assert_eq!(
            (applied[0].id, applied[0].verdict),
            (record.id, Verdict::Created)
        );
        written.push(record);
    }
    assert_eq!(proxy.cuts(), 16);
    let found = store.find(&project, &Filter::current(&[], at(0))).unwrap();
    assert_eq!(found.len(), written.len());
    for record in &written {
        assert_eq!(store.get(&project, record.id).unwrap(), *record);
    }
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn project_is_created_once_when_connection_is_cut_at_commit() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (store, proxy) = proxied_store(&database);
    let ids = IdSource::default();
    for (name, cut) in [("after", Cut::AfterCommit), ("before", Cut::BeforeCommit)] {
        proxy.cut_commits(cut, 1);
        let project = project(name);
        let session = Session {
            project: project.clone(),
            id: "s".to_owned(),
            agent: None,
            task: None,
            started_at: at(0),
            ended_at: None,
            attrs: serde_json::Map::new(),
        };
        store.put_session(&session).unwrap();
        let record = record(&ids, &project, 1, 100);
        store.apply(&project, &[put(record.clone())]).unwrap();
        assert_eq!(store.get(&project, record.id).unwrap(), record);
    }
    assert_eq!(store.projects().unwrap().len(), 2);
}
