//! Collector of Markdown pages: reads each file once, follows `@` imports within their folders, and reports what is skipped.

use super::markdown_folder::{collect_files, read_page, shown_path};
use super::other_tools::DiscoveredImports;
use crate::store_access::{CliSession, FoundProject};
use crate::terminal_output::progress::Progress;
use heirloom_engine::{ExternalContent, ExternalSource, RulesFile, SharedFile};
use heirloom_formats::external_memory::{
    ImportedMemory, MemoryPage, PageRules, imported_paths, parse_page,
};
use heirloom_fs::project_fs;
use heirloom_model::{Fault, limits};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Index of a memory folder.
pub(super) const INDEX: &str = "MEMORY.md";

/// Collector of the pages of one import.
pub(super) struct PageCollector<'s> {
    pub(super) format: &'static str,
    pub(super) root: PathBuf,
    pub(super) home: Option<&'s Path>,
    /// Folders out of which no `@` import leads.
    pub(super) bases: Vec<PathBuf>,
    pub(super) seen: HashSet<PathBuf>,
    pub(super) rules: Vec<RulesFile>,
    pub(super) memory: ImportedMemory,
    pub(super) notes: Vec<String>,
    pub(super) progress: Progress,
}

impl<'s> PageCollector<'s> {
    pub(super) fn new(format: &'static str, found: &FoundProject, session: &'s CliSession) -> Self {
        let root = found.place.root.clone();
        Self {
            format,
            home: session.env.get("HOME").map(Path::new),
            bases: vec![root.clone()],
            root,
            seen: HashSet::new(),
            rules: Vec::new(),
            memory: ImportedMemory::default(),
            notes: Vec::new(),
            progress: session.out.progress(),
        }
    }

    /// Returns what was collected; the error is that nothing was found.
    pub(super) fn finish(self, missing: &str) -> Result<DiscoveredImports, Fault> {
        self.progress.set_total(0);
        let mut discovered = DiscoveredImports {
            notes: self.notes,
            ..DiscoveredImports::default()
        };
        let mut add = |content| {
            discovered.parts.push(ExternalSource {
                path: self.format.to_owned(),
                format: self.format,
                content,
            });
        };
        if !self.rules.is_empty() {
            add(ExternalContent::Rules(self.rules));
        }
        if !self.memory.is_empty() {
            add(ExternalContent::Memory(self.memory));
        }
        if discovered.parts.is_empty() && discovered.notes.is_empty() {
            return Err(Fault::not_found(missing.to_owned()).hint(format!(
                "name the file or folder: heirloom import {} PATH",
                self.format
            )));
        }
        Ok(discovered)
    }

    /// Lists the files of a folder; the progress counts those that are read.
    pub(super) fn list_files(&self, folder: &Path, ends: &[&str]) -> Result<Vec<PathBuf>, Fault> {
        let files = collect_files(folder, ends)?;
        self.progress.set_total(files.len() as u64);
        Ok(files)
    }

    pub(super) fn shown(&self, path: &Path) -> String {
        shown_path(path, &self.root, self.home)
    }

    /// Reads a file unless it was read before; a link is followed if it stays in the known folders.
    pub(super) fn read(&mut self, path: &Path) -> Option<SharedFile> {
        self.progress.count_part();
        let shown = self.shown(path);
        let real = path.canonicalize().ok()?;
        if !self.bases.iter().any(|base| real.starts_with(base)) {
            let note = format!(
                "{shown}: not read, because it leads out of the project and of the program's folder"
            );
            self.notes.push(note);
            return None;
        }
        if !self.seen.insert(real.clone()) {
            return None;
        }
        match read_page(&real, &shown) {
            Ok(page) => Some(page),
            Err(note) => {
                self.notes.push(note);
                None
            }
        }
    }

    /// Allows `@` imports and links into this folder.
    pub(super) fn add_base(&mut self, folder: &Path) {
        self.bases.extend(folder.canonicalize());
    }

