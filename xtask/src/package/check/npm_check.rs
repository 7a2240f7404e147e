//! Checks the packages of npm from a local registry: an installation, and `npx` without one.

use super::Context;
use super::agent_session::{remember_first_fact, use_program};
use super::environment::Environment;
use super::install_outcome::{InstallOutcome, InstallTimes};
use crate::package::npm::SCOPE;
use crate::package::target::NpmPlatform;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs of the environment: Node.js, npm and the system.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Platform of this machine in npm.
const PLATFORM: NpmPlatform = NpmPlatform {
    os: "linux",
    cpu: if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "x64"
    },
};

/// Runs both checks.
pub(super) fn run(context: &Context<'_>) -> Result<[InstallOutcome; 2], String> {
    let registry = context
        .tools
        .start_npm_registry(context.work, context.packages)?;
    let platform = context.package(&format!("heirloom-{}-", PLATFORM.name()), ".tgz")?;
    let size_mb = crate::package::megabytes(&platform)?;
    Ok([
        InstallOutcome {
            name: "npm",
            commands: vec![
                "npm install --global heirloom",
                "heirloom init",
                "heirloom remember …",
            ],
            size_mb,
            result: install(context, &registry.url),
        },
        InstallOutcome {
            name: "npx",
            commands: vec!["npx --yes heirloom init", "npx --yes heirloom remember …"],
            size_mb,
            result: run_without_installation(context, &registry.url),
        },
    ])
}

fn install(context: &Context<'_>, registry: &str) -> Result<InstallTimes, String> {
    let root = context.work.join("npm");
    let prefix = root.join("global");
    let path = format!("{}:{PATH}", prefix.join("bin").display());
    let mut place = Environment::on_this_machine(&root, &path)?;
    place.set("npm_config_registry", registry);
    place.set("npm_config_prefix", &prefix.to_string_lossy());
    let before = place.files_without(&[]);
    let (_, install_s) = place.run(&["npm", "install", "--global", "heirloom"])?;
    let use_s = remember_first_fact(&place, &["heirloom"])?;
    use_program(&place, &["heirloom"], &context.release.version)?;
    check_signals(&place)?;
    check_exit_code(&place)?;
    check_missing_platform(&place, &prefix)?;
    place.run(&["npm", "uninstall", "--global", "heirloom"])?;
    let memory = [
        "home/person/project/.heirloom",
        "home/person/.claude",
        "home/person/.npm",
    ];
    let left: Vec<String> = place
        .files_without(&memory)
        .difference(&before)
        .cloned()
        .collect();
    match left.is_empty() {
        true => Ok(InstallTimes { install_s, use_s }),
        false => Err(format!("`npm uninstall` left {}", left.join(", "))),
    }
}

fn run_without_installation(context: &Context<'_>, registry: &str) -> Result<InstallTimes, String> {
    let mut place = Environment::on_this_machine(&context.work.join("npx"), PATH)?;
    place.set("npm_config_registry", registry);
    let launcher = ["npx", "--yes", "heirloom"];
    // The first call installs.
    let (_, install_s) = place.run(&[&launcher[..], &["init"]].concat())?;
    let (_, use_s) = place.run(&[&launcher[..], &["remember", "the first fact"]].concat())?;
    remember_first_fact(&place, &launcher)?;
    use_program(&place, &launcher, &context.release.version)?;
    Ok(InstallTimes { install_s, use_s })
}

/// A signal to the script ends the binary too, and the script ends by the same signal or code.
fn check_signals(place: &Environment) -> Result<(), String> {
    // Not through `timeout`, which would forward the signal itself.
    let template = place.command(&["heirloom", "serve", "--port", "0"]);
    let words: Vec<_> = template.get_args().skip(2).collect();
    let mut command = Command::new("env");
    command
        .arg("-i")
        .args(template.get_envs().filter_map(|(name, value)| {
            let value = value?.to_string_lossy();
            Some(format!("{}={value}", name.to_string_lossy()))
        }))
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(folder) = template.get_current_dir() {
        command.current_dir(folder);
    }
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start `heirloom serve`: {error}"))?;
    let output = child
        .stdout
        .take()
        .ok_or("`heirloom serve` has no output")?;
    let line = BufReader::new(output)
        .lines()
        .next()
        .and_then(Result::ok)
        .ok_or("`heirloom serve` printed nothing")?;
    let address = line
        .split_once("http://")
        .map(|(_, address)| address.trim().to_owned())
        .ok_or_else(|| format!("`heirloom serve` printed no address: {line}"))?;
    let sent = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    if !sent.is_ok_and(|status| status.success()) {
        return Err("cannot send a signal".to_owned());
    }
    let status = child
        .wait()
        .map_err(|error| format!("`heirloom serve`: {error}"))?;
    match TcpStream::connect(&address) {
        Ok(_) => Err(format!(
            "the script ended with {status}, and its server still listens on {address}"
        )),
        Err(_) => Ok(()),
    }
}

/// The exit code of the binary is that of the script.
fn check_exit_code(place: &Environment) -> Result<(), String> {
    let direct = place
        .command(&["heirloom", "no-such-command"])
        .output()
        .map_err(|error| format!("cannot start heirloom: {error}"))?;
    match direct.status.code() {
        Some(2) => Ok(()),
        other => Err(format!(
            "an unknown command ends with {other:?}, not with 2"
        )),
    }
}

/// Without the package of the platform the script names it and the remedy.
fn check_missing_platform(place: &Environment, prefix: &Path) -> Result<(), String> {
    let modules = prefix.join("lib/node_modules/heirloom/node_modules");
    let package = modules.join(SCOPE);
    let aside = modules.join("moved");
    let failed = |error: std::io::Error| format!("cannot move {}: {error}", package.display());
    std::fs::rename(&package, &aside).map_err(failed)?;
    let message = place.run_failing(&["heirloom", "--version"])?;
    std::fs::rename(&aside, &package).map_err(failed)?;
    let expected = format!("{SCOPE}/{}", PLATFORM.name());
    match message.contains(&expected) && message.contains("npm install") {
        true => Ok(()),
        false => Err(format!("a missing package is reported as: {message}")),
    }
}
