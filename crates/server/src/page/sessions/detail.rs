//! One session: its turns, its window and cost, its contexts, and what it taught.

use super::cost::{TokenUsage, attempts_by_session, savings, session_duration, usage_rows};
use super::turn_rows::{shortened_outputs, turn_row};
use super::window_chart;
use crate::App;
use crate::page::learned_records::{learned_records, learned_row};
use crate::page::receipt_links::receipt_links;
use crate::page::request_context::times;
use crate::page::session_title::{prompt_title, session_title};
use crate::page::task_title::task_title;
use crate::page::view::sessions::{CompactionStep, LessonRow, SessionView};
use crate::page::view::{Html, Times, escape, number, plural, render_text, short_number};
use crate::page::{PageError, RequestContext, Shell, record_label, render};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use heirloom_engine::{Engine, LessonLedger, LessonSource, SessionWindow, WindowTimeline};
use heirloom_model::{Fault, Message, Permission, Record, Role, Session, text};
use serde::Deserialize;
use std::slice;

/// Turns on one page, newest first.
const TURNS: usize = 60;
/// Maximum number of turns that are counted and drawn.
const READ: usize = 2_000;
/// Attribute of a session with the state of its lessons.
const LESSONS: &str = "lessons";

/// Query parameters.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionParams {
    before: Option<u64>,
}

/// Shows a session.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    Query(params): Query<SessionParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| load(engine, &context, &id, params));
    render(&view.await?)
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    id: &str,
    params: SessionParams,
) -> Result<SessionView, Fault> {
    let times = times(engine);
    let (session, all) = engine.sessions().session_page(id, 0, READ)?;
    let timeline = engine.window().timeline(&all)?;
    let window_state = engine.window().session(id)?;
    let steps = compaction_steps(timeline.as_ref());
    let whole = window_chart::conversation_tokens(&all, timeline.as_ref());
    let end = params.before.map_or(all.len(), |before| {
        all.iter()
            .position(|turn| turn.seq >= before)
            .unwrap_or(all.len())
    });
    let from = end.saturating_sub(TURNS);
    let shown = all.get(from..end).unwrap_or_default();
    let shortened = timeline.as_ref().map(shortened_outputs).unwrap_or_default();
    let (receipts, receipts_all) =
        receipt_links(engine, &times, |head| head.session.as_deref() == Some(id))?;
    let lessons = lesson_rows(engine, &session)?;
    let mut learned = learned_records(engine, slice::from_ref(&session), None)?;
    learned.retain(|record| !lessons.iter().any(|(lesson, _)| lesson.id == record.id));
    let usage = match TokenUsage::of_transcript(&session) {
        Some(usage) => Some(usage),
        None => attempts_by_session(engine, session.started_at)?
            .get(id)
            .map(|one| one.usage),
    };
    let title = session_title(engine, &session)?;
    Ok(SessionView {
        shell: Shell::load(engine, context, "sessions", title.clone())?,
        noun: format!(
            "Session · {}, {}",
            record_label::short_id(id),
            agent(&session)
        ),
        title,
        headline: headline(all.len(), whole, timeline.as_ref()),
        sub: subtitle(steps.len(), shortened.len()),
        file: format!("{}/transcript.md", record_label::session_href(id)),
        json: json_address(engine, context, id),
        svg: window_chart::render_chart(&all, timeline.as_ref()),
        series: window_chart::series(&all, timeline.as_ref()),
        has_anchor: timeline
            .as_ref()
            .is_some_and(|timeline| timeline.points.iter().any(|point| point.has_anchor)),
        steps,
        shortened,
        archives: window_state
            .as_ref()
            .map_or_else(Vec::new, |window| archives(engine, window)),
        summaries: window_state.as_ref().map_or_else(Vec::new, summaries),
        turns: shown.iter().map(|one| turn_row(one, &times)).collect(),
        earlier: match shown.first() {
            Some(first) if from > 0 => {
                format!("{}?before={}", record_label::session_href(id), first.seq)
            }
            Some(_) | None => String::new(),
        },
        usage: usage_rows(usage),
        savings: savings(timeline.as_ref()),
        goal: goal(&all),
        facts: facts(engine, &session, all.last(), &times)?,
        receipts,
        receipts_all,
        lessons: lessons.into_iter().map(|(_, row)| row).collect(),
        learned: learned.iter().map(|one| learned_row(one, &times)).collect(),
    })
}

/// Returns the first prompt of the person, shortened.
fn goal(turns: &[Message]) -> String {
    let is_prompt = |turn: &&Message| turn.role == Role::User && prompt_title(&turn.text).is_some();
    let first = turns.iter().find(is_prompt);
    first.map_or_else(String::new, |goal| {
        text::excerpt(&text::replace_control_chars(&goal.text), 240)
    })
}

/// Returns the address of the turns in the HTTP API.
fn json_address(engine: &Engine, context: &RequestContext, id: &str) -> String {
    let mut address = format!(
        "/api/sessions/{}/messages?limit=1000",
        record_label::percent_encode(id)
    );
    if context.chosen.is_some() {
        let project = record_label::percent_encode(engine.project().as_str());
        address.push_str(&format!("&project={project}"));
    }
    address
}

