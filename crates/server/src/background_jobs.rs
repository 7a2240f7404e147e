//! Background jobs of a server: daily pruning, health checks, mirror updates, sentence vectors, and saving working memories at shutdown.

mod retention;

pub(crate) use retention::prune_daily;

use crate::App;
use crate::health_cache::{HealthReport, ServerFacts};
use crate::local_setup::LocalSetup;
use heirloom_engine::{Engine, HealthCheck};
use heirloom_model::{Fault, limits};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Updates the mirror of the served project periodically.
pub(crate) async fn update_mirror_periodically(app: App) {
    loop {
        tokio::time::sleep(Duration::from_millis(limits::MIRROR_PAUSE_MS)).await;
        update_mirror(&app).await;
    }
}

/// Computes sentence vectors of the served project's texts that have none, a few at a time, with pauses in which
/// requests are answered.
pub(crate) async fn embed_sentences_periodically(app: App) {
    let mut pause = pause_before_sentences(false);
    loop {
        tokio::time::sleep(pause).await;
        let done = app
            .with_engine(None, |engine| engine.maintenance().embed_quietly())
            .await;
        let are_waiting = matches!(&done, Ok(Some(report)) if report.missing > 0);
        pause = pause_before_sentences(are_waiting);
    }
}

/// Returns the pause before the next texts: longer if none waits, and after a failure.
fn pause_before_sentences(are_waiting: bool) -> Duration {
    Duration::from_millis(match are_waiting {
        true => limits::SENTENCE_PAUSE_MS,
        false => limits::SENTENCE_IDLE_MS,
    })
}

/// Updates the mirror if the project changed since the last update.
pub(crate) async fn update_mirror(app: &App) {
    drop(
        app.with_engine(None, |engine| engine.mirror().refresh())
            .await,
    );
}

/// Saves working memories for the next start, if the settings enable it.
pub(crate) async fn save_working_memories(app: &App) {
    for (project, memory) in app.working_memories().take_all() {
        // A failed write must not block the shutdown.
        let saved = app.with_engine(project, move |engine| {
            match engine.settings().snapshot_on_shutdown {
                true => engine.sessions().save_working_memory(&memory),
                false => Ok(()),
            }
        });
        drop(saved.await);
    }
}

/// Starts a review of a large project in the background.
pub(crate) fn start_review(app: &App, project: Option<String>) {
    let app = app.clone();
    tokio::spawn(async move {
        let reviews = Arc::clone(app.reviews());
        // A failed review is repeated at the next visit; nothing depends on it.
        drop(
            app.compute_with_engine(project, move |engine| match reviews.start(engine) {
                true => reviews.run(engine).map(drop),
                false => Ok(()),
            })
            .await,
        );
    });
}

/// Checks the served project after the start, and then hourly if something was written, otherwise daily.
pub(crate) async fn check_health_periodically(app: App) {
    let mut pause = Duration::from_secs(limits::SERVER_HEALTH_FIRST_S);
    loop {
        tokio::time::sleep(pause).await;
        let shared = app.clone();
        let needs_run = app.with_engine(None, move |engine| {
            shared.health().needs_periodic_run(None, engine)
        });
        // The page reports a store that cannot be opened; the next try is an hour later.
        if needs_run.await.unwrap_or(false) {
            check_health(&app, None).await;
        }
        pause = Duration::from_secs(limits::SERVER_HEALTH_S);
    }
}

/// Starts the health checks of a project in the background.
pub(crate) fn start_health_checks(app: &App, project: Option<String>) -> JoinHandle<()> {
    let app = app.clone();
    tokio::spawn(async move { check_health(&app, project).await })
}

/// Waits a moment for the end of health checks. The page shows a run that takes longer as running.
pub(crate) async fn wait_for_health_checks(run: JoinHandle<()>) {
    let wait = Duration::from_millis(limits::SERVER_HEALTH_WAIT_MS);
    drop(tokio::time::timeout(wait, run).await);
}

/// Runs the health checks of a project and stores their result, unless a run is in progress.
async fn check_health(app: &App, project: Option<String>) {
    if !app.health().start(project.as_deref()) {
        return;
    }
    // The setup is that of the served project.
    let setup = (app.options().setup.clone()).filter(|_| project.is_none());
    let checked = app.with_engine(project.clone(), move |engine| {
        let last_write = engine.records().last_write().ok().flatten();
        let (checks, server) = match run_checks(engine, setup.as_deref()) {
            Ok((checks, server)) => (Ok(checks), server),
            Err(fault) => (Err(fault), Vec::new()),
        };
        Ok(HealthReport::new(checks, server, engine.now(), last_write))
    });
    // The page itself reports a store that cannot be opened.
    let report = checked.await.ok();
    app.health().finish(project.as_deref(), report);
}

/// Runs the checks, and reads the facts about a database server.
fn run_checks(
    engine: &Engine,
    setup: Option<&dyn LocalSetup>,
) -> Result<(Vec<HealthCheck>, ServerFacts), Fault> {
    let is_shared = engine.maintenance().shared_status()?.is_some();
    let Some(setup) = setup else {
        return Ok((engine.examine(), Vec::new()));
    };
    let server = match is_shared {
        true => setup.server_facts()?,
        false => Vec::new(),
    };
    Ok((setup.examine()?, server))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerOptions;
    use crate::engine_registry::tests::NoProject;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    #[tokio::test(start_paused = true)]
    async fn sentences_are_computed_after_pauses() {
        let provider = NoProject::default();
        let calls = Arc::clone(&provider.calls);
        let app = App::new(Box::new(provider), ServerOptions::default());
        let chores = tokio::spawn(embed_sentences_periodically(app));
        tokio::time::sleep(Duration::from_millis(limits::SENTENCE_IDLE_MS - 1)).await;
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        // The project cannot be opened: the next try is a long pause later.
        tokio::time::sleep(Duration::from_millis(limits::SENTENCE_PAUSE_MS)).await;
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        chores.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn health_checks_are_awaited_until_the_limit() {
        for (run_ms, waited_ms) in [
            (
                limits::SERVER_HEALTH_WAIT_MS - 1,
                limits::SERVER_HEALTH_WAIT_MS - 1,
            ),
            (
                limits::SERVER_HEALTH_WAIT_MS + 1,
                limits::SERVER_HEALTH_WAIT_MS,
            ),
        ] {
            let began = tokio::time::Instant::now();
            let run = tokio::spawn(tokio::time::sleep(Duration::from_millis(run_ms)));
            wait_for_health_checks(run).await;
            assert_eq!(began.elapsed(), Duration::from_millis(waited_ms));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn health_is_checked_after_the_start_and_hourly() {
        let provider = NoProject::default();
        let calls = Arc::clone(&provider.calls);
        let app = App::new(Box::new(provider), ServerOptions::default());
        let chores = tokio::spawn(check_health_periodically(app));
        let wait = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
        wait(limits::SERVER_HEALTH_FIRST_S - 1).await;
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        wait(60).await;
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        wait(limits::SERVER_HEALTH_S).await;
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        chores.abort();
    }
}
