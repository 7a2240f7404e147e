//! Asking a program which version it is.

use super::{Chunk, LaunchSpec, PumpLimits, spawn};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// How long a program may take to say its version.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longest answer that is looked at, bytes.
const ANSWER_BYTES_MAX: usize = 4 << 10;

/// The version that `PROGRAM --version` prints; `None` if it does not exist or says none.
///
/// Starts the program: only for what a person asked for. Takes at most about five seconds.
pub fn version_of(program: &OsStr, cwd: &Path) -> Option<String> {
    let spec = LaunchSpec {
        program: program.to_owned(),
        args: vec!["--version".into()],
        cwd: cwd.to_owned(),
        env: Vec::new(),
        stdin: None,
    };
    let limits = PumpLimits {
        timeout: Some(TIMEOUT),
        terminate_grace: Duration::from_millis(100),
        drain_grace: Duration::from_millis(100),
        ..PumpLimits::default()
    };
    let mut answer = Vec::new();
    let ended = spawn(&spec).ok()?.pump(&limits, &mut |chunk| {
        if let Chunk::Stdout(bytes) = chunk {
            let room = ANSWER_BYTES_MAX.saturating_sub(answer.len());
            answer.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    });
    let said = String::from_utf8_lossy(&answer);
    ended
        .status
        .is_success()
        .then(|| version_in(&said))
        .flatten()
}

/// The first word that looks like a version: it begins with a digit and has a dot.
fn version_in(text: &str) -> Option<String> {
    let words = text.split_whitespace();
    let bare = words.map(|word| word.trim_start_matches('v').trim_end_matches(','));
    let mut versions =
        bare.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'));
    versions.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let check =
            |text, expected: Option<&str>| assert_eq!(version_in(text).as_deref(), expected);
        check("2.1.197 (Claude Code)\n", Some("2.1.197"));
        check("codex-cli 0.169.0\n", Some("0.169.0"));
        check("aider 0.86.2", Some("0.86.2"));
        check("v22.1.0", Some("22.1.0"));
        check("no version", None);
        check("", None);
    }
}
