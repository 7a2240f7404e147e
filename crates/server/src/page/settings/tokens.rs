//! Tokens page: list, creation, and revocation of access tokens.

use super::super::view::setup::{CreatedToken, TokenRow, TokensView};
use super::{load_shell, redirect_to, require_admin};
use crate::App;
use crate::page::form_fields::FormFields;
use crate::page::request_context::times;
use crate::page::view::{Times, plural};
use crate::page::{PageError, RequestContext, Toast, render};
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_engine::Token;
use heirloom_fs::project_fs::display_name;
use heirloom_model::{AccessRole, Fault, ProjectName, limits, text};
use std::time::Duration;

/// Maximum number of offered projects.
const PROJECTS_MAX: usize = 200;

/// Shows the tokens.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let mut view = load(&app, &context).await?;
    if let Some((done, id)) = &context.done
        && done == "revoked"
    {
        let words = format!("The token {id} is revoked: the next request with it is refused.");
        view.shell.toast = Some(Toast::of(&context, words, ""));
    }
    render(&view)
}

/// Creates a token, and shows its secret once.
pub(super) async fn create(
    State(app): State<App>,
    context: RequestContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    require_admin(&context)?;
    let role: AccessRole = fields.get("role").parse().map_err(Fault::usage)?;
    let project = fields.non_empty("project");
    let project = project.as_deref().map(ProjectName::new).transpose();
    let project = project.map_err(|bad| Fault::usage(bad.to_string()))?;
    let name = fields.non_empty("name");
    let shared = app.clone();
    let created = app
        .run_blocking(move || {
            shared
                .token_cache()?
                .tokens()
                .create_named(role, project.as_ref(), name.as_deref())
        })
        .await?;
    let mut view = load(&app, &context).await?;
    view.created = Some(CreatedToken {
        id: created.id,
        secret: created.secret,
        role: role.as_str(),
    });
    render(&view)
}

/// Revokes a token.
pub(super) async fn revoke(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    require_admin(&context)?;
    let shared = app.clone();
    let revoked = id.clone();
    app.run_blocking(move || shared.token_cache()?.tokens().revoke(&revoked))
        .await?;
    Ok(redirect_to("/settings/tokens", "revoked", &id, "tokens"))
}

async fn load(app: &App, context: &RequestContext) -> Result<TokensView, PageError> {
    let shell = load_shell(app, context, "Tokens").await?;
    let is_admin = require_admin(context).is_ok();
    if !is_admin {
        return Ok(TokensView {
            shell,
            is_admin,
            headline: "Only an admin manages them.".to_owned(),
            tokens: Vec::new(),
            roles: Vec::new(),
            projects: Vec::new(),
            name_max: limits::TOKEN_NAME_CHARS_MAX,
            created: None,
        });
    }
    let shared = app.clone();
    let loaded = app.with_engine(None, move |engine| {
        let cache = shared.token_cache()?;
        let mut projects = engine.records().projects()?;
        if !projects.contains(engine.project()) {
            projects.insert(0, engine.project().clone());
        }
        projects.truncate(PROJECTS_MAX);
        let tokens = cache.tokens().list()?;
        let times = times(engine);
        let rows: Vec<_> = (tokens.iter())
            .map(|token| token_row(token, cache.last_use(&token.id), &times))
            .collect();
        Ok((rows, projects))
    });
    let (tokens, projects) = loaded.await?;
    Ok(TokensView {
        shell,
        is_admin,
        headline: match tokens.len() {
            0 => "No token gives access.".to_owned(),
            n => format!("{} access.", plural(n, "token gives", "tokens give")),
        },
        tokens,
        roles: AccessRole::ALL
            .map(|role| (role.as_str(), describe_role(role)))
            .to_vec(),
        projects: (projects.iter())
            .map(|name| (name.as_str().to_owned(), short_name(name)))
            .collect(),
        name_max: limits::TOKEN_NAME_CHARS_MAX,
        created: None,
    })
}

fn token_row(token: &Token, unused: Option<Duration>, times: &Times) -> TokenRow {
    let last_used = unused.and_then(|unused| times.now().checked_sub(unused).ok());
    TokenRow {
        id: token.id.clone(),
        name: text::replace_control_chars(token.name.as_deref().unwrap_or_default()),
        role: token.role.as_str(),
        permissions: describe_role(token.role),
        project: (token.project.as_ref()).map_or_else(|| "every project".to_owned(), short_name),
        created: times.full(token.created_at),
        last_used: last_used.map_or_else(
            || "not used since the server started".to_owned(),
            |at| format!("last used {}", times.full(at)),
        ),
    }
}

fn short_name(name: &ProjectName) -> String {
    text::replace_control_chars(&display_name(name.as_str()))
}

fn describe_role(role: AccessRole) -> &'static str {
    match role {
        AccessRole::Agent => "reads, and adds; its knowledge is a proposal",
        AccessRole::Orchestrator => "writes, undoes, and resolves conflicts for its agents",
        AccessRole::User => "writes, undoes, and resolves conflicts as a person",
        AccessRole::Admin => "everything, with settings, tokens and permanent deletion",
    }
}
