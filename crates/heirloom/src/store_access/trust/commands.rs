//! Trust in the files of custom commands.

use super::marks::{Mark, MarkKind, Marks};
use crate::config::Environment;
use heirloom_engine::CommandFile;
use heirloom_model::{Fault, Timestamp};

/// Returns true if the user trusts this file at its path with this content. The user's own files need no trust.
pub(crate) fn is_trusted(env: &Environment, command: &CommandFile) -> bool {
    if !command.source.is_foreign() {
        return true;
    }
    let mark = Marks::of(env).find(MarkKind::Command, &command.path, &command.sha256);
    mark.is_some()
}

/// Records that the user trusts this file.
pub(crate) fn trust(env: &Environment, command: &CommandFile, now: Timestamp) -> Result<(), Fault> {
    let mark = Mark::new(MarkKind::Command, &command.path, &command.sha256, now);
    Marks::of(env).add(&mark)
}

/// Removes the trust in this file.
pub(crate) fn distrust(env: &Environment, command: &CommandFile) -> Result<(), Fault> {
    Marks::of(env).remove(MarkKind::Command, &command.path, &command.sha256)
}
