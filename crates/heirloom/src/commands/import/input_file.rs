//! Reader of imported files, up to a limit of their size.

use heirloom_fs::project_fs::{self, DigestProblem};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::Path;

/// Reads a file up to the limit of imports.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    read_up_to(path, limits::IMPORT_BYTES_MAX)
}

/// Reads a file of at most `max_bytes`.
pub(super) fn read_up_to(path: &Path, max_bytes: u64) -> Result<Vec<u8>, Fault> {
    let name = path.to_escaped();
    project_fs::read_bounded_following_links(path, max_bytes).map_err(|problem| match problem {
        DigestProblem::Missing => {
            Fault::not_found(format!("cannot read {name}: {problem}")).hint("check the path")
        }
        DigestProblem::NotRegularFile => Fault::usage(format!("{name} is not a file")),
        DigestProblem::TooLarge(size) => Fault::usage(format!(
            "{name} has {size} bytes; at most {max_bytes} are read"
        )),
        DigestProblem::Unreadable(error) => Fault::failed(format!("cannot read {name}: {error}")),
    })
}
