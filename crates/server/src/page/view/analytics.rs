//! What the page of analytics shows.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// What works.
#[derive(Template)]
#[template(path = "analytics.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) sub: String,
    pub(crate) days: i32,
    pub(crate) has_enough: bool,
    pub(crate) weeks: Html,
    pub(crate) tokens: Html,
    pub(crate) tokens_all: String,
    pub(crate) agents: Vec<String>,
    pub(crate) by_approach: Vec<Group>,
    pub(crate) by_agent: Vec<Group>,
    pub(crate) repeated: Vec<Repeated>,
}

/// Tries with something in common.
pub(crate) struct Group {
    pub(crate) name: Html,
    pub(crate) mark: Html,
    pub(crate) bar: Html,
    pub(crate) successes: usize,
    pub(crate) attempts: usize,
    pub(crate) last: String,
}

/// An approach that fails again and again.
pub(crate) struct Repeated {
    pub(crate) approach: Html,
    pub(crate) why: Html,
    pub(crate) tasks: String,
    pub(crate) failures: usize,
}
