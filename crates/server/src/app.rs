//! Shared state of all requests: engines, caches and options.

use crate::access::{Access, AllowedOrigins, BrowserSessions, TokenCache};
use crate::engine_registry::EngineProvider;
use crate::event_feed::EventFeeds;
use crate::file_watcher::FileWatcher;
use crate::health_cache::HealthCache;
use crate::idempotency::IdempotencyCache;
use crate::local_setup::LocalSetup;
use crate::metrics::Metrics;
use crate::review_cache::ReviewCache;
use crate::setting_changes::SettingChanges;
use crate::working_memory_cache::WorkingMemoryCache;
use crate::{EngineRegistry, Pool, Problem};
use heirloom_engine::{Engine, Policy};
use heirloom_model::{ErrorKind, Fault, RecordId, limits};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Settings with which a user started the server.
#[derive(Clone, Default)]
pub struct ServerOptions {
    /// Program version.
    pub version: &'static str,
    /// Port that the server listens on.
    pub port: u16,
    /// Allowed host names and origins.
    pub origins: AllowedOrigins,
    /// Policy for compacting conversation windows.
    pub policy: Policy,
    /// True if clients connect with TLS.
    pub is_secure: bool,
    /// Setup of the machine; `None` for a server without config files.
    pub setup: Option<Arc<dyn LocalSetup>>,
    /// Receiver of the log: one line for each request with method, path, status and milliseconds, and for each step of
    /// retention.
    pub log: Option<fn(&str)>,
}

/// Application state, shared by all requests.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

/// Reference of a background task to the application, which does not keep it alive.
pub(crate) struct WeakApp {
    inner: Weak<Inner>,
}

impl WeakApp {
    /// Returns the application while it exists.
    pub(crate) fn upgrade(&self) -> Option<App> {
        let inner = self.inner.upgrade()?;
        Some(App { inner })
    }
}

struct Inner {
    engines: EngineRegistry,
    pool: Pool,
    options: ServerOptions,
    token_cache: OnceLock<TokenCache>,
    browser_sessions: BrowserSessions,
    body_bytes: Arc<Semaphore>,
    stopping: watch::Sender<bool>,
    feeds: EventFeeds,
    metrics: Metrics,
    idempotent_responses: IdempotencyCache,
    working_memories: WorkingMemoryCache,
    file_watcher: FileWatcher,
    reviews: Arc<ReviewCache>,
    health: HealthCache,
    setting_changes: SettingChanges,
}

impl App {
    /// Creates an application. Engines are opened on their first use.
    pub fn new(provider: Box<dyn EngineProvider>, options: ServerOptions) -> Self {
        Self {
            inner: Arc::new(Inner {
                engines: EngineRegistry::new(provider),
                pool: Pool::default(),
                options,
                token_cache: OnceLock::new(),
                browser_sessions: BrowserSessions::default(),
                body_bytes: Arc::new(Semaphore::new(limits::SERVER_BODIES_BYTES_MAX)),
                stopping: watch::Sender::new(false),
                feeds: EventFeeds::default(),
                metrics: Metrics::default(),
                idempotent_responses: IdempotencyCache::default(),
                working_memories: WorkingMemoryCache::default(),
                file_watcher: FileWatcher::default(),
                reviews: Arc::default(),
                health: HealthCache::default(),
                setting_changes: SettingChanges::default(),
            }),
        }
    }

    /// Returns the server's settings.
    pub fn options(&self) -> &ServerOptions {
        &self.inner.options
    }

