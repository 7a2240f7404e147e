//! Outcome of an iteration: pure, from the exit status and the agent's output.

use crate::Observation;
use crate::failures::without_wrapping;
use heirloom_engine::Redacted;
use heirloom_model::{AgentStatus, IterationOutcome, LaunchOutcome, limits, text};

/// End of the agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It exited with this code.
    Exit(i32),
    /// It was killed by this signal.
    Signal(i32),
    /// It exceeded its timeout.
    TimedOut {
        /// Timeout in seconds.
        after_s: u64,
    },
    /// The run was interrupted.
    Interrupted,
}

/// Report of the agent's program, besides signals.
#[derive(Debug, Default)]
pub(super) struct AgentReport {
    /// End of standard error.
    pub(super) stderr_tail: Redacted<String>,
    /// Last error in the stream.
    pub(super) stream_error: Option<Redacted<String>>,
    /// True if the stream ended with a failure.
    pub(super) stream_failed: bool,
}

/// Returns the identity of a redacted command line.
pub(super) fn launch_id(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    text::hash_parts(&words)
}

/// Returns how the command of an iteration ended. That the process ends well is no evidence that its earlier failure is
/// gone if the agent reports that the work is not complete.
pub(super) fn launch_outcome(
    id: String,
    ending: Ending,
    observation: &Observation,
    report: &AgentReport,
) -> LaunchOutcome {
    let ended_well = ending == Ending::Exit(0) && !report.stream_failed;
    let has_passed = match observation.status {
        _ if ending == Ending::Interrupted => None,
        _ if !ended_well => Some(false),
        None | Some(AgentStatus::Complete) => Some(true),
        Some(AgentStatus::Partial | AgentStatus::Blocked | AgentStatus::Failed) => None,
    };
    LaunchOutcome { id, has_passed }
}

/// Determines the outcome, without files, branch and pull request.
pub(super) fn determine_outcome(
    ending: Ending,
    observation: &Observation,
    report: &AgentReport,
    pending: usize,
) -> IterationOutcome {
    let ended_well = ending == Ending::Exit(0) && !report.stream_failed;
    let status = match observation.status {
        Some(AgentStatus::Blocked) => AgentStatus::Blocked,
        Some(status) if ended_well => status,
        None if ended_well && pending == 0 => AgentStatus::Complete,
        None if ended_well => AgentStatus::Partial,
        Some(_) | None if ending == Ending::Interrupted => AgentStatus::Partial,
        Some(_) | None => AgentStatus::Failed,
    };
    let mut outcome = IterationOutcome::with_status(status);
    outcome.success &= ended_well;
    outcome.message.clone_from(&observation.status_message);
    if !outcome.success && ending != Ending::Interrupted {
        outcome.error = Some(error_of(ending, &outcome, report));
    }
    outcome
}

