//! Log of commands and HTTP requests on standard error, enabled by `HEIRLOOM_LOG`.
//!
//! A line contains the command, folder, result and duration, never content.

use crate::config::Environment;
use crate::store_access::CliSession;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, text};
use std::io::{self, Write};
use std::time::Instant;

/// Variable that enables the log.
const VARIABLE: &str = "HEIRLOOM_LOG";
/// Values that enable the log; there is only one level of detail.
const ENABLING_LEVELS: [&str; 3] = ["info", "debug", "trace"];

/// Returns true if the log is enabled.
fn is_enabled(env: &Environment) -> bool {
    let value = env.get(VARIABLE).unwrap_or_default();
    ENABLING_LEVELS
        .iter()
        .any(|level| value.eq_ignore_ascii_case(level))
}

/// Runs a command, and logs its result if the log is enabled.
pub(crate) fn log_command(
    name: &str,
    session: &mut CliSession,
    run: impl FnOnce(&mut CliSession) -> Result<u8, Fault>,
) -> Result<u8, Fault> {
    if !is_enabled(&session.env) {
        return run(session);
    }
    let began = Instant::now();
    let outcome = run(session);
    let millis = began.elapsed().as_secs_f64() * 1e3;
    let code = match &outcome {
        Ok(code) => *code,
        Err(fault) => fault.kind.exit_code(),
    };
    let place = match session.find_project() {
        Ok(found) => format!("in {}", found.place.root.to_escaped()),
        Err(_) => "in no project".to_owned(),
    };
    write_line(&format!("{name} {place}: exit {code}, {millis:.1} ms"));
    outcome
}

/// Returns the log function for a server's requests, if the log is enabled.
pub(crate) fn request_logger(env: &Environment) -> Option<fn(&str)> {
    is_enabled(env).then_some(write_line)
}

fn write_line(line: &str) {
    // A closed standard error is ignored: there is no other place to report to.
    let _ = writeln!(
        io::stderr(),
        "heirloom: {}",
        text::replace_control_chars(line)
    );
}
