//! Table of the agent programs and their capabilities.

use crate::adapters::LaunchAdapter;
use crate::hooks::HookProtocol;
use crate::settings::SettingsFormat;
use crate::streams::dialect::StreamDialect;
use crate::transcripts::TranscriptFormat;
use crate::{
    aider, claude_code, codex, copilot, cursor, gemini, opencode, unknown_program, vscode, windsurf,
};
use heirloom_model::Fault;
use std::fmt;
use std::str::FromStr;

/// One row of the table: the names of a program and what Heirloom supports of it.
pub(crate) struct ProgramRow {
    /// Name on the command line, in records and in sessions.
    pub(crate) name: &'static str,
    /// Environment variables that it sets in the shells of its agent, and that no shell of a person has.
    pub(crate) shell_variables: &'static [&'static str],
    /// Name for `heirloom import`.
    pub(crate) import_name: &'static str,
    /// Its command line in `heirloom run`.
    pub(crate) launch: &'static LaunchAdapter,
    /// Its event stream.
    pub(crate) stream: Option<&'static StreamDialect>,
    /// Its hook events and answers.
    pub(crate) hooks: Option<&'static HookProtocol>,
    /// The settings into which its hooks are installed.
    pub(crate) settings: Option<&'static SettingsFormat>,
    /// Its stored conversations.
    pub(crate) transcripts: Option<&'static TranscriptFormat>,
}

