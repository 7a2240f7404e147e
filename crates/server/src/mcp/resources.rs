//! Resources: files of the workspace, contexts that were given out, tasks, and what is known of a category.

use super::tool::DATA;
use super::uri::Address;
use heirloom_engine::{Engine, Filter};
use heirloom_model::{Fault, Kind, Record, limits, text};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// What may be asked for by name, with what each name is called in its template.
pub(super) const TEMPLATES: [(&str, &str, &str, &str); 4] = [
    (
        "heirloom://workspace/{+file}",
        "workspace",
        "A file of the workspace",
        MARKDOWN,
    ),
    (
        "heirloom://context/{id}",
        "context",
        "The receipt of a context: what was in it, and why",
        JSON,
    ),
    (
        "heirloom://task/{task}",
        "task",
        "A task: its steps, open errors and files",
        JSON,
    ),
    (
        "heirloom://knowledge/{category}",
        "knowledge",
        "What is known of one category",
        MARKDOWN,
    ),
];

/// The templates, as they are listed.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let of = |(uri, name, about, mime): (&str, &str, &str, &str)| {
        ResourceTemplate::new(uri, name)
            .with_title(about)
            .with_description(about)
            .with_mime_type(mime)
    };
    TEMPLATES.into_iter().map(of).collect()
}

/// The files of the workspace, and the newest contexts.
pub(super) fn list(engine: &Engine) -> Result<Vec<Resource>, Fault> {
    let pages = engine.workspace_pages().into_iter().map(|page| {
        let uri = Address::Workspace(page.path.clone()).write();
        Resource::new(uri, page.path)
            .with_description("A file of the workspace, which people and agents edit")
            .with_mime_type(MARKDOWN)
            .with_size(page.stat.size_bytes)
    });
    let mut resources: Vec<_> = pages.collect();
    for receipt in engine.receipts(limits::MCP_CONTEXTS_MAX)? {
        let id = receipt.id.to_string();
        let said = |name: &str| receipt.body.get(name).and_then(Value::as_str);
        let task = said("task").map(|task| format!(" for task {}", text::one_line(task)));
        let about = format!("A context{} of {}", task.unwrap_or_default(), receipt.at);
        let uri = Address::Context(id.clone()).write();
        let resource = Resource::new(uri, format!("context {id}"));
        resources.push(resource.with_description(about).with_mime_type(JSON));
    }
    Ok(resources)
}

/// What a resource says. Errors: `NotFound`.
pub(super) fn read(engine: &Engine, address: &Address) -> Result<ResourceContents, Fault> {
    let (text, mime) = match address {
        Address::Workspace(path) => (engine.told(&page(engine, path)?), MARKDOWN),
        Address::Context(id) => {
            let receipt = engine.receipt(id)?;
            let mut value =
                json!({"about": DATA, "id": receipt.id.to_string(), "at": receipt.at.to_string()});
            if let Some(map) = value.as_object_mut() {
                map.extend(receipt.body);
            }
            (format!("{value:#}"), JSON)
        }
        Address::Task(id) => (format!("{:#}", task(engine, id)?), JSON),
        Address::Knowledge(category) => (engine.told(&knowledge(engine, category)?), MARKDOWN),
    };
    Ok(ResourceContents::text(text, address.write()).with_mime_type(mime))
}

fn page(engine: &Engine, path: &str) -> Result<String, Fault> {
    let pages = engine.workspace_pages();
    let Some(page) = pages.iter().find(|page| page.path == path) else {
        let path = text::excerpt(path, 120);
        return Err(Fault::not_found(format!(
            "the workspace has no file `{path}`"
        )));
    };
    page.text(engine)
}

fn task(engine: &Engine, id: &str) -> Result<Value, Fault> {
    let details = engine.task(id)?;
    let brief = |record: &Record| {
        json!({
            "id": record.id.to_string(),
            "kind": record.kind.as_str(),
            "text": record.text,
            "source": record.source,
            "recorded_at": record.recorded_at.to_string(),
            "attributes": record.attrs,
        })
    };
    let all = |records: &[Record]| records.iter().map(brief).collect::<Value>();
    Ok(json!({
        "about": DATA,
        "task": brief(&details.task),
        "completed": all(&details.completed),
        "pending": all(&details.pending),
        "files": all(&details.files),
        "open_errors": all(&details.open_errors),
    }))
}

fn knowledge(engine: &Engine, category: &str) -> Result<String, Fault> {
    let now = engine.now();
    let filter = Filter::current(&[Kind::Knowledge], now);
    let mut records = engine.find(&filter)?;
    records.retain(|record| record.category() == Some(category));
    records.truncate(limits::RECALL_HITS_MAX);
    if records.is_empty() {
        let category = text::excerpt(category, 60);
        return Err(
            Fault::not_found(format!("nothing is known of the category `{category}`"))
                .hint("`heirloom list --kind knowledge` shows what there is"),
        );
    }
    let line = |record: &Record| format!("- {}", record.text.trim_end().replace('\n', "\n  "));
    let lines: Vec<_> = records.iter().map(line).collect();
    Ok(lines.join("\n"))
}

/// Names that a template's variable may have, which begin with what is there of it.
pub(super) fn names(engine: &Engine, template: &str, begun: &str) -> Result<Vec<String>, Fault> {
    let room = TEMPLATES.iter().find(|(uri, ..)| *uri == template);
    let mut names = match room.map(|(_, name, ..)| *name) {
        Some("workspace") => engine
            .workspace_pages()
            .into_iter()
            .map(|page| page.path)
            .collect(),
        Some("context") => {
            let receipts = engine.receipts(limits::MCP_CONTEXTS_MAX)?;
            receipts
                .iter()
                .map(|receipt| receipt.id.to_string())
                .collect()
        }
        Some("task") => tasks(engine)?,
        Some("knowledge") => categories(engine)?,
        Some(_) | None => Vec::new(),
    };
    names.retain(|name| name.starts_with(begun));
    Ok(names)
}

/// The ids of tasks, newest first.
pub(super) fn tasks(engine: &Engine) -> Result<Vec<String>, Fault> {
    let tasks = engine.tasks()?;
    Ok(tasks
        .into_iter()
        .filter_map(|task| task.scope.task.or(task.key))
        .collect())
}

/// The categories of what is known, those with the most first.
pub(super) fn categories(engine: &Engine) -> Result<Vec<String>, Fault> {
    let filter = Filter::current(&[Kind::Knowledge], engine.now());
    let filter = filter.limit(limits::CONTEXT_FACTS_MAX);
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for record in engine.find(&filter)? {
        if let Some(category) = record.category() {
            *counts.entry(category.to_owned()).or_default() += 1;
        }
    }
    let mut counted: Vec<_> = counts.into_iter().collect();
    counted.sort_by(|(a, many_a), (b, many_b)| many_b.cmp(many_a).then_with(|| a.cmp(b)));
    Ok(counted.into_iter().map(|(category, _)| category).collect())
}
