//! The agent of the demo: a process that has no memory of its own and acts only by its prompt.
//!
//! The program plays it itself, so that the demo needs no shell.

use crate::store_access::{self, CliSession};
use heirloom_model::{Fault, limits};
use std::io::Read;

/// File that the agent writes.
const CONFIG: &str = "config.ini";
/// Content that the checker accepts but for the greeting.
const SECTION: &str = "[server]\nport = 8080\n";
/// Lesson of the first failure.
const LESSON: &str = "config.ini needs a [server] section";
/// The step that the second iteration leaves.
const LEFT_STEP: &str = "Add a greeting";

/// Runs one iteration: reads the prompt, writes the file in the current folder, and prints what it did.
pub(super) fn run(session: &mut CliSession) -> Result<u8, Fault> {
    let failed = |error| Fault::failed(format!("the prompt cannot be read: {error}"));
    let mut prompt = String::new();
    let mut input = std::io::stdin().take(limits::PROMPT_FILE_BYTES_MAX as u64);
    input.read_to_string(&mut prompt).map_err(failed)?;
    let config = session.start_folder()?.join(CONFIG);
    let mut lines = Vec::new();
    let content = if !prompt.contains(LESSON) {
        lines.push("I know nothing about this project, so I guess: one line with the port.");
        "port = 8080\n".to_owned()
    } else if prompt.contains(&format!("Pending: {LEFT_STEP}")) {
        lines.extend([
            "The prompt contains the remaining step: the greeting.",
            "HEIRLOOM_MEMORY: STEP_DONE Add a greeting",
            "HEIRLOOM_MEMORY: FILE_MODIFIED config.ini",
        ]);
        format!("{SECTION}greeting = hello\n")
    } else {
        lines.extend([
            "The prompt contains the cause of the last failure, so I write the section first.",
            "HEIRLOOM_MEMORY: STEP_DONE Write config.ini",
            "HEIRLOOM_MEMORY: STEP_PENDING Add a greeting",
            "HEIRLOOM_MEMORY: DECISION Write the port under [server] BECAUSE the checker reads it only there",
            "HEIRLOOM_MEMORY: FILE_MODIFIED config.ini",
        ]);
        SECTION.to_owned()
    };
    let leaves_a_step = content == SECTION;
    store_access::write_file(&config, content.as_bytes())?;
    for line in lines {
        session.out.line(line);
    }
    if leaves_a_step {
        return Ok(0);
    }
    match check(&content) {
        Ok(()) => {
            session.out.line("The checker passes.");
            session
                .out
                .line("HEIRLOOM_STATUS: COMPLETE config.ini is accepted");
            Ok(0)
        }
        Err(problem) => {
            for line in [
                &format!("The checker reports: {problem}"),
                "HEIRLOOM_MEMORY: KEY_FACT config.ini needs a [server] section before any key",
                "HEIRLOOM_MEMORY: STEP_PENDING Write config.ini",
            ] {
                session.out.line(line);
            }
            session.out.talk(problem);
            Ok(1)
        }
    }
}

/// Checks the agent's work; the error is the problem.
fn check(content: &str) -> Result<(), &'static str> {
    if !content.starts_with("[server]\n") {
        return Err("config.ini:1: key outside of a section");
    }
    match content.lines().any(|line| line.starts_with("greeting")) {
        true => Ok(()),
        false => Err("config.ini: no greeting"),
    }
}
