//! Administration: projects, tokens, and permanent deletion.

use super::fixed_words::REVOKED;
use super::json_body::JsonBody;
use super::json_types::WriteOutcome;
use super::pagination::List;
use super::query_params::{NewestQuery, QueryParams};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::PurgeTarget;
use heirloom_fs::project_fs::display_name;
use heirloom_model::{AccessRole, Permission, ProjectName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A project of the store.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Project {
    name: String,
    /// The short name for people.
    display_name: String,
    /// True for the served project.
    served: bool,
}

/// Lists the projects of the store that this token opens, by name.
#[utoipa::path(get, path = "/projects", operation_id = "list_projects", tag = "administration", responses((status = 200, body = List<Project>)))]
pub(super) async fn projects(
    State(app): State<App>,
    access: Access,
) -> Result<Json<List<Project>>, Problem> {
    let found = app.with_engine(None, |engine| {
        let served = engine.project().clone();
        let short = engine.display_name();
        let mut all = engine.records().projects()?;
        if !all.contains(&served) {
            all.push(served.clone());
        }
        Ok((all, served, short))
    });
    let (all, served, short) = found.await?;
    let open = all.into_iter().filter(|name| {
        let own = access.project.as_deref();
        own.is_none_or(|own| own == name.as_str())
    });
    let items = open.map(|name| Project {
        display_name: match name == served {
            true => short.clone(),
            false => display_name(name.as_str()),
        },
        served: name == served,
        name: name.as_str().to_owned(),
    });
    Ok(Json(List::complete(items.collect())))
}

/// A token without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Token {
    id: String,
    role: String,
    /// The only project that it opens; all projects of the store if missing.
    project: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// Name for people, such as that of the machine that has it.
    name: Option<String>,
}

/// Lists the tokens of this server, oldest first. Requires the role admin.
#[utoipa::path(get, path = "/tokens", operation_id = "list_tokens", tag = "administration", params(NewestQuery), responses((status = 200, body = List<Token>)))]
pub(super) async fn tokens(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<NewestQuery>,
) -> Result<Json<List<Token>>, Problem> {
    require_store_admin(&access)?;
    super::pagination::page_size(params.limit)?;
    let shared = app.clone();
    let found = app
        .run_blocking(move || shared.token_cache()?.tokens().list())
        .await?;
    let items = found.into_iter().map(|token| Token {
        id: token.id,
        role: token.role.as_str().to_owned(),
        project: token.project.map(|name| name.as_str().to_owned()),
        created_at: token.created_at.to_string(),
        name: token.name,
    });
    Ok(Json(List::complete(items.collect())))
}

/// Role of a token's holder.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    Agent,
    Orchestrator,
    User,
    Admin,
}

impl Role {
    fn to_model(self) -> AccessRole {
        match self {
            Self::Agent => AccessRole::Agent,
            Self::Orchestrator => AccessRole::Orchestrator,
            Self::User => AccessRole::User,
            Self::Admin => AccessRole::Admin,
        }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewToken {
    #[schema(inline)]
    role: Role,
    /// The only project that it opens; all projects of the store if missing.
    project: Option<String>,
    /// Name for people, such as that of the machine that gets it; at most 80 characters.
    name: Option<String>,
}

/// A created token.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CreatedToken {
    id: String,
    /// The secret. It is shown only once.
    token: String,
}

/// Creates a token. Requires the role admin.
#[utoipa::path(post, path = "/tokens", operation_id = "create_token", tag = "administration", request_body(content = NewToken), responses((status = 201, body = CreatedToken)))]
pub(super) async fn create_token(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), Problem> {
    require_store_admin(&access)?;
    let project = body.project.as_deref().map(ProjectName::new).transpose();
    let project = project.map_err(|bad| Problem::new(StatusCode::BAD_REQUEST, bad.to_string()))?;
    let shared = app.clone();
    let created = app.run_blocking(move || {
        shared.token_cache()?.tokens().create_named(
            body.role.to_model(),
            project.as_ref(),
            body.name.as_deref(),
        )
    });
    let created = created.await?;
    Ok((
        StatusCode::CREATED,
        Json(CreatedToken {
            id: created.id,
            token: created.secret,
        }),
    ))
}

/// Revokes a token. Requires the role admin.
#[utoipa::path(delete, path = "/tokens/{id}", operation_id = "revoke_token", tag = "administration", params(("id" = String, Path,)), responses((status = 200, body = WriteOutcome)))]
pub(super) async fn revoke_token(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
) -> Result<Json<WriteOutcome>, Problem> {
    require_store_admin(&access)?;
    let shared = app.clone();
    let id = given.clone();
    app.run_blocking(move || shared.token_cache()?.tokens().revoke(&id))
        .await?;
    Ok(Json(WriteOutcome::simple(given, REVOKED)))
}

/// Checks for an admin without a project limit: tokens apply to the whole store.
fn require_store_admin(access: &Access) -> Result<(), Problem> {
    access.require(Permission::Administer)?;
    match &access.project {
        None => Ok(()),
        Some(own) => Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!(
                "this token opens the project `{own}` only; managing tokens requires access to the whole store"
            ),
        )),
    }
}

// A misspelled `dry_run` must not delete anything.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PurgeRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Records to delete, with all their earlier and later versions.
    #[serde(default)]
    ids: Vec<String>,
    /// Deletes everything that contains this text.
    query: Option<String>,
    /// Deletes this conversation and its records.
    #[serde(alias = "session")]
    session_id: Option<String>,
    /// Only reports what would be deleted.
    #[serde(default)]
    dry_run: bool,
}

/// Numbers of deleted items; with `dry_run`, of those that would be deleted.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PurgeReport {
    records: u64,
    sessions: u64,
    messages: u64,
    /// Copies of the database, which may still contain the data.
    copies: usize,
    dry_run: bool,
}

/// Deletes records permanently, for privacy. Requires the role admin. It cannot be undone.
#[utoipa::path(post, path = "/purge", operation_id = "purge_records", tag = "administration", request_body(content = PurgeRequest), responses((status = 200, body = PurgeReport)))]
pub(super) async fn purge(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<PurgeRequest>,
) -> Result<Json<PurgeReport>, Problem> {
    access.require(Permission::Administer)?;
    let project = access.resolve_project(body.project.as_deref())?;
    let ids = body
        .ids
        .iter()
        .map(|given| super::field_checks::parse_id(given));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let records = Some(ids).filter(|ids| !ids.is_empty());
    let targets = [
        records.map(PurgeTarget::Records),
        body.query.map(PurgeTarget::Containing),
        body.session_id.map(PurgeTarget::Session),
    ];
    let dry_run = body.dry_run;
    let purged = app.with_engine(project, move |engine| {
        let mut purged = PurgeReport {
            records: 0,
            sessions: 0,
            messages: 0,
            copies: 0,
            dry_run,
        };
        for selection in targets.into_iter().flatten() {
            let report = match dry_run {
                true => engine.maintenance().purgeable(&selection)?,
                false => engine.maintenance().purge(&selection)?,
            };
            purged.records += report.purged.records;
            purged.sessions += report.purged.sessions;
            purged.messages += report.purged.messages;
            purged.copies = report.copies.len();
        }
        Ok(purged)
    });
    Ok(Json(purged.await?))
}
