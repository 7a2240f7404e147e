//! Authentication and authorisation of requests. Routes get the result as an [`Access`].
//!
//! `request_guard` runs the checks in this order: host and origin (`origins`), token or session cookie
//! (`authentication`, `token_cache`, `browser_sessions`), the page of a browser that sent it (`csrf`), body size
//! (`request_body`), CSRF token (`csrf`). Streams are checked while they are sent (`stream_access`).

mod access_log;
mod authentication;
mod browser_sessions;
mod csrf;
mod login_page;
mod origins;
mod request_body;
mod request_guard;
mod session_cookie;
mod stream_access;
mod token_cache;

pub(crate) use browser_sessions::BrowserSessions;
pub(crate) use csrf::{FormProject, form_token};
pub(crate) use login_page::routes as login_routes;
pub use origins::AllowedOrigins;
pub(crate) use request_body::BodyBytes;
pub(crate) use request_guard::guard;
pub(crate) use token_cache::TokenCache;

use crate::Problem;
use crate::mcp::Caller;
use authentication::unauthorized;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use heirloom_model::{AccessRole, Authority, Fault, Permission};
use std::sync::Arc;

/// Authenticated caller: an extractor for every route that is not public.
#[derive(Debug, Clone)]
pub struct Access {
    /// Role of the caller.
    pub role: AccessRole,
    /// The only project that the caller may open; `None` allows all projects of the store.
    pub project: Option<String>,
    /// Identity of the caller: the id of a token or of a login.
    pub holder: Arc<str>,
    /// Source of an agent's records: the name of its token; `None` for other roles and for tokens without a name.
    pub agent: Option<Arc<str>>,
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
            source: match decides {
                true => Some(self.role.source().to_owned()),
                false => self.agent.as_deref().map(str::to_owned),
            },
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

    /// Resolves the source of a record: `requested`, or the agent of the token, or the role itself. Errors: 403 for a
    /// source with a higher authority than the role's, and for the name of another agent.
    pub fn resolve_source(&self, requested: Option<&str>) -> Result<String, Problem> {
        let own_name = self.agent.as_deref();
        let source = requested.or(own_name).unwrap_or(self.role.source());
        if let Some(own_name) = own_name.filter(|name| *name != source.trim()) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!(
                    "this token is that of the agent `{own_name}`, and may not write as `{source}`"
                ),
            )
            .hint("leave `source` and `agent_id` out, or use a token without a name"));
        }
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

/// Returns the refusal of a token for one project that writes into the user's workspace, which every project reads.
pub(crate) fn user_workspace_fault(project: &str) -> Fault {
    Fault::refused(format!(
        "this token opens the project `{project}` only, and the user's workspace belongs to every project"
    ))
    .hint("leave `user` out, or use a token without a project")
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
