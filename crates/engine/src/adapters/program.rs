//! Which agent program a command starts.

use super::Adapter;

/// An agent program in a command.
pub(super) struct Found {
    /// Its adapter.
    pub(super) adapter: Adapter,
    /// The index of the argument that names it.
    pub(super) at: usize,
}

/// Programs that start the program named after them.
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

/// How many arguments of launchers are looked at.
const LAUNCHER_ARGS_MAX: usize = 12;

/// The agent program that a command starts, itself or through launchers.
pub(super) fn find(command: &[String]) -> Option<Found> {
    let program = command.first()?;
    if let Some(adapter) = known(program) {
        return Some(Found { adapter, at: 0 });
    }
    if !LAUNCHERS.contains(&stem(program)) {
        return None;
    }
    // `uvx --from aider-chat aider`: the package is named before the program, so the last name in
    // an unbroken row of names counts.
    let mut found: Option<Found> = None;
    for (at, arg) in command.iter().enumerate().take(LAUNCHER_ARGS_MAX).skip(1) {
        match known(arg) {
            Some(adapter) => found = Some(Found { adapter, at }),
            None if found.is_some() => break,
            None => {}
        }
    }
    found
}

/// The adapter whose program or package this argument names.
fn known(arg: &str) -> Option<Adapter> {
    let package = package(arg);
    let stem = stem(arg);
    Adapter::ALL.into_iter().find(|adapter| {
        let profile = adapter.profile();
        let in_package = |name: &&str| arg.contains(&format!("node_modules/{name}/"));
        profile.programs.contains(&stem)
            || profile.packages.contains(&package)
            || profile.packages.iter().any(in_package)
    })
}

/// A package's name without its version: `@openai/codex@0.169` is `@openai/codex`.
fn package(arg: &str) -> &str {
    let start = usize::from(arg.starts_with('@'));
    match arg[start..].find(['@', '=']) {
        Some(end) => &arg[..start + end],
        None => arg,
    }
}

/// The file name of a program without folder and ending.
pub(super) fn stem(program: &str) -> &str {
    let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
    for ending in [".exe", ".cmd", ".js", ".mjs", ".cjs", ".py"] {
        if let Some(stem) = file.strip_suffix(ending) {
            return stem;
        }
    }
    file
}
