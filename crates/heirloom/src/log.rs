//! What `HEIRLOOM_LOG` asks for: a line on standard error about each command, and about each request that is served.
//!
//! It says what ran, where, how it ended and how long it took, never what was said: texts are for memory alone.

use crate::config::Environment;
use crate::open::Session;
use heirloom_model::{Fault, text};
use std::io::{self, Write};
use std::time::Instant;

/// The variable that asks for it.
const VARIABLE: &str = "HEIRLOOM_LOG";
/// What it has to say for that; whatever else is less.
const WANTED: [&str; 3] = ["info", "debug", "trace"];

/// Whether lines are wanted.
fn is_wanted(env: &Environment) -> bool {
    let said = env.get(VARIABLE).unwrap_or_default();
    WANTED
        .iter()
        .any(|wanted| said.eq_ignore_ascii_case(wanted))
}

/// Runs a command, and says what became of it where that is wanted.
pub(crate) fn of_command(
    name: &str,
    session: &mut Session,
    run: impl FnOnce(&mut Session) -> Result<u8, Fault>,
) -> Result<u8, Fault> {
    if !is_wanted(&session.env) {
        return run(session);
    }
    let began = Instant::now();
    let outcome = run(session);
    let millis = began.elapsed().as_secs_f64() * 1e3;
    let code = match &outcome {
        Ok(code) => *code,
        Err(fault) => fault.kind.exit_code(),
    };
    let place = match session.find() {
        Ok(found) => format!("in {}", found.place.root.display()),
        Err(_) => "in no project".to_owned(),
    };
    say(&format!("{name} {place}: exit {code}, {millis:.1} ms"));
    outcome
}

/// What a server tells its requests to, where that is wanted.
pub(crate) fn of_requests(env: &Environment) -> Option<fn(&str)> {
    is_wanted(env).then_some(say)
}

fn say(line: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = writeln!(io::stderr(), "heirloom: {}", text::printable(line));
}
