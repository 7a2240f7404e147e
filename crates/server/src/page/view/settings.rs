//! Views of the pages for settings, health and hooks.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Effective settings with their layers.
#[derive(Template)]
#[template(path = "settings.html")]
pub(crate) struct SettingsView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) groups: Vec<(String, Vec<SettingRow>)>,
}

/// Setting.
pub(crate) struct SettingRow {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) origin: String,
    pub(crate) is_own: bool,
}

/// Results of the health checks.
#[derive(Template)]
#[template(path = "health.html")]
pub(crate) struct HealthView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) checks: Vec<CheckRow>,
    pub(crate) is_checked: bool,
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
    pub(crate) events: Vec<HookEventRow>,
    pub(crate) calls: Vec<HookCallRow>,
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
