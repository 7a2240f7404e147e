//! Form of a setting: change, removal from a file, and undo.

use super::super::view::render_text;
use super::super::view::settings::{SettingForm, SettingLayerRow, SettingRowView};
use super::change_toast::{describe_change, undo_toast};
use super::value_list::{EditRights, ListParams, load_list, load_row};
use super::{is_on_this_machine, redirect_to, require_admin, require_setup};
use crate::local_setup::{Setting, SettingChange, SettingEffect, SettingField, SettingLayer};
use crate::page::form_fields::FormFields;
use crate::page::toast::with_refresh_trigger;
use crate::page::view::knowledge::ToastView;
use crate::page::{PageError, RequestContext, Toast, render, render_with_status};
use crate::setting_changes::SetupChange;
use crate::{App, Problem};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use heirloom_model::{ErrorKind, Fault, text};

/// Shows the row of a setting with its form.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Path(key): Path<String>,
) -> Result<Response, PageError> {
    require_admin(&context)?;
    let row = load_row(&app, &context, require_setup(&app)?, &key, true).await?;
    let (row, _) = row.ok_or_else(|| unknown_key(&key))?;
    render(&SettingRowView { row })
}

/// Changes a setting, or removes it from a file.
pub(super) async fn save(
    State(app): State<App>,
    context: RequestContext,
    Path(key): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    require_admin(&context)?;
    let setup = require_setup(&app)?;
    let row = load_row(&app, &context, setup.clone(), &key, false).await?;
    let (mut row, setting) = row.ok_or_else(|| unknown_key(&key))?;
    if !EditRights::of(&app, &context).can_change(&setting) {
        return Err(not_from_elsewhere(setting.danger).into());
    }
    let removed = SettingLayer::by_name(fields.get("remove"));
    let layer = removed.or_else(|| SettingLayer::by_name(fields.get("layer")));
    let layer = layer.ok_or_else(|| Fault::usage("choose the projects that the value is for"))?;
    let value = match removed {
        Some(_) => None,
        // A checkbox that is off sends nothing.
        None if fields.get("value").is_empty() && setting.field.is_switch() => {
            Some("false".to_owned())
        }
        None => Some(fields.raw("value").replace("\r\n", "\n")),
    };
    let given = value.clone().unwrap_or_default();
    let changed = app
        .run_blocking(move || Ok(setup.change_setting(&key, layer, value.as_deref())))
        .await?;
    match changed {
        Ok(change) => {
            apply(&app, change.as_ref());
            answer_change(&app, &context, change, &row.id)
        }
        Err(fault) if fault.kind == ErrorKind::Usage => {
            let mut form = SettingForm::of(&setting, &context);
            form.text = given;
            form.select_layer(layer);
            form.error = fault.message;
            if context.is_part {
                row.form = Some(form);
                return render(&SettingRowView { row });
            }
            let list = load_list(&app, &context, &ListParams::default(), Some(form)).await?;
            render_with_status(StatusCode::UNPROCESSABLE_ENTITY, &list)
        }
        Err(fault) => Err(fault.into()),
    }
}

/// Undoes a change of a setting, or an installation or removal of hooks.
pub(super) async fn undo(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    require_admin(&context)?;
    let setup = require_setup(&app)?;
    let change = app.setting_changes().find(&id).ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_FOUND,
            "this change cannot be undone any more",
        )
        .hint("change the value again")
    })?;
    let (path, words) = match &change {
        SetupChange::Setting(change) => ("/settings", format!("{} is as before.", change.key)),
        SetupChange::HooksInstalled(agent, _) => (
            "/settings/agents",
            format!("The hooks of {agent} are removed."),
        ),
        SetupChange::HooksRemoved(agent, _) => (
            "/settings/agents",
            format!("The hooks of {agent} are installed."),
        ),
    };
    let needs_machine = match &change {
        SetupChange::Setting(change) => {
            let row = load_row(&app, &context, setup.clone(), change.key, false).await?;
            row.is_none_or(|(row, _)| !row.can_change)
        }
        SetupChange::HooksInstalled(..) | SetupChange::HooksRemoved(..) => {
            !is_on_this_machine(&context, app.options())
        }
    };
    if needs_machine {
        return Err(not_from_elsewhere(None).into());
    }
    let undone = change.clone();
    app.run_blocking(move || match &undone {
        SetupChange::Setting(change) => setup.undo_setting(change),
        SetupChange::HooksInstalled(agent, scope) => {
            setup.change_hooks(agent, *scope, false).map(drop)
        }
        SetupChange::HooksRemoved(agent, scope) => {
            setup.change_hooks(agent, *scope, true).map(drop)
        }
    })
    .await?;
    app.setting_changes().remove(&id);
    if let SetupChange::Setting(change) = &change {
        apply(&app, Some(change));
    }
    if context.is_part {
        let toast = Toast::of(&context, words, "");
        let is_target = true;
        return Ok(with_refresh_trigger(render(&ToastView {
            toast,
            is_target,
        })?));
    }
    Ok(redirect_to(&fields.return_path(path), "undone", "", "main"))
}

