//! Views of the pages for tokens, agent programs and first steps.

use crate::page::Shell;
use askama::Template;

/// Access tokens.
#[derive(Template)]
#[template(path = "tokens.html")]
pub(crate) struct TokensView {
    pub(crate) shell: Shell,
    pub(crate) is_admin: bool,
    pub(crate) headline: String,
    pub(crate) tokens: Vec<TokenRow>,
    /// Names of the roles with their permissions.
    pub(crate) roles: Vec<(&'static str, &'static str)>,
    /// Names of the projects with their short names.
    pub(crate) projects: Vec<(String, String)>,
    /// Maximum length of a name.
    pub(crate) name_max: usize,
    /// Token that this request created.
    pub(crate) created: Option<CreatedToken>,
}

/// Access token without its secret.
pub(crate) struct TokenRow {
    pub(crate) id: String,
    /// Empty if it has none.
    pub(crate) name: String,
    pub(crate) role: &'static str,
    pub(crate) permissions: &'static str,
    pub(crate) project: String,
    pub(crate) created: String,
    pub(crate) last_used: String,
}

/// New token with its secret.
pub(crate) struct CreatedToken {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) role: &'static str,
}

/// Agent programs.
#[derive(Template)]
#[template(path = "agents.html")]
pub(crate) struct AgentsView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    /// Programs that are installed here or have the hooks.
    pub(crate) rows: Vec<AgentRow>,
    pub(crate) others: Vec<AgentRow>,
    pub(crate) is_admin: bool,
    pub(crate) can_install: bool,
}

/// Agent program.
pub(crate) struct AgentRow {
    pub(crate) name: &'static str,
    pub(crate) executable: &'static str,
    pub(crate) is_on_path: bool,
    /// Hooks of the user and of the project; empty if the program has none.
    pub(crate) hooks: Vec<HookSetupRow>,
}

/// Hooks of a program in one settings file.
pub(crate) struct HookSetupRow {
    pub(crate) agent: &'static str,
    pub(crate) scope: &'static str,
    pub(crate) reach: &'static str,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) word: &'static str,
    pub(crate) file: String,
    pub(crate) problem: String,
    /// Entries that an installation adds to the file.
    pub(crate) entries: String,
    pub(crate) command: String,
    pub(crate) needs_install: bool,
    /// True if there are hooks to remove.
    pub(crate) has_hooks: bool,
    pub(crate) verb: &'static str,
    pub(crate) can_install: bool,
}

/// Page of the first steps.
#[derive(Template)]
#[template(path = "start.html")]
pub(crate) struct FirstStepsView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) first_steps: FirstSteps,
}

/// Checklist for a new project: `first_steps.html` renders it.
#[derive(Default)]
pub(crate) struct FirstSteps {
    pub(crate) steps: Vec<FirstStep>,
    /// Number of steps that are done.
    pub(crate) done: usize,
}

/// Step of the checklist.
pub(crate) struct FirstStep {
    pub(crate) title: &'static str,
    pub(crate) is_done: bool,
    /// Evidence of a step that is done, or its purpose.
    pub(crate) fact: String,
    /// Command that does the step.
    pub(crate) command: String,
}
