//! Executable files of programs.

use crate::platform;
use std::path::{Path, PathBuf};

/// Returns the file of the program at a path; `None` if it does not exist. On Windows the path may lack the ending.
pub fn program_file(path: &Path) -> Option<PathBuf> {
    platform::program_file(path)
}
