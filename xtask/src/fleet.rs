//! `fleet`: several servers over one database, under load and with faults.
//!
//! Prints durable writes and recalls per second next to those of `pgbench` with the same statements in the same run, and kills
//! servers and the database's connections meanwhile: every acknowledged write must be present, once.

mod baseline;
mod faults;
mod http;
mod load;
mod servers;

use crate::cargo;
use crate::postgres::PostgresCluster;
use crate::sandbox;
use load::{Load, Operation};
use servers::Fleet;
use std::path::PathBuf;

const HELP: &str = "\
usage: cargo xtask fleet [--url URL] [--servers N] [--projects N] [--records N] [--clients N] [--seconds N] [--kills N]
                         [--heirloom PATH]

  --url URL        an empty database instead of a temporary PostgreSQL cluster, for example a coordinator of Citus
  --servers N      servers (3)
  --projects N     projects (100)
  --records N      records of each project before the load (100)
  --clients N      connections of the load (64)
  --seconds N      time of each measurement (10)
  --kills N        kills of a server, and of the database's connections (50)
  --heirloom PATH  this binary instead of building one
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
    let mut fleet = Fleet::start(&binary, &root, &url, options.servers)?;
    let load = Load {
        projects: options.projects,
        clients: options.clients,
        seconds: options.seconds,
    };
    load.seed(&fleet, options.records)?;
    let texts = options.projects * options.records;
    println!(
        "seed       {texts} records in {} projects",
        options.projects
    );
    for servers in [1, options.servers] {
        let rate = load.measure(&fleet, servers, Operation::Write)?;
        println!("write      {servers} servers: {rate}");
    }
    println!(
        "baseline   pgbench, the same writes: {}",
        baseline::measure(&url, &load)?
    );
    for servers in [1, options.servers] {
        let rate = load.measure(&fleet, servers, Operation::Recall)?;
        println!("recall     {servers} servers: {rate}");
    }
    println!("memory     {}", fleet.resident()?);
    faults::kill_servers(&mut fleet, &load, options.kills)?;
    faults::terminate_connections(&fleet, &load, &url, options.kills)?;
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
        assert!(parsed("--other 1").is_err());
    }
}
