//! Views of the pages for values, health and hooks.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Settings: those that differ from their defaults, then the others by section.
#[derive(Template)]
#[template(path = "settings.html")]
pub(crate) struct SettingsView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) all: usize,
    pub(crate) changed: usize,
    pub(crate) is_changed_only: bool,
    pub(crate) filter: String,
    pub(crate) is_admin: bool,
    pub(crate) has_settings: bool,
    pub(crate) groups: Vec<SettingGroup>,
}

/// Group of settings.
pub(crate) struct SettingGroup {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Names of its settings without the section.
    pub(crate) names: String,
    pub(crate) is_open: bool,
    pub(crate) rows: Vec<SettingRow>,
}

/// Setting.
pub(crate) struct SettingRow {
    /// Id of the row in the page.
    pub(crate) id: String,
    pub(crate) key: &'static str,
    pub(crate) sentence: Html,
    pub(crate) value: String,
    pub(crate) origin: String,
    pub(crate) is_changed: bool,
    pub(crate) can_change: bool,
    /// Form that replaces the row.
    pub(crate) form: Option<SettingForm>,
}

/// Row of one setting, for htmx.
#[derive(Template)]
#[template(path = "setting_row.html")]
pub(crate) struct SettingRowView {
    pub(crate) row: SettingRow,
}

/// Form of a setting.
pub(crate) struct SettingForm {
    pub(crate) key: &'static str,
    pub(crate) description: Html,
    /// `switch`, `number`, `choice`, `text` or `lines`.
    pub(crate) field: &'static str,
    /// Bounds of a number.
    pub(crate) bounds: (i64, i64),
    /// Words of a choice.
    pub(crate) words: &'static [&'static str],
    pub(crate) text: String,
    pub(crate) default: String,
    pub(crate) layers: Vec<SettingLayerRow>,
    /// Reason why the given value was not used.
    pub(crate) error: String,
    pub(crate) effect: &'static str,
    /// Origin of a value that has precedence over the files; empty if none does.
    pub(crate) overridden_by: String,
    pub(crate) csrf: String,
}

/// Config file of a setting.
pub(crate) struct SettingLayerRow {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) is_selected: bool,
    /// True if the file sets the key.
    pub(crate) is_set: bool,
    pub(crate) value: String,
}

/// Results of the health checks, and facts about the store.
#[derive(Template)]
#[template(path = "health.html")]
pub(crate) struct HealthView {
    pub(crate) shell: Shell,
    pub(crate) headline: &'static str,
    /// Time at which the checks ran; empty before the first run ended.
    pub(crate) checked_at: String,
    pub(crate) is_running: bool,
    pub(crate) facts: Vec<(&'static str, String)>,
    /// Facts about a database server; empty for a file.
    pub(crate) server: Vec<(&'static str, String)>,
    /// Warnings and errors, the worst first.
    pub(crate) problems: Vec<CheckRow>,
    pub(crate) passed: Vec<CheckRow>,
}

/// Health check.
pub(crate) struct CheckRow {
    pub(crate) name: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) word: &'static str,
    pub(crate) message: Html,
    pub(crate) hint: Html,
}

/// Hook calls.
#[derive(Template)]
#[template(path = "hooks.html")]
pub(crate) struct HooksView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) problems: Vec<HookProblemRow>,
    pub(crate) events: Vec<HookEventRow>,
    pub(crate) calls: Vec<HookCallRow>,
}

/// Error message of hooks with the number of its occurrences.
pub(crate) struct HookProblemRow {
    pub(crate) message: String,
    pub(crate) count: String,
    pub(crate) last: String,
}

/// Hook calls of one event.
pub(crate) struct HookEventRow {
    pub(crate) name: String,
    pub(crate) calls: usize,
    pub(crate) failed: usize,
    pub(crate) p50: String,
    pub(crate) p99: String,
    pub(crate) spark: Html,
}

/// Hook call.
pub(crate) struct HookCallRow {
    pub(crate) at: String,
    pub(crate) host: String,
    pub(crate) event: String,
    pub(crate) took: String,
    pub(crate) failed: bool,
}
