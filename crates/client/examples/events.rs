//! Follows the changes of memory by any process.
//!
//! `heirloom serve` has to run, and `HEIRLOOM_TOKEN` to be set.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use heirloom_client::{Error, Memory};
use std::time::Duration;

fn main() -> Result<(), Error> {
    run(&Memory::new()?)
}

pub(crate) fn run(memory: &Memory) -> Result<(), Error> {
    let mut events = memory.events();
    // Changes after this call are not missed.
    events.connect()?;
    memory.remember("Deploys go through the canary")?;
    // `for event in events` follows them without end.
    while let Some(event) = events.wait(Duration::from_secs(2)) {
        let event = event?;
        println!(
            "{} {:?} by {}",
            event.action, event.change.id, event.change.by
        );
    }
    Ok(())
}
