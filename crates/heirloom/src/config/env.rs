//! The process's environment, read once.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What Heirloom takes from its environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    vars: BTreeMap<String, String>,
}

impl Environment {
    /// Reads the variables that begin with `HEIRLOOM_`, and the few others that matter.
    pub(crate) fn read() -> Self {
        let wanted = |name: &str| {
            name.starts_with("HEIRLOOM_")
                || matches!(
                    name,
                    "HOME"
                        | "PATH"
                        | "XDG_CONFIG_HOME"
                        | "XDG_DATA_HOME"
                        | "NO_COLOR"
                        | "CI"
                        | "TERM"
                        | "CLAUDE_CONFIG_DIR"
                        | "CODEX_HOME"
                        | "GEMINI_CLI_HOME"
                )
        };
        let vars = std::env::vars_os()
            .filter_map(|(name, value)| {
                Some((
                    name.into_string().ok()?,
                    value.to_string_lossy().into_owned(),
                ))
            })
            .filter(|(name, _)| wanted(name))
            .collect();
        Self { vars }
    }

    /// The value of a variable; an empty one counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.vars
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// A secret out of the variable that the settings name, read when it is needed and kept nowhere.
    #[expect(
        clippy::disallowed_methods,
        reason = "the settings name the variable: it is not known before they are read"
    )]
    pub(crate) fn secret(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The user's config file: `HEIRLOOM_CONFIG`, else `config.toml` in the XDG folder.
    pub(crate) fn user_config(&self) -> Option<PathBuf> {
        if let Some(path) = self.get("HEIRLOOM_CONFIG") {
            return Some(PathBuf::from(path));
        }
        Some(
            self.xdg("XDG_CONFIG_HOME", ".config")?
                .join("heirloom/config.toml"),
        )
    }

    /// The person's own commands: `commands` beside the user's config file.
    pub(crate) fn user_commands(&self) -> Option<PathBuf> {
        let config = self.user_config()?;
        let config = std::path::absolute(&config).unwrap_or(config);
        Some(config.parent()?.join("commands"))
    }

    /// The person's own workspace: `configured` if that is something, else the folder in the XDG folder.
    pub(crate) fn user_workspace(&self, configured: &str) -> Option<PathBuf> {
        match configured.strip_prefix("~/") {
            Some(below_home) => Some(PathBuf::from(self.get("HOME")?).join(below_home)),
            None if configured.is_empty() => Some(
                self.xdg("XDG_CONFIG_HOME", ".config")?
                    .join("heirloom/workspace"),
            ),
            None => Some(PathBuf::from(configured)).filter(|path| path.is_absolute()),
        }
    }

    /// Where the stores of `init --user` are.
    pub(crate) fn data_dir(&self) -> Option<PathBuf> {
        Some(self.xdg("XDG_DATA_HOME", ".local/share")?.join("heirloom"))
    }

    fn xdg(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        let given = self
            .get(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        given.or_else(|| Some(PathBuf::from(self.get("HOME")?).join(below_home)))
    }
}
