//! The SQLite store passes the conformance suite, in a file and in memory, and so does a faulty store without a plan.

use heirloom_store::{
    FaultPlan, FaultyStore, InjectedError, InjectedFault, SqliteStore, Store, StoreError,
    conformance,
};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn in_memory_sqlite_store_conforms() {
    let make = || -> Box<dyn Store> { Box::new(SqliteStore::memory().unwrap()) };
    conformance::run(&make, &|name| println!("{name}"));
}

#[test]
fn sqlite_file_store_conforms() {
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
fn faulty_store_without_plan_conforms() {
    for plan in [
        None,
        Some(FaultPlan::once(
            u64::MAX,
            InjectedFault::Before(InjectedError::Io),
        )),
        Some(FaultPlan::once(1, InjectedFault::Delay(Duration::from_micros(1))).lasting()),
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
fn fault_strikes_planned_call() {
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
        FaultPlan::once(1, InjectedFault::Before(InjectedError::DiskFull)).counting_writes(),
    ));
    assert!(!there(), "reads are not counted");
    let refused = store.put_session(&session);
    assert!(matches!(refused, Err(StoreError::DiskFull(_))));
    assert!(!there(), "nothing was done");
    assert_eq!(store.faulted_calls(), ["put_session"]);
    assert_eq!(store.calls(), ["session", "put_session", "session"]);

    store.set_plan(Some(FaultPlan::once(
        1,
        InjectedFault::After(InjectedError::Busy),
    )));
    let refused = store.put_session(&session);
    assert!(matches!(refused, Err(StoreError::Busy { .. })));
    assert!(there(), "it was done, and the next call is as it should be");

    store.set_plan(Some(
        FaultPlan::once(2, InjectedFault::Before(InjectedError::Io)).lasting(),
    ));
    assert!(there());
    assert!(!there() && !there());
    assert_eq!((store.faulted_calls().len(), store.writes()), (2, 0));
}
