//! `/api/notes`, `/api/workspace`, `/api/groups`: notes that agents and people share.

use super::json_body::JsonBody;
use super::json_types::{RecordScope, WriteOutcome};
use super::pagination::{List, page_size, parse_cursor};
use super::query_params::{ProjectQuery, QueryParams};
use super::scope_fields::ScopeFields;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{Filter, NewNote, NewRecord, Workspace, WorkspaceEntry};
use heirloom_model::section::{Origin, Section};
use heirloom_model::{Kind, Record, Scope};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct NoteQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only of this section.
    category: Option<String>,
    /// Only of this group.
    group: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// A note.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Note {
    id: String,
    project: String,
    /// Section of the note.
    category: Option<String>,
    text: String,
    source: String,
    /// File that contains it.
    file: Option<String>,
    #[serde(flatten)]
    at: RecordScope,
    #[schema(format = DateTime)]
    created_at: String,
}

fn note(record: &Record) -> Note {
    Note {
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        category: record.category().map(str::to_owned),
        text: record.text.clone(),
        source: record.source.clone(),
        file: record.attr_str("file").map(str::to_owned),
        at: RecordScope::of(record),
        created_at: record.recorded_at.to_string(),
    }
}

/// Lists notes, newest first.
#[utoipa::path(get, path = "/notes", tag = "rooms", params(NoteQuery), responses((status = 200, body = List<Note>)))]
pub(super) async fn notes(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<NoteQuery>,
) -> Result<Json<List<Note>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    let after = parse_cursor(params.cursor.as_deref())?;
    let answer = app.compute_with_engine(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Note], engine.now()).limit(most);
        filter.category = params.category;
        filter.scope = Scope {
            group: params.group,
            task: params.task_id,
            ..Scope::default()
        };
        filter.after = after;
        Ok(List::from_page(
            &engine.records().page(&filter, None)?,
            note,
        ))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewNote)]
pub(super) struct NoteRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Section; `Notes` by default.
    category: Option<String>,
    /// Source; the token's role by default.
    source: Option<String>,
    #[serde(flatten)]
    places: ScopeFields,
}

/// Adds a note.
#[utoipa::path(post, path = "/notes", tag = "rooms", request_body(content = NoteRequest), responses((status = 201, body = WriteOutcome)))]
pub(super) async fn add_note(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<NoteRequest>,
) -> Result<(StatusCode, Json<WriteOutcome>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    access.resolve_source(body.places.agent_id.as_deref())?;
    let named = body.source.as_deref().or(body.places.agent_id.as_deref());
    let new = NewRecord {
        text: body.text,
        kind: Some(Kind::Note),
        category: body.category,
        source: Some(access.resolve_source(named)?),
        scope: body.places.scope(),
        ..NewRecord::default()
    };
    let remembered = app
        .with_engine(project, move |engine| engine.records().remember(new))
        .await?;
    Ok((StatusCode::CREATED, Json(remembered.into())))
}

/// Section of workspace files as prompts contain it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Shown)]
pub(super) struct WorkspaceSection {
    name: String,
    heading: String,
    items: Vec<SectionItem>,
    /// Files that could not be read, with the reason.
    notes: Vec<String>,
}

/// Item of a section.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkspacePiece)]
pub(super) struct SectionItem {
    text: String,
    file: Option<String>,
}

fn workspace_section(section: Section) -> WorkspaceSection {
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
#[utoipa::path(get, path = "/workspace", tag = "rooms", params(ProjectQuery), responses((status = 200, body = WorkspaceSection)))]
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
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Solution of an error.
    solution: Option<String>,
    /// Source; the token's role by default.
    agent_id: Option<String>,
}

/// Result of adding an entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Entered)]
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
#[utoipa::path(post, path = "/workspace", tag = "rooms", request_body(content = NewEntry), responses((status = 200, body = EntryReport), (status = 201, body = EntryReport)))]
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
    let written = app.with_engine(project, move |engine| {
        engine.workspace().add(Workspace::Project, &entry, &by)
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

/// A group with a folder.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GroupFiles)]
pub(super) struct GroupFiles {
    name: String,
    /// Existing files of the group.
    files: Vec<String>,
}

/// Lists groups by name.
#[utoipa::path(get, path = "/groups", tag = "rooms", params(ProjectQuery), responses((status = 200, body = List<GroupFiles>)))]
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
#[utoipa::path(get, path = "/groups/{id}", tag = "rooms", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = List<WorkspaceSection>)))]
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
#[schema(as = ForGroup)]
pub(super) struct GroupNoteRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Section; `Notes` by default.
    section: Option<String>,
    agent_id: Option<String>,
}

/// Adds a note to a group's memory and its file.
#[utoipa::path(post, path = "/groups/{id}", tag = "rooms", params(("id" = String, Path,)), request_body(content = GroupNoteRequest), responses((status = 201, body = WriteOutcome)))]
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
