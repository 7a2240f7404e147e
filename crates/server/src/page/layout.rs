//! Page layout: loads the navigation, the title, and the toast of the last change.

use super::pending_items::PendingItems;
use super::record_label::percent_encode;
use super::request_context::RequestContext;
use super::toast::done_message;
use super::view::shell::{NavItem, NavPart, Shell, Toast};
use super::view::{bytes, number};
use heirloom_engine::Engine;
use heirloom_model::{Fault, Kind};

/// Path of the event stream.
const EVENTS: &str = "/api/events";
/// Maximum number of counted sessions; above it the navigation shows this number with a plus.
const SESSIONS_COUNTED: usize = 200;

impl Shell {
    /// Loads the layout of the page `at`; `title` is the document's title.
    pub(crate) fn load(
        engine: &Engine,
        context: &RequestContext,
        at: &'static str,
        title: impl Into<String>,
    ) -> Result<Self, Fault> {
        let nav = match context.is_part {
            true => Vec::new(),
            false => nav(engine, context)?,
        };
        let size = engine.maintenance().describe_store()?.size_bytes;
        let toast = context.done.as_ref().map(|(done, undo)| {
            let mut toast = Toast::of(context, done_message(done), undo);
            if done == "written" {
                toast.undo = format!("/unsave{}", context.path);
            }
            toast
        });
        Ok(Self {
            at,
            title: title.into(),
            project: engine.display_name(),
            theme: context.theme,
            keys_on: context.keys_on,
            is_part: context.is_part,
            csrf: context.csrf.clone(),
            path: context.path.clone(),
            question: String::new(),
            nav,
            size: bytes(size),
            version: env!("CARGO_PKG_VERSION"),
            events: match &context.chosen {
                Some(_) => format!(
                    "{EVENTS}?project={}",
                    percent_encode(engine.project().as_str())
                ),
                None => EVENTS.to_owned(),
            },
            assets: super::static_assets::assets_hash(),
            toast: toast.filter(|toast| !toast.words.is_empty()),
        })
    }
}

/// Navigation entry as a constant: id, path, icon, label, key after `g`.
type NavEntry = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

/// Groups of the navigation, each with a heading that may be empty.
const NAV: [(&str, &[NavEntry]); 4] = [
    (
        "",
        &[
            ("overview", "/", "overview", "Overview", "o"),
            ("inbox", "/inbox", "review", "Inbox", "i"),
            ("recall", "/recall", "recall", "Recall", "r"),
        ],
    ),
    (
        "Memory",
        &[
            ("knowledge", "/knowledge", "knowledge", "Knowledge", "k"),
            ("tasks", "/tasks", "task", "Tasks", "t"),
            ("workspace", "/workspace", "workspace", "Workspace", "w"),
            ("groups", "/groups", "groups", "Groups", "u"),
        ],
    ),
    (
        "Prompts",
        &[
            ("receipts", "/receipts", "receipt", "Receipts", "c"),
            ("sessions", "/sessions", "session", "Sessions", "s"),
        ],
    ),
    (
        "Care",
        &[
            ("analytics", "/analytics", "analytics", "Analytics", "a"),
            ("activity", "/activity", "activity", "Activity", "y"),
            ("marks", "/marks", "pin", "Pins and mutes", "p"),
            ("settings", "/settings", "settings", "Settings", ","),
        ],
    ),
];

/// Loads the navigation with its counts.
fn nav(engine: &Engine, context: &RequestContext) -> Result<Vec<NavPart>, Fault> {
    let counts = engine.records().counts()?;
    let count_of = |kind: Kind| {
        let found = counts.iter().find(|(one, _)| *one == kind);
        found.map_or_else(String::new, |(_, n)| number(*n))
    };
    let inbox = inbox_count(engine, context)?;
    let sessions = session_count(engine)?;
    let item = |(id, href, icon, label, key): &NavEntry| NavItem {
        id,
        href,
        icon,
        label,
        key,
        count: match *id {
            "inbox" => inbox.clone(),
            "knowledge" => count_of(Kind::Knowledge),
            "tasks" => count_of(Kind::Task),
            "sessions" => sessions.clone(),
            _ => String::new(),
        },
        is_due: *id == "inbox" && !inbox.is_empty(),
    };
    let part = |(title, entries): (&'static str, &[NavEntry])| NavPart {
        title,
        items: entries.iter().map(item).collect(),
    };
    Ok(NAV.into_iter().map(part).collect())
}

/// Returns the number of sessions; empty if it is 0.
fn session_count(engine: &Engine) -> Result<String, Fault> {
    let found = engine.sessions().sessions_of(None, SESSIONS_COUNTED)?;
    Ok(match found.len() {
        0 => String::new(),
        SESSIONS_COUNTED => format!("{SESSIONS_COUNTED}+"),
        n => n.to_string(),
    })
}

/// Returns the number of items in the inbox; empty if it is 0.
fn inbox_count(engine: &Engine, context: &RequestContext) -> Result<String, Fault> {
    let load = || PendingItems::load(engine, context).map(|items| items.count());
    Ok(match context.reviews.count_inbox(engine, load)? {
        0 => String::new(),
        n => number(n as u64),
    })
}
