//! Records of any kind: read, retire, undo, mark, history.

use super::field_checks::parse_id;
use super::json_body::JsonBody;
use super::json_types::{self, AnyRecord, EventEntry, WriteOutcome};
use super::pagination::{List, page_size, parse_cursor};
use super::query_params::{NewestQuery, ProjectQuery, QueryParams};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use heirloom_engine::{AsOf, Engine, Filter, UndoReport};
use heirloom_model::{Fault, Kind, Mark, Permission, Record, Scope, limits};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Expected version of a record from the header `If-Match`.
#[derive(Debug, Clone, Default)]
pub(super) struct IfMatch(Option<String>);

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let given = parts.headers.get(header::IF_MATCH);
        let given = given.and_then(|value| value.to_str().ok());
        Ok(Self(given.map(str::to_owned)))
    }
}

impl IfMatch {
    /// Returns true without a header, or if the record has one of its ETags.
    pub(super) fn matches(&self, record: &Record) -> bool {
        let Some(tags) = &self.0 else {
            return true;
        };
        let now = record_etag(record);
        tags.split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag == now)
    }
}

/// Returns the ETag of a record; it changes with every change of the record.
pub(super) fn record_etag(record: &Record) -> String {
    let json = serde_json::to_vec(&json_types::record(record)).unwrap_or_default();
    format!("\"{}\"", &blake3::hash(&json).to_hex()[..32])
}

/// Returns the error for a failed `If-Match`.
pub(super) fn precondition_failed() -> Problem {
    Problem::new(
        StatusCode::PRECONDITION_FAILED,
        "the record has changed since it was read",
    )
    .hint("read it again and send its `ETag` as `If-Match`")
}

/// Returns the ETag header of a record's answer.
pub(super) fn etag_header(tag: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    headers
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RecordQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only of this kind.
    kind: Option<String>,
    /// Only of this category.
    category: Option<String>,
    /// Only in this state: open, resolved, pending, done, failed.
    state: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// Only by this agent.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    /// Only by this source.
    source: Option<String>,
    /// Includes retired records.
    #[serde(default)]
    all: bool,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Lists records of any kind, newest first.
#[utoipa::path(get, path = "/records", operation_id = "list_records", tag = "records", params(RecordQuery), responses((status = 200, body = List<AnyRecord>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<RecordQuery>,
) -> Result<Json<List<AnyRecord>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    let after = parse_cursor(params.cursor.as_deref())?;
    let kind = params.kind.as_deref().map(str::parse::<Kind>).transpose();
    let kind = kind.map_err(|bad| Problem::new(StatusCode::BAD_REQUEST, bad.to_string()))?;
    let answer = app.compute_with_engine(project, move |engine| {
        let kinds: Vec<Kind> = kind.into_iter().collect();
        let mut filter = Filter::current(&kinds, engine.now()).limit(most);
        filter.category = params.category;
        filter.state = params.state;
        filter.source = params.source;
        filter.scope = Scope {
            task: params.task_id,
            agent: params.agent_id,
            ..Scope::default()
        };
        filter.after = after;
        if params.all {
            filter.as_of = AsOf::Ever;
        }
        Ok(List::from_page(
            &engine.records().page(&filter, None)?,
            json_types::record,
        ))
    });
    Ok(Json(answer.await?))
}

/// Returns one record, current or retired.
#[utoipa::path(get, path = "/records/{id}", operation_id = "get_record", tag = "records", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = AnyRecord)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<(HeaderMap, Json<AnyRecord>), Problem> {
    let record_id = parse_id(&given)?;
    let requested = params.project.as_deref();
    let project = app.project_of(&access, requested, record_id).await?;
    let record = app
        .compute_with_engine(project, move |engine| engine.records().get(record_id))
        .await?;
    Ok((
        etag_header(&record_etag(&record)),
        Json(json_types::record(&record)),
    ))
}

/// Retires the record; `undo` restores it.
#[utoipa::path(delete, path = "/records/{id}", operation_id = "retire_record", tag = "records", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = WriteOutcome)))]
pub(super) async fn remove(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
    expected: IfMatch,
) -> Result<Json<WriteOutcome>, Problem> {
    retire(&app, &access, &given, params, None, expected).await
}

/// Retires a record of this kind if it matches `expected`. Errors: 412 if it does not.
pub(super) async fn retire(
    app: &App,
    access: &Access,
    given: &str,
    params: ProjectQuery,
    kind: Option<Kind>,
    expected: IfMatch,
) -> Result<Json<WriteOutcome>, Problem> {
    let record_id = parse_id(given)?;
    let requested = params.project.as_deref();
    let project = app.project_of(access, requested, record_id).await?;
    let by = access.resolve_source(None)?;
    let retired = app.with_engine(project, move |engine| {
        let record = engine.records().get(record_id)?;
        if kind.is_some_and(|kind| kind != record.kind) {
            return Err(Fault::not_found(format!(
                "record {record_id} is a {}",
                record.kind
            )));
        }
        if !expected.matches(&record) {
            return Ok(None);
        }
        engine.records().forget_as(record_id, &by).map(Some)
    });
    let retired = retired.await?.ok_or_else(precondition_failed)?;
    Ok(Json(WriteOutcome::simple(retired, "retired")))
}

