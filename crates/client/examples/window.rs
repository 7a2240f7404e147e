//! Keeps a long conversation inside the window of a model.
//!
//! `heirloom serve` has to run, and `HEIRLOOM_TOKEN` to be set.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use heirloom_client::{CompactRequest, Error, Memory};
use serde_json::{Value, json};

fn main() -> Result<(), Error> {
    run(&Memory::new()?)
}

pub(crate) fn run(memory: &Memory) -> Result<(), Error> {
    let turns = (1..=40).flat_map(|turn| {
        let log = format!("line {turn} of the log: connection reset by peer; ").repeat(40);
        [
            json!({"role": "user", "content": format!("What does part {turn} say?\n{log}")}),
            json!({"role": "assistant", "content": format!("Part {turn} has a reset.")}),
        ]
    });
    let request = CompactRequest::new(turns.collect::<Value>())
        .session("log-review")
        .target_tokens(4_000);
    let fitting = memory.compact(&request)?;
    // Omitted messages are archived under the session.
    println!(
        "{} messages",
        fitting.messages.as_array().map_or(0, Vec::len)
    );
    println!("{}", Value::Object(fitting.report));
    Ok(())
}
