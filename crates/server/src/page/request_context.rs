//! Request context of pages: access, project, theme, and the last change.

use super::cookies::{chosen_project, cookie};
use super::view::Times;
use crate::access::{Access, FormProject, form_token};
use crate::review_cache::ReviewCache;
use crate::{App, Problem};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use heirloom_engine::Engine;
use heirloom_model::Permission;
use heirloom_model::tz::TimeZone;
use std::convert::Infallible;
use std::sync::Arc;

/// Theme cookie: `light` or `dark`.
pub(crate) const THEME_COOKIE: &str = "heirloom_theme";
/// Shortcut cookie: `off` disables single-letter shortcuts.
pub(crate) const KEYS_COOKIE: &str = "heirloom_keys";

/// Context of a page request.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestContext {
    /// True if htmx requests a part of the page.
    pub(crate) is_part: bool,
    /// `light`, `dark`, or empty for the system's theme.
    pub(crate) theme: &'static str,
    /// True if single-letter shortcuts are enabled.
    pub(crate) keys_on: bool,
    /// CSRF token for forms.
    pub(crate) csrf: String,
    /// Requested path with its query.
    pub(crate) path: String,
    /// Last change and the id to undo, from the query; used without scripts.
    pub(crate) done: Option<(String, String)>,
    /// Reviews of projects.
    pub(super) reviews: Arc<ReviewCache>,
    /// Access of the caller.
    pub(super) access: Option<Access>,
    /// Project of the form or the cookie; `None` is the served one.
    pub(super) chosen: Option<String>,
    /// True if a form determines the project, so that no other may be used.
    pub(super) is_form_project: bool,
}

impl RequestContext {
    /// Returns the project of the page. Errors: 401 without login, 403 without the permission.
    pub(crate) fn resolve_project(&self, deed: Permission) -> Result<Option<String>, Problem> {
        let access = self.access.as_ref().ok_or_else(|| {
            Problem::new(StatusCode::UNAUTHORIZED, "login required")
                .hint("`heirloom ui` opens the page")
        })?;
        access.require(deed)?;
        match (&access.project, &self.chosen) {
            (None, Some(chosen)) => Ok(Some(chosen.clone())),
            (Some(_), Some(chosen)) if self.is_form_project => access.resolve_project(Some(chosen)),
            (Some(_), _) | (None, None) => access.resolve_project(None),
        }
    }
}

impl RequestContext {
    /// Returns the name for the audit trail.
    pub(super) fn actor_name(&self) -> String {
        let access = self.access.as_ref();
        access.map_or_else(|| "user".to_owned(), Access::actor_name)
    }
}

impl FromRequestParts<App> for RequestContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let has = |name: &str| parts.headers.get(name).is_some_and(|value| value == "true");
        let restores = has("hx-history-restore-request");
        let theme = chosen_theme(&parts.headers);
        let path = match parts.method == Method::GET {
            true => parts.uri.path_and_query().map(|path| path.to_string()),
            false => referring_path(&parts.headers),
        };
        let access = parts.extensions.get::<Access>().cloned();
        let form_project = parts.extensions.get::<FormProject>();
        let chosen = match form_project {
            Some(FormProject(project)) => project.clone(),
            None => chosen_project(&parts.headers, app.options()),
        };
        let csrf = access.as_ref().and_then(|access| {
            let project = access.project.as_deref().or(chosen.as_deref());
            Some(form_token(access.csrf.as_deref()?, project))
        });
        Ok(Self {
            is_part: has("hx-request") && !restores,
            theme,
            keys_on: cookie(&parts.headers, KEYS_COOKIE) != Some("off"),
            csrf: csrf.unwrap_or_default(),
            path: local_path(path.as_deref().unwrap_or("/")),
            done: parts.uri.query().and_then(parse_done),
            reviews: Arc::clone(app.reviews()),
            access,
            is_form_project: form_project.is_some(),
            chosen,
        })
    }
}

/// Returns the theme of the cookie: `light`, `dark`, or empty for the system's theme.
pub(crate) fn chosen_theme(headers: &HeaderMap) -> &'static str {
    match cookie(headers, THEME_COOKIE) {
        Some("light") => "light",
        Some("dark") => "dark",
        Some(_) | None => "",
    }
}

/// Returns a time formatter relative to now.
pub(crate) fn times(engine: &Engine) -> Times {
    Times::new(engine.now(), TimeZone::UTC)
}

/// Returns the path of the page from which htmx sent a form.
fn referring_path(headers: &HeaderMap) -> Option<String> {
    let from = headers.get("hx-current-url")?.to_str().ok()?;
    let (_, rest) = from.split_once("://")?;
    let at = rest.find('/')?;
    let path = rest.get(at..)?;
    Some(path.split('#').next().unwrap_or(path).to_owned())
}

/// Parses `?done=retired&undo=ID`; accepts only short words and valid ids.
fn parse_done(query: &str) -> Option<(String, String)> {
    let value = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut values = pairs.filter(|(key, _)| *key == name);
        values.next().map(|(_, value)| value)
    };
    let word = value("done")?;
    let undo = value("undo").unwrap_or_default();
    let is_id = undo
        .chars()
        .all(|c| c.is_ascii_hexdigit() || c == '-' || c == ',');
    (word.len() < 20 && is_id).then(|| (word.to_owned(), undo.to_owned()))
}

/// Removes `done` and `undo` from a path, so that a reload does not repeat the toast.
fn strip_done(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else {
        return path.to_owned();
    };
    let keeps = |pair: &&str| !pair.starts_with("done=") && !pair.starts_with("undo=");
    let remaining: Vec<&str> = query.split('&').filter(keeps).collect();
    match remaining.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", remaining.join("&")),
    }
}

/// Redirects after a change, with the change in the query for the toast.
pub(crate) fn redirect_back(to: &str, done: &str, undo: &str) -> Response {
    let to = local_path(to);
    let joint = if to.contains('?') { '&' } else { '?' };
    Redirect::to(&format!("{to}{joint}done={done}&undo={undo}")).into_response()
}

/// Returns a safe local path for a redirect (no open redirects).
pub(crate) fn local_path(to: &str) -> String {
    let is_ours = to.starts_with('/')
        && !to.starts_with("//")
        && to.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    match is_ours {
        true => strip_done(to),
        false => "/".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_to_foreign_address_is_replaced() {
        for (to, expected) in [
            ("/knowledge?f=x&done=retired&undo=1", "/knowledge?f=x"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("/a b\r\nSet-Cookie: x", "/"),
            ("", "/"),
        ] {
            assert_eq!(local_path(to), expected, "{to}");
        }
    }

    #[test]
    fn done_parameter_accepts_word_and_id_only() {
        assert_eq!(
            parse_done("a=b&done=retired&undo=019a-0f"),
            Some(("retired".to_owned(), "019a-0f".to_owned()))
        );
        assert_eq!(parse_done("done=retired&undo=%3Cb%3E"), None);
        assert_eq!(parse_done("f=x"), None);
    }
}
