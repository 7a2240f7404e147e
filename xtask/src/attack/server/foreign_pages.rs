//! Requests of pages of other origins with the cookie of a login, and requests that only look like a visit.

use super::http::AttackRequest;
use super::{AttackReport, RunningServer};
use serde_json::Value;

/// Headers of a foreign page's request, without the token that the server's own pages have.
const WITHOUT_TOKEN: [&[(&str, &str)]; 8] = [
    &[("content-type", "application/json")],
    &[("content-type", "text/plain")],
    &[("content-type", "application/x-www-form-urlencoded")],
    &[("content-type", "multipart/form-data; boundary=x")],
    &[("content-type", "application/json"), ("origin", "null")],
    &[
        ("content-type", "application/json"),
        ("origin", "https://evil.example"),
    ],
    &[
        ("content-type", "text/plain"),
        ("sec-fetch-site", "cross-site"),
    ],
    &[("content-type", "application/json"), ("x-csrf-token", "00")],
];
/// Headers with which a leaked token must be useless.
const WITH_TOKEN: [&[(&str, &str)]; 5] = [
    &[("origin", "null")],
    &[("origin", "https://evil.example")],
    &[("origin", "http://localhost:3000")],
    &[("sec-fetch-site", "cross-site")],
    &[("sec-fetch-site", "same-site")],
];
/// Headers that some servers take for the method.
const METHOD_HEADERS: [&str; 3] = [
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
];
/// Requests for a login link that no person made.
const NO_VISITS: [(&str, &str); 8] = [
    ("sec-purpose", "prefetch"),
    ("sec-purpose", "prefetch;prerender"),
    ("sec-purpose", "Prefetch;anonymous-client-ip"),
    ("purpose", "prefetch"),
    ("x-moz", "prefetch"),
    ("x-purpose", "preview"),
    ("sec-fetch-mode", "no-cors"),
    ("sec-fetch-mode", "cors"),
];
/// Writing forms of the pages.
const FORMS: [&str; 12] = [
    "/knowledge",
    "/knowledge/bulk",
    "/inbox/bulk",
    "/inbox/pair",
    "/settings/tokens",
    "/settings/theme",
    "/settings/keys",
    "/tasks/7",
    "/groups/main/CLAUDE.md",
    "/preview",
    "/mcp",
    "/logout",
];

/// Runs the attacks.
pub(super) fn run(server: &RunningServer<'_>) -> Result<Vec<AttackReport>, String> {
    let (login_links, cookie) = use_up_login_link(server)?;
    let cookie_row = inspect_cookie(&cookie);
    let pair = cookie.split(';').next().unwrap_or_default().to_owned();
    let page = server.send(&AttackRequest::get("/settings").with("cookie", &pair))?;
    let csrf = page.body.split_once("name=\"csrf\" value=\"");
    let csrf = csrf.and_then(|(_, rest)| rest.split('"').next());
    let csrf = csrf.ok_or("the settings have no CSRF token")?.to_owned();
    let description = server.send(&AttackRequest::get("/openapi.json"))?.body;
    let description: Value = serde_json::from_str(&description).map_err(|e| e.to_string())?;
    let mut routes = vec![];
    for (path, methods) in description["paths"].as_object().into_iter().flatten() {
        let path = path.replace("{id}", "main");
        for method in methods.as_object().into_iter().flatten() {
            routes.push((method.0.to_uppercase(), path.clone()));
        }
    }
    routes.extend(FORMS.map(|path| ("POST".to_owned(), path.to_owned())));
    Ok(vec![
        login_links,
        cookie_row,
        forge_writes(server, &pair, &csrf, &routes)?,
        forge_reads(server, &pair, &routes)?,
    ])
}

