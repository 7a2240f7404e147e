//! Task page: result, attempts, steps, artifacts, and the memory around the task.

use super::TaskStatus;
use super::attempt_timeline::timeline_chart;
use super::task_memory::TaskMemory;
use super::task_rows::{artifact_row, attempt_row, open_error_row, step_row};
use crate::App;
use crate::page::request_context::times;
use crate::page::task_title::{given_title, task_title};
use crate::page::view::tasks::{SimilarAttemptsView, StepRow, TaskView};
use crate::page::view::{Html, duration, plural, render_text, short_number};
use crate::page::{PageError, RequestContext, Shell, record_label, render};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use heirloom_engine::{ArtifactFilter, Engine, EpisodeFilter};
use heirloom_model::kinds::{Episode, Task, result_label};
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
    let status = TaskStatus::load(engine, &known.task)?;
    let episodes = episodes(engine, id)?;
    let artifacts = engine.artifacts().verify_all(&ArtifactFilter {
        task: Some(id.to_owned()),
        ..ArtifactFilter::default()
    })?;
    // The engine also lists errors without a task.
    let errors: Vec<&Record> = known
        .open_errors
        .iter()
        .filter(|error| error.scope.task.as_deref() == Some(id))
        .collect();
    let title = task_title(engine, &known.task)?;
    let mut steps: Vec<StepRow> = known
        .completed
        .iter()
        .map(|one| step_row(one, true, &times))
        .collect();
    let done = steps.len();
    steps.extend(known.pending.iter().map(|one| step_row(one, false, &times)));
    let memory = TaskMemory::load(engine, id, &times)?;
    let (class, icon) = status.style();
    let name = text::replace_control_chars(&known.task.text);
    Ok(TaskView {
        shell: Shell::load(engine, context, "tasks", title.clone())?,
        id: text::replace_control_chars(id),
        href: record_label::task_href(id),
        noun: match title == name {
            true => "Task".to_owned(),
            false => format!("Task · {name}"),
        },
        state: status.label(),
        class,
        icon,
        title,
        given_title: given_title(&known.task).unwrap_or_default(),
        result: result(&status, &episodes, errors.len()),
        sub: subtitle(&episodes, &task),
        remains: remains(&status, errors.len(), known.pending.len()),
        is_over: status.is_over(),
        strip: timeline_chart(&episodes, &times),
        tries: episodes
            .iter()
            .map(|(record, one)| attempt_row(record, one, &times))
            .collect(),
        done,
        steps,
        artifacts: artifacts.iter().map(artifact_row).collect(),
        errors: errors
            .iter()
            .map(|one| open_error_row(one, context, &times))
            .collect(),
        facts: facts(&known.task, &task, &episodes),
        receipts: memory.receipts,
        receipts_all: memory.receipts_all,
        learned: memory.learned,
        sessions: memory.sessions,
        sessions_all: memory.sessions_all,
        approach: text::replace_control_chars(approach),
        tried: match approach {
            "" => None,
            approach => Some(find_similar(engine, approach)?),
        },
    })
}

/// Returns the newest attempts of a task, oldest first.
fn episodes(engine: &Engine, id: &str) -> Result<Vec<(Record, Episode)>, Fault> {
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
    Ok(episodes)
}

fn result(status: &TaskStatus, episodes: &[(Record, Episode)], errors: usize) -> String {
    let actions: Vec<&str> = episodes
        .iter()
        .map(|(_, one)| one.action.as_str())
        .collect();
    let worked = actions.iter().position(|action| *action == "completed");
    let so_far = tries_so_far(&actions);
    match (status, worked) {
        (TaskStatus::Done, Some(at)) => format!("Done on the {} try.", ordinal(at + 1)),
        (TaskStatus::Done, None) => "Done.".to_owned(),
        (TaskStatus::Failed, _) => "Failed.".to_owned(),
        (TaskStatus::Blocked(why), _) => format!("Blocked: {}.", why.trim_end_matches('.')),
        (TaskStatus::Failing, _) => {
            let open = plural(errors, "error is open", "errors are open");
            format!("Failing: {open}; {so_far}.")
        }
        (TaskStatus::InPhase(_) | TaskStatus::Open, _) => format!("Open; {so_far}."),
    }
}

