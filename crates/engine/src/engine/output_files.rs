//! Outputs of a plan as files: `ROOT/STAGE/PLAN/memory/AGENT.json`, which other programs read and write.

use super::Engine;
use super::outputs::{NewOutput, OutputSource, PlanOutput};
use crate::outputs::{OutputFile, agent_of, check_part, file_name, parse, render};
use crate::places;
use crate::redact::Redactor;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{Clock, Fault, limits, text};
use heirloom_store::durable;

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The folder of a plan that holds the outputs.
const FOLDER: &str = "memory";
/// The stage of an output that nobody gave one.
const NO_STAGE: &str = "unstaged";

/// The files of one plan. What another process writes is seen at the next question.
#[derive(Debug)]
pub struct OutputFiles {
    folder: PathBuf,
    redactor: Arc<Redactor>,
    clock: Arc<dyn Clock>,
    read: Mutex<HashMap<PathBuf, (Seen, OutputFile)>>,
}

/// What a file was like when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Engine {
    /// The files of a plan in a stage. Nothing is made or read yet.
    ///
    /// Errors: `Usage` for a bad name; `Refused` for one, or a configured folder, that leads out of the project.
    pub fn output_files(&self, stage: &str, plan: &str) -> Result<OutputFiles, Fault> {
        let root = self.plans_root()?;
        let mut inside = self.settings.plans_root.clone();
        for (what, name) in [("stage", stage), ("plan", plan)] {
            let name = self.clean(name.trim());
            inside = format!("{inside}/{}", folder_name(what, &name)?);
        }
        // A link among the folders must not lead out either.
        let folder = places::mirror_path(&self.root, &self.folder, &format!("{inside}/{FOLDER}"));
        let folder = folder.map_err(|problem| Fault::refused(problem.to_string()))?;
        if !folder.starts_with(&root) {
            return Err(Fault::refused(format!(
                "{} leads out of {}",
                inside,
                root.display()
            )));
        }
        Ok(OutputFiles {
            folder,
            redactor: Arc::clone(&self.redactor),
            clock: Arc::clone(&self.clock),
            read: Mutex::default(),
        })
    }

    /// Writes the last outputs of a plan, or of all, as files; returns their paths and what was left alone.
    ///
    /// A file that is newer than what is here stays. Each file is whole by itself.
    pub fn export_outputs(&self, plan: Option<&str>) -> Result<(Vec<PathBuf>, Vec<String>), Fault> {
        let (mut written, mut told) = (Vec::new(), Vec::new());
        for output in self.outputs(plan)? {
            let stage = output.stage.as_deref().unwrap_or(NO_STAGE);
            let files = self.output_files(stage, &output.plan)?;
            let there = files.read_if_there(&files.path(&output.agent)?);
            let is_newer = |file: &OutputFile| file.timestamp > Some(output.at.as_second());
            if there.is_ok_and(|file| file.as_ref().is_some_and(is_newer)) {
                let path = files.path(&output.agent)?;
                told.push(format!("{} is newer, and stays", path.display()));
                continue;
            }
            written.push(files.write(&output.agent, &as_file(&output))?);
        }
        Ok((written, told))
    }

    /// The files of outputs below the folder of plans, or below `root`, in order of their paths, and what could not
    /// be read. Links are not followed.
    pub fn output_sources(
        &self,
        root: Option<&Path>,
    ) -> Result<(Vec<OutputSource>, Vec<String>), Fault> {
        let root = match root {
            Some(root) => root.to_owned(),
            None => self.plans_root()?,
        };
        let (mut found, mut told) = (Vec::new(), Vec::new());
        for (stage, stage_folder) in folders(&root)? {
            // One folder that cannot be listed is no reason to leave the others.
            for (plan, plan_folder) in listed(folders(&stage_folder), &mut told) {
                for path in listed(files_in(&plan_folder.join(FOLDER)), &mut told) {
                    if found.len() >= limits::OUTPUT_FILES_MAX {
                        let most = limits::OUTPUT_FILES_MAX;
                        told.push(format!("only {most} files are read"));
                        return Ok((found, told));
                    }
                    match source(&path, &stage, &plan) {
                        Ok(source) => found.extend(source),
                        Err(fault) => told.push(fault.message),
                    }
                }
            }
        }
        Ok((found, told))
    }

    fn plans_root(&self) -> Result<PathBuf, Fault> {
        let configured = &self.settings.plans_root;
        places::mirror_path(&self.root, &self.folder, configured).map_err(|problem| {
            Fault::refused(format!("plans.root: {problem}"))
                .hint("name a folder inside the project")
        })
    }
}

