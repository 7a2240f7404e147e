//! Task page: result, timeline and list of attempts, steps, artifacts.

use super::attempt_timeline::timeline_chart;
use super::task_rows::{artifact_row, attempt_row, open_error_row, step_row};
use crate::App;
use crate::page::request_context::times;
use crate::page::view::chart::put;
use crate::page::view::tasks::{SimilarAttemptsView, StepRow, TaskView};
use crate::page::view::{Html, escape, plural, render_text, short_number};
use crate::page::{PageError, RequestContext, Shell, record_label, render};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use heirloom_engine::{ArtifactFilter, Engine, EpisodeFilter};
use heirloom_model::kinds::{Episode, Task, TaskState};
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
        .map(|one| step_row(one, true, &times))
        .collect();
    let done = steps.len();
    steps.extend(known.pending.iter().map(|one| step_row(one, false, &times)));
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
        artifacts: artifacts.iter().map(artifact_row).collect(),
        errors: known
            .open_errors
            .iter()
            .map(|one| open_error_row(one, context, &times))
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
