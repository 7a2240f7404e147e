//! Page of agent programs: their hooks, and installation and removal of these.

use super::super::view::setup::{AgentRow, AgentsView, HookSetupRow};
use super::{
    change_toast, is_on_this_machine, load_shell, redirect_to, require_admin, require_setup,
};
use crate::App;
use crate::local_setup::{AgentSetup, HookSetup, HookState, SettingLayer};
use crate::page::view::plural;
use crate::page::{PageError, RequestContext, render};
use crate::setting_changes::SetupChange;
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_model::{Fault, text};

/// Shows the programs.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let mut shell = load_shell(&app, &context, "Agents").await?;
    change_toast::show_toast(&app, &context, &mut shell);
    let agents = match app.options().setup.clone() {
        Some(setup) => app.run_blocking(move || setup.agents()).await?,
        None => Vec::new(),
    };
    let is_admin = require_admin(&context).is_ok();
    let can_install = is_admin && is_on_this_machine(&context, app.options());
    let installed = agents.iter().filter(|agent| is_installed(agent)).count();
    let (here, others): (Vec<_>, Vec<_>) =
        (agents.iter()).partition(|agent| agent.is_on_path || is_installed(agent));
    let rows = |agents: Vec<&AgentSetup>| {
        let rows = agents
            .into_iter()
            .map(|agent| agent_row(agent, can_install));
        rows.collect::<Vec<_>>()
    };
    render(&AgentsView {
        shell,
        headline: match installed {
            0 => "No agent program has the hooks yet.".to_owned(),
            n => format!(
                "{} the hooks.",
                plural(n, "agent program has", "agent programs have")
            ),
        },
        rows: rows(here),
        others: rows(others),
        is_admin,
        can_install,
    })
}

/// Installs the hooks of a program.
pub(super) async fn install(
    State(app): State<App>,
    context: RequestContext,
    Path((name, scope)): Path<(String, String)>,
) -> Result<Response, PageError> {
    change_hooks(&app, &context, name, &scope, true).await
}

/// Removes the hooks of a program.
pub(super) async fn remove(
    State(app): State<App>,
    context: RequestContext,
    Path((name, scope)): Path<(String, String)>,
) -> Result<Response, PageError> {
    change_hooks(&app, &context, name, &scope, false).await
}

async fn change_hooks(
    app: &App,
    context: &RequestContext,
    name: String,
    scope: &str,
    installs: bool,
) -> Result<Response, PageError> {
    require_admin(context)?;
    if !is_on_this_machine(context, app.options()) {
        let (verb, command) = match installs {
            true => ("installed", "install"),
            false => ("removed", "uninstall"),
        };
        let shown = text::excerpt(&name, 40);
        return Err(
            Fault::refused(format!("hooks are only {verb} on the machine of the agent"))
                .hint(format!("run `heirloom {command} {shown}` there"))
                .into(),
        );
    }
    let setup = require_setup(app)?;
    let scope = SettingLayer::by_name(scope)
        .ok_or_else(|| Fault::not_found("hooks are for the user or for a project"))?;
    let changed = app.run_blocking(move || {
        let agents = setup.agents()?;
        let agent = agents.iter().find(|agent| agent.name == name);
        let agent = agent
            .filter(|agent| !agent.hooks.is_empty())
            .ok_or_else(|| {
                Fault::not_found(format!("`{}` has no hooks", text::excerpt(&name, 40)))
            })?;
        // An undo removes or installs all hooks, so it is only offered if there were none, or all of them.
        let undoable = match installs {
            true => HookState::Missing,
            false => HookState::Installed,
        };
        let can_undo =
            (agent.hooks.iter()).any(|hooks| hooks.scope == scope && hooks.state == undoable);
        let report = setup.change_hooks(agent.name, scope, installs)?;
        Ok((agent.name, report.is_changed && can_undo, report.is_changed))
    });
    let (agent, can_undo, is_changed) = changed.await?;
    let change = match installs {
        true => SetupChange::HooksInstalled(agent, scope),
        false => SetupChange::HooksRemoved(agent, scope),
    };
    let (done, id) = match (can_undo, is_changed) {
        (true, _) => ("setting", app.setting_changes().add(change)),
        (false, true) => ("saved", String::new()),
        (false, false) => ("unchanged", String::new()),
    };
    Ok(redirect_to(
        "/settings/agents",
        done,
        &id,
        &format!("a-{agent}"),
    ))
}

/// Returns true if a program has hooks for the user or the project.
pub(super) fn is_installed(agent: &AgentSetup) -> bool {
    (agent.hooks.iter())
        .any(|hooks| matches!(hooks.state, HookState::Installed | HookState::Outdated))
}

fn agent_row(agent: &AgentSetup, can_install: bool) -> AgentRow {
    AgentRow {
        name: agent.name,
        executable: agent.executables.first().copied().unwrap_or_default(),
        is_on_path: agent.is_on_path,
        hooks: (agent.hooks.iter())
            .map(|hooks| hook_row(agent.name, hooks, can_install))
            .collect(),
    }
}

fn hook_row(agent: &'static str, hooks: &HookSetup, can_install: bool) -> HookSetupRow {
    let (class, icon, word) = match &hooks.state {
        HookState::Installed => ("ok", "check", "installed"),
        HookState::Outdated => ("warn", "note", "incomplete"),
        HookState::Missing => ("faint", "dash", "not installed"),
        HookState::Unusable(_) => ("bad", "cross", "settings file cannot be used"),
    };
    HookSetupRow {
        agent,
        scope: hooks.scope.as_str(),
        reach: match hooks.scope {
            SettingLayer::User => "All your projects",
            SettingLayer::Project => "This project, for everyone",
        },
        class,
        icon,
        word,
        file: text::replace_control_chars(&hooks.file),
        problem: match &hooks.state {
            HookState::Unusable(reason) => text::replace_control_chars(reason),
            HookState::Installed | HookState::Outdated | HookState::Missing => String::new(),
        },
        entries: text::replace_control_chars(&hooks.entries),
        command: match hooks.scope {
            SettingLayer::User => format!("heirloom install {agent}"),
            SettingLayer::Project => format!("heirloom install {agent} --scope project"),
        },
        needs_install: matches!(hooks.state, HookState::Missing | HookState::Outdated),
        has_hooks: matches!(hooks.state, HookState::Installed | HookState::Outdated),
        verb: match hooks.state {
            HookState::Outdated => "Update",
            HookState::Installed | HookState::Missing | HookState::Unusable(_) => "Install",
        },
        can_install,
    }
}
