//! Toasts: messages about a change, and the answers that show them.

use super::view::knowledge::ToastView;
use super::{PageError, RequestContext, Toast, render};
use axum::http::HeaderValue;
use axum::response::Response;

impl Toast {
    /// Creates the toast of a change; `undo` is the id to undo, or empty.
    pub(crate) fn of(context: &RequestContext, words: impl Into<String>, undo: &str) -> Self {
        let undo = match undo {
            "" => String::new(),
            id => format!("/undo/{id}"),
        };
        Self {
            words: words.into(),
            undo,
            csrf: context.csrf.clone(),
            back: context.path.clone(),
        }
    }
}

/// Returns the message of a `done` parameter; empty for unknown words.
pub(crate) fn done_message(done: &str) -> &'static str {
    match done {
        "saved" | "written" => "Saved.",
        "created" => "Remembered.",
        "retired" => "Retired. It stays in history.",
        "pinned" => "Pinned: every context of its scope includes it.",
        "unpinned" => "No longer pinned.",
        "muted" => "Muted: no context includes it.",
        "unmuted" => "No longer muted.",
        "all-retired" => "Retired. They stay in history.",
        "all-pinned" => "Pinned: every context of their scopes includes them.",
        "all-unpinned" => "No longer pinned.",
        "all-muted" => "Muted: no context includes them.",
        "all-unmuted" => "No longer muted.",
        "all-moved" => "Moved to the category.",
        "useful" => "Marked useful.",
        "not-useful" => "Marked not useful.",
        "kept" => "Kept.",
        "decided" => "Decided.",
        "accepted" => "Accepted: it counts as your own statement.",
        "rejected" => "Rejected. It stays in history.",
        "unblocked" => "No longer blocked.",
        "undone" => "Undone.",
        "purged" => "Permanently deleted.",
        "verified" => "Verified against the files.",
        "done" => "Done.",
        "reopened" => "Reopened.",
        "resolved" => "Resolved.",
        "noted" => "Noted.",
        "unchanged" => "Nothing changed.",
        _ => "",
    }
}

/// Adds the trigger after which the page's script reloads the main part.
pub(crate) fn with_refresh_trigger(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert("hx-trigger", HeaderValue::from_static("heirloom:changed"));
    response
}

/// Answers a change with a toast, and has the page reload.
pub(crate) fn toast_and_refresh(
    context: &RequestContext,
    done: &str,
    undo: &str,
) -> Result<Response, PageError> {
    let toast = Toast::of(context, done_message(done), undo);
    let is_target = false;
    Ok(with_refresh_trigger(render(&ToastView {
        toast,
        is_target,
    })?))
}
