//! `fleet`: several servers over one database, under load and with faults.
//!
//! Prints durable writes and recalls per second next to those of `pgbench` with the same statements in the same run, and kills
//! servers and the database's connections meanwhile: every acknowledged write must be present, once.

mod baseline;
mod faults;
mod http;
mod large_project;
mod load;
mod options;
mod report;
mod servers;

use crate::cargo;
use crate::postgres::PostgresCluster;
use crate::sandbox;
use faults::WorkerCommands;
use load::{Extent, Load, Operation};
use options::FleetOptions;
use report::Report;
use servers::Fleet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Projects of the first measurement of latencies.
const PROJECTS_FEW: usize = 10;
/// Projects of the writes during faults.
const FAULT_PROJECTS: usize = 20;
/// Memory of the database for its pages: the usual share of this machine's, which holds the rows of all projects.
const SHARED_BUFFERS: &str = "shared_buffers=2GB";
/// Repetitions of the writes and the baseline, of which the median is taken.
const ROUNDS: usize = 3;

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let Some(options) = options::parse(args)? else {
        print!("{}", options::HELP);
        return Ok(());
    };
    let binary = match &options.heirloom {
        Some(path) => path
            .canonicalize()
            .map_err(|error| sandbox::io_error("find", path, &error))?,
        None => sandbox::build_heirloom()?,
    };
    let root = cargo::target_dir()?.join("fleet");
    if options.has_faults_only {
        return run_faults(&binary, &root, &options);
    }
    let cluster = match &options.url {
        Some(_) => None,
        None => Some(PostgresCluster::start(&[
            "max_connections=200",
            SHARED_BUFFERS,
        ])?),
    };
    let url = options
        .url
        .clone()
        .or_else(|| cluster.as_ref().map(PostgresCluster::url))
        .ok_or("no database")?;
    let mark = if url.contains('?') { '&' } else { '?' };
    let address = format!("{url}{mark}prepared_statements=on");
    let mut fleet = Fleet::start(&binary, &root, &address, options.servers)?;
    let group = options.record.as_deref().unwrap_or("fleet");
    let mut report = Report::new(group);
    if options.has_large_project_only {
        let seconds = options.seconds;
        large_project::measure(&mut fleet, &binary, &root, &url, seconds, &mut report)?;
        return match options.record {
            Some(_) => report.record(),
            None => Ok(()),
        };
    }
    let load = Load {
        name: "load",
        projects: options.projects,
        clients: options.clients,
    };
    measure_projects(&mut fleet, &load, &options, &url, &mut report)?;
    measure_rates(&fleet, &load, &options, &url, &mut report)?;
    let kept = faults::kill_servers(&mut fleet, &load, options.kills)?;
    report.value("kills", "writes", kept as f64);
    let kept = faults::terminate_connections(&fleet, &load, &url, options.kills)?;
    report.value("connections", "writes", kept as f64);
    match options.record {
        Some(_) => report.record(),
        None => Ok(()),
    }
}

/// Does what the database would do in the background during the measurement.
fn vacuum_database(url: &str) -> Result<(), String> {
    let vacuum = [
        "--command",
        "VACUUM ANALYZE",
        "--command",
        "CHECKPOINT",
        url,
    ];
    let mut psql = Command::new("psql");
    cargo::run(psql.args(["--quiet", "--no-psqlrc"]).args(vacuum))
}

/// Seeds the projects, and measures latencies with few and with all of them over one connection.
fn measure_projects(
    fleet: &mut Fleet,
    load: &Load,
    options: &FleetOptions,
    url: &str,
    report: &mut Report,
) -> Result<(), String> {
    let time = Extent::Time(Duration::from_secs(options.seconds));
    let few = Load {
        projects: load.projects.min(PROJECTS_FEW),
        ..*load
    };
    let mut medians = Vec::new();
    if load.projects <= few.projects {
        return Err(format!("--projects must be above {PROJECTS_FEW}"));
    }
    for (load, first) in [(few, 0), (*load, few.projects)] {
        load.seed(fleet, first, options.records)?;
        vacuum_database(url)?;
        if load.projects > few.projects {
            fleet.restart_process(0)?;
            let once = Extent::Numbers(0..load.projects);
            let cold = load.measure(fleet, 1, Operation::Recall, &once)?;
            report.value("recall_cold_rate", "/s", cold.per_second);
            report.latency("recall_cold", cold.median, cold.p99);
        }
        load.fill_caches(fleet, fleet.len())?;
        let one = load.with_clients(1);
        let recall = one.measure(fleet, 1, Operation::Recall, &time)?;
        let write = one.measure(fleet, 1, Operation::Write, &time)?;
        println!(
            "{} projects: recall {:.2} ms, write {:.2} ms",
            load.projects, recall.median, write.median
        );
        medians.push((recall, write));
    }
    if let [few, all] = &medians[..] {
        report.latency("recall_one", all.0.median, all.0.p99);
        report.latency("write_one", all.1.median, all.1.p99);
        report.value("recall_growth", "×", all.0.median / few.0.median);
        report.value("write_growth", "×", all.1.median / few.1.median);
    }
    Ok(())
}

