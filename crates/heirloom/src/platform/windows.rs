//! Console, folders and the desktop on Windows.

use super::DefaultFolder;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::collections::BTreeMap;
use std::io::Stdout;
use std::os::windows::process::CommandExt;
use std::process::Command;
use winapi_util::console::screen_buffer_info;

/// Ctrl-C of the console does not reach the child (`CREATE_NEW_PROCESS_GROUP`).
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;
/// No console window opens (`CREATE_NO_WINDOW`).
const NO_WINDOW: u32 = 0x0800_0000;
/// Signals that end a command in an orderly way: the C library sends them on Ctrl-C, and when a process sends them to
/// itself.
pub(crate) const TERMINATION_SIGNALS: [i32; 2] = [SIGINT, SIGTERM];
/// Program that opens a link in the desktop's browser.
pub(crate) const BROWSER_OPENER: &str = "rundll32";
/// Arguments of that program before the link. `start` of `cmd` would interpret characters of the link.
pub(crate) const BROWSER_OPENER_ARGS: [&str; 1] = ["url.dll,FileProtocolHandler"];
/// Folder with the user's settings.
pub(crate) const CONFIG_FOLDER: DefaultFolder = DefaultFolder {
    variable: Some("APPDATA"),
    below_home: "AppData/Roaming",
};
/// Folder with the user's data; it is not copied between machines, because a database is not.
pub(crate) const DATA_FOLDER: DefaultFolder = DefaultFolder {
    variable: Some("LOCALAPPDATA"),
    below_home: "AppData/Local",
};
/// Variables of the platform that name folders.
pub(crate) const FOLDER_VARIABLES: [&str; 3] = ["USERPROFILE", "APPDATA", "LOCALAPPDATA"];

/// Does nothing: there is no such limit.
pub(crate) fn report_file_size_limit() {}

/// Does nothing: the priority of a process is not changed.
pub(crate) fn lower_priority(_niceness: i32) {}

/// Lets a command go on without a window when this process and its group end.
pub(crate) fn detach(command: &mut Command) {
    command.creation_flags(NEW_PROCESS_GROUP | NO_WINDOW);
}

/// Returns the width of the console window; 0 if it is not known.
pub(crate) fn terminal_columns(out: &Stdout) -> usize {
    let Ok(found) = screen_buffer_info(out) else {
        return 0;
    };
    let window = found.window_rect();
    usize::try_from(i32::from(window.right) - i32::from(window.left) + 1).unwrap_or(0)
}

/// Returns the name of a variable as it is looked up: names differ in case only by convention, such as `Path`.
pub(crate) fn variable_name(mut name: String) -> String {
    name.make_ascii_uppercase();
    name
}

/// Sets `HOME` to the user's profile folder, in which agent programs have their settings. A `HOME` of a shell such as
/// Git's may differ from it.
pub(crate) fn set_home(variables: &mut BTreeMap<String, String>) {
    if let Some(profile) = variables.get("USERPROFILE").cloned() {
        variables.insert("HOME".to_owned(), profile);
    }
}