/// Returns the number of attempts and how many of them worked. Attempts whose end was not seen are no failures.
fn tries_so_far(actions: &[&str]) -> String {
    let count = |wanted: &str| actions.iter().filter(|action| **action == wanted).count();
    let all = plural(actions.len(), "try", "tries");
    let (worked, failed) = (count("completed"), count("failed"));
    match (worked, actions.len() - failed) {
        _ if actions.is_empty() => "not tried yet".to_owned(),
        (0, 0) => format!("{all} so far, none worked"),
        (0, _) if failed == 0 => format!("{all} so far, result unknown"),
        (0, unknown) => format!("{all} so far, {failed} failed, {unknown} unknown"),
        (1, _) => format!("{all} so far, one worked"),
        (_, _) => format!("{all} so far, {worked} worked"),
    }
}

/// Returns the sentence for a task that ended although something remains; empty for others.
fn remains(status: &TaskStatus, errors: usize, steps: usize) -> String {
    let parts = [
        (
            errors,
            plural(errors, "error is still open", "errors are still open"),
        ),
        (
            steps,
            plural(steps, "step is not done", "steps are not done"),
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(n, words)| (n > 0).then_some(words))
        .collect();
    match status.is_over() && !parts.is_empty() {
        true => format!(
            "The task is {}, but {}.",
            status.label(),
            parts.join(", and ")
        ),
        false => String::new(),
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

fn subtitle(episodes: &[(Record, Episode)], task: &Task) -> String {
    let failed = episodes
        .iter()
        .filter(|(_, one)| one.action == "failed")
        .count();
    match (failed, &task.branch) {
        (0, Some(branch)) => format!("Branch {}.", text::replace_control_chars(branch)),
        (0, None) => "No approach has failed.".to_owned(),
        (1, _) => "One approach failed.".to_owned(),
        (n, _) => format!("{n} approaches failed."),
    }
}

fn facts(
    record: &Record,
    task: &Task,
    episodes: &[(Record, Episode)],
) -> Vec<(&'static str, Html)> {
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
    let time: u64 = episodes.iter().filter_map(|(_, one)| one.duration_ms).sum();
    if time > 0 {
        facts.push(("Time", render_text(&duration(time))));
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
    facts
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
        let task = record_label::named_task(one.record.scope.task.as_deref());
        let task = task.map_or_else(String::new, |id| {
            format!(" on {}", record_label::task_label(id))
        });
        let what = one.episode.approach.as_deref().unwrap_or_default();
        let why = one
            .episode
            .outcome
            .as_deref()
            .map_or_else(String::new, |why| format!(": {why}"));
        let result = result_label(&one.episode.action);
        format!("“{what}”: {result}{task}{why}")
    });
    let told_of: Vec<_> = told_of.collect();
    Ok(SimilarAttemptsView {
        words: render_text(&format!("Similar: {}", told_of.join(" "))),
        is_bad: report.has_failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_with_an_unknown_end_are_no_failures() {
        for (actions, text) in [
            (&[][..], "not tried yet"),
            (&["failed"], "1 try so far, none worked"),
            (&["failed", "completed"], "2 tries so far, one worked"),
            (
                &["completed", "completed", "attempted"],
                "3 tries so far, 2 worked",
            ),
            (&["attempted", "retried"], "2 tries so far, result unknown"),
            (
                &["attempted", "failed", "attempted"],
                "3 tries so far, 1 failed, 2 unknown",
            ),
        ] {
            assert_eq!(tries_so_far(actions), text, "{actions:?}");
        }
    }
}
