//! What the palette offers.

use askama::Template;

/// Where one could go.
#[derive(Template)]
#[template(path = "jump.html")]
pub(crate) struct Answer {
    pub(crate) jumps: Vec<Jump>,
}

/// One place.
pub(crate) struct Jump {
    pub(crate) href: String,
    pub(crate) icon: &'static str,
    pub(crate) words: String,
    pub(crate) hint: String,
}
