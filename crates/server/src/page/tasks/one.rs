//! One task: the result, a strip of its tries, the tries, steps, artifacts.

use crate::App;
use crate::page::look::times;
use crate::page::view::chart::put;
use crate::page::view::tasks::{Artifact, OpenError, Step, Tried, Try, View};
use crate::page::view::{Html, Times, bytes, duration, escape, plural, said, short};
use crate::page::{Look, Shell, Wrong, html, told};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use heirloom_engine::{ArtifactFilter, ArtifactStatus, Engine, EpisodeFilter, VerifiedArtifact};
use heirloom_model::kinds::{Artifact as Typed, Episode, Task, TaskState};
use heirloom_model::{Deed, Fault, KindData, Record, text};
use serde::Deserialize;

/// Tries that are shown, the newest.
const TRIES: usize = 60;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    approach: String,
}

/// Answers a task.
pub(super) async fn show(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| {
        load(engine, &look, &id, asked.approach.trim())
    });
    html(&view.await?)
}

fn load(engine: &Engine, look: &Look, id: &str, approach: &str) -> Result<View, Fault> {
    let times = times(engine);
    let known = engine.task(id)?;
    let task = Task::of(&known.task).unwrap_or_default();
    let filter = EpisodeFilter {
        task: Some(id.to_owned()),
        limit: Some(TRIES),
        ..EpisodeFilter::default()
    };
    let mut episodes: Vec<(Record, Episode)> = Vec::new();
    for record in engine.episodes(&filter)? {
        if let Ok(episode) = Episode::of(&record) {
            episodes.push((record, episode));
        }
    }
    episodes.reverse();
    let artifacts = engine.verify_artifacts(&ArtifactFilter {
        task: Some(id.to_owned()),
        ..ArtifactFilter::default()
    })?;
    let is_over = matches!(task.state, Some(TaskState::Done | TaskState::Failed));
    let failed = episodes
        .iter()
        .filter(|(_, one)| one.action == "failed")
        .count();
    let name = told::task_title(&known.task);
    let mut steps: Vec<Step> = known
        .completed
        .iter()
        .map(|one| step(one, true, &times))
        .collect();
    let done = steps.len();
    steps.extend(known.pending.iter().map(|one| step(one, false, &times)));
    Ok(View {
        shell: Shell::load(engine, look, "tasks", name.clone())?,
        id: text::printable(id),
        href: told::task_href(id),
        noun: format!("Task · {}", text::printable(&known.task.text)),
        title: name,
        result: result(&task, &episodes),
        sub: sub(failed, &task),
        is_over,
        strip: strip(&episodes, &times),
        tries: episodes
            .iter()
            .map(|(record, one)| tried_row(record, one, &times))
            .collect(),
        done,
        steps,
        artifacts: artifacts.iter().map(artifact).collect(),
        errors: known
            .open_errors
            .iter()
            .map(|one| open_error(one, look, &times))
            .collect(),
        facts: facts(engine, &known.task, &task, &episodes)?,
        approach: text::printable(approach),
        tried: match approach {
            "" => None,
            approach => Some(tried(engine, approach)?),
        },
    })
}

fn result(task: &Task, episodes: &[(Record, Episode)]) -> String {
    let tries = episodes.len();
    let worked = episodes
        .iter()
        .position(|(_, one)| one.action == "completed");
    let blocked = task.blocked_reason.as_deref().filter(|why| !why.is_empty());
    match (task.state, worked, blocked) {
        (Some(TaskState::Done), Some(at), _) => format!("Done on the {} try.", ordinal(at + 1)),
        (Some(TaskState::Done), None, _) => "Done.".to_owned(),
        (Some(TaskState::Failed), ..) => "Given up.".to_owned(),
        (_, _, Some(why)) => format!("Blocked: {}.", text::printable(why.trim_end_matches('.'))),
        (_, Some(_), None) => format!(
            "Open; {} so far, one worked.",
            plural(tries, "try", "tries")
        ),
        (_, None, None) if tries == 0 => "Open, not tried yet.".to_owned(),
        (_, None, None) => format!(
            "Open; {} so far, none worked.",
            plural(tries, "try", "tries")
        ),
    }
}

fn ordinal(n: usize) -> String {
    match n {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        5 => "fifth".to_owned(),
        n => format!("{n}th"),
    }
}

