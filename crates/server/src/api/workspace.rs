//! `/api/workspace`: the section of the workspace files, and new entries in them.

use super::json_body::JsonBody;
use super::query_params::{ProjectQuery, QueryParams};
use crate::access::user_workspace_fault;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::{ChangeAuthor, Workspace, WorkspaceEntry};
use heirloom_model::section::{Origin, Section};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Section of workspace files as prompts contain it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WorkspaceSection {
    name: String,
    heading: String,
    items: Vec<SectionItem>,
    /// Files that could not be read, with the reason.
    notes: Vec<String>,
}

/// Item of a section.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SectionItem {
    text: String,
    file: Option<String>,
}

/// Converts a section to its JSON form.
pub(super) fn workspace_section(section: Section) -> WorkspaceSection {
    let items = section.offers.into_iter().map(|offer| SectionItem {
        file: match offer.origin {
            Origin::File { path, .. } => Some(path),
            Origin::Record(_) | Origin::Unspecified => None,
        },
        text: offer.text,
    });
    WorkspaceSection {
        name: section.name,
        heading: section.heading,
        items: items.collect(),
        notes: section.notes,
    }
}

/// Returns the workspace section of prompts.
#[utoipa::path(get, path = "/workspace", operation_id = "get_workspace", tag = "workspace", params(ProjectQuery), responses((status = 200, body = WorkspaceSection)))]
pub(super) async fn workspace(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<WorkspaceSection>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app.with_engine(project, |engine| {
        engine.require_files()?;
        Ok(engine.workspace().section())
    });
    Ok(Json(workspace_section(found.await?)))
}

/// Type of an entry; it selects the workspace file.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum EntryType {
    Fact,
    Learning,
    Error,
    Daily,
    Feature,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewEntry {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[schema(inline)]
    r#type: EntryType,
    #[serde(alias = "content")]
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Solution of an error.
    solution: Option<String>,
    /// True for the user's own workspace (`workspace.user_folder`); not for a token of one project.
    #[serde(default)]
    user: bool,
    /// Source; the token's role by default.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
}

/// Result of adding an entry.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EntryReport {
    /// The file.
    file: String,
    /// False if the file already contained the entry.
    added: bool,
    /// The kinds of secrets that were left out.
    redacted: Vec<String>,
    /// Id of the file change for `undo`. Missing for entries of a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
}

/// Adds an entry to a file of the workspace.
#[utoipa::path(post, path = "/workspace", operation_id = "add_workspace_entry", tag = "workspace", request_body(content = NewEntry), responses((status = 200, body = EntryReport), (status = 201, body = EntryReport)))]
pub(super) async fn add_entry(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<NewEntry>,
) -> Result<(StatusCode, Json<EntryReport>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let by = access.resolve_source(body.agent_id.as_deref())?;
    let entry = match body.r#type {
        EntryType::Fact => WorkspaceEntry::Fact(body.text),
        EntryType::Learning => WorkspaceEntry::Learning(body.text),
        EntryType::Error => WorkspaceEntry::Error {
            pattern: body.text,
            solution: body.solution,
        },
        EntryType::Daily => WorkspaceEntry::Daily(body.text),
        EntryType::Feature => WorkspaceEntry::Feature(body.text),
    };
    let owner = match (body.user, access.project.as_deref()) {
        (false, _) => Workspace::Project,
        (true, None) => Workspace::User,
        (true, Some(project)) => return Err(user_workspace_fault(project).into()),
    };
    let written = app.with_engine(project, move |engine| {
        let holder = Some(&*access.holder);
        engine.workspace().add(
            owner,
            &entry,
            ChangeAuthor {
                source: &by,
                holder,
            },
        )
    });
    let written = written.await?;
    let status = match written.added {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((
        status,
        Json(EntryReport {
            file: written.path.to_string_lossy().into_owned(),
            added: written.added,
            redacted: written.redacted,
            undo: written.change.map(|id| id.to_string()),
        }),
    ))
}
