//! Replaced fixes: what helped with a failure set a variable for which people want another value now.

use crate::engine::Engine;
use heirloom_model::statement::Statement;
use heirloom_model::{Authority, Fault, Kind, Record};
use heirloom_store::Filter;

/// Newest statements that are read.
const STATEMENTS_MAX: usize = 200;

/// Returns true if a current rule of a person gives a variable of the fix another value, and none gives it this one.
pub(in crate::engine) fn is_replaced_fix(engine: &Engine, fix: &str) -> Result<bool, Fault> {
    let fix = Statement::from_text(fix);
    if !fix.has_settings() {
        return Ok(false);
    }
    let filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(STATEMENTS_MAX);
    let known = engine.records().find(&filter)?;
    let is_of_person = |record: &&Record| Authority::of_record(record) == Authority::Person;
    let mut is_replaced = false;
    for record in known.iter().filter(is_of_person) {
        match Statement::from_text(&record.text).agrees_on_settings(&fix) {
            Some(true) => return Ok(false),
            Some(false) => is_replaced = true,
            None => {}
        }
    }
    Ok(is_replaced)
}
