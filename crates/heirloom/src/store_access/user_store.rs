//! Stores in the user's data folder, and their assignment to projects.
//!
//! The name of such a folder is derived from the project's name, which changes with the project's path or remote. So
//! each folder has a file with the homes of its project, one path per line, and a project is first searched by its
//! home. An empty file means that the store was replaced by another one.

use super::CliSession;
use heirloom_engine::Identity;
use heirloom_engine::ImportReport;
use heirloom_fs::durable;
use heirloom_fs::project_fs::{self, Location, ProjectPaths};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits, text};
use heirloom_store::{DATABASE, SqliteStore};
use std::path::{Path, PathBuf};

/// File with the homes of a store's project.
const HOMES: &str = "homes";
/// Maximum number of folders for projects with the same name.
const FOLDERS_MAX: usize = 100;

/// A store in the user's data folder.
#[derive(Debug, Clone)]
struct UserStore {
    folder: PathBuf,
    /// `None` if no home was recorded yet.
    homes: Option<Vec<PathBuf>>,
}

/// A store in the user's data folder whose project is no longer in any of the recorded folders.
#[derive(Debug, Clone)]
pub(crate) struct LostStore {
    /// The folder of the store.
    pub(crate) folder: PathBuf,
    /// The last folder of its project.
    pub(crate) home: PathBuf,
    /// The number of its current records.
    pub(crate) records: u64,
}

/// An adopted memory.
pub(crate) struct Adopted {
    /// The project or folder that it came from.
    pub(crate) from: String,
    pub(crate) report: ImportReport,
}

impl Adopted {
    pub(super) fn new(from: &str, report: ImportReport) -> Self {
        Self {
            from: from.to_owned(),
            report,
        }
    }
}

impl UserStore {
    fn at(folder: PathBuf) -> Self {
        let read = project_fs::read_bounded(&folder.join(HOMES), limits::STORE_HOMES_BYTES_MAX);
        let homes = read.ok().map(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            text.lines().map(PathBuf::from).collect()
        });
        Self { folder, homes }
    }

    fn has_home(&self, home: &Path) -> bool {
        let homes = self.homes.as_deref().unwrap_or_default();
        homes.iter().any(|known| known == home)
    }

    /// Returns true unless the store was replaced by another one.
    fn is_in_use(&self) -> bool {
        self.homes.as_ref().is_none_or(|homes| !homes.is_empty())
    }
}

/// The user's data folder, with the stores of projects that have no memory of their own folder.
pub(crate) struct UserStores {
    /// `None` if the environment has no data folder.
    data: Option<PathBuf>,
}

impl UserStores {
    /// Finds the store in the user's data folder for the project around `start`.
    pub(super) fn find_user_place(&self, start: &Path) -> Result<ProjectPaths, Fault> {
        let stores = self.with_homes();
        let boundary = project_fs::search_boundary(start);
        let within = |folder: &&Path| {
            boundary
                .as_ref()
                .is_none_or(|boundary| folder.starts_with(boundary))
        };
        let mut places = start.ancestors().take_while(within).filter_map(|folder| {
            self.known_place(&project_fs::new_project_paths(folder).root, &stores)
        });
        places.next().ok_or_else(|| {
            Fault::not_found(format!(
                "no Heirloom project in {} or above it",
                start.to_escaped()
            ))
            .hint("run `heirloom init` in the project's folder")
        })
    }

    /// Returns the place in the user's data folder for the memory of the project in `root`, even if it does not exist
    /// yet: by the recorded home, else by the project's name. `None` if there is no data folder.
    pub(crate) fn user_place(&self, root: &Path) -> Option<ProjectPaths> {
        self.known_place(root, &self.with_homes())
            .or_else(|| self.new_user_place(root))
    }

    fn known_place(&self, root: &Path, stores: &[UserStore]) -> Option<ProjectPaths> {
        let home = home_of(root);
        let by_home = stores.iter().find(|store| store.has_home(&home));
        let folder = match by_home {
            Some(store) => store.folder.clone(),
            None => self
                .named_folders(root)?
                .find(|folder| is_free(folder, root))?,
        };
        let place = place_in(folder, root);
        place.config.is_file().then_some(place)
    }

    /// Returns the place for a new store.
    fn new_user_place(&self, root: &Path) -> Option<ProjectPaths> {
        let folder = self
            .named_folders(root)?
            .find(|folder| is_free(folder, root))?;
        Some(place_in(folder, root))
    }

    /// Returns the folders for the name of the project in `root`, in order of preference.
    fn named_folders(&self, root: &Path) -> Option<impl Iterator<Item = PathBuf> + use<>> {
        let name = project_fs::project_name(root, None);
        let readable: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let readable = text::clip_start(&readable, 80)
            .trim_start_matches(['.', '-'])
            .to_owned();
        let data = self.data.clone()?;
        Some((0..FOLDERS_MAX).map(move |n| {
            let hash = match n {
                0 => text::hash16(&name),
                n => text::hash16(&format!("{name}\n{n}")),
            };
            data.join(format!("{readable}-{hash}"))
        }))
    }

    /// Lists the stores with a recorded home.
    fn with_homes(&self) -> Vec<UserStore> {
        let entries = self.data.as_ref().and_then(|data| data.read_dir().ok());
        let folders = entries.into_iter().flatten().flatten();
        let stores = folders.map(|folder| UserStore::at(folder.path()));
        stores.filter(|store| store.homes.is_some()).collect()
    }