fn archives(engine: &Engine, window: &SessionWindow) -> Vec<(String, String)> {
    let archive = |(id, file): &(String, Option<std::path::PathBuf>)| {
        let place = file.as_ref().map_or_else(
            || "its file is missing".to_owned(),
            |file| {
                let inside = file.strip_prefix(engine.root()).unwrap_or(file);
                text::replace_control_chars(&inside.to_string_lossy())
            },
        );
        (text::replace_control_chars(id), place)
    };
    window.archives.iter().map(archive).collect()
}

fn summaries(window: &SessionWindow) -> Vec<(String, Html)> {
    let written = window.summaries.iter().map(|one| {
        (
            text::replace_control_chars(&one.model),
            render_text(&text::excerpt(&one.text, 800)),
        )
    });
    written.collect()
}

fn subtitle(steps: usize, shortened: usize) -> String {
    let parts = [
        (steps, plural(steps, "compaction step", "compaction steps")),
        (
            shortened,
            plural(shortened, "shortened output", "shortened outputs"),
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(n, words)| (n > 0).then_some(words))
        .collect();
    match parts.is_empty() {
        true => "A window would shorten nothing of it.".to_owned(),
        false => format!(
            "In a window: {}. Everything shortened can be expanded.",
            parts.join(", ")
        ),
    }
}

fn agent(session: &Session) -> String {
    text::replace_control_chars(session.agent.as_deref().unwrap_or("no agent named"))
}

fn headline(turns: usize, whole: u64, timeline: Option<&WindowTimeline>) -> String {
    let all = format!(
        "{}, {} tokens of conversation",
        match turns {
            READ => format!("First {} turns", number(READ as u64)),
            n => plural(n, "turn", "turns"),
        },
        short_number(whole)
    );
    let most =
        timeline.and_then(|timeline| timeline.points.iter().map(|point| point.tokens_after).max());
    match most {
        Some(most) if (most as u64) < whole => format!(
            "{all}, never more than {} in its window.",
            short_number(most as u64)
        ),
        Some(_) | None => format!("{all}."),
    }
}

/// Returns the points at which the window shrank.
fn compaction_steps(timeline: Option<&WindowTimeline>) -> Vec<CompactionStep> {
    let points = timeline
        .map(|timeline| timeline.points.as_slice())
        .unwrap_or_default();
    let smaller = points
        .windows(2)
        .filter(|pair| pair[1].tokens_after < pair[0].tokens_after);
    (1..)
        .zip(smaller)
        .map(|(n, pair)| CompactionStep {
            n,
            turn: pair[1].messages,
            before: short_number(pair[1].tokens_before as u64),
            after: short_number(pair[1].tokens_after as u64),
        })
        .collect()
}

/// Returns the lessons of the session, with the lines that support them.
fn lesson_rows(engine: &Engine, session: &Session) -> Result<Vec<(Record, LessonRow)>, Fault> {
    let mut rows = Vec::new();
    // Without an index from sessions to records, a search for lessons reads every record.
    let learned = session
        .attrs
        .get(LESSONS)
        .and_then(|state| state.get("ledger"));
    if learned.is_none_or(|ledger| LessonLedger::from_value(ledger).is_empty()) {
        return Ok(rows);
    }
    for record in engine.sessions().lessons().of_session(&session.id)? {
        let Some(source) = LessonSource::of_record(&record) else {
            continue;
        };
        let category = record.attr_str("category");
        let row = LessonRow {
            href: record_label::href(&record),
            name: record_label::name(&record),
            words: record_label::text_html(&record),
            meta: format!(
                "{}, from {}",
                category.unwrap_or(record.kind.as_str()),
                source.author()
            ),
            lines: (source.evidence.iter())
                .map(|evidence| render_text(&evidence.line))
                .collect(),
        };
        rows.push((record, row));
    }
    Ok(rows)
}

fn facts(
    engine: &Engine,
    session: &Session,
    last_turn: Option<&Message>,
    times: &Times,
) -> Result<Vec<(&'static str, Html)>, Fault> {
    let link = |href: &str, words: &str| {
        let mut out = String::from("<a href=\"");
        escape(href, &mut out);
        out.push_str("\">");
        escape(words, &mut out);
        out.push_str("</a>");
        Html::from_markup(out)
    };
    let mut facts = vec![("Agent", render_text(&agent(session)))];
    if let Some(task) = record_label::named_task(session.task.as_deref()) {
        let title = match engine.tasks().task_record(task)? {
            Some(record) => task_title(engine, &record)?,
            None => record_label::task_label(task),
        };
        facts.push(("Task", link(&record_label::task_href(task), &title)));
    }
    facts.push(("Began", render_text(&times.full(session.started_at))));
    if let Some(ended) = session.ended_at {
        facts.push(("Ended", render_text(&times.full(ended))));
    }
    facts.extend(session_duration(session, last_turn).map(|time| ("Duration", render_text(&time))));
    Ok(facts)
}