/// Tries to use up a login link; returns the cookie that it gives to a person afterwards.
fn use_up_login_link(server: &RunningServer<'_>) -> Result<(AttackReport, String), String> {
    let link = server.desk.json(&["ui", "--no-open", "--json"])?;
    let link = link["link"].as_str().unwrap_or_default();
    let at = link.split_once("://").map(|(_, rest)| rest);
    let path = at.and_then(|rest| rest.find('/').and_then(|at| rest.get(at..)));
    let path = path.ok_or(format!("no path in {link}"))?;
    let mut successes = Vec::new();
    for (name, value) in NO_VISITS {
        let reply = server.send(&AttackRequest::get(path).with(name, value))?;
        if reply.header("set-cookie").is_some() {
            successes.push(format!("{name}: {value}"));
        }
    }
    for method in ["HEAD", "OPTIONS"] {
        let reply = server.send(&AttackRequest::with_body(method, path, ""))?;
        if reply.header("set-cookie").is_some() {
            successes.push(method.to_owned());
        }
    }
    let visit = AttackRequest::get(path).with("sec-fetch-mode", "navigate");
    let reply = server.send(&visit)?;
    let cookie = reply.header("set-cookie").unwrap_or_default().to_owned();
    if cookie.is_empty() {
        successes.push(format!("the person got status {}", reply.status));
    }
    let row = AttackReport {
        attack: "login link used up without a visit",
        tries: NO_VISITS.len() + 2,
        successes,
        figures: String::new(),
    };
    Ok((row, cookie))
}

fn inspect_cookie(cookie: &str) -> AttackReport {
    let parts = ["HttpOnly", "SameSite=Strict", "Path=/"];
    let missing = parts.iter().filter(|part| !cookie.contains(**part));
    AttackReport {
        attack: "cookie that scripts or other sites can use",
        tries: parts.len(),
        successes: missing.map(|part| format!("no {part}")).collect(),
        figures: String::new(),
    }
}

/// Sends every writing route with the cookie, as other pages would.
fn forge_writes(
    server: &RunningServer<'_>,
    cookie: &str,
    csrf: &str,
    routes: &[(String, String)],
) -> Result<AttackReport, String> {
    let before = server.stored_state()?;
    let (mut tries, mut successes) = (0, Vec::new());
    let body = "{\"key\": \"forged\", \"value\": \"forged\", \"text\": \"forged\"}";
    for (method, path) in routes.iter().filter(|(method, _)| method != "GET") {
        let with_token = WITH_TOKEN.iter().map(|headers| (*headers, true));
        let without_token = WITHOUT_TOKEN.iter().map(|headers| (*headers, false));
        for (headers, has_token) in without_token.chain(with_token) {
            let mut request = AttackRequest::with_body(method, path, body).with("cookie", cookie);
            request.headers.extend(headers);
            if has_token {
                request = request
                    .with("x-csrf-token", csrf)
                    .with("content-type", "application/json");
            }
            tries += 1;
            let status = server.send(&request)?.status;
            if status != 403 {
                successes.push(format!("{method} {path} {headers:?}: {status}"));
            }
        }
    }
    if server.stored_state()? != before {
        successes.push("the memory has changed".to_owned());
    }
    Ok(AttackReport {
        attack: "write of a foreign page with a login",
        tries,
        successes,
        figures: String::new(),
    })
}

/// Sends every route as a read with the cookie: as a part of another page, and with another method in a header.
fn forge_reads(
    server: &RunningServer<'_>,
    cookie: &str,
    routes: &[(String, String)],
) -> Result<AttackReport, String> {
    let before = server.stored_state()?;
    let (mut tries, mut successes) = (0, Vec::new());
    for (method, path) in routes.iter().filter(|(_, path)| !path.ends_with("/events")) {
        let public = ["/health", "/openapi.json"].contains(&path.as_str());
        for site in ["cross-site", "same-site"] {
            let request = AttackRequest::get(path).with("cookie", cookie);
            let request = request
                .with("sec-fetch-site", site)
                .with("sec-fetch-mode", "no-cors");
            tries += 1;
            let status = server.send(&request)?.status;
            if status / 100 == 2 && !public {
                successes.push(format!("GET {path} {site}: {status}"));
            }
        }
        for name in METHOD_HEADERS
            .iter()
            .filter(|_| method != "GET" && path != "/api/context")
        {
            let request = AttackRequest::get(path)
                .with("cookie", cookie)
                .with(name, method);
            tries += 1;
            server.send(&request)?;
        }
    }
    if server.stored_state()? != before {
        successes.push("the memory has changed".to_owned());
    }
    Ok(AttackReport {
        attack: "read or overridden method of a foreign page",
        tries,
        successes,
        figures: String::new(),
    })
}
