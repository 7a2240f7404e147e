//! MCP resources: workspace files, receipts, tasks, and knowledge by category.

use super::model_instructions::DATA_NOTICE;
use super::tool::safe_value;
use super::uri::ResourceAddress;
use heirloom_engine::{Engine, Filter};
use heirloom_model::{Fault, Kind, Record, limits, text};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// Resource templates: URI, name, description, MIME type.
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
        "The receipt of a context: its items and the reasons",
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
        "Knowledge of one category",
        MARKDOWN,
    ),
];

/// Lists the resource templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let of = |(uri, name, about, mime): (&str, &str, &str, &str)| {
        ResourceTemplate::new(uri, name)
            .with_title(about)
            .with_description(about)
            .with_mime_type(mime)
    };
    TEMPLATES.into_iter().map(of).collect()
}

/// Lists the workspace files and the newest contexts.
pub(super) fn list(engine: &Engine) -> Result<Vec<Resource>, Fault> {
    let pages = engine.workspace().pages().into_iter().map(|page| {
        let uri = ResourceAddress::Workspace(page.path.clone()).to_uri();
        Resource::new(uri, page.path)
            .with_description("A file of the workspace, which people and agents edit")
            .with_mime_type(MARKDOWN)
            .with_size(page.stat.size_bytes)
    });
    let mut resources: Vec<_> = pages.collect();
    for receipt in engine.contexts().receipts(limits::MCP_CONTEXTS_MAX)? {
        let id = receipt.id.to_string();
        let field = |name: &str| receipt.body.get(name).and_then(Value::as_str);
        let task = field("task").map(|task| format!(" for task {}", text::one_line(task)));
        let about = format!("A context{} of {}", task.unwrap_or_default(), receipt.at);
        let uri = ResourceAddress::Context(id.clone()).to_uri();
        let resource = Resource::new(uri, format!("context {id}"));
        resources.push(resource.with_description(about).with_mime_type(JSON));
    }
    Ok(resources)
}

/// Reads a resource. Errors: `NotFound`.
pub(super) fn read(engine: &Engine, address: &ResourceAddress) -> Result<ResourceContents, Fault> {
    let (text, mime) = match address {
        ResourceAddress::Workspace(path) => (
            engine
                .contexts()
                .render_envelope(&workspace_text(engine, path)?),
            MARKDOWN,
        ),
        ResourceAddress::Context(id) => {
            let receipt = engine.contexts().receipt(id)?;
            let mut value = json!({"about": DATA_NOTICE, "id": receipt.id.to_string(), "at": receipt.at.to_string()});
            if let Some(map) = value.as_object_mut() {
                map.extend(receipt.body);
            }
            (format!("{:#}", safe_value(value)), JSON)
        }
        ResourceAddress::Task(id) => (format!("{:#}", safe_value(task(engine, id)?)), JSON),
        ResourceAddress::Knowledge(category) => (
            engine
                .contexts()
                .render_envelope(&knowledge(engine, category)?),
            MARKDOWN,
        ),
    };
    Ok(ResourceContents::text(text, address.to_uri()).with_mime_type(mime))
}

fn workspace_text(engine: &Engine, path: &str) -> Result<String, Fault> {
    let pages = engine.workspace().pages();
    let Some(page) = pages.iter().find(|page| page.path == path) else {
        let path = text::excerpt(path, 120);
        return Err(Fault::not_found(format!(
            "the workspace has no file `{path}`"
        )));
    };
    page.text(engine)
}

fn task(engine: &Engine, id: &str) -> Result<Value, Fault> {
    let details = engine.tasks().get(id)?;
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
        "about": DATA_NOTICE,
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
    let mut records = engine.records().find(&filter)?;
    records.retain(|record| record.category() == Some(category));
    records.truncate(limits::RECALL_HITS_MAX);
    if records.is_empty() {
        let category = text::excerpt(category, 60);
        return Err(
            Fault::not_found(format!("no knowledge has the category `{category}`"))
                .hint("`heirloom list --kind knowledge` lists all knowledge"),
        );
    }
    let line = |record: &Record| format!("- {}", record.text.trim_end().replace('\n', "\n  "));
    let lines: Vec<_> = records.iter().map(line).collect();
    Ok(lines.join("\n"))
}

/// Completes the variable of a template.
pub(super) fn complete(
    engine: &Engine,
    template: &str,
    prefix: &str,
) -> Result<Vec<String>, Fault> {
    let template_row = TEMPLATES.iter().find(|(uri, ..)| *uri == template);
    let mut names = match template_row.map(|(_, name, ..)| *name) {
        Some("workspace") => engine
            .workspace()
            .pages()
            .into_iter()
            .map(|page| page.path)
            .collect(),
        Some("context") => {
            let receipts = engine.contexts().receipts(limits::MCP_CONTEXTS_MAX)?;
            receipts
                .iter()
                .map(|receipt| receipt.id.to_string())
                .collect()
        }
        Some("task") => task_ids(engine)?,
        Some("knowledge") => categories(engine)?,
        Some(_) | None => Vec::new(),
    };
    names.retain(|name| name.starts_with(prefix));
    Ok(names)
}

/// Returns the ids of tasks, newest first.
pub(super) fn task_ids(engine: &Engine) -> Result<Vec<String>, Fault> {
    let tasks = engine.tasks().list()?;
    Ok(tasks
        .into_iter()
        .filter_map(|task| task.scope.task.or(task.key))
        .collect())
}

/// Returns the categories of knowledge, largest first.
pub(super) fn categories(engine: &Engine) -> Result<Vec<String>, Fault> {
    let filter = Filter::current(&[Kind::Knowledge], engine.now());
    let filter = filter.limit(limits::CONTEXT_FACTS_MAX);
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for record in engine.records().find(&filter)? {
        if let Some(category) = record.category() {
            *counts.entry(category.to_owned()).or_default() += 1;
        }
    }
    let mut counted: Vec<_> = counts.into_iter().collect();
    counted.sort_by(|(a, many_a), (b, many_b)| many_b.cmp(many_a).then_with(|| a.cmp(b)));
    Ok(counted.into_iter().map(|(category, _)| category).collect())
}
