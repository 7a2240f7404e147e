//! Storage of the tokens: a private file of a memory in a folder, or a document of a memory on a database server.

use heirloom_fs::durable;
use heirloom_fs::file_metadata;
use heirloom_fs::project_fs::{DigestProblem, read_bounded};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use heirloom_store::{SharedStore, Store};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Name of the document.
const DOCUMENT: &str = "tokens";
/// Time after which a server looks for a changed document.
const STAMP_LIFETIME: Duration = Duration::from_secs(1);
/// Attempts to replace a document that other machines change at the same time.
const ATTEMPTS_MAX: u32 = 20;

/// Fingerprint of the stored tokens, for cheap change detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenStamp(Option<(u64, u64, i64, i64)>);

impl TokenStamp {
    /// Returns true if tokens were stored.
    pub(super) fn exists(self) -> bool {
        self.0.is_some()
    }
}

/// Storage of the tokens of a memory.
#[derive(Clone)]
pub(super) enum TokenStorage {
    /// File in the memory's folder.
    File(PathBuf),
    /// Document on the database server, which all servers share.
    Server {
        store: Arc<dyn Store>,
        /// Version of the document, and the time at which it was read.
        seen: Arc<Mutex<Option<(Instant, TokenStamp)>>>,
    },
}

impl TokenStorage {
    /// Creates the storage of a memory: its store's if that is on a server, else a file.
    pub(super) fn new(store: Arc<dyn Store>, file: PathBuf) -> Self {
        match store.shared().is_some() {
            true => Self::Server {
                store,
                seen: Arc::default(),
            },
            false => Self::File(file),
        }
    }

    /// Returns the fingerprint without reading the tokens; that of a document is at most a second old.
    pub(super) fn stamp(&self) -> TokenStamp {
        match self {
            Self::File(file) => {
                // An inaccessible file counts as missing; the error is reported when it is read.
                let found = file.symlink_metadata().ok();
                TokenStamp(found.map(|found| {
                    let (seconds, nanoseconds) = file_metadata::modified_time(&found);
                    let number = file_metadata::version_number(&found);
                    (number, found.len(), seconds, nanoseconds)
                }))
            }
            Self::Server { store, seen } => {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((at, stamp)) = *seen
                    && at.elapsed() < STAMP_LIFETIME
                {
                    return stamp;
                }
                let version = documents(store.as_ref())
                    .and_then(|documents| Ok(documents.document_version(DOCUMENT)?));
                let stamp = match (version, *seen) {
                    (Ok(version), _) => TokenStamp(version.map(|version| (0, 0, version, 0))),
                    // The known tokens stay valid while the database cannot be reached.
                    (Err(_), Some((_, stamp))) => stamp,
                    (Err(_), None) => TokenStamp(None),
                };
                *seen = Some((Instant::now(), stamp));
                stamp
            }
        }
    }

    /// Returns true if [`TokenStorage::stamp`] needs no round trip to a server.
    pub(super) fn has_fresh_stamp(&self) -> bool {
        match self {
            Self::File(_) => true,
            Self::Server { seen, .. } => {
                let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.is_some_and(|(at, _)| at.elapsed() < STAMP_LIFETIME)
            }
        }
    }

    /// Reads the stored form; `None` if no token was ever stored.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, Fault> {
        match self {
            Self::File(file) => match read_bounded(file, limits::TOKENS_BYTES_MAX) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(DigestProblem::Missing) => Ok(None),
                Err(problem) => Err(self.fault(&problem.to_string())),
            },
            Self::Server { store, .. } => {
                let found = documents(store.as_ref())?.document(DOCUMENT)?;
                Ok(found.map(|(_, text)| text.into_bytes()))
            }
        }
    }

    /// Replaces the stored form by the result of `change`, which gets the present one, while no other process changes it.
    pub(super) fn change<T>(
        &self,
        mut change: impl FnMut(Option<Vec<u8>>) -> Result<(Vec<u8>, T), Fault>,
    ) -> Result<T, Fault> {
        let Self::Server { store, seen } = self else {
            let Self::File(file) = self else {
                return Err(self.fault("they have no storage"));
            };
            let lock = durable::lock(&file.with_extension("lock"), limits::FILE_LOCK_MS)?;
            let (bytes, answer) = change(self.read()?)?;
            durable::write_atomic(file, &bytes)?;
            drop(lock);
            return Ok(answer);
        };
        let documents = documents(store.as_ref())?;
        for _ in 0..ATTEMPTS_MAX {
            let found = documents.document(DOCUMENT)?;
            let version = found.as_ref().map(|(version, _)| *version);
            let (bytes, answer) = change(found.map(|(_, text)| text.into_bytes()))?;
            let text = String::from_utf8_lossy(&bytes);
            if documents.replace_document(DOCUMENT, version, &text)? {
                *seen.lock().unwrap_or_else(PoisonError::into_inner) = None;
                return Ok(answer);
            }
        }
        Err(Fault::failed("other machines change the access tokens all the time").hint("try again"))
    }

    /// Creates the fault for a stored form that cannot be read.
    pub(super) fn fault(&self, problem: &str) -> Fault {
        let (place, remedy) = match self {
            Self::File(file) => (file.to_escaped().to_string(), "remove the file"),
            Self::Server { .. } => (
                "the document on the database server".to_owned(),
                "delete the row `tokens` of the table `documents`",
            ),
        };
        Fault::failed(format!(
            "the access tokens cannot be read: {place}: {problem}"
        ))
        .hint(format!(
            "{remedy} and create new tokens: `heirloom token create --role R`"
        ))
    }
}

fn documents(store: &dyn Store) -> Result<&dyn SharedStore, Fault> {
    store
        .shared()
        .ok_or_else(|| Fault::failed("the store has no documents"))
}
