//! Preferences of a browser, kept in cookies: theme and keyboard shortcuts.

use crate::page::form_fields::FormFields;
use crate::page::request_context::{KEYS_COOKIE, THEME_COOKIE};
use crate::page::{PageError, RequestContext};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use heirloom_model::Permission;

/// Lifetime of preference cookies in seconds.
const COOKIE_LIFETIME_S: u32 = 31_536_000;

/// Sets the theme cookie.
pub(super) async fn theme(
    context: RequestContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    context.resolve_project(Permission::Read)?;
    let value = match fields.get("theme") {
        "light" => "light",
        "dark" => "dark",
        _ => "",
    };
    Ok(set_cookie(THEME_COOKIE, value, &fields.return_path("/")))
}

/// Sets the shortcut cookie.
pub(super) async fn keys(
    context: RequestContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    context.resolve_project(Permission::Read)?;
    let value = if fields.get("keys") == "off" {
        "off"
    } else {
        ""
    };
    Ok(set_cookie(
        KEYS_COOKIE,
        value,
        &fields.return_path("/settings"),
    ))
}

/// Sets a preference cookie; an empty value deletes it.
fn set_cookie(name: &str, value: &str, to: &str) -> Response {
    let age = if value.is_empty() {
        0
    } else {
        COOKIE_LIFETIME_S
    };
    let cookie = format!("{name}={value}; Path=/; SameSite=Strict; Max-Age={age}");
    let mut response = Redirect::to(to).into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
