//! Records of any kind: shown, retired, brought back, marked, and what happened to them.

use super::shape::{Asked, Body, List, Newest, Where, cursor, id, limit};
use super::wire::{self, AnyRecord, Happened, Outcome};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use heirloom_engine::{Filter, Undone, When};
use heirloom_model::{Deed, Fault, Kind, Mark, Record, Scope, limits};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use utoipa::{IntoParams, ToSchema};

/// What a client believes a record to be: `If-Match`.
#[derive(Debug, Clone, Default)]
pub(super) struct Expected(Option<String>);

impl<S: Sync> FromRequestParts<S> for Expected {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let given = parts.headers.get(header::IF_MATCH);
        let given = given.and_then(|value| value.to_str().ok());
        Ok(Self(given.map(str::to_owned)))
    }
}

impl Expected {
    /// Whether the record is what the client believes.
    pub(super) fn is_met(&self, record: &Record) -> bool {
        let Some(tags) = &self.0 else {
            return true;
        };
        let now = tag_of(record);
        tags.split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag == now)
    }
}

/// The `ETag` of a record: another state, another tag.
pub(super) fn tag_of(record: &Record) -> String {
    let json = serde_json::to_vec(&wire::record(record)).unwrap_or_default();
    format!("\"{}\"", &blake3::hash(&json).to_hex()[..32])
}

/// A record that is not what the client believes.
pub(super) fn overtaken() -> Problem {
    Problem::new(
        StatusCode::PRECONDITION_FAILED,
        "it has changed since it was read",
    )
    .hint("read it again: `ETag` of the answer is what `If-Match` takes")
}

/// An answer with the tag of the record that it shows.
pub(super) fn tagged(tag: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    headers
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only of this kind.
    kind: Option<String>,
    /// Only of this category.
    category: Option<String>,
    /// Only in this state: open, resolved, pending, done, failed.
    state: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
    /// Only by this agent.
    agent_id: Option<String>,
    /// Only by this source.
    source: Option<String>,
    /// What is past too.
    #[serde(default)]
    all: bool,
    /// `next` of the part before.
    cursor: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Records of any kind, newest first.
#[utoipa::path(get, path = "/records", tag = "records", params(Asking), responses((status = 200, body = List<AnyRecord>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<List<AnyRecord>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    let after = cursor(asked.cursor.as_deref())?;
    let kind = asked.kind.as_deref().map(str::parse::<Kind>).transpose();
    let kind = kind.map_err(|bad| Problem::new(StatusCode::BAD_REQUEST, bad.to_string()))?;
    let answer = app.compute(project, move |engine| {
        let kinds: Vec<Kind> = kind.into_iter().collect();
        let mut filter = Filter::current(&kinds, engine.now()).limit(most);
        filter.category = asked.category;
        filter.state = asked.state;
        filter.source = asked.source;
        filter.scope = Scope {
            task: asked.task_id,
            agent: asked.agent_id,
            ..Scope::default()
        };
        filter.after = after;
        if asked.all {
            filter.when = When::Ever;
        }
        Ok(List::of(&engine.page(&filter, None)?, wire::record))
    });
    Ok(Json(answer.await?))
}

/// One record, current or past.
#[utoipa::path(get, path = "/records/{id}", tag = "records", params(("id" = String, Path,), Where), responses((status = 200, body = AnyRecord)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<(HeaderMap, Json<AnyRecord>), Problem> {
    let project = access.project(asked.project.as_deref())?;
    let wanted = id(&given)?;
    let record = app
        .compute(project, move |engine| engine.get(wanted))
        .await?;
    Ok((tagged(&tag_of(&record)), Json(wire::record(&record))))
}

/// Retires it; `undo` brings it back.
#[utoipa::path(delete, path = "/records/{id}", tag = "records", params(("id" = String, Path,), Where), responses((status = 200, body = Outcome)))]
pub(super) async fn remove(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
    expected: Expected,
) -> Result<Json<Outcome>, Problem> {
    retire(&app, &access, &given, asked, None, expected).await
}

/// Retires a record of this kind, if it is what the client believes.
pub(super) async fn retire(
    app: &App,
    access: &Access,
    given: &str,
    asked: Where,
    kind: Option<Kind>,
    expected: Expected,
) -> Result<Json<Outcome>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let wanted = id(given)?;
    let by = access.source(None)?;
    let retired = app.ask(project, move |engine| {
        let record = engine.get(wanted)?;
        if kind.is_some_and(|kind| kind != record.kind) {
            return Err(Fault::not_found(format!(
                "record {wanted} is a {}",
                record.kind
            )));
        }
        if !expected.is_met(&record) {
            return Ok(None);
        }
        engine.forget_for(wanted, &by).map(Some)
    });
    let retired = retired.await?.ok_or_else(overtaken)?;
    Ok(Json(Outcome::plain(retired, "retired")))
}

