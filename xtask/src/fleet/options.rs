//! Options of the command line.

use crate::bench::metrics::FLEET as FLEET_GROUPS;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
usage: cargo xtask fleet [--url URL] [--servers N] [--projects N] [--records N] [--clients N] [--seconds N] [--kills N]
                         [--heirloom PATH] [--record GROUP]
       cargo xtask fleet --large [--url URL] [--seconds N] [--heirloom PATH] [--record GROUP]
       cargo xtask fleet --faults [--heirloom PATH] [--record faults]
       cargo xtask fleet --faults --url URL --stop-worker COMMAND --start-worker COMMAND [--record citus-faults]

  --url URL        an empty database instead of a temporary PostgreSQL cluster, for example a coordinator of Citus
  --servers N      servers (3)
  --projects N     projects (100)
  --records N      records of each project before the load (100)
  --clients N      connections of the load (64)
  --seconds N      time of each measurement (10)
  --kills N        kills of a server, and of the database's connections (50)
  --heirloom PATH  this binary instead of building one
  --record GROUP   write bench/results/GROUP.json: `fleet`, `citus` for a coordinator of Citus, or `faults`
  --large          measure one large project next to SQLite instead; its groups are `fleet-large` and `citus-large`
  --faults         crash a primary, promote a replica, and fill a disk, instead of measuring; the last needs the superuser
  --stop-worker COMMAND, --start-worker COMMAND
                   stop one worker of Citus, write to all projects, and start it again
";

/// Options of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FleetOptions {
    pub(super) url: Option<String>,
    pub(super) servers: usize,
    pub(super) projects: usize,
    pub(super) records: usize,
    pub(super) clients: usize,
    pub(super) seconds: u64,
    pub(super) kills: usize,
    pub(super) heirloom: Option<PathBuf>,
    pub(super) record: Option<String>,
    pub(super) has_faults_only: bool,
    pub(super) has_large_project_only: bool,
    pub(super) stop_worker: Option<String>,
    pub(super) start_worker: Option<String>,
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
            has_faults_only: false,
            has_large_project_only: false,
            stop_worker: None,
            start_worker: None,
        }
    }
}

/// Parses the command line; `None` if it asks for help.
pub(super) fn parse(args: &[String]) -> Result<Option<FleetOptions>, String> {
    let mut options = FleetOptions::default();
    let mut args = args.iter();
    while let Some(name) = args.next() {
        if name == "--help" || name == "-h" {
            return Ok(None);
        }
        match name.as_str() {
            "--faults" => options.has_faults_only = true,
            "--large" => options.has_large_project_only = true,
            _ => {}
        }
        if matches!(name.as_str(), "--faults" | "--large") {
            continue;
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
            "--stop-worker" => options.stop_worker = Some(value.clone()),
            "--start-worker" => options.start_worker = Some(value.clone()),
            "--heirloom" => options.heirloom = Some(PathBuf::from(value)),
            other => return Err(format!("unexpected `{other}`\n{HELP}")),
        }
    }
    match (&options.stop_worker, &options.start_worker) {
        (Some(_), None) | (None, Some(_)) => {
            Err("--stop-worker and --start-worker belong together".to_owned())
        }
        _ => Ok(Some(options)),
    }
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
        assert!(parsed("--stop-worker true").is_err());
        assert!(parsed("--other 1").is_err());
    }
}