/// Defines [`AgentProgram`] with one row for each program.
macro_rules! agent_programs {
    ($($(#[$doc:meta])* $program:ident => $row:expr,)+) => {
        /// An agent program that Heirloom knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AgentProgram {
            $($(#[$doc])* $program,)+
        }

        impl AgentProgram {
            /// All programs; the generic command is last.
            pub const ALL: [Self; [$(stringify!($program)),+].len()] = [$(Self::$program),+];

            /// Returns the program's row.
            pub(crate) fn row(self) -> &'static ProgramRow {
                match self {
                    $(Self::$program => {
                        static ROW: ProgramRow = $row;
                        &ROW
                    })+
                }
            }
        }
    };
}

agent_programs! {
    /// Claude Code, `claude`.
    ClaudeCode => ProgramRow {
        name: "claude-code",
        shell_variables: &["CLAUDECODE"],
        import_name: "claude",
        launch: &claude_code::launch::LAUNCH,
        stream: Some(&claude_code::stream::STREAM),
        hooks: Some(&claude_code::hooks::HOOKS),
        settings: Some(&claude_code::settings::SETTINGS),
        transcripts: Some(&claude_code::transcript::TRANSCRIPTS),
    },
    /// Codex CLI, `codex`.
    Codex => ProgramRow {
        name: "codex",
        shell_variables: &["CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"],
        import_name: "codex",
        launch: &codex::launch::LAUNCH,
        stream: Some(&codex::stream::STREAM),
        hooks: Some(&codex::hooks::HOOKS),
        settings: Some(&codex::settings::SETTINGS),
        transcripts: Some(&codex::transcript::TRANSCRIPTS),
    },
    /// Gemini CLI, `gemini`.
    Gemini => ProgramRow {
        name: "gemini",
        shell_variables: &["GEMINI_CLI"],
        import_name: "gemini",
        launch: &gemini::launch::LAUNCH,
        stream: Some(&gemini::stream::STREAM),
        hooks: Some(&gemini::hooks::HOOKS),
        settings: Some(&gemini::settings::SETTINGS),
        transcripts: Some(&gemini::transcript::TRANSCRIPTS),
    },
    /// aider, `aider`.
    Aider => ProgramRow {
        name: "aider",
        shell_variables: &[],
        import_name: "aider",
        launch: &aider::launch::LAUNCH,
        stream: None,
        hooks: None,
        settings: None,
        transcripts: Some(&aider::transcript::TRANSCRIPTS),
    },
    /// opencode, `opencode`.
    Opencode => ProgramRow {
        name: "opencode",
        shell_variables: &["OPENCODE"],
        import_name: "opencode",
        launch: &opencode::launch::LAUNCH,
        stream: Some(&opencode::stream::STREAM),
        hooks: Some(&opencode::hooks::HOOKS),
        settings: Some(&opencode::settings::SETTINGS),
        transcripts: Some(&opencode::transcript::TRANSCRIPTS),
    },
    /// GitHub Copilot CLI, `copilot`.
    Copilot => ProgramRow {
        name: "copilot",
        shell_variables: &["COPILOT_CLI"],
        import_name: "copilot",
        launch: &copilot::launch::LAUNCH,
        stream: Some(&copilot::stream::STREAM),
        hooks: Some(&copilot::hooks::HOOKS),
        settings: Some(&copilot::settings::SETTINGS),
        transcripts: Some(&copilot::transcript::TRANSCRIPTS),
    },
    /// Cursor, an editor.
    Cursor => ProgramRow {
        name: "cursor",
        shell_variables: &["CURSOR_AGENT"],
        import_name: "cursor",
        launch: &unknown_program::LAUNCH,
        stream: None,
        hooks: Some(&cursor::hooks::HOOKS),
        settings: Some(&cursor::settings::SETTINGS),
        transcripts: None,
    },
    /// Windsurf, an editor.
    Windsurf => ProgramRow {
        name: "windsurf",
        shell_variables: &[],
        import_name: "windsurf",
        launch: &unknown_program::LAUNCH,
        stream: None,
        hooks: Some(&windsurf::hooks::HOOKS),
        settings: Some(&windsurf::settings::SETTINGS),
        transcripts: None,
    },
    /// Visual Studio Code, an editor.
    Vscode => ProgramRow {
        name: "vscode",
        shell_variables: &[],
        import_name: "vscode",
        launch: &unknown_program::LAUNCH,
        stream: None,
        hooks: None,
        settings: Some(&vscode::settings::SETTINGS),
        transcripts: None,
    },
    /// Any other command.
    Command => ProgramRow {
        name: "command",
        shell_variables: &[],
        import_name: "command",
        launch: &unknown_program::LAUNCH,
        stream: None,
        hooks: None,
        settings: None,
        transcripts: None,
    },
}

impl AgentProgram {
    /// Returns the name, used on the command line, as the source of records and as the agent of sessions.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// Returns the name for `heirloom import`.
    pub fn import_name(self) -> &'static str {
        self.row().import_name
    }

    /// Returns the environment variables that show that a process runs in a shell of the program's agent.
    pub fn shell_variables(self) -> &'static [&'static str] {
        self.row().shell_variables
    }

    /// Returns the names of the program's executable; empty for the generic command.
    pub fn executables(self) -> &'static [&'static str] {
        self.row().launch.programs
    }

    /// Returns the hook events and answers.
    pub fn hooks(self) -> Option<&'static HookProtocol> {
        self.row().hooks
    }

    /// Returns the format of the settings into which hooks are installed.
    pub fn settings(self) -> Option<&'static SettingsFormat> {
        self.row().settings
    }

    /// Returns the format of stored conversations.
    pub fn transcripts(self) -> Option<&'static TranscriptFormat> {
        self.row().transcripts
    }

    /// Iterates over the programs with hooks.
    pub fn with_hooks() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|one| one.hooks().is_some())
    }

    /// Iterates over the programs with settings into which Heirloom is installed.
    pub fn with_settings() -> impl Iterator<Item = Self> {
        let has = |one: &Self| one.settings().is_some();
        Self::ALL.into_iter().filter(has)
    }

    /// Iterates over the programs whose conversations can be imported.
    pub fn with_transcripts() -> impl Iterator<Item = Self> {
        let has = |one: &Self| one.transcripts().is_some();
        Self::ALL.into_iter().filter(has)
    }

    /// Returns true for an environment variable that names a folder of a program, or shows how it was started or whose
    /// shell it is.
    pub fn reads_variable(name: &str) -> bool {
        if (Self::ALL.into_iter()).any(|one| one.shell_variables().contains(&name)) {
            return true;
        }
        let folders = Self::ALL.into_iter().flat_map(|one| {
            let settings = one.settings().into_iter().flat_map(|format| {
                let more = format.more_files.iter();
                let more = more.filter_map(|file| Some(&file.user_file.as_ref()?.0));
                std::iter::once(&format.user_folder).chain(more)
            });
            let transcripts = one.transcripts().map_or(&[][..], |format| format.folders);
            settings.chain(transcripts)
        });
        let mut starts = Self::ALL
            .into_iter()
            .filter_map(|one| one.hooks()?.script_variable);
        folders
            .filter_map(|folder| folder.variable)
            .any(|variable| variable == name)
            || starts.any(|(variable, _)| variable == name)
    }
}

impl fmt::Display for AgentProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for AgentProgram {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let requested_name = text.trim().to_ascii_lowercase();
        let by_name = |program: &Self| {
            let programs = program.row().launch.programs;
            program.as_str() == requested_name || programs.contains(&requested_name.as_str())
        };
        Self::ALL.into_iter().find(by_name).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            let content = heirloom_model::text::excerpt(text, 60);
            Fault::usage(format!(
                "`{content}` is not an adapter: expected one of {known}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_are_unique_and_parsed() {
        for program in AgentProgram::ALL {
            assert_eq!(program.as_str().parse(), Ok(program));
            let same = |other: &AgentProgram| other.import_name() == program.import_name();
            assert_eq!(AgentProgram::ALL.into_iter().filter(same).count(), 1);
            // Hooks without settings could not be installed.
            assert!(program.hooks().is_none() || program.settings().is_some());
        }
        assert!("zed".parse::<AgentProgram>().is_err());
    }

    #[test]
    fn variables_are_those_of_the_table() {
        for name in [
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_ENTRYPOINT",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "COPILOT_HOME",
            "XDG_CONFIG_HOME",
        ] {
            assert!(AgentProgram::reads_variable(name), "{name}");
        }
        assert!(!AgentProgram::reads_variable("LD_PRELOAD"));
    }
}
