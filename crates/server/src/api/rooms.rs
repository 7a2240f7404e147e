//! `/api/notes`, `/api/workspace`, `/api/groups`: what agents and people note for each other.

use super::shape::{Asked, Body, List, Places, Where, cursor, limit};
use super::wire::{Outcome, Place};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{Filter, NewNote, NewRecord, Workspace};
use heirloom_model::section::{Origin, Section};
use heirloom_model::{Kind, Record, Scope};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only of this section.
    category: Option<String>,
    /// Only of this group.
    group: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
    /// `next` of the part before.
    cursor: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Something that was noted.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Note {
    id: String,
    project: String,
    /// Its section.
    category: Option<String>,
    text: String,
    source: String,
    /// The file that it stands in.
    file: Option<String>,
    #[serde(flatten)]
    at: Place,
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
        at: Place::of(record),
        created_at: record.recorded_at.to_string(),
    }
}

/// Notes, newest first.
#[utoipa::path(get, path = "/notes", tag = "rooms", params(Asking), responses((status = 200, body = List<Note>)))]
pub(super) async fn notes(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<List<Note>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    let after = cursor(asked.cursor.as_deref())?;
    let answer = app.compute(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Note], engine.now()).limit(most);
        filter.category = asked.category;
        filter.scope = Scope {
            group: asked.group,
            task: asked.task_id,
            ..Scope::default()
        };
        filter.after = after;
        Ok(List::of(&engine.page(&filter, None)?, note))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewNote)]
pub(super) struct New {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Its section; Notes if nothing is said.
    category: Option<String>,
    /// Who says so; else the token's role.
    source: Option<String>,
    #[serde(flatten)]
    places: Places,
}

/// Notes something.
#[utoipa::path(post, path = "/notes", tag = "rooms", request_body(content = New), responses((status = 201, body = Outcome)))]
pub(super) async fn add_note(
    State(app): State<App>,
    access: Access,
    Body(said): Body<New>,
) -> Result<(StatusCode, Json<Outcome>), Problem> {
    let project = access.project(said.project.as_deref())?;
    let named = said.source.as_deref().or(said.places.agent_id.as_deref());
    let new = NewRecord {
        text: said.text,
        kind: Some(Kind::Note),
        category: said.category,
        source: Some(access.source(named)?),
        scope: said.places.scope(),
        ..NewRecord::default()
    };
    let remembered = app.ask(project, move |engine| engine.remember(new)).await?;
    Ok((StatusCode::CREATED, Json(remembered.into())))
}

/// A part of what prompts get of files.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Shown {
    name: String,
    heading: String,
    items: Vec<Piece>,
    /// What could not be read, and why.
    notes: Vec<String>,
}

/// A piece of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkspacePiece)]
pub(super) struct Piece {
    text: String,
    file: Option<String>,
}

fn shown(section: Section) -> Shown {
    let items = section.offers.into_iter().map(|offer| Piece {
        file: match offer.origin {
            Origin::File { path, .. } => Some(path),
            Origin::Record(_) | Origin::Nowhere => None,
        },
        text: offer.text,
    });
    Shown {
        name: section.name,
        heading: section.heading,
        items: items.collect(),
        notes: section.notes,
    }
}

/// What prompts get of the workspace.
#[utoipa::path(get, path = "/workspace", tag = "rooms", params(Where), responses((status = 200, body = Shown)))]
pub(super) async fn workspace(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Where>,
) -> Result<Json<Shown>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.ask(project, |engine| Ok(engine.workspace_section()));
    Ok(Json(shown(found.await?)))
}

/// Which file of the workspace.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sort {
    Fact,
    Learning,
    Error,
    Daily,
    Feature,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewEntry {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(inline)]
    r#type: Sort,
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// What helps, for errors.
    solution: Option<String>,
}

/// What became of an entry.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Entered {
    /// The file.
    file: String,
    /// Whether it is new; else the file said it already.
    added: bool,
    /// The kinds of secrets that were left out.
    redacted: Vec<String>,
}

/// Adds an entry to a file of the workspace.
#[utoipa::path(post, path = "/workspace", tag = "rooms", request_body(content = NewEntry), responses((status = 200, body = Entered), (status = 201, body = Entered)))]
pub(super) async fn add_entry(
    State(app): State<App>,
    access: Access,
    Body(said): Body<NewEntry>,
) -> Result<(StatusCode, Json<Entered>), Problem> {
    let project = access.project(said.project.as_deref())?;
    let written = app.ask(project, move |engine| {
        let (whose, text) = (Workspace::Project, said.text.as_str());
        match said.r#type {
            Sort::Fact => engine.workspace_save_fact(whose, text),
            Sort::Learning => engine.workspace_log_learning(whose, text),
            Sort::Error => engine.workspace_log_error(whose, text, said.solution.as_deref()),
            Sort::Daily => engine.workspace_daily_log(whose, text),
            Sort::Feature => engine.workspace_feature_request(whose, text),
        }
    });
    let written = written.await?;
    let status = match written.added {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((
        status,
        Json(Entered {
            file: written.path.display().to_string(),
            added: written.added,
            redacted: written.redacted,
        }),
    ))
}

/// A group that has a folder.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GroupFiles)]
pub(super) struct Group {
    name: String,
    /// Which of its files there are.
    files: Vec<String>,
}

/// The groups that there are, by name.
#[utoipa::path(get, path = "/groups", tag = "rooms", params(Where), responses((status = 200, body = List<Group>)))]
pub(super) async fn groups(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Where>,
) -> Result<Json<List<Group>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.ask(project, |engine| engine.groups()).await?;
    let items = found.into_iter().map(|group| Group {
        name: group.name,
        files: group.files.into_iter().map(str::to_owned).collect(),
    });
    Ok(Json(List::whole(items.collect())))
}

/// What contexts of a group carry.
#[utoipa::path(get, path = "/groups/{id}", tag = "rooms", params(("id" = String, Path,), Where), responses((status = 200, body = List<Shown>)))]
pub(super) async fn group(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<Json<List<Shown>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.ask(project, move |engine| engine.group_sections(&given));
    let items = found.await?.into_iter().map(shown).collect();
    Ok(Json(List::whole(items)))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct ForGroup {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Notes if nothing is said.
    section: Option<String>,
    agent_id: Option<String>,
}

/// Notes something for a group, in its file too.
#[utoipa::path(post, path = "/groups/{id}", tag = "rooms", params(("id" = String, Path,)), request_body(content = ForGroup), responses((status = 201, body = Outcome)))]
pub(super) async fn note_for_group(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Body(said): Body<ForGroup>,
) -> Result<(StatusCode, Json<Outcome>), Problem> {
    let project = access.project(said.project.as_deref())?;
    let agent = access.source(said.agent_id.as_deref())?;
    let note = NewNote {
        content: said.text,
        section: said.section,
        agent: Some(agent),
        group: Some(given),
    };
    let noted = app.ask(project, move |engine| engine.update_memory(&note));
    let noted = noted.await?;
    Ok((
        StatusCode::CREATED,
        Json(Outcome {
            redacted: noted.redacted,
            ..Outcome::plain(noted.id, "created")
        }),
    ))
}
