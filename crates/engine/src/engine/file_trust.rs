//! Trust in files of a project that reach the agents as instructions or as memory.

use super::Engine;
use std::path::Path;
use std::sync::Arc;

/// Makes `engine` use only the files of its project that `trust` accepts.
#[must_use]
pub fn use_trusted_files(mut engine: Engine, trust: Arc<dyn FileTrust>) -> Engine {
    engine.file_trust = trust;
    engine
}

/// Makes `actor` the source of requests that name none, instead of the person.
#[must_use]
pub fn set_actor(mut engine: Engine, actor: &str) -> Engine {
    engine.actor = Arc::from(actor);
    engine
}

/// Decides about the files of a project that become part of prompts or of the memory.
///
/// Example: `.heirloom/workspace/SOUL.md` that came with a clone is not used before the person has read it.
pub trait FileTrust: Send + Sync {
    /// Decides about the file with this content.
    fn verdict(&self, file: &Path, content: &[u8]) -> FileVerdict;
}

/// Decision about a file with its present content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileVerdict {
    /// It was written here, or a person trusts it.
    Trusted,
    /// It came with the project, and no person has decided yet.
    Undecided,
    /// A person decided against it: it counts as missing.
    Revoked,
}

/// Trust in all files: in tests, and in folders that no clone can bring.
pub(super) struct TrustedFiles;

impl FileTrust for TrustedFiles {
    fn verdict(&self, _file: &Path, _content: &[u8]) -> FileVerdict {
        FileVerdict::Trusted
    }
}
