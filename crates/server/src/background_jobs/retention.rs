//! Daily retirement of records beyond their retention.

use crate::App;
use heirloom_engine::Engine;
use heirloom_model::text::counted;
use heirloom_model::{Fault, limits};
use std::time::Duration;

/// Retires records beyond their retention as `heirloom prune --apply` does: once shortly after the start, then daily.
///
/// The history has each retirement with the source `prune`.
pub(crate) async fn prune_daily(app: App) {
    let mut pause = Duration::from_secs(limits::SERVER_PRUNE_FIRST_S);
    loop {
        tokio::time::sleep(pause).await;
        prune_projects(&app).await;
        pause = Duration::from_secs(limits::SERVER_PRUNE_S);
    }
}

async fn prune_projects(app: &App) {
    match app.with_engine(None, pruned_projects).await {
        Ok(projects) => {
            for project in projects {
                prune_project(app, project).await;
            }
        }
        // It is repeated the next day; nothing depends on it.
        Err(problem) => log(app, &format!("retention: {}", problem.detail)),
    }
}

/// Returns the projects to prune, the served one as `None`: all of a store on this machine. On a database server the
/// other projects have retention settings of their own, on the machines that serve them.
fn pruned_projects(engine: &Engine) -> Result<Vec<Option<String>>, Fault> {
    let is_shared = engine.maintenance().shared_status()?.is_some();
    let others = match is_shared {
        true => Vec::new(),
        false => engine.records().projects()?,
    };
    let others = others.iter().filter(|name| *name != engine.project());
    let others = others.map(|name| Some(name.as_str().to_owned()));
    Ok(std::iter::once(None).chain(others).collect())
}

/// Prunes a project in steps, with pauses in which requests are answered.
async fn prune_project(app: &App, project: Option<String>) {
    let name = project.clone().unwrap_or_else(|| "served".to_owned());
    loop {
        let step = app.with_engine(project.clone(), |engine| {
            engine.maintenance().prune(limits::PRUNE_STEP_RECORDS_MAX)
        });
        let retired = match step.await {
            Ok(report) => report.records().count(),
            Err(problem) => {
                log(
                    app,
                    &format!("retention of project {name}: {}", problem.detail),
                );
                return;
            }
        };
        if retired > 0 {
            app.feeds().wake_after_write();
            let records = counted(retired, "record", "records");
            log(
                app,
                &format!("retention of project {name}: {records} retired"),
            );
        }
        if retired < limits::PRUNE_STEP_RECORDS_MAX {
            return;
        }
        tokio::time::sleep(Duration::from_millis(limits::SERVER_PRUNE_PAUSE_MS)).await;
    }
}

/// Writes a line to the server's log, if it is enabled.
fn log(app: &App, line: &str) {
    if let Some(log) = app.options().log {
        log(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerOptions;
    use crate::engine_registry::EngineProvider;
    use crate::engine_registry::tests::NoProject;
    use heirloom_engine::{Filter, NewEpisode};
    use heirloom_fs::project_fs::ProjectPaths;
    use heirloom_model::kinds::EpisodeAction;
    use heirloom_model::{FixedClock, Kind, ProjectName, Settings};
    use heirloom_store::SqliteStore;
    use std::path::Path;
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, Mutex};

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

    static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Provider of one memory in a store of this process.
    struct OneMemory(Arc<SqliteStore>);

    impl OneMemory {
        fn engine(&self, name: &str, now: &str) -> Engine {
            let place = ProjectPaths {
                root: "/nowhere".into(),
                folder: "/nowhere/.heirloom".into(),
                config: "/nowhere/.heirloom/config.toml".into(),
            };
            let clock = Arc::new(FixedClock(now.parse().unwrap()));
            let name = ProjectName::new(name).unwrap();
            let store = Arc::clone(&self.0);
            Engine::new(store, name, place, Settings::default(), clock).unwrap()
        }
    }

    impl EngineProvider for OneMemory {
        fn open_served(&self) -> Result<Engine, Fault> {
            Ok(self.engine("served", NOW))
        }

        fn open_folder(&self, _: &Path) -> Result<Engine, Fault> {
            Err(Fault::not_found("no project exists"))
        }
    }

    const LONG_AGO: &str = "2026-01-01T10:00:00Z";
    const NOW: &str = "2026-05-01T10:00:00Z";

    fn episode_count(engine: &Engine) -> usize {
        let filter = Filter::current(&[Kind::Episode], engine.now());
        engine.records().count(&filter).unwrap()
    }

    #[tokio::test]
    async fn records_of_all_projects_are_retired_in_steps() {
        let memory = OneMemory(Arc::new(SqliteStore::memory().unwrap()));
        let log = |engine: &Engine| {
            let mut episode = NewEpisode::new("7", EpisodeAction::Completed);
            episode.source = Some("coder".to_owned());
            engine.tasks().log_episode(episode).unwrap()
        };
        let (served, other) = (
            memory.engine("served", LONG_AGO),
            memory.engine("other", LONG_AGO),
        );
        for _ in 0..=limits::PRUNE_STEP_RECORDS_MAX {
            log(&served);
        }
        log(&other);
        log(&memory.engine("served", NOW));
        let options = ServerOptions {
            log: Some(|line| LOGGED.lock().unwrap().push(line.to_owned())),
            ..ServerOptions::default()
        };
        let store = Arc::clone(&memory.0);
        prune_projects(&App::new(Box::new(memory), options)).await;
        let logged = [
            "retention of project served: 1000 records retired",
            "retention of project served: 1 record retired",
            "retention of project other: 1 record retired",
        ];
        assert_eq!(*LOGGED.lock().unwrap(), logged);
        let memory = OneMemory(store);
        assert_eq!(episode_count(&memory.engine("served", NOW)), 1);
        assert_eq!(episode_count(&memory.engine("other", NOW)), 0);
    }
}
