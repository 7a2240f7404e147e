//! Installing the pinned versions below `target/agents`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::cargo;

use super::program::{Program, Source};

/// Installation folder of a program.
pub(crate) fn folder(program: &Program) -> Result<PathBuf, String> {
    Ok(cargo::target_dir()?.join("agents").join(program.name))
}

/// Installs the program unless its pinned version is present.
pub(crate) fn ensure(program: &Program) -> Result<(), String> {
    let folder = folder(program)?;
    // Written last, so that an interrupted installation has none.
    let stamp = folder.join("installed-version");
    let installed = std::fs::read_to_string(&stamp).unwrap_or_default();
    if installed == program.version {
        return Ok(());
    }
    eprintln!("agents: installing {} {}", program.package, program.version);
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    match program.source {
        Source::Npm { after } => npm(program, &folder, after)?,
        Source::Python => python(program, &folder)?,
    }
    std::fs::write(&stamp, program.version)
        .map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}

fn npm(program: &Program, folder: &PathBuf, after: Option<&str>) -> Result<(), String> {
    let mut install = Command::new("npm");
    install
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--loglevel", "error"])
        .arg("--prefix")
        .arg(folder)
        .arg(format!("{}@{}", program.package, program.version));
    quietly(&mut install)?;
    if let Some(script) = after {
        let package = folder.join("node_modules").join(program.package);
        quietly(Command::new("node").arg(script).current_dir(package))?;
    }
    Ok(())
}

fn python(program: &Program, folder: &PathBuf) -> Result<(), String> {
    // aider does not run on the newest Pythons.
    let python = ["python3.12", "python3.11", "python3.10", "python3"]
        .into_iter()
        .find(|name| {
            Command::new(name)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        })
        .ok_or("no Python 3.10 to 3.12 on the PATH")?;
    quietly(Command::new(python).args(["-m", "venv"]).arg(folder))?;
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"])
        .arg(format!("{}=={}", program.package, program.version));
    quietly(&mut pip)
}

/// Runs an installer; standard output stays free for the table.
fn quietly(command: &mut Command) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    cargo::run(command)
}
