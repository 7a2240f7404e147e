//! Matrix of the programs: the capabilities of each, and the check of them.

use std::fmt::Write;

use super::hooks::HookRun;
use super::iterations::LoopRun;
use super::mcp_client::McpRun;
use super::memory_sessions::MemoryRun;
use super::plugins::PluginRun;
use super::program::PROGRAMS;

/// Results of all drives.
pub(crate) struct DriveResults<'r> {
    /// Runs in a loop.
    pub(crate) loops: &'r [LoopRun],
    /// Runs with hooks.
    pub(crate) hooks: &'r [HookRun],
    /// Runs with the MCP server.
    pub(crate) mcp: &'r [McpRun],
    /// Runs with the plugin.
    pub(crate) plugins: &'r [PluginRun],
    /// Sessions of two days.
    pub(crate) memory: &'r [MemoryRun],
}

/// Program that is not run here: its files and answers are compared with documented schemas by the tests of `heirloom`.
struct CheckedProgram {
    name: &'static str,
    start_context: &'static str,
    failures: &'static str,
}

const CHECKED: &str = "checked";
const NONE: &str = "–";

/// The programs that are not run here. None of them reads an answer to a prompt.
const CHECKED_PROGRAMS: [CheckedProgram; 3] = [
    CheckedProgram {
        name: "cursor",
        start_context: CHECKED,
        failures: CHECKED,
    },
    CheckedProgram {
        name: "vscode",
        start_context: CHECKED,
        failures: CHECKED,
    },
    // No hook adds text, and no event has the outcome of a command.
    CheckedProgram {
        name: "windsurf",
        start_context: NONE,
        failures: NONE,
    },
];

/// Writes a cell for a part that the program was driven with.
fn driven(outcome: Option<&Result<(), String>>) -> &'static str {
    match outcome {
        None => NONE,
        Some(Ok(())) => "driven",
        Some(Err(_)) => "**failed**",
    }
}

/// The matrix in Markdown.
pub(crate) fn table(results: &DriveResults<'_>) -> String {
    let mut table = String::from(
        "| Program | Version | Start context | Prompt | Failures | Two days | MCP | Plugin | Run | |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for program in PROGRAMS {
        let name = program.name;
        let loops = results.loops.iter().find(|one| one.program.name == name);
        let hooks = results.hooks.iter().find(|one| one.program.name == name);
        let mcp = results.mcp.iter().find(|one| one.program.name == name);
        let plugin = results.plugins.iter().find(|one| one.program.name == name);
        let memory = results.memory.iter().find(|one| one.program.name == name);
        let hooks = driven(hooks.map(|one| &one.outcome));
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {name} | {} {} | {hooks} | {hooks} | {hooks} | {} | {} | {} | {} | driven for real |",
            program.package,
            program.version,
            driven(memory.map(|one| &one.outcome)),
            driven(mcp.map(|one| &one.outcome)),
            driven(plugin.map(|one| &one.outcome)),
            driven(loops.map(|one| &one.outcome)),
        );
    }
    for program in CHECKED_PROGRAMS {
        let _ = writeln!(
            table,
            "| {} | {NONE} | {} | {NONE} | {} | {NONE} | {CHECKED} | {NONE} | {NONE} | checked against the documented schema; \
             not run here |",
            program.name, program.start_context, program.failures,
        );
    }
    table
}
