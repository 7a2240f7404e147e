//! Sessions: what was said, what was sent, at what cost.

mod window;

use super::look::times;
use super::view::chart::share;
use super::view::sessions::{List, Row, Shortened, Step, Turn, View};
use super::view::{Html, Times, escape, number, percent, plural, said, short};
use super::{Look, Shell, Wrong, html, told};
use crate::App;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use heirloom_engine::{Engine, Filter, Order, WindowStory};
use heirloom_model::{Deed, Fault, Kind, Message, Record, RecordId, Role, Session, text};
use serde::Deserialize;

/// Sessions of the list.
const LISTED: usize = 60;
/// Turns of a page, the newest.
const TURNS: usize = 60;
/// Turns that are counted and drawn.
const READ: usize = 2_000;
/// Records that are looked through for those of a session.
const LOOKED_THROUGH: usize = 500;
/// Characters of a turn that are shown at once.
const SHORT: usize = 420;
/// Characters of a turn that are shown at all.
const LONG: usize = 6_000;

/// What the address asks for.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Asked {
    before: Option<u64>,
}

/// Their addresses.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/sessions", get(list))
        .route("/sessions/{id}", get(open))
}

async fn list(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| {
        let times = times(engine);
        let sessions = engine.sessions_of(None, LISTED)?;
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
        Ok(List {
            shell: Shell::load(engine, &look, "sessions", "Sessions")?,
            headline,
            rows: sessions.iter().map(|one| row(one, &times)).collect(),
        })
    });
    html(&view.await?)
}

fn row(session: &Session, times: &Times) -> Row {
    let mut meta = vec![agent(session)];
    meta.extend(
        session
            .task
            .as_deref()
            .map(|task| format!("task {}", told::task(task))),
    );
    if session.attrs.contains_key("window") {
        meta.push("with a window".to_owned());
    }
    Row {
        id: told::encoded(&session.id),
        href: told::session_href(&session.id),
        name: told::short_id(&session.id),
        meta,
        at: times.full(session.started_at),
    }
}

fn agent(session: &Session) -> String {
    text::printable(session.agent.as_deref().unwrap_or("no agent named"))
}

async fn open(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| load(engine, &look, &id, asked));
    html(&view.await?)
}

fn load(engine: &Engine, look: &Look, id: &str, asked: Asked) -> Result<View, Fault> {
    let times = times(engine);
    let (session, all) = engine.session_page(id, 0, READ)?;
    let story = engine.window_story(&all)?;
    let known = engine.session_window(id)?;
    let steps = steps(story.as_ref());
    let whole: u64 = all.iter().map(|turn| u64::from(turn.tokens)).sum();
    let end = asked.before.map_or(all.len(), |before| {
        all.iter()
            .position(|turn| turn.seq >= before)
            .unwrap_or(all.len())
    });
    let from = end.saturating_sub(TURNS);
    let shown = all.get(from..end).unwrap_or_default();
    let goal = all.iter().find(|turn| turn.role == Role::User);
    let shortened = story.as_ref().map(shortened).unwrap_or_default();
    let boundary = known.as_ref().map_or(0, |known| known.boundary);
    Ok(View {
        shell: Shell::load(engine, look, "sessions", "Session")?,
        noun: format!("Session · {}, {}", told::short_id(id), agent(&session)),
        headline: headline(all.len(), whole, story.as_ref()),
        sub: match (steps.len(), shortened.len(), boundary) {
            (0, 0, 0) => "Nothing was shortened.".to_owned(),
            (steps, short, _) => format!(
                "{}, {} shortened. Everything shortened can be expanded.",
                plural(steps, "step", "steps"),
                plural(short, "output", "outputs")
            ),
        },
        svg: window::drawn(&all, story.as_ref()),
        steps,
        shortened,
        archives: known.as_ref().map_or_else(Vec::new, |known| {
            let archive = |(id, file): &(String, Option<std::path::PathBuf>)| {
                let place = file.as_ref().map_or_else(
                    || "its file is gone".to_owned(),
                    |file| {
                        text::printable(
                            &file
                                .strip_prefix(engine.root())
                                .unwrap_or(file)
                                .to_string_lossy(),
                        )
                    },
                );
                (text::printable(id), place)
            };
            known.archives.iter().map(archive).collect()
        }),
        summaries: known.as_ref().map_or_else(Vec::new, |known| {
            let written = known.summaries.iter();
            written
                .map(|one| {
                    (
                        text::printable(&one.model),
                        said(&text::excerpt(&one.text, 800)),
                    )
                })
                .collect()
        }),
        turns: shown.iter().map(|one| turn(one, &times)).collect(),
        earlier: match shown.first() {
            Some(first) if from > 0 => format!("{}?before={}", told::session_href(id), first.seq),
            Some(_) | None => String::new(),
        },
        cost: cost(story.as_ref()),
        goal: goal.map_or_else(String::new, |goal| {
            text::excerpt(&text::printable(&goal.text), 240)
        }),
        facts: facts(engine, &session, &times)?,
    })
}

