//! Loss of one worker of Citus while the others are used.

use super::Load;
use crate::cargo;
use crate::fleet::http::Answer;
use crate::fleet::servers::Fleet;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Longest time until writes to the lost projects succeed again.
const RECOVERY_MAX: Duration = Duration::from_secs(60);

/// Commands of the shell that stop and start a worker.
#[derive(Debug, Clone, Copy)]
pub(in crate::fleet) struct WorkerCommands<'a> {
    pub(in crate::fleet) stop: &'a str,
    pub(in crate::fleet) start: &'a str,
}

/// Outcome of the loss of a worker.
#[derive(Debug)]
pub(in crate::fleet) struct WorkerLoss {
    /// Projects that accepted writes while the worker was lost, and those that did not.
    pub(in crate::fleet) unaffected: usize,
    pub(in crate::fleet) affected: usize,
    /// Median time of a write to an unaffected project, milliseconds.
    pub(in crate::fleet) median: f64,
    /// Time from the return of the worker until all projects accept writes, seconds.
    pub(in crate::fleet) recovery: f64,
}

impl WorkerLoss {
    /// Returns the share of projects that accepted writes, percent.
    pub(in crate::fleet) fn unaffected_percent(&self) -> f64 {
        100.0 * self.unaffected as f64 / (self.unaffected + self.affected) as f64
    }
}

/// Stops a worker, writes to every project, and starts it again.
pub(in crate::fleet) fn lose_worker(
    fleet: &Fleet,
    load: &Load,
    commands: &WorkerCommands<'_>,
) -> Result<WorkerLoss, String> {
    shell(commands.stop)?;
    let (mut times, mut affected) = (Vec::new(), Vec::new());
    for project in 0..load.projects {
        let began = Instant::now();
        match write_to(fleet, load, project) {
            Some(Answer { status: 201, .. }) => times.push(began.elapsed()),
            Some(Answer {
                status: 503,
                has_retry_after: true,
                ..
            }) => affected.push(project),
            other => return Err(format!("a write without the worker: {other:?}")),
        }
    }
    shell(commands.start)?;
    let began = Instant::now();
    for project in &affected {
        while write_to(fleet, load, *project).is_none_or(|answer| answer.status != 201) {
            if began.elapsed() > RECOVERY_MAX {
                return Err(format!("{} does not recover", load.project(*project)));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
    let recovery = began.elapsed().as_secs_f64();
    times.sort_unstable();
    let median = times.get(times.len() / 2);
    let median = median.ok_or("no project accepts writes without the worker")?;
    if affected.is_empty() {
        return Err("no project is on the lost worker".to_owned());
    }
    Ok(WorkerLoss {
        unaffected: times.len(),
        affected: affected.len(),
        median: median.as_secs_f64() * 1e3,
        recovery,
    })
}

/// Writes a fact to one project.
fn write_to(fleet: &Fleet, load: &Load, project: usize) -> Option<Answer> {
    let mut client = fleet.connect(0)?;
    let mut fact = load.fact(super::unused_number());
    fact["project"] = serde_json::json!(load.project(project));
    client.request("POST", "/api/memory/knowledge", Some(&fact))
}

fn shell(command: &str) -> Result<(), String> {
    cargo::run(Command::new("sh").args(["-c", command]))
}
