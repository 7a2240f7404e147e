//! `pg`: runs a command with a temporary PostgreSQL cluster on loopback.
//!
//! The cluster belongs to an unprivileged user, because PostgreSQL refuses to run as the superuser, and is removed when the
//! command ends. Debian's package is installed where PostgreSQL is missing.

mod cluster;
mod pooler;
mod programs;

use crate::cargo;
pub(crate) use cluster::{PostgresCluster, hand_over};
pub(crate) use pooler::ConnectionPooler;
use std::process::Command;

/// Variable that names the cluster for tests.
pub(crate) const URL_VARIABLE: &str = "HEIRLOOM_TEST_POSTGRES";

/// Variable that names the cluster behind PgBouncer for tests.
pub(crate) const POOLER_URL_VARIABLE: &str = "HEIRLOOM_TEST_PGBOUNCER";

const HELP: &str = "\
usage: cargo xtask pg [COMMAND [ARGS]]

Starts a temporary PostgreSQL cluster on loopback, with PgBouncer in transaction mode in front of it, and runs COMMAND
with its URL in HEIRLOOM_TEST_POSTGRES and that of PgBouncer in HEIRLOOM_TEST_PGBOUNCER.
Without COMMAND it prints the URLs and runs until its standard input ends or Ctrl-C.
";

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match args {
        [] => {
            let cluster = PostgresCluster::start(&[])?;
            let pooler = ConnectionPooler::start(&cluster)?;
            println!("{URL_VARIABLE}={}", cluster.url());
            println!("{POOLER_URL_VARIABLE}={}", pooler.url());
            std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())
                .map_err(|error| format!("standard input: {error}"))?;
            Ok(())
        }
        [option] if option == "--help" || option == "-h" => {
            print!("{HELP}");
            Ok(())
        }
        [program, rest @ ..] => {
            let cluster = PostgresCluster::start(&[])?;
            let pooler = ConnectionPooler::start(&cluster)?;
            cargo::run(
                Command::new(program)
                    .args(rest)
                    .env(URL_VARIABLE, cluster.url())
                    .env(POOLER_URL_VARIABLE, pooler.url()),
            )
        }
    }
}
