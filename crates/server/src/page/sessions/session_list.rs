//! List of sessions, with filters by agent, state and words.

use super::cost::{AttemptSummary, TokenUsage, attempts_by_session, session_duration};
use crate::App;
use crate::page::filter_links::{self, contains_words, count_values, list_address};
use crate::page::request_context::times;
use crate::page::session_title::session_title;
use crate::page::view::filters::FilterLink;
use crate::page::view::sessions::{SessionListView, SessionRow};
use crate::page::view::{Html, Times, number, plural, render_text};
use crate::page::{PageError, RequestContext, Shell, record_label, render};
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_engine::{
    ConversationHits, DedupMode, Engine, QuerySyntax, RecallRequest, RetrievalMode,
};
use heirloom_model::kinds::result_label;
use heirloom_model::{Fault, Permission, Session, text};
use heirloom_search::recall::RecallItem;
use serde::Deserialize;
use std::collections::HashMap;

/// Page size.
const PAGE: usize = 50;
/// Maximum number of sessions that are read and counted, newest first.
const READ: usize = 10_000;
/// Maximum number of turns that a search finds.
const TURNS_FOUND: usize = 300;
/// Maximum number of agents with a filter, most frequent first.
const AGENTS: usize = 8;
/// Maximum number of characters of the words to search for.
const QUERY_CHARS: usize = 200;
/// Number of characters of a found turn that a row shows.
const HIT_CHARS: usize = 200;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionListParams {
    q: String,
    agent: String,
    state: String,
    page: usize,
}

impl SessionListParams {
    /// Returns the address of the list with another agent, state and page.
    fn address(&self, agent: &str, state: &str, page: usize) -> String {
        let page = match page {
            0 | 1 => String::new(),
            page => page.to_string(),
        };
        list_address(
            "/sessions",
            &[
                ("q", &self.q),
                ("state", state),
                ("agent", agent),
                ("page", &page),
            ],
        )
    }
}

/// Shows the list.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(mut params): Query<SessionListParams>,
) -> Result<Response, PageError> {
    params.q = text::clip(params.q.trim(), QUERY_CHARS).to_owned();
    let project = context.resolve_project(Permission::Read)?;
    let view = match params.q.is_empty() {
        true => {
            app.with_engine(project, move |engine| load(engine, &context, &params))
                .await?
        }
        false => {
            app.compute_with_engine(project, move |engine| load(engine, &context, &params))
                .await?
        }
    };
    render(&view)
}

/// Session with the turn that a search found in it.
struct ListedSession {
    session: Session,
    hit: Option<String>,
}

impl ListedSession {
    fn agent(&self) -> &str {
        self.session.agent.as_deref().unwrap_or("no agent named")
    }

    fn state(&self) -> &'static str {
        match self.session.ended_at {
            Some(_) => "ended",
            None => "open",
        }
    }

    fn fits(&self, agent: &str, state: &str) -> bool {
        (agent.is_empty() || self.agent() == agent) && (state.is_empty() || self.state() == state)
    }
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    params: &SessionListParams,
) -> Result<SessionListView, Fault> {
    let times = times(engine);
    let newest = engine.sessions().sessions_of(None, READ)?;
    let (is_empty, is_all) = (newest.is_empty(), newest.len() < READ);
    let headline = headline(&newest, &times);
    let (sessions, note) = match params.q.as_str() {
        "" => (
            newest
                .into_iter()
                .map(|session| ListedSession { session, hit: None })
                .collect(),
            "",
        ),
        words => find_sessions(engine, newest, words)?,
    };
    let shown: Vec<&ListedSession> = sessions
        .iter()
        .filter(|one| one.fits(&params.agent, &params.state))
        .collect();
    let page = params.page.max(1);
    let from = (page - 1).saturating_mul(PAGE);
    let has_more = shown.len() > from.saturating_add(PAGE);
    let listed: Vec<_> = shown.into_iter().skip(from).take(PAGE).collect();
    let attempts = match listed.iter().map(|one| one.session.started_at).min() {
        Some(first) => attempts_by_session(engine, first)?,
        None => HashMap::new(),
    };
    let mut rows = Vec::new();
    for one in listed {
        rows.push(row(engine, one, attempts.get(&one.session.id), &times)?);
    }
    let address = |page| params.address(&params.agent, &params.state, page);
    Ok(SessionListView {
        shell: Shell::load(engine, context, "sessions", "Sessions")?,
        headline,
        query: params.q.clone(),
        agent: params.agent.clone(),
        state: params.state.clone(),
        is_empty,
        note,
        nothing: nothing_found(params, is_all),
        agents: agent_links(&sessions, params),
        states: state_links(&sessions, params),
        rows,
        newer: if page > 1 {
            address(page - 1)
        } else {
            String::new()
        },
        older: if has_more {
            address(page + 1)
        } else {
            String::new()
        },
    })
}

