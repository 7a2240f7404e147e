//! Time for a window of a very long history: `cargo run --release -p heirloom-window --example speed`.
//!
//! 20,000 parsed messages of 4 million tokens: without state, and one more turn with state.
#![expect(clippy::print_stdout, reason = "an example prints")]

use heirloom_window::{Conversation, Policy, WindowState, WireFormat, compact};
use std::error::Error;
use std::fmt::Write;
use std::time::Instant;

const MESSAGES: usize = 20_000;
const CHARS: usize = 16_000_000;
const TRIES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut history = Conversation::new(WireFormat::Openai);
    history.push(r#"{"role":"system","content":"You are careful."}"#)?;
    history.push(r#"{"role":"user","content":"Find out why the parser of crates/window loses the last line of src/form/chat.rs, and mend it."}"#)?;
    let begun = Instant::now();
    while history.len() < MESSAGES {
        turn(&mut history)?;
    }
    println!("read     {:>9.3} ms", begun.elapsed().as_secs_f64() * 1e3);
    let policy = Policy::default();
    for _ in 0..5 {
        let begun = Instant::now();
        let made = compact(&history, &policy, &mut WindowState::default());
        println!(
            "cold     {:>9.3} ms  {} messages, {} tokens to {}",
            begun.elapsed().as_secs_f64() * 1e3,
            made.messages.len(),
            made.report.tokens_before,
            made.report.tokens_after
        );
    }
    let mut state = WindowState::default();
    compact(&history, &policy, &mut state);
    let mut times = Vec::new();
    for _ in 0..200 {
        turn(&mut history)?;
        times.push(warm(&history, &policy, &mut state));
    }
    times.sort_by(f64::total_cmp);
    println!(
        "one more {:>9.3} ms at the median, {:.3} at worst, each turn the best of {TRIES}",
        times[100], times[199]
    );
    Ok(())
}

/// Returns the time of one more turn, milliseconds: the minimum of several runs, to exclude load of other processes.
fn warm(history: &Conversation, policy: &Policy, state: &mut WindowState) -> f64 {
    let before = state.clone();
    let mut least = f64::MAX;
    for _ in 0..TRIES {
        let mut tried = before.clone();
        let begun = Instant::now();
        compact(history, policy, &mut tried);
        least = least.min(begun.elapsed().as_secs_f64() * 1e3);
        *state = tried;
    }
    least
}

/// Returns a call and its result; one in fifty is long.
fn turn(history: &mut Conversation) -> Result<(), Box<dyn Error>> {
    let nth = history.len();
    let call = serde_json::json!({"role": "assistant", "content": format!("I look at part {nth} of the parser next."),
        "tool_calls": [{"id": format!("call_{nth}"), "type": "function", "function": {"name": "bash",
            "arguments": format!("{{\"command\":\"sed -n {nth},+40p src/form/part_{}.rs\"}}", nth % 97)}}]});
    history.push(&call.to_string())?;
    let usual = 2 * CHARS / MESSAGES - 330;
    let length = if nth % 100 == 2 {
        usual * 12
    } else {
        usual - usual / 5
    };
    let mut text = String::new();
    let mut line = 0;
    while text.len() < length {
        line += 1;
        writeln!(
            text,
            "{line:>6}  let value_{} = self.reader_{}.read(&mut buffer)?; // part {nth}",
            line % 37,
            nth % 11
        )?;
    }
    let answer =
        serde_json::json!({"role": "tool", "tool_call_id": format!("call_{nth}"), "content": text});
    history.push(&answer.to_string())?;
    Ok(())
}
