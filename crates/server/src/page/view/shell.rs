//! Layout of a page as data: navigation, title, and the toast of the last change.

/// Layout around the main part of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shell {
    /// Id of the current navigation entry.
    pub(crate) at: &'static str,
    /// Title of the document.
    pub(crate) title: String,
    /// Display name of the project.
    pub(crate) project: String,
    /// `light`, `dark`, or empty for the system's theme.
    pub(crate) theme: &'static str,
    /// True if single-letter shortcuts are enabled.
    pub(crate) keys_on: bool,
    /// True if only the main part is rendered.
    pub(crate) is_part: bool,
    /// CSRF token for forms.
    pub(crate) csrf: String,
    /// Path of the page.
    pub(crate) path: String,
    /// Query in the search field.
    pub(crate) question: String,
    /// Navigation groups.
    pub(crate) nav: Vec<NavPart>,
    /// Size of the store.
    pub(crate) size: String,
    /// Program version.
    pub(crate) version: &'static str,
    /// Path of the event stream.
    pub(crate) events: String,
    /// Hash that versions the URLs of scripts and styles.
    pub(crate) assets: &'static str,
    /// Toast of the last change.
    pub(crate) toast: Option<Toast>,
}

/// Group of navigation entries.
#[derive(Debug, Clone)]
pub(crate) struct NavPart {
    /// Heading; may be empty.
    pub(crate) title: &'static str,
    /// Entries of the group.
    pub(crate) items: Vec<NavItem>,
}

/// Navigation entry.
#[derive(Debug, Clone)]
pub(crate) struct NavItem {
    /// Id of the entry.
    pub(crate) id: &'static str,
    /// Path of the page.
    pub(crate) href: &'static str,
    /// Name of the icon.
    pub(crate) icon: &'static str,
    /// Label.
    pub(crate) label: &'static str,
    /// Key after `g`.
    pub(crate) key: &'static str,
    /// Number of items; may be empty.
    pub(crate) count: String,
    /// True if it needs attention.
    pub(crate) is_due: bool,
}

/// Toast: message about a change, with an undo button.
#[derive(Debug, Clone, Default)]
pub(crate) struct Toast {
    /// Message.
    pub(crate) words: String,
    /// Path that undoes the change; may be empty.
    pub(crate) undo: String,
    /// CSRF token of the undo form.
    pub(crate) csrf: String,
    /// Path to which the undo form returns.
    pub(crate) back: String,
}