/// Measures rates with all connections: recalls from the cache, and writes next to the baseline.
fn measure_rates(
    fleet: &Fleet,
    load: &Load,
    options: &FleetOptions,
    url: &str,
    report: &mut Report,
) -> Result<(), String> {
    let time = Extent::Time(Duration::from_secs(options.seconds));
    load.fill_caches(fleet, fleet.len())?;
    for (id, servers) in [("", 1), ("_all", fleet.len())] {
        let rate = load.measure(fleet, servers, Operation::Recall, &time)?;
        report.value(&format!("recall{id}_rate"), "/s", rate.per_second);
        report.latency(&format!("recall{id}"), rate.median, rate.p99);
    }
    // Writes and baseline alternate, because the speed of a shared machine changes.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(load.measure(fleet, 1, Operation::Write, &time)?);
        theirs.push(baseline::measure(url, load, options.seconds)?);
    }
    let all = load.measure(fleet, fleet.len(), Operation::Write, &time)?;
    ours.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    theirs.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    let (ours, theirs) = (ours[ROUNDS / 2], theirs[ROUNDS / 2]);
    report.value("write_rate", "/s", ours.per_second);
    report.latency("write", ours.median, ours.p99);
    report.value("write_all_rate", "/s", all.per_second);
    report.latency("write_all", all.median, all.p99);
    report.value("baseline_rate", "/s", theirs.per_second);
    report.value("write_share", "×", ours.per_second / theirs.per_second);
    let resident = fleet.resident()?.into_iter().fold(0.0, f64::max);
    report.value("resident", "MB", resident);
    Ok(())
}

/// Stops one worker of Citus while the projects on the others are used.
fn run_worker_loss(
    binary: &Path,
    root: &Path,
    options: &FleetOptions,
    (url, commands): (&str, WorkerCommands<'_>),
) -> Result<(), String> {
    let mut report = Report::new("citus-faults");
    let load = Load {
        name: "worker",
        projects: FAULT_PROJECTS,
        clients: options.clients,
    };
    let fleet = Fleet::start(binary, root, url, 1)?;
    load.seed(&fleet, 0, 1)?;
    let loss = faults::lose_worker(&fleet, &load, &commands)?;
    report.value("worker_share", "%", loss.unaffected_percent());
    report.value("worker_write", "ms", loss.median);
    report.value("worker_recovery", "s", loss.recovery);
    match options.record {
        Some(_) => report.record(),
        None => Ok(()),
    }
}

/// Runs the faults that need clusters of their own.
fn run_faults(binary: &Path, root: &Path, options: &FleetOptions) -> Result<(), String> {
    if let (Some(url), Some(stop), Some(start)) =
        (&options.url, &options.stop_worker, &options.start_worker)
    {
        let commands = WorkerCommands { stop, start };
        return run_worker_loss(binary, root, options, (url, commands));
    }
    let mut report = Report::new("faults");
    let load = Load {
        name: "load",
        projects: FAULT_PROJECTS,
        clients: options.clients,
    };
    let mut cluster = PostgresCluster::start(&[])?;
    let fleet = Fleet::start(binary, root, &cluster.url(), options.servers)?;
    let (writes, seconds) = faults::restart_primary(&fleet, &load, &mut cluster)?;
    report.value("restart", "writes", writes as f64);
    report.value("restart_recovery", "s", seconds);
    drop((fleet, cluster));
    let (writes, seconds) = faults::promote_replica(binary, root, &load)?;
    report.value("promotion", "writes", writes as f64);
    report.value("promotion_recovery", "s", seconds);
    let writes = faults::fill_disk(binary, root, &load)?;
    report.value("full_disk", "writes", writes as f64);
    match options.record {
        Some(_) => report.record(),
        None => Ok(()),
    }
}