fn headline(newest: &[Session], times: &Times) -> String {
    match (newest.len(), newest.first()) {
        (_, None) => "No session is known yet.".to_owned(),
        (READ, Some(newest)) => format!(
            "The newest {} sessions, the last {}.",
            number(READ as u64),
            times.full(newest.started_at)
        ),
        (n, Some(newest)) => format!(
            "{}, the last {}.",
            plural(n, "session", "sessions"),
            times.full(newest.started_at)
        ),
    }
}

/// Finds the sessions with a turn that has the words, best first, and those with the words in their id. If no turn has
/// all words, sessions with some of them are found, with a note.
fn find_sessions(
    engine: &Engine,
    newest: Vec<Session>,
    words: &str,
) -> Result<(Vec<ListedSession>, &'static str), Fault> {
    let request = RecallRequest {
        question: words.to_owned(),
        syntax: QuerySyntax::Words,
        k: Some(TURNS_FOUND),
        conversations: ConversationHits::All,
        only_conversations: true,
        mode: RetrievalMode::Words,
        dedup: DedupMode::Keep,
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    };
    let hits = engine.recall().search(&request)?.conversations.into_iter();
    let mut turns: Vec<(String, String)> = hits
        .filter_map(|hit| match hit.item {
            RecallItem::Turn {
                session, message, ..
            } => Some((session, message.text.clone())),
            RecallItem::Record(_) => None,
        })
        .collect();
    let is_cut = turns.len() >= TURNS_FOUND;
    let is_exact = turns.iter().any(|(_, turn)| contains_words(turn, words));
    if is_exact {
        turns.retain(|(_, turn)| contains_words(turn, words));
    }
    let mut known: HashMap<String, Session> = newest
        .into_iter()
        .map(|session| (session.id.clone(), session))
        .collect();
    let mut found: Vec<ListedSession> = Vec::new();
    for (id, turn) in turns {
        if found.iter().any(|one| one.session.id == id) {
            continue;
        }
        let session = match known.remove(&id) {
            Some(session) => Some(session),
            None => engine.sessions().find(&id)?,
        };
        found.extend(session.map(|session| ListedSession {
            session,
            hit: Some(excerpt_around(&turn, words)),
        }));
    }
    let by_id = known.into_values();
    let mut by_id: Vec<Session> = by_id.filter(|one| contains_words(&one.id, words)).collect();
    by_id.sort_by_key(|session| std::cmp::Reverse(session.started_at));
    let note = match (is_exact || found.is_empty(), is_cut) {
        (true, true) => "These are the sessions of the best 300 turns with these words.",
        (true, false) => "",
        (false, _) => "No turn has all of these words; these sessions have some of them.",
    };
    found.extend(
        by_id
            .into_iter()
            .map(|session| ListedSession { session, hit: None }),
    );
    Ok((found, note))
}

/// Returns the part of a turn around the first of these words.
fn excerpt_around(turn: &str, words: &str) -> String {
    let lower = turn.to_lowercase();
    let places = words
        .split_whitespace()
        .filter_map(|word| lower.find(&word.to_lowercase()));
    // The lower case of some letters has another length, so a place is only about right.
    let at = places.min().unwrap_or(0).min(turn.len());
    let from = turn.floor_char_boundary(at.saturating_sub(HIT_CHARS / 3));
    let from = match from {
        0 => 0,
        from => from + turn[from..at.max(from)].find(' ').map_or(0, |gap| gap + 1),
    };
    let start = if from > 0 { "… " } else { "" };
    format!(
        "{start}{}",
        text::excerpt(&text::replace_control_chars(&turn[from..]), HIT_CHARS)
    )
}

