//! Sections of a context from the files of a group: persona, notes and summary.

use super::file_cache::GroupFile;
use super::group_folders::refuse_link;
use super::{GROUPS, Groups, MEMORY, PERSONAS, SUMMARY};
use crate::engine::FileVerdict;
use crate::engine::markdown_cleanup::prompt_text;
use heirloom_formats::group;
use heirloom_fs::project_fs::TextProblem;
use heirloom_model::section::{Layout, Offer, Origin, Section};
use heirloom_model::{Fault, limits};
use std::path::Path;
use std::sync::Arc;

impl Groups<'_> {
    /// Returns the sections from a group's files: persona, notes, summary. Unchanged files are not read again, and
    /// nothing is written.
    ///
    /// A missing or blank file has no offer, an unreadable one a note. Errors: `Refused` for an invalid group name.
    pub fn sections(&self, group: &str) -> Result<Vec<Section>, Fault> {
        group::check_group_name(group).map_err(Fault::refused)?;
        let groups = self.engine.folder.join(GROUPS);
        let folder = groups.join(group);
        let mut persona = section("group", "", Layout::Blocks);
        let mut facts = section("group-facts", "## Remembered Facts", Layout::BlocksReversed);
        let mut summary = section("group-summary", "## Conversation Summary", Layout::Blocks);
        for link in [&groups, &folder] {
            if let Err(fault) = refuse_link(link) {
                persona.notes.push(fault.message);
                return Ok(vec![persona, facts, summary]);
            }
        }
        let places = [groups.join(PERSONAS[0]), folder.join(PERSONAS[1])];
        for path in places {
            let Some(file) = self.file_of(&path, &mut persona.notes) else {
                continue;
            };
            if file.cut_bytes > 0 {
                let most = limits::GROUP_FILE_BYTES_MAX;
                let place = self.display_path(&path);
                persona.notes.push(format!(
                    "{place} is left out: it has more than {most} bytes"
                ));
            } else {
                let offer = self.group_offer(&path, None, &file.text);
                persona.offers.extend(Some(offer).filter(has_text));
            }
        }
        let path = folder.join(MEMORY);
        if let Some(file) = self.file_of(&path, &mut facts.notes) {
            let parts = group::split_at_headings(&file.text).into_iter().rev();
            let line = |line| (file.cut_bytes == 0).then_some(line);
            let offers = parts.map(|(at, part)| self.group_offer(&path, line(at), part));
            facts.offers.extend(offers.filter(has_text));
            facts.notes.extend(self.cut_note(&path, &file));
        }
        let path = folder.join(SUMMARY);
        if let Some(file) = self.file_of(&path, &mut summary.notes) {
            let offer = self.group_offer(&path, None, &file.text);
            summary.offers.extend(Some(offer).filter(has_text));
            summary.notes.extend(self.cut_note(&path, &file));
        }
        Ok(vec![persona, facts, summary])
    }

    /// Reads a file; `None` if it is missing or blank.
    fn file_of(&self, path: &Path, notes: &mut Vec<String>) -> Option<Arc<GroupFile>> {
        match self.engine.files.read(path) {
            Ok(Some(file)) if !self.is_trusted(path, &file, notes) => None,
            Ok(file) => file.filter(|file| !file.text.trim().is_empty()),
            Err(problem) => {
                notes.push(problem);
                None
            }
        }
    }

    fn is_trusted(&self, path: &Path, file: &GroupFile, notes: &mut Vec<String>) -> bool {
        match self.engine.file_trust.verdict(path, file.text.as_bytes()) {
            FileVerdict::Trusted => true,
            FileVerdict::Revoked => false,
            FileVerdict::Undecided => {
                let place = self.display_path(path);
                notes.push(format!("{place}: {}", TextProblem::Untrusted));
                false
            }
        }
    }

    fn group_offer(&self, path: &Path, line: Option<u32>, content: &str) -> Offer {
        Offer {
            origin: Origin::File {
                path: self.display_path(path),
                line,
            },
            text: (self.engine.redaction())
                .redact_input(&prompt_text(content))
                .into_owned(),
            ..Offer::default()
        }
    }

    fn cut_note(&self, path: &Path, file: &GroupFile) -> Option<String> {
        let place = self.display_path(path);
        let cut = file.cut_bytes;
        (cut > 0).then(|| format!("{place} is read without its first {cut} bytes"))
    }

    /// Formats a path relative to the project, if it is inside.
    fn display_path(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.engine.root).unwrap_or(path);
        shown.to_string_lossy().into_owned()
    }
}

fn has_text(offer: &Offer) -> bool {
    !offer.text.trim().is_empty()
}

fn section(name: &str, heading: &str, layout: Layout) -> Section {
    Section {
        layout,
        name: name.to_owned(),
        heading: heading.to_owned(),
        ..Section::default()
    }
}