/// A record's past.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Past {
    /// What it was before and became after, oldest first.
    records: Vec<AnyRecord>,
    /// What happened, oldest first.
    events: Vec<Happened>,
}

/// What a record was before and became after, and who did it.
#[utoipa::path(get, path = "/history/{id}", tag = "records", params(("id" = String, Path,), Where), responses((status = 200, body = Past)))]
pub(super) async fn history_of(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<Json<Past>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let wanted = id(&given)?;
    let answer = app.ask(project, move |engine| {
        let records = engine.history(wanted)?;
        let events = engine.audit_of(wanted)?;
        Ok(Past {
            records: records.iter().map(wire::record).collect(),
            events: events.iter().map(wire::happened).collect(),
        })
    });
    Ok(Json(answer.await?))
}

/// What happened last in the project, newest first.
#[utoipa::path(get, path = "/history", tag = "records", params(Newest), responses((status = 200, body = List<Happened>)))]
pub(super) async fn history(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Newest>,
) -> Result<Json<List<Happened>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?.min(limits::EVENTS_MAX);
    let events = app.ask(project, move |engine| engine.audit(most)).await?;
    Ok(Json(List::whole(
        events.iter().map(wire::happened).collect(),
    )))
}

/// Takes the last thing back that happened to a record, or a whole import; undoing twice brings it back.
#[utoipa::path(post, path = "/undo/{id}", tag = "records", params(("id" = String, Path,), Where), responses((status = 200, body = Outcome)))]
pub(super) async fn undo(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<Json<Outcome>, Problem> {
    access.may(Deed::Change)?;
    let project = access.project(asked.project.as_deref())?;
    let wanted = id(&given)?;
    let by = access.name();
    let undone = app
        .ask(project, move |engine| engine.undo_for(wanted, &by))
        .await?;
    let with = |id: String, outcome: &str, other: Option<String>| Outcome {
        replaced: other,
        ..Outcome::plain(id, outcome)
    };
    let other = |id: Option<heirloom_model::RecordId>| id.map(|id| id.to_string());
    Ok(Json(match undone {
        Undone::Restored { id, retired } => with(id.to_string(), "restored", other(retired)),
        Undone::Uncreated { id } => with(id.to_string(), "retired", None),
        Undone::Reopened { id, retired } => with(id.to_string(), "reopened", other(retired)),
        Undone::Resolved { id, retired } => with(id.to_string(), "resolved", other(retired)),
        Undone::Reversed { batch, back } => {
            let outcome = if back { "restored" } else { "retired" };
            with(batch.to_string(), outcome, None)
        }
        Undone::Marked { id, .. } => with(id.to_string(), "marked", None),
    }))
}

/// What is said of a record without changing it.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
pub(super) enum Said {
    #[serde(rename = "pinned")]
    Pinned,
    #[serde(rename = "not pinned")]
    NotPinned,
    #[serde(rename = "muted")]
    Muted,
    #[serde(rename = "not muted")]
    NotMuted,
    #[serde(rename = "useful")]
    Useful,
    #[serde(rename = "not useful")]
    NotUseful,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewMark {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(inline)]
    mark: Said,
}

/// Pins, mutes or values a record.
#[utoipa::path(post, path = "/records/{id}/mark", tag = "records", params(("id" = String, Path,)), request_body(content = NewMark), responses((status = 200, body = Outcome)))]
pub(super) async fn mark(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Body(said): Body<NewMark>,
) -> Result<Json<Outcome>, Problem> {
    access.may(Deed::Change)?;
    let project = access.project(said.project.as_deref())?;
    let wanted = id(&given)?;
    let mark = match said.mark {
        Said::Pinned => Mark::Pinned(true),
        Said::NotPinned => Mark::Pinned(false),
        Said::Muted => Mark::Muted(true),
        Said::NotMuted => Mark::Muted(false),
        Said::Useful => Mark::Useful(true),
        Said::NotUseful => Mark::Useful(false),
    };
    let by = access.name();
    let applied = app
        .ask(project, move |engine| engine.mark_for(wanted, mark, &by))
        .await?;
    Ok(Json(applied.into()))
}
