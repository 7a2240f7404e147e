//! Task page: result, timeline and list of attempts, steps, artifacts.

use crate::App;
use crate::page::request_context::times;
use crate::page::view::chart::put;
use crate::page::view::tasks::{
    ArtifactRow, AttemptRow, OpenErrorRow, SimilarAttemptsView, StepRow, TaskView,
};
use crate::page::view::{Html, Times, bytes, duration, escape, plural, render_text, short_number};
use crate::page::{PageError, RequestContext, Shell, record_label, render};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use heirloom_engine::{ArtifactFilter, ArtifactStatus, Engine, EpisodeFilter, VerifiedArtifact};
use heirloom_model::kinds::{Artifact as Typed, Episode, Task, TaskState};
use heirloom_model::{Fault, KindData, Permission, Record, text};
use serde::Deserialize;

/// Maximum number of shown attempts, newest first.
const TRIES: usize = 60;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TaskDetailParams {
    approach: String,
}

/// Shows a task.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    Query(params): Query<TaskDetailParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        load(engine, &context, &id, params.approach.trim())
    });
    render(&view.await?)
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    id: &str,
    approach: &str,
) -> Result<TaskView, Fault> {
    let times = times(engine);
    let known = engine.tasks().get(id)?;
    let task = Task::from_record(&known.task).unwrap_or_default();
    let filter = EpisodeFilter {
        task: Some(id.to_owned()),
        limit: Some(TRIES),
        ..EpisodeFilter::default()
    };
    let mut episodes: Vec<(Record, Episode)> = Vec::new();
    for record in engine.tasks().episodes(&filter)? {
        if let Ok(episode) = Episode::from_record(&record) {
            episodes.push((record, episode));
        }
    }
    episodes.reverse();
    let artifacts = engine.artifacts().verify_all(&ArtifactFilter {
        task: Some(id.to_owned()),
        ..ArtifactFilter::default()
    })?;
    let is_over = matches!(task.state, Some(TaskState::Done | TaskState::Failed));
    let failed = episodes
        .iter()
        .filter(|(_, one)| one.action == "failed")
        .count();
    let name = record_label::task_title(&known.task);
    let mut steps: Vec<StepRow> = known
        .completed
        .iter()
        .map(|one| step(one, true, &times))
        .collect();
    let done = steps.len();
    steps.extend(known.pending.iter().map(|one| step(one, false, &times)));
    Ok(TaskView {
        shell: Shell::load(engine, context, "tasks", name.clone())?,
        id: text::replace_control_chars(id),
        href: record_label::task_href(id),
        noun: format!("Task · {}", text::replace_control_chars(&known.task.text)),
        title: name,
        result: result(&task, &episodes),
        sub: subtitle(failed, &task),
        is_over,
        strip: timeline_chart(&episodes, &times),
        tries: episodes
            .iter()
            .map(|(record, one)| attempt_row(record, one, &times))
            .collect(),
        done,
        steps,
        artifacts: artifacts.iter().map(artifact).collect(),
        errors: known
            .open_errors
            .iter()
            .map(|one| open_error(one, context, &times))
            .collect(),
        facts: facts(engine, &known.task, &task, &episodes)?,
        approach: text::replace_control_chars(approach),
        tried: match approach {
            "" => None,
            approach => Some(find_similar(engine, approach)?),
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
        (Some(TaskState::Failed), ..) => "Failed.".to_owned(),
        (_, _, Some(why)) => format!(
            "Blocked: {}.",
            text::replace_control_chars(why.trim_end_matches('.'))
        ),
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

fn subtitle(failed: usize, task: &Task) -> String {
    match (failed, &task.branch) {
        (0, Some(branch)) => format!("Worked on in {}.", text::replace_control_chars(branch)),
        (0, None) => "No approach has failed.".to_owned(),
        (1, _) => "One approach failed; its reason is in the next context.".to_owned(),
        (n, _) => format!("{n} approaches failed; each reason is in the next context."),
    }
}

fn attempt_row(record: &Record, episode: &Episode, times: &Times) -> AttemptRow {
    let (class, icon) = action_style(&episode.action);
    let mut meta = vec![
        record.scope.agent.as_deref().map_or_else(
            || record_label::source_label(&record.source),
            text::replace_control_chars,
        ),
        times.full(record.recorded_at),
    ];
    meta.extend(episode.duration_ms.map(duration));
    if let (Some(read), Some(written)) = (episode.tokens_in, episode.tokens_out) {
        meta.push(format!(
            "{} in, {} out",
            short_number(read),
            short_number(written)
        ));
    }
    let approach = episode
        .approach
        .as_deref()
        .unwrap_or("No approach was named");
    AttemptRow {
        class,
        icon,
        approach: render_text(approach),
        meta,
        state: text::replace_control_chars(&episode.action),
        outcome: render_text(episode.outcome.as_deref().unwrap_or_default()),
        has_outcome: episode.outcome.is_some(),
    }
}

fn action_style(action: &str) -> (&'static str, &'static str) {
    match action {
        "completed" => ("ok", "check"),
        "failed" => ("bad", "cross"),
        _ => ("soft", "dash"),
    }
}

fn step(record: &Record, is_done: bool, times: &Times) -> StepRow {
    StepRow {
        words: render_text(&record.text),
        is_done,
        at: if is_done {
            times.day(record.recorded_at)
        } else {
            String::new()
        },
    }
}

fn artifact(one: &VerifiedArtifact) -> ArtifactRow {
    let typed = Typed::from_record(&one.record).ok();
    let (class, icon) = match one.status {
        ArtifactStatus::Unchanged => ("ok", "check"),
        ArtifactStatus::Changed => ("warn", "note"),
        ArtifactStatus::Missing => ("bad", "cross"),
        ArtifactStatus::Unknown => ("soft", "dash"),
    };
    let mut detail = typed.as_ref().map_or_else(String::new, |typed| {
        text::replace_control_chars(&typed.artifact_type)
    });
    if let Some(size) = typed.as_ref().and_then(|typed| typed.size_bytes) {
        detail.push_str(&format!(", {}", bytes(size)));
    }
    let path = typed.map_or_else(|| one.record.text.clone(), |typed| typed.path);
    ArtifactRow {
        path: text::replace_control_chars(&path),
        detail,
        state: one.status.as_str(),
        class,
        icon,
    }
}

/// Builds the row of an open error.
pub(super) fn open_error(record: &Record, context: &RequestContext, times: &Times) -> OpenErrorRow {
    let repeats = record
        .attrs
        .get("repeats")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(0);
    let mut meta = format!(
        "{}, {}",
        record_label::source_label(&record.source),
        times.full(record.recorded_at)
    );
    if repeats > 0 {
        meta.push_str(&format!(", {} times", repeats + 1));
    }
    let task = record.scope.task.as_deref();
    OpenErrorRow {
        id: record.id.to_string(),
        words: render_text(&text::excerpt(&record.text, 400)),
        meta,
        task: task.map_or_else(String::new, record_label::task_label),
        href: task.map_or_else(String::new, record_label::task_href),
        csrf: context.csrf.clone(),
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
        facts.push(("Phase", render_text(&phase.to_lowercase())));
    }
    if let Some(branch) = &task.branch {
        facts.push(("Branch", render_text(&format!("`{branch}`"))));
    }
    if let Some(number) = task.pr_number {
        facts.push(("Pull request", render_text(&format!("#{number}"))));
    }
    let read: u64 = episodes.iter().filter_map(|(_, one)| one.tokens_in).sum();
    let written: u64 = episodes.iter().filter_map(|(_, one)| one.tokens_out).sum();
    if read + written > 0 {
        facts.push((
            "Tokens",
            render_text(&format!(
                "{} in, {} out",
                short_number(read),
                short_number(written)
            )),
        ));
    }
    let sessions = engine.sessions().sessions_of(Some(id), 50)?;
    if let Some(newest) = sessions.first() {
        let mut link = String::from("<a href=\"");
        escape(&record_label::session_href(&newest.id), &mut link);
        put(
            &mut link,
            format_args!("\">{}</a>", plural(sessions.len(), "session", "sessions")),
        );
        facts.push(("Sessions", Html::from_markup(link)));
    }
    Ok(facts)
}

/// Draws the attempts on a time axis.
#[expect(clippy::cast_precision_loss, reason = "places on a chart")]
fn timeline_chart(episodes: &[(Record, Episode)], times: &Times) -> Option<Html> {
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
    Some(Html::from_markup(svg))
}

/// Finds past attempts similar to an approach.
fn find_similar(engine: &Engine, approach: &str) -> Result<SimilarAttemptsView, Fault> {
    let report = engine.tasks().similar_attempts(approach, None)?;
    let alike: Vec<_> = report.attempts.iter().take(2).collect();
    if alike.is_empty() {
        return Ok(SimilarAttemptsView {
            words: render_text("No similar approach was tried."),
            is_bad: false,
        });
    }
    let told_of = alike.iter().map(|one| {
        let task = one
            .record
            .scope
            .task
            .as_deref()
            .map_or_else(String::new, |id| {
                format!(" on {}", record_label::task_label(id))
            });
        let what = one.episode.approach.as_deref().unwrap_or_default();
        let why = one
            .episode
            .outcome
            .as_deref()
            .map_or_else(String::new, |why| format!(": {why}"));
        format!("“{what}” {}{task}{why}", one.episode.action)
    });
    let told_of: Vec<_> = told_of.collect();
    Ok(SimilarAttemptsView {
        words: render_text(&format!("Similar: {}", told_of.join(" "))),
        is_bad: report.has_failed,
    })
}