    /// Lists the stores in the user's data folder whose projects are no longer in any of the recorded folders.
    pub(crate) fn lost_stores(&self) -> Vec<LostStore> {
        let Some(entries) = self.data.as_ref().and_then(|data| data.read_dir().ok()) else {
            return Vec::new();
        };
        let folders = entries.flatten().map(|entry| entry.path());
        let stores = folders.filter(|folder| folder.join(project_fs::CONFIG_FILE).is_file());
        let mut lost: Vec<_> = stores.map(UserStore::at).filter_map(lost).collect();
        lost.sort_by(|one, other| one.home.cmp(&other.home));
        lost
    }
}

/// Records the home of the project whose store is in the user's data folder, unless it is already recorded.
pub(super) fn record_home(place: &ProjectPaths) {
    let store = UserStore::at(place.folder.clone());
    let home = home_of(&place.root);
    if store.has_home(&home) {
        return;
    }
    let mut homes = store.homes.unwrap_or_default();
    homes.push(home);
    // Best effort: until the project's name changes, the store is also found by it.
    drop(write_homes(&place.folder, &homes));
}

impl CliSession {
    /// Returns the stores in the user's data folder.
    pub(crate) fn user_stores(&self) -> UserStores {
        UserStores {
            data: self.env.data_dir(),
        }
    }

    /// Assigns the store of a moved project to the project in `root`; records that were stored for `root` in the
    /// meantime are merged into it.
    ///
    /// Errors: `NotFound` if no store belongs to `wanted`, a folder that no longer exists.
    pub(crate) fn adopt_user_store(
        &mut self,
        wanted: &str,
        root: &Path,
    ) -> Result<(ProjectPaths, Adopted), Fault> {
        let lost = self.user_stores().lost_stores();
        let is_it = |store: &&LostStore| store.home == Path::new(wanted);
        let Some(store) = lost.iter().find(is_it) else {
            let known: Vec<_> = lost
                .iter()
                .map(|one| one.home.to_escaped().to_string())
                .collect();
            let hint = match known.is_empty() {
                true => "no memory in your data folder belongs to a missing folder".to_owned(),
                false => format!(
                    "these folders are missing and have a memory: {}",
                    known.join(", ")
                ),
            };
            let wanted = text::excerpt(wanted, 200);
            return Err(Fault::not_found(format!("no memory of the folder {wanted}")).hint(hint));
        };
        let adopted = place_in(store.folder.clone(), root);
        let stores = self.user_stores();
        let current = stores.known_place(root, &stores.with_homes());
        let current = current.filter(|current| current.folder != adopted.folder);
        let mut report = ImportReport::default();
        if let Some(current) = &current {
            let (from, to) = (
                self.load_project(current.clone())?,
                self.load_project(adopted.clone())?,
            );
            let from = self.engine(&from)?;
            report = self.engine(&to)?.imports().import_project(&from)?;
            if let Some(left) = report.diagnostics.first() {
                let message = format!("not everything could be adopted: {}", left.message);
                return Err(Fault::failed(message).hint("both memories stay unchanged"));
            }
            write_homes(&current.folder, &[])?;
        }
        write_homes(&adopted.folder, &[home_of(root)])?;
        report.created += store.records;
        Ok((adopted, Adopted::new(wanted, report)))
    }
}

fn place_in(folder: PathBuf, root: &Path) -> ProjectPaths {
    ProjectPaths {
        root: root.to_owned(),
        config: folder.join(project_fs::CONFIG_FILE),
        folder,
    }
}

/// Returns the folder that is recorded as the home of the project in `root`.
fn home_of(root: &Path) -> PathBuf {
    let nowhere = PathBuf::new();
    let outside = ProjectPaths {
        root: root.to_owned(),
        folder: nowhere.clone(),
        config: nowhere,
    };
    Location::of(&outside).folder()
}

/// Returns true if the store in a folder derived from the project's name does not belong to another project. Clones
/// of one remote share a store.
fn is_free(folder: &Path, root: &Path) -> bool {
    let store = UserStore::at(folder.to_owned());
    let by_path = project_fs::is_path_name(&project_fs::project_name(root, None));
    store.is_in_use() && (!by_path || store.homes.is_none() || store.has_home(&home_of(root)))
}

/// Returns the store as lost if its project is in none of its homes.
fn lost(store: UserStore) -> Option<LostStore> {
    let survey = SqliteStore::survey_file(&store.folder.join(DATABASE)).ok()?;
    let records = survey.projects.iter().map(|project| project.records).sum();
    let homes = match store.homes {
        Some(homes) => homes,
        // Stores of older versions have no homes file; their projects are named by their paths.
        None => {
            let names = survey.projects.iter().rev();
            let homes = names.filter_map(|project| Identity::home_of_name(&project.name));
            homes.collect()
        }
    };
    let is_gone = homes.iter().all(|home| !home.exists());
    let home = homes.into_iter().next_back()?;
    (is_gone && records > 0).then_some(LostStore {
        folder: store.folder,
        home,
        records,
    })
}

fn write_homes(folder: &Path, homes: &[PathBuf]) -> Result<(), Fault> {
    let lines: Vec<_> = homes.iter().filter_map(|home| home.to_str()).collect();
    let one_line = lines.iter().filter(|line| !line.contains(['\n', '\r']));
    let text: String = one_line.map(|line| format!("{line}\n")).collect();
    Ok(durable::write_atomic(&folder.join(HOMES), text.as_bytes())?)
}
