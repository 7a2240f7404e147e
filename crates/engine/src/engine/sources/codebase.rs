//! What the project itself says: its architecture documents and its tracked tree.

use super::super::Engine;
use super::Asking;
use crate::places::{self, DigestProblem, normalise_inside, whole_file};
use crate::{planned, tracked};
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, limits};

impl Engine {
    /// The architecture documents, block by block in their order. Only for whoever is called for something.
    pub(super) fn architecture_section(&self, asking: &Asking<'_>) -> Result<Section, Fault> {
        let mut section = Section {
            name: "architecture".to_owned(),
            heading: "## Architecture".to_owned(),
            ..Section::default()
        };
        if !asking.request.is_invocation() {
            return Ok(section);
        }
        let files = self.settings.architecture_files.iter();
        for file in files.take(limits::PLAN_FILES_MAX) {
            match self.project_text(file) {
                Ok(Some(text)) => {
                    let offer = |(line, text)| Offer {
                        origin: Origin::File {
                            path: file.clone(),
                            line: Some(line),
                        },
                        text,
                        ..Offer::default()
                    };
                    section
                        .offers
                        .extend(planned::blocks(&text).into_iter().map(offer));
                }
                Ok(None) => {}
                Err(problem) => section.notes.push(problem),
            }
        }
        Ok(section)
    }

    /// The tree of what git tracks. Only for whoever is called for something.
    pub(super) fn codebase_section(&self, asking: &Asking<'_>) -> Result<Section, Fault> {
        let mut section = Section {
            name: "codebase".to_owned(),
            heading: "## Codebase".to_owned(),
            ..Section::default()
        };
        if !asking.request.is_invocation() {
            return Ok(section);
        }
        let Some((work, index)) = places::git_index(&self.root) else {
            return Ok(section);
        };
        let bytes = match whole_file(&index, limits::GIT_INDEX_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(DigestProblem::Missing) => return Ok(section),
            Err(problem) => return Err(Fault::failed(format!("git's index: {problem}"))),
        };
        let (paths, note) = tracked::paths(&bytes);
        section.notes.extend(note);
        let below = self.root.strip_prefix(&work).unwrap_or(&self.root);
        let inside = paths.iter().filter_map(|path| {
            let inside = std::path::Path::new(path).strip_prefix(below).ok()?;
            inside.to_str()
        });
        let offer = |text| Offer {
            text,
            ..Offer::default()
        };
        section.offers = tracked::outline(inside).into_iter().map(offer).collect();
        Ok(section)
    }

    /// A text of the project; `None` if there is no such file, else why it cannot be used.
    pub(super) fn project_text(&self, path: &str) -> Result<Option<String>, String> {
        let inside = normalise_inside(&self.root, path).map_err(|problem| problem.to_string())?;
        match whole_file(&self.root.join(&inside), limits::PROJECT_FILE_BYTES_MAX) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Ok(Some(self.clean(&text).into_owned())),
                Ok(_) | Err(_) => Err(format!("{path} is no text")),
            },
            Err(DigestProblem::Missing) => Ok(None),
            Err(problem) => Err(format!("{path}: {problem}")),
        }
    }
}
