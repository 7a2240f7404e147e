//! `pg`: runs a command with a temporary PostgreSQL cluster on loopback.
//!
//! The cluster belongs to an unprivileged user, because PostgreSQL refuses to run as the superuser, and is removed when the
//! command ends. Debian's package is installed where PostgreSQL is missing.

mod cluster;
mod programs;

use crate::cargo;
pub(crate) use cluster::{PostgresCluster, hand_over};
use std::process::Command;

/// Variable that names the cluster for tests.
pub(crate) const URL_VARIABLE: &str = "HEIRLOOM_TEST_POSTGRES";

const HELP: &str = "\
usage: cargo xtask pg [COMMAND [ARGS]]

Starts a temporary PostgreSQL cluster on loopback and runs COMMAND with its URL in HEIRLOOM_TEST_POSTGRES.
Without COMMAND it prints the URL and runs until its standard input ends or Ctrl-C.
";

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match args {
        [] => {
            let cluster = PostgresCluster::start(&[])?;
            println!("{URL_VARIABLE}={}", cluster.url());
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
            cargo::run(
                Command::new(program)
                    .args(rest)
                    .env(URL_VARIABLE, cluster.url()),
            )
        }
    }
}
