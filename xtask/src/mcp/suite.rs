//! The official conformance suite.

use super::packages::Packages;
use crate::cargo;
use crate::sandbox::{Sandbox, excerpt};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const SCRIPT: &str = "conformance/dist/index.js";

/// Scenarios that need none of the suite's fixtures. The others need named tools, prompts and
/// resources, sampling, or elicitation.
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

/// Server process that is killed on drop.
pub(super) struct McpServer {
    child: Child,
    pub(super) url: String,
}

impl McpServer {
    /// Starts a server that prints its address.
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
                .map_err(|error| format!("`{name}` printed nothing: {error}"))?;
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

impl Drop for McpServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs the suite; returns one line per failed scenario.
pub(super) fn run(desk: &Sandbox, packages: &Packages) -> Result<Vec<String>, String> {
    let mut failed = Vec::new();
    let product = McpServer::start(&mut desk.heirloom(&["mcp", "--http", "0"]))?;
    for scenario in WITHOUT_FIXTURES {
        let outcome = one(packages, &product.url, scenario)?;
        report_outcome("heirloom mcp --http", scenario, outcome, &mut failed);
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
    let fixtures = McpServer::start(&mut Command::new(example))?;
    for scenario in scenarios(packages)? {
        let outcome = one(packages, &fixtures.url, &scenario)?;
        report_outcome("with fixtures", &scenario, outcome, &mut failed);
    }
    Ok(failed)
}

fn report_outcome(
    server: &str,
    scenario: &str,
    outcome: Result<String, String>,
    failed: &mut Vec<String>,
) {
    match outcome {
        Ok(said) => println!("conformance, {server}: {scenario}: {said}"),
        Err(said) => failed.push(format!("conformance, {server}: {scenario}: {said}")),
    }
}

/// Runs one scenario; returns the result of the suite.
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

/// Lists the server scenarios of the suite.
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
