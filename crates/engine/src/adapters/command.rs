//! Any other command: the prompt in its arguments, else on standard input.

use super::launch::{Arg, Draft};
use super::{Handover, Profile};
use heirloom_model::stream::StreamFormat;

/// The generic command. Its output may be anything, so the first line decides.
pub(super) const PROFILE: Profile = Profile {
    name: "command",
    programs: &[],
    packages: &[],
    format: StreamFormat::Auto,
    instruction_files: &[],
};

/// The command as typed; the prompt replaces `{prompt}`, else it goes through standard input.
pub(super) fn plan(args: &[String], memory: &Handover, marked: bool) -> Draft {
    Draft {
        args: args.iter().map(|arg| Arg::text(arg)).collect(),
        by_stdin: !marked,
        prompt: memory.prompt(""),
        format: PROFILE.format,
    }
}
