//! Conformance suite that every implementation of [`Store`] must pass.
//!
//! Each check gets a new store, tests one guarantee of [`Store`] in both directions, and panics with a message if it
//! is broken. New stores and decorators run [`run`] in a test.

mod caps;
mod conflict_resolution;
mod conflict_scenario;
mod conflicts;
mod conversations;
mod history;
mod imports;
mod marks;
mod merges;
mod queries;
mod receipts;
mod search;
mod sentence_vectors;
mod test_project;
mod vectors;
mod writes;

use crate::Store;

/// Check: its name and a function that gets a new store.
pub type Check = (&'static str, fn(&dyn Store));

/// All checks, grouped by subject.
pub const CHECKS: &[&[Check]] = &[
    writes::CHECKS,
    merges::CHECKS,
    conflicts::CHECKS,
    conflict_resolution::CHECKS,
    history::CHECKS,
    queries::CHECKS,
    search::CHECKS,
    vectors::CHECKS,
    sentence_vectors::CHECKS,
    conversations::CHECKS,
    imports::CHECKS,
    marks::CHECKS,
    receipts::CHECKS,
    caps::CHECKS,
];

/// Runs every check against a new store from `make` and checks its integrity afterwards.
///
/// Panics at the first broken guarantee; `about_to` gets the name of each check before it starts.
pub fn run(make: &dyn Fn() -> Box<dyn Store>, about_to: &dyn Fn(&str)) {
    for (name, check) in CHECKS.iter().copied().flatten() {
        about_to(name);
        let store = make();
        check(store.as_ref());
        let findings = test_project::ok(store.check());
        assert!(
            findings.is_empty(),
            "after `{name}` the store is damaged: {findings:?}"
        );
    }
}
