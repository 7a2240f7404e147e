//! Toasts of changes of settings and hooks.

use crate::App;
use crate::local_setup::{SettingChange, SettingEffect, SettingLayer};
use crate::page::{RequestContext, Shell, Toast};
use crate::setting_changes::SetupChange;

/// Shows the toast of the change that a redirect names.
pub(super) fn show_toast(app: &App, context: &RequestContext, shell: &mut Shell) {
    let Some((_, id)) = context.done.as_ref().filter(|(done, _)| done == "setting") else {
        return;
    };
    shell.toast = app.setting_changes().find(id).map(|change| {
        let words = match &change {
            SetupChange::Setting(change) => describe_change(change),
            SetupChange::HooksInstalled(agent, _) => {
                format!("The hooks of {agent} are installed.")
            }
            SetupChange::HooksRemoved(agent, _) => format!("The hooks of {agent} are removed."),
        };
        undo_toast(context, words, id)
    });
}

/// Creates the toast of a change; `id` is its id, or empty if nothing can be undone.
pub(super) fn undo_toast(context: &RequestContext, words: String, id: &str) -> Toast {
    let mut toast = Toast::of(context, words, "");
    if !id.is_empty() {
        toast.undo = format!("/settings/undo/{id}");
    }
    toast
}

/// Describes a change of a setting with its reach and the time of its effect.
pub(super) fn describe_change(change: &SettingChange) -> String {
    let reach = match change.layer {
        SettingLayer::User => "for all your projects",
        SettingLayer::Project => "for this project",
    };
    let effect = match change.effect {
        SettingEffect::Now => "in effect now",
        SettingEffect::NextCommand => "in effect from the next command or hook on",
        SettingEffect::Restart => "in effect in commands; in this server after a restart",
    };
    format!("{} is changed {reach}, {effect}.", change.key)
}
