//! Copies of conversations that a hook left because its process was killed.

use crate::config::Environment;
use heirloom_agents::AgentProgram;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use std::fs;
use std::path::PathBuf;

/// Finds the folders in which the program's hooks copied conversations. The conversations themselves, and files that a
/// person put next to these folders, are not among them.
pub(crate) fn find_conversation_copies(program: AgentProgram, env: &Environment) -> Vec<PathBuf> {
    let Some(format) = program.transcripts() else {
        return Vec::new();
    };
    let Some(prefix) = format.copy_folder_prefix else {
        return Vec::new();
    };
    let parents = format.folders.iter();
    let parents = parents.filter_map(|folder| folder.resolve(|name| env.get(name)));
    let entries = parents.filter_map(|parent| fs::read_dir(parent).ok());
    let copies = entries.flatten().flatten().filter(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_folder && entry.file_name().to_string_lossy().starts_with(prefix)
    });
    copies.map(|entry| entry.path()).collect()
}

/// Removes folders with copies of conversations.
///
/// Errors: `Failed` if a folder cannot be removed.
pub(crate) fn remove_conversation_copies(copies: &[PathBuf]) -> Result<(), Fault> {
    for folder in copies {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let name = folder.to_escaped();
                return Err(Fault::failed(format!("cannot remove {name}: {error}"))
                    .hint("it has copies of conversations: remove the folder"));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
