//! Setup of the machine that the page shows and changes: config files, hooks of agent programs, checks.

use heirloom_engine::HealthCheck;
use heirloom_model::Fault;
use std::path::PathBuf;

/// Access to config files and agent programs of the served project. The program implements it, because it reads the
/// environment and the home folder.
pub trait LocalSetup: Send + Sync {
    /// Loads every setting with its values in the config files.
    fn settings(&self) -> Result<Vec<Setting>, Fault>;

    /// Sets a key in a config file; `None` removes it from the file. Returns `None` if the file has that value already.
    ///
    /// Errors: `Usage` for a value that does not fit the key; nothing is changed.
    fn change_setting(
        &self,
        key: &str,
        layer: SettingLayer,
        value: Option<&str>,
    ) -> Result<Option<SettingChange>, Fault>;

    /// Restores the value, or the absence, of a key before a change. Errors: `Refused` if it was changed since.
    fn undo_setting(&self, change: &SettingChange) -> Result<(), Fault>;

    /// Finds the agent programs, and the state of their hooks.
    fn agents(&self) -> Result<Vec<AgentSetup>, Fault>;

    /// Installs or removes the hooks of an agent program, as `heirloom install` and `heirloom uninstall` do.
    fn change_hooks(
        &self,
        agent: &str,
        scope: SettingLayer,
        installs: bool,
    ) -> Result<HookSetupReport, Fault>;

    /// Runs the checks of `heirloom doctor`.
    fn examine(&self) -> Result<Vec<HealthCheck>, Fault>;

    /// Reads the state of a database server for people: names with values. Empty for a database in a file.
    fn server_facts(&self) -> Result<Vec<(&'static str, String)>, Fault>;
}

/// Config file, and its reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingLayer {
    /// All projects of the user.
    User,
    /// One project, for everyone who works in it.
    Project,
}

impl SettingLayer {
    /// Returns the name in forms and paths.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// Returns the layer with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::User, Self::Project]
            .into_iter()
            .find(|layer| layer.as_str() == name)
    }
}

/// Setting with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `section.key`.
    pub key: &'static str,
    /// Description; its first sentence is shown in lists.
    pub description: &'static str,
    /// Length of the first sentence of the description.
    pub sentence_bytes: usize,
    /// Form field that fits the values.
    pub field: SettingField,
    /// Effective value as in a config file.
    pub value: String,
    /// Layer of the effective value, and its file, variable or flag.
    pub origin: String,
    /// Effective value as text of the form field.
    pub text: String,
    /// Built-in value as text of the form field.
    pub default: String,
    /// Value in the user's file as text of the form field; `None` if the file does not set it.
    pub user: Option<String>,
    /// Value in the project's file, as `user`.
    pub project: Option<String>,
    /// True if an environment variable or a flag sets the effective value, so that no file has an effect.
    pub is_overridden: bool,
    /// Harm that an untrusted value could do. If set, the project's file cannot set the key.
    pub danger: Option<&'static str>,
    /// Time at which a change takes effect.
    pub effect: SettingEffect,
}

/// Form field of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingField {
    /// Checkbox: `true` or `false`.
    Switch,
    /// Whole number within bounds.
    Number(i64, i64),
    /// Word of a list.
    Choice(&'static [&'static str]),
    /// One line of text.
    Text,
    /// List with one entry on each line.
    Lines,
}

impl SettingField {
    /// Returns true for a checkbox.
    pub fn is_switch(self) -> bool {
        self == Self::Switch
    }
}

/// Time at which a change of a setting takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingEffect {
    /// At once, in this server and in commands.
    Now,
    /// At the next command or hook; this server does not use the setting.
    NextCommand,
    /// At the next command, and in this server after a restart.
    Restart,
}

/// Change of a config file, with the data to undo it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// Key of the setting.
    pub key: &'static str,
    /// Config file.
    pub layer: SettingLayer,
    /// Time at which the change takes effect.
    pub effect: SettingEffect,
    /// Path of the file.
    pub file: PathBuf,
    /// Text of the file before the change; `None` if it did not exist.
    pub before: Option<String>,
    /// Text of the file after the change.
    pub after: String,
}

/// Agent program with the state of its hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSetup {
    /// Name on the command line.
    pub name: &'static str,
    /// Names of its executable.
    pub executables: &'static [&'static str],
    /// True if an executable is in a folder of `PATH`.
    pub is_on_path: bool,
    /// State of its hooks for the user and for the project; empty if the program has no hooks.
    pub hooks: Vec<HookSetup>,
}

/// State of the hooks of an agent program in one settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSetup {
    /// Reach of the settings file.
    pub scope: SettingLayer,
    /// State.
    pub state: HookState,
    /// Path of the settings file.
    pub file: String,
    /// Entries that an installation adds to the file.
    pub entries: String,
}

/// State of installed hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookState {
    /// All hooks are installed.
    Installed,
    /// Some hooks are missing or are those of another version.
    Outdated,
    /// No hooks are installed.
    Missing,
    /// The settings file cannot be used, with the reason.
    Unusable(String),
}

/// Result of an installation or removal of hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookSetupReport {
    /// True if the settings file was changed.
    pub is_changed: bool,
    /// Path of the settings file.
    pub file: String,
    /// Steps that the user still has to do.
    pub notes: Vec<String>,
}
