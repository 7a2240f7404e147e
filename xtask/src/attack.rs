//! `attack`: campaigns of hostile and careless input against the built program.

mod mcp_lines;
mod secrets;
mod server;

use crate::cargo;

const HELP: &str = "\
usage: cargo xtask attack CAMPAIGN [ARGS]

  secrets [--seeds N] [--text FOLDER]
                                   generated secrets in every usual surrounding: each is redacted
  mcp-lines [--lines N] [--seed N] [--heirloom PATH]
                                   malformed requests on standard input of `heirloom mcp`: each gets an answer
  server [--clients N] [--heirloom PATH]
                                   pages of other origins, readers of other projects, revoked tokens and slow clients
                                   against a running server: none writes, reads or blocks
  projects                         what clones, archives, copies, pulls and agents in a shell try to get used: nothing is
";

/// Tests of `heirloom` about what a project must not reach.
const PROJECT_TESTS: &str = "test(trust::) | test(acting_agent::) | test(boundaries::) | test(placements::) | test(mirror_additions::) | test(claims::)";

/// Runs a campaign; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match args.split_first() {
        Some((name, rest)) if name == "secrets" => secrets::run(rest),
        Some((name, rest)) if name == "mcp-lines" => mcp_lines::run(rest),
        Some((name, rest)) if name == "server" => server::run(rest),
        Some((name, [])) if name == "projects" => cargo::run(&mut cargo::command([
            "nextest",
            "run",
            "-p",
            "heirloom",
            "-E",
            PROJECT_TESTS,
        ])),
        None => {
            print!("{HELP}");
            Ok(())
        }
        Some((name, _)) if name == "--help" || name == "-h" => {
            print!("{HELP}");
            Ok(())
        }
        Some((name, _)) => Err(format!("no campaign `{name}`\n{HELP}")),
    }
}
