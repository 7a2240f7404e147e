//! Writer of the mirror: `memory.json`, rewritten as a whole after each iteration.

use super::Engine;
use super::record_import::ImportReport;
use heirloom_formats::mirror::{self, MirrorFormat, ParsedMirror};
use heirloom_fs::durable;
use heirloom_fs::project_fs::{self, DigestProblem, PathProblem};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::{Path, PathBuf};

/// Paths at which only mirrors are.
const USUAL_MIRRORS: [&str; 2] = [".heirloom/memory.json", ".agentium/memory.json"];

/// Outcome of loading an existing mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MirrorLoadOutcome {
    /// No mirror exists, or it has nothing that the store never had.
    Nothing,
    /// Entries of another program or a person were imported.
    Imported(ImportReport),
    /// It could not be read, or has entries of a stranger: it was set aside, and the next save writes a new one from
    /// the store.
    SetAside {
        /// Path of the file that was set aside.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
}

/// State of the mirror compared with the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MirrorState {
    /// No mirror exists.
    None,
    /// Its content is that of the store.
    Same,
    /// It differs, and the store was written after it.
    Older,
    /// It differs, although the store was not written after it.
    Different,
    /// Another program wrote it, and no run has imported it yet.
    Foreign,
    /// It cannot be read; with the problem.
    Unreadable(String),
    /// The store could not be read.
    Unknown,
}

/// Mirror file of a project: written after changes, and imported when another program has changed it.
#[derive(Clone, Copy)]
pub struct Mirror<'e> {
    pub(super) engine: &'e Engine,
}

