//! The identity of a project: the name under which its store keeps what it remembers.
//!
//! An explicit name is used as it is. Any other name is derived once, from a remote or a path, and then recorded in the
//! store with the project's location, so that a rename, a move, a copy, a mount or a new remote changes nothing.

use heirloom_fs::file_metadata;
use heirloom_fs::project_fs::{self, Location, ProjectPaths};
use heirloom_model::{Clock, Fault, IdSource, ProjectName, RecordId, SystemClock};
use heirloom_store::{DATABASE, ProjectLocation, ProjectSummary, ProjectSurvey, SqliteStore};
use std::path::{Path, PathBuf};

/// Prefix of a location that marks a project of the store as imported into another one.
const ADOPTED: &str = "adopted:";

/// A project's identity in its store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The identity as the store keeps it.
    pub recorded: ProjectLocation,
    /// The location of the project.
    pub location: Location,
}

/// The decision of a person about a copy of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyDecision {
    /// It is the same project and keeps its identity.
    Same,
    /// It is another project from now on, with a copy of the memory.
    New,
}

/// The state of a project's identity, for `status` and `doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdentityState {
    /// The short name of the project for people.
    pub display_name: String,
    /// The folder of the other copy, if the user has not decided yet about this one.
    pub copied_from: Option<String>,
    /// Other projects in the store without a location.
    pub others: Vec<ProjectSummary>,
}

impl Identity {
    /// Reads the identity of the project at `place` from its store, and records it the first time.
    ///
    /// A folder that has moved is recorded; a copy of another store is marked as one. What cannot be recorded now is
    /// found again the next time.
    pub fn load(store: &SqliteStore, place: &ProjectPaths) -> Result<Self, Fault> {
        let location = Location::of(place);
        let recorded = match store.location(&location.name)? {
            Some(recorded) => recorded,
            None => {
                let derived = derived_name(place)?;
                let choose = |survey: &ProjectSurvey| choose(survey, &location, &derived);
                store.claim_location(&location.name, choose)?
            }
        };
        let mut identity = Self { recorded, location };
        identity.update_location(store);
        Ok(identity)
    }

    /// Returns the identity that [`Identity::load`] would give the project in a store with this survey.
    pub fn from_survey(survey: &ProjectSurvey, place: &ProjectPaths) -> Result<Self, Fault> {
        let location = Location::of(place);
        let is_it = |recorded: &&ProjectLocation| recorded.location == location.name;
        let recorded = match survey.locations.iter().find(is_it) {
            Some(recorded) => recorded.clone(),
            None => choose(survey, &location, &derived_name(place)?),
        };
        Ok(Self { recorded, location })
    }

    /// Returns the project's name in the store.
    pub fn project(&self) -> &ProjectName {
        &self.recorded.name
    }

    /// Returns the folder of a project that is called by its path; `None` for any other name.
    pub fn home_of_name(name: &ProjectName) -> Option<PathBuf> {
        old_home(name)
    }

    /// Returns the short name for people.
    pub fn display_name(&self) -> String {
        self.location.display_name(self.recorded.name.as_str())
    }

    /// Returns the folder of the other copy, if it still exists and the user has not decided yet about this one.
    pub fn copied_from(&self) -> Option<&str> {
        let from = self.recorded.copied_from.as_deref();
        from.filter(|from| database_in(Path::new(from)).exists())
    }

    /// Returns the folder of the other copy if the user was not asked about it before, and records the question.
    pub fn take_question(&mut self, store: &SqliteStore) -> Option<String> {
        let from = self
            .copied_from()
            .filter(|_| !self.recorded.question_shown)?
            .to_owned();
        self.recorded.question_shown = true;
        drop(store.put_location(&self.recorded));
        Some(from)
    }

    /// Returns the state of the identity for the user.
    pub fn state(&self, survey: &ProjectSurvey) -> IdentityState {
        let others = unclaimed(survey, &self.location);
        let others = others.filter(|other| {
            other.records > 0
                && other.name != self.recorded.name
                && self.location.may_be_called(other.name.as_str())
        });
        IdentityState {
            display_name: self.display_name(),
            copied_from: self.copied_from().map(str::to_owned),
            others: others.cloned().collect(),
        }
    }

    /// Records the user's decision about a copy. Errors: `Usage` if the store already has a project with the name
    /// derived from the path.
    pub fn decide(&mut self, store: &SqliteStore, decision: CopyDecision) -> Result<(), Fault> {
        let mut decided = self.recorded.clone();
        decided.copied_from = None;
        decided.question_shown = true;
        if decision == CopyDecision::New {
            decided.store = new_store_id();
            decided.name = checked(&self.location.path_name())?;
        }
        store.rename_project(&self.recorded.name, &decided)?;
        self.recorded = decided;
        Ok(())
    }

    /// Assigns the project `name` of the store to this location.
    pub fn switch_to(&mut self, store: &SqliteStore, name: &ProjectName) -> Result<(), Fault> {
        let mut switched = self.recorded.clone();
        switched.name = name.clone();
        store.put_location(&switched)?;
        self.recorded = switched;
        Ok(())
    }

