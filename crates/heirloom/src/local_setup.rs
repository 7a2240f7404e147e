//! Setup of the machine for the page: config files and hooks of the served project.

use crate::config::{
    Config, ConfigKey, KEYS, Layer, ValueType, describe_key, field_text, find_value,
    first_sentence, parse_values, plan_key_change, read_config,
};
use crate::health_checks::examine;
use crate::hook_installation::{self, HookChange, InstallScope};
use crate::store_access::{self, CliSession, FoundProject, fleet_status};
use heirloom_agents::AgentProgram;
use heirloom_engine::HealthCheck;
use heirloom_fs::program_file;
use heirloom_model::text::EscapedPath;
use heirloom_model::text::counted;
use heirloom_model::{ErrorKind, Fault, text};
use heirloom_server::{
    AgentSetup, HookSetup, HookSetupReport, HookState, LocalSetup, Setting, SettingChange,
    SettingEffect, SettingField, SettingLayer,
};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use toml::{Table, Value};

/// Setup of the project that a server was started for.
pub(crate) struct CliLocalSetup {
    /// The lock also serialises the changes of this process.
    session: Mutex<CliSession>,
}

impl CliLocalSetup {
    /// Creates the setup with the options of the command.
    pub(crate) fn new(session: &CliSession) -> Self {
        let mut session = session.fork();
        session.suppress_questions();
        Self {
            session: Mutex::new(session),
        }
    }

    fn session(&self) -> MutexGuard<'_, CliSession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LocalSetup for CliLocalSetup {
    fn settings(&self) -> Result<Vec<Setting>, Fault> {
        let session = self.session();
        let found = load_project(&session)?;
        let defaults = Config::defaults()?;
        let user = layer_values(&session, &found, Layer::User)?;
        let project = layer_values(&session, &found, Layer::Project)?;
        let one = |key: &'static ConfigKey| {
            let (default, _) = defaults.get(key)?;
            let (value, origin) = found.config.get(key)?;
            let description = describe_key(key.name);
            Some(Setting {
                key: key.name,
                description,
                sentence_bytes: first_sentence(description).len(),
                field: field_of(key.kind),
                value: value.to_string(),
                origin: match origin.layer {
                    Layer::Default => origin.layer.as_str().to_owned(),
                    Layer::User | Layer::Project | Layer::Environment | Layer::Flag => {
                        format!("{}: {}", origin.layer.as_str(), origin.place)
                    }
                },
                text: field_text(value),
                default: field_text(default),
                user: find_value(&user, key).map(field_text),
                project: find_value(&project, key).map(field_text),
                is_overridden: matches!(origin.layer, Layer::Environment | Layer::Flag),
                danger: key.trusted_only,
                effect: effect_of(key.name),
            })
        };
        Ok(KEYS.iter().filter_map(one).collect())
    }

    fn change_setting(
        &self,
        key: &str,
        layer: SettingLayer,
        value: Option<&str>,
    ) -> Result<Option<SettingChange>, Fault> {
        let session = self.session();
        let key = find_key(key)?;
        let value = value.map(|text| key.parse_field(text)).transpose();
        let value = value.map_err(Fault::usage)?;
        let place = load_project(&session)?;
        let file = layer_file(&session, &place, layer)?;
        let planned = plan_key_change(&file, config_layer(layer), key, value.as_ref())?;
        if planned.before.as_deref().unwrap_or_default() == planned.after {
            return Ok(None);
        }
        write_config(layer, &file, Some(&planned.after))?;
        Ok(Some(SettingChange {
            key: key.name,
            layer,
            effect: effect_of(key.name),
            file,
            before: planned.before,
            after: planned.after,
        }))
    }

    fn undo_setting(&self, change: &SettingChange) -> Result<(), Fault> {
        let _session = self.session();
        let layer = config_layer(change.layer);
        let now = read_config(&change.file, layer)?.map(|(_, text)| text);
        let now = now.unwrap_or_default();
        if now == change.after {
            return write_config(change.layer, &change.file, change.before.as_deref());
        }
        // Other keys were changed since: only this one is restored.
        let key = find_key(change.key)?;
        let value_in = |text: &str| -> Result<Option<Value>, Fault> {
            Ok(find_value(&parse_values(text)?, key).cloned())
        };
        if value_in(&now)? != value_in(&change.after)? {
            return Err(Fault::refused(format!("`{}` was changed since", key.name))
                .hint("nothing was undone"));
        }
        let before = value_in(change.before.as_deref().unwrap_or_default())?;
        let planned = plan_key_change(&change.file, layer, key, before.as_ref())?;
        write_config(change.layer, &change.file, Some(&planned.after))
    }

    fn agents(&self) -> Result<Vec<AgentSetup>, Fault> {
        let session = self.session();
        let start = session.start_folder()?;
        let programs = AgentProgram::ALL.into_iter();
        let named = programs.filter(|program| !program.executables().is_empty());
        Ok(named
            .map(|program| AgentSetup {
                name: program.as_str(),
                executables: program.executables(),
                is_on_path: is_on_path(session.env.get("PATH"), program.executables()),
                hooks: match program.hooks() {
                    Some(_) => [SettingLayer::User, SettingLayer::Project]
                        .map(|scope| hook_setup(&session, program, scope, &start))
                        .to_vec(),
                    None => Vec::new(),
                },
            })
            .collect())
    }

    fn change_hooks(
        &self,
        agent: &str,
        scope: SettingLayer,
        installs: bool,
    ) -> Result<HookSetupReport, Fault> {
        let session = self.session();
        let program: AgentProgram = agent.parse()?;
        let change = match installs {
            true => HookChange::Install,
            false => HookChange::Remove,
        };
        let start = session.start_folder()?;
        let scope = install_scope(scope);
        let plans = hook_installation::plan_changes(program, scope, change, &session.env, &start)?;
        let changed: Vec<_> = plans.iter().filter(|plan| plan.has_changes()).collect();
        for plan in &changed {
            plan.write(session.clock()?.now())?;
        }
        if !installs {
            let copies = hook_installation::find_conversation_copies(program, &session.env);
            hook_installation::remove_conversation_copies(&copies)?;
        }
        let notes = program.settings().filter(|_| installs).map(|format| {
            let project = match scope {
                InstallScope::Project => format.project_notes,
                InstallScope::User => &[],
            };
            let notes = format.notes.iter().chain(project);
            notes.map(|note| text::one_line(note)).collect()
        });
        Ok(HookSetupReport {
            is_changed: !changed.is_empty(),
            file: plans
                .first()
                .map_or_else(String::new, |plan| plan.file.to_escaped().to_string()),
            notes: notes.unwrap_or_default(),
        })
    }

    fn examine(&self) -> Result<Vec<HealthCheck>, Fault> {
        let session = self.session().fork();
        examine(&session.doctor()?, &session)
    }

    fn server_facts(&self) -> Result<Vec<(&'static str, String)>, Fault> {
        let session = self.session().fork();
        if load_project(&session)?.config.text("store.url").is_empty() {
            return Ok(Vec::new());
        }
        let status = fleet_status(None, &session, false)?;
        let programs: Vec<_> = (status.programs.iter())
            .map(|program| format!("{} ({})", program.version, program.connections))
            .collect();
        Ok(vec![
            ("Server version", status.server_version),
            (
                "Index lag",
                format!(
                    "{} not merged",
                    counted(status.unmerged_texts, "text is", "texts are")
                ),
            ),
            (
                "Vector lag",
                format!(
                    "{} no vector",
                    counted(status.unembedded_texts, "text has", "texts have")
                ),
            ),
            ("Connected programs", programs.join(", ")),
        ])
    }
}

