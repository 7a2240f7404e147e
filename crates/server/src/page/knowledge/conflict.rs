//! What two sources say of one key, and deciding between them.

use crate::App;
use crate::page::fields::Fields;
use crate::page::look::back;
use crate::page::records::told_and_changed;
use crate::page::view::Times;
use crate::page::view::knowledge::{Conflict as View, Side};
use crate::page::view::{Html, escape};
use crate::page::{Look, Wrong, told};
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_engine::Conflict;
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Deed, KindData, Record, text};
use std::collections::HashSet;

/// Texts that are shown of a conflict.
const SIDES: usize = 4;

/// The conflict at this place of the list.
pub(super) fn shown(conflicts: &[Conflict], at: usize, times: &Times) -> Option<View> {
    let at = at.min(conflicts.len().checked_sub(1)?);
    let conflict = conflicts.get(at)?;
    let all: Vec<&Record> = std::iter::once(&conflict.winner)
        .chain(&conflict.losers)
        .take(SIDES)
        .collect();
    let sides = all.iter().enumerate().map(|(n, record)| Side {
        id: record.id.to_string(),
        meta: meta(record, times),
        words: unlike(&record.text, &all),
        key: n + 1,
    });
    let next = if at + 1 < conflicts.len() { at + 1 } else { 0 };
    Some(View {
        id: conflict.winner.id.to_string(),
        key: told::name(&conflict.winner),
        place: match conflicts.len() {
            1 => "the only conflict".to_owned(),
            n => format!("{} of {n} conflicts", at + 1),
        },
        next: match conflicts.len() {
            1 => String::new(),
            _ => format!("/knowledge?conflict={next}#conflict"),
        },
        until: match conflict.is_disputed() {
            true => "Until you decide, contexts carry neither.".to_owned(),
            false => "Until you decide, contexts carry the left one.".to_owned(),
        },
        sides: sides.collect(),
    })
}

fn meta(record: &Record, times: &Times) -> String {
    let mut meta = format!(
        "{}, confidence {:.2}, {}",
        told::who(&record.source),
        record.confidence.get(),
        times.full(record.recorded_at)
    );
    let confirmed = Knowledge::of(record).map_or(0, |knowledge| knowledge.confirmations);
    match confirmed {
        0 => {}
        1 => meta.push_str(", confirmed once"),
        2 => meta.push_str(", confirmed twice"),
        n => meta.push_str(&format!(", confirmed {n} times")),
    }
    meta
}

/// A text with the words marked that not every side says.
fn unlike(words: &str, all: &[&Record]) -> Html {
    let sets: Vec<HashSet<&str>> = all
        .iter()
        .map(|record| record.text.split_whitespace().collect())
        .collect();
    let mut out = String::new();
    for word in words.split_whitespace() {
        let is_shared = sets.iter().all(|set| set.contains(word));
        let word = text::printable(word);
        if is_shared {
            escape(&word, &mut out);
        } else {
            out.push_str("<mark>");
            escape(&word, &mut out);
            out.push_str("</mark>");
        }
        out.push(' ');
    }
    Html::made(out)
}

/// Decides for one side.
pub(super) async fn decide(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    let keep = fields.get("keep").to_owned();
    let kept = app
        .ask(look.project(Deed::Decide)?, move |engine| {
            let (id, keep) = (engine.resolve_id(&id)?, engine.resolve_id(&keep)?);
            Ok(engine.resolve_conflict(id, keep, "user")?.kept)
        })
        .await?;
    match look.is_part {
        false => Ok(back("/knowledge", "decided", &kept.to_string())),
        true => told_and_changed(&look, "decided", &kept.to_string()),
    }
}