fn sub(failed: usize, task: &Task) -> String {
    match (failed, &task.branch) {
        (0, Some(branch)) => format!("Worked on in {}.", text::printable(branch)),
        (0, None) => "No approach has failed.".to_owned(),
        (1, _) => "One approach failed; its reason is in the next context.".to_owned(),
        (n, _) => format!("{n} approaches failed; each reason is in the next context."),
    }
}

fn tried_row(record: &Record, episode: &Episode, times: &Times) -> Try {
    let (class, icon) = look_of(&episode.action);
    let mut meta = vec![
        record
            .scope
            .agent
            .as_deref()
            .map_or_else(|| told::who(&record.source), text::printable),
        times.full(record.recorded_at),
    ];
    meta.extend(episode.duration_ms.map(duration));
    if let (Some(read), Some(written)) = (episode.tokens_in, episode.tokens_out) {
        meta.push(format!("{} in, {} out", short(read), short(written)));
    }
    let approach = episode
        .approach
        .as_deref()
        .unwrap_or("No approach was named");
    Try {
        class,
        icon,
        approach: said(approach),
        meta,
        state: text::printable(&episode.action),
        outcome: said(episode.outcome.as_deref().unwrap_or_default()),
        has_outcome: episode.outcome.is_some(),
    }
}

fn look_of(action: &str) -> (&'static str, &'static str) {
    match action {
        "completed" => ("ok", "check"),
        "failed" => ("bad", "cross"),
        _ => ("soft", "dash"),
    }
}

fn step(record: &Record, is_done: bool, times: &Times) -> Step {
    Step {
        words: said(&record.text),
        is_done,
        at: if is_done {
            times.day(record.recorded_at)
        } else {
            String::new()
        },
    }
}

fn artifact(one: &VerifiedArtifact) -> Artifact {
    let typed = Typed::of(&one.record).ok();
    let (class, icon) = match one.status {
        ArtifactStatus::Unchanged => ("ok", "check"),
        ArtifactStatus::Changed => ("warn", "note"),
        ArtifactStatus::Missing => ("bad", "cross"),
        ArtifactStatus::Unknown => ("soft", "dash"),
    };
    let mut detail = typed
        .as_ref()
        .map_or_else(String::new, |typed| text::printable(&typed.artifact_type));
    if let Some(size) = typed.as_ref().and_then(|typed| typed.size_bytes) {
        detail.push_str(&format!(", {}", bytes(size)));
    }
    let path = typed.map_or_else(|| one.record.text.clone(), |typed| typed.path);
    Artifact {
        path: text::printable(&path),
        detail,
        state: one.status.as_str(),
        class,
        icon,
    }
}

/// An error of a list.
pub(super) fn open_error(record: &Record, look: &Look, times: &Times) -> OpenError {
    let repeats = record
        .attrs
        .get("repeats")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(0);
    let mut meta = format!(
        "{}, {}",
        told::who(&record.source),
        times.full(record.recorded_at)
    );
    if repeats > 0 {
        meta.push_str(&format!(", {} times", repeats + 1));
    }
    let task = record.scope.task.as_deref();
    OpenError {
        id: record.id.to_string(),
        words: said(&text::excerpt(&record.text, 400)),
        meta,
        task: task.map_or_else(String::new, told::task),
        href: task.map_or_else(String::new, told::task_href),
        csrf: look.csrf.clone(),
    }
}

fn facts(
    engine: &Engine,
    record: &Record,
    task: &Task,
    episodes: &[(Record, Episode)],
) -> Result<Vec<(&'static str, Html)>, Fault> {
    let id = record.key.as_deref().unwrap_or_default();
    let mut facts = Vec::new();
    if let Some(phase) = &record.scope.phase {
        facts.push(("Phase", said(&phase.to_lowercase())));
    }
    if let Some(branch) = &task.branch {
        facts.push(("Branch", said(&format!("`{branch}`"))));
    }
    if let Some(number) = task.pr_number {
        facts.push(("Pull request", said(&format!("#{number}"))));
    }
    let read: u64 = episodes.iter().filter_map(|(_, one)| one.tokens_in).sum();
    let written: u64 = episodes.iter().filter_map(|(_, one)| one.tokens_out).sum();
    if read + written > 0 {
        facts.push((
            "Tokens",
            said(&format!("{} in, {} out", short(read), short(written))),
        ));
    }
    let sessions = engine.sessions_of(Some(id), 50)?;
    if let Some(newest) = sessions.first() {
        let mut link = String::from("<a href=\"");
        escape(&told::session_href(&newest.id), &mut link);
        put(
            &mut link,
            format_args!("\">{}</a>", plural(sessions.len(), "session", "sessions")),
        );
        facts.push(("Sessions", Html::made(link)));
    }
    Ok(facts)
}

