//! Rows of the tables of a task: attempts, steps, artifacts, open errors.

use crate::page::view::tasks::{ArtifactRow, AttemptRow, OpenErrorRow, StepRow};
use crate::page::view::{Times, bytes, duration, render_text, short_number};
use crate::page::{RequestContext, record_label};
use heirloom_engine::{ArtifactStatus, VerifiedArtifact};
use heirloom_model::kinds::{Artifact as Typed, Episode, result_label};
use heirloom_model::{KindData, Record, text};

/// Builds the row of an attempt.
pub(super) fn attempt_row(record: &Record, episode: &Episode, times: &Times) -> AttemptRow {
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
        state: result_label(&episode.action),
        outcome: render_text(episode.outcome.as_deref().unwrap_or_default()),
        has_outcome: episode.outcome.is_some(),
    }
}

/// Returns the style class and the icon of an attempt's action.
fn action_style(action: &str) -> (&'static str, &'static str) {
    match action {
        "completed" => ("ok", "check"),
        "failed" => ("bad", "cross"),
        _ => ("soft", "dash"),
    }
}

/// Builds the row of a step.
pub(super) fn step_row(record: &Record, is_done: bool, times: &Times) -> StepRow {
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

/// Builds the row of an artifact.
pub(super) fn artifact_row(one: &VerifiedArtifact) -> ArtifactRow {
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
pub(in crate::page) fn open_error_row(
    record: &Record,
    context: &RequestContext,
    times: &Times,
) -> OpenErrorRow {
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
    let task = record_label::named_task(record.scope.task.as_deref());
    OpenErrorRow {
        id: record.id.to_string(),
        words: render_text(&text::excerpt(&record.text, 400)),
        meta,
        task: task.map_or_else(String::new, record_label::task_label),
        href: task.map_or_else(String::new, record_label::task_href),
        csrf: context.csrf.clone(),
    }
}
