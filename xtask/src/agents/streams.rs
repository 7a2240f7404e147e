//! Real output of the programs, saved as fixtures for the engine's parsers.

use heirloom_testkit::{Reply, Script};

use crate::cargo;

use super::iterations::Stage;
use super::program::Program;
use super::{install, model_script};

/// HTTP status of a refused request, which no program retries.
const REFUSED: u16 = 400;

/// Runs the program without Heirloom, as the adapter would, and saves what it
/// prints: with signals and a tool, when the model refuses, and when an answer
/// breaks off in the middle.
pub(crate) fn save(program: &'static Program) -> Result<(), String> {
    let printed = print(program, model_script::script(program), Ends::Well)?;
    write(program, "", &printed)?;
    let refuse = Script::function(|_| Reply::Status(REFUSED));
    let printed = print(program, refuse, Ends::Anyhow)?;
    write(program, "-error", &printed)?;
    let printed = print(program, model_script::cut_once(), Ends::Anyhow)?;
    write(program, "-cut", &printed)
}

/// Expected exit of a run. aider exits with 0 even after a refusal.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    Well,
    Anyhow,
}

/// One run's standard output with the machine's paths replaced.
fn print(program: &'static Program, script: Script, ends: Ends) -> Result<String, String> {
    let stage = Stage::set(program, script)?;
    let line = program.command_line(&install::folder(program)?);
    let mut command = stage.command(line[0].as_ref());
    command.args(&line[1..]).args(program.stream_arguments);
    let status = stage.run(&mut command, "direct")?;
    if ends == Ends::Well && !status.success() {
        return Err(format!("{}: {status}", program.name));
    }
    let project = stage.project.path().display().to_string();
    // Name of the project's transcript folder in Claude Code.
    let dashed = project.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let printed = stage
        .output("direct", "out")
        .replace(&project, "/project")
        .replace(&dashed, "-project")
        .replace(&stage.home.display().to_string(), "/home/user")
        .replace(&stage.service.base_url(), "http://127.0.0.1:1");
    Ok(printed)
}

fn write(program: &Program, suffix: &str, printed: &str) -> Result<(), String> {
    let ending = if program.read_tool.is_some() {
        "jsonl"
    } else {
        "txt"
    };
    let folder = cargo::root().join("crates/engine/tests/streams");
    let path = folder.join(format!("{}{suffix}.{ending}", program.name));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&path, printed))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    eprintln!("agents: wrote {}", path.display());
    Ok(())
}
