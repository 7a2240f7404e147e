//! What stands around every page: where one is, where one can go, and what was just done.

use super::look::Look;
use super::told::encoded;
use super::view::{bytes, number};
use heirloom_engine::Engine;
use heirloom_model::{Fault, Kind};

/// Where the stream of changes is.
const EVENTS: &str = "/api/events";
/// Sessions that are counted; of more it is only said that there are more.
const SESSIONS_COUNTED: usize = 200;

/// What stands around a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shell {
    /// The part of the navigation that it belongs to.
    pub(crate) at: &'static str,
    /// Its title.
    pub(crate) title: String,
    /// The project.
    pub(crate) project: String,
    /// `light`, `dark`, or nothing.
    pub(crate) theme: &'static str,
    /// Whether single letters do something.
    pub(crate) keys_on: bool,
    /// Only the main part is wanted.
    pub(crate) is_part: bool,
    /// What forms send back.
    pub(crate) csrf: String,
    /// The address of the page.
    pub(crate) path: String,
    /// What stands in the field above.
    pub(crate) question: String,
    /// The navigation.
    pub(crate) nav: Vec<NavPart>,
    /// The size of the store.
    pub(crate) size: String,
    /// The program's version.
    pub(crate) version: &'static str,
    /// Where changes are told as they happen.
    pub(crate) events: String,
    /// Tells one version of scripts and styles from another.
    pub(crate) assets: &'static str,
    /// What was just done.
    pub(crate) toast: Option<Toast>,
}

/// A group of the navigation.
#[derive(Debug, Clone)]
pub(crate) struct NavPart {
    /// Its heading, or nothing.
    pub(crate) title: &'static str,
    /// Its pages.
    pub(crate) items: Vec<NavItem>,
}

/// One page of the navigation.
#[derive(Debug, Clone)]
pub(crate) struct NavItem {
    /// Its name in code.
    pub(crate) id: &'static str,
    /// Its address.
    pub(crate) href: &'static str,
    /// Its icon.
    pub(crate) icon: &'static str,
    /// Its name.
    pub(crate) label: &'static str,
    /// The letter behind `g`.
    pub(crate) key: &'static str,
    /// How much there is, or nothing.
    pub(crate) count: String,
    /// Somebody should look at it.
    pub(crate) is_due: bool,
}

/// What was just done, and the way back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Toast {
    /// What was done.
    pub(crate) words: String,
    /// Where it is taken back, or nothing.
    pub(crate) undo: String,
    /// What the form sends back.
    pub(crate) csrf: String,
    /// Where one goes then.
    pub(crate) back: String,
}

impl Toast {
    /// What was done to a record.
    pub(crate) fn of(look: &Look, words: impl Into<String>, undo: &str) -> Self {
        let undo = match undo {
            "" => String::new(),
            id => format!("/undo/{id}"),
        };
        Self {
            words: words.into(),
            undo,
            csrf: look.csrf.clone(),
            back: look.path.clone(),
        }
    }
}

impl Shell {
    /// What stands around the page `at`; `title` is for the browser.
    pub(crate) fn load(
        engine: &Engine,
        look: &Look,
        at: &'static str,
        title: impl Into<String>,
    ) -> Result<Self, Fault> {
        let nav = match look.is_part {
            true => Vec::new(),
            false => nav(engine)?,
        };
        let size = engine.describe_store()?.size_bytes;
        let toast = look.done.as_ref().map(|(done, undo)| {
            let mut toast = Toast::of(look, done_words(done), undo);
            if done == "written" {
                toast.undo = format!("/unsave{}", look.path);
            }
            toast
        });
        Ok(Self {
            at,
            title: title.into(),
            project: engine.project().as_str().to_owned(),
            theme: look.theme,
            keys_on: look.keys_on,
            is_part: look.is_part,
            csrf: look.csrf.clone(),
            path: look.path.clone(),
            question: String::new(),
            nav,
            size: bytes(size),
            version: env!("CARGO_PKG_VERSION"),
            events: match &look.chosen {
                Some(_) => format!("{EVENTS}?project={}", encoded(engine.project().as_str())),
                None => EVENTS.to_owned(),
            },
            assets: super::asset::stamp(),
            toast: toast.filter(|toast| !toast.words.is_empty()),
        })
    }
}

/// What a word in an address says; nothing for words that are not ours.
pub(crate) fn done_words(done: &str) -> &'static str {
    match done {
        "saved" | "written" => "Saved.",
        "created" => "Remembered.",
        "retired" => "Retired. It stays in history.",
        "pinned" => "Pinned: it is in every context of its scope.",
        "unpinned" => "No longer pinned.",
        "muted" => "Muted: it is in no context.",
        "unmuted" => "No longer muted.",
        "useful" => "Marked useful.",
        "not-useful" => "Marked not useful.",
        "kept" => "Kept.",
        "decided" => "Decided.",
        "undone" => "Undone.",
        "purged" => "Purged for good.",
        "verified" => "Verified against the files.",
        "done" => "Done.",
        "reopened" => "Reopened.",
        "resolved" => "Resolved.",
        "noted" => "Noted.",
        "unchanged" => "Nothing changed.",
        _ => "",
    }
}

fn nav(engine: &Engine) -> Result<Vec<NavPart>, Fault> {
    let counts = engine.counts()?;
    let count = |kind: Kind| {
        let found = counts.iter().find(|(one, _)| *one == kind);
        found.map_or_else(String::new, |(_, n)| number(*n))
    };
    let sessions = engine.sessions_of(None, SESSIONS_COUNTED)?.len();
    let sessions = match sessions {
        0 => String::new(),
        SESSIONS_COUNTED => format!("{SESSIONS_COUNTED}+"),
        n => n.to_string(),
    };
    let item = |id, href, icon, label, key, count: String| NavItem {
        id,
        href,
        icon,
        label,
        key,
        count,
        is_due: false,
    };
    let none = String::new;
    let part = |title, items| NavPart { title, items };
    Ok(vec![
        part(
            "",
            vec![
                item("overview", "/", "overview", "Overview", "o", none()),
                item("recall", "/recall", "recall", "Recall", "r", none()),
            ],
        ),
        part(
            "Memory",
            vec![
                item(
                    "knowledge",
                    "/knowledge",
                    "knowledge",
                    "Knowledge",
                    "k",
                    count(Kind::Knowledge),
                ),
                item("tasks", "/tasks", "task", "Tasks", "t", count(Kind::Task)),
                item(
                    "workspace",
                    "/workspace",
                    "workspace",
                    "Workspace",
                    "w",
                    none(),
                ),
                item("groups", "/groups", "groups", "Groups", "u", none()),
            ],
        ),
        part(
            "Prompts",
            vec![
                item("receipts", "/receipts", "receipt", "Receipts", "c", none()),
                item(
                    "sessions",
                    "/sessions",
                    "session",
                    "Sessions",
                    "s",
                    sessions,
                ),
            ],
        ),
        part(
            "Care",
            vec![
                item(
                    "analytics",
                    "/analytics",
                    "analytics",
                    "Analytics",
                    "a",
                    none(),
                ),
                item("review", "/review", "review", "Review", "v", none()),
                item("marks", "/marks", "pin", "Pins and mutes", "p", none()),
                item("settings", "/settings", "settings", "Settings", ",", none()),
            ],
        ),
    ])
}
