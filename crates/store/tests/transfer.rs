//! Transfer of projects between a store in a file and one on a server, in both directions.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;
#[path = "support/test_records.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_records;

use heirloom_model::{IdSource, ProjectName, RecordId, Timestamp};
use heirloom_store::{
    AsOf, Filter, Order, SqliteStore, Store, StoreError, TransferEnd, transfer_project,
    transferable_projects,
};
use heirloom_testkit::{Prerequisite, require};
use test_database::TestDatabase;
use test_records::{fill, project, put, record};

/// Project that [`fill`] fills.
const SHOP: &str = "github.com/acme/shop";

fn all_ids(store: &dyn Store) -> Vec<RecordId> {
    let mut filter = Filter::current(&[], Timestamp::UNIX_EPOCH);
    filter.as_of = AsOf::Ever;
    filter.order = Order::Oldest;
    filter.limit = 5_000;
    let found = store.find(&project(SHOP), &filter).unwrap();
    found.iter().map(|record| record.id).collect()
}

#[test]
fn projects_survive_both_directions() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let first = SqliteStore::memory().unwrap();
    fill(&first, 1_300, 9_000, 40_000);
    let server = database.new_store();
    let last = SqliteStore::memory().unwrap();
    let (from, to) = (TransferEnd::Sqlite(&first), TransferEnd::Postgres(&server));
    let back = TransferEnd::Sqlite(&last);
    let names = transferable_projects(from).unwrap();
    assert_eq!(names.len(), 2);
    for name in &names {
        let there = transfer_project(from, to, name, name).unwrap();
        assert!(there.is_copied);
        let again = transfer_project(from, to, name, name).unwrap();
        assert!(!again.is_copied);
        assert_eq!(again.checksum, there.checksum);
        let home = transfer_project(to, back, name, name).unwrap();
        assert_eq!((home.checksum, home.rows), (there.checksum, there.rows));
    }
    for store in [&server as &dyn Store, &last] {
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        for id in all_ids(&first) {
            let record = first.get(&project(SHOP), id).unwrap();
            assert_eq!(record, store.get(&project(SHOP), id).unwrap());
        }
        let events = |store: &dyn Store| store.events(&project(SHOP), None, 5_000).unwrap();
        assert_eq!(events(&first), events(store));
        let messages = |store: &dyn Store| store.messages(&project(SHOP), "session-3", 0, 100);
        assert_eq!(messages(&first).unwrap(), messages(store).unwrap());
    }
}

#[test]
fn transfer_merges_nothing_into_other_content() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let server = database.new_store();
    let local = SqliteStore::memory().unwrap();
    let (ids, shop) = (IdSource::default(), project(SHOP));
    server
        .apply(&shop, &[put(record(&ids, &shop, 1, 80))])
        .unwrap();
    local
        .apply(&shop, &[put(record(&ids, &shop, 2, 80))])
        .unwrap();
    let (from, to) = (TransferEnd::Sqlite(&local), TransferEnd::Postgres(&server));
    let refused = transfer_project(from, to, &shop, &shop);
    assert!(
        matches!(refused, Err(StoreError::Refused(_))),
        "{refused:?}"
    );
    let other = ProjectName::new("other").unwrap();
    let copied = transfer_project(from, to, &shop, &other).unwrap();
    assert!(copied.is_copied);
    let missing = transfer_project(from, to, &other, &other);
    assert!(
        matches!(missing, Err(StoreError::NotFound { .. })),
        "{missing:?}"
    );
}
