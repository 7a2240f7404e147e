//! Recall page: the hits that an agent would get for the same query, with explanations.

mod absence;
mod explanation;
mod filter_links;
mod hit_rows;
mod query_words;
mod score_parts;

use super::request_context::times;
use super::view::recall::RecallView;
use super::view::{number, plural};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use absence::{AbsenceExplainer, GIVEN_CHARS};
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_engine::{ConversationHits, Engine, RecallReport, RecallRequest};
use heirloom_model::{ErrorKind, Fault, Permission, RecordId, limits, text};
use heirloom_search::recall::ParsedQuery;
use heirloom_search::relevance::FLOOR;
use hit_rows::{HitRows, HitSections};
use query_words::QueryWords;
use serde::Deserialize;
use std::collections::HashMap;

/// Initial and maximum number of hits of each section. An agent gets the initial number by default.
const FIRST: usize = limits::RECALL_HITS_DEFAULT;
const MOST: usize = 40;
/// Number of hits that are searched, of both sections and weak ones.
const SEARCHED: usize = 50;
/// Maximum number of hits below the floor that are shown.
const WEAK_SHOWN: usize = 8;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct RecallPageParams {
    q: String,
    k: Option<usize>,
    /// Key or id of a record whose absence is explained.
    why: String,
}

/// Shows the hits of a query.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<RecallPageParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| load(engine, &context, &params));
    render(&view.await?)
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    params: &RecallPageParams,
) -> Result<RecallView, Fault> {
    let shell = Shell::load(engine, context, "recall", "Recall")?;
    let q = text::clip(params.q.trim(), limits::RECALL_QUERY_BYTES_MAX / 4);
    let counts = engine.records().counts()?;
    let all: u64 = counts.iter().map(|(_, n)| n).sum();
    if q.is_empty() {
        return blank(engine, shell, all);
    }
    let k = params.k.unwrap_or(FIRST).clamp(1, MOST);
    let request = RecallRequest {
        question: q.to_owned(),
        conversations: ConversationHits::All,
        ..RecallRequest::default()
    };
    let (report, problem) = search(engine, &request)?;
    let parsed = ParsedQuery::parse(q, engine.now());
    let words = QueryWords::of(&parsed.text);
    let times = times(engine);
    let conflicts = open_conflicts(engine)?;
    let is_full = report.hits.len() >= SEARCHED;
    let hits = report.hits.into_iter().chain(report.conversations);
    let floor = match report.is_answered {
        true => FLOOR,
        false => f64::INFINITY,
    };
    let sections = HitSections::of(hits, floor);
    let is_cut = is_full && sections.weak.is_empty();
    let rows = HitRows {
        words: &words,
        times: &times,
        conflicts: &conflicts,
        sections: &sections,
    };
    let explainer = AbsenceExplainer {
        engine,
        context,
        request: &request,
        words: &words,
        times: &times,
        conflicts: &conflicts,
    };
    let why = text::clip(params.why.trim(), GIVEN_CHARS);
    let absence = match why.is_empty() || problem.is_some() {
        true => None,
        false => Some(explainer.explain(why)?),
    };
    let notes = report.notes.into_iter().chain(problem);
    let shown = sections.records.iter().chain(&sections.turns);
    let has_more = sections.records.len().max(sections.turns.len()) > k && k < MOST;
    Ok(RecallView {
        headline: headline(&sections, &words, is_cut),
        sub: sub_sentence(all, report.took_us),
        question: text::replace_control_chars(q),
        reads_as: words.shown().join(", "),
        chips: filter_links::chips(q),
        narrowing: filter_links::narrowing(q, &parsed, shown.clone()),
        notes: notes
            .map(|note| text::replace_control_chars(&note))
            .collect(),
        legend: score_parts::legend(shown),
        records: rows.rows(&sections.records, k),
        records_title: plural(sections.records.len(), "record", "records"),
        turns: rows.rows(&sections.turns, k),
        turns_title: format!(
            "In conversations: {}",
            plural(sections.turns.len(), "turn", "turns")
        ),
        more: match has_more {
            true => more_href(q, (k * 2).min(MOST)),
            false => String::new(),
        },
        weak: rows.rows(&sections.weak, WEAK_SHOWN),
        weak_title: weak_title(sections.weak.len()),
        without_filters: filter_links::without_filters(q),
        why: text::replace_control_chars(why),
        absence,
        ..RecallView::of(shell)
    })
}

