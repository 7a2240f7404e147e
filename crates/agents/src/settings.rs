//! Installation of hooks in the settings of an agent program, without other changes to the file.

mod hook_entries;
mod instruction_file;
mod json_editor;
mod json_entries;
mod json_layout;

pub(crate) use hook_entries::HookEntries;
pub(crate) use instruction_file::InstructionFile;
pub(crate) use json_entries::{JsonEntries, OwnEntry, mcp_server_entries};

use crate::{AgentProgram, ProgramFolder};
use std::fmt;

/// Settings of a program into which hooks are installed.
pub struct SettingsFormat {
    /// Folder with the settings of a person.
    pub user_folder: ProgramFolder,
    /// Folder with the settings of a project, relative to its root.
    pub project_folder: &'static str,
    /// The file, relative to either folder.
    pub file: &'static str,
    /// Editor of the file.
    pub editor: &'static dyn SettingsEditor,
    /// Another file that has the hooks if it has other ones.
    pub other_file: Option<OtherSettingsFile>,
    /// Further files of an installation: the entry of the MCP server, and instructions.
    pub more_files: &'static [AddedFile],
    /// Another program that reads the file with the hooks too; a removal leaves them to it.
    pub shares_hooks_with: Option<AgentProgram>,
    /// Steps after the installation, for people.
    pub notes: &'static [&'static str],
    /// Further steps after an installation in a project.
    pub project_notes: &'static [&'static str],
}

/// A second file in which a program accepts hooks.
pub struct OtherSettingsFile {
    /// The file, relative to the folder of the settings.
    pub file: &'static str,
    /// Returns true if the file has hooks, of anyone.
    pub has_hooks: fn(&str) -> bool,
    /// Editor of the file.
    pub editor: &'static dyn SettingsEditor,
}

/// Further file that an installation writes.
pub struct AddedFile {
    /// Part of the installation in the file.
    pub part: SettingsPart,
    /// Folder and file of a person; `None` if the program reads no such file.
    pub user_file: Option<(ProgramFolder, &'static str)>,
    /// File of a project, relative to its root; `None` if the program reads no such file.
    pub project_file: Option<&'static str>,
    /// Another name of the file, which is used if only it exists.
    pub other_name: Option<&'static str>,
    /// Editor of the file.
    pub editor: &'static dyn SettingsEditor,
}

/// Part of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsPart {
    /// The hooks.
    Hooks,
    /// The entry of the MCP server.
    McpServer,
    /// Instructions for the agent.
    Instructions,
}

impl SettingsPart {
    /// Returns the name of the part in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hooks => "hooks",
            Self::McpServer => "mcp",
            Self::Instructions => "instructions",
        }
    }
}

/// Editor of the hook entries in the text of a settings file. An error means that the file must not be written.
pub trait SettingsEditor: Sync {
    /// Returns the text with our entries added or updated; idempotent. An empty text is a missing file.
    ///
    /// # Errors
    ///
    /// The text is not a valid settings file.
    fn add(&self, text: &str) -> Result<String, SettingsError>;

    /// Returns the text without our entries. Lists and objects that become empty are removed, unless `original`, the
    /// text before the installation, has them.
    ///
    /// # Errors
    ///
    /// The text is not a valid settings file.
    fn remove(&self, text: &str, original: Option<&str>) -> Result<String, SettingsError>;

    /// Returns the events whose entry in the text is current, in the order of [`AgentProgram::hook_specs`].
    ///
    /// # Errors
    ///
    /// The text is not a valid settings file.
    fn installed_events(&self, text: &str) -> Result<Vec<&'static str>, SettingsError>;

    /// Returns true if a file with this text has no content of its own and can be deleted.
    fn is_empty(&self, text: &str) -> bool {
        text.chars().filter(|c| !c.is_whitespace()).eq("{}".chars())
    }
}

/// Error in the text of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// Line number, from 1; 0 if the message has it.
    pub line: usize,
    /// The error message.
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

/// Returns the events whose entry in the program's settings is current.
///
/// # Errors
///
/// The text is not a valid settings file.
pub fn installed_events(
    program: AgentProgram,
    text: &str,
) -> Result<Vec<&'static str>, SettingsError> {
    match program.settings() {
        Some(format) => format.editor.installed_events(text),
        None => Ok(Vec::new()),
    }
}

/// Returns the program's settings with our entries added or updated.
///
/// # Errors
///
/// The text is not a valid settings file.
pub fn add_hook_entries(program: AgentProgram, text: &str) -> Result<String, SettingsError> {
    match program.settings() {
        Some(format) => format.editor.add(text),
        None => Ok(text.to_owned()),
    }
}

/// Returns the program's settings without our entries; see [`SettingsEditor::remove`].
///
/// # Errors
///
/// The text is not a valid settings file.
pub fn remove_hook_entries(
    program: AgentProgram,
    text: &str,
    original: Option<&str>,
) -> Result<String, SettingsError> {
    match program.settings() {
        Some(format) => format.editor.remove(text, original),
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests;
