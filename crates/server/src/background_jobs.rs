//! Background jobs of a server: daily pruning, mirror updates, sentence vectors, and saving working memories at shutdown.

use crate::App;
use heirloom_model::limits;
use std::sync::Arc;
use std::time::Duration;

/// Prunes the served project as `heirloom prune --apply` does: once shortly after the start, then daily.
pub(crate) async fn prune_daily(app: App) {
    let mut pause = Duration::from_secs(limits::SERVER_PRUNE_FIRST_S);
    loop {
        tokio::time::sleep(pause).await;
        // A failed prune is repeated the next day; nothing depends on it.
        drop(
            app.with_engine(None, |engine| engine.maintenance().prune(None))
                .await,
        );
        app.feeds().wake_after_write();
        pause = Duration::from_secs(limits::SERVER_PRUNE_S);
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerOptions;
    use crate::engine_registry::tests::NoProject;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    #[tokio::test(start_paused = true)]
    async fn prune_runs_once_a_day() {
        let provider = NoProject::default();
        let calls = Arc::clone(&provider.calls);
        let app = App::new(Box::new(provider), ServerOptions::default());
        let chores = tokio::spawn(prune_daily(app));
        let wait = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
        wait(limits::SERVER_PRUNE_FIRST_S - 1).await;
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        wait(60).await;
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        wait(limits::SERVER_PRUNE_S).await;
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        chores.abort();
    }

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
}
