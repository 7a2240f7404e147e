//! Section of the overview with one lesson, its sessions, and all lessons as small charts.

use super::lesson_chart;
use super::lesson_outcomes::{Delivery, LessonCost, LessonOutcome, LessonReport, Then, Told};
use crate::page::record_label;
use crate::page::session_title::session_title;
use crate::page::view::overview::{DeliveryRow, LessonLink, LessonSection};
use crate::page::view::{Times, agent_swatch, duration, plural, render_text, short_number};
use heirloom_engine::Engine;
use heirloom_model::kinds::{Episode, ErrorRecord};
use heirloom_model::{Fault, Kind, KindData, Record, text};

/// Maximum number of characters of an attempt in a row.
const ATTEMPT_CHARS: usize = 90;

/// Builds the section of the chosen lesson; `None` without lessons.
pub(super) fn build(
    engine: &Engine,
    report: &LessonReport,
    chosen: &str,
    times: &Times,
) -> Result<Option<LessonSection>, Fault> {
    let at = find(report, chosen);
    let Some(lesson) = report.lessons.get(at) else {
        return Ok(None);
    };
    let rows = lesson.deliveries.iter();
    let rows = rows.map(|one| row(engine, one, &lesson.record, times));
    let rows = rows.collect::<Result<_, Fault>>()?;
    let count = report.lessons.len();
    let href = |at: usize| {
        let lesson = report.lessons.get(at);
        lesson.map_or_else(String::new, |one| {
            format!("/?lesson={}#lesson", one.record.id)
        })
    };
    let links = report.lessons.iter().enumerate();
    Ok(Some(LessonSection {
        id: lesson.record.id.to_string(),
        name: record_label::name(&lesson.record),
        href: record_label::href(&lesson.record),
        kind: lesson.record.kind.as_str(),
        words: render_text(&text::excerpt(&lesson_text(&lesson.record), 400)),
        cost: cost_text(lesson, times),
        result: result_text(lesson),
        is_repeated: lesson.repeated() > 0,
        svg: lesson_chart::draw(lesson, report, times),
        rows,
        place: format!("{} of {count}", at + 1),
        previous: href((at + count - 1) % count),
        next: href((at + 1) % count),
        others: links
            .map(|(place, one)| LessonLink {
                href: href(place),
                name: text::excerpt(&record_label::name(&one.record), 44),
                detail: short_result(one),
                svg: lesson_chart::draw_small(one, times),
                is_current: place == at,
                is_repeated: one.repeated() > 0,
            })
            .collect(),
    }))
}

/// Returns the position of the chosen lesson; the first one if it is unknown.
pub(super) fn find(report: &LessonReport, chosen: &str) -> usize {
    let mut lessons = report.lessons.iter();
    let found = lessons.position(|one| one.record.id.to_string() == chosen);
    found.unwrap_or(0)
}

/// Returns the text of a lesson, with the outcome of an attempt and the resolution of an error.
fn lesson_text(record: &Record) -> String {
    match record.kind {
        Kind::Error => match ErrorRecord::from_record(record) {
            Ok(ErrorRecord {
                resolution: Some(how),
                ..
            }) => format!("{} → {how}", record.text),
            Ok(_) | Err(_) => record.text.clone(),
        },
        Kind::Episode => match Episode::from_record(record) {
            Ok(Episode {
                approach: Some(approach),
                outcome: Some(outcome),
                ..
            }) => {
                format!("{approach}: {outcome}")
            }
            Ok(_) | Err(_) => record.text.clone(),
        },
        Kind::Knowledge
        | Kind::Task
        | Kind::Step
        | Kind::Artifact
        | Kind::Output
        | Kind::Note
        | Kind::Summary => record.text.clone(),
    }
}

/// Returns when, by which source and at which cost a lesson was learned.
pub(super) fn cost_text(lesson: &LessonOutcome, times: &Times) -> String {
    let record = &lesson.record;
    let mut words = format!(
        "Learned {} by {}",
        times.full(record.recorded_at),
        record_label::source_label(record.scope.agent.as_deref().unwrap_or(&record.source))
    );
    if let Some(task) = record_label::named_task(record.scope.task.as_deref()) {
        words.push_str(&format!(" in {}", record_label::task_label(task)));
    }
    if lesson.cost.attempts > 0 {
        words.push_str(&format!(
            ", after {}{}",
            plural(lesson.cost.attempts, "failed attempt", "failed attempts"),
            spent(lesson.cost)
        ));
    }
    words.push('.');
    words
}

/// Returns the duration and tokens of attempts in parentheses; empty if unknown.
fn spent(cost: LessonCost) -> String {
    let mut parts = Vec::new();
    if cost.duration_ms > 0 {
        parts.push(duration(cost.duration_ms));
    }
    if cost.tokens > 0 {
        parts.push(format!("{} tokens", short_number(cost.tokens)));
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!(" ({})", parts.join(", ")),
    }
}

/// Returns what came of a lesson as one sentence.
pub(super) fn result_text(lesson: &LessonOutcome) -> String {
    let told = plural(
        lesson.told(),
        "later session was told",
        "later sessions were told",
    );
    let is_failure = lesson.record.kind == Kind::Episode;
    match (lesson.repeated(), lesson.completed()) {
        (0, 0) if is_failure => format!("{told}; none repeated it."),
        (0, 0) => format!("{told}."),
        (0, done) if is_failure => format!("{told}; none repeated it, {done} completed."),
        (0, done) => format!("{told}; {done} completed."),
        (again, _) => format!(
            "{told}; the failure came again {}.",
            plural(again, "time", "times")
        ),
    }
}

fn short_result(lesson: &LessonOutcome) -> String {
    let told = format!("told {}", plural(lesson.told(), "session", "sessions"));
    match (lesson.repeated(), lesson.completed()) {
        (0, 0) => told,
        (0, done) => format!("{told}, {done} completed"),
        (again, _) => format!("{told}, came again {again}×"),
    }
}

fn row(
    engine: &Engine,
    delivery: &Delivery,
    record: &Record,
    times: &Times,
) -> Result<DeliveryRow, Fault> {
    let session = &delivery.session;
    let name = lesson_chart::agent(session);
    let attempt = |words: &str| text::excerpt(&text::replace_control_chars(words), ATTEMPT_CHARS);
    let (then, class) = match &delivery.then {
        Then::Repeated(approach, cost) => (
            format!("It failed again: {}{}", attempt(approach), spent(*cost)),
            "bad",
        ),
        Then::Completed(approach) => (format!("Completed: {}", attempt(approach)), "ok"),
        Then::Failed(approach) => (format!("Another attempt failed: {}", attempt(approach)), ""),
        Then::Unknown => (
            "No attempt with a known result was recorded.".to_owned(),
            "faint",
        ),
    };
    let (told, told_class) = match delivery.told {
        Told::Yes => ("told", ""),
        Told::Cut => ("left out of its context", "bad"),
        Told::NoContext => ("not told: the session had no context", "bad"),
    };
    Ok(DeliveryRow {
        at: times.full(session.started_at),
        mark: agent_swatch(&name),
        agent: name,
        session: record_label::session_href(&session.id),
        title: session_title(engine, session)?,
        receipt: match delivery.receipt {
            Some(receipt) => format!("/receipts/{receipt}?record={}#sent", record.id),
            None => String::new(),
        },
        told,
        told_class,
        then: render_text(&then),
        class,
    })
}