fn agent_links(sessions: &[ListedSession], params: &SessionListParams) -> Vec<FilterLink> {
    let of_state = || sessions.iter().filter(|one| one.fits("", &params.state));
    let mut counts = count_values(of_state().map(ListedSession::agent));
    counts.truncate(AGENTS);
    if !params.agent.is_empty() && !counts.iter().any(|(name, _)| *name == params.agent) {
        counts.push((params.agent.clone(), 0));
    }
    let all = FilterLink {
        label: "All agents".to_owned(),
        href: params.address("", &params.state, 1),
        count: of_state().count(),
        is_selected: params.agent.is_empty(),
    };
    let link = |(name, count): (String, usize)| FilterLink {
        href: params.address(&name, &params.state, 1),
        is_selected: name == params.agent,
        label: text::replace_control_chars(&name),
        count,
    };
    let links = std::iter::once(all).chain(counts.into_iter().map(link));
    filter_links::keep_useful_links(links.collect())
}

fn state_links(sessions: &[ListedSession], params: &SessionListParams) -> Vec<FilterLink> {
    let count = |state: &str| {
        let fits = |one: &&ListedSession| one.fits(&params.agent, state);
        sessions.iter().filter(fits).count()
    };
    let states = [
        ("All", ""),
        ("Ended", "ended"),
        ("End not recorded", "open"),
    ];
    let links = states.into_iter().map(|(label, key)| FilterLink {
        label: label.to_owned(),
        href: params.address(&params.agent, key, 1),
        count: count(key),
        is_selected: params.state == key,
    });
    filter_links::keep_useful_links(links.collect())
}

/// Returns the sentence for a list that is empty because of its filters.
fn nothing_found(params: &SessionListParams, is_all: bool) -> String {
    let mut what = "No session".to_owned();
    if !params.agent.is_empty() {
        let agent = text::replace_control_chars(&params.agent);
        what.push_str(&format!(" of {agent}"));
    }
    match params.state.as_str() {
        "ended" => what.push_str(" that has ended"),
        "open" => what.push_str(" without a recorded end"),
        _ => {}
    }
    if !params.q.is_empty() {
        let words = text::replace_control_chars(&params.q);
        what.push_str(&format!(" with “{words}”"));
    }
    match is_all || !params.q.is_empty() {
        true => format!("{what}."),
        false => format!("{what} among the newest {}.", number(READ as u64)),
    }
}

fn row(
    engine: &Engine,
    listed: &ListedSession,
    attempts: Option<&AttemptSummary>,
    times: &Times,
) -> Result<SessionRow, Fault> {
    let session = &listed.session;
    let mut meta = vec![text::replace_control_chars(listed.agent())];
    // The last turn of a long session without an end is not read for a row.
    meta.extend(session_duration(session, None));
    let usage = TokenUsage::of_transcript(session).or(attempts.map(|one| one.usage));
    let usage = usage.filter(|usage| usage.input + usage.output > 0);
    meta.extend(usage.map(TokenUsage::words));
    if session.attrs.contains_key("window") {
        meta.push("with a window".to_owned());
    }
    let action = attempts.map(|one| one.action.as_str()).unwrap_or_default();
    let (class, icon) = match action {
        "completed" => ("ok", "check"),
        "failed" => ("bad", "cross"),
        _ => ("soft", "dash"),
    };
    let title = session_title(engine, session)?;
    let hit = listed.hit.as_deref().filter(|hit| *hit != title);
    Ok(SessionRow {
        id: record_label::percent_encode(&session.id),
        href: record_label::session_href(&session.id),
        title,
        name: record_label::short_id(&session.id),
        task: record_label::named_task(session.task.as_deref()).map(|task| {
            (
                record_label::task_label(task),
                record_label::task_href(task),
            )
        }),
        meta,
        hit: hit.map_or_else(Html::default, render_text),
        has_hit: hit.is_some(),
        outcome: if action.is_empty() {
            ""
        } else {
            result_label(action)
        },
        class,
        icon,
        at: times.full(session.started_at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_begins_before_the_found_word() {
        let turn = format!(
            "{} the bucket leaks {}",
            "word ".repeat(60),
            "end ".repeat(60)
        );
        let shown = excerpt_around(&turn, "Bucket");
        assert!(shown.starts_with("… word"), "{shown}");
        assert!(shown.contains("the bucket leaks"), "{shown}");
        assert_eq!(excerpt_around("short", "none"), "short");
        assert!(excerpt_around(&"İ".repeat(300), "i").chars().count() < 300);
    }
}
