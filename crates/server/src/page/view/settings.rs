//! What the pages of settings, health and hooks show.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Settings, each with the layer that it came from.
#[derive(Template)]
#[template(path = "settings.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) groups: Vec<(String, Vec<Setting>)>,
}

/// One setting.
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) origin: String,
    pub(crate) is_own: bool,
}

/// What the doctor finds.
#[derive(Template)]
#[template(path = "health.html")]
pub(crate) struct Health {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) checks: Vec<Check>,
    pub(crate) is_checked: bool,
}

/// One thing that was looked at.
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) word: &'static str,
    pub(crate) message: Html,
    pub(crate) hint: Html,
}

/// Calls of hooks.
#[derive(Template)]
#[template(path = "hooks.html")]
pub(crate) struct Hooks {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) events: Vec<Event>,
    pub(crate) calls: Vec<Call>,
}

/// Calls of one event.
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) calls: usize,
    pub(crate) failed: usize,
    pub(crate) p50: String,
    pub(crate) p99: String,
    pub(crate) spark: Html,
}

/// One call.
pub(crate) struct Call {
    pub(crate) at: String,
    pub(crate) host: String,
    pub(crate) event: String,
    pub(crate) took: String,
    pub(crate) failed: bool,
}
