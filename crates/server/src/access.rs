//! Authentication and authorisation: middleware that every request passes before it reaches a route.
//!
//! The checks run in this order: host and origin (`origins`), token or session cookie (`token_cache`, `logins`), body
//! size (`body`), CSRF token (`csrf`). Routes get the result as an [`Access`].

mod csrf;
mod login_page;
mod logins;
mod origins;
mod request_body;
mod token_cache;

pub(crate) use csrf::{FormProject, form_token};
pub(crate) use login_page::routes as login_routes;
pub(crate) use logins::Logins;
pub use origins::AllowedOrigins;
pub(crate) use request_body::BodyBytes;
pub(crate) use token_cache::TokenCache;

use crate::mcp::Caller;
use crate::{App, Problem};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use heirloom_model::{AccessRole, Authority, Permission};
use std::sync::Arc;

/// Paths that need no authentication: their answers contain no records.
const PUBLIC_PATHS: [&str; 3] = ["/health", "/openapi.json", "/login"];
/// Path prefix of the page's styles and scripts, which need no authentication.
const PUBLIC_PREFIX: &str = "/assets/";

/// Authenticated caller: an extractor for every route that is not public.
#[derive(Debug, Clone)]
pub struct Access {
    /// Role of the caller.
    pub role: AccessRole,
    /// The only project that the caller may open; `None` allows all projects of the store.
    pub project: Option<String>,
    /// Identity of the caller: the id of a token or of a login.
    pub holder: Arc<str>,
    /// CSRF token of a login, sent in the hidden form field `csrf` or the header `X-CSRF-Token`; `None` for access
    /// tokens.
    pub csrf: Option<Arc<str>>,
}

impl Access {
    /// Checks that the role has a permission. Errors: 403.
    pub fn require(&self, permission: Permission) -> Result<(), Problem> {
        if self.role.has_permission(permission) {
            return Ok(());
        }
        let (role, what) = (self.role, describe_permission(permission));
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("the role `{role}` may not {what}"),
        )
        .hint("`heirloom token create --role R` creates a token with another role"))
    }

    /// Resolves the project of a request; `None` is the served project. Errors: 403 if the token is limited to
    /// another project.
    pub fn resolve_project(&self, requested: Option<&str>) -> Result<Option<String>, Problem> {
        match (&self.project, requested) {
            (None, requested) => Ok(requested.map(str::to_owned)),
            (Some(own), None) => Ok(Some(own.clone())),
            (Some(own), Some(requested)) if own == requested => Ok(Some(own.clone())),
            (Some(own), Some(_)) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("this token opens the project `{own}` only"),
            )),
        }
    }

    /// Converts the access to an MCP caller: users and orchestrators write under their role, agents under their
    /// client's name.
    fn mcp_caller(&self) -> Caller {
        let decides = self.role.has_permission(Permission::Decide);
        Caller {
            project: self.project.clone(),
            source: decides.then(|| self.role.source().to_owned()),
            decides,
            holder: Some(self.holder.to_string()),
        }
    }

    /// Returns the name for the audit trail: the role for a browser login, the token's id for a token.
    pub(crate) fn actor_name(&self) -> String {
        match self.csrf {
            Some(_) => self.role.source().to_owned(),
            None => self.holder.to_string(),
        }
    }

    /// Resolves the source of a record: `requested`, or the role itself. Errors: 403 for a source with a higher
    /// authority than the role's.
    pub fn resolve_source(&self, requested: Option<&str>) -> Result<String, Problem> {
        let source = requested.unwrap_or(self.role.source());
        let own = Authority::of_source(self.role.source());
        if Authority::of_source(source.trim()) > own {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("the role `{}` may not write as `{source}`", self.role),
            )
            .hint("give the agent's own name as `source` or `agent_id`"));
        }
        Ok(source.to_owned())
    }
}

fn describe_permission(permission: Permission) -> &'static str {
    match permission {
        Permission::Read => "read",
        Permission::Add => "add to the memory",
        Permission::Change => "change records of other sources",
        Permission::Decide => "resolve conflicts",
        Permission::Administer => "manage tokens or purge records",
    }
}

