//! SQLite passes the suite, in a file and in memory, and so does a faulty store whose plan does nothing.

use heirloom_store::{
    Complaint, FaultPlan, FaultyStore, Mishap, SqliteStore, Store, StoreError, conformance,
};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn sqlite_in_memory() {
    let make = || -> Box<dyn Store> { Box::new(SqliteStore::memory().unwrap()) };
    conformance::run(&make, &|name| println!("{name}"));
}

#[test]
fn sqlite_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let made = Cell::new(0);
    let make = || -> Box<dyn Store> {
        made.set(made.get() + 1);
        let path = folder.path().join(format!("{}.db", made.get()));
        Box::new(SqliteStore::create(&path).unwrap())
    };
    conformance::run(&make, &|name| println!("{name}"));
    assert!(made.get() > 40);
}

#[test]
fn a_faulty_store_without_a_fault() {
    for plan in [
        None,
        Some(FaultPlan::once(u64::MAX, Mishap::Before(Complaint::Io))),
        Some(FaultPlan::once(1, Mishap::Delay(Duration::from_micros(1))).lasting()),
    ] {
        let make = || -> Box<dyn Store> {
            let store = FaultyStore::new(Arc::new(SqliteStore::memory().unwrap()));
            store.set_plan(plan);
            Box::new(store)
        };
        conformance::run(&make, &|name| println!("{plan:?}: {name}"));
    }
}

#[test]
fn a_fault_strikes_where_the_plan_says() {
    let project = heirloom_model::ProjectName::new("p").unwrap();
    let store = FaultyStore::new(Arc::new(SqliteStore::memory().unwrap()));
    let session = heirloom_model::Session {
        project: project.clone(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: heirloom_model::Timestamp::UNIX_EPOCH,
        ended_at: None,
        attrs: serde_json::Map::new(),
    };
    let there = || store.session(&project, "s").is_ok();

    store.set_plan(Some(
        FaultPlan::once(1, Mishap::Before(Complaint::DiskFull)).of_writes(),
    ));
    assert!(!there(), "reads are not counted");
    let refused = store.put_session(&session);
    assert!(matches!(refused, Err(StoreError::DiskFull(_))));
    assert!(!there(), "nothing was done");
    assert_eq!(store.struck(), ["put_session"]);
    assert_eq!(store.calls(), ["session", "put_session", "session"]);

    store.set_plan(Some(FaultPlan::once(1, Mishap::After(Complaint::Busy))));
    let refused = store.put_session(&session);
    assert!(matches!(refused, Err(StoreError::Busy { .. })));
    assert!(there(), "it was done, and the next call is as it should be");

    store.set_plan(Some(
        FaultPlan::once(2, Mishap::Before(Complaint::Io)).lasting(),
    ));
    assert!(there());
    assert!(!there() && !there());
    assert_eq!((store.struck().len(), store.writes()), (2, 0));
}
