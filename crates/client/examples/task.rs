//! Works at a task: similar attempts, the context of a prompt, steps, an error and its fix.
//!
//! `heirloom serve` has to run, and `HEIRLOOM_TOKEN` to be set.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use heirloom_client::{ContextQuery, Error, Memory};

fn main() -> Result<(), Error> {
    run(&Memory::new()?)
}

pub(crate) fn run(memory: &Memory) -> Result<(), Error> {
    let approach = "mock the clock";
    if memory.tried(approach)?.failed {
        println!("a similar approach has failed");
    }
    let task = memory.task("42").title("Flaky checkout").agent("coder");
    // The task ends as done, or as failed if the closure returns an error.
    task.approach(approach).run(|task| {
        let query = ContextQuery::new().query("clock").budget_tokens(2_000);
        let context = task.context(&query)?;
        println!("{context}");
        println!("{} tokens", context.tokens);

        task.plan("Write a failing test")?;
        task.step("Write a failing test")?;
        let error = task.log_error("TestCheckout: expected 200, got 500")?;
        match error.resolved_before {
            Some(past) => println!("resolved before: {}", past.resolution),
            None => {
                memory.resolve_error(&error.id, "set the session cookie")?;
            }
        }
        Ok(())
    })
}
