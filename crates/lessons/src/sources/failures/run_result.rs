//! Result of a run, unless a notice of the agent program replaces its output.

use crate::command_run::reported_status;
use crate::cues::FailureCues;
use heirloom_agents::failures::command_result::{CommandResult, CommandShape, ReportedStatus};
use heirloom_agents::transcripts::ToolOutcome;

/// Bytes of an output in which a notice replaces the result.
const NOTICE_BYTES_MAX: usize = 400;

/// Returns the result of a command line; nothing is known if the output is a notice.
pub(super) fn run_result(
    shape: &CommandShape,
    outcome: ToolOutcome,
    output: &str,
    cues: &FailureCues,
) -> CommandResult {
    let head = output
        .get(..output.floor_char_boundary(NOTICE_BYTES_MAX))
        .unwrap_or_default();
    let head = head.to_lowercase();
    let reported = match cues.no_result.is_in(&head) || cues.stopped.is_in(&head) {
        true => ReportedStatus::Rejected,
        false => reported_status(outcome),
    };
    shape.read_result(reported, output)
}