/// History of a record.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RecordHistory {
    /// Earlier and later versions, oldest first.
    records: Vec<AnyRecord>,
    /// Audit events, oldest first.
    events: Vec<EventEntry>,
}

/// Returns the versions of a record and its audit events.
#[utoipa::path(get, path = "/history/{id}", operation_id = "get_record_history", tag = "records", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = RecordHistory)))]
pub(super) async fn history_of(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<RecordHistory>, Problem> {
    let record_id = parse_id(&given)?;
    let requested = params.project.as_deref();
    let project = app.project_of(&access, requested, record_id).await?;
    let answer = app.with_engine(project, move |engine| {
        let records = engine.records().history(record_id)?;
        let events = engine.records().record_audit(record_id)?;
        Ok(RecordHistory {
            records: records.iter().map(json_types::record).collect(),
            events: json_types::event_entries(engine, &events)?,
        })
    });
    Ok(Json(answer.await?))
}

/// Lists the newest audit events of the project, newest first.
#[utoipa::path(get, path = "/history", operation_id = "list_changes", tag = "records", params(NewestQuery), responses((status = 200, body = List<EventEntry>)))]
pub(super) async fn history(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<NewestQuery>,
) -> Result<Json<List<EventEntry>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?.min(limits::EVENTS_MAX);
    let events = app
        .with_engine(project, move |engine| {
            json_types::event_entries(engine, &engine.records().audit(most)?)
        })
        .await?;
    Ok(Json(List::complete(events)))
}

/// Returns the refusal of an undo by an agent.
fn not_own() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "the role `agent` may undo file changes of its own token only, each once",
    )
    .hint("a user or an orchestrator can undo any change")
}

/// Reverts the last change of a record, or a whole import; a second call restores it. An agent may undo the file
/// changes of its own token, each once, unless another one changed the file since.
#[utoipa::path(post, path = "/undo/{id}", operation_id = "undo_change", tag = "records", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = WriteOutcome)))]
pub(super) async fn undo(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<WriteOutcome>, Problem> {
    let record_id = parse_id(&given)?;
    let requested = params.project.as_deref();
    let project = app.project_of(&access, requested, record_id).await?;
    let undone = match access.role.has_permission(Permission::Change) {
        true => {
            let by = access.actor_name();
            let call = move |engine: &Engine| engine.records().undo_as(record_id, &by);
            app.with_engine(project, call).await?
        }
        false => {
            let holder = Arc::clone(&access.holder);
            let call = move |engine: &Engine| engine.records().undo_own(record_id, &holder);
            let own = app.with_engine(project, call).await?;
            own.ok_or_else(not_own)?
        }
    };
    let with = |id: String, outcome: &str, other: Option<String>| WriteOutcome {
        replaced: other,
        ..WriteOutcome::simple(id, outcome)
    };
    let other = |id: Option<heirloom_model::RecordId>| id.map(|id| id.to_string());
    Ok(Json(match undone {
        UndoReport::Restored { id, retired } => with(id.to_string(), "restored", other(retired)),
        UndoReport::Uncreated { id } => with(id.to_string(), "retired", None),
        UndoReport::Reopened { id, retired } => with(id.to_string(), "reopened", other(retired)),
        UndoReport::Resolved { id, retired } => with(id.to_string(), "resolved", other(retired)),
        UndoReport::Reversed { batch, back } => {
            let outcome = if back { "restored" } else { "retired" };
            with(batch.to_string(), outcome, None)
        }
        UndoReport::Marked { id, .. } => with(id.to_string(), "marked", None),
    }))
}

/// Verdict on a record.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
pub(super) enum MarkParam {
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
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[schema(inline)]
    mark: MarkParam,
}

/// Pins, mutes or rates a record.
#[utoipa::path(post, path = "/records/{id}/mark", operation_id = "mark_record", tag = "records", params(("id" = String, Path,)), request_body(content = NewMark), responses((status = 200, body = WriteOutcome)))]
pub(super) async fn mark(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    JsonBody(body): JsonBody<NewMark>,
) -> Result<Json<WriteOutcome>, Problem> {
    access.require(Permission::Change)?;
    let record_id = parse_id(&given)?;
    let requested = body.project.as_deref();
    let project = app.project_of(&access, requested, record_id).await?;
    let mark = match body.mark {
        MarkParam::Pinned => Mark::Pinned(true),
        MarkParam::NotPinned => Mark::Pinned(false),
        MarkParam::Muted => Mark::Muted(true),
        MarkParam::NotMuted => Mark::Muted(false),
        MarkParam::Useful => Mark::Useful(true),
        MarkParam::NotUseful => Mark::Useful(false),
    };
    let by = access.actor_name();
    let applied = app
        .with_engine(project, move |engine| {
            engine.records().mark_as(record_id, mark, &by)
        })
        .await?;
    Ok(Json(applied.into()))
}
