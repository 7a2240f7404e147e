//! Selection of the transcripts that an import reads: those of the project, by the folder in which they were recorded,
//! the newest first.

use super::attribution::{FormerRoots, ProjectMatch};
use super::transcript_input::Source;
use super::two_pass_reader::head_of;
use super::{TranscriptOutcome, Transcripts, TranscriptsRequest};
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::TranscriptHeader;
use std::path::{Path, PathBuf};

/// Selection of a project's transcripts by the folder in which they were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImportScope {
    /// Those recorded in the project's root.
    #[default]
    Root,
    /// Those recorded in the project's root or a folder below it.
    WithSubfolders,
}

impl Transcripts<'_> {
    /// Returns the folder of a transcript that is imported, or the reason to skip it.
    pub(super) fn select_folder(
        &self,
        request: &TranscriptsRequest,
        path: &Path,
        head: &TranscriptHeader,
    ) -> Result<PathBuf, TranscriptOutcome> {
        let roots = FormerRoots::new(request.former_root.as_deref(), &request.seen_roots);
        match (
            self.match_project(request.agent, path, head, &roots),
            request.scope,
        ) {
            (ProjectMatch::Root(folder), _)
            | (ProjectMatch::Subfolder(folder), ImportScope::WithSubfolders) => Ok(folder),
            (ProjectMatch::Subfolder(_), ImportScope::Root) => Err(TranscriptOutcome::Subfolder),
            (ProjectMatch::Outside(folder), _) => Err(TranscriptOutcome::Outside(folder)),
            (ProjectMatch::Unknown, _) if request.is_explicit => {
                Ok(self.engine.root().to_path_buf())
            }
            (ProjectMatch::Unknown, _) => Err(TranscriptOutcome::Unknown),
        }
    }

    /// Returns true if a transcript was recorded in the project's root. Only its first lines are read; an unreadable file
    /// belongs to no project.
    pub fn is_of_project(&self, agent: AgentProgram, path: &Path) -> bool {
        let head = Source::new(path).and_then(|source| head_of(agent, &source));
        let Ok(Some(head)) = head else {
            return false;
        };
        matches!(
            self.match_project(agent, path, &head, &FormerRoots::default()),
            ProjectMatch::Root(_)
        )
    }

    /// Sorts the newest first, because of several values the first one that is imported stays.
    pub(super) fn newest_first(&self, request: &TranscriptsRequest) -> Vec<PathBuf> {
        let began = |path: &PathBuf| {
            let head = Source::new(path).and_then(|source| head_of(request.agent, &source));
            head.ok().flatten().and_then(|head| head.began)
        };
        let mut files: Vec<_> = (request.files.iter())
            .map(|path| (began(path), path.clone()))
            .collect();
        files.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        files.into_iter().map(|(_, path)| path).collect()
    }
}
