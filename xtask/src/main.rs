//! Development tasks of the project, run as `cargo xtask <verb>`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a terminal program for developers: its output is what it prints"
)]

mod agents;
mod api;
mod attack;
mod bench;
mod cargo;
mod check;
mod check_targets;
mod clients;
mod crash;
mod crowd;
mod debian_packages;
mod deny;
mod dist;
mod fit;
mod fleet;
mod fuzz;
mod hook_load;
mod mcp;
mod package;
mod page;
mod postgres;
mod sandbox;
mod secret_formats;
mod tidy;
mod unix_files;

use std::process::ExitCode;

const HELP: &str = "\
Development tasks of the project.

usage: cargo xtask <verb>

  check [--fast] [--require-all]   format, clippy, tidy, tests and docs; --fast leaves out
                                   doc tests and docs, --require-all fails the tests whose
                                   prerequisite (strace, Citus, …) is missing, which are skipped otherwise
  tidy [--update-language [--grow]]
                                   sizes, dependencies, names, links, language and the other rules;
                                   --update-language writes xtask/language.toml, which may only shrink
  check-targets                    type-check the program for the targets of a release whose standard library is
                                   installed
  deny                             check licences, sources, duplicates and advisories of dependencies with cargo-deny
  bench [--only GROUP,…] [--data FOLDER] [--real-sessions FOLDER] [--build] [--table]
                                   build the dist profile, measure, write bench/results and the tables of
                                   docs/benchmarks.md; --build only builds, --table only renders the tables
  fit relevance FEATURES [--check] fit the relevance model, write its coefficients and its plot
  fit cases FEATURES [--check]     fit the relevance of cases, write its coefficients
  fit rules --data FOLDER [--check] fit the model of lasting rules, write its coefficients
  fuzz [TARGET] [--seconds N] [--jobs N]
                                   run the fuzz targets on stable Rust, 60 s each by default
  crash [--only NAME] [ARGS]       kill every writing command at random points, 200 times each:
                                   no acknowledged write may be lost
  crowd [--separate] [ARGS]        40 processes write 50 records each to one store, among readers
  hooks [--calls N] [ARGS]         10,000 hook calls in a row: no process remains, and no file grows
                                   except the log, which has a limit
  page [--heirloom PATH]           test the web page in a real browser: axe, widths, edits, undo, two tabs
  pg [COMMAND]                     run a command with a temporary PostgreSQL cluster on loopback, whose URL is in
                                   HEIRLOOM_TEST_POSTGRES
  fleet [ARGS]                     servers over one PostgreSQL database, or over Citus, under load and with faults,
                                   next to pgbench with the same statements
  dist                             build the shipped binary and check its size
  package [ARGS]                   make the packages of a release (deb, npm, wheel, tar) with checksums and a list
                                   of components; --check installs them in empty environments and uses them
  api [ARGS]                       test `heirloom serve` against its OpenAPI description with
                                   schemathesis from PyPI
  clients [ARGS]                   test the Python and TypeScript clients against a real server
  agents [ARGS]                    drive real agent programs through `heirloom run`
  attack mcp-lines [ARGS]          5,000 malformed requests to the MCP server: each gets an answer
  attack server [ARGS]             pages of other origins, foreign readers and slow clients against a running server
  mcp [ARGS]                       test the MCP server with the official suite and the inspector, and
                                   compare it with the reference server for knowledge graphs
  attack secrets [--seeds N] [--text FOLDER]
                                   redact generated secrets in every surrounding and print the share that is found;
                                   --text lists the findings in real text
  secret-formats FOLDER            write the rows of secret formats that are in public rule sets: checkouts of gitleaks
                                   and trufflehog in FOLDER
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

/// Runs one verb; the error is the message for the developer.
fn run(verb: &str, args: &[String]) -> Result<(), String> {
    match verb {
        "check" => check::run(args),
        "check-targets" => check_targets::run(args),
        "tidy" => tidy::run(args),
        "bench" => bench::run(args),
        "fuzz" => fuzz::run(args),
        "crash" => crash::run(args),
        "crowd" => crowd::run(args),
        "hooks" => hook_load::run(args),
        "deny" => deny::run(args),
        "dist" => dist::run(args),
        "fleet" => fleet::run(args),
        "fit" => fit::run(args),
        "agents" => agents::run(args),
        "api" => api::run(args),
        "attack" => attack::run(args),
        "clients" => clients::run(args),
        "mcp" => mcp::run(args),
        "package" => package::run(args),
        "page" => page::run(args),
        "pg" => postgres::run(args),
        "secret-formats" => secret_formats::run(args),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(format!("no verb `{other}`; `cargo xtask help` lists them")),
    }
}
