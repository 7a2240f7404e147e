//! What every request may use, and which rooms answer it.

use crate::access::{self, Keys, Logins, Names};
use crate::again::{self, Answers};
use crate::api;
use crate::events::Feeds;
use crate::held::Held;
use crate::memories::Memories;
use crate::metrics::{self, Metrics};
use crate::problem;
use crate::tags;
use crate::{Pool, Problem, Projects};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use axum::{Json, Router};
use heirloom_engine::{Engine, Policy};
use heirloom_model::{Fault, limits};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// What a person decided when they started the server.
#[derive(Clone, Default)]
pub struct Options {
    /// The program's version.
    pub version: &'static str,
    /// The port that it listens on.
    pub port: u16,
    /// Names that it answers to, and pages elsewhere that may ask it.
    pub names: Names,
    /// How windows of conversations are kept.
    pub policy: Policy,
    /// Whether clients reach it by TLS.
    pub is_secure: bool,
    /// The settings that it goes by, for whoever wants to see them.
    pub settings: Vec<Setting>,
    /// Who is told a line about each request: its method and path, its status, and milliseconds.
    pub tells: Option<fn(&str)>,
}

/// One setting, and the layer that it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// Its key.
    pub key: String,
    /// Its value, as its file would say it.
    pub value: String,
    /// The layer, and the place.
    pub origin: String,
}

/// What every request shares.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    projects: Projects,
    pool: Pool,
    options: Options,
    keys: OnceLock<Keys>,
    logins: Logins,
    room: Arc<Semaphore>,
    stopping: watch::Sender<bool>,
    feeds: Feeds,
    metrics: Metrics,
    answers: Answers,
    held: Held,
}

impl App {
    /// An application over these memories; none is opened before it is asked for.
    pub fn new(memories: Box<dyn Memories>, options: Options) -> Self {
        Self {
            inner: Arc::new(Inner {
                projects: Projects::new(memories),
                pool: Pool::default(),
                options,
                keys: OnceLock::new(),
                logins: Logins::default(),
                room: Arc::new(Semaphore::new(limits::SERVER_BODIES_BYTES_MAX)),
                stopping: watch::Sender::new(false),
                feeds: Feeds::default(),
                metrics: Metrics::default(),
                answers: Answers::default(),
                held: Held::default(),
            }),
        }
    }

    /// What was decided at the start.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Asks the memory of `project` (the served one if there is no name), where waiting is allowed.
    pub async fn ask<T: Send + 'static>(
        &self,
        project: Option<String>,
        call: impl FnOnce(&Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Problem> {
        let inner = Arc::clone(&self.inner);
        let answer = self.inner.pool.run(move || {
            let engine = inner.projects.named(project.as_deref())?;
            call(&engine)
        });
        Ok(answer.await?)
    }

    /// As [`App::ask`], for questions that compute longer than they wait, and for reads of a page.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        project: Option<String>,
        call: impl FnOnce(&Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Problem> {
        let inner = Arc::clone(&self.inner);
        let answer = self.inner.pool.compute(move || {
            let engine = inner.projects.named(project.as_deref())?;
            call(&engine)
        });
        Ok(answer.await?)
    }

    /// Does what waits for a disk and asks no memory.
    pub(crate) async fn wait<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Problem> {
        Ok(self.inner.pool.run(call).await?)
    }

    /// The tokens of the served memory.
    pub(crate) fn keys(&self) -> Result<&Keys, Fault> {
        if let Some(keys) = self.inner.keys.get() {
            return Ok(keys);
        }
        let keys = Keys::new(self.served()?.tokens());
        Ok(self.inner.keys.get_or_init(|| keys))
    }

    pub(crate) fn logins(&self) -> &Logins {
        &self.inner.logins
    }

    /// Says that the server ends: answers that would go on for ever end with it.
    pub(crate) fn stop(&self) {
        self.inner.stopping.send_replace(true);
        self.inner.feeds.end();
    }

    /// Says `true` when the server ends.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.inner.stopping.subscribe()
    }

    pub(crate) fn feeds(&self) -> &Feeds {
        &self.inner.feeds
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    pub(crate) fn answers(&self) -> &Answers {
        &self.inner.answers
    }

    pub(crate) fn held(&self) -> &Held {
        &self.inner.held
    }

    /// The memory that is served.
    pub fn served(&self) -> Result<Arc<Engine>, Fault> {
        self.inner.projects.served()
    }

    /// Waits until so many bytes of a request may be held.
    pub(crate) async fn room_for(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.min(limits::SERVER_BODIES_BYTES_MAX);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.inner.room);
        room.acquire_many_owned(bytes).await.ok()
    }

    /// As [`App::ask`], also of the memory around a folder, and with the error as it is.
    pub(crate) async fn ask_memory<T: Send + 'static>(
        &self,
        whose: Whose,
        call: impl FnOnce(&Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let inner = Arc::clone(&self.inner);
        let answer = self.inner.pool.run(move || {
            let engine = match &whose {
                Whose::Project(name) => inner.projects.named(name.as_deref())?,
                Whose::Around(folders) => inner.projects.around_one(folders)?,
            };
            call(&engine)
        });
        answer.await
    }
}

/// Which memory is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whose {
    /// That of this project in the served store; without a name, of the served one.
    Project(Option<String>),
    /// That around the first of these folders that has one.
    Around(Vec<PathBuf>),
}

/// All routes, and those of `mcp`, which has its own.
pub fn router(app: App, mcp: Router) -> Router {
    let version = app.options().version;
    Router::new()
        .route("/health", get(health))
        .merge(crate::page::routes(&app))
        .route("/metrics", get(metrics::show))
        .route("/api/health", get(health))
        .route("/api/metrics", get(metrics::show))
        .merge(access::login_routes())
        .merge(api::routes(version))
        .fallback(nothing_here)
        .method_not_allowed_fallback(not_so)
        .with_state(app.clone())
        // The guard has one limit for all bodies.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn(tags::tag))
        .layer(from_fn(problem::documents))
        .layer(from_fn_with_state(app.clone(), again::once))
        // Its answers are streams: neither tagged nor given again.
        .merge(mcp)
        .layer(from_fn_with_state(app, access::guard))
}

/// Whether the store answers. Says nothing of what is remembered: anybody may ask.
async fn health(State(app): State<App>) -> Result<Json<Value>, Problem> {
    let version = app.options().version;
    app.ask(None, |engine| engine.describe_store()).await?;
    Ok(Json(json!({"status": "ok", "version": version})))
}

async fn nothing_here() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address")
        .hint("/openapi.json lists what there is")
}

async fn not_so() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this address takes other methods",
    )
    .hint("the header `allow` names them")
}
