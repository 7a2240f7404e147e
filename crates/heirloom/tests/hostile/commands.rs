//! Every command of the program, in a repository in which every file that it reads is hostile.

use crate::repository::{Hostile, Repository};
use std::collections::BTreeMap;

/// Arguments of each command that reads files; `ID` is an existing record. A command without a line here fails the
/// test: add one, and add the names that it reads to `PROJECT_NAMES`.
const COMMAND_CALLS: &[&str] = &[
    "init",
    "init --import --dry-run",
    "init --import",
    "status",
    "demo",
    "run --iterations 1 -- true",
    "run --iterations 1 --agent aider -- true",
    "outcome --task 7 --status PARTIAL --file src/lib.rs",
    "observe",
    "observe --context input.md",
    "context",
    "context --task 7 --group main --plan P --query deploy",
    "context coder[input:input.md]",
    "context coder[input:*.md][tail:5]",
    "compact",
    "compact --policy input.md",
    "expand nothing",
    "remember another",
    "remember --user another",
    "recall deploy",
    "tried deploy",
    "list",
    "list --json",
    "show ID",
    "forget ID",
    "propose something",
    "accept ID",
    "reject ID",
    "group note main text",
    "group show main",
    "group list",
    "watch --once",
    "token create t --role agent",
    "token list",
    "token revoke t",
    "trust --yes",
    "undo nothing",
    "conflicts",
    "resolve ID --keep ID --as user",
    "history",
    "hook claude-code SessionStart",
    "hook codex SessionStart",
    "hook gemini BeforeAgent",
    "install claude-code --dry-run",
    "install codex --scope project --dry-run",
    "install gemini --dry-run",
    "uninstall claude-code --dry-run",
    "uninstall codex --scope project --dry-run",
    "pin ID",
    "mute ID",
    "useful ID yes",
    "review",
    "learn s",
    "learn --all",
    "receipts list",
    "receipts show nothing",
    "receipts diff nothing nothing",
    "session add s --role user",
    "session show s",
    "session summary s",
    "session search hello",
    "session export s",
    "output put text --plan P --agent a",
    "output get --plan P --agent a",
    "output list",
    "task set 8",
    "task show 7",
    "task list",
    "task done 8",
    "task fail 7",
    "episode log --task 7 --action attempted",
    "episode list",
    "analytics",
    "artifact add src/lib.rs --task 7",
    "artifact list",
    "artifact verify",
    "artifact remove ID",
    "step done text --task 7",
    "error log text",
    "error resolve text --with nothing",
    "workspace fact text",
    "workspace learning text",
    "workspace error text",
    "workspace daily text",
    "workspace feature text",
    "workspace show",
    "workspace sync",
    "share ID",
    "unshare ID",
    "export --format jsonl --all",
    "export --format agentium",
    "export --format markdown",
    "export --format radium",
    "import jsonl input.md",
    "import agentium",
    "import shared input.md",
    "import shared shared-context",
    "import radium",
    "import history",
    "import history input.md --session s",
    "import workspace",
    "import workspace .heirloom/workspace",
    "import server-memory input.md",
    "import claude",
    "import claude input.md",
    "import claude --all",
    "import codex",
    "import codex input.md",
    "import gemini",
    "import gemini input.md",
    "import aider",
    "import aider --all",
    "import aider input.md",
    "prune",
    "prune --apply",
    "purge --task 7 --dry-run",
    "backup copy.db",
    "restore input.md",
    "doctor",
    "doctor --repair",
    "reembed",
    "redact",
    "redact --check .",
    "redact --check input.md",
    "transfer --from . --to copy",
    "transfer --from input.md --to copy",
    "transfer --from . --to input.md",
    "fleet init",
    "fleet status",
    "fleet token list",
    "bench recall --docs input.md --queries input.md --out ranked.jsonl",
    "bench window --in input.md",
    "cmd list",
    "cmd show evil",
    "cmd run evil --yes",
    "cmd trust evil --yes",
    "cmd new good",
    "config",
    "completions bash",
    "man",
    "mcp",
    "serve --tls-cert input.md --tls-key input.md",
];

/// Commands that run until they are interrupted.
const SERVER_CALLS: &[&str] = &["serve", "ui --no-open"];

/// Returns the commands, or subcommands of `above`, that the help lists.
fn listed_commands(repository: &Repository, above: &[&str]) -> Vec<String> {
    let result = repository.call(&[above, &["--help"]].concat());
    let lines = result.stdout.lines();
    // The program lists its commands in groups, of which `Start` is the first.
    let below = lines.skip_while(|line| !["Commands:", "Start:"].contains(line));
    below
        .take_while(|line| !line.starts_with("Options"))
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn calls_cover_every_command() {
    let repository = Repository::new();
    let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for call in COMMAND_CALLS.iter().chain(SERVER_CALLS) {
        let mut words = call.split(' ');
        let command = words.next().unwrap();
        below.entry(command).or_default().extend(words.next());
    }
    let commands = listed_commands(&repository, &[]);
    assert!(commands.len() > 50, "{commands:?}");
    for command in &commands {
        let known = below.get(command.as_str());
        assert!(known.is_some(), "`{command}` has no call in CALLS");
        for action in listed_commands(&repository, &[command]) {
            let is_known = known.is_some_and(|known| known.contains(&action.as_str()));
            assert!(is_known, "`{command} {action}` has no call in CALLS");
        }
    }
}

fn check_every_command_ends(what: Hostile) {
    let repository = Repository::new();
    repository.fill(what);
    for call in COMMAND_CALLS {
        let words: Vec<&str> = (call.split(' '))
            .map(|word| if word == "ID" { &repository.id } else { word })
            .collect();
        repository.call(&words);
    }
    for call in SERVER_CALLS {
        repository.serve(&call.split(' ').collect::<Vec<_>>());
    }
    // The memory is still usable.
    let result = repository.call(&["remember", "after all of that"]);
    assert_eq!(result.code, 0, "{result:?}");
}

#[test]
fn commands_end_with_pipes_as_files() {
    check_every_command_ends(Hostile::Pipe);
}

#[test]
fn commands_end_with_links_to_endless_device() {
    check_every_command_ends(Hostile::Endless);
}

#[test]
fn commands_end_with_sparse_ten_gigabyte_files() {
    check_every_command_ends(Hostile::Sparse);
}

#[test]
fn commands_end_with_folders_as_files() {
    check_every_command_ends(Hostile::Folder);
}

#[test]
fn commands_end_with_links_out_of_project() {
    check_every_command_ends(Hostile::LinkOut);
}

#[test]
fn commands_end_with_link_loops() {
    check_every_command_ends(Hostile::Loop);
}

#[test]
fn commands_end_with_huge_instruction_files() {
    let repository = Repository::new();
    for name in [
        "AGENTS.md",
        "CLAUDE.md",
        ".heirloom/workspace/AGENTS.md",
        ".heirloom/groups/main/CLAUDE.md",
        ".heirloom/shared/convention.md",
    ] {
        Hostile::Huge.put(&repository.at(name));
    }
    for call in [
        "init --import --dry-run",
        "context --group main",
        "recall deploy",
        "workspace sync",
        "workspace show",
        "doctor",
        "status",
        "hook claude-code SessionStart",
        "run --iterations 1 -- true",
    ] {
        repository.call(&call.split(' ').collect::<Vec<_>>());
    }
}
