//! The PostgreSQL store on Citus: it passes the conformance suite, and every statement goes to one shard.

#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;

use heirloom_store::{Store, conformance};
use heirloom_testkit::{Prerequisite, require};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use test_database::TestDatabase;

/// Variable with the URL of a coordinator.
const COORDINATOR: &str = "HEIRLOOM_TEST_CITUS";

/// Beginnings of statements over all projects: the check of the whole store, for administrators.
const OVER_ALL_PROJECTS: [&str; 8] = [
    "SELECT count(*) FROM records r WHERE NOT EXISTS",
    "SELECT count(*) FROM messages m WHERE NOT EXISTS",
    "SELECT abs((SELECT count(*) FROM ordinals)",
    "SELECT count(*) FROM index_totals t WHERE",
    "SELECT bits FROM gone",
    "SELECT (SELECT count(*) FROM records WHERE",
    "SELECT project, lane, term, block, data FROM postings",
    "SELECT DISTINCT project FROM index_totals",
];

#[test]
fn store_on_citus_conforms_with_one_shard_a_statement() {
    let database = require!(Prerequisite::Citus, TestDatabase::named_by(COORDINATOR));
    let statements: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let wide: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let is_logged = Cell::new(true);
    let make = || -> Box<dyn Store> {
        if !is_logged.get() {
            return Box::new(database.new_store());
        }
        let (statements, wide) = (Arc::clone(&statements), Arc::clone(&wide));
        let store = database.new_store().with_plan_log(move |sql, plan| {
            statements.lock().unwrap().insert(sql.to_owned());
            let tasks = plan
                .lines()
                .filter_map(|line| line.trim().strip_prefix("Task Count: "));
            let many = tasks
                .filter_map(|count| count.parse().ok())
                .any(|count: u32| count > 1);
            let is_known = OVER_ALL_PROJECTS.iter().any(|known| sql.starts_with(known));
            if many && !is_known {
                wide.lock().unwrap().insert(format!("{sql}\n{plan}"));
            }
        });
        Box::new(store)
    };
    conformance::run(&make, &|name| {
        // Thousands of writes, whose statements other checks have too.
        is_logged.set(!name.contains("cap on its"));
        println!("{name}");
    });
    let wide = wide.lock().unwrap();
    assert!(wide.is_empty(), "more than one shard: {wide:#?}");
    let statements = statements.lock().unwrap().len();
    assert!(statements > 100, "{statements} statements were planned");
}