    /// Records that the project `name` was imported, so that it is not offered again.
    pub fn mark_adopted(&self, store: &SqliteStore, name: &ProjectName) -> Result<(), Fault> {
        let adopted = ProjectLocation {
            location: format!("{ADOPTED}{name}"),
            name: name.clone(),
            copied_from: None,
            ..self.recorded.clone()
        };
        Ok(store.put_location(&adopted)?)
    }

    /// Records the current folder of the project, and the other one if this is a copy.
    fn update_location(&mut self, store: &SqliteStore) {
        let home = self.location.home.to_string_lossy();
        if self.recorded.home == home {
            return;
        }
        let mut moved = self.recorded.clone();
        if self.location.is_inside {
            match self.inspect_old_home() {
                OldHome::Left => {}
                OldHome::Copied => {
                    moved.copied_from = Some(self.recorded.home.clone());
                    moved.question_shown = false;
                }
                OldHome::Same | OldHome::Unknown => return,
            }
        }
        moved.home = home.into_owned();
        drop(store.put_location(&moved));
        self.recorded = moved;
    }

    fn inspect_old_home(&self) -> OldHome {
        let old = database_in(Path::new(&self.recorded.home));
        let Some(there) = file_metadata::path_identity(&old) else {
            return OldHome::Left;
        };
        let here = file_metadata::path_identity(&database_in(&self.location.home));
        if here.is_some_and(|here| here == there) {
            return OldHome::Same;
        }
        match SqliteStore::survey_file(&old) {
            Ok(survey) => {
                let mut stores = survey.locations.iter().map(|location| location.store);
                match stores.any(|store| store == self.recorded.store) {
                    true => OldHome::Copied,
                    false => OldHome::Left,
                }
            }
            Err(_) => OldHome::Unknown,
        }
    }
}

/// State of the folder in which a store was opened last.
enum OldHome {
    /// The store is no longer there.
    Left,
    /// Another copy of the store is there.
    Copied,
    /// The same store is there, by another path.
    Same,
    /// The store there cannot be read now.
    Unknown,
}

/// Chooses the identity of a project without a recorded location: the store is new, or of an older version.
///
/// The derived name wins if the store has a project with it; otherwise the newest project that may be this one under
/// an older path or remote; otherwise the derived name.
fn choose(survey: &ProjectSurvey, location: &Location, derived: &ProjectName) -> ProjectLocation {
    let is_known = survey.projects.iter().any(|known| known.name == *derived);
    let mut unclaimed = unclaimed(survey, location);
    let older = unclaimed.rfind(|known| location.may_be_called(known.name.as_str()));
    let name = match older {
        Some(older) if !is_known => older.name.clone(),
        Some(_) | None => derived.clone(),
    };
    let old_home = old_home(&name).filter(|_| location.is_inside && name != *derived);
    let copied_from = old_home.filter(|old| is_other_store(old, &location.home));
    ProjectLocation {
        location: location.name.clone(),
        name,
        home: location.home.to_string_lossy().into_owned(),
        store: new_store_id(),
        copied_from: copied_from.map(|old| old.to_string_lossy().into_owned()),
        question_shown: false,
    }
}

/// Lists the projects of a store without a location, oldest first.
fn unclaimed<'s>(
    survey: &'s ProjectSurvey,
    location: &'s Location,
) -> impl DoubleEndedIterator<Item = &'s ProjectSummary> {
    // A bare repository that was renamed or removed has no valid location.
    let is_live = |claim: &&ProjectLocation| {
        let name = &claim.location;
        name == "." || name.starts_with(ADOPTED) || location.home.join(name).exists()
    };
    survey.projects.iter().filter(move |known| {
        let mut claims = survey.locations.iter().filter(is_live);
        !claims.any(|claim| claim.name == known.name)
    })
}

/// Returns the folder of a project whose name is its path.
fn old_home(name: &ProjectName) -> Option<PathBuf> {
    let path = Path::new(name.as_str());
    let path = path.is_absolute().then_some(path)?;
    match path.file_name() {
        Some(last) if last == ".git" || last == ".bare" => path.parent().map(Path::to_owned),
        Some(_) | None => Some(path.to_owned()),
    }
}

fn is_other_store(old: &Path, home: &Path) -> bool {
    let [old, here] = [old, home].map(|home| file_metadata::path_identity(&database_in(home)));
    old.is_some() && here.is_some() && old != here
}

fn database_in(home: &Path) -> PathBuf {
    home.join(project_fs::HEIRLOOM_FOLDER).join(DATABASE)
}

fn derived_name(place: &ProjectPaths) -> Result<ProjectName, Fault> {
    checked(&project_fs::project_name(&place.root, None))
}

fn checked(name: &str) -> Result<ProjectName, Fault> {
    ProjectName::new(name).map_err(|error| {
        Fault::usage(error.to_string()).hint("set `name` under `[project]`, or give --project NAME")
    })
}

fn new_store_id() -> RecordId {
    IdSource::default().next(SystemClock.now())
}
