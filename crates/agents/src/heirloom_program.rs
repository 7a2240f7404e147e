//! Name of our program in command lines.

/// Returns true for the name of our program, with or without its folder.
pub(crate) fn is_heirloom(program: &str) -> bool {
    let name = program.rsplit(std::path::is_separator).next();
    name == Some("heirloom") || (cfg!(windows) && name == Some("heirloom.exe"))
}
