//! The process environment, read once.

use crate::platform::{self, DefaultFolder};
use heirloom_agents::AgentProgram;
use heirloom_engine::CommandBook;
use heirloom_model::Authority;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Source of an agent without a name of its own.
const AGENT: &str = "agent";
/// Variable that `heirloom run` sets for its agents.
const RUN_VARIABLE: &str = "HEIRLOOM_ITERATION";
/// Variable with the name of an agent program, for those without a row in the table.
const COMMON_VARIABLE: &str = "AI_AGENT";

/// Environment variables that Heirloom uses.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    vars: BTreeMap<String, String>,
}

impl Environment {
    /// Reads the variables that begin with `HEIRLOOM_`, and the few others that are used.
    pub(crate) fn read() -> Self {
        let is_read = |name: &str| {
            name.starts_with("HEIRLOOM_")
                || matches!(
                    name,
                    "HOME"
                        | "PATH"
                        | "XDG_CONFIG_HOME"
                        | "XDG_DATA_HOME"
                        | "NO_COLOR"
                        | "CLICOLOR"
                        | "CLICOLOR_FORCE"
                        | "CI"
                        | "TERM"
                        | "TERM_PROGRAM"
                        | "VTE_VERSION"
                        | "KITTY_WINDOW_ID"
                        | "KONSOLE_VERSION"
                        | "WT_SESSION"
                        | "DOMTERM"
                        | "TMUX"
                        | "STY"
                        | "PGPASSWORD"
                        | "PGPASSFILE"
                        | "PGSERVICEFILE"
                        | "AI_AGENT"
                )
                || AgentProgram::reads_variable(name)
        };
        let mut vars: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| {
                Some((
                    platform::variable_name(name.into_string().ok()?),
                    value.to_string_lossy().into_owned(),
                ))
            })
            .filter(|(name, _)| {
                is_read(name) || platform::FOLDER_VARIABLES.contains(&name.as_str())
            })
            .collect();
        platform::set_home(&mut vars);
        Self { vars }
    }

    /// Returns the value of a variable; an empty one counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.vars
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Reads a secret from the variable that the settings name; it is read when needed and never stored.
    #[expect(
        clippy::disallowed_methods,
        reason = "the settings name the variable: it is not known before they are read"
    )]
    pub(crate) fn secret(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// Returns the name of the agent in whose shell the program runs; `None` in the shell of a person.
    pub(crate) fn acting_agent(&self) -> Option<String> {
        let has = |name: &&str| self.get(name).is_some();
        let program = AgentProgram::ALL
            .into_iter()
            .find(|program| program.shell_variables().iter().any(has));
        if let Some(program) = program {
            return Some(program.as_str().to_owned());
        }
        if let Some(name) = self.get(COMMON_VARIABLE) {
            return Some(Authority::agent_source(name).to_owned());
        }
        has(&RUN_VARIABLE).then(|| AGENT.to_owned())
    }

    /// Returns the path of the user's config file: `HEIRLOOM_CONFIG`, else `config.toml` in the XDG folder.
    pub(crate) fn user_config(&self) -> Option<PathBuf> {
        if let Some(path) = self.get("HEIRLOOM_CONFIG") {
            return Some(PathBuf::from(path));
        }
        Some(
            self.xdg("XDG_CONFIG_HOME", platform::CONFIG_FOLDER)?
                .join("heirloom/config.toml"),
        )
    }

    /// Returns the folder of the user's own commands: `commands` next to the user's config file.
    pub(crate) fn user_commands(&self) -> Option<PathBuf> {
        let config = self.user_config()?;
        let config = std::path::absolute(&config).unwrap_or(config);
        Some(config.parent()?.join("commands"))
    }

    /// Returns the folders of custom commands: those of the project at `root`, then the person's.
    pub(crate) fn command_book(&self, root: PathBuf) -> CommandBook {
        let home = self.get("HOME").map(Path::new);
        let home = home.filter(|home| home.is_absolute());
        CommandBook::new(root, self.user_commands()).with_home(home)
    }

    /// Returns the user's own workspace: `configured` if it is not empty, else the folder in the XDG folder.
    pub(crate) fn user_workspace(&self, configured: &str) -> Option<PathBuf> {
        match configured.strip_prefix("~/") {
            Some(below_home) => Some(PathBuf::from(self.get("HOME")?).join(below_home)),
            None if configured.is_empty() => Some(
                self.xdg("XDG_CONFIG_HOME", platform::CONFIG_FOLDER)?
                    .join("heirloom/workspace"),
            ),
            None => Some(PathBuf::from(configured)).filter(|path| path.is_absolute()),
        }
    }

    /// Returns the folder of stores made by `init --user`, and of the user's own memory.
    pub(crate) fn data_dir(&self) -> Option<PathBuf> {
        Some(
            self.xdg("XDG_DATA_HOME", platform::DATA_FOLDER)?
                .join("heirloom"),
        )
    }

    /// Returns the data folder for the marks of trust. Agent programs may call hooks without `HOME`, and a memory must not
    /// be foreign then: the home folder of the account is used.
    pub(crate) fn trust_dir(&self) -> Option<PathBuf> {
        let of_account = || {
            let home = std::env::home_dir().filter(|home| home.is_absolute())?;
            Some(home.join(platform::DATA_FOLDER.below_home).join("heirloom"))
        };
        self.data_dir().or_else(of_account)
    }

    fn xdg(&self, name: &str, default: DefaultFolder) -> Option<PathBuf> {
        let absolute = |name: &str| {
            let path = self.get(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let given = absolute(name).or_else(|| absolute(default.variable?));
        given.or_else(|| Some(PathBuf::from(self.get("HOME")?).join(default.below_home)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_trust_have_a_folder_without_home() {
        let nothing = Environment::default();
        assert_eq!(nothing.data_dir(), None);
        let folder = nothing.trust_dir().unwrap();
        assert!(
            folder.is_absolute() && folder.ends_with("heirloom"),
            "{folder:?}"
        );
    }
}