/// Lets the running server use a changed setting.
fn apply(app: &App, change: Option<&SettingChange>) {
    if change.is_some_and(|change| change.effect == SettingEffect::Now) {
        app.reopen_engines();
    }
}

fn answer_change(
    app: &App,
    context: &RequestContext,
    change: Option<SettingChange>,
    anchor: &str,
) -> Result<Response, PageError> {
    let words = match &change {
        None => "Nothing changed.".to_owned(),
        Some(change) => describe_change(change),
    };
    let id = change.map_or_else(String::new, |change| {
        app.setting_changes().add(SetupChange::Setting(change))
    });
    if !context.is_part {
        let done = if id.is_empty() {
            "unchanged"
        } else {
            "setting"
        };
        return Ok(redirect_to("/settings", done, &id, &format!("s-{anchor}")));
    }
    let toast = undo_toast(context, words, &id);
    let is_target = false;
    Ok(with_refresh_trigger(render(&ToastView {
        toast,
        is_target,
    })?))
}

impl SettingForm {
    /// Creates the form of a setting with its effective value.
    pub(super) fn of(setting: &Setting, context: &RequestContext) -> Self {
        let (field, bounds, words): (_, _, &'static [&'static str]) = match setting.field {
            SettingField::Switch => ("switch", (0, 0), &[]),
            SettingField::Number(low, high) => ("number", (low, high), &[]),
            SettingField::Choice(words) => ("choice", (0, 0), words),
            SettingField::Text => ("text", (0, 0), &[]),
            SettingField::Lines => ("lines", (0, 0), &[]),
        };
        let layer = |layer: SettingLayer, label, value: &Option<String>| SettingLayerRow {
            name: layer.as_str(),
            label,
            is_selected: false,
            is_set: value.is_some(),
            value: value.clone().unwrap_or_default(),
        };
        // The config files are those of the folder that is served, also while another project is shown.
        let project_label = match context.chosen {
            None => "This project",
            Some(_) => "The project in the server's folder",
        };
        let mut layers = vec![layer(SettingLayer::User, "All my projects", &setting.user)];
        if setting.danger.is_none() {
            let project = layer(SettingLayer::Project, project_label, &setting.project);
            layers.insert(0, project);
        }
        let mut form = Self {
            key: setting.key,
            description: render_text(setting.description),
            field,
            bounds,
            words,
            text: setting.text.clone(),
            default: setting.default.clone(),
            layers,
            error: String::new(),
            effect: match setting.effect {
                SettingEffect::Now => "A change is in effect at once.",
                SettingEffect::NextCommand => {
                    "A change is in effect from the next command or hook on."
                }
                SettingEffect::Restart => {
                    "A change is in effect in commands; this server needs a restart."
                }
            },
            overridden_by: match setting.is_overridden {
                true => text::replace_control_chars(&setting.origin),
                false => String::new(),
            },
            csrf: context.csrf.clone(),
        };
        // The file that decides now is the one that a person usually wants to change.
        form.select_layer(match (setting.project.is_some(), setting.user.is_some()) {
            (false, true) => SettingLayer::User,
            (true, _) | (false, false) => SettingLayer::Project,
        });
        form
    }

    fn select_layer(&mut self, layer: SettingLayer) {
        for row in &mut self.layers {
            row.is_selected = row.name == layer.as_str();
        }
    }
}

fn unknown_key(key: &str) -> Fault {
    let key = text::excerpt(key, 60);
    Fault::not_found(format!("there is no setting `{key}`"))
}

fn not_from_elsewhere(danger: Option<&str>) -> Problem {
    let danger = danger.unwrap_or("change programs of this machine");
    Problem::new(
        StatusCode::FORBIDDEN,
        format!("this setting could {danger}: it is only changed on the machine of the server"),
    )
    .hint("edit the config file there, or open the page there with `heirloom ui --role admin`")
}