/// Loads the settings of the served project without printing their warnings.
fn load_project(session: &CliSession) -> Result<FoundProject, Fault> {
    let place = session.project_place().ok_or_else(|| {
        Fault::not_found("this folder has no memory").hint("`heirloom init` creates one")
    })?;
    session.load_project(place)
}

fn find_key(name: &str) -> Result<&'static ConfigKey, Fault> {
    ConfigKey::by_name(name).ok_or_else(|| {
        let name = text::excerpt(name, 60);
        Fault::not_found(format!("there is no key `{name}`"))
            .hint("`heirloom config` lists every key")
    })
}

fn config_layer(layer: SettingLayer) -> Layer {
    match layer {
        SettingLayer::User => Layer::User,
        SettingLayer::Project => Layer::Project,
    }
}

fn install_scope(scope: SettingLayer) -> InstallScope {
    match scope {
        SettingLayer::User => InstallScope::User,
        SettingLayer::Project => InstallScope::Project,
    }
}

/// Returns the config file of a layer.
fn layer_file(
    session: &CliSession,
    found: &FoundProject,
    layer: SettingLayer,
) -> Result<PathBuf, Fault> {
    match layer {
        SettingLayer::Project => Ok(found.place.config.clone()),
        SettingLayer::User => session.env.user_config().ok_or_else(|| {
            Fault::failed("there is no folder for your config").hint("set HOME or XDG_CONFIG_HOME")
        }),
    }
}

