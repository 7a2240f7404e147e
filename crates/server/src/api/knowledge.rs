//! `/api/memory/knowledge`: what is known, one current value for each key of a category.

use super::shape::{Asked, Body, List, Places, Where, cursor, id, limit, time};
use super::wire::{self, Knowledge, Outcome};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{Filter, NewRecord, When};
use heirloom_model::{Fault, Kind, Scope};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only of this category: convention, architecture, decision, fact, or any other word.
    category: Option<String>,
    /// Only with this key.
    key: Option<String>,
    /// Only with keys that begin so.
    key_prefix: Option<String>,
    /// Only by this source.
    source: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
    /// Only what contains this, whatever its case.
    text: Option<String>,
    /// What is past too.
    #[serde(default)]
    all: bool,
    /// `next` of the part before.
    cursor: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// What is known, newest first.
#[utoipa::path(get, path = "/knowledge", tag = "memory", params(Asking), responses((status = 200, body = List<Knowledge>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<List<Knowledge>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    let after = cursor(asked.cursor.as_deref())?;
    let answer = app.compute(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(most);
        filter.category = asked.category;
        filter.key = asked.key;
        filter.key_prefix = asked.key_prefix;
        filter.source = asked.source;
        filter.scope = Scope {
            task: asked.task_id,
            ..Scope::default()
        };
        filter.after = after;
        if asked.all {
            filter.when = When::Ever;
        }
        let page = match asked.text.map(|text| text.to_lowercase()) {
            None => engine.page(&filter, None)?,
            Some(text) => {
                let says =
                    |record: &heirloom_model::Record| record.text.to_lowercase().contains(&text);
                engine.page(&filter, Some(&says))?
            }
        };
        Ok(List::of(&page, wire::knowledge))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewKnowledge {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// convention, architecture, decision, fact (if nothing is said), or any other word.
    category: Option<String>,
    /// What it is about; made of the text if nothing is said.
    key: Option<String>,
    /// What is known.
    #[serde(alias = "text")]
    #[schema(min_length = 1, pattern = r"\S")]
    value: String,
    /// Who says so; else the token's role. An agent's word is a proposal.
    source: Option<String>,
    /// How sure that source is; 0.8 for agents, else 1.0.
    #[schema(minimum = 0, maximum = 1)]
    confidence: Option<f64>,
    /// Why, for decisions.
    rationale: Option<String>,
    /// From when on it holds.
    #[schema(format = DateTime)]
    true_from: Option<String>,
    /// Until when it holds.
    #[schema(format = DateTime)]
    true_to: Option<String>,
    #[serde(flatten)]
    places: Places,
}

/// Says what holds for a key: another source's other value is a conflict, the same value a confirmation.
#[utoipa::path(post, path = "/knowledge", tag = "memory", request_body = NewKnowledge,
    responses((status = 201, body = Outcome), (status = 200, body = Outcome)))]
pub(super) async fn add(
    State(app): State<App>,
    access: Access,
    Body(said): Body<NewKnowledge>,
) -> Result<(StatusCode, Json<Outcome>), Problem> {
    let project = access.project(said.project.as_deref())?;
    let is_agent = access.role == heirloom_model::AccessRole::Agent;
    let named = said.source.as_deref();
    let named = named.or(said.places.agent_id.as_deref().filter(|_| is_agent));
    let new = NewRecord {
        text: said.value,
        kind: Some(Kind::Knowledge),
        category: said.category,
        key: said.key,
        confidence: said.confidence,
        source: Some(access.source(named)?),
        rationale: said.rationale,
        scope: said.places.scope(),
        true_from: time("true_from", said.true_from.as_deref())?,
        true_to: time("true_to", said.true_to.as_deref())?,
    };
    if let (Some(from), Some(to)) = (new.true_from, new.true_to)
        && to < from
    {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            format!("`true_to` {to} lies before `true_from` {from}"),
        )
        .hint("what holds begins before it ends: exchange them, or leave one out"));
    }
    let remembered = app.ask(project, move |engine| engine.remember(new)).await?;
    let outcome = Outcome::from(remembered);
    Ok((created(&outcome), Json(outcome)))
}

/// 201 for what is new, else 200.
pub(super) fn created(outcome: &Outcome) -> StatusCode {
    match outcome.outcome.as_str() {
        "created" => StatusCode::CREATED,
        _ => StatusCode::OK,
    }
}

/// One piece of knowledge, current or past.
#[utoipa::path(get, path = "/knowledge/{id}", tag = "memory", params(("id" = String, Path,), Where), responses((status = 200, body = Knowledge)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<Json<Knowledge>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let wanted = id(&given)?;
    let answer = app.ask(project, move |engine| {
        let record = engine.get(wanted)?;
        if record.kind != Kind::Knowledge {
            return Err(Fault::not_found(format!(
                "record {wanted} is no knowledge but a {}",
                record.kind
            )));
        }
        Ok(wire::knowledge(&record))
    });
    Ok(Json(answer.await?))
}

/// Retires it: it is in no context and no list any more; `undo` brings it back.
#[utoipa::path(delete, path = "/knowledge/{id}", tag = "memory", params(("id" = String, Path,), Where), responses((status = 200, body = Outcome)))]
pub(super) async fn remove(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
    expected: super::records::Expected,
) -> Result<Json<Outcome>, Problem> {
    super::records::retire(
        &app,
        &access,
        &given,
        asked,
        Some(Kind::Knowledge),
        expected,
    )
    .await
}
