//! Panel of an entry: its history, its uses in contexts, and related entries.

use super::criteria::KnowledgeParams;
use super::{receipt_uses, related_entries};
use crate::page::request_context::times;
use crate::page::view::knowledge::{HistoryDrawer, HistoryStep};
use crate::page::view::{Html, Times, diff, escape, render_text};
use crate::page::{RequestContext, record_label};
use heirloom_engine::Engine;
use heirloom_model::{Action, Event, Fault, Record, RecordId, mark, text};

/// Maximum number of shown events.
const SHOWN: usize = 40;

pub(super) fn load(
    engine: &Engine,
    context: &RequestContext,
    params: &KnowledgeParams,
    record: &Record,
) -> Result<HistoryDrawer, Fault> {
    let times = times(engine);
    let chain = engine.records().history(record.id)?;
    let events = engine.records().record_audit(record.id)?;
    let current = chain.iter().find(|one| one.retired_at.is_none());
    let mut steps: Vec<HistoryStep> = events
        .iter()
        .rev()
        .take(SHOWN)
        .map(|event| step(event, &chain, &times))
        .collect();
    if let (Some(first), Some(_)) = (steps.first_mut(), current) {
        first.what = format!("Now, {}", lowercase_first(&first.what));
    }
    let mut facts = vec![
        ("Id", fact(&record.id.to_string(), true)),
        ("Kind", fact(record.kind.as_str(), false)),
        ("Scope", fact(&scope(record), false)),
        ("Tokens", fact(&record.tokens.to_string(), false)),
    ];
    if let Some(session) = &record.scope.session {
        facts.push((
            "Session",
            link(
                &record_label::session_href(session),
                &record_label::short_id(session),
            ),
        ));
    }
    if let Some(task) = record_label::named_task(record.scope.task.as_deref()) {
        facts.push((
            "Task",
            link(
                &record_label::task_href(task),
                &record_label::task_label(task),
            ),
        ));
    }
    let ids: Vec<RecordId> = chain.iter().map(|one| one.id).collect();
    let uses = receipt_uses::load(engine, &ids, &times)?;
    let related = related_entries::load(engine, record, &chain)?;
    let here = params.path_here(&format!("/knowledge/{}", record.id));
    Ok(HistoryDrawer {
        id: record.id.to_string(),
        name: record_label::name(record),
        is_current: record.retired_at.is_none(),
        is_pinned: mark::is_pinned(&record.attrs),
        is_muted: mark::is_muted(&record.attrs),
        steps,
        facts,
        versions: chain.len(),
        uses: uses.receipts,
        uses_summary: uses.summary,
        graph: related_entries::graph(&record_label::name(record), &related),
        related,
        edit: params.edit_path(record.id),
        here,
        csrf: context.csrf.clone(),
    })
}

fn step(event: &Event, chain: &[Record], times: &Times) -> HistoryStep {
    let record = chain.iter().find(|one| Some(one.id) == event.record);
    let before = chain.iter().find(|one| Some(one.id) == event.other);
    let session = record.and_then(|one| one.scope.session.as_deref());
    let mut by = format!(
        "by {}, {}",
        record_label::source_label(&event.by),
        times.full(event.at)
    );
    if let (Some(session), Action::Created) = (session, event.action) {
        by.push_str(&format!(", session {}", record_label::short_id(session)));
    }
    let (what, icon) = event_label(event);
    let said_text = record.map_or("", |one| one.text.as_str());
    let (words, is_diff) = match (event.action, before) {
        (Action::Replaced, Some(before)) => (diff(&before.text, said_text), true),
        (Action::Created | Action::Conflict | Action::Replaced, _) => {
            (render_text(&text::excerpt(said_text, 600)), false)
        }
        (Action::Confirmed, _) => (render_text("The same text again."), false),
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
    HistoryStep {
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

fn event_label(event: &Event) -> (String, &'static str) {
    let (what, icon) = match event.action {
        Action::Created => ("Learned", "knowledge"),
        Action::Replaced => ("Replaced", "note"),
        Action::Conflict => ("Conflicting value", "knowledge"),
        Action::Confirmed => ("Confirmed", "check"),
        Action::Retired => ("Retired", "cross"),
        Action::Restored => ("Restored", "undo"),
        Action::Resolved => ("Decided for", "check"),
        Action::Reopened => ("Decision reverted", "undo"),
        Action::Imported => ("Imported", "down"),
        Action::Reversed => ("Import reverted", "undo"),
        Action::Purged => ("Purged", "cross"),
        Action::Marked => {
            let mark = event.detail.as_deref().unwrap_or("marked");
            return (capitalize(mark), "pin");
        }
    };
    (what.to_owned(), icon)
}

fn capitalize(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

fn lowercase_first(word: &str) -> String {
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
    escape(&text::replace_control_chars(words), &mut out);
    match is_code {
        true => Html::from_markup(format!("<span class=\"mono xs\">{out}</span>")),
        false => Html::from_markup(out),
    }
}

fn link(href: &str, words: &str) -> Html {
    let mut out = String::from("<a href=\"");
    escape(href, &mut out);
    out.push_str("\">");
    escape(words, &mut out);
    out.push_str("</a>");
    Html::from_markup(out)
}
