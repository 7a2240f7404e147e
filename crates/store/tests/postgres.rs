//! The PostgreSQL store passes the conformance suite on the server that `HEIRLOOM_TEST_POSTGRES` names.

#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;

use heirloom_store::{Store, conformance};
use heirloom_testkit::{Prerequisite, require};
use test_database::TestDatabase;

#[test]
fn postgres_store_conforms() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let make = || -> Box<dyn Store> { Box::new(database.new_store()) };
    conformance::run(&make, &|name| println!("{name}"));
}
