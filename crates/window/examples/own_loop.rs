//! Own agent loop: a window selects the messages of each request.
//!
//! `cargo run -p heirloom-window --example own_loop`. Replace `ask_model` and `run_tool` by your model and tools.
#![expect(clippy::print_stdout, reason = "an example prints")]

use heirloom_window::{Policy, Window};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut history = vec![
        json!({"role": "system", "content": "You mend programs."}),
        json!({"role": "user", "content": "Find out why the tests of the parser fail since Monday, and mend them."}),
    ];
    let mut window = Window::new(Policy::default());
    // Store for shortened and dropped content: files, a database, anything with keys.
    let mut kept: BTreeMap<String, String> = BTreeMap::new();
    for turn in 0..80 {
        let sent = window.next(&Value::from(history.clone()).to_string())?;
        // Store before sending, because the window refers to the stored content.
        for overflow in sent.overflows(window.conversation()) {
            kept.insert(overflow.id.to_owned(), overflow.text.to_owned());
        }
        for dropped in &sent.report.dropped {
            kept.entry(dropped.id.clone())
                .or_insert_with(|| window.conversation().archive(dropped));
        }
        let request = sent.to_json(window.conversation());
        if turn % 20 == 19 {
            let report = &sent.report;
            println!(
                "turn {turn}: {} tokens instead of {}, {} kept, cost {} instead of {}",
                report.tokens_after,
                report.tokens_before,
                kept.len(),
                report.cost_window,
                report.cost_none
            );
        }
        let answer = ask_model(&request, turn);
        let result = run_tool(&answer, turn);
        history.push(answer);
        history.push(result);
    }
    Ok(())
}

/// Model client: `request` is a JSON array of messages, ready to be sent.
fn ask_model(_request: &str, turn: usize) -> Value {
    let arguments = json!({"command": format!("cargo test -p parser part_{turn}")}).to_string();
    json!({"role": "assistant", "content": "I run the next part.", "tool_calls": [
        {"id": format!("call_{turn}"), "type": "function", "function": {"name": "bash", "arguments": arguments}}]})
}

/// Tools.
fn run_tool(_answer: &Value, turn: usize) -> Value {
    let output = format!("test part_{turn} ... ok\n").repeat(20 + turn * 7 % 300);
    json!({"role": "tool", "tool_call_id": format!("call_{turn}"), "content": output})
}