/// Reads the values of a layer's file; empty if it does not exist.
fn layer_values(session: &CliSession, found: &FoundProject, layer: Layer) -> Result<Table, Fault> {
    let file = match layer {
        Layer::Project => Some(found.place.config.clone()),
        Layer::User => session.env.user_config(),
        Layer::Default | Layer::Environment | Layer::Flag => None,
    };
    let Some(file) = file else {
        return Ok(Table::new());
    };
    let text = read_config(&file, layer)?.map(|(_, text)| text);
    parse_values(text.as_deref().unwrap_or_default())
}

/// Writes a config file, or removes it. The user's file may be a link to a folder of dotfiles; a link in a project could
/// lead to any file, so it is replaced.
fn write_config(layer: SettingLayer, file: &Path, text: Option<&str>) -> Result<(), Fault> {
    let Some(text) = text else {
        return store_access::remove_file(file);
    };
    if layer == SettingLayer::User && file.exists() {
        return store_access::replace_foreign(file, text.as_bytes());
    }
    if let Some(folder) = file.parent().filter(|folder| !folder.is_dir()) {
        store_access::create_folder(folder)?;
    }
    store_access::write_file(file, text.as_bytes())
}

fn field_of(kind: ValueType) -> SettingField {
    match kind {
        ValueType::Bool => SettingField::Switch,
        ValueType::Int(low, high) => SettingField::Number(low, high),
        ValueType::Word(words) => SettingField::Choice(words),
        ValueType::Texts => SettingField::Lines,
        ValueType::Text
        | ValueType::DatabaseAddress
        | ValueType::Price
        | ValueType::Temperature
        | ValueType::Tools => SettingField::Text,
    }
}

/// Returns the time at which a change of a key takes effect.
fn effect_of(name: &str) -> SettingEffect {
    match name {
        // The hooks of a session read them; the engine of the server only uses the switch of lessons.
        "hooks.learn" => SettingEffect::Now,
        // The store and the identity of the served project are chosen at the start.
        "project.name" | "store.url" => SettingEffect::Restart,
        _ if name.starts_with("window.") => SettingEffect::Restart,
        _ if ["run.", "writer.", "hooks."]
            .iter()
            .any(|part| name.starts_with(part)) =>
        {
            SettingEffect::NextCommand
        }
        _ => SettingEffect::Now,
    }
}

fn is_on_path(path: Option<&str>, executables: &[&str]) -> bool {
    let folders = std::env::split_paths(path.unwrap_or_default());
    let mut folders = folders.filter(|folder| folder.is_absolute());
    folders.any(|folder| {
        executables
            .iter()
            .any(|name| program_file(&folder.join(name)).is_some())
    })
}

/// Returns the state of the hooks of a program in one settings file.
fn hook_setup(
    session: &CliSession,
    program: AgentProgram,
    layer: SettingLayer,
    start: &Path,
) -> HookSetup {
    let scope = install_scope(layer);
    let plan = |change| hook_installation::plan_change(program, scope, change, &session.env, start);
    let plans = plan(HookChange::Install).and_then(|add| Ok((add, plan(HookChange::Remove)?)));
    match plans {
        Err(fault) => HookSetup {
            scope: layer,
            state: HookState::Unusable(match fault.kind {
                ErrorKind::Refused | ErrorKind::Usage => fault.message,
                ErrorKind::Failed | ErrorKind::NotFound | ErrorKind::Interrupted => {
                    fault.to_string()
                }
            }),
            file: String::new(),
            entries: String::new(),
        },
        Ok((add, remove)) => {
            let file = add.file.to_escaped().to_string();
            HookSetup {
                scope: layer,
                state: match (add.has_changes(), remove.has_changes()) {
                    (false, _) => HookState::Installed,
                    (true, true) => HookState::Outdated,
                    (true, false) => HookState::Missing,
                },
                entries: added_entries(program),
                file,
            }
        }
    }
}

/// Returns the text that an installation adds to an empty settings file. The change of the user's own file is not shown,
/// because such files often contain keys of services.
fn added_entries(program: AgentProgram) -> String {
    let editor = program.settings().map(|format| format.editor);
    let added = editor.and_then(|editor| editor.add("").ok());
    added.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_with_hooks_has_entries() {
        for program in AgentProgram::with_hooks() {
            assert!(added_entries(program).contains("heirloom"), "{program}");
        }
    }

    #[test]
    fn executable_is_found_in_absolute_folders_of_path() {
        let folder = store_access::temporary_folder("path-").unwrap();
        let path = format!(".:{}", folder.path().display());
        assert!(!is_on_path(Some(&path), &["claude"]));
        store_access::write_file(&folder.path().join("claude"), b"").unwrap();
        assert!(is_on_path(Some(&path), &["codex", "claude"]));
        assert!(!is_on_path(None, &["claude"]));
    }
}