    /// Adds a page: one entry or rules, by its content.
    pub(super) fn add_page(&mut self, path: &Path, category: &'static str) {
        let Some(file) = self.read(path) else { return };
        let page = MemoryPage {
            path: &file.path,
            text: &file.text,
            category,
        };
        match parse_page(page) {
            PageRules::Entry(entry) => self.memory.entries.push(*entry),
            PageRules::Rules(text, origin) => {
                let path = file.path;
                self.rules.push(RulesFile {
                    file: SharedFile { path, text },
                    about: Some(category),
                    origin: PageRules::rule_fields(&origin),
                });
            }
            PageRules::Empty => self.memory.omissions.add("empty files", 1),
        }
    }

    /// Adds a page of rules as they are offered by `init`, and the pages that it imports with `@path`.
    pub(super) fn add_rules(&mut self, path: &Path, depth: usize) {
        let Some(file) = self.read(path) else { return };
        let imported = imported_paths(&file.text);
        self.rules.push(RulesFile {
            file,
            ..RulesFile::default()
        });
        for name in imported {
            let target = match (name.strip_prefix("~/"), self.home, path.parent()) {
                (Some(rest), Some(home), _) => home.join(rest),
                (_, _, Some(folder)) => folder.join(&name),
                _ => continue,
            };
            // Most words with `@` name no file: decorators, packages, people.
            if !target.is_file() {
                continue;
            }
            let is_private = project_fs::private_reason(&target.to_string_lossy()).is_some();
            if is_private || !is_text(&target) {
                let shown = self.shown(&target);
                self.notes.push(format!(
                    "{shown}: not read, because it is no Markdown or text file"
                ));
            } else if depth >= limits::RULES_IMPORT_DEPTH_MAX {
                let shown = self.shown(&target);
                let most = limits::RULES_IMPORT_DEPTH_MAX;
                self.notes.push(format!(
                    "{shown}: not read, because it is more than {most} imports deep"
                ));
            } else {
                self.add_rules(&target, depth + 1);
            }
        }
    }

    /// Adds the pages of a folder with these ends.
    pub(super) fn add_folder(
        &mut self,
        folder: &Path,
        ends: &[&str],
        category: &'static str,
    ) -> Result<(), Fault> {
        for path in self.list_files(folder, ends)? {
            self.add_page(&path, category);
        }
        Ok(())
    }

    /// Adds a memory folder of Claude Code: topic files, and those lines of the index that do not point to one.
    pub(super) fn add_memory_folder(&mut self, folder: &Path) -> Result<(), Fault> {
        for path in self.list_files(folder, &[".md"])? {
            if path.file_name().is_some_and(|name| name == INDEX) {
                self.add_index(&path);
            } else {
                self.add_page(&path, "memory");
            }
        }
        Ok(())
    }

    pub(super) fn add_index(&mut self, path: &Path) {
        let Some(mut file) = self.read(path) else {
            return;
        };
        let folder = path.parent().unwrap_or(path);
        let points_to_file = |line: &str| {
            let target = line
                .split_once("](")
                .and_then(|(_, rest)| rest.split_once(')'));
            target
                .is_some_and(|(target, _)| target.ends_with(".md") && folder.join(target).is_file())
        };
        let lines: Vec<&str> = file.text.lines().collect();
        let pointers = lines.iter().filter(|line| points_to_file(line)).count();
        let reason = format!("lines of {INDEX} that point to a file, which is imported");
        self.memory.omissions.add(&reason, pointers as u64);
        let rest = lines
            .iter()
            .map(|line| if points_to_file(line) { "" } else { *line });
        file.text = rest.collect::<Vec<_>>().join("\n");
        self.rules.push(RulesFile {
            file,
            ..RulesFile::default()
        });
    }
}

fn is_text(path: &Path) -> bool {
    let end = path
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    end.is_none_or(|end| matches!(end.as_str(), "md" | "mdc" | "markdown" | "txt"))
}
