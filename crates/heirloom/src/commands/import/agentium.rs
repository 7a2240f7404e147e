//! `heirloom import agentium`: the memory file and the settings of Agentium.

use super::{import_label, read};
use crate::config::ConfigKey;
use crate::store_access::{self, CliSession};
use heirloom_engine::{Engine, ImportReport};
use heirloom_formats::{agentium, mirror};
use heirloom_fs::project_fs;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::Path;

/// Path of Agentium's memory file, relative to the project's root.
pub(super) const AGENTIUM_MEMORY: &str = ".agentium/memory.json";
/// Path of Agentium's settings file, relative to the project's root.
pub(super) const AGENTIUM_SETTINGS: &str = ".agentium.yaml";

pub(super) fn import_agentium(
    engine: &Engine,
    found: &store_access::FoundProject,
    path: Option<&Path>,
    session: &mut CliSession,
) -> Result<ImportReport, Fault> {
    let root = &found.place.root;
    let is_settings = |path: &Path| {
        path.extension()
            .is_some_and(|end| end == "yaml" || end == "yml")
    };
    let (memory, settings) = match path {
        Some(path) if is_settings(path) => (None, Some(path.to_owned())),
        Some(path) => (Some(path.to_owned()), None),
        None => {
            let existing = |name: &str| Some(root.join(name)).filter(|path| path.is_file());
            (existing(AGENTIUM_MEMORY), existing(AGENTIUM_SETTINGS))
        }
    };
    if memory.is_none() && settings.is_none() {
        return Err(Fault::not_found(format!(
            "neither {AGENTIUM_MEMORY} nor {AGENTIUM_SETTINGS} in {}",
            root.to_escaped()
        ))
        .hint("name the file: heirloom import agentium PATH"));
    }
    let mut report = ImportReport::default();
    let mut memory = memory;
    if let Some(path) = settings {
        let memory_file = import_settings(engine, found, &path, session)?;
        let memory_path = memory_file
            .and_then(|file| project_fs::normalise_project_path(root, &file).ok())
            .map(|file| root.join(file));
        memory = memory.or(memory_path.filter(|path| path.is_file()));
    }
    if let Some(path) = memory {
        let parsed = mirror::parse(&read(&path)?).map_err(|error| {
            Fault::failed(format!("{}: {error}", path.to_escaped())).hint("nothing was imported")
        })?;
        report = engine
            .imports()
            .import_mirror(parsed, &import_label("agentium", &path))?;
    }
    Ok(report)
}

/// Takes over the settings of Agentium in a project, if it has any.
pub(in crate::commands) fn take_over_agentium(
    engine: &Engine,
    found: &store_access::FoundProject,
    session: &mut CliSession,
) -> Result<(), Fault> {
    let settings = found.place.root.join(AGENTIUM_SETTINGS);
    if settings.is_file() {
        import_settings(engine, found, &settings, session)?;
    }
    Ok(())
}

/// Writes the `memory:` section of `.agentium.yaml` into the project's config and prints the changed keys. Returns
/// the memory file that it names.
fn import_settings(
    engine: &Engine,
    found: &store_access::FoundProject,
    path: &Path,
    session: &mut CliSession,
) -> Result<Option<String>, Fault> {
    let parsed = agentium::parse(&String::from_utf8_lossy(&read(path)?))
        .map_err(|error| Fault::failed(format!("{}: {error}", path.to_escaped())))?;
    for problem in &parsed.diagnostics {
        session
            .out
            .talk(&format!("{}: {problem}", path.to_escaped()));
    }
    let settings = parsed.memory.unwrap_or_default();
    let mut edits = Vec::new();
    if let Some(enabled) = settings.enabled {
        edits.push(("enabled", toml::Value::Boolean(enabled)));
    }
    match settings
        .file_path
        .as_deref()
        .map(|file| engine.mirror().path_for(file))
    {
        Some(Err(fault)) => session.out.talk(&format!(
            "{}: {}; skipped",
            path.to_escaped(),
            fault.message
        )),
        Some(Ok(_)) | None => {
            let file = settings.file_path.clone().map(toml::Value::String);
            edits.extend(file.map(|file| ("file_path", file)));
        }
    }
    for (key, value) in [
        ("max_entries", settings.max_entries),
        ("context_budget", settings.context_budget),
    ] {
        if let Some(value) = value.and_then(|n| i64::try_from(n).ok()) {
            edits.push((key, toml::Value::Integer(value)));
        }
    }
    edits.retain(|(key, value)| match check_value(key, value) {
        Ok(()) => true,
        Err(problem) => {
            let place = path.to_escaped();
            session
                .out
                .talk(&format!("{place}: memory.{key}: {problem}; skipped"));
            false
        }
    });
    if !edits.is_empty() {
        write_settings(found, &edits, session)?;
    }
    Ok(settings.file_path)
}

/// Writes keys of the section `memory` into the project's config and prints them.
fn write_settings(
    found: &store_access::FoundProject,
    edits: &[(&str, toml::Value)],
    session: &mut CliSession,
) -> Result<(), Fault> {
    let config = &found.place.config;
    let text = project_fs::read_bounded_following_links(config, limits::CONFIG_BYTES_MAX)
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let edited = crate::config::with_keys(&text, "memory", edits)?;
    if edited == text {
        return Ok(());
    }
    store_access::write_file(config, edited.as_bytes())?;
    let written: Vec<_> = edits
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    session.out.talk(&format!(
        "{}: [memory] {}",
        config.to_escaped(),
        written.join(", ")
    ));
    Ok(())
}

/// Checks that `value` fits the key of the section `memory`; an error explains the mismatch.
fn check_value(key: &str, value: &toml::Value) -> Result<(), String> {
    let key = ConfigKey::by_name(&format!("memory.{key}"));
    let key = key.ok_or_else(|| "there is no such key".to_owned())?;
    key.check(value)?;
    match key.check_of_project {
        Some(check) => check(value).map_err(str::to_owned),
        None => Ok(()),
    }
}
