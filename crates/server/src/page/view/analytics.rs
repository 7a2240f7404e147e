//! View of the analytics page.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Analytics page.
#[derive(Template)]
#[template(path = "analytics.html")]
pub(crate) struct AnalyticsView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) sub: String,
    pub(crate) days: i32,
    pub(crate) has_enough: bool,
    pub(crate) weeks: Html,
    pub(crate) tokens: Html,
    pub(crate) tokens_all: String,
    pub(crate) agents: Vec<String>,
    pub(crate) by_approach: Vec<AnalyticsRow>,
    pub(crate) by_agent: Vec<AnalyticsRow>,
    pub(crate) repeated: Vec<RepeatedFailureRow>,
}

/// Attempts with a common property.
pub(crate) struct AnalyticsRow {
    pub(crate) name: Html,
    pub(crate) mark: Html,
    pub(crate) bar: Html,
    pub(crate) successes: usize,
    /// Number of attempts with a known result.
    pub(crate) ended: usize,
    /// Number of the others.
    pub(crate) unknown: usize,
    pub(crate) last: String,
}

/// An approach that failed repeatedly.
pub(crate) struct RepeatedFailureRow {
    pub(crate) approach: Html,
    /// Encoded words of a recall that finds the attempts.
    pub(crate) query: String,
    pub(crate) why: Html,
    /// Label and path of each task.
    pub(crate) tasks: Vec<(String, String)>,
    pub(crate) failures: usize,
}
