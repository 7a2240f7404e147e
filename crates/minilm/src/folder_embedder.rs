//! Embedder for a model in a folder; the model is loaded on first use.

use crate::model::Model;
use crate::model_files;
use heirloom_model::{EmbedPurpose, Embedder, Fault};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Embedder for a model in a folder.
pub struct FolderEmbedder {
    path: PathBuf,
    name: String,
    model: Mutex<Option<Model>>,
}

impl fmt::Debug for FolderEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FolderEmbedder")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl FolderEmbedder {
    /// Creates an embedder for this folder. Errors: `NotFound` for a missing file.
    pub fn new(path: &Path) -> Result<Self, Fault> {
        Ok(Self {
            name: Self::name_of(path)?,
            path: path.to_owned(),
            model: Mutex::default(),
        })
    }

    /// Returns the name under which vectors of this model are stored: a fingerprint of the files, independent of the
    /// path. Errors: `NotFound` for a missing file.
    pub fn name_of(path: &Path) -> Result<String, Fault> {
        Ok(format!("folder/{}", model_files::fingerprint(path)?))
    }
}

impl Embedder for FolderEmbedder {
    fn model(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: &[&str], _purpose: EmbedPurpose) -> Result<Vec<Vec<f32>>, Fault> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        if model.is_none() {
            *model = Some(Model::read(&self.path)?);
        }
        match model.as_ref() {
            Some(model) => model.vectors(texts),
            None => Ok(Vec::new()),
        }
    }
}
