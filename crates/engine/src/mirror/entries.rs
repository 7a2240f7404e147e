//! Agentium's later form: `{version, entries[]}`, one entry a signal.
//!
//! An entry is `{type, content, iteration, phase_iteration, task_id, timestamp}`, where the type is a
//! signal's verb. Near spellings are read too, because the form has changed before.

use super::read::{Reader, name};
use super::{MirrorDecision, MirrorFile, MirrorMistake, MirrorTask};
use heirloom_model::record::Attrs;
use heirloom_model::signal::Verb;
use heirloom_model::{Timestamp, text};
use serde_json::Value;
use std::collections::HashSet;

/// Whether the object is of this form: it has entries and no field of the other one.
pub(super) fn is_form(object: &Attrs) -> bool {
    let of_session = ["session_id", "tasks", "decisions", "errors", "key_facts"];
    object.contains_key("entries") && !of_session.iter().any(|key| object.contains_key(*key))
}

/// One entry, whatever its fields were called.
#[derive(Default)]
struct Entry {
    verb: String,
    text: String,
    task: String,
    task_type: String,
    phase: String,
    iteration: u32,
    time: String,
}

/// The mirror that says what the entries say, in their order.
///
/// The iteration and the checkpoint are the latest of the entries. What is neither a fact, a decision, an
/// error nor part of a task becomes a fact that begins with its type, with a diagnostic.
pub(super) fn read(reader: &mut Reader, mut object: Attrs) -> MirrorFile {
    match object.remove("version") {
        Some(Value::String(version)) if version == "1" => {}
        None | Some(Value::Null) => {}
        Some(Value::Number(version)) if version.as_u64() == Some(1) => {}
        Some(other) => {
            let message = format!("version {other} is not known; read as version 1");
            reader.report("version".to_owned(), message);
        }
    }
    let mut file = MirrorFile::default();
    let mut latest = None;
    let entries = match object.remove("entries") {
        Some(Value::Array(entries)) => entries,
        None | Some(Value::Null) => Vec::new(),
        Some(other) => {
            let message = format!("expected a list, found {}; skipped", name(&other));
            reader.report("entries".to_owned(), message);
            Vec::new()
        }
    };
    for (i, value) in entries.into_iter().enumerate() {
        let at = format!("entries[{i}]");
        let Some(entry) = entry(reader, &at, value) else {
            continue;
        };
        file.iteration = file.iteration.max(entry.iteration);
        let time = entry.time.parse::<Timestamp>().ok();
        if time > latest {
            latest = time;
            file.last_checkpoint.clone_from(&entry.time);
        }
        place(reader, &at, entry, &mut file);
    }
    for task in file.tasks.values_mut() {
        settle(task);
    }
    file
}

fn entry(reader: &mut Reader, at: &str, value: Value) -> Option<Entry> {
    if let Value::String(text) = value {
        reader.report(
            at.to_owned(),
            "an entry without a type; kept as a fact".to_owned(),
        );
        let verb = Verb::KeyFact.as_str().to_owned();
        return Some(Entry {
            verb,
            text,
            ..Entry::default()
        });
    }
    let Value::Object(mut object) = value else {
        let message = format!("expected an object, found {}; skipped", name(&value));
        reader.report(at.to_owned(), message);
        return None;
    };
    let mut first = |keys: &[&str]| {
        let texts = keys.iter().map(|key| reader.text(at, &mut object, key));
        texts.fold(
            String::new(),
            |found, text| if found.is_empty() { text } else { found },
        )
    };
    let verb = first(&["type", "kind"]);
    let text = first(&["content", "text", "value"]);
    let task = first(&["task_id", "task"]);
    let phase = first(&["phase"]);
    if text.trim().is_empty() {
        reader.report(at.to_owned(), "an entry without a text; skipped".to_owned());
        return None;
    }
    let (task_type, task) = match task.split_once(':') {
        Some((sort @ ("issue" | "pr"), id)) if !id.is_empty() => (sort.to_owned(), id.to_owned()),
        Some(_) | None => (String::new(), task),
    };
    Some(Entry {
        verb: verb.trim().to_ascii_uppercase().replace(['-', ' '], "_"),
        text,
        task,
        task_type,
        phase,
        iteration: reader.count(at, &mut object, "iteration"),
        time: reader.time(at, &mut object, "timestamp"),
    })
}

/// Puts an entry where it belongs.
fn place(reader: &mut Reader, at: &str, entry: Entry, file: &mut MirrorFile) {
    let verb = Verb::ALL
        .into_iter()
        .find(|verb| verb.as_str() == entry.verb);
    match verb {
        Some(Verb::KeyFact) => file.key_facts.push(entry.text),
        Some(Verb::Decision) => {
            task_of(file, &entry);
            file.decisions.push(MirrorDecision {
                iteration: entry.iteration,
                task_id: entry.task,
                description: entry.text,
                ..MirrorDecision::default()
            });
        }
        Some(Verb::Error) => {
            task_of(file, &entry);
            file.errors.push(MirrorMistake {
                iteration: entry.iteration,
                task_id: entry.task,
                phase: entry.phase,
                error: entry.text,
                ..MirrorMistake::default()
            });
        }
        Some(Verb::StepDone) => in_task(reader, at, entry, file, |task| &mut task.completed_steps),
        Some(Verb::StepPending) => in_task(reader, at, entry, file, |task| &mut task.pending_steps),
        Some(Verb::FileModified) => {
            in_task(reader, at, entry, file, |task| &mut task.files_modified)
        }
        Some(_) | None => keep_as_fact(reader, at, &entry, file),
    }
}

/// Adds the entry to a list of its task.
fn in_task(
    reader: &mut Reader,
    at: &str,
    entry: Entry,
    file: &mut MirrorFile,
    list: impl Fn(&mut MirrorTask) -> &mut Vec<String>,
) {
    match task_of(file, &entry) {
        Some(task) => list(task).push(entry.text),
        None => keep_as_fact(reader, at, &entry, file),
    }
}

/// The task that the entry names, with what the entry knows of it.
fn task_of<'f>(file: &'f mut MirrorFile, entry: &Entry) -> Option<&'f mut MirrorTask> {
    if entry.task.is_empty() {
        return None;
    }
    let task = file.tasks.entry(entry.task.clone()).or_default();
    task.id.clone_from(&entry.task);
    for (known, new) in [
        (&mut task.task_type, &entry.task_type),
        (&mut task.phase, &entry.phase),
    ] {
        if !new.is_empty() {
            known.clone_from(new);
        }
    }
    Some(task)
}

fn keep_as_fact(reader: &mut Reader, at: &str, entry: &Entry, file: &mut MirrorFile) {
    let verb = text::excerpt(&entry.verb, 40);
    let (fact, what) = if verb.is_empty() {
        (entry.text.clone(), "an entry without a type".to_owned())
    } else {
        (
            format!("{verb}: {}", entry.text),
            format!("{verb} without a place in a mirror"),
        )
    };
    reader.report(at.to_owned(), format!("{what}; kept as a fact"));
    file.key_facts.push(fact);
}

/// Each step and file once; a step that is done is not pending.
fn settle(task: &mut MirrorTask) {
    let mut seen = HashSet::new();
    task.completed_steps
        .retain(|step| seen.insert(text::normal(step)));
    task.pending_steps
        .retain(|step| seen.insert(text::normal(step)));
    let mut seen = HashSet::new();
    task.files_modified.retain(|path| seen.insert(path.clone()));
}
