//! Stores knowledge, replaces a value and searches.
//!
//! `heirloom serve` has to run, and `HEIRLOOM_TOKEN` to be set.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use heirloom_client::{Error, Memory, NewKnowledge, RecallQuery};

fn main() -> Result<(), Error> {
    run(&Memory::new()?)
}

pub(crate) fn run(memory: &Memory) -> Result<(), Error> {
    memory.remember("Staging is read-only on Fridays")?;
    let indent = |value: &str| {
        let indent = NewKnowledge::new(value);
        memory.remember(indent.category("convention").key("indent"))
    };
    indent("two spaces")?;
    // A later value for a category and key replaces the earlier one.
    let outcome = indent("four spaces")?;
    println!("{} {}", outcome.outcome, outcome.id);

    for hit in memory.recall(RecallQuery::new("may I deploy to staging on Friday?").k(3))? {
        println!("{:.2} {}", hit.relevance.unwrap_or_default(), hit.text);
    }
    for version in memory.history(&outcome.id)?.records {
        println!("{} {}", version.created_at, version.text);
    }
    Ok(())
}
