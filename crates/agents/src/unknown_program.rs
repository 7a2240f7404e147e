//! Program that the table does not have, started by its command: the prompt is an argument or standard input.

use crate::StreamFormat;
use crate::adapters::launch::{Arg, LaunchDraft};
use crate::adapters::{LaunchAdapter, PromptInput};

/// The generic command. Its output format is detected from the first lines.
pub(crate) const LAUNCH: LaunchAdapter = LaunchAdapter {
    plan: |args, input, has_placeholder| Ok(plan(args, input, has_placeholder)),
    programs: &[],
    packages: &[],
    format: StreamFormat::Auto,
    instruction_files: &[],
};

/// Plans the command as typed: the prompt replaces `{prompt}`, else it is written to standard input.
fn plan(args: &[String], input: &PromptInput, has_placeholder: bool) -> LaunchDraft {
    LaunchDraft {
        args: args.iter().map(|arg| Arg::text(arg)).collect(),
        uses_stdin: !has_placeholder,
        prompt: input.prompt(""),
        format: LAUNCH.format,
    }
}
