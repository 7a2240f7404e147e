//! The commands of the documentation, run one after the other in one project for each page.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "a project is laid out by hand; a child needs our PATH"
)]

#[path = "guide/blocks.rs"]
mod blocks;
#[path = "guide/pages.rs"]
mod pages;
#[path = "guide/project.rs"]
mod project;
#[path = "guide/reference.rs"]
mod reference;
#[path = "guide/session.rs"]
mod session;

use blocks::blocks;
use project::GuideProject;

/// Prefixes of commands that are not run: they do not end, or need a program that may be missing.
const SKIPPED_PREFIXES: [&str; 12] = [
    "claude plugin",
    "gemini extensions",
    "heirloom run --task 42 --type",
    "heirloom run --task 42 -- codex",
    "heirloom run --task 42 -- aider",
    "heirloom run --task 42 -- gemini",
    "heirloom run --task 42 -- opencode",
    "heirloom serve",
    "heirloom ui",
    "heirloom watch",
    "heirloom reembed",
    "heirloom man run | man",
];

/// Commands that may exit with another code: no such program's data exists here, or findings are reported.
const OTHER_CODES: [(&str, i32); 7] = [
    ("heirloom import copilot", 3),
    ("heirloom import codex", 3),
    ("heirloom import gemini", 3),
    ("heirloom import aider", 3),
    ("heirloom import claude", 3),
    ("heirloom import agentium", 3),
    ("heirloom purge --session", 3),
];

/// Runs a command of a page; the error is its exit code with what it printed.
fn run_command(project: &mut GuideProject, line: &str) -> Result<(), String> {
    let command = project.prepared_command(line);
    let done = project.command(&command);
    let code = done.status.code().unwrap();
    let is_accepted = OTHER_CODES
        .iter()
        .any(|(begins, other)| line.starts_with(begins) && code == *other);
    if code == 0 || is_accepted {
        return Ok(());
    }
    let stderr_text = String::from_utf8_lossy(&done.stderr).into_owned();
    Err(format!("{code}: {command}\n   {stderr_text}"))
}

#[test]
fn guide_commands_succeed() {
    let guide = include_str!("../../../docs/guide.md");
    let all: Vec<String> = blocks(guide)
        .unwrap()
        .into_iter()
        .filter(|block| block.is_console)
        .flat_map(|block| block.commands)
        .collect();
    assert!(all.len() > 100, "{}", all.len());
    for skipped in SKIPPED_PREFIXES {
        assert!(
            all.iter().any(|line| line.starts_with(skipped)),
            "{skipped}"
        );
    }
    let mut project = GuideProject::new();
    let mut failures = Vec::new();
    for line in all {
        let is_ours = line.contains("heirloom") && !line.contains("mcp add");
        let is_skipped = SKIPPED_PREFIXES
            .iter()
            .any(|begins| line.starts_with(begins));
        if is_ours && !is_skipped {
            failures.extend(run_command(&mut project, &line).err());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
