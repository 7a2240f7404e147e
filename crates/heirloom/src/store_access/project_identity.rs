//! Identity of the project that a command is about.

use super::database_server::shared_name;
use super::memory_trust::MemoryGate;
use super::user_store::{Adopted, record_home};
use super::{CliSession, FoundProject};
use crate::config::Config;
use heirloom_engine::{CheckLevel, HealthCheck, ImportReport};
use heirloom_engine::{CopyDecision, Identity, IdentityState};
use heirloom_fs::project_fs::{self, Location, ProjectPaths};
use heirloom_model::text::counted;
use heirloom_model::{Fault, ProjectName, text};
use heirloom_store::{DATABASE, ProjectSummary, SqliteStore};

/// Commands that decide the identity of a copy.
pub(crate) const DECIDES: &str = "`heirloom init --identity same` keeps its identity, `heirloom init --identity new` makes it a project of its own";

/// Project name in the store, and the display name.
pub(super) struct ResolvedName {
    pub(super) project: ProjectName,
    pub(super) display_name: Option<String>,
}

impl CliSession {
    /// Finds the project's name: the explicit one, else its identity in the store. Prints a
    /// question about the identity of a copy once.
    pub(super) fn name_project(
        &mut self,
        store: &SqliteStore,
        found: &FoundProject,
    ) -> Result<ResolvedName, Fault> {
        if let Some(project) = explicit_name(found)? {
            return Ok(ResolvedName {
                project,
                display_name: None,
            });
        }
        let mut identity = Identity::load(store, &found.place)?;
        if !identity.location.is_inside {
            record_home(&found.place);
        }
        if !self.suppresses_questions
            && let Some(from) = identity.take_question(store)
        {
            let question = copy_question(&identity, &from);
            self.out.talk(&format!("heirloom: {question} {DECIDES}"));
        }
        Ok(ResolvedName {
            project: identity.project().clone(),
            display_name: Some(identity.display_name()),
        })
    }

    /// Records `decision`; without one, asks at the terminal about the identity of a copy, unless `asks_nothing` is
    /// set. Returns true if a decision was made.
    pub(crate) fn decide_identity(
        &mut self,
        found: &FoundProject,
        decision: Option<CopyDecision>,
        asks_nothing: bool,
    ) -> Result<bool, Fault> {
        if !found.config.text("store.url").is_empty() {
            return Ok(false);
        }
        if explicit_name(found)?.is_some() {
            return match decision {
                None => Ok(false),
                Some(_) => Err(Fault::usage(
                    "this project has an explicit name, which is its identity",
                )
                .hint("change `name` under `[project]` in its config.toml")),
            };
        }
        let place = &found.place;
        let gate = MemoryGate::new(self);
        let store = gate.open_own_store(&gate.local_memory_trust(place)?)?;
        let mut identity = Identity::load(&store, place)?;
        let decision = match (decision, identity.copied_from()) {
            (Some(decision), _) => decision,
            (None, Some(from)) if !asks_nothing && self.out.can_ask() => {
                let question = copy_question(&identity, from);
                let question = format!("{question} Is it a project of its own from now on?");
                match self.out.ask(&question)? {
                    true => CopyDecision::New,
                    false => CopyDecision::Same,
                }
            }
            (None, _) => return Ok(false),
        };
        let before = identity.project().clone();
        identity.decide(&store, decision)?;
        drop(store);
        let engine = self.engine(found)?;
        if *identity.project() != before {
            engine
                .sessions()
                .import_working_memories(&engine.for_project(before.clone()))?;
            engine
                .maintenance()
                .tokens()
                .rename_project(&before, identity.project())?;
        }
        Ok(true)
    }

    /// Merges the records of the stored project `wanted` into this project's memory.
    ///
    /// The other memory stays in the store. It is offered again if a part of it could not be imported. Errors:
    /// `NotFound` if the store has no such project.
    pub(crate) fn adopt_project(
        &mut self,
        found: &FoundProject,
        wanted: &str,
    ) -> Result<Adopted, Fault> {
        let place = &found.place;
        let gate = MemoryGate::new(self);
        let store = gate.open_own_store(&gate.local_memory_trust(place)?)?;
        let survey = store.survey()?;
        let named = |known: &&ProjectSummary| known.name.as_str() == wanted;
        let Some(adopted) = survey.projects.iter().find(named) else {
            let known: Vec<_> = survey.projects.iter().map(|p| p.name.to_string()).collect();
            let wanted = text::excerpt(wanted, 200);
            return Err(
                Fault::not_found(format!("this store has no project `{wanted}`"))
                    .hint(format!("it has: {}", known.join(", "))),
            );
        };
        let mut identity = Identity::load(&store, place)?;
        let is_explicit = explicit_name(found)?.is_some();
        let is_empty = !(survey.projects.iter()).any(|known| known.name == *identity.project());
        if is_empty && !is_explicit {
            identity.switch_to(&store, &adopted.name)?;
            let report = ImportReport {
                created: adopted.records,
                ..ImportReport::default()
            };
            return Ok(Adopted::new(wanted, report));
        }
        let engine = self.engine(found)?;
        if *engine.project() == adopted.name {
            return Ok(Adopted::new(wanted, ImportReport::default()));
        }
        let report = engine
            .imports()
            .import_project(&engine.for_project(adopted.name.clone()))?;
        if report.diagnostics.is_empty() {
            identity.mark_adopted(&store, &adopted.name)?;
        }
        Ok(Adopted::new(wanted, report))
    }

