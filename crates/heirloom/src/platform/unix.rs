//! Signals, priority, terminal, folders and the desktop on Unix.

use super::DefaultFolder;
use rustix::termios::tcgetwinsize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::collections::BTreeMap;
use std::io::Stdout;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// Signals that end a command in an orderly way.
pub(crate) const TERMINATION_SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Program that opens a link in the desktop's browser.
pub(crate) const BROWSER_OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};
/// Arguments of that program before the link.
pub(crate) const BROWSER_OPENER_ARGS: [&str; 0] = [];
/// Folder with the user's settings.
pub(crate) const CONFIG_FOLDER: DefaultFolder = DefaultFolder {
    variable: None,
    below_home: ".config",
};
/// Folder with the user's data.
pub(crate) const DATA_FOLDER: DefaultFolder = DefaultFolder {
    variable: None,
    below_home: ".local/share",
};
/// Variables of the platform that name folders.
pub(crate) const FOLDER_VARIABLES: [&str; 0] = [];

/// Turns SIGXFSZ (file size limit) into a write error with a message, as for a full disk: by default the signal ends
/// the process.
pub(crate) fn report_file_size_limit() {
    // The flag itself is not used.
    let _default = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Adds to the nice value of the process. A refusal is ignored.
pub(crate) fn lower_priority(niceness: i32) {
    let _ = rustix::process::nice(niceness);
}

/// Lets a command go on when this process and its group end.
pub(crate) fn detach(command: &mut Command) {
    command.process_group(0);
}

/// Returns the width of the terminal; 0 if it is not known.
pub(crate) fn terminal_columns(out: &Stdout) -> usize {
    tcgetwinsize(out).map_or(0, |size| usize::from(size.ws_col))
}

/// Returns the name of a variable as it is looked up.
pub(crate) fn variable_name(name: String) -> String {
    name
}

/// Does nothing: the system sets `HOME`.
pub(crate) fn set_home(_variables: &mut BTreeMap<String, String>) {}
