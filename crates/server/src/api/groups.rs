//! `/api/groups`: groups of agents, the sections from their files, and their notes.

use super::json_body::JsonBody;
use super::json_types::WriteOutcome;
use super::pagination::List;
use super::query_params::{ProjectQuery, QueryParams};
use super::workspace::{WorkspaceSection, workspace_section};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::NewNote;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A group with a folder.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GroupFiles {
    name: String,
    /// Existing files of the group.
    files: Vec<String>,
}

/// Lists groups by name.
#[utoipa::path(get, path = "/groups", operation_id = "list_groups", tag = "groups", params(ProjectQuery), responses((status = 200, body = List<GroupFiles>)))]
pub(super) async fn groups(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<List<GroupFiles>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app.with_engine(project, |engine| {
        engine.require_files()?;
        engine.groups().list()
    });
    let found = found.await?;
    let items = found.into_iter().map(|group| GroupFiles {
        name: group.name,
        files: group.files.into_iter().map(str::to_owned).collect(),
    });
    Ok(Json(List::complete(items.collect())))
}

/// Returns the sections that contexts of a group contain.
#[utoipa::path(get, path = "/groups/{id}", operation_id = "get_group", tag = "groups", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = List<WorkspaceSection>)))]
pub(super) async fn group(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<List<WorkspaceSection>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app.with_engine(project, move |engine| {
        engine.require_files()?;
        engine.groups().sections(&given)
    });
    let items = found.await?.into_iter().map(workspace_section).collect();
    Ok(Json(List::complete(items)))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct GroupNoteRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[serde(alias = "content")]
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Section; `Notes` by default.
    section: Option<String>,
    #[serde(alias = "agent")]
    agent_id: Option<String>,
}

/// Adds a note to a group's memory and its file.
#[utoipa::path(post, path = "/groups/{id}", operation_id = "add_group_note", tag = "groups", params(("id" = String, Path,)), request_body(content = GroupNoteRequest), responses((status = 201, body = WriteOutcome)))]
pub(super) async fn note_for_group(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    JsonBody(body): JsonBody<GroupNoteRequest>,
) -> Result<(StatusCode, Json<WriteOutcome>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let agent = access.resolve_source(body.agent_id.as_deref())?;
    let note = NewNote {
        content: body.text,
        section: body.section,
        agent: Some(agent),
        group: Some(given),
    };
    let noted = app.with_engine(project, move |engine| engine.groups().add_note(&note));
    let noted = noted.await?;
    Ok((
        StatusCode::CREATED,
        Json(WriteOutcome {
            redacted: noted.redacted,
            ..WriteOutcome::simple(noted.id, "created")
        }),
    ))
}
