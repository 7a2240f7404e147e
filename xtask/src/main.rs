//! The project's own chores, run as `cargo xtask <verb>`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a terminal program for developers: its output is what it prints"
)]

mod agents;
mod api;
mod bench;
mod calls;
mod cargo;
mod check;
mod crash;
mod crowd;
mod deny;
mod desk;
mod dist;
mod fuzz;
mod layout;
mod mcp;
mod page;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
The project's own chores.

usage: cargo xtask <verb>

  check [--fast] [--keep-going]    format, clippy, tidy, tests and docs; --fast leaves out
                                   doc tests and docs, --keep-going runs what follows a failure
  tidy                             sizes, walls, names, links and the other rules of the house
  deny                             licences, sources, doubles and known holes of what we build on
  bench [ARGS]                     build the dist profile and print the figures of docs/benchmarks.md
  fuzz [TARGET] [--seconds N] [--jobs N]
                                   run the fuzz targets on stable, 60 s each unless told
  crash [--only NAME] [ARGS]       kill every writing command at random points, 200 times each:
                                   nothing that was acknowledged may be lost
  crowd [--separate] [ARGS]        40 processes write 50 records each to one store, among readers
  hooks [--calls N] [ARGS]         10,000 hook calls in a row: no process is left, and no file grows
                                   but the log, which has a cap
  page [--heirloom PATH]           drive the page in a real browser: axe, widths, edits, undo, two tabs
  dist                             build the binary that is shipped and check its size
  layout [--heirloom PATH]         write the linker script that puts what runs at a start side by side;
                                   needs valgrind, and is worth it when what starts has changed
  api [ARGS]                       ask `heirloom serve` whatever its description allows and forbids, with
                                   schemathesis from PyPI: it must find nothing
  agents [ARGS]                    drive real agent programs through `heirloom run`
  mcp [ARGS]                       the MCP server under the official suite, the inspector, and beside
                                   the reference server for knowledge graphs
  help                             this text
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (verb, rest) = match args.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", &[][..]),
    };
    match run(verb, rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {verb}: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one verb; the error is what to tell the developer.
fn run(verb: &str, args: &[String]) -> Result<(), String> {
    match verb {
        "check" => check::run(args),
        "tidy" => tidy::run(args),
        "bench" => bench::run(args),
        "fuzz" => fuzz::run(args),
        "crash" => crash::run(args),
        "crowd" => crowd::run(args),
        "hooks" => calls::run(args),
        "deny" => deny::run(args),
        "dist" => dist::run(args),
        "layout" => layout::run(args),
        "agents" => agents::run(args),
        "api" => api::run(args),
        "mcp" => mcp::run(args),
        "page" => page::run(args),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(format!("no verb `{other}`; `cargo xtask help` lists them")),
    }
}
