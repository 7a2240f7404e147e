//! `/api/memory/artifacts`: files that tasks leave behind.

use super::shape::{Asked, Body, List, count, cursor, id, limit};
use super::wire::{self, Artifact, Outcome};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::places::FileDigest;
use heirloom_engine::{ArtifactFilter, Filter, NewArtifact, Remover};
use heirloom_model::kinds::ArtifactType;
use heirloom_model::{AccessRole, Fault, Kind, Record, Scope};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// What an artifact is.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sort {
    File,
    Patch,
    Test,
    Document,
    Config,
}

impl Sort {
    fn typed(self) -> ArtifactType {
        match self {
            Self::File => ArtifactType::File,
            Self::Patch => ArtifactType::Patch,
            Self::Test => ArtifactType::Test,
            Self::Document => ArtifactType::Document,
            Self::Config => ArtifactType::Config,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
    /// Only of this type.
    #[param(inline)]
    r#type: Option<Sort>,
    /// Only with this path.
    path: Option<String>,
    /// `next` of the part before.
    cursor: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// The artifacts that there are, newest first.
#[utoipa::path(get, path = "/artifacts", tag = "memory", params(Asking), responses((status = 200, body = List<Artifact>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<List<Artifact>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    let after = cursor(asked.cursor.as_deref())?;
    let answer = app.compute(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Artifact], engine.now()).limit(most);
        filter.scope = Scope {
            task: asked.task_id,
            ..Scope::default()
        };
        filter.after = after;
        let sort = asked.r#type.map(Sort::typed);
        let wanted = |record: &Record| {
            sort.is_none_or(|sort| record.attr_str("type") == Some(sort.as_str()))
                && (asked.path.as_deref())
                    .is_none_or(|path| record.attr_str("path").unwrap_or(&record.text) == path)
        };
        let page = match sort.is_none() && asked.path.is_none() {
            true => engine.page(&filter, None)?,
            false => engine.page(&filter, Some(&wanted))?,
        };
        Ok(List::of(&page, wire::artifact))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewArtifact)]
pub(super) struct New {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The task; one that is not known yet is created.
    #[schema(min_length = 1)]
    task_id: String,
    /// The agent that made it.
    agent_id: Option<String>,
    /// What it is; a file if nothing is said.
    #[schema(inline)]
    r#type: Option<Sort>,
    /// Relative to the project's root.
    #[schema(min_length = 1)]
    path: String,
    description: Option<String>,
    /// Its size, for files that the server cannot read; with `checksum`.
    #[serde(default, deserialize_with = "count")]
    size_bytes: Option<u64>,
    /// Its SHA-256, for files that the server cannot read; with `size_bytes`.
    #[schema(pattern = "^[0-9a-fA-F]{64}$")]
    checksum: Option<String>,
}

/// Registers a file: its size and checksum are read, unless its producer gives both.
#[utoipa::path(post, path = "/artifacts", tag = "memory", request_body(content = New),
    responses((status = 201, body = Outcome), (status = 200, body = Outcome)))]
pub(super) async fn add(
    State(app): State<App>,
    access: Access,
    Body(said): Body<New>,
) -> Result<(StatusCode, Json<Outcome>), Problem> {
    let project = access.project(said.project.as_deref())?;
    access.source(said.agent_id.as_deref())?;
    // One without the other says too little: then the file is read.
    let digest = said.size_bytes.zip(said.checksum);
    let digest = digest.map(|(size_bytes, checksum)| FileDigest {
        size_bytes,
        checksum,
    });
    let new = NewArtifact {
        path: said.path,
        scope: Scope {
            agent: said.agent_id,
            ..Scope::of_task(&said.task_id)
        },
        artifact_type: said.r#type.unwrap_or(Sort::File).typed(),
        description: said.description,
        digest,
    };
    let applied = app
        .ask(project, move |engine| engine.add_artifact(&new))
        .await?;
    let outcome = Outcome::from(applied);
    Ok((super::knowledge::created(&outcome), Json(outcome)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Comparing {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
    /// Only of this type.
    #[param(inline)]
    r#type: Option<Sort>,
}

/// Each artifact beside its file: unchanged, changed or missing.
#[utoipa::path(get, path = "/artifacts/verify", tag = "memory", params(Comparing), responses((status = 200, body = List<Artifact>)))]
pub(super) async fn verify(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Comparing>,
) -> Result<Json<List<Artifact>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let filter = ArtifactFilter {
        task: asked.task_id,
        artifact_type: asked.r#type.map(Sort::typed),
    };
    let answer = app.ask(project, move |engine| {
        let found = engine.verify_artifacts(&filter)?;
        let items = found.into_iter().map(|one| Artifact {
            status: Some(one.status.as_str().to_owned()),
            problem: one.problem,
            ..wire::artifact(&one.record)
        });
        Ok(List::whole(items.collect()))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Removing {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The agent that asks, for tokens of agents: it must be the producer.
    agent_id: Option<String>,
}

/// Registers it no longer; the file stays, and `undo` brings the entry back.
#[utoipa::path(delete, path = "/artifacts/{id}", tag = "memory", params(("id" = String, Path,), Removing), responses((status = 200, body = Outcome)))]
pub(super) async fn remove(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Removing>,
    expected: super::records::Expected,
) -> Result<Json<Outcome>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let wanted = id(&given)?;
    let by = match access.role {
        AccessRole::Agent => Remover::Agent(access.source(asked.agent_id.as_deref())?),
        AccessRole::Orchestrator => Remover::Orchestrator,
        AccessRole::User | AccessRole::Admin => Remover::User,
    };
    let removed = app.ask(project, move |engine| {
        if !expected.is_met(&engine.get(wanted)?) {
            return Ok(None);
        }
        Ok::<_, Fault>(Some(engine.remove_artifact(wanted, &by)?))
    });
    let removed = removed.await?.ok_or_else(super::records::overtaken)?;
    Ok(Json(Outcome::plain(removed, "retired")))
}
