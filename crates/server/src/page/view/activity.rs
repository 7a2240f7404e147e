//! View of the activity page.

use super::overview::EventRow;
use crate::page::Shell;
use askama::Template;

/// Activity page.
#[derive(Template)]
#[template(path = "activity.html")]
pub(crate) struct ActivityView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    /// Filters: name, and the offered values.
    pub(crate) filters: Vec<(&'static str, Vec<ActivityChoice>)>,
    pub(crate) rows: Vec<EventRow>,
    /// Number of matching events without a row.
    pub(crate) hidden: usize,
}

/// Value of a filter.
pub(crate) struct ActivityChoice {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) count: usize,
    pub(crate) is_current: bool,
}