impl Mirror<'_> {
    /// Returns the path of the mirror. Errors: `Usage` for a path outside the project; `Refused` for a link that
    /// leads out of it, and for a file of git or Heirloom.
    pub fn path(&self) -> Result<PathBuf, Fault> {
        self.path_for(&self.engine.settings.mirror_path)
    }

    /// Returns the path of a mirror for a configured value. Errors: as for [`Self::path`].
    pub fn path_for(&self, configured: &str) -> Result<PathBuf, Fault> {
        project_fs::resolve_mirror_path(&self.engine.root, &self.engine.folder, configured).map_err(
            |problem| {
                let message = format!("memory.file_path = `{configured}`: {problem}");
                match problem {
                    PathProblem::LinkLeadsOut(_) => {
                        Fault::refused(message).hint("remove the link; its target was not touched")
                    }
                    PathProblem::InsideGit(_) | PathProblem::HeirloomFile(_) => {
                        Fault::refused(message)
                            .hint("the mirror replaces the whole file: give it a name of its own")
                    }
                    PathProblem::Empty
                    | PathProblem::Nul
                    | PathProblem::TooLong(_)
                    | PathProblem::TooManyLinks(_)
                    | PathProblem::Outside(_)
                    | PathProblem::Root(_) => Fault::usage(message)
                        .hint("give a path inside the project, such as .heirloom/memory.json"),
                }
            },
        )
    }

    /// Imports an existing mirror before the first run; later, what another program or a person added to it.
    ///
    /// An unreadable mirror is always set aside, so that the next save does not destroy it.
    pub fn load(&self) -> Result<MirrorLoadOutcome, Fault> {
        let path = self.path()?;
        let Some(parsed) = read_mirror(&path)? else {
            return Ok(MirrorLoadOutcome::Nothing);
        };
        match parsed {
            Ok(parsed) if self.engine.sessions().latest_session()?.is_some() => {
                self.take_additions(&path, &parsed, &self.build()?)
            }
            Ok(_) if !self.is_trusted(&path) => Ok(MirrorLoadOutcome::Nothing),
            Ok(parsed) => {
                let source = format!("mirror {}", self.engine.settings.mirror_path);
                Ok(MirrorLoadOutcome::Imported(
                    self.engine.imports().import_mirror(parsed, &source)?,
                ))
            }
            Err(problem) => {
                let path = self.set_mirror_aside("corrupt")?;
                Ok(MirrorLoadOutcome::SetAside { path, problem })
            }
        }
    }

    /// Refuses to write over or move a file that is not provably a mirror: a configured path may name any file of the
    /// project, such as `package.json`. The usual places of mirrors need no proof, so that a damaged one is replaced.
    fn require_mirror(&self, path: &Path) -> Result<(), Fault> {
        let is_usual = USUAL_MIRRORS
            .iter()
            .any(|usual| self.path_for(usual).is_ok_and(|usual| usual == path));
        if is_usual {
            return Ok(());
        }
        match read_mirror(path)? {
            None => Ok(()),
            Some(Ok(parsed)) if parsed.has_mirror_keys => Ok(()),
            Some(found) => Err(Fault::refused(format!(
                "{} is not a mirror of a memory, and was left unchanged: {}",
                path.to_escaped(),
                found
                    .err()
                    .unwrap_or_else(|| "it has none of its keys".to_owned())
            ))
            .hint("set `memory.file_path` to a file of its own, such as .heirloom/memory.json")),
        }
    }

    /// Renames the mirror to `<name>.<why>-<time>`.
    pub(super) fn set_mirror_aside(&self, why: &str) -> Result<PathBuf, Fault> {
        let stamp = self.engine.now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let path = self.path()?;
        self.require_mirror(&path)?;
        Ok(durable::rename_with_suffix(
            &path,
            &format!("{why}-{stamp}"),
        )?)
    }

    /// Writes the mirror atomically.
    pub fn write(&self) -> Result<PathBuf, Fault> {
        let path = self.path()?;
        self.require_mirror(&path)?;
        self.engine
            .stale_mirrors
            .begin_refresh(&self.engine.project, None);
        if let Some(parent) = path.parent() {
            durable::create_dir_private(parent)?;
        }
        let mut file = self.build()?;
        if let Some(mut old) = read_mirror(&path)?.and_then(Result::ok) {
            // Redact first: another program may have written secrets, and entries are compared by redacted text.
            self.engine.redaction().redact_mirror(&mut old.file);
            file.preserve_unknown_fields(&old.file);
        }
        self.engine.redaction().redact_mirror(&mut file);
        durable::write_atomic(&path, &mirror::to_json(&file))?;
        Ok(path)
    }

    /// Writes an existing mirror again, from the store alone. Returns false without an existing mirror.
    pub(super) fn regenerate(&self) -> Result<bool, Fault> {
        // The mirror in the folder belongs to another project.
        if !self.engine.has_files {
            return Ok(false);
        }
        let path = self.path()?;
        if !path.is_file() {
            return Ok(false);
        }
        self.require_mirror(&path)?;
        durable::write_atomic(&path, &self.bytes()?)?;
        Ok(true)
    }

    /// Writes an existing mirror again after the store was replaced.
    ///
    /// If the store has no session, the old file may be all that is left of a run, and is renamed to
    /// `<name>.<why>-<time>`. The mirror of another program is left unchanged.
    pub(super) fn replace(&self, why: &str) -> Result<Option<PathBuf>, Fault> {
        let path = self.path()?;
        match read_mirror(&path)? {
            None => return Ok(None),
            Some(Ok(parsed)) if parsed.form == MirrorFormat::Entries => return Ok(None),
            Some(Ok(_)) if self.engine.sessions().latest_session()?.is_some() => {}
            Some(_) => drop(self.set_mirror_aside(why)?),
        }
        self.write().map(Some)
    }

    /// Compares the mirror with the store.
    pub(super) fn state(&self) -> Result<MirrorState, Fault> {
        let parsed = match read_mirror(&self.path()?)? {
            None => return Ok(MirrorState::None),
            Some(Err(problem)) => return Ok(MirrorState::Unreadable(problem)),
            Some(Ok(parsed)) => parsed,
        };
        if self.engine.sessions().latest_session()?.is_none() {
            return Ok(MirrorState::Foreign);
        }
        let mut ours = self.build()?;
        ours.preserve_unknown_fields(&parsed.file);
        ours.last_checkpoint
            .clone_from(&parsed.file.last_checkpoint);
        if mirror::to_json(&ours) == mirror::to_json(&parsed.file) {
            return Ok(MirrorState::Same);
        }
        let written = mirror::parse_time(&parsed.file.last_checkpoint);
        Ok(match (self.engine.records().last_write()?, written) {
            (Some(last), Some(written)) if last <= written => MirrorState::Different,
            (None, _) => MirrorState::Different,
            _ => MirrorState::Older,
        })
    }
}

/// Reads the mirror at `path`; `None` if it does not exist, the inner error if it is unusable.
pub(super) fn read_mirror(path: &Path) -> Result<Option<Result<ParsedMirror, String>>, Fault> {
    let io = |error: std::io::Error| {
        Fault::failed(format!("cannot read {}: {error}", path.to_escaped()))
    };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
        Ok(meta) if meta.is_symlink() => {
            return Err(
                Fault::failed(format!("{} is a symbolic link", path.to_escaped()))
                    .hint("it is not followed: delete it, or set `memory.file_path`"),
            );
        }
        Ok(meta) if !meta.is_file() => {
            return Err(Fault::failed(format!("{} is no file", path.to_escaped()))
                .hint("it is not read: move it away, or set `memory.file_path`"));
        }
        Ok(_) => {}
    }
    let bytes = match project_fs::read_bounded(path, limits::MIRROR_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(DigestProblem::Missing) => return Ok(None),
        Err(DigestProblem::TooLarge(_)) => {
            return Ok(Some(Err(format!(
                "it is larger than {} bytes",
                limits::MIRROR_BYTES_MAX
            ))));
        }
        Err(problem) => return Err(io(problem.into_io_error())),
    };
    Ok(Some(
        mirror::parse(&bytes).map_err(|error| error.to_string()),
    ))
}