    /// Returns the identity facts for people about the project at `place`; changes nothing. An explicit
    /// name needs none.
    pub(crate) fn identity_state(&self, place: &ProjectPaths) -> IdentityState {
        let config = Config::load(&self.env, Some(&place.config), &self.global.set);
        let explicit = config.map(|config| config.text("project.name").trim().to_owned());
        if let Ok(explicit) = explicit.as_ref()
            && !explicit.is_empty()
        {
            return IdentityState {
                display_name: project_fs::display_name(explicit),
                ..IdentityState::default()
            };
        }
        if let Ok(config) = Config::load(&self.env, Some(&place.config), &self.global.set)
            && !config.text("store.url").is_empty()
        {
            let name = shared_name(place, "").map(|name| name.to_string());
            return IdentityState {
                display_name: project_fs::display_name(&name.unwrap_or_default()),
                ..IdentityState::default()
            };
        }
        // A database that cannot be read is reported by the command that opens it.
        let is_own = MemoryGate::new(self).local_memory_trust(place);
        let is_own = is_own.is_ok_and(|trust| trust.require_own(trust.origin()).is_ok());
        let survey = is_own.then(|| SqliteStore::survey_file(&place.folder.join(DATABASE)));
        let survey = survey.and_then(Result::ok);
        let state = survey.and_then(|survey| {
            let identity = Identity::from_survey(&survey, place).ok()?;
            Some(identity.state(&survey))
        });
        state.unwrap_or_else(|| IdentityState {
            display_name: Location::of(place).display_name("/"),
            ..IdentityState::default()
        })
    }

    /// Returns the project's name without opening the store.
    pub(super) fn name_from_outside(
        &self,
        place: &ProjectPaths,
        explicit: &str,
    ) -> Result<ProjectName, Fault> {
        let is_explicit = !explicit.trim().is_empty();
        if !is_explicit && let Ok(survey) = SqliteStore::survey_file(&place.folder.join(DATABASE)) {
            return Ok(Identity::from_survey(&survey, place)?.project().clone());
        }
        let name = project_fs::project_name(&place.root, Some(explicit));
        ProjectName::new(&name).map_err(|error| Fault::usage(error.to_string()))
    }
}

fn explicit_name(found: &FoundProject) -> Result<Option<ProjectName>, Fault> {
    let name = found.config.text("project.name").trim();
    if name.is_empty() {
        return Ok(None);
    }
    let name = ProjectName::new(name).map_err(|error| {
        Fault::usage(error.to_string()).hint("set `name` under `[project]`, or give --project NAME")
    })?;
    Ok(Some(name))
}

fn copy_question(identity: &Identity, from: &str) -> String {
    let name = identity.display_name();
    format!("`{name}` is a copy of the project in {from}, including its memory.")
}

/// Returns the commands that adopt other memories of the store, one per line.
pub(crate) fn offers(state: &IdentityState) -> Vec<String> {
    let offer = |other: &ProjectSummary| {
        let name = &other.name;
        let records = counted(other.records, "record", "records");
        let typed = shell_word(name.as_str());
        format!(
            "the store also has the memory of {name} ({records}): `heirloom init --adopt {typed}` adopts it"
        )
    };
    state.others.iter().map(offer).collect()
}

/// Quotes a word for a shell if necessary.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:@+,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Returns the identity check of `doctor`.
pub(crate) fn check(state: &IdentityState) -> HealthCheck {
    let mut findings = Vec::new();
    if let Some(from) = &state.copied_from {
        findings.push(format!("a copy of the project in {from}"));
    }
    let offers = offers(state);
    for other in &state.others {
        findings.push(format!(
            "the store also has the memory of {} ({})",
            other.name,
            counted(other.records, "record", "records")
        ));
    }
    let (level, message, hint) = if findings.is_empty() {
        (
            CheckLevel::Ok,
            format!("the project is `{}`", state.display_name),
            None,
        )
    } else {
        let decides = state.copied_from.as_ref().map(|_| DECIDES.to_owned());
        let hint: Vec<_> = decides.into_iter().chain(offers).collect();
        (CheckLevel::Warn, findings.join("; "), Some(hint.join("; ")))
    };
    HealthCheck {
        name: "identity",
        level,
        message,
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn shell_word_with_a_space_or_quote_is_quoted() {
        assert_eq!(shell_word("/x/p/.git"), "/x/p/.git");
        assert_eq!(shell_word("/x/it's mine"), r"'/x/it'\''s mine'");
        assert_eq!(shell_word(""), "''");
    }
}
