//! The suite that every store must pass.
//!
//! Each check gets a fresh store, proves one promise of [`Store`], what holds and what must not, and
//! panics with a message if it is broken. New stores and wrappers run [`run`] in a test.

mod caps;
mod conflicts;
mod imports;
mod marks;
mod merges;
mod past;
mod questions;
mod receipts;
mod search;
mod talks;
mod vectors;
mod world;
mod writes;

use crate::Store;

/// One check: its name and what it does with a fresh store.
pub type Check = (&'static str, fn(&dyn Store));

/// Every check, by the promise that it is about.
pub const CHECKS: &[&[Check]] = &[
    writes::CHECKS,
    merges::CHECKS,
    conflicts::CHECKS,
    past::CHECKS,
    questions::CHECKS,
    search::CHECKS,
    vectors::CHECKS,
    talks::CHECKS,
    imports::CHECKS,
    marks::CHECKS,
    receipts::CHECKS,
    caps::CHECKS,
];

/// Runs every check against a fresh store from `make` and looks for damage afterwards.
///
/// Panics at the first broken promise; the name of each check is passed to `about_to` before it begins.
pub fn run(make: &dyn Fn() -> Box<dyn Store>, about_to: &dyn Fn(&str)) {
    for (name, check) in CHECKS.iter().copied().flatten() {
        about_to(name);
        let store = make();
        check(store.as_ref());
        let findings = world::ok(store.check());
        assert!(
            findings.is_empty(),
            "after `{name}` the store is damaged: {findings:?}"
        );
    }
}
