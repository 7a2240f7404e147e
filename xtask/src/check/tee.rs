//! Copies a child's output to the terminal and to memory.

use std::io::{IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use crate::cargo;

/// Runs a command; returns its result and its output, standard output first.
///
/// Both streams reach the terminal at once; colours stay when it is one.
pub(super) fn run(command: &mut Command) -> (Result<(), String>, String) {
    let name = cargo::describe(command);
    if std::io::stderr().is_terminal() {
        // With a pipe the child would not print colours.
        command.env("CARGO_TERM_COLOR", "always");
    }
    let spawned = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            return (
                Err(format!("cannot start `{name}`: {error}")),
                String::new(),
            );
        }
    };
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut output, errors) = thread::scope(|scope| {
        let errors = scope.spawn(|| copy(stderr, std::io::stderr()));
        let output = copy(stdout, std::io::stdout());
        (output, errors.join().unwrap_or_default())
    });
    output.extend(errors);
    let result = match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{name}` failed: {status}")),
        Err(error) => Err(format!("cannot wait for `{name}`: {error}")),
    };
    (result, String::from_utf8_lossy(&output).into_owned())
}

/// Copies until the end of the stream. A closed terminal does not stop the child.
fn copy(from: Option<impl Read>, mut to: impl Write) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut from) = from else {
        return kept;
    };
    let mut buffer = [0_u8; 8 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return kept,
            Ok(count) => {
                let chunk = buffer.get(..count).unwrap_or_default();
                kept.extend_from_slice(chunk);
                // Nothing can be done about a closed terminal.
                let _ = to.write_all(chunk).and_then(|()| to.flush());
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_shown_and_returned() {
        let mut shown = Vec::new();
        let kept = copy(Some(&b"one\ntwo"[..]), &mut shown);
        assert_eq!(kept, b"one\ntwo");
        assert_eq!(shown, kept);
    }

    #[test]
    fn missing_program_is_error() {
        let (result, output) = run(&mut Command::new("no-such-program-here"));
        assert!(result.unwrap_err().contains("no-such-program-here"));
        assert_eq!(output, "");
    }
}
