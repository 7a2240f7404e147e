//! Version of an installed program.

use super::{Chunk, LaunchSpec, PumpLimits, spawn};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// Time limit for `--version`.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of output that are searched.
const ANSWER_BYTES_MAX: usize = 4 << 10;

/// Returns the version that `PROGRAM --version` prints; `None` if the program does not exist or prints none.
///
/// Starts the program, so call it only on a person's request. Takes at most about five seconds.
pub fn program_version(program: &OsStr, cwd: &Path) -> Option<String> {
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
    let content = String::from_utf8_lossy(&answer);
    ended
        .status
        .is_success()
        .then(|| find_version(&content))
        .flatten()
}

/// Returns the first word that looks like a version: it begins with a digit and has a dot.
fn find_version(text: &str) -> Option<String> {
    let words = text.split_whitespace();
    let bare = words.map(|word| word.trim_start_matches('v').trim_end_matches(','));
    let mut versions =
        bare.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'));
    versions.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::find_version;

    #[test]
    fn find_version_in_output_of_programs() {
        let check =
            |text, expected: Option<&str>| assert_eq!(find_version(text).as_deref(), expected);
        check("2.1.197 (Claude Code)\n", Some("2.1.197"));
        check("codex-cli 0.169.0\n", Some("0.169.0"));
        check("aider 0.86.2", Some("0.86.2"));
        check("v22.1.0", Some("22.1.0"));
        check("no version", None);
        check("", None);
    }
}