fn error_of(ending: Ending, outcome: &IterationOutcome, report: &AgentReport) -> String {
    if let Ending::TimedOut { after_s } = ending {
        // Without the last output, which varies: repeated timeouts count as the same failure.
        return format!("timed out after {after_s} s");
    }
    let how = match ending {
        Ending::Exit(0) | Ending::Interrupted | Ending::TimedOut { .. } => None,
        Ending::Exit(code) => Some(format!("exit code {code}")),
        Ending::Signal(signal) => Some(format!("ended by signal {signal}")),
    };
    let lines = last_lines(&report.stderr_tail);
    let stream_error = report.stream_error.clone().map(Redacted::into_inner);
    let stream_error = stream_error.filter(|error| !error.trim().is_empty());
    let what = stream_error
        .or_else(|| Some(lines).filter(|lines| !lines.is_empty()))
        .or_else(|| outcome.message.clone());
    let what = what.map(|what| without_wrapping(&what).to_owned());
    let what = what.filter(|what| !what.is_empty());
    let words = match (how, what) {
        (Some(how), Some(what)) => format!("{how}: {what}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => format!("the agent's status is {}", outcome.status),
    };
    let most = limits::OUTCOME_TEXT_CHARS_MAX;
    if text::chars(&words) <= most {
        return words;
    }
    format!("{}…", text::clip(&words, most - 1))
}

fn last_lines(stderr: &Redacted<String>) -> String {
    let clean = text::replace_control_chars(&text::strip_ansi(stderr));
    let lines: Vec<_> = clean
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(limits::STDERR_TAIL_LINES_MAX);
    lines[from..].join("\n")
}

/// Returns a key that equal failures share.
pub(super) fn failure_signature(outcome: &IterationOutcome) -> (AgentStatus, String) {
    let error = outcome
        .error
        .as_deref()
        .or(outcome.message.as_deref())
        .unwrap_or_default();
    (outcome.status, text::error_identity(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_redact::Redactor;

    fn redacted(text: &str) -> Redacted<String> {
        Redacted::new(text, &Redactor::default())
    }

    fn check(ending: Ending, status: Option<AgentStatus>, stderr: &str, pending: usize) -> String {
        let observation = Observation {
            status,
            ..Observation::default()
        };
        let report = AgentReport {
            stderr_tail: redacted(stderr),
            ..AgentReport::default()
        };
        let outcome = determine_outcome(ending, &observation, &report, pending);
        format!(
            "{} {} {}",
            outcome.success,
            outcome.status,
            outcome.error.unwrap_or_default()
        )
    }

    #[test]
    fn launch_passes_only_without_a_reported_remainder() {
        use AgentStatus::{Blocked, Complete, Failed, Partial};
        let outcome = |ending, status, stream_failed| {
            let observation = Observation {
                status,
                ..Observation::default()
            };
            let report = AgentReport {
                stream_failed,
                ..AgentReport::default()
            };
            launch_outcome("id".to_owned(), ending, &observation, &report).has_passed
        };
        for (status, passed) in [
            (None, Some(true)),
            (Some(Complete), Some(true)),
            (Some(Partial), None),
            (Some(Blocked), None),
            (Some(Failed), None),
        ] {
            assert_eq!(
                outcome(Ending::Exit(0), status, false),
                passed,
                "{status:?}"
            );
            for ending in [
                Ending::Exit(1),
                Ending::Signal(9),
                Ending::TimedOut { after_s: 1 },
            ] {
                assert_eq!(outcome(ending, status, false), Some(false), "{ending:?}");
            }
            assert_eq!(outcome(Ending::Exit(0), status, true), Some(false));
            assert_eq!(outcome(Ending::Interrupted, status, false), None);
        }
    }

    #[test]
    fn failures_of_different_tests_are_different() {
        let failure = |error: &str| {
            let mut outcome = IterationOutcome::with_status(AgentStatus::Failed);
            outcome.error = Some(error.to_owned());
            failure_signature(&outcome)
        };
        assert_ne!(failure("test_1 failed"), failure("test_2 failed"));
        assert_eq!(
            failure("test_1 failed in 3 s"),
            failure("test_1 failed in 4 s")
        );
    }

    #[test]
    fn long_error_is_shortened_with_ellipsis() {
        let most = limits::OUTCOME_TEXT_CHARS_MAX;
        let error = |chars: usize| {
            let line = "é".repeat(chars - "exit code 1: ".len());
            check(Ending::Exit(1), None, &line, 0).replace("false FAILED ", "")
        };
        assert_eq!(text::chars(&error(most)), most);
        assert!(error(most).ends_with('é'));
        assert_eq!(text::chars(&error(most + 1)), most);
        assert!(error(most + 1).ends_with("é…"));
    }

    #[test]
    fn last_lines_of_stderr_are_kept() {
        let most = limits::STDERR_TAIL_LINES_MAX;
        let lines: Vec<_> = (0..=most).map(|n| format!("line {n}")).collect();
        assert_eq!(
            last_lines(&redacted(&lines[1..].join("\n"))),
            lines[1..].join("\n")
        );
        assert_eq!(
            last_lines(&redacted(&lines.join("\n"))),
            lines[1..].join("\n")
        );
    }

    #[test]
    fn outcome_depends_on_exit_status_and_agent_status() {
        use AgentStatus::{Blocked, Complete, Failed, Partial};
        assert_eq!(check(Ending::Exit(0), None, "warning", 0), "true COMPLETE ");
        assert_eq!(check(Ending::Exit(0), None, "", 2), "true PARTIAL ");
        assert_eq!(
            check(Ending::Exit(0), Some(Partial), "", 0),
            "true PARTIAL "
        );
        assert_eq!(
            check(Ending::Exit(0), Some(Failed), "", 0),
            "false FAILED the agent's status is FAILED"
        );
        assert_eq!(
            check(
                Ending::Exit(1),
                Some(Complete),
                "\u{1b}[31mboom\u{1b}[0m\n\n",
                0
            ),
            "false FAILED exit code 1: boom"
        );
        assert_eq!(
            check(Ending::Exit(1), None, "", 0),
            "false FAILED exit code 1"
        );
        assert_eq!(
            check(Ending::Exit(1), Some(Blocked), "", 0),
            "false BLOCKED exit code 1"
        );
        assert_eq!(
            check(Ending::Signal(9), None, "", 0),
            "false FAILED ended by signal 9"
        );
        assert_eq!(
            check(Ending::TimedOut { after_s: 5 }, None, "Terminated\n", 0),
            "false FAILED timed out after 5 s"
        );
        assert_eq!(check(Ending::Interrupted, None, "", 0), "false PARTIAL ");
    }
}