impl OutputFiles {
    /// Keeps an agent's output as a file, in place of the one before; durable when it returns.
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

    /// What an agent said last; `None` if nothing is kept.
    pub fn get(&self, agent: &str) -> Result<Option<OutputFile>, Fault> {
        self.read_if_there(&self.path(agent)?)
    }

    /// The agents that have an output, by id.
    pub fn agents(&self) -> Result<Vec<String>, Fault> {
        let mut agents = Vec::new();
        for path in files_in(&self.folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match agent_of(&name) {
                Some(agent) => agents.push(agent),
                // A name that is too long is told inside.
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
        check_part("agent", &agent).map_err(|bad| Fault::refused(bad.to_string()))?;
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

    /// The file at `path`: from memory, if it is the one that was read.
    fn read_if_there(&self, path: &Path) -> Result<Option<OutputFile>, Fault> {
        let Some(found) = regular(path)? else {
            return Ok(None);
        };
        let seen = Seen::of(&found);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = read.get(path).filter(|(then, _)| *then == seen) {
            return Ok(Some(file.clone()));
        }
        let (bytes, seen) = bytes_of(path)?;
        let file = parse(&bytes).map_err(|problem| {
            Fault::failed(format!("{}: {problem}", path.display()))
                .hint("delete it, or let its agent write it anew")
        })?;
        // Within the second of a change another one may look the same.
        if seen.changed.0 < self.clock.now().as_second() - 1 {
            read.insert(path.to_owned(), (seen, file.clone()));
        }
        Ok(Some(file))
    }
}

impl Seen {
    fn of(found: &Metadata) -> Self {
        Self {
            inode: found.ino(),
            size: found.size(),
            changed: (found.mtime(), found.mtime_nsec()),
        }
    }
}

/// An output as its file.
fn as_file(output: &PlanOutput) -> OutputFile {
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

/// The name of a stage's or plan's folder, which stays as it is: other programs know it.
fn folder_name(what: &str, name: &str) -> Result<String, Fault> {
    check_name(what, name).map_err(|bad| Fault::usage(bad.to_string()))?;
    check_part(what, name).map_err(|bad| Fault::refused(bad.to_string()))?;
    let encoded = file_name(name);
    Ok(encoded.strip_suffix(".json").unwrap_or(&encoded).to_owned())
}

fn source(path: &Path, stage: &str, plan: &str) -> Result<Option<OutputSource>, Fault> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.ends_with(".json") {
        return Ok(None);
    }
    let (bytes, seen) = bytes_of(path)?;
    Ok(Some(OutputSource {
        path: path.display().to_string(),
        stage: stage.to_owned(),
        plan: plan.to_owned(),
        agent: agent_of(&name),
        changed: seen.changed.0,
        bytes,
    }))
}

/// What is at a path, if it is a file: no link, no pipe, no folder.
fn regular(path: &Path) -> Result<Option<Metadata>, Fault> {
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(_) => Err(Fault::refused(format!("{} is no file", path.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_read(path, &error)),
    }
}

fn bytes_of(path: &Path) -> Result<(Vec<u8>, Seen), Fault> {
    regular(path)?;
    let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    let found = file.metadata().map_err(|error| cannot_read(path, &error))?;
    let most = limits::OUTPUT_FILE_BYTES_MAX;
    if found.len() > most {
        return Err(Fault::usage(format!(
            "{} has {} bytes; at most {most} are read",
            path.display(),
            found.len()
        )));
    }
    let mut bytes = Vec::new();
    let read = file.take(most).read_to_end(&mut bytes);
    read.map_err(|error| cannot_read(path, &error))?;
    Ok((bytes, Seen::of(&found)))
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Fault {
    Fault::failed(format!("cannot read {}: {error}", path.display()))
}

/// The folders in a folder, by name; none if it is not there. Hidden ones and links are left out.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>, Fault> {
    let named = entries(folder, |sort| sort.is_dir())?.into_iter();
    let named = named.filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        (!name.starts_with('.')).then_some((name, path))
    });
    Ok(named.collect())
}

/// The files in a folder, by name; none if it is not there.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    entries(folder, |sort| sort.is_file())
}

/// What a folder has; nothing, and a note, if it cannot be listed.
fn listed<T>(found: Result<Vec<T>, Fault>, told: &mut Vec<String>) -> Vec<T> {
    found.unwrap_or_else(|fault| {
        told.push(fault.message);
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
            let place = folder.display();
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
