//! Whose transcript it is, by the folder in which it was recorded.

use super::Engine;
use crate::places;
use crate::transcripts::{Agent, Head};
use heirloom_model::limits;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Where a transcript was recorded, seen from the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Belongs {
    /// In the project's own folder.
    Here(PathBuf),
    /// In a folder of it.
    Inside(PathBuf),
    /// Elsewhere.
    Elsewhere(String),
    /// Nothing is recorded.
    Unknown,
}

/// The file beside Gemini's conversations that names their folder.
const GEMINI_ROOT: &str = ".project_root";

impl Engine {
    /// Where the transcript at `path` belongs. What was recorded in `as_here` counts as this project's.
    pub(super) fn belongs(
        &self,
        agent: Agent,
        path: &Path,
        head: &Head,
        as_here: Option<&Path>,
    ) -> Belongs {
        let recorded = match agent {
            Agent::Claude | Agent::Codex => head.folder.clone(),
            Agent::Gemini => gemini_root(path),
            Agent::Aider => std::path::absolute(path)
                .ok()
                .and_then(|path| Some(path.parent()?.to_string_lossy().into_owned())),
        };
        let Some(folder) = recorded else {
            return match &head.folder_hash {
                Some(hash) if is_hash_of(hash, &self.root) => Belongs::Here(self.root.clone()),
                Some(hash) => Belongs::Elsewhere(format!("a folder with the SHA-256 {hash}")),
                None => Belongs::Unknown,
            };
        };
        let place = Path::new(&folder);
        if let Some(below) = as_here.and_then(|known| place.strip_prefix(known).ok()) {
            return self.here_or_inside(below, place);
        }
        if !place.is_absolute() {
            return Belongs::Elsewhere(folder);
        }
        match places::find_root(place) {
            // A linked worktree is the project too; a project inside of it is another one.
            Some(found) if same(&found.folder, &self.folder) => {
                let real = place.canonicalize().unwrap_or_else(|_| place.to_owned());
                let below = real.strip_prefix(&found.root).unwrap_or(Path::new(""));
                self.here_or_inside(below, &found.root.join(below))
            }
            _ => Belongs::Elsewhere(folder),
        }
    }

    fn here_or_inside(&self, below: &Path, folder: &Path) -> Belongs {
        match below.as_os_str().is_empty() {
            true => Belongs::Here(folder.to_owned()),
            false => Belongs::Inside(folder.to_owned()),
        }
    }

    /// The folder below which a transcript's files are the project's: where the project lay when it was written.
    pub(super) fn base_of(&self, folder: &Path, as_here: Option<&Path>) -> PathBuf {
        match as_here.filter(|known| folder.starts_with(known)) {
            Some(known) => known.to_owned(),
            None => places::find_root(folder).map_or_else(|| self.root.clone(), |place| place.root),
        }
    }

    /// A file that a transcript names, relative to the project's root; `None` outside of it.
    pub(super) fn file_inside(&self, base: &Path, folder: &Path, named: &str) -> Option<String> {
        if named.len() > limits::PATH_BYTES_MAX || named.contains('\0') {
            return None;
        }
        let path = folder.join(named);
        let path = path.strip_prefix(base).unwrap_or(&path);
        places::normalise_inside(&self.root, &path.to_string_lossy()).ok()
    }
}

fn same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}

/// What the file beside the conversations says.
fn gemini_root(path: &Path) -> Option<String> {
    let folders = path.ancestors().skip(1).take(4);
    let found = folders.map(|folder| folder.join(GEMINI_ROOT));
    let bytes = found
        .filter_map(|file| places::whole_file(&file, limits::PATH_BYTES_MAX as u64).ok())
        .next()?;
    let said = String::from_utf8(bytes).ok()?;
    let said = said.trim();
    (!said.is_empty()).then(|| said.to_owned())
}

fn is_hash_of(hash: &str, root: &Path) -> bool {
    let digest = Sha256::digest(root.to_string_lossy().as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.eq_ignore_ascii_case(hash)
}
