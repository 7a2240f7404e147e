//! The PostgreSQL store passes the conformance suite on the server that `HEIRLOOM_TEST_POSTGRES` names.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;
#[path = "support/test_records.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_records;

use heirloom_model::IdSource;
use heirloom_store::{PostgresStore, Store, conformance};
use heirloom_testkit::{Prerequisite, require};
use test_database::{TestDatabase, TestSession, address};
use test_records::{project, put, record};

#[test]
fn postgres_store_conforms() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let make = || -> Box<dyn Store> { Box::new(database.new_store()) };
    conformance::run(&make, &|name| println!("{name}"));
}

#[test]
fn store_with_prepared_statements_conforms() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let make = || -> Box<dyn Store> {
        let url = format!("{}&prepared_statements=on", database.new_url());
        Box::new(PostgresStore::create(&address(&url)).unwrap())
    };
    conformance::run(&make, &|name| println!("{name}"));
}

#[test]
fn statements_prepared_for_an_older_schema_are_prepared_again() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let url = database.new_url();
    let prepared = format!("{url}&prepared_statements=on");
    let store = PostgresStore::create(&address(&prepared)).unwrap();
    let (ids, shop) = (IdSource::default(), project("shop"));
    let first = record(&ids, &shop, 0, 100);
    store.apply(&shop, &[put(first.clone())]).unwrap();
    for _ in 0..5 {
        assert_eq!(store.get(&shop, first.id).unwrap(), first);
    }
    let other = TestSession::connect(&url);
    other.execute("ALTER TABLE records ALTER COLUMN text TYPE varchar(100000)");
    assert_eq!(store.get(&shop, first.id).unwrap(), first);
}