fn headline(turns: usize, whole: u64, story: Option<&WindowStory>) -> String {
    let all = format!(
        "{}, {} tokens of conversation",
        plural(turns, "turn", "turns"),
        short(whole)
    );
    let most = story.and_then(|story| story.points.iter().map(|point| point.tokens_after).max());
    match most {
        Some(most) if (most as u64) < whole => format!(
            "{all}, never more than {} in its window.",
            short(most as u64)
        ),
        Some(_) | None => format!("{all}."),
    }
}

/// Where the window became smaller than it was.
fn steps(story: Option<&WindowStory>) -> Vec<Step> {
    let points = story
        .map(|story| story.points.as_slice())
        .unwrap_or_default();
    let smaller = points
        .windows(2)
        .filter(|pair| pair[1].tokens_after < pair[0].tokens_after);
    (1..)
        .zip(smaller)
        .map(|(n, pair)| Step {
            n,
            turn: pair[1].messages,
            before: short(pair[1].tokens_before as u64),
            after: short(pair[1].tokens_after as u64),
        })
        .collect()
}

fn shortened(story: &WindowStory) -> Vec<Shortened> {
    let most = story
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
        Shortened {
            turn: index + 1,
            tool: text::printable(tool),
            bar: share(
                &label,
                percent(*after as u64, most).max(1),
                "f-accent",
                false,
            ),
            size: format!(
                "{} to {} characters",
                short(*before as u64),
                short(*after as u64)
            ),
            id: text::printable(id),
        }
    };
    story.shortened.iter().map(one).collect()
}

fn cost(story: Option<&WindowStory>) -> Vec<(&'static str, String)> {
    match story {
        Some(story) if story.cost.0 > 0 => vec![
            ("Without window", short(story.cost.0)),
            ("With window", short(story.cost.1)),
            (
                "Of it",
                format!("{} %", percent(story.cost.1, story.cost.0)),
            ),
        ],
        Some(_) | None => Vec::new(),
    }
}

fn turn(message: &Message, times: &Times) -> Turn {
    let is_long = message.text.len() > SHORT || message.role == Role::ToolResult;
    let words = text::clip(&message.text, LONG);
    let lines: Vec<String> = words.lines().map(text::printable).collect();
    let mut whole = String::new();
    escape(&lines.join("\n"), &mut whole);
    Turn {
        seq: message.seq,
        role: message.role.as_str(),
        who: match (&message.sender, message.role) {
            (Some(sender), _) => text::printable(sender),
            (None, Role::User) => "you".to_owned(),
            (None, Role::Assistant | Role::ToolCall) => "agent".to_owned(),
            (None, Role::System) => "host".to_owned(),
            (None, Role::ToolResult) => "tool".to_owned(),
        },
        at: times.brief(message.at),
        tokens: number(message.tokens),
        words: match is_long {
            true => Html::made(whole),
            false => said(&message.text),
        },
        is_long,
        begin: said(&text::excerpt(&message.text, 110)),
    }
}

/// How much was learned in a session, and whether that is all. Nothing leads from a session to its records: those are
/// looked through that came behind its beginning, and not without end.
fn learned(engine: &Engine, session: &Session) -> Result<(usize, bool), Fault> {
    let kinds = [Kind::Knowledge, Kind::Error, Kind::Episode];
    let mut filter = Filter::current(&kinds, engine.now()).limit(LOOKED_THROUGH);
    filter.order = Order::Oldest;
    filter.after = Some(RecordId::before(session.started_at));
    let found = engine.find(&filter)?;
    let is_whole = found.len() < LOOKED_THROUGH;
    let own = |record: &&Record| record.scope.session.as_deref() == Some(session.id.as_str());
    Ok((found.iter().filter(own).count(), is_whole))
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
        Html::made(out)
    };
    let mut facts = Vec::new();
    let receipts = engine.receipts(60)?;
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
    let (left, is_whole) = learned(engine, session)?;
    if left > 0 {
        let href = format!("/recall?q=session:{}", told::encoded(&session.id));
        let records = plural(left, "record", "records");
        let words = match is_whole {
            true => records,
            false => format!("{records} or more"),
        };
        facts.push(("Learned", link(&href, &words)));
    }
    facts.push(("Agent", said(&agent(session))));
    if let Some(task) = &session.task {
        facts.push(("Task", link(&told::task_href(task), &told::task(task))));
    }
    facts.push(("Began", said(&times.full(session.started_at))));
    if let Some(ended) = session.ended_at {
        facts.push(("Ended", said(&times.full(ended))));
    }
    Ok(facts)
}