/// The tries on a line of days.
#[expect(clippy::cast_precision_loss, reason = "places on a chart")]
fn strip(episodes: &[(Record, Episode)], times: &Times) -> Option<Html> {
    let (first, last) = (episodes.first()?, episodes.last()?);
    if episodes.len() < 2 {
        return None;
    }
    let begin = |(record, one): &(Record, Episode)| {
        let ms = i64::try_from(one.duration_ms.unwrap_or(0)).unwrap_or(0);
        record.recorded_at.as_millisecond() - ms
    };
    let from = begin(first) as f64;
    let span = (last.0.recorded_at.as_millisecond() as f64 - from).max(60_000.0);
    let failed = episodes
        .iter()
        .filter(|(_, one)| one.action == "failed")
        .count();
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"52\" role=\"img\" aria-labelledby=\"ts-t\"><title id=\"ts-t\">",
    );
    put(
        &mut svg,
        format_args!(
            "{} from {} to {}: {failed} failed.</title><rect class=\"f-track\" x=\"0\" y=\"20.5\" width=\"100%\" height=\"1\"/>",
            plural(episodes.len(), "try", "tries"),
            times.full(first.0.recorded_at),
            times.full(last.0.recorded_at)
        ),
    );
    let mut label_free = -1.0;
    for (n, one) in (1..).zip(episodes) {
        let end = one.0.recorded_at.as_millisecond() as f64;
        let x = (begin(one) as f64 - from) / span * 97.0;
        let wide = ((end - begin(one) as f64) / span * 97.0).max(1.6);
        let (class, mark) = match one.1.action.as_str() {
            "completed" => ("f-ok", "✓"),
            "failed" => ("f-bad", "×"),
            _ => ("f-track", "·"),
        };
        put(
            &mut svg,
            format_args!(
                "<rect x=\"{x:.1}%\" y=\"14\" width=\"{wide:.1}%\" height=\"14\" rx=\"2\" class=\"{class}\"/>"
            ),
        );
        if x > label_free {
            put(
                &mut svg,
                format_args!("<text x=\"{x:.1}%\" y=\"9\" class=\"t-strong\">{n} {mark}</text>"),
            );
            label_free = x + 5.0;
        }
    }
    put(
        &mut svg,
        format_args!(
            "<text x=\"0\" y=\"47\" class=\"t-faint\">{}</text><text x=\"100%\" y=\"47\" class=\"end t-faint\">{}</text></svg>",
            times.day(first.0.recorded_at),
            times.full(last.0.recorded_at)
        ),
    );
    Some(Html::made(svg))
}

/// Whether something like an approach was tried, and how that went.
fn tried(engine: &Engine, approach: &str) -> Result<Tried, Fault> {
    let report = engine.tried(approach, None)?;
    let alike: Vec<_> = report
        .tried
        .iter()
        .filter(|one| one.alike)
        .take(2)
        .collect();
    if alike.is_empty() {
        return Ok(Tried {
            words: said("Nothing like it was tried."),
            is_bad: false,
        });
    }
    let told_of = alike.iter().map(|one| {
        let task = one
            .record
            .scope
            .task
            .as_deref()
            .map_or_else(String::new, |id| format!(" on {}", told::task(id)));
        let what = one.episode.approach.as_deref().unwrap_or_default();
        let why = one
            .episode
            .outcome
            .as_deref()
            .map_or_else(String::new, |why| format!(": {why}"));
        format!("“{what}” {}{task}{why}", one.episode.action)
    });
    let told_of: Vec<_> = told_of.collect();
    Ok(Tried {
        words: said(&format!("Alike: {}", told_of.join(" "))),
        is_bad: report.failed,
    })
}
