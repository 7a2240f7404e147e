//! The config files, read.

use super::{Layer, Origin};
use heirloom_model::{Fault, limits};
use std::fs;
use std::path::Path;

/// The text of a config file, and where it came from; `None` if there is no such file.
pub(in crate::config) fn read(
    path: &Path,
    layer: Layer,
) -> Result<Option<(Origin, String)>, Fault> {
    let place = path.display().to_string();
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Fault::failed(format!("cannot read {place}: {error}"))),
        Ok(meta) if meta.len() > limits::CONFIG_BYTES_MAX => {
            let most = limits::CONFIG_BYTES_MAX;
            return Err(Fault::usage(format!(
                "{place} has {} bytes; at most {most} are read",
                meta.len()
            )));
        }
        Ok(_) => {}
    }
    let bytes =
        fs::read(path).map_err(|error| Fault::failed(format!("cannot read {place}: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::usage(format!("{place} is not UTF-8 at byte {at}")).hint("save the file as UTF-8")
    })?;
    Ok(Some((Origin { layer, place }, text)))
}
