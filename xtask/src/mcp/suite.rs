//! The official conformance suite.

use super::packages::Packages;
use crate::cargo;
use crate::desk::{Desk, excerpt};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const SCRIPT: &str = "conformance/dist/index.js";

/// What a server passes that has none of the suite's fixtures. The rest of the suite asks for tools, prompts and
/// resources by name, for sampling, or for questions to the person.
const WITHOUT_FIXTURES: [&str; 9] = [
    "server-initialize",
    "ping",
    "logging-set-level",
    "completion-complete",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

/// A server that listens, ended with the value.
pub(super) struct Serving {
    child: Child,
    pub(super) url: String,
}

impl Serving {
    /// Starts a server that says where it listens.
    pub(super) fn start(command: &mut Command) -> Result<Self, String> {
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let name = cargo::describe(command);
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start `{name}`: {error}"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout)
                .read_line(&mut line)
                .map_err(|error| format!("`{name}` says nothing: {error}"))?;
        }
        let url = line.trim().strip_prefix("listening on ");
        let url = url.map(str::to_owned);
        let serving = Self {
            child,
            url: url.clone().unwrap_or_default(),
        };
        match url {
            Some(_) => Ok(serving),
            None => Err(format!("`{name}` does not listen: {line}")),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs the suite; one line for each scenario that failed.
pub(super) fn run(desk: &Desk, packages: &Packages) -> Result<Vec<String>, String> {
    let mut failed = Vec::new();
    let product = Serving::start(&mut desk.heirloom(&["mcp", "--http", "0"]))?;
    for scenario in WITHOUT_FIXTURES {
        let outcome = one(packages, &product.url, scenario)?;
        tell("heirloom mcp --http", scenario, outcome, &mut failed);
    }
    cargo::run(&mut cargo::command([
        "build",
        "--package",
        "heirloom-server",
        "--example",
        "conformance",
    ]))?;
    let example = cargo::target_dir()?
        .join("debug/examples")
        .join(cargo::exe("conformance"));
    let fixtures = Serving::start(&mut Command::new(example))?;
    for scenario in scenarios(packages)? {
        let outcome = one(packages, &fixtures.url, &scenario)?;
        tell("with fixtures", &scenario, outcome, &mut failed);
    }
    Ok(failed)
}

fn tell(server: &str, scenario: &str, outcome: Result<String, String>, failed: &mut Vec<String>) {
    match outcome {
        Ok(said) => println!("conformance, {server}: {scenario}: {said}"),
        Err(said) => failed.push(format!("conformance, {server}: {scenario}: {said}")),
    }
}

/// One scenario; what the suite says of it.
fn one(packages: &Packages, url: &str, scenario: &str) -> Result<Result<String, String>, String> {
    let mut command = packages.call(SCRIPT);
    command.args(["server", "--scenario", scenario, "--url", url]);
    let output = command
        .output()
        .map_err(|error| format!("cannot start the suite: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let passed = text.lines().find_map(|line| line.strip_prefix("Passed: "));
    Ok(match passed {
        Some(said) if output.status.success() && said.contains(" 0 failed") => Ok(said.to_owned()),
        Some(_) | None => Err(format!(
            "{}{}",
            excerpt(&output.stdout),
            excerpt(&output.stderr)
        )),
    })
}

/// The scenarios for servers that the suite has.
fn scenarios(packages: &Packages) -> Result<Vec<String>, String> {
    let output = packages.call(SCRIPT).arg("list").output();
    let output = output.map_err(|error| format!("cannot start the suite: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let of_servers = text.split("Client scenarios").next().unwrap_or_default();
    let names = of_servers
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "));
    let names: Vec<_> = names
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    match names.len() {
        0..30 => Err(format!("the suite lists {} scenarios only", names.len())),
        _ => Ok(names),
    }
}
