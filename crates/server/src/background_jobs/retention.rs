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

/// Prunes a project in steps, between which requests are answered.
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
        // Requests that came meanwhile are answered first.
        tokio::task::yield_now().await;
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
}
