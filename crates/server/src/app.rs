//! What every request may use, and which rooms answer it.

use crate::memories::Memories;
use crate::{Pool, Problem, Projects};
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use heirloom_engine::Engine;
use heirloom_model::Fault;
use serde_json::{Value, json};
use std::sync::Arc;

/// What a person decided when they started the server.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The program's version.
    pub version: &'static str,
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
}

impl App {
    /// An application over these memories.
    pub fn new(memories: Box<dyn Memories>, options: Options) -> Self {
        Self {
            inner: Arc::new(Inner {
                projects: Projects::new(memories),
                pool: Pool::default(),
                options,
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
}

/// All routes.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/health", get(health))
        .merge(crate::page::routes())
        .fallback(nothing_here)
        .with_state(app)
}

async fn health(State(app): State<App>) -> Result<Json<Value>, Problem> {
    let version = app.options().version;
    let project = app.ask(None, |engine| {
        engine.describe_store()?;
        Ok(engine.project().as_str().to_owned())
    });
    let project = project.await?;
    Ok(Json(
        json!({"status": "ok", "project": project, "version": version}),
    ))
}

async fn nothing_here() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address")
        .hint("/openapi.json lists what there is")
}
