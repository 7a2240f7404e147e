//! What a server does besides answering: it prunes once a day, and keeps working memories when it ends.

use crate::App;
use heirloom_model::limits;
use std::time::Duration;

/// Prunes the served memory as `heirloom prune --apply` does: first when the server is not new any more, then each day.
pub(crate) async fn each_day(app: App) {
    let mut pause = Duration::from_secs(limits::SERVER_PRUNE_FIRST_S);
    loop {
        tokio::time::sleep(pause).await;
        // What cannot be pruned now is pruned tomorrow; nobody waits for it.
        drop(app.ask(None, |engine| engine.prune(None)).await);
        app.feeds().written();
        pause = Duration::from_secs(limits::SERVER_PRUNE_S);
    }
}

/// Keeps what agents hold for the next start, where the settings want that.
pub(crate) async fn keep_working(app: &App) {
    for (project, memory) in app.held().take_all() {
        // A disk that takes none of it is no reason not to end.
        let kept = app.ask(project, move |engine| {
            match engine.settings().snapshot_on_shutdown {
                true => engine.keep_working(&memory),
                false => Ok(()),
            }
        });
        drop(kept.await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::memories::tests::Nobody;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    #[tokio::test(start_paused = true)]
    async fn it_prunes_once_a_day() {
        let nobody = Nobody::default();
        let asked = Arc::clone(&nobody.asked);
        let app = App::new(Box::new(nobody), Options::default());
        let chores = tokio::spawn(each_day(app));
        let wait = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
        wait(limits::SERVER_PRUNE_FIRST_S - 1).await;
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        wait(60).await;
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        wait(limits::SERVER_PRUNE_S).await;
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        chores.abort();
    }
}
