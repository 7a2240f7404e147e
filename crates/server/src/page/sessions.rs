//! Session pages: turns, window compaction and its savings.

mod window_chart;

use super::request_context::times;
use super::view::chart::share;
use super::view::sessions::{
    CompactionStep, LessonRow, SessionListView, SessionRow, SessionView, ShortenedOutput, TurnRow,
};
use super::view::{Html, Times, escape, number, percent, plural, render_text, short_number};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use heirloom_engine::{Engine, Filter, LessonSource, Order, WindowTimeline};
use heirloom_model::{Fault, Kind, Message, Permission, Record, RecordId, Role, Session, text};
use serde::Deserialize;

/// Maximum number of listed sessions.
const LISTED: usize = 60;
/// Turns on one page, newest first.
const TURNS: usize = 60;
/// Maximum number of turns that are counted and drawn.
const READ: usize = 2_000;
/// Maximum number of records that are searched for those of a session.
const LOOKED_THROUGH: usize = 500;
/// Maximum number of characters of a turn that is shown unfolded.
const SHORT: usize = 420;
/// Maximum number of shown characters of a turn.
const LONG: usize = 6_000;

/// Query parameters.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct SessionParams {
    before: Option<u64>,
}

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/sessions", get(list))
        .route("/sessions/{id}", get(open))
}

async fn list(State(app): State<App>, context: RequestContext) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        let times = times(engine);
        let sessions = engine.sessions().sessions_of(None, LISTED)?;
        let headline = match (sessions.len(), sessions.first()) {
            (0, _) | (_, None) => "No session is known yet.".to_owned(),
            (LISTED, Some(newest)) => format!(
                "The newest {LISTED} sessions, the last {}.",
                times.full(newest.started_at)
            ),
            (n, Some(newest)) => format!(
                "{}, the last {}.",
                plural(n, "session", "sessions"),
                times.full(newest.started_at)
            ),
        };
        Ok(SessionListView {
            shell: Shell::load(engine, &context, "sessions", "Sessions")?,
            headline,
            rows: sessions.iter().map(|one| row(one, &times)).collect(),
        })
    });
    render(&view.await?)
}

fn row(session: &Session, times: &Times) -> SessionRow {
    let mut meta = vec![agent(session)];
    meta.extend(
        session
            .task
            .as_deref()
            .map(|task| format!("task {}", record_label::task_label(task))),
    );
    if session.attrs.contains_key("window") {
        meta.push("with a window".to_owned());
    }
    SessionRow {
        id: record_label::percent_encode(&session.id),
        href: record_label::session_href(&session.id),
        name: record_label::short_id(&session.id),
        meta,
        at: times.full(session.started_at),
    }
}

fn agent(session: &Session) -> String {
    text::replace_control_chars(session.agent.as_deref().unwrap_or("no agent named"))
}

async fn open(
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
    let (session, all) = engine.records().session_page(id, 0, READ)?;
    let timeline = engine.window().timeline(&all)?;
    let window_state = engine.window().session(id)?;
    let steps = compaction_steps(timeline.as_ref());
    let whole: u64 = all.iter().map(|turn| u64::from(turn.tokens)).sum();
    let end = params.before.map_or(all.len(), |before| {
        all.iter()
            .position(|turn| turn.seq >= before)
            .unwrap_or(all.len())
    });
    let from = end.saturating_sub(TURNS);
    let shown = all.get(from..end).unwrap_or_default();
    let goal = all.iter().find(|turn| turn.role == Role::User);
    let shortened = timeline.as_ref().map(shortened_outputs).unwrap_or_default();
    let boundary = window_state
        .as_ref()
        .map_or(0, |window_state| window_state.boundary);
    Ok(SessionView {
        shell: Shell::load(engine, context, "sessions", "Session")?,
        noun: format!(
            "Session · {}, {}",
            record_label::short_id(id),
            agent(&session)
        ),
        headline: headline(all.len(), whole, timeline.as_ref()),
        sub: match (steps.len(), shortened.len(), boundary) {
            (0, 0, 0) => "Nothing was shortened.".to_owned(),
            (steps, short, _) => format!(
                "{}, {} shortened. Everything shortened can be expanded.",
                plural(steps, "step", "steps"),
                plural(short, "output", "outputs")
            ),
        },
        svg: window_chart::render_chart(&all, timeline.as_ref()),
        steps,
        shortened,
        archives: window_state.as_ref().map_or_else(Vec::new, |window_state| {
            let archive = |(id, file): &(String, Option<std::path::PathBuf>)| {
                let place = file.as_ref().map_or_else(
                    || "its file is missing".to_owned(),
                    |file| {
                        text::replace_control_chars(
                            &file
                                .strip_prefix(engine.root())
                                .unwrap_or(file)
                                .to_string_lossy(),
                        )
                    },
                );
                (text::replace_control_chars(id), place)
            };
            window_state.archives.iter().map(archive).collect()
        }),
        summaries: window_state.as_ref().map_or_else(Vec::new, |window_state| {
            let written = window_state.summaries.iter();
            written
                .map(|one| {
                    (
                        text::replace_control_chars(&one.model),
                        render_text(&text::excerpt(&one.text, 800)),
                    )
                })
                .collect()
        }),
        turns: shown.iter().map(|one| turn_row(one, &times)).collect(),
        earlier: match shown.first() {
            Some(first) if from > 0 => {
                format!("{}?before={}", record_label::session_href(id), first.seq)
            }
            Some(_) | None => String::new(),
        },
        cost: savings(timeline.as_ref()),
        goal: goal.map_or_else(String::new, |goal| {
            text::excerpt(&text::replace_control_chars(&goal.text), 240)
        }),
        facts: facts(engine, &session, &times)?,
        lessons: lesson_rows(engine, id)?,
    })
}