/// Returns the page without a query: examples and filters.
fn blank(engine: &Engine, shell: Shell, all: u64) -> Result<RecallView, Fault> {
    let all = usize::try_from(all).unwrap_or(usize::MAX);
    Ok(RecallView {
        headline: format!("{} to ask.", plural(all, "record", "records")),
        sub: "See what an agent would get for a question, and why.".to_owned(),
        is_blank: true,
        examples: filter_links::examples(engine)?,
        filters: &filter_links::FILTERS,
        ..RecallView::of(shell)
    })
}

/// Searches all hits, weak ones included. An invalid query is a message instead of an error.
fn search(
    engine: &Engine,
    request: &RecallRequest,
) -> Result<(RecallReport, Option<String>), Fault> {
    let all = RecallRequest {
        k: Some(SEARCHED),
        min_relevance: Some(0.0),
        ..request.clone()
    };
    match engine.recall().search(&all) {
        Ok(report) => Ok((report, None)),
        Err(fault) if fault.kind == ErrorKind::Usage => {
            let problem = match fault.hint {
                Some(hint) => format!("{}: {hint}", fault.message),
                None => fault.message,
            };
            let nothing = RecallReport {
                hits: Vec::new(),
                conversations: Vec::new(),
                weak: 0,
                is_answered: false,
                notes: Vec::new(),
                took_us: 0,
            };
            Ok((nothing, Some(problem)))
        }
        Err(fault) => Err(fault),
    }
}

/// Returns the positions of the open conflicts, by the id of the record in effect.
fn open_conflicts(engine: &Engine) -> Result<HashMap<RecordId, usize>, Fault> {
    let conflicts = engine.conflicts().list()?.into_iter();
    let numbered = conflicts.map(|conflict| conflict.winner.id).zip(0..);
    Ok(numbered.collect())
}

/// Returns the headline: the number of hits of each section. Only strong hits are called relevant without a doubt: a
/// question about another subject often has a hit a little above the floor.
fn headline(sections: &HitSections, words: &QueryWords, is_cut: bool) -> String {
    let (records, turns) = (sections.records.len(), sections.turns.len());
    let named_turns = plural(turns, "conversation turn", "conversation turns");
    let found = match (records, turns) {
        (0, 0) => return "Nothing relevant.".to_owned(),
        (_, 0) => plural(records, "record", "records"),
        (0, _) => named_turns,
        (_, _) => format!("{} and {named_turns}", plural(records, "record", "records")),
    };
    let found = match is_cut {
        true => format!("At least {found}"),
        false => found,
    };
    match (words.len(), sections.has_strong_hit(), records + turns) {
        (0, _, _) => format!("{found} with these filters."),
        (_, false, _) => format!("{found} may be relevant."),
        (_, true, 1) => format!("{found} is relevant."),
        (_, true, _) => format!("{found} are relevant."),
    }
}

/// Returns the sentence below the headline: what was searched, and what an agent gets of it.
fn sub_sentence(all: u64, took_us: u64) -> String {
    format!(
        "{} records and the conversations were searched in {}.{} ms. An agent that asks the same gets at most {FIRST} \
         of the relevant ones.",
        number(all),
        took_us / 1_000,
        took_us % 1_000 / 100
    )
}

/// Returns the label that opens the hits below the floor.
fn weak_title(count: usize) -> String {
    match count > WEAK_SHOWN {
        true => format!(
            "Show the best {WEAK_SHOWN} of {} weak matches",
            number(count as u64)
        ),
        false => format!("Show {}", plural(count, "weak match", "weak matches")),
    }
}

/// Returns the address of the page with more hits.
fn more_href(q: &str, k: usize) -> String {
    format!("/recall?q={}&k={k}", record_label::percent_encode(q))
}
