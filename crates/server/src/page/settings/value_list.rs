//! List of settings: those that differ from their defaults first, the others by section.

use super::super::view::settings::{SettingForm, SettingGroup, SettingRow, SettingsView};
use super::super::view::{plural, render_text};
use super::{change_toast, is_on_this_machine, load_shell, require_admin};
use crate::App;
use crate::local_setup::{LocalSetup, Setting};
use crate::page::{PageError, RequestContext, render};
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_model::text;
use serde::Deserialize;
use std::sync::Arc;

/// Maximum number of shown characters of a value.
const VALUE_CHARS_MAX: usize = 160;

/// Query parameters of the list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListParams {
    /// Part of names or descriptions.
    f: String,
    /// `1` shows only values that differ from their defaults.
    changed: String,
    /// Key whose form is open.
    edit: String,
}

/// Rights of the caller to change settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EditRights {
    pub(super) is_admin: bool,
    pub(super) is_on_this_machine: bool,
}

impl EditRights {
    pub(super) fn of(app: &App, context: &RequestContext) -> Self {
        Self {
            is_admin: require_admin(context).is_ok(),
            is_on_this_machine: is_on_this_machine(context, app.options()),
        }
    }

    /// Returns true if the caller may change a setting.
    pub(super) fn can_change(self, setting: &Setting) -> bool {
        self.is_admin && (self.is_on_this_machine || setting.danger.is_none())
    }
}

/// Shows the list.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<ListParams>,
) -> Result<Response, PageError> {
    render(&load_list(&app, &context, &params, None).await?)
}

/// Loads the page with the form `open`, or with the form that the parameters name.
pub(super) async fn load_list(
    app: &App,
    context: &RequestContext,
    params: &ListParams,
    open: Option<SettingForm>,
) -> Result<SettingsView, PageError> {
    let mut shell = load_shell(app, context, "Settings").await?;
    change_toast::show_toast(app, context, &mut shell);
    let settings = match app.options().setup.clone() {
        Some(setup) => app.run_blocking(move || setup.settings()).await?,
        None => Vec::new(),
    };
    let rights = EditRights::of(app, context);
    let open = match open {
        Some(form) => Some(form),
        None => (settings.iter())
            .find(|one| one.key == params.edit && rights.can_change(one))
            .map(|one| SettingForm::of(one, context)),
    };
    Ok(list_view(shell, &settings, params, rights, open))
}

fn list_view(
    shell: crate::page::Shell,
    settings: &[Setting],
    params: &ListParams,
    rights: EditRights,
    mut open: Option<SettingForm>,
) -> SettingsView {
    let filter = params.f.trim().to_lowercase();
    let is_changed_only = params.changed == "1";
    let changed = settings.iter().filter(|one| is_changed(one)).count();
    let mut row = |setting: &Setting| {
        let mut row = setting_row(setting, rights);
        if open.as_ref().is_some_and(|form| form.key == setting.key) {
            row.form = open.take();
        }
        row
    };
    let matches = |one: &&Setting| {
        let words = format!("{} {}", one.key, one.description).to_lowercase();
        filter.split_whitespace().all(|word| words.contains(word))
    };
    let mut groups: Vec<SettingGroup> = Vec::new();
    let first: Vec<_> = (settings.iter())
        .filter(|one| is_changed(one))
        .filter(matches)
        .map(&mut row)
        .collect();
    if !first.is_empty() {
        groups.push(SettingGroup {
            id: "changed".to_owned(),
            title: "Changed".to_owned(),
            names: String::new(),
            is_open: true,
            rows: first,
        });
    }
    let unchanged = settings.iter().filter(|one| !is_changed(one));
    for setting in unchanged.filter(|_| !is_changed_only).filter(matches) {
        let section = setting.key.split('.').next().unwrap_or_default();
        let row = row(setting);
        match groups.last_mut().filter(|group| group.id == section) {
            Some(group) => {
                group.is_open |= row.form.is_some();
                group.rows.push(row);
            }
            None => groups.push(SettingGroup {
                id: section.to_owned(),
                title: section_title(section),
                names: String::new(),
                is_open: row.form.is_some() || !filter.is_empty(),
                rows: vec![row],
            }),
        }
    }
    for group in groups.iter_mut().filter(|group| group.id != "changed") {
        let names = group.rows.iter().map(|row| short_name(row.key));
        group.names = names.collect::<Vec<_>>().join(", ");
    }
    SettingsView {
        headline: match changed {
            0 => "All settings are at their defaults.".to_owned(),
            n => format!(
                "{} from the default.",
                plural(n, "setting differs", "settings differ")
            ),
        },
        all: settings.len(),
        changed,
        is_changed_only,
        filter: params.f.trim().to_owned(),
        is_admin: rights.is_admin,
        has_settings: !settings.is_empty(),
        groups,
        shell,
    }
}

/// Loads the row of one setting; with `is_open` its form.
pub(super) async fn load_row(
    app: &App,
    context: &RequestContext,
    setup: Arc<dyn LocalSetup>,
    key: &str,
    is_open: bool,
) -> Result<Option<(SettingRow, Setting)>, PageError> {
    let settings = app.run_blocking(move || setup.settings()).await?;
    let rights = EditRights::of(app, context);
    let found = settings.into_iter().find(|one| one.key == key);
    Ok(found.map(|setting| {
        let mut row = setting_row(&setting, rights);
        if is_open && row.can_change {
            row.form = Some(SettingForm::of(&setting, context));
        }
        (row, setting)
    }))
}

fn setting_row(setting: &Setting, rights: EditRights) -> SettingRow {
    SettingRow {
        id: setting.key.replace('.', "-"),
        key: setting.key,
        sentence: render_text(&setting.description[..setting.sentence_bytes]),
        value: text::excerpt(
            &text::replace_control_chars(&setting.value),
            VALUE_CHARS_MAX,
        ),
        origin: text::replace_control_chars(&setting.origin),
        is_changed: is_changed(setting),
        can_change: rights.can_change(setting),
        form: None,
    }
}

fn is_changed(setting: &Setting) -> bool {
    setting.origin != "default"
}

/// Returns the name of a key without its section, as words.
fn short_name(key: &str) -> String {
    let (_, name) = key.split_once('.').unwrap_or(("", key));
    name.replace('_', " ")
}

fn section_title(section: &str) -> String {
    let mut letters = section.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
