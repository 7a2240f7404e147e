//! `/api/memory/knowledge`: knowledge with one current value per key and category.

use super::field_checks::{parse_id, parse_time};
use super::json_body::{HasScope, ScopedBody};
use super::json_types::{self, Knowledge, WriteOutcome};
use super::pagination::{List, page_size, parse_cursor};
use super::query_params::{ProjectQuery, QueryParams};
use super::scope_fields::ScopeFields;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{AsOf, Filter, NewRecord};
use heirloom_model::{Fault, Kind, Scope};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct KnowledgeQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only of this category: convention, architecture, decision, fact, or any other word.
    category: Option<String>,
    /// Only with this key.
    key: Option<String>,
    /// Only keys with this prefix.
    key_prefix: Option<String>,
    /// Only by this source.
    source: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// Only texts that contain this, ignoring case.
    text: Option<String>,
    /// Includes retired records.
    #[serde(default)]
    all: bool,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Lists knowledge, newest first.
#[utoipa::path(get, path = "/knowledge", operation_id = "list_knowledge", tag = "knowledge", params(KnowledgeQuery), responses((status = 200, body = List<Knowledge>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<KnowledgeQuery>,
) -> Result<Json<List<Knowledge>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    let after = parse_cursor(params.cursor.as_deref())?;
    let answer = app.compute_with_engine(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(most);
        filter.category = params.category;
        filter.key = params.key;
        filter.key_prefix = params.key_prefix;
        filter.source = params.source;
        filter.scope = Scope {
            task: params.task_id,
            ..Scope::default()
        };
        filter.after = after;
        if params.all {
            filter.as_of = AsOf::Ever;
        }
        let page = match params.text.map(|text| text.to_lowercase()) {
            None => engine.records().page(&filter, None)?,
            Some(text) => {
                let contains_text =
                    |record: &heirloom_model::Record| record.text.to_lowercase().contains(&text);
                engine.records().page(&filter, Some(&contains_text))?
            }
        };
        Ok(List::from_page(&page, json_types::knowledge))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewKnowledge {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// convention, architecture, decision, fact (the default), or any other word.
    category: Option<String>,
    /// Key; derived from the text by default.
    key: Option<String>,
    /// The value.
    #[serde(alias = "text", alias = "content")]
    #[schema(min_length = 1, pattern = r"\S")]
    value: String,
    /// Source; the token's role by default. Values of agents are proposals.
    source: Option<String>,
    /// Confidence of the source; 0.8 for agents, otherwise 1.0.
    #[schema(minimum = 0, maximum = 1)]
    confidence: Option<f64>,
    /// Reason of a decision.
    rationale: Option<String>,
    /// Start of validity.
    #[schema(format = DateTime)]
    true_from: Option<String>,
    /// End of validity.
    #[schema(format = DateTime)]
    true_to: Option<String>,
    /// True for data of a program, such as a value of a store: no prompt and no search shows it.
    #[serde(default)]
    machine: bool,
    #[serde(flatten)]
    places: ScopeFields,
}

impl HasScope for NewKnowledge {
    const OTHER_FIELDS: &'static [&'static str] = &[
        "project",
        "category",
        "key",
        "value",
        "text",
        "content",
        "source",
        "confidence",
        "rationale",
        "true_from",
        "true_to",
        "machine",
    ];
}

/// Stores a value for a key. A different value from another source is a conflict, the same value a confirmation.
#[utoipa::path(post, path = "/knowledge", operation_id = "add_knowledge", tag = "knowledge", request_body = NewKnowledge,
    responses((status = 201, body = WriteOutcome), (status = 200, body = WriteOutcome)))]
pub(super) async fn add(
    State(app): State<App>,
    access: Access,
    ScopedBody(body): ScopedBody<NewKnowledge>,
) -> Result<(StatusCode, Json<WriteOutcome>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let is_agent = access.role == heirloom_model::AccessRole::Agent;
    access.resolve_source(body.places.agent_id.as_deref())?;
    let named = body.source.as_deref();
    let named = named.or(body.places.agent_id.as_deref().filter(|_| is_agent));
    let new = NewRecord {
        text: body.value,
        kind: Some(Kind::Knowledge),
        category: body.category,
        key: body.key,
        confidence: body.confidence,
        source: Some(access.resolve_source(named)?),
        rationale: body.rationale,
        scope: body.places.scope(),
        true_from: parse_time("true_from", body.true_from.as_deref())?,
        true_to: parse_time("true_to", body.true_to.as_deref())?,
        machine: body.machine,
    };
    if let (Some(from), Some(to)) = (new.true_from, new.true_to)
        && to < from
    {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            format!("`true_to` {to} is before `true_from` {from}"),
        )
        .hint("swap the two times, or omit one"));
    }
    let remembered = app
        .with_engine(project, move |engine| engine.records().remember(new))
        .await?;
    let outcome = WriteOutcome::from(remembered);
    Ok((creation_status(&outcome), Json(outcome)))
}

/// Returns 201 for a new record, otherwise 200.
pub(super) fn creation_status(outcome: &WriteOutcome) -> StatusCode {
    match outcome.outcome.as_str() {
        "created" => StatusCode::CREATED,
        _ => StatusCode::OK,
    }
}

/// Returns one knowledge record, current or retired.
#[utoipa::path(get, path = "/knowledge/{id}", operation_id = "get_knowledge", tag = "knowledge", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = Knowledge)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<Knowledge>, Problem> {
    let record_id = parse_id(&given)?;
    let requested = params.project.as_deref();
    let project = app.project_of(&access, requested, record_id).await?;
    let answer = app.with_engine(project, move |engine| {
        let record = engine.records().get(record_id)?;
        if record.kind != Kind::Knowledge {
            return Err(Fault::not_found(format!(
                "record {record_id} is not knowledge but {}",
                record.kind
            )));
        }
        Ok(json_types::knowledge(&record))
    });
    Ok(Json(answer.await?))
}

/// Retires the record: lists and contexts no longer contain it. `undo` restores it.
#[utoipa::path(delete, path = "/knowledge/{id}", operation_id = "retire_knowledge", tag = "knowledge", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = WriteOutcome)))]
pub(super) async fn remove(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
    expected: super::records::IfMatch,
) -> Result<Json<WriteOutcome>, Problem> {
    super::records::retire(
        &app,
        &access,
        &given,
        params,
        Some(Kind::Knowledge),
        expected,
    )
    .await
}
