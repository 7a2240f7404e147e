//! Sources about the project itself: architecture documents and the tree of tracked files.

use super::SourceInput;
use crate::engine::Contexts;
use heirloom_formats::plan_files;
use heirloom_fs::git_index;
use heirloom_fs::project_fs::{
    self, DigestProblem, normalise_project_path, private_reason, read_bounded,
};
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, limits};

impl Contexts<'_> {
    /// Returns the blocks of the architecture documents in order. Only for invocations for a purpose.
    pub(super) fn architecture_section(&self, input: &SourceInput<'_>) -> Result<Section, Fault> {
        let mut section = Section {
            name: "architecture".to_owned(),
            heading: "## Architecture".to_owned(),
            ..Section::default()
        };
        if !input.request.is_invocation() {
            return Ok(section);
        }
        let files = self.engine.settings.architecture_files.iter();
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
                        .extend(plan_files::split_blocks(&text).into_iter().map(offer));
                }
                Ok(None) => {}
                Err(problem) => section.notes.push(problem),
            }
        }
        Ok(section)
    }

    /// Returns the outline of the files that git tracks. Only for invocations for a purpose.
    pub(super) fn codebase_section(&self, input: &SourceInput<'_>) -> Result<Section, Fault> {
        let mut section = Section {
            name: "codebase".to_owned(),
            heading: "## Codebase".to_owned(),
            ..Section::default()
        };
        if !input.request.is_invocation() {
            return Ok(section);
        }
        let Some((work, index)) = project_fs::git_index_path(&self.engine.root) else {
            return Ok(section);
        };
        let bytes = match read_bounded(&index, limits::GIT_INDEX_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(DigestProblem::Missing) => return Ok(section),
            Err(problem) => return Err(Fault::failed(format!("git's index: {problem}"))),
        };
        let (paths, note) = git_index::parse_paths(&bytes);
        section.notes.extend(note);
        let below = self
            .engine
            .root
            .strip_prefix(&work)
            .unwrap_or(&self.engine.root);
        let inside = paths.iter().filter_map(|path| {
            let inside = std::path::Path::new(path).strip_prefix(below).ok()?;
            inside.to_str()
        });
        let offer = |text| Offer {
            text,
            ..Offer::default()
        };
        section.offers = git_index::render_tree(inside)
            .into_iter()
            .map(offer)
            .collect();
        Ok(section)
    }

    /// Reads a text file of the project; `None` if it does not exist, an error if it cannot be used.
    pub(super) fn project_text(&self, path: &str) -> Result<Option<String>, String> {
        let inside = normalise_project_path(&self.engine.root, path)
            .map_err(|problem| problem.to_string())?;
        if let Some(why) = private_reason(&inside) {
            return Err(format!("{path}: {why}"));
        }
        match read_bounded(
            &self.engine.root.join(&inside),
            limits::PROJECT_FILE_BYTES_MAX,
        ) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Ok(Some(
                    self.engine.redaction().redact_input(&text).into_owned(),
                )),
                Ok(_) | Err(_) => Err(format!("{path} is not a text file")),
            },
            Err(DigestProblem::Missing) => Ok(None),
            Err(problem) => Err(format!("{path}: {problem}")),
        }
    }
}
