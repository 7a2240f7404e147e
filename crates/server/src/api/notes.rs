//! `/api/notes`: notes that agents and people share.

use super::json_body::{HasScope, ScopedBody};
use super::json_types::{RecordScope, WriteOutcome};
use super::pagination::{List, page_size, parse_cursor};
use super::query_params::QueryParams;
use super::scope_fields::ScopeFields;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::{Filter, NewRecord};
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
#[utoipa::path(get, path = "/notes", operation_id = "list_notes", tag = "notes", params(NoteQuery), responses((status = 200, body = List<Note>)))]
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
pub(super) struct NoteRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[serde(alias = "content")]
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Section; `Notes` by default.
    category: Option<String>,
    /// Source; the token's role by default.
    source: Option<String>,
    #[serde(flatten)]
    places: ScopeFields,
}

impl HasScope for NoteRequest {
    const OTHER_FIELDS: &'static [&'static str] =
        &["project", "text", "content", "category", "source"];
}

/// Adds a note.
#[utoipa::path(post, path = "/notes", operation_id = "add_note", tag = "notes", request_body(content = NoteRequest), responses((status = 201, body = WriteOutcome)))]
pub(super) async fn add_note(
    State(app): State<App>,
    access: Access,
    ScopedBody(body): ScopedBody<NoteRequest>,
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
