//! Agentium's later format: `{version, entries[]}`, one entry for each signal.
//!
//! An entry is `{type, content, iteration, phase_iteration, task_id, timestamp}`, where the type is the verb of a
//! signal. Similar field names are accepted, because the format has changed before.

use super::mirror_parser::{MirrorReader, type_name};
use super::{MirrorDecision, MirrorErrorItem, MirrorFile, MirrorTask};
use heirloom_model::record::Attrs;
use heirloom_model::signal::SignalVerb;
use heirloom_model::{Timestamp, text};
use serde_json::Value;
use std::collections::HashSet;

/// Returns true if the object has this format: it has entries and no field of the other format.
pub(super) fn is_entry_list(object: &Attrs) -> bool {
    let of_session = ["session_id", "tasks", "decisions", "errors", "key_facts"];
    object.contains_key("entries") && !of_session.iter().any(|key| object.contains_key(*key))
}

/// One entry, with normalised field names.
#[derive(Default)]
struct SignalEntry {
    verb: String,
    text: String,
    task: String,
    task_type: String,
    phase: String,
    iteration: u32,
    time: String,
}

/// Converts the entries to a mirror, in their order.
///
/// The iteration and the checkpoint are the latest of the entries. An entry that is not a fact, a decision, an error
/// or part of a task becomes a fact that begins with its type, with a diagnostic.
pub(super) fn read_entries(reader: &mut MirrorReader, mut object: Attrs) -> MirrorFile {
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
            let message = format!("expected a list, found {}; skipped", type_name(&other));
            reader.report("entries".to_owned(), message);
            Vec::new()
        }
    };
    for (i, value) in entries.into_iter().enumerate() {
        let at = format!("entries[{i}]");
        let Some(entry) = read_entry(reader, &at, value) else {
            continue;
        };
        file.iteration = file.iteration.max(entry.iteration);
        let time = entry.time.parse::<Timestamp>().ok();
        if time > latest {
            latest = time;
            file.last_checkpoint.clone_from(&entry.time);
        }
        add_entry(reader, &at, entry, &mut file);
    }
    for task in file.tasks.values_mut() {
        remove_duplicate_steps(task);
    }
    file
}

fn read_entry(reader: &mut MirrorReader, at: &str, value: Value) -> Option<SignalEntry> {
    if let Value::String(text) = value {
        reader.report(
            at.to_owned(),
            "an entry without a type; kept as a fact".to_owned(),
        );
        let verb = SignalVerb::KeyFact.as_str().to_owned();
        return Some(SignalEntry {
            verb,
            text,
            ..SignalEntry::default()
        });
    }
    let Value::Object(mut object) = value else {
        let message = format!("expected an object, found {}; skipped", type_name(&value));
        reader.report(at.to_owned(), message);
        return None;
    };
    let mut first = |keys: &[&str]| {
        let texts = keys
            .iter()
            .map(|key| reader.read_text(at, &mut object, key));
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
    Some(SignalEntry {
        verb: verb.trim().to_ascii_uppercase().replace(['-', ' '], "_"),
        text,
        task,
        task_type,
        phase,
        iteration: reader.read_count(at, &mut object, "iteration"),
        time: reader.read_time(at, &mut object, "timestamp"),
    })
}

/// Adds an entry to the mirror.
fn add_entry(reader: &mut MirrorReader, at: &str, entry: SignalEntry, file: &mut MirrorFile) {
    let verb = SignalVerb::ALL
        .into_iter()
        .find(|verb| verb.as_str() == entry.verb);
    match verb {
        Some(SignalVerb::KeyFact) => file.key_facts.push(entry.text),
        Some(SignalVerb::Decision) => {
            task_of(file, &entry);
            file.decisions.push(MirrorDecision {
                iteration: entry.iteration,
                task_id: entry.task,
                description: entry.text,
                ..MirrorDecision::default()
            });
        }
        Some(SignalVerb::Error) => {
            task_of(file, &entry);
            file.errors.push(MirrorErrorItem {
                iteration: entry.iteration,
                task_id: entry.task,
                phase: entry.phase,
                error: entry.text,
                ..MirrorErrorItem::default()
            });
        }
        Some(SignalVerb::StepDone) => {
            push_to_task(reader, at, entry, file, |task| &mut task.completed_steps)
        }
        Some(SignalVerb::StepPending) => {
            push_to_task(reader, at, entry, file, |task| &mut task.pending_steps)
        }
        Some(SignalVerb::FileModified) => {
            push_to_task(reader, at, entry, file, |task| &mut task.files_modified)
        }
        Some(_) | None => push_as_fact(reader, at, &entry, file),
    }
}

/// Adds the entry to a list of its task.
fn push_to_task(
    reader: &mut MirrorReader,
    at: &str,
    entry: SignalEntry,
    file: &mut MirrorFile,
    list: impl Fn(&mut MirrorTask) -> &mut Vec<String>,
) {
    match task_of(file, &entry) {
        Some(task) => list(task).push(entry.text),
        None => push_as_fact(reader, at, &entry, file),
    }
}

/// Returns the task that the entry names, updated with the fields of the entry.
fn task_of<'f>(file: &'f mut MirrorFile, entry: &SignalEntry) -> Option<&'f mut MirrorTask> {
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

fn push_as_fact(reader: &mut MirrorReader, at: &str, entry: &SignalEntry, file: &mut MirrorFile) {
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

/// Removes duplicate steps and files; a completed step is not pending.
fn remove_duplicate_steps(task: &mut MirrorTask) {
    let mut seen = HashSet::new();
    task.completed_steps
        .retain(|step| seen.insert(text::normalize(step)));
    task.pending_steps
        .retain(|step| seen.insert(text::normalize(step)));
    let mut seen = HashSet::new();
    task.files_modified.retain(|path| seen.insert(path.clone()));
}
