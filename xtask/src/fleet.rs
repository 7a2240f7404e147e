//! `fleet`: several servers over one database, under load and with faults.
//!
//! Prints durable writes and recalls per second next to those of `pgbench` with the same statements in the same run, and kills
//! servers and the database's connections meanwhile: every acknowledged write must be present, once.

mod baseline;
mod faults;
mod http;
mod large_project;
mod load;
mod report;
mod servers;

use crate::bench::metrics::FLEET as FLEET_GROUPS;
use crate::cargo;
use crate::postgres::PostgresCluster;
use crate::sandbox;
use load::{Extent, Load, Operation};
use report::Report;
use servers::Fleet;
use std::path::PathBuf;
use std::time::Duration;

/// Projects of the first measurement of latencies.
const PROJECTS_FEW: usize = 10;
/// Repetitions of the writes and the baseline, of which the median is taken.
const ROUNDS: usize = 3;

const HELP: &str = "\
usage: cargo xtask fleet [--url URL] [--servers N] [--projects N] [--records N] [--clients N] [--seconds N] [--kills N]
                         [--heirloom PATH] [--record GROUP]

  --url URL        an empty database instead of a temporary PostgreSQL cluster, for example a coordinator of Citus
  --servers N      servers (3)
  --projects N     projects (100)
  --records N      records of each project before the load (100)
  --clients N      connections of the load (64)
  --seconds N      time of each measurement (10)
  --kills N        kills of a server, and of the database's connections (50)
  --heirloom PATH  this binary instead of building one
  --record GROUP   write bench/results/GROUP.json: `fleet`, or `citus` for a coordinator of Citus
";

/// Options of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FleetOptions {
    url: Option<String>,
    servers: usize,
    projects: usize,
    records: usize,
    clients: usize,
    seconds: u64,
    kills: usize,
    heirloom: Option<PathBuf>,
    record: Option<String>,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            url: None,
            servers: 3,
            projects: 100,
            records: 100,
            clients: 64,
            seconds: 10,
            kills: 50,
            heirloom: None,
            record: None,
        }
    }
}

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let Some(options) = parse(args)? else {
        print!("{HELP}");
        return Ok(());
    };
    let binary = match &options.heirloom {
        Some(path) => path
            .canonicalize()
            .map_err(|error| sandbox::io_error("find", path, &error))?,
        None => sandbox::build_heirloom()?,
    };
    let cluster = match &options.url {
        Some(_) => None,
        None => Some(PostgresCluster::start(&["max_connections=200"])?),
    };
    let url = options
        .url
        .clone()
        .or_else(|| cluster.as_ref().map(PostgresCluster::url))
        .ok_or("no database")?;
    let root = cargo::target_dir()?.join("fleet");
    let mark = if url.contains('?') { '&' } else { '?' };
    let address = format!("{url}{mark}prepared_statements=on");
    let mut fleet = Fleet::start(&binary, &root, &address, options.servers)?;
    let group = options.record.as_deref().unwrap_or("fleet");
    let mut report = Report::new(group);
    let load = Load {
        name: "load",
        projects: options.projects,
        clients: options.clients,
    };
    measure_projects(&mut fleet, &load, &options, &mut report)?;
    measure_rates(&fleet, &load, &options, &url, &mut report)?;
    let kept = faults::kill_servers(&mut fleet, &load, options.kills)?;
    report.value("kills", "writes", kept as f64);
    let kept = faults::terminate_connections(&fleet, &load, &url, options.kills)?;
    report.value("connections", "writes", kept as f64);
    large_project::measure(&mut fleet, &binary, &root, options.seconds, &mut report)?;
    match options.record {
        Some(_) => report.record(),
        None => Ok(()),
    }
}

/// Seeds the projects, and measures latencies with few and with all of them over one connection.
fn measure_projects(
    fleet: &mut Fleet,
    load: &Load,
    options: &FleetOptions,
    report: &mut Report,
) -> Result<(), String> {
    let time = Extent::Time(Duration::from_secs(options.seconds));
    let few = Load {
        projects: load.projects.min(PROJECTS_FEW),
        ..*load
    };
    let mut medians = Vec::new();
    for (load, first) in [(few, 0), (*load, few.projects)] {
        load.seed(fleet, first, options.records)?;
        if first > 0 {
            fleet.restart_process(0)?;
            let once = Extent::Numbers(0..load.projects);
            let cold = load.measure(fleet, 1, Operation::Recall, once)?;
            report.value("recall_cold_rate", "/s", cold.per_second);
            report.latency("recall_cold", cold.median, cold.p99);
        }
        load.fill_caches(fleet, fleet.len())?;
        let one = load.with_clients(1);
        let recall = one.measure(fleet, 1, Operation::Recall, time.clone())?;
        let write = one.measure(fleet, 1, Operation::Write, time.clone())?;
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
        let rate = load.measure(fleet, servers, Operation::Recall, time.clone())?;
        report.value(&format!("recall{id}_rate"), "/s", rate.per_second);
        report.latency(&format!("recall{id}"), rate.median, rate.p99);
    }
    // Writes and baseline alternate, because the speed of a shared machine changes.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(load.measure(fleet, 1, Operation::Write, time.clone())?);
        theirs.push(baseline::measure(url, load, options.seconds)?);
    }
    let all = load.measure(fleet, fleet.len(), Operation::Write, time)?;
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

fn parse(args: &[String]) -> Result<Option<FleetOptions>, String> {
    let mut options = FleetOptions::default();
    let mut args = args.iter();
    while let Some(name) = args.next() {
        if name == "--help" || name == "-h" {
            return Ok(None);
        }
        let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || {
            let number = value.parse().ok().filter(|number| *number > 0);
            number.ok_or_else(|| format!("{name} {value}: not a number above 0"))
        };
        match name.as_str() {
            "--url" => options.url = Some(value.clone()),
            "--servers" => options.servers = number()?,
            "--projects" => options.projects = number()?,
            "--records" => options.records = number()?,
            "--clients" => options.clients = number()?,
            "--seconds" => options.seconds = number()? as u64,
            "--kills" => options.kills = number()?,
            "--record" if FLEET_GROUPS.contains(&value.as_str()) => {
                options.record = Some(value.clone());
            }
            "--record" => return Err(format!("`{value}` is no group of results")),
            "--heirloom" => options.heirloom = Some(PathBuf::from(value)),
            other => return Err(format!("unexpected `{other}`\n{HELP}")),
        }
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_numbers_and_refuses_others() {
        let parsed = |line: &str| {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            parse(&args)
        };
        assert_eq!(parsed(""), Ok(Some(FleetOptions::default())));
        let few = FleetOptions {
            servers: 2,
            kills: 3,
            ..FleetOptions::default()
        };
        assert_eq!(parsed("--servers 2 --kills 3"), Ok(Some(few)));
        assert_eq!(parsed("--help"), Ok(None));
        assert!(parsed("--servers 0").is_err());
        assert!(parsed("--servers").is_err());
        assert!(parsed("--record start").is_err());
        assert!(parsed("--other 1").is_err());
    }
}
