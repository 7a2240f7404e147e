//! Pages for newcomers: each block of commands is run, or a marker has the reason why it is not.

use super::blocks::{Block, blocks, inline_commands};
use super::project::GuideProject;
use super::run_command;

/// Pages, by the path from the root.
const PAGES: [(&str, &str); 11] = [
    ("README.md", include_str!("../../../../README.md")),
    (
        "docs/compare.md",
        include_str!("../../../../docs/compare.md"),
    ),
    (
        "docs/concepts.md",
        include_str!("../../../../docs/concepts.md"),
    ),
    (
        "docs/quick-start/claude-code.md",
        include_str!("../../../../docs/quick-start/claude-code.md"),
    ),
    (
        "docs/quick-start/codex.md",
        include_str!("../../../../docs/quick-start/codex.md"),
    ),
    (
        "docs/quick-start/gemini.md",
        include_str!("../../../../docs/quick-start/gemini.md"),
    ),
    (
        "docs/quick-start/opencode.md",
        include_str!("../../../../docs/quick-start/opencode.md"),
    ),
    (
        "docs/quick-start/aider.md",
        include_str!("../../../../docs/quick-start/aider.md"),
    ),
    (
        "docs/quick-start/own-loop.md",
        include_str!("../../../../docs/quick-start/own-loop.md"),
    ),
    (
        "docs/quick-start/mcp.md",
        include_str!("../../../../docs/quick-start/mcp.md"),
    ),
    (
        "docs/quick-start/http.md",
        include_str!("../../../../docs/quick-start/http.md"),
    ),
];

/// Commands that serve until they are stopped.
const SERVERS: [&str; 2] = ["heirloom ui", "heirloom serve"];

/// Commands of other programs that change nothing here.
const OTHER_PROGRAMS: [&str; 2] = ["cd my-project", "./my-agent.sh > output.log"];

/// Runs one command; a command of another program is a failure.
fn check_command(project: &mut GuideProject, line: &str) -> Result<(), String> {
    if OTHER_PROGRAMS.contains(&line) {
        return Ok(());
    }
    if SERVERS.iter().any(|server| line.starts_with(server)) {
        return match project.serves(line) {
            true => Ok(()),
            false => Err(format!("`{line}` prints no address")),
        };
    }
    match line.contains("heirloom") {
        true => run_command(project, line),
        false => Err(format!(
            "`{line}` is not run: put `<!-- not run: REASON -->` before its block"
        )),
    }
}

/// Runs a command of running text. Of a bare name, or a text with a placeholder, only the name is checked.
fn check_inline_command(project: &mut GuideProject, span: &str) -> Result<(), String> {
    let words: Vec<&str> = span.split_whitespace().collect();
    let is_placeholder = |word: &&str| {
        word.contains('…') || (word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()))
    };
    let is_server = SERVERS.contains(&span);
    if !is_server && (words.len() == 2 || words.iter().any(is_placeholder)) {
        return run_command(project, &format!("heirloom {} --help", words[1]));
    }
    check_command(project, span)
}

/// Returns the failures of a page's commands in a project of its own.
fn failures(text: &str) -> Vec<String> {
    let blocks = match blocks(text) {
        Ok(blocks) => blocks,
        Err(wrong) => return vec![wrong],
    };
    let mut project = GuideProject::new();
    project.add_conversations();
    let mut failures = Vec::new();
    let is_run = |block: &&Block| block.not_run.is_none();
    for block in blocks.iter().filter(is_run) {
        for line in &block.commands {
            let done = check_command(&mut project, line);
            failures.extend(
                done.err()
                    .map(|wrong| format!("line {}: {wrong}", block.line)),
            );
        }
    }
    // A page may mention commands without the blocks that enable memory.
    project.command("heirloom init");
    for span in inline_commands(text) {
        failures.extend(check_inline_command(&mut project, span).err());
    }
    failures
}

#[test]
fn commands_of_pages_succeed_or_have_reason() {
    for (path, text) in PAGES {
        let failures = failures(text);
        assert!(failures.is_empty(), "{path}: {}", failures.join("\n"));
    }
}

#[test]
fn page_with_wrong_or_unmarked_command_fails() {
    for (page, count) in [
        ("```console\n$ heirloom init\n$ heirloom list\n```\n", 0),
        ("```console\n$ heirloom init\n$ heirloom lits\n```\n", 1),
        ("```sh\nnpx something\n```\n", 1),
        (
            "<!-- not run: it needs the network -->\n```sh\nnpx something\n```\n",
            0,
        ),
        ("Run `heirloom lits ID`.\n", 1),
        ("Run `heirloom undo ID`.\n", 0),
    ] {
        let failures = failures(page);
        assert_eq!(failures.len(), count, "{page}: {failures:?}");
    }
}
