//! Plan outputs as files: `ROOT/STAGE/PLAN/memory/AGENT.json`, which other programs read and write.

use super::outputs::{NewOutput, OutputSource, PlanOutput};
use crate::engine::Outputs;
use heirloom_formats::outputs::{
    OutputFile, agent_of_file_name, check_path_part, file_name, parse, render,
};
use heirloom_fs::durable;
use heirloom_fs::durable::regular_file::{FileReadError, LinkPolicy};
use heirloom_fs::file_metadata;
use heirloom_fs::project_fs;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Clock, Fault, PlanName, limits, text};
use heirloom_redact::Redactor;

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Folder of outputs in a plan's folder.
const FOLDER: &str = "memory";
/// Stage of outputs without one.
const NO_STAGE: &str = "unstaged";

/// Output files of one plan. Writes of other processes are visible at the next call.
#[derive(Debug)]
pub struct OutputFiles {
    folder: PathBuf,
    redactor: Arc<Redactor>,
    clock: Arc<dyn Clock>,
    read: Mutex<HashMap<PathBuf, (FileStamp, OutputFile)>>,
}

/// Metadata of a file when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Outputs<'_> {
    /// Returns the output files of a plan in a stage. Creates and reads nothing yet. A stage in the plan's name comes
    /// before `stage`.
    ///
    /// Errors: `Usage` for an invalid name; `Refused` if a name or the configured folder leads out of the project.
    pub fn output_files(&self, stage: &str, plan: &str) -> Result<OutputFiles, Fault> {
        let root = self.plans_root()?;
        let mut inside = self.engine.settings.plans_root.clone();
        check_path_part("plan", plan).map_err(|bad| Fault::refused(bad.to_string()))?;
        let named = PlanName::parse(plan);
        let stage = named.stage.unwrap_or(stage);
        for (what, name) in [("stage", stage), ("plan", named.plan)] {
            let name = self.engine.redaction().redact_input(name.trim());
            inside = format!("{inside}/{}", folder_name(what, &name)?);
        }
        // No link among the folders may lead out either.
        let folder = project_fs::resolve_mirror_path(
            &self.engine.root,
            &self.engine.folder,
            &format!("{inside}/{FOLDER}"),
        );
        let folder = folder.map_err(|problem| Fault::refused(problem.to_string()))?;
        if !folder.starts_with(&root) {
            return Err(Fault::refused(format!(
                "{} leads out of {}",
                inside,
                root.to_escaped()
            )));
        }
        Ok(OutputFiles {
            folder,
            redactor: Arc::clone(&self.engine.redactor),
            clock: Arc::clone(&self.engine.clock),
            read: Mutex::default(),
        })
    }

    /// Writes the last outputs of a plan, or of all plans, as files; returns their paths, and messages about skipped
    /// files.
    ///
    /// A file that is newer than the stored output is skipped. Each file is written atomically.
    pub fn export_outputs(&self, plan: Option<&str>) -> Result<(Vec<PathBuf>, Vec<String>), Fault> {
        let (mut written, mut skipped) = (Vec::new(), Vec::new());
        for output in self.list(plan)? {
            let stage = output.stage.as_deref().unwrap_or(NO_STAGE);
            let files = self.output_files(stage, &output.plan)?;
            let existing = files.read_if_there(&files.path(&output.agent)?);
            let is_newer = |file: &OutputFile| file.timestamp > Some(output.at.as_second());
            if existing.is_ok_and(|file| file.as_ref().is_some_and(is_newer)) {
                let path = files.path(&output.agent)?;
                skipped.push(format!("{} is newer; skipped", path.to_escaped()));
                continue;
            }
            written.push(files.write(&output.agent, &to_file(&output))?);
        }
        Ok((written, skipped))
    }

    /// Finds the output files below the folder of plans, or below `root`, sorted by path; also returns messages about
    /// unreadable ones. Links are not followed.
    pub fn output_sources(
        &self,
        root: Option<&Path>,
    ) -> Result<(Vec<OutputSource>, Vec<String>), Fault> {
        let root = match root {
            Some(root) => root.to_owned(),
            None => self.plans_root()?,
        };
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        for (stage, stage_folder) in folders(&root)? {
            // An unreadable folder does not affect the others.
            for (plan, plan_folder) in entries_or_problem(folders(&stage_folder), &mut problems) {
                for path in entries_or_problem(files_in(&plan_folder.join(FOLDER)), &mut problems) {
                    if found.len() >= limits::OUTPUT_FILES_MAX {
                        let most = limits::OUTPUT_FILES_MAX;
                        problems.push(format!("only {most} files are read"));
                        return Ok((found, problems));
                    }
                    match source(&path, &stage, &plan) {
                        Ok(source) => found.extend(source),
                        Err(fault) => problems.push(fault.message),
                    }
                }
            }
        }
        Ok((found, problems))
    }

    fn plans_root(&self) -> Result<PathBuf, Fault> {
        let configured = &self.engine.settings.plans_root;
        project_fs::resolve_mirror_path(&self.engine.root, &self.engine.folder, configured).map_err(
            |problem| {
                Fault::refused(format!("plans.root: {problem}"))
                    .hint("name a folder inside the project")
            },
        )
    }
}

