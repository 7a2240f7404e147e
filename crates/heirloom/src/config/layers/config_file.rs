//! Reading of config files.

use super::{Layer, Origin};
use heirloom_fs::project_fs::{DigestProblem, read_bounded_following_links};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::Path;

/// Reads a config file with its origin; `None` if the file does not exist.
pub(crate) fn read_config(path: &Path, layer: Layer) -> Result<Option<(Origin, String)>, Fault> {
    let place = path.to_escaped();
    let most = limits::CONFIG_BYTES_MAX;
    let bytes = match read_bounded_following_links(path, most) {
        Ok(bytes) => bytes,
        Err(DigestProblem::Missing) => return Ok(None),
        Err(DigestProblem::NotRegularFile) => {
            return Err(Fault::failed(format!(
                "cannot read {place}: it is not a file"
            )));
        }
        Err(DigestProblem::TooLarge(size)) => {
            return Err(Fault::usage(format!(
                "{place} has {size} bytes; at most {most} are read"
            )));
        }
        Err(DigestProblem::Unreadable(error)) => {
            return Err(Fault::failed(format!("cannot read {place}: {error}")));
        }
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::usage(format!("{place} is not UTF-8 at byte {at}")).hint("save the file as UTF-8")
    })?;
    Ok(Some((Origin { layer, place }, text)))
}
