//! What only whoever runs the server does: projects, tokens, deleting for good.

use super::shape::{Asked, Body, List, Newest};
use super::wire::Outcome;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::Selection;
use heirloom_model::{AccessRole, Deed, ProjectName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A project of the store.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Project {
    name: String,
    /// Whether it is the one that is served.
    served: bool,
}

/// The projects of the store that this token opens, by name.
#[utoipa::path(get, path = "/projects", tag = "server", responses((status = 200, body = List<Project>)))]
pub(super) async fn projects(
    State(app): State<App>,
    access: Access,
) -> Result<Json<List<Project>>, Problem> {
    let found = app.ask(None, |engine| {
        let served = engine.project().clone();
        let mut all = engine.projects()?;
        if !all.contains(&served) {
            all.push(served.clone());
        }
        Ok((all, served))
    });
    let (all, served) = found.await?;
    let open = all.into_iter().filter(|name| {
        let own = access.project.as_deref();
        own.is_none_or(|own| own == name.as_str())
    });
    let items = open.map(|name| Project {
        served: name == served,
        name: name.as_str().to_owned(),
    });
    Ok(Json(List::whole(items.collect())))
}

/// A token, without what opens.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Token {
    id: String,
    role: String,
    /// The one project that it opens; all of the store without one.
    project: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// The tokens that open this server, oldest first: for admins.
#[utoipa::path(get, path = "/tokens", tag = "server", params(Newest), responses((status = 200, body = List<Token>)))]
pub(super) async fn tokens(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Newest>,
) -> Result<Json<List<Token>>, Problem> {
    whole_store(&access)?;
    super::shape::limit(asked.limit)?;
    let asking = app.clone();
    let found = app.wait(move || asking.keys()?.tokens().list()).await?;
    let items = found.into_iter().map(|token| Token {
        id: token.id,
        role: token.role.as_str().to_owned(),
        project: token.project.map(|name| name.as_str().to_owned()),
        created_at: token.created_at.to_string(),
    });
    Ok(Json(List::whole(items.collect())))
}

/// What the holder of a token may do.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    Agent,
    Orchestrator,
    User,
    Admin,
}

impl Role {
    fn typed(self) -> AccessRole {
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
    /// The one project that it opens; all of the store without one.
    project: Option<String>,
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MadeToken)]
pub(super) struct Made {
    id: String,
    /// What opens; it is told this once.
    token: String,
}

/// Makes a token: for admins.
#[utoipa::path(post, path = "/tokens", tag = "server", request_body(content = NewToken), responses((status = 201, body = Made)))]
pub(super) async fn create_token(
    State(app): State<App>,
    access: Access,
    Body(said): Body<NewToken>,
) -> Result<(StatusCode, Json<Made>), Problem> {
    whole_store(&access)?;
    let project = said.project.as_deref().map(ProjectName::new).transpose();
    let project = project.map_err(|bad| Problem::new(StatusCode::BAD_REQUEST, bad.to_string()))?;
    let asking = app.clone();
    let made = app.wait(move || asking.keys()?.tokens().create(said.role.typed(), project));
    let made = made.await?;
    Ok((
        StatusCode::CREATED,
        Json(Made {
            id: made.id,
            token: made.secret,
        }),
    ))
}

/// Takes a token away: for admins.
#[utoipa::path(delete, path = "/tokens/{id}", tag = "server", params(("id" = String, Path,)), responses((status = 200, body = Outcome)))]
pub(super) async fn revoke_token(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
) -> Result<Json<Outcome>, Problem> {
    whole_store(&access)?;
    let asking = app.clone();
    let id = given.clone();
    app.wait(move || asking.keys()?.tokens().revoke(&id))
        .await?;
    Ok(Json(Outcome::plain(given, "revoked")))
}

/// Tokens are of the whole store: who holds one project's token hands out none.
fn whole_store(access: &Access) -> Result<(), Problem> {
    access.may(Deed::Administer)?;
    match &access.project {
        None => Ok(()),
        Some(own) => Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("this token opens the project `{own}` only, and tokens are of the whole store"),
        )),
    }
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Purging {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// These records, with what they replaced and what replaced them.
    #[serde(default)]
    ids: Vec<String>,
    /// Everything that contains this text.
    query: Option<String>,
    /// This conversation, and the records of it.
    session_id: Option<String>,
    /// Only say what would be deleted.
    #[serde(default)]
    dry_run: bool,
}

/// What was deleted for good, or would be.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Purged {
    records: u64,
    sessions: u64,
    messages: u64,
    /// Copies of the database, which may hold it too.
    copies: usize,
    dry_run: bool,
}

/// Deletes for good, for privacy: for admins. Nothing brings it back.
#[utoipa::path(post, path = "/purge", tag = "server", request_body(content = Purging), responses((status = 200, body = Purged)))]
pub(super) async fn purge(
    State(app): State<App>,
    access: Access,
    Body(said): Body<Purging>,
) -> Result<Json<Purged>, Problem> {
    access.may(Deed::Administer)?;
    let project = access.project(said.project.as_deref())?;
    let ids = said.ids.iter().map(|given| super::shape::id(given));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let records = Some(ids).filter(|ids| !ids.is_empty());
    let wanted = [
        records.map(Selection::Records),
        said.query.map(Selection::Containing),
        said.session_id.map(Selection::Session),
    ];
    let dry_run = said.dry_run;
    let purged = app.ask(project, move |engine| {
        let mut purged = Purged {
            records: 0,
            sessions: 0,
            messages: 0,
            copies: 0,
            dry_run,
        };
        for selection in wanted.into_iter().flatten() {
            let report = match dry_run {
                true => engine.purgeable(&selection)?,
                false => engine.purge(&selection)?,
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