impl OutputFiles {
    /// Writes an agent's output file, replacing the former one; durable when it returns.
    pub fn put(&self, agent: &str, content: &str, metadata: &Attrs) -> Result<PathBuf, Fault> {
        let content = self.redactor.redact(content.trim_end()).into_owned();
        let file = OutputFile {
            agent_id: self.redactor.redact(agent.trim()).into_owned(),
            content: text::clip_start(&content, limits::OUTPUT_CHARS_MAX).to_owned(),
            timestamp: Some(self.clock.now().as_second()),
            metadata: metadata.clone(),
            extra: Attrs::new(),
        };
        self.write(agent, &file)
    }

    /// Reads the last output of an agent; `None` if it does not exist.
    pub fn get(&self, agent: &str) -> Result<Option<OutputFile>, Fault> {
        self.read_if_there(&self.path(agent)?)
    }

    /// Lists the agents with an output, by id.
    pub fn agents(&self) -> Result<Vec<String>, Fault> {
        let mut agents = Vec::new();
        for path in files_in(&self.folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match agent_of_file_name(&name) {
                Some(agent) => agents.push(agent),
                // A name that is too long for a file name is stored inside the file.
                None if name.starts_with('%') => {
                    let file = self.read_if_there(&path)?.unwrap_or_default();
                    agents.extend(Some(file.agent_id).filter(|agent| file_name(agent) == name));
                }
                None => {}
            }
        }
        agents.sort();
        Ok(agents)
    }

    fn path(&self, agent: &str) -> Result<PathBuf, Fault> {
        let agent = self.redactor.redact(agent.trim());
        check_path_part("agent", &agent).map_err(|bad| Fault::refused(bad.to_string()))?;
        check_name("agent", &agent).map_err(|bad| Fault::usage(bad.to_string()))?;
        Ok(self.folder.join(file_name(&agent)))
    }

    fn write(&self, agent: &str, file: &OutputFile) -> Result<PathBuf, Fault> {
        let mut file = file.clone();
        for map in [&mut file.metadata, &mut file.extra] {
            self.redactor.redact_map(map, &mut Vec::new());
        }
        let path = self.path(agent)?;
        durable::create_dir_private(&self.folder)?;
        durable::write_atomic(&path, &render(&file))?;
        Ok(path)
    }

    /// Reads the file at `path`, from the cache if it is unchanged.
    fn read_if_there(&self, path: &Path) -> Result<Option<OutputFile>, Fault> {
        let Some(found) = regular_metadata(path)? else {
            return Ok(None);
        };
        let seen = FileStamp::from_metadata(&found);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = read.get(path).filter(|(then, _)| *then == seen) {
            return Ok(Some(file.clone()));
        }
        let (bytes, seen) = bytes_of(path)?;
        let file = parse(&bytes).map_err(|problem| {
            Fault::failed(format!("{}: {problem}", path.to_escaped()))
                .hint("delete it, or let its agent write it again")
        })?;
        // Within the resolution of time stamps a second change may be invisible.
        if seen.changed.0 < self.clock.now().as_second() - 1 {
            read.insert(path.to_owned(), (seen, file.clone()));
        }
        Ok(Some(file))
    }
}

impl FileStamp {
    fn from_metadata(found: &Metadata) -> Self {
        Self {
            inode: file_metadata::version_number(found),
            size: found.len(),
            changed: file_metadata::modified_time(found),
        }
    }
}

