//! Conflicts between sources, and their resolution.

use crate::App;
use crate::page::form_fields::FormFields;
use crate::page::request_context::redirect_back;
use crate::page::toast::toast_and_refresh;
use crate::page::view::Times;
use crate::page::view::knowledge::{ConflictSide, ConflictView as View};
use crate::page::view::{Html, render_text, split_words};
use crate::page::{PageError, RequestContext, record_label};
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_engine::Conflict;
use heirloom_model::kinds::Knowledge;
use heirloom_model::{KindData, Permission, Record};
use std::collections::HashSet;

/// Maximum number of values shown of a conflict.
const SIDES: usize = 4;

/// Returns the view of the conflict at this position.
pub(in crate::page) fn conflict_view(
    conflicts: &[Conflict],
    at: usize,
    times: &Times,
) -> Option<View> {
    let at = at.min(conflicts.len().checked_sub(1)?);
    let conflict = conflicts.get(at)?;
    let all: Vec<&Record> = std::iter::once(&conflict.winner)
        .chain(&conflict.losers)
        .take(SIDES)
        .collect();
    let sides = all.iter().enumerate().map(|(n, record)| ConflictSide {
        id: record.id.to_string(),
        meta: meta(record, times),
        words: highlight_differences(&record.text, &all),
        key: n + 1,
    });
    let next = if at + 1 < conflicts.len() { at + 1 } else { 0 };
    Some(View {
        id: conflict.winner.id.to_string(),
        key: record_label::name(&conflict.winner),
        place: match conflicts.len() {
            1 => "the only conflict".to_owned(),
            n => format!("{} of {n} conflicts", at + 1),
        },
        next: match conflicts.len() {
            1 => String::new(),
            _ => format!("/knowledge?conflict={next}#conflict"),
        },
        until: match conflict.is_disputed() {
            true => "Until you decide, contexts contain neither.".to_owned(),
            false => "Until you decide, contexts contain the left one.".to_owned(),
        },
        sides: sides.collect(),
    })
}

fn meta(record: &Record, times: &Times) -> String {
    let mut meta = format!(
        "{}, confidence {:.2}, {}",
        record_label::source_label(&record.source),
        record.confidence.get(),
        times.full(record.recorded_at)
    );
    let confirmed = Knowledge::from_record(record).map_or(0, |knowledge| knowledge.confirmations);
    match confirmed {
        0 => {}
        1 => meta.push_str(", confirmed once"),
        2 => meta.push_str(", confirmed twice"),
        n => meta.push_str(&format!(", confirmed {n} times")),
    }
    meta
}

/// Marks the words of a text that are not in all values; code between backticks is one word.
fn highlight_differences(words: &str, all: &[&Record]) -> Html {
    let sets: Vec<HashSet<&str>> = all
        .iter()
        .map(|record| split_words(&record.text).into_iter().collect())
        .collect();
    let mut out = String::new();
    for word in split_words(words) {
        let is_shared = sets.iter().all(|set| set.contains(word));
        let word = render_text(word);
        out.push_str(&match is_shared {
            true => format!("{word} "),
            false => format!("<mark>{word}</mark> "),
        });
    }
    Html::from_markup(out)
}

/// Resolves a conflict in favour of one value.
pub(super) async fn decide(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let keep = fields.get("keep").to_owned();
    let kept_id = app
        .with_engine(
            context.resolve_project(Permission::Decide)?,
            move |engine| {
                let (id, keep) = (
                    engine.records().resolve_id(&id)?,
                    engine.records().resolve_id(&keep)?,
                );
                Ok(engine.conflicts().resolve(id, keep, "user")?.kept)
            },
        )
        .await?;
    match context.is_part {
        false => Ok(redirect_back(
            &fields.return_path("/knowledge"),
            "decided",
            &kept_id.to_string(),
        )),
        true => toast_and_refresh(&context, "decided", &kept_id.to_string()),
    }
}