fn headline(turns: usize, whole: u64, timeline: Option<&WindowTimeline>) -> String {
    let all = format!(
        "{}, {} tokens of conversation",
        plural(turns, "turn", "turns"),
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

fn shortened_outputs(timeline: &WindowTimeline) -> Vec<ShortenedOutput> {
    let most = timeline
        .shortened
        .iter()
        .map(|(_, _, before, ..)| *before)
        .max()
        .unwrap_or(1) as u64;
    let one = |(index, tool, before, after, id): &(usize, String, usize, usize, String)| {
        let label = format!(
            "{} characters shortened to {}",
            number(*before as u64),
            number(*after as u64)
        );
        ShortenedOutput {
            turn: index + 1,
            tool: text::replace_control_chars(tool),
            bar: share(
                &label,
                percent(*after as u64, most).max(1),
                "f-accent",
                false,
            ),
            size: format!(
                "{} to {} characters",
                short_number(*before as u64),
                short_number(*after as u64)
            ),
            id: text::replace_control_chars(id),
        }
    };
    timeline.shortened.iter().map(one).collect()
}

fn savings(timeline: Option<&WindowTimeline>) -> Vec<(&'static str, String)> {
    match timeline {
        Some(timeline) if timeline.cost.0 > 0 => vec![
            ("Without window", short_number(timeline.cost.0)),
            ("With window", short_number(timeline.cost.1)),
            (
                "Share",
                format!("{} %", percent(timeline.cost.1, timeline.cost.0)),
            ),
        ],
        Some(_) | None => Vec::new(),
    }
}

fn turn_row(message: &Message, times: &Times) -> TurnRow {
    let is_long = message.text.len() > SHORT || message.role == Role::ToolResult;
    let words = text::clip(&message.text, LONG);
    let lines: Vec<String> = words.lines().map(text::replace_control_chars).collect();
    let mut whole = String::new();
    escape(&lines.join("\n"), &mut whole);
    TurnRow {
        seq: message.seq,
        role: message.role.as_str(),
        who: match (&message.sender, message.role) {
            (Some(sender), _) => text::replace_control_chars(sender),
            (None, Role::User) => "you".to_owned(),
            (None, Role::Assistant | Role::ToolCall) => "agent".to_owned(),
            (None, Role::System) => "host".to_owned(),
            (None, Role::ToolResult) => "tool".to_owned(),
        },
        at: times.brief(message.at),
        tokens: number(message.tokens),
        words: match is_long {
            true => Html::from_markup(whole),
            false => render_text(&message.text),
        },
        is_long,
        begin: render_text(&text::excerpt(&message.text, 110)),
    }
}

/// Counts the records learned in a session; the flag is false if the count is incomplete. There is no index from
/// sessions to records, so a limited number of records after its start is scanned.
fn count_learned(engine: &Engine, session: &Session) -> Result<(usize, bool), Fault> {
    let kinds = [Kind::Knowledge, Kind::Error, Kind::Episode];
    let mut filter = Filter::current(&kinds, engine.now()).limit(LOOKED_THROUGH);
    filter.order = Order::Oldest;
    filter.after = Some(RecordId::min_at(session.started_at));
    let found = engine.records().find(&filter)?;
    let is_whole = found.len() < LOOKED_THROUGH;
    let own = |record: &&Record| record.scope.session.as_deref() == Some(session.id.as_str());
    Ok((found.iter().filter(own).count(), is_whole))
}

/// Returns the records that the session taught, with the lines that support them.
fn lesson_rows(engine: &Engine, session: &str) -> Result<Vec<LessonRow>, Fault> {
    let mut rows = Vec::new();
    for record in engine.sessions().lessons().of_session(session)? {
        let Some(source) = LessonSource::of_record(&record) else {
            continue;
        };
        let category = record.attr_str("category");
        rows.push(LessonRow {
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
        });
    }
    Ok(rows)
}

fn facts(
    engine: &Engine,
    session: &Session,
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
    let mut facts = Vec::new();
    let receipts = engine.contexts().receipts(60)?;
    let own = receipts.iter().filter(|receipt| {
        receipt.body.get("session").and_then(|id| id.as_str()) == Some(session.id.as_str())
    });
    let own: Vec<_> = own.collect();
    if let Some(first) = own.first() {
        let words = plural(own.len(), "context", "contexts");
        facts.push((
            "Inherited",
            link(&format!("/receipts/{}", first.id), &words),
        ));
    }
    let (left, is_whole) = count_learned(engine, session)?;
    if left > 0 {
        let href = format!(
            "/recall?q=session:{}",
            record_label::percent_encode(&session.id)
        );
        let records = plural(left, "record", "records");
        let words = match is_whole {
            true => records,
            false => format!("{records} or more"),
        };
        facts.push(("Learned", link(&href, &words)));
    }
    facts.push(("Agent", render_text(&agent(session))));
    if let Some(task) = &session.task {
        facts.push((
            "Task",
            link(
                &record_label::task_href(task),
                &record_label::task_label(task),
            ),
        ));
    }
    facts.push(("Began", render_text(&times.full(session.started_at))));
    if let Some(ended) = session.ended_at {
        facts.push(("Ended", render_text(&times.full(ended))));
    }
    Ok(facts)
}
