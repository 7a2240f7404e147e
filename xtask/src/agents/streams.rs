//! Real output of the programs, saved as fixtures for the engine's parsers.

use crate::cargo;

use super::drive::Stage;
use super::install;
use super::program::Program;

/// Runs the program once without Heirloom, as the adapter would, and saves its
/// standard output with the machine's paths replaced.
pub(crate) fn save(program: &'static Program) -> Result<(), String> {
    let stage = Stage::set(program)?;
    let line = program.command_line(&install::folder(program)?);
    let mut command = stage.command(line[0].as_ref());
    command.args(&line[1..]).args(program.stream_arguments);
    let status = stage.run(&mut command, "direct")?;
    if !status.success() {
        return Err(format!("{}: {status}", program.name));
    }
    let project = stage.project.path().display().to_string();
    // How Claude Code names the project's folder of transcripts.
    let dashed = project.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let text = stage
        .output("direct", "out")
        .replace(&project, "/project")
        .replace(&dashed, "-project")
        .replace(&stage.home.display().to_string(), "/home/user")
        .replace(&stage.service.base_url(), "http://127.0.0.1:1");
    let ending = if program.read_tool.is_some() {
        "jsonl"
    } else {
        "txt"
    };
    let folder = cargo::root().join("crates/engine/tests/streams");
    let path = folder.join(format!("{}.{ending}", program.name));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    eprintln!("agents: wrote {}", path.display());
    Ok(())
}
