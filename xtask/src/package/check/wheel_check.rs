//! Checks the wheel from a local registry: `pip install` in an empty virtual environment, and `uvx`.

use super::Context;
use super::agent_session::{remember_first_fact, use_program};
use super::environment::Environment;
use super::install_outcome::{InstallOutcome, InstallTimes};
use crate::cargo;
use std::process::Command;

/// Programs of the system.
const PATH: &str = "/usr/bin:/bin";
/// Platform of this machine in the name of a wheel.
const PLATFORM: &str = if cfg!(target_arch = "aarch64") {
    "manylinux_2_17_aarch64"
} else {
    "manylinux_2_17_x86_64"
};

/// Runs both checks.
pub(super) fn run(context: &Context<'_>) -> Result<[InstallOutcome; 2], String> {
    let registry = context
        .tools
        .start_python_registry(context.work, context.packages)?;
    let start = format!("heirloom-{}-py3-none-{PLATFORM}", context.release.version);
    let size_mb = crate::package::megabytes(&context.package(&start, ".whl")?)?;
    Ok([
        InstallOutcome {
            name: "pip",
            commands: vec![
                "pip install heirloom",
                "heirloom init",
                "heirloom remember …",
            ],
            size_mb,
            result: install(context, &registry.url),
        },
        InstallOutcome {
            name: "uvx",
            commands: vec!["uvx heirloom init", "uvx heirloom remember …"],
            size_mb,
            result: run_without_installation(context, &registry.url),
        },
    ])
}

fn install(context: &Context<'_>, registry: &str) -> Result<InstallTimes, String> {
    let root = context.work.join("pip");
    let virtual_environment = root.join("venv");
    let path = format!("{}:{PATH}", virtual_environment.join("bin").display());
    let mut place = Environment::on_this_machine(&root, &path)?;
    let mut create = Command::new(context.tools.python_programs().join("python"));
    cargo::run(create.args(["-m", "venv"]).arg(&virtual_environment))?;
    place.set("PIP_INDEX_URL", registry);
    place.set("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    let before = place.files_without(&[]);
    let (_, install_s) = place.run(&["pip", "install", "heirloom"])?;
    let use_s = remember_first_fact(&place, &["heirloom"])?;
    use_program(&place, &["heirloom"], &context.release.version)?;
    place.run(&["pip", "check"])?;
    place.run(&["pip", "uninstall", "--yes", "heirloom"])?;
    let memory = [
        "home/person/project/.heirloom",
        "home/person/.claude",
        "home/person/.cache",
    ];
    let left: Vec<String> = place
        .files_without(&memory)
        .difference(&before)
        // pip compiles its own modules.
        .filter(|path| !path.contains("__pycache__"))
        .cloned()
        .collect();
    match left.is_empty() {
        true => Ok(InstallTimes { install_s, use_s }),
        false => Err(format!("`pip uninstall` left {}", left.join(", "))),
    }
}

fn run_without_installation(context: &Context<'_>, registry: &str) -> Result<InstallTimes, String> {
    let programs = context.tools.python_programs();
    let path = format!("{}:{PATH}", programs.display());
    let mut place = Environment::on_this_machine(&context.work.join("uvx"), &path)?;
    place.set("UV_DEFAULT_INDEX", registry);
    place.set("UV_PYTHON_DOWNLOADS", "never");
    let launcher = ["uvx", "heirloom"];
    // The first call installs.
    let (_, install_s) = place.run(&["uvx", "heirloom", "init"])?;
    let (_, use_s) = place.run(&["uvx", "heirloom", "remember", "the first fact"])?;
    remember_first_fact(&place, &launcher)?;
    use_program(&place, &launcher, &context.release.version)?;
    Ok(InstallTimes { install_s, use_s })
}
