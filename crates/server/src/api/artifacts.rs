//! `/api/memory/artifacts`: files that tasks produced.

use super::field_checks::{deserialize_count, parse_id};
use super::json_body::JsonBody;
use super::json_types::{self, Artifact, WriteOutcome};
use super::pagination::{List, page_size, parse_cursor};
use super::query_params::QueryParams;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{ArtifactFilter, Filter, NewArtifact, Registrar, Remover};
use heirloom_fs::project_fs::FileDigest;
use heirloom_model::kinds::ArtifactType;
use heirloom_model::{AccessRole, Fault, Kind, Record, Scope};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// Type of an artifact.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ArtifactTypeParam {
    File,
    Patch,
    Test,
    Document,
    Config,
}

impl ArtifactTypeParam {
    fn to_model(self) -> ArtifactType {
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
pub(super) struct ArtifactQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// Only of this type.
    #[param(inline)]
    r#type: Option<ArtifactTypeParam>,
    /// Only with this path.
    path: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Lists artifacts, newest first.
#[utoipa::path(get, path = "/artifacts", operation_id = "list_artifacts", tag = "artifacts", params(ArtifactQuery), responses((status = 200, body = List<Artifact>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ArtifactQuery>,
) -> Result<Json<List<Artifact>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    let after = parse_cursor(params.cursor.as_deref())?;
    let answer = app.compute_with_engine(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Artifact], engine.now()).limit(most);
        filter.scope = Scope {
            task: params.task_id,
            ..Scope::default()
        };
        filter.after = after;
        let sort = params.r#type.map(ArtifactTypeParam::to_model);
        let matches_filter = |record: &Record| {
            sort.is_none_or(|sort| record.attr_str("type") == Some(sort.as_str()))
                && (params.path.as_deref())
                    .is_none_or(|path| record.attr_str("path").unwrap_or(&record.text) == path)
        };
        let page = match sort.is_none() && params.path.is_none() {
            true => engine.records().page(&filter, None)?,
            false => engine.records().page(&filter, Some(&matches_filter))?,
        };
        Ok(List::from_page(&page, json_types::artifact))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct ArtifactRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The task; created if it does not exist.
    #[schema(min_length = 1)]
    #[serde(alias = "task")]
    task_id: String,
    /// The agent that produced it.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    /// Type of the artifact; `file` by default.
    #[schema(inline)]
    r#type: Option<ArtifactTypeParam>,
    /// Relative to the project's root.
    #[schema(min_length = 1)]
    path: String,
    description: Option<String>,
    /// Size in bytes, for files that the server cannot read; together with `checksum`.
    #[serde(default, deserialize_with = "deserialize_count")]
    size_bytes: Option<u64>,
    /// SHA-256, for files that the server cannot read; together with `size_bytes`.
    #[schema(pattern = "^[0-9a-fA-F]{64}$")]
    checksum: Option<String>,
}

/// Registers a file. Size and checksum are read from the file unless the request contains both.
#[utoipa::path(post, path = "/artifacts", operation_id = "register_artifact", tag = "artifacts", request_body(content = ArtifactRequest),
    responses((status = 201, body = WriteOutcome), (status = 200, body = WriteOutcome)))]
pub(super) async fn add(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<ArtifactRequest>,
) -> Result<(StatusCode, Json<WriteOutcome>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let registrar = Registrar {
        source: access.resolve_source(body.agent_id.as_deref())?,
        holder: Some(access.holder.to_string()),
    };
    // With only one of the two, the file is read.
    let digest = body.size_bytes.zip(body.checksum);
    let digest = digest.map(|(size_bytes, checksum)| FileDigest {
        size_bytes,
        checksum,
    });
    let new = NewArtifact {
        path: body.path,
        scope: Scope {
            agent: body.agent_id.or_else(|| Some(registrar.source.clone())),
            ..Scope::of_task(&body.task_id)
        },
        artifact_type: body.r#type.unwrap_or(ArtifactTypeParam::File).to_model(),
        description: body.description,
        digest,
    };
    let applied = app
        .with_engine(project, move |engine| {
            engine.artifacts().add_by(&new, &registrar)
        })
        .await?;
    let outcome = WriteOutcome::from(applied);
    Ok((super::knowledge::creation_status(&outcome), Json(outcome)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct VerifyQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// Only of this type.
    #[param(inline)]
    r#type: Option<ArtifactTypeParam>,
}

/// Compares each artifact with its file: unchanged, changed or missing.
#[utoipa::path(get, path = "/artifacts/verify", operation_id = "verify_artifacts", tag = "artifacts", params(VerifyQuery), responses((status = 200, body = List<Artifact>)))]
pub(super) async fn verify(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<VerifyQuery>,
) -> Result<Json<List<Artifact>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let filter = ArtifactFilter {
        task: params.task_id,
        artifact_type: params.r#type.map(ArtifactTypeParam::to_model),
    };
    let answer = app.with_engine(project, move |engine| {
        let found = engine.artifacts().verify_all(&filter)?;
        let items = found.into_iter().map(|one| Artifact {
            status: Some(one.status.as_str().to_owned()),
            problem: one.problem,
            ..json_types::artifact(&one.record)
        });
        Ok(List::complete(items.collect()))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RemoveQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Name of the calling agent in the history; it gives no permission. An agent's token removes only what it
    /// registered.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
}

/// Removes the artifact's entry. The file stays, and `undo` restores the entry.
#[utoipa::path(delete, path = "/artifacts/{id}", operation_id = "retire_artifact", tag = "artifacts", params(("id" = String, Path,), RemoveQuery), responses((status = 200, body = WriteOutcome)))]
pub(super) async fn remove(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<RemoveQuery>,
    expected: super::records::IfMatch,
) -> Result<Json<WriteOutcome>, Problem> {
    let record_id = parse_id(&given)?;
    let project = params.project.as_deref();
    let project = app.project_of(&access, project, record_id).await?;
    let by = match access.role {
        AccessRole::Agent => Remover::Holder(Registrar {
            source: access.resolve_source(params.agent_id.as_deref())?,
            holder: Some(access.holder.to_string()),
        }),
        AccessRole::Orchestrator => Remover::Orchestrator,
        AccessRole::User | AccessRole::Admin => Remover::User,
    };
    let removed = app.with_engine(project, move |engine| {
        if !expected.matches(&engine.records().get(record_id)?) {
            return Ok(None);
        }
        Ok::<_, Fault>(Some(engine.artifacts().remove(record_id, &by)?))
    });
    let removed = removed
        .await?
        .ok_or_else(super::records::precondition_failed)?;
    Ok(Json(WriteOutcome::simple(removed, "retired")))
}