    /// Runs `call` in the pool with the engine of `project` (`None`: the served project).
    pub async fn with_engine<T: Send + 'static>(
        &self,
        project: Option<String>,
        call: impl FnOnce(&Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Problem> {
        let inner = Arc::clone(&self.inner);
        let answer = self.inner.pool.run(move || {
            let engine = inner.engines.project_engine(project.as_deref())?;
            call(&engine)
        });
        Ok(answer.await?)
    }

    /// As [`App::with_engine`], on a compute thread: for CPU-bound calls and the reads of a page.
    pub(crate) async fn compute_with_engine<T: Send + 'static>(
        &self,
        project: Option<String>,
        call: impl FnOnce(&Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Problem> {
        let inner = Arc::clone(&self.inner);
        let answer = self.inner.pool.compute(move || {
            let engine = inner.engines.project_engine(project.as_deref())?;
            call(&engine)
        });
        Ok(answer.await?)
    }

    /// Resolves the project of a route that names something by its id: the requested project, otherwise the first
    /// project that the caller may open and that contains the id. The served project is tried first and is the
    /// fallback.
    pub(crate) async fn project_with(
        &self,
        access: &Access,
        requested: Option<&str>,
        has: impl Fn(&Engine) -> Result<bool, Fault> + Send + 'static,
    ) -> Result<Option<String>, Problem> {
        let project = access.resolve_project(requested)?;
        if project.is_some() {
            return Ok(project);
        }
        let inner = Arc::clone(&self.inner);
        let found = self.inner.pool.run(move || {
            let served = inner.engines.served_engine()?;
            if has(&served)? {
                return Ok(None);
            }
            for name in served.records().projects()? {
                if name != *served.project() && has(&served.for_project(name.clone()))? {
                    return Ok(Some(name.as_str().to_owned()));
                }
            }
            Ok(None)
        });
        Ok(found.await?)
    }

    /// Resolves the project of a record, as [`App::project_with`].
    pub(crate) async fn project_of(
        &self,
        access: &Access,
        requested: Option<&str>,
        id: RecordId,
    ) -> Result<Option<String>, Problem> {
        self.project_with(access, requested, move |engine| {
            is_found(engine.records().get(id))
        })
        .await
    }

    /// Runs blocking work that needs no engine.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Problem> {
        Ok(self.inner.pool.run(call).await?)
    }

    /// Returns the token cache of the served store.
    pub(crate) fn token_cache(&self) -> Result<&TokenCache, Fault> {
        if let Some(cache) = self.inner.token_cache.get() {
            return Ok(cache);
        }
        let cache = TokenCache::new(self.served_engine()?.maintenance().tokens());
        Ok(self.inner.token_cache.get_or_init(|| cache))
    }

    /// Returns the token cache if it was used before.
    pub(crate) fn opened_token_cache(&self) -> Option<&TokenCache> {
        self.inner.token_cache.get()
    }

    pub(crate) fn browser_sessions(&self) -> &BrowserSessions {
        &self.inner.browser_sessions
    }

    /// Signals shutdown, so that endless responses (event streams) end.
    pub(crate) fn stop(&self) {
        self.inner.stopping.send_replace(true);
        self.inner.feeds.close_all();
    }

    /// Returns a receiver that becomes `true` at shutdown.
    pub(crate) fn stop_signal(&self) -> watch::Receiver<bool> {
        self.inner.stopping.subscribe()
    }

    pub(crate) fn feeds(&self) -> &EventFeeds {
        &self.inner.feeds
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    pub(crate) fn idempotent_responses(&self) -> &IdempotencyCache {
        &self.inner.idempotent_responses
    }

    pub(crate) fn working_memories(&self) -> &WorkingMemoryCache {
        &self.inner.working_memories
    }

    pub(crate) fn reviews(&self) -> &Arc<ReviewCache> {
        &self.inner.reviews
    }

    pub(crate) fn health(&self) -> &HealthCache {
        &self.inner.health
    }

    pub(crate) fn setting_changes(&self) -> &SettingChanges {
        &self.inner.setting_changes
    }

    /// Closes the open engines, so that the next request opens them with the current settings. Running requests keep
    /// theirs.
    pub(crate) fn reopen_engines(&self) {
        self.inner.engines.close_all();
    }

    pub(crate) fn downgrade(&self) -> WeakApp {
        let inner = Arc::downgrade(&self.inner);
        WeakApp { inner }
    }

    /// Starts the background task that ingests inbox files and edited workspace files. Needs a runtime.
    pub(crate) fn start_file_watcher(&self) {
        self.inner.file_watcher.start(self);
    }

    /// Ingests the pending files of all open projects.
    pub(crate) async fn ingest_files(&self) -> Result<(), Fault> {
        let inner = Arc::clone(&self.inner);
        let done = self.inner.pool.run(move || {
            for engine in inner.engines.open_engines_with_files() {
                inner.file_watcher.ingest(&engine);
            }
            Ok(())
        });
        done.await
    }

    /// Takes the notes about files of this project that could not be ingested.
    pub(crate) fn take_file_notes(&self, engine: &Engine) -> Vec<String> {
        self.inner.file_watcher.take_notes(engine.folder())
    }

    /// Returns the engine of the served project.
    pub fn served_engine(&self) -> Result<Arc<Engine>, Fault> {
        self.inner.engines.served_engine()
    }

    /// Waits until this number of body bytes may be held in memory.
    pub(crate) async fn reserve_body_bytes(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.min(limits::SERVER_BODIES_BYTES_MAX);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let semaphore = Arc::clone(&self.inner.body_bytes);
        semaphore.acquire_many_owned(bytes).await.ok()
    }

    /// Runs `call` with the engine of `target`, as [`App::with_engine`] does, and returns the error unconverted.
    pub(crate) async fn with_target_engine<T: Send + 'static>(
        &self,
        target: MemoryTarget,
        call: impl FnOnce(&Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let inner = Arc::clone(&self.inner);
        let answer = self.inner.pool.run(move || {
            let engine = match &target {
                MemoryTarget::Project(name) => inner.engines.project_engine(name.as_deref())?,
                MemoryTarget::AroundFolders(folders) => {
                    inner.engines.first_folder_engine(folders)?
                }
            };
            let answer = call(&engine);
            // The write is already stored; `heirloom doctor` reports a mirror that cannot be written.
            drop(engine.mirror().refresh_throttled());
            answer
        });
        answer.await
    }
}

/// Returns true if something was found. Errors other than `NotFound` are passed on.
pub(crate) fn is_found<T>(found: Result<T, Fault>) -> Result<bool, Fault> {
    match found {
        Ok(_) => Ok(true),
        Err(fault) if fault.kind == ErrorKind::NotFound => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// Engine that a call addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MemoryTarget {
    /// A project of the served store; `None` is the served project.
    Project(Option<String>),
    /// The project around the first of these folders that has a memory.
    AroundFolders(Vec<PathBuf>),
}
