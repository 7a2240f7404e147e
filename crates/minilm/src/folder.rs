//! A folder as an embedder: the model is read when it is first asked.

use crate::files;
use crate::model::Model;
use heirloom_model::{Embedder, Fault, Purpose};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A model in a folder.
pub struct Folder {
    path: PathBuf,
    name: String,
    model: Mutex<Option<Model>>,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Folder {
    /// The model in this folder. Errors: `NotFound` for a file that is not there.
    pub fn new(path: &Path) -> Result<Self, Fault> {
        Ok(Self {
            name: Self::name_of(path)?,
            path: path.to_owned(),
            model: Mutex::default(),
        })
    }

    /// The name under which vectors of the model in this folder are kept: it goes by what the files say, not by
    /// where they are. Errors: `NotFound` for a file that is not there.
    pub fn name_of(path: &Path) -> Result<String, Fault> {
        Ok(format!("folder/{}", files::fingerprint(path)?))
    }
}

impl Embedder for Folder {
    fn model(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, Fault> {
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
