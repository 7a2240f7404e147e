//! What a request says about how it wants to be answered.

use super::projects;
use super::view::Times;
use crate::access::{Access, Meant, field};
use crate::{App, Problem};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use heirloom_engine::Engine;
use heirloom_model::Deed;
use heirloom_model::tz::TimeZone;
use std::convert::Infallible;

/// Cookie: `light` or `dark`.
pub(crate) const THEME: &str = "heirloom_theme";
/// Cookie: `off` switches single letters off.
pub(crate) const KEYS: &str = "heirloom_keys";

/// How an answer shall look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look {
    /// A script asks for a part of the page.
    pub(crate) is_part: bool,
    /// `light`, `dark`, or nothing for the system's.
    pub(crate) theme: &'static str,
    /// Whether single letters do something.
    pub(crate) keys_on: bool,
    /// What forms send back, so that no other site can send them.
    pub(crate) csrf: String,
    /// The address that was asked for, with its question.
    pub(crate) path: String,
    /// What was just done, and what takes it back: left in the address by whoever has no script.
    pub(crate) done: Option<(String, String)>,
    /// Who asks.
    pub(super) access: Option<Access>,
    /// The project that was chosen, or that the form was shown for; the served one without one.
    pub(super) chosen: Option<String>,
    /// Whether a form says which one: no other will do.
    pub(super) is_meant: bool,
}

impl Look {
    /// The project whose memory is shown, for somebody who may do this with it.
    pub(crate) fn project(&self, deed: Deed) -> Result<Option<String>, Problem> {
        let access = self.access.as_ref().ok_or_else(|| {
            Problem::new(StatusCode::UNAUTHORIZED, "nobody is logged in")
                .hint("`heirloom ui` opens the page")
        })?;
        access.may(deed)?;
        match (&access.project, &self.chosen) {
            (None, Some(chosen)) => Ok(Some(chosen.clone())),
            (Some(_), Some(chosen)) if self.is_meant => access.project(Some(chosen)),
            (Some(_), _) | (None, None) => access.project(None),
        }
    }
}

impl Look {
    /// Who is named in the history of what is changed.
    pub(super) fn name(&self) -> String {
        let access = self.access.as_ref();
        access.map_or_else(|| "user".to_owned(), Access::name)
    }
}

impl FromRequestParts<App> for Look {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let has = |name: &str| parts.headers.get(name).is_some_and(|value| value == "true");
        let restores = has("hx-history-restore-request");
        let theme = match cookie(&parts.headers, THEME) {
            Some("light") => "light",
            Some("dark") => "dark",
            Some(_) | None => "",
        };
        let path = match parts.method == Method::GET {
            true => parts.uri.path_and_query().map(|path| path.to_string()),
            false => came_from(&parts.headers),
        };
        let access = parts.extensions.get::<Access>().cloned();
        let meant = parts.extensions.get::<Meant>();
        let chosen = match meant {
            Some(Meant(project)) => project.clone(),
            None => projects::chosen(&parts.headers, app.options()),
        };
        let csrf = access.as_ref().and_then(|access| {
            let project = access.project.as_deref().or(chosen.as_deref());
            Some(field(access.csrf.as_deref()?, project))
        });
        Ok(Self {
            is_part: has("hx-request") && !restores,
            theme,
            keys_on: cookie(&parts.headers, KEYS) != Some("off"),
            csrf: csrf.unwrap_or_default(),
            path: local(path.as_deref().unwrap_or("/")),
            done: parts.uri.query().and_then(done),
            access,
            is_meant: meant.is_some(),
            chosen,
        })
    }
}

/// Times as seen from now.
pub(crate) fn times(engine: &Engine) -> Times {
    Times::at(engine.now(), TimeZone::UTC)
}

/// The page that a script sent a form from, as an address of ours.
fn came_from(headers: &HeaderMap) -> Option<String> {
    let from = headers.get("hx-current-url")?.to_str().ok()?;
    let (_, rest) = from.split_once("://")?;
    let at = rest.find('/')?;
    let path = rest.get(at..)?;
    Some(path.split('#').next().unwrap_or(path).to_owned())
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    let pairs = all.filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

/// What `?done=retired&undo=ID` says; only words that are ours, and what can be an id.
fn done(query: &str) -> Option<(String, String)> {
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

/// An address without what was just done: who reloads it is not told again.
fn without_done(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else {
        return path.to_owned();
    };
    let keeps = |pair: &&str| !pair.starts_with("done=") && !pair.starts_with("undo=");
    let kept: Vec<&str> = query.split('&').filter(keeps).collect();
    match kept.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", kept.join("&")),
    }
}

/// Where somebody without a script goes behind a change: back, where it is told.
pub(crate) fn back(to: &str, done: &str, undo: &str) -> Response {
    let to = local(to);
    let joint = if to.contains('?') { '&' } else { '?' };
    Redirect::to(&format!("{to}{joint}done={done}&undo={undo}")).into_response()
}

/// An address of ours, whatever a form says.
pub(crate) fn local(to: &str) -> String {
    let is_ours = to.starts_with('/')
        && !to.starts_with("//")
        && to.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    match is_ours {
        true => without_done(to),
        false => "/".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for (to, expected) in [
            ("/knowledge?f=x&done=retired&undo=1", "/knowledge?f=x"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("/a b\r\nSet-Cookie: x", "/"),
            ("", "/"),
        ] {
            assert_eq!(local(to), expected, "{to}");
        }
    }

    #[test]
    fn what_was_done_is_a_word_and_an_id() {
        assert_eq!(
            done("a=b&done=retired&undo=019a-0f"),
            Some(("retired".to_owned(), "019a-0f".to_owned()))
        );
        assert_eq!(done("done=retired&undo=%3Cb%3E"), None);
        assert_eq!(done("f=x"), None);
    }
}
