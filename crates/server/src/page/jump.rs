//! Jumping to a page or a record by a few letters.

use super::look::times;
use super::view::jump::{Answer, Jump};
use super::{Look, Shell, Wrong, html, told};
use crate::App;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use heirloom_engine::recall::Item;
use heirloom_engine::{Engine, Filter, Reading, RecallRequest};
use heirloom_model::{Deed, Fault, Kind, Record, text};
use serde::Deserialize;

/// Records that are offered.
const OFFERED: usize = 7;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    q: String,
}

/// Answers what there is under these letters; without a script leads to recall.
pub(super) async fn show(
    State(app): State<App>,
    look: Look,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    if !look.is_part {
        let to = format!("/recall?q={}", told::encoded(asked.q.trim()));
        return Ok(Redirect::to(&to).into_response());
    }
    let project = look.project(Deed::Read)?;
    let found = app.ask(project, move |engine| load(engine, &look, asked.q.trim()));
    html(&found.await?)
}

fn load(engine: &Engine, look: &Look, q: &str) -> Result<Answer, Fault> {
    let times = times(engine);
    let whole = Look {
        is_part: false,
        ..look.clone()
    };
    let shell = Shell::load(engine, &whole, "", "")?;
    let lower = q.to_lowercase();
    let mut jumps = Vec::new();
    for item in shell.nav.into_iter().flat_map(|part| part.items) {
        if item.label.to_lowercase().contains(&lower) {
            let hint = if item.key.is_empty() {
                String::new()
            } else {
                format!("g {}", item.key)
            };
            jumps.push(Jump {
                href: item.href.to_owned(),
                icon: item.icon,
                words: item.label.to_owned(),
                hint,
            });
        }
    }
    jumps.extend(super::projects::jumps(engine, look, &lower)?);
    if q.is_empty() {
        return Ok(Answer { jumps });
    }
    let mut records: Vec<Record> = Vec::new();
    for kind in [Kind::Knowledge, Kind::Task] {
        let mut filter = Filter::current(&[kind], engine.now()).limit(OFFERED);
        filter.key_prefix = Some(q.trim_start_matches('#').to_owned());
        records.extend(engine.find(&filter)?);
    }
    let request = RecallRequest {
        question: q.to_owned(),
        reading: Reading::Words,
        k: Some(OFFERED),
        kinds: Kind::ALL.to_vec(),
        ..RecallRequest::default()
    };
    if q.chars().any(char::is_alphanumeric) {
        for hit in engine.recall(&request)?.hits {
            if let Item::Record(record) = hit.item
                && !records.iter().any(|known| known.id == record.id)
            {
                records.push(*record);
            }
        }
    }
    let offers = records.iter().take(OFFERED).map(|record| Jump {
        href: told::href(record),
        icon: record.kind.as_str(),
        words: match told::key(record) {
            "" => told::name(record),
            key => text::excerpt(
                &format!(
                    "{}: {}",
                    text::printable(key),
                    text::printable(&record.text)
                ),
                70,
            ),
        },
        hint: times.day(record.recorded_at),
    });
    jumps.extend(offers);
    Ok(Answer { jumps })
}
