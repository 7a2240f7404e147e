//! Detection of the agent program in a command.

use crate::AgentProgram;

/// An agent program in a command.
pub(super) struct DetectedProgram {
    /// The program.
    pub(super) program: AgentProgram,
    /// Index of the argument that names the program.
    pub(super) at: usize,
}

/// Programs that start the program named by their arguments.
const LAUNCHERS: &[&str] = &[
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "uv",
    "node",
    "deno",
    "python",
    "python3",
    "env",
    "nice",
    "nohup",
    "time",
    "timeout",
    "stdbuf",
    "caffeinate",
    "mise",
];

/// Number of a launcher's arguments that are searched.
const LAUNCHER_ARGS_MAX: usize = 12;

/// Finds the agent program that a command starts, directly or through launchers.
pub(super) fn detect_program(command: &[String]) -> Option<DetectedProgram> {
    let first = command.first()?;
    if let Some(program) = program_for_argument(first) {
        return Some(DetectedProgram { program, at: 0 });
    }
    if !LAUNCHERS.contains(&program_stem(first)) {
        return None;
    }
    // `uvx --from aider-chat aider`: the package comes before the program, so the last of adjacent names counts.
    let mut found: Option<DetectedProgram> = None;
    for (at, arg) in command.iter().enumerate().take(LAUNCHER_ARGS_MAX).skip(1) {
        match program_for_argument(arg) {
            Some(program) => found = Some(DetectedProgram { program, at }),
            None if found.is_some() => break,
            None => {}
        }
    }
    found
}

/// Returns the program that this argument names by its file or package.
fn program_for_argument(arg: &str) -> Option<AgentProgram> {
    let package = package_name(arg);
    let stem = program_stem(arg);
    AgentProgram::ALL.into_iter().find(|program| {
        let launch = program.row().launch;
        let in_package = |name: &&str| arg.contains(&format!("node_modules/{name}/"));
        launch.programs.contains(&stem)
            || launch.packages.contains(&package)
            || launch.packages.iter().any(in_package)
    })
}

/// Returns a package's name without its version: `@openai/codex` for `@openai/codex@0.169`.
fn package_name(arg: &str) -> &str {
    let start = usize::from(arg.starts_with('@'));
    match arg[start..].find(['@', '=']) {
        Some(end) => &arg[..start + end],
        None => arg,
    }
}

/// Returns the file name of a program without folder and extension.
pub(super) fn program_stem(program: &str) -> &str {
    let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
    for ending in [".exe", ".cmd", ".js", ".mjs", ".cjs", ".py"] {
        if let Some(stem) = file.strip_suffix(ending) {
            return stem;
        }
    }
    file
}
