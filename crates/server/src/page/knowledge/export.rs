//! Export of the filtered entries as Markdown or JSON.

use super::criteria::{Criteria, KnowledgeParams};
use super::selection::{read_set, sort};
use crate::App;
use crate::page::view::chart::put;
use crate::page::{PageError, RequestContext, record_label};
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use heirloom_engine::Engine;
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, KindData, Permission, Record, mark, text};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of exported entries.
const EXPORTED_MAX: usize = 10_000;

/// Format of the export in the query.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ExportParams {
    format: String,
}

/// Answers the filtered entries as a file.
pub(super) async fn download(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<KnowledgeParams>,
    Query(ExportParams { format }): Query<ExportParams>,
) -> Result<Response, PageError> {
    let is_json = match format.as_str() {
        "json" => true,
        "md" => false,
        _ => return Err(Fault::usage("the format of an export is `md` or `json`").into()),
    };
    let project = context.resolve_project(Permission::Read)?;
    let file = app.with_engine(project, move |engine| {
        let (records, note) = load(engine, &params)?;
        Ok(match is_json {
            true => json_file(&records, &note),
            false => markdown_file(&engine.display_name(), &records, &note),
        })
    });
    let (sort, name) = match is_json {
        true => ("application/json", "knowledge.json"),
        false => ("text/markdown; charset=utf-8", "knowledge.md"),
    };
    let headers = [
        (header::CONTENT_TYPE, sort.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((headers, file.await?).into_response())
}

/// Loads the entries that the list shows on all its pages.
fn load(engine: &Engine, params: &KnowledgeParams) -> Result<(Vec<Record>, String), Fault> {
    let criteria = Criteria::new(params);
    let conflicts = engine.conflicts().list()?;
    let set = read_set(engine, &criteria, &conflicts, EXPORTED_MAX)?;
    let (mut set, note) = (set.records, set.note);
    if let Some(category) = &criteria.category {
        set.retain(|record| record.category() == Some(category));
    }
    sort(engine, criteria.sort, &mut set)?;
    Ok((set, note))
}

fn json_file(records: &[Record], note: &str) -> String {
    let entries: Vec<Value> = records.iter().map(entry_json).collect();
    let mut file = json!({"count": entries.len(), "entries": entries});
    if !note.is_empty() {
        file["note"] = note.into();
    }
    format!("{file:#}\n")
}

fn entry_json(record: &Record) -> Value {
    let knowledge = Knowledge::from_record(record).ok();
    json!({
        "id": record.id.to_string(),
        "key": record_label::given_key(record),
        "category": record.category(),
        "text": record.text,
        "rationale": knowledge.and_then(|knowledge| knowledge.rationale),
        "source": record.source,
        "confidence": record.confidence.get(),
        "task": record.scope.task,
        "recorded_at": record.recorded_at.to_string(),
        "true_from": record.true_from.map(|at| at.to_string()),
        "pinned": mark::is_pinned(&record.attrs),
        "muted": mark::is_muted(&record.attrs),
    })
}

/// Writes one section for each category and one list item for each entry.
fn markdown_file(project: &str, records: &[Record], note: &str) -> String {
    let mut out = format!("# Knowledge of {}\n", text::replace_control_chars(project));
    if !note.is_empty() {
        put(&mut out, format_args!("\n{note}\n"));
    }
    let mut sections: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        let category = record.category().unwrap_or("fact");
        sections.entry(category).or_default().push(record);
    }
    for (category, records) in sections {
        let category = text::replace_control_chars(category);
        put(&mut out, format_args!("\n## {category}\n\n"));
        for record in records {
            let key = text::replace_control_chars(record_label::given_key(record));
            let name = match key.is_empty() {
                true => String::new(),
                false => format!("**{key}**: "),
            };
            let lines: Vec<String> = record
                .text
                .lines()
                .map(text::replace_control_chars)
                .collect();
            let source = record_label::source_label(&record.source);
            let day = record.recorded_at.strftime("%Y-%m-%d");
            let lines = lines.join("\n  ");
            put(
                &mut out,
                format_args!("- {name}{lines} ({source}, {day})\n"),
            );
        }
    }
    out
}
