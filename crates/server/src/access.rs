//! Who asks, and what they may: every request passes here before any route sees it.
//!
//! In order: is it meant for this server (`names`), who is it (`keys`, `logins`), does its body fit (`body`), and was
//! it sent on purpose (`purpose`). What a route gets is an [`Access`].

mod body;
mod keys;
mod logins;
mod names;
mod page;
mod purpose;

pub(crate) use body::Whole;
pub(crate) use keys::Keys;
pub(crate) use logins::Logins;
pub use names::Names;
pub(crate) use page::routes as login_routes;
pub(crate) use purpose::{Meant, field};

use crate::mcp::Caller;
use crate::{App, Problem};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use heirloom_model::{AccessRole, Deed};
use std::sync::Arc;

/// What anybody may ask for: nothing of it says what is remembered.
const PUBLIC: [&str; 3] = ["/health", "/openapi.json", "/login"];
/// Below it are the page's own styles and scripts.
const PUBLIC_BELOW: &str = "/assets/";

/// Who asks: an extractor of every route that is not public.
#[derive(Debug, Clone)]
pub struct Access {
    /// What they may do.
    pub role: AccessRole,
    /// The one project that they may see; all of the store without one.
    pub project: Option<String>,
    /// Who it is: a token's id, or a login.
    pub holder: Arc<str>,
    /// What a form of theirs must carry in its hidden field `csrf`, or a request in `X-CSRF-Token`; nothing for tokens.
    pub csrf: Option<Arc<str>>,
}

impl Access {
    /// Refuses what the role may not.
    pub fn may(&self, deed: Deed) -> Result<(), Problem> {
        if self.role.may(deed) {
            return Ok(());
        }
        let (role, what) = (self.role, wish(deed));
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("the role `{role}` may not {what}"),
        )
        .hint("`heirloom token create --role R` makes a token of another role"))
    }

    /// The project that is meant by `asked`, or by nothing: `None` is the served one. Refuses another than the token's.
    pub fn project(&self, asked: Option<&str>) -> Result<Option<String>, Problem> {
        match (&self.project, asked) {
            (None, asked) => Ok(asked.map(str::to_owned)),
            (Some(own), None) => Ok(Some(own.clone())),
            (Some(own), Some(asked)) if own == asked => Ok(Some(own.clone())),
            (Some(own), Some(_)) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("this token opens the project `{own}` only"),
            )),
        }
    }

    /// Who it is for MCP: a person or orchestrator by that name, an agent by the name that its client has.
    fn caller(&self) -> Caller {
        let decides = self.role.may(Deed::Decide);
        Caller {
            project: self.project.clone(),
            source: decides.then(|| self.role.source().to_owned()),
            decides,
        }
    }

    /// Who is named where nobody is quoted: a token by its name, a person at the page as one.
    pub(crate) fn name(&self) -> String {
        match self.csrf {
            Some(_) => self.role.source().to_owned(),
            None => self.holder.to_string(),
        }
    }

    /// Whose words these are: `asked`, or the role's own. An agent speaks for no person and no orchestrator.
    pub fn source(&self, asked: Option<&str>) -> Result<String, Problem> {
        let source = asked.unwrap_or(self.role.source());
        let is_above = ["user", "orchestrator"].contains(&source);
        if is_above && !self.role.may(Deed::Change) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("the role `{}` does not speak as `{source}`", self.role),
            )
            .hint("give the agent's own name as `source` or `agent_id`"));
        }
        Ok(source.to_owned())
    }
}

fn wish(deed: Deed) -> &'static str {
    match deed {
        Deed::Read => "read",
        Deed::Add => "add to the memory",
        Deed::Change => "change what others said",
        Deed::Decide => "decide between sources",
        Deed::Administer => "hand out tokens or delete for good",
    }
}

impl<S: Sync> FromRequestParts<S> for Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let access = parts.extensions.get::<Self>().cloned();
        access.ok_or_else(|| unknown(&HeaderMap::new()))
    }
}

/// Lets through what is meant for this server, by somebody it knows, in a body that fits.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let names = &app.options().names;
    let origin = match names.check(request.headers(), request.uri()) {
        Ok(origin) => origin,
        Err(problem) => return problem.into_response(),
    };
    if origin.is_some() && request.method() == Method::OPTIONS {
        return names::preflight(origin);
    }
    let in_flight = app.metrics().begin();
    let is_safe = request.method().is_safe();
    let tells = app.options().tells;
    // Without the query, which may be what somebody asks memory.
    let asked = tells.map(|_| format!("{} {}", request.method(), request.uri().path()));
    let answer = known(&app, request, next).await;
    let answer = answer.unwrap_or_else(Problem::into_response);
    let took = in_flight.answered(answer.status());
    if let (Some(tell), Some(asked)) = (tells, asked) {
        let millis = took.as_secs_f64() * 1e3;
        tell(&format!(
            "{asked} {}, {millis:.1} ms",
            answer.status().as_u16()
        ));
    }
    if !is_safe && answer.status().is_success() {
        app.feeds().written();
    }
    names::with_cors(answer, origin)
}

async fn known(app: &App, mut request: Request, next: Next) -> Result<Response, Problem> {
    let path = request.uri().path();
    let is_public = PUBLIC.contains(&path) || path.starts_with(PUBLIC_BELOW);
    let access = match who(app, request.headers()) {
        Ok(access) => access,
        Err(problem) if is_public => {
            drop(problem);
            None
        }
        Err(problem) => return Err(problem),
    };
    if access.is_none() && !is_public {
        if page::is_wanted(request.headers()) {
            return Ok(page::how_to_log_in());
        }
        return Err(unknown(request.headers()));
    }
    let request_with_body = body::whole(app, &mut request).await?;
    request = request_with_body;
    if let Some(access) = access {
        if let Some(meant) = purpose::check(&access, &request)? {
            request.extensions_mut().insert(meant);
        }
        request.extensions_mut().insert(access.caller());
        request.extensions_mut().insert(access);
    }
    Ok(next.run(request).await)
}

/// Who asks; `None` if they do not say. Errors: they say something that nobody knows.
fn who(app: &App, headers: &HeaderMap) -> Result<Option<Access>, Problem> {
    if let Some(given) = headers.get(header::AUTHORIZATION) {
        let secret = given.to_str().ok().and_then(bearer);
        let found = secret.map(|secret| app.keys()?.find(secret)).transpose()?;
        return match found.flatten() {
            Some(access) => Ok(Some(access)),
            None => Err(unknown(headers)),
        };
    }
    Ok(app.logins().find(headers, app.options()))
}

fn bearer(given: &str) -> Option<&str> {
    let (scheme, secret) = given.split_once(' ')?;
    let secret = secret.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty()).then_some(secret)
}

fn unknown(headers: &HeaderMap) -> Problem {
    let said = match headers.contains_key(header::AUTHORIZATION) {
        true => "this token opens nothing here",
        false => "a token is needed: `Authorization: Bearer TOKEN`",
    };
    Problem::new(StatusCode::UNAUTHORIZED, said)
        .hint("`heirloom token create --role R` makes one; `heirloom ui` opens the page")
        .header(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"heirloom\""),
        )
}
