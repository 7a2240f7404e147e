//! Result of a run, also if a filter hides its exit status.

use crate::command_run::CommandRun;
use crate::cues::FailureCues;
use heirloom_agents::failures::reports_failure;
use heirloom_agents::transcripts::ToolOutcome;

/// Result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunResult {
    /// The command failed.
    Failed,
    /// The command succeeded.
    Passed,
    /// The call does not show it.
    Unknown,
}

/// Bytes of an output in which a notice replaces the result.
const NOTICE_BYTES_MAX: usize = 400;

/// Returns the result of a run.
pub(super) fn run_result(
    run: &CommandRun,
    outcome: ToolOutcome,
    output: &str,
    cues: &FailureCues,
) -> RunResult {
    let head = output
        .get(..output.floor_char_boundary(NOTICE_BYTES_MAX))
        .unwrap_or_default();
    let head = head.to_lowercase();
    if cues.no_result.is_in(&head) || cues.stopped.is_in(&head) {
        return RunResult::Unknown;
    }
    match outcome {
        // A sandbox reports a command that failed by itself as denied; the shell's own errors show it.
        ToolOutcome::Rejected if head.contains("exit code: ") && cues.start_faults.is_in(&head) => {
            RunResult::Failed
        }
        ToolOutcome::Rejected => RunResult::Unknown,
        ToolOutcome::Failed => RunResult::Failed,
        ToolOutcome::Succeeded if run.is_masked && !run.is_probe && reports_failure(output) => {
            RunResult::Failed
        }
        ToolOutcome::Succeeded => RunResult::Passed,
    }
}