impl<S: Sync> FromRequestParts<S> for Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let access = parts.extensions.get::<Self>().cloned();
        access.ok_or_else(|| unauthorized(&HeaderMap::new()))
    }
}

/// Middleware: checks host, origin, authentication, body and CSRF token, and records metrics and the access log.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let allowed = &app.options().origins;
    let origin = match allowed.check(request.headers(), request.uri()) {
        Ok(origin) => origin,
        Err(problem) => return problem.into_response(),
    };
    if origin.is_some() && request.method() == Method::OPTIONS {
        return origins::preflight(origin);
    }
    let in_flight = app.metrics().begin();
    let is_safe = request.method().is_safe();
    let access_log = app.options().access_log;
    // The query string may contain a user's search text, so it is not logged.
    let request_line = access_log.map(|_| format!("{} {}", request.method(), request.uri().path()));
    let answer = authorize_and_run(&app, request, next).await;
    let answer = answer.unwrap_or_else(Problem::into_response);
    let elapsed = in_flight.finish(answer.status());
    if let (Some(log), Some(request_line)) = (access_log, request_line) {
        let millis = elapsed.as_secs_f64() * 1e3;
        log(&format!(
            "{request_line} {}, {millis:.1} ms",
            answer.status().as_u16()
        ));
    }
    if !is_safe && answer.status().is_success() {
        app.feeds().wake_after_write();
    }
    origins::with_cors(answer, origin)
}

async fn authorize_and_run(
    app: &App,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let path = request.uri().path();
    let is_public = PUBLIC_PATHS.contains(&path) || path.starts_with(PUBLIC_PREFIX);
    let access = match authenticate(app, request.headers()).await {
        Ok(access) => access,
        Err(problem) if is_public => {
            drop(problem);
            None
        }
        Err(problem) => return Err(problem),
    };
    if access.is_none() && !is_public {
        if login_page::is_browser_request(request.headers()) {
            return Ok(login_page::login_page());
        }
        return Err(unauthorized(request.headers()));
    }
    let request_with_body = request_body::read_body(app, &mut request).await?;
    request = request_with_body;
    if let Some(access) = access {
        if let Some(form_project) = csrf::check(&access, &request)? {
            request.extensions_mut().insert(form_project);
        }
        request.extensions_mut().insert(access.mcp_caller());
        request.extensions_mut().insert(access);
    }
    Ok(next.run(request).await)
}

/// Authenticates a request; `None` without credentials. Errors: 401 for unknown credentials.
async fn authenticate(app: &App, headers: &HeaderMap) -> Result<Option<Access>, Problem> {
    if let Some(given) = headers.get(header::AUTHORIZATION) {
        let secret = given.to_str().ok().and_then(bearer_secret);
        let found = match secret {
            Some(secret) => find_access(app, secret).await?,
            None => None,
        };
        return match found {
            Some(access) => Ok(Some(access)),
            None => Err(unauthorized(headers)),
        };
    }
    Ok(app.logins().find(headers, app.options()))
}

/// Finds the access of a secret; on a blocking thread if that may wait for a database server.
async fn find_access(app: &App, secret: &str) -> Result<Option<Access>, Problem> {
    if let Some(cache) = app.opened_token_cache()
        && cache.tokens().has_fresh_stamp()
    {
        return Ok(cache.find_access(secret)?);
    }
    let (shared, secret) = (app.clone(), secret.to_owned());
    let found = app.run_blocking(move || shared.token_cache()?.find_access(&secret));
    Ok(found.await?)
}

fn bearer_secret(given: &str) -> Option<&str> {
    let (scheme, secret) = given.split_once(' ')?;
    let secret = secret.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty()).then_some(secret)
}

fn unauthorized(headers: &HeaderMap) -> Problem {
    let detail = match headers.contains_key(header::AUTHORIZATION) {
        true => "this token is unknown or revoked",
        false => "a token is needed: `Authorization: Bearer TOKEN`",
    };
    Problem::new(StatusCode::UNAUTHORIZED, detail)
        .hint("`heirloom token create --role R` creates one; `heirloom ui` opens the page")
        .header(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"heirloom\""),
        )
}
