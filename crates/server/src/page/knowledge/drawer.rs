//! What became of an entry over time.

use crate::page::look::times;
use crate::page::view::knowledge::{Drawer, Step};
use crate::page::view::{Html, Times, diff, escape, said};
use crate::page::{Look, told};
use heirloom_engine::Engine;
use heirloom_model::{Action, Event, Fault, Record, mark, text};

/// Things that happened that are shown.
const SHOWN: usize = 40;

pub(super) fn load(engine: &Engine, look: &Look, record: &Record) -> Result<Drawer, Fault> {
    let times = times(engine);
    let chain = engine.history(record.id)?;
    let events = engine.audit_of(record.id)?;
    let current = chain.iter().find(|one| one.retired_at.is_none());
    let mut steps: Vec<Step> = events
        .iter()
        .rev()
        .take(SHOWN)
        .map(|event| step(event, &chain, &times))
        .collect();
    if let (Some(first), Some(_)) = (steps.first_mut(), current) {
        first.what = format!("Now, {}", lower(&first.what));
    }
    let uses = engine.uses(&chain.iter().map(|one| one.id).collect::<Vec<_>>())?;
    let last = uses.values().max_by_key(|used| used.last_at);
    let mut facts = vec![
        ("Id", fact(&record.id.to_string(), true)),
        ("Kind", fact(record.kind.as_str(), false)),
        ("Scope", fact(&scope(record), false)),
        ("Tokens", fact(&record.tokens.to_string(), false)),
        (
            "Told",
            match last {
                Some(used) => fact(
                    &format!(
                        "{} times, last {}",
                        uses.values().map(|used| used.times).sum::<u64>(),
                        times.full(used.last_at)
                    ),
                    false,
                ),
                None => fact("never yet", false),
            },
        ),
    ];
    if let Some(session) = &record.scope.session {
        facts.push((
            "Session",
            link(&told::session_href(session), &told::short_id(session)),
        ));
    }
    if let Some(task) = &record.scope.task {
        facts.push(("Task", link(&told::task_href(task), &told::task(task))));
    }
    Ok(Drawer {
        id: record.id.to_string(),
        name: told::name(record),
        is_current: record.retired_at.is_none(),
        is_pinned: mark::is_pinned(&record.attrs),
        is_muted: mark::is_muted(&record.attrs),
        steps,
        facts,
        versions: chain.len(),
        csrf: look.csrf.clone(),
    })
}

fn step(event: &Event, chain: &[Record], times: &Times) -> Step {
    let record = chain.iter().find(|one| Some(one.id) == event.record);
    let before = chain.iter().find(|one| Some(one.id) == event.other);
    let session = record.and_then(|one| one.scope.session.as_deref());
    let mut by = format!("by {}, {}", told::who(&event.by), times.full(event.at));
    if let (Some(session), Action::Created) = (session, event.action) {
        by.push_str(&format!(", session {}", told::short_id(session)));
    }
    let (what, icon) = named(event);
    let said_text = record.map_or("", |one| one.text.as_str());
    let (words, is_diff) = match (event.action, before) {
        (Action::Replaced, Some(before)) => (diff(&before.text, said_text), true),
        (Action::Created | Action::Conflict | Action::Replaced, _) => {
            (said(&text::excerpt(said_text, 600)), false)
        }
        (Action::Confirmed, _) => (said("The same text again."), false),
        (
            Action::Retired
            | Action::Restored
            | Action::Resolved
            | Action::Reopened
            | Action::Imported
            | Action::Reversed
            | Action::Purged
            | Action::Marked,
            _,
        ) => (Html::default(), false),
    };
    let is_past = record.is_some_and(|one| one.retired_at.is_some());
    let is_version = matches!(
        event.action,
        Action::Created | Action::Replaced | Action::Conflict
    );
    Step {
        icon,
        what,
        by,
        words,
        is_diff,
        back: match record.filter(|_| is_past && is_version) {
            Some(record) => record.id.to_string(),
            None => String::new(),
        },
    }
}

fn named(event: &Event) -> (String, &'static str) {
    let (what, icon) = match event.action {
        Action::Created => ("Learned", "knowledge"),
        Action::Replaced => ("Replaced", "note"),
        Action::Conflict => ("Said otherwise", "knowledge"),
        Action::Confirmed => ("Confirmed", "check"),
        Action::Retired => ("Retired", "cross"),
        Action::Restored => ("Brought back", "undo"),
        Action::Resolved => ("Decided for", "check"),
        Action::Reopened => ("Decision taken back", "undo"),
        Action::Imported => ("Imported", "down"),
        Action::Reversed => ("Import taken back", "undo"),
        Action::Purged => ("Purged", "cross"),
        Action::Marked => {
            let mark = event.detail.as_deref().unwrap_or("marked");
            return (capital(mark), "pin");
        }
    };
    (what.to_owned(), icon)
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

fn lower(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

fn scope(record: &Record) -> String {
    let scope = &record.scope;
    let named = [
        ("task", &scope.task),
        ("plan", &scope.plan),
        ("group", &scope.group),
        ("phase", &scope.phase),
    ];
    let parts = named
        .iter()
        .filter_map(|(what, name)| Some(format!("{what} {}", name.as_ref()?)));
    let parts: Vec<_> = parts.collect();
    match parts.is_empty() {
        true => "project".to_owned(),
        false => parts.join(", "),
    }
}

fn fact(words: &str, is_code: bool) -> Html {
    let mut out = String::new();
    escape(&text::printable(words), &mut out);
    match is_code {
        true => Html::made(format!("<span class=\"mono xs\">{out}</span>")),
        false => Html::made(out),
    }
}

fn link(href: &str, words: &str) -> Html {
    let mut out = String::from("<a href=\"");
    escape(href, &mut out);
    out.push_str("\">");
    escape(words, &mut out);
    out.push_str("</a>");
    Html::made(out)
}