/// Converts an output into its file.
fn to_file(output: &PlanOutput) -> OutputFile {
    OutputFile {
        agent_id: output.agent.clone(),
        content: output.content.clone(),
        timestamp: Some(output.at.as_second()),
        metadata: output.metadata.clone(),
        extra: output.file.clone(),
    }
}

impl From<OutputFile> for NewOutput {
    fn from(file: OutputFile) -> Self {
        Self {
            agent: file.agent_id,
            content: file.content,
            metadata: file.metadata,
            ..Self::default()
        }
    }
}

/// Returns the folder name of a stage or plan. Other programs rely on its form.
fn folder_name(what: &str, name: &str) -> Result<String, Fault> {
    check_name(what, name).map_err(|bad| Fault::usage(bad.to_string()))?;
    check_path_part(what, name).map_err(|bad| Fault::refused(bad.to_string()))?;
    let encoded = file_name(name);
    Ok(encoded.strip_suffix(".json").unwrap_or(&encoded).to_owned())
}

/// Returns the plan of a folder name; a name that was not encoded stays as it is.
fn plan_of_folder(name: &str) -> String {
    agent_of_file_name(&format!("{name}.json")).unwrap_or_else(|| name.to_owned())
}

fn source(path: &Path, stage: &str, plan: &str) -> Result<Option<OutputSource>, Fault> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.ends_with(".json") {
        return Ok(None);
    }
    let (bytes, seen) = bytes_of(path)?;
    Ok(Some(OutputSource {
        path: path.to_escaped(),
        stage: stage.to_owned(),
        plan: plan_of_folder(plan),
        agent: agent_of_file_name(&name),
        changed: seen.changed.0,
        bytes,
    }))
}

/// Returns the metadata of a regular file; other file types are refused.
fn regular_metadata(path: &Path) -> Result<Option<Metadata>, Fault> {
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(_) => Err(Fault::refused(format!(
            "{} is not a regular file",
            path.to_escaped()
        ))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_read(path, &error)),
    }
}

fn bytes_of(path: &Path) -> Result<(Vec<u8>, FileStamp), Fault> {
    let opened =
        durable::regular_file::open(path, LinkPolicy::Refuse).map_err(|problem| match problem {
            FileReadError::NotRegularFile => {
                Fault::refused(format!("{} is not a regular file", path.to_escaped()))
            }
            FileReadError::Missing | FileReadError::TooLarge(_) | FileReadError::Unreadable(_) => {
                cannot_read(path, &problem.into_io_error())
            }
        })?;
    let (file, found) = (opened.file, opened.metadata);
    let most = limits::OUTPUT_FILE_BYTES_MAX;
    if found.len() > most {
        return Err(Fault::usage(format!(
            "{} has {} bytes; at most {most} are read",
            path.to_escaped(),
            found.len()
        )));
    }
    let mut bytes = Vec::new();
    let read = file.take(most).read_to_end(&mut bytes);
    read.map_err(|error| cannot_read(path, &error))?;
    Ok((bytes, FileStamp::from_metadata(&found)))
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Fault {
    Fault::failed(format!("cannot read {}: {error}", path.to_escaped()))
}

/// Lists the folders in a folder by name, without hidden ones and links; empty if it does not exist.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>, Fault> {
    let named = entries(folder, |sort| sort.is_dir())?.into_iter();
    let named = named.filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        (!name.starts_with('.')).then_some((name, path))
    });
    Ok(named.collect())
}

/// Lists the files in a folder by name; empty if it does not exist.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    entries(folder, |sort| sort.is_file())
}

/// Returns the entries of a folder; empty, with a message in `problems`, if it cannot be listed.
fn entries_or_problem<T>(found: Result<Vec<T>, Fault>, problems: &mut Vec<String>) -> Vec<T> {
    found.unwrap_or_else(|fault| {
        problems.push(fault.message);
        Vec::new()
    })
}

fn entries(
    folder: &Path,
    wanted: impl Fn(&std::fs::FileType) -> bool,
) -> Result<Vec<PathBuf>, Fault> {
    if folder.is_symlink() {
        return Ok(Vec::new());
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let place = folder.to_escaped();
            return Err(Fault::failed(format!("cannot list {place}: {error}")));
        }
    };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|sort| wanted(&sort)))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    Ok(found)
}
