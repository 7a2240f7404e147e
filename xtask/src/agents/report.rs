//! The table of what was driven, on the terminal and in the docs.

use std::fmt::Write;

use crate::cargo;

use super::asked::Asked;
use super::drive::Driven;
use super::hooked::Hooked;
use super::plan::ITERATIONS;
use super::program::{PROMPT, Program};

const INTRODUCTION: &str = "\
# Agent programs that Heirloom was driven with

`cargo xtask agents --write-doc` wrote this page. It installs each program at
the version below, points it at a scripted model on loopback, and runs it in a
fresh project through `heirloom run` for three iterations. No program reaches
the network.

What is checked:

- the agent reads a file in which somebody wrote a signal line, and that line is
  not remembered: only what the agent itself says counts;
- what iteration 1 said stands in the prompt of iteration 2, with the line
  \"This is iteration 2.\", and what both said in that of iteration 3;
- each fact is recorded once, in one piece, though it came in fragments.

";

const HOOKS: &str = "
## By their hooks

Each program runs three times as its person would start it: without Heirloom, after
`heirloom install PROGRAM`, and with hooks that are killed while they read their event.

- every request to the model has what was known before, once, between the fences, and
  in no tool's result;
- what the agent says with signals is recorded once, what a tool shows is not;
- when the session has ended, what was said in it is here, without what memory said, and
  an import of the program's conversations brings nothing more;
- two sessions at once in two worktrees of a project share what they learn, a session in
  another project at the same time shares nothing with them;
- a subagent of Claude Code or of Codex is told what is known, what it learns is of its own
  id, and its conversation is a session that says so;
- the model is asked as often as without hooks, whether they work or die; no call of
  a hook fails.

Codex runs with `--dangerously-bypass-hook-trust`, which stands for the person who
accepts the hooks in `/hooks`.

";

const MCP: &str = "
## Over MCP

Each program gets the server by the line of the guide (`claude mcp add heirloom -- heirloom mcp`,
`codex mcp add heirloom -- heirloom mcp`, `gemini mcp add heirloom heirloom mcp`) and runs once.

- the model is offered all twelve tools;
- what it recalls stands in the tool's result, and says that it is data;
- what it remembers is a record, as a proposal of the program.

`--allowedTools mcp__heirloom`, `--dangerously-bypass-approvals-and-sandbox` and
`GEMINI_CLI_TRUST_WORKSPACE=true` stand for the person who lets the tools be called.

";

const NOTES: &str = "
## What Heirloom adds, and what it leaves alone

- **Claude Code**: `-p`, `--output-format stream-json --verbose` when they are
  missing. A prompt that is long or begins with `-` goes through standard input.
- **Codex**: `exec`, `--json`, and `--skip-git-repo-check` outside of a git
  repository.
- **Gemini CLI**: `--output-format stream-json`. Not `--skip-trust`: it would let a
  project's settings start programs. Add it yourself if you want it.
- **aider**: `--message-file`, `--yes-always`, and what keeps that yes from updating
  aider, sending statistics, opening a browser, fetching pages or running `git
  init`; `--no-pretty --stream`, because wrapped lines break signals. Name a flag in
  your command, and yours is taken.
- **Any other command**: nothing. `{prompt}` in its arguments, else standard input.

A prompt of your own that is a slash command (`claude -p \"/review\"`) is not seen as
one by the program, because the context stands before it.
";

/// The table in Markdown.
pub(crate) fn table(results: &[Driven]) -> String {
    let mut table = String::from(
        "| Program | Version | Driven | Result |\n\
         |---|---|---|---|\n",
    );
    for driven in results {
        let outcome = match &driven.outcome {
            Ok(()) => "passed".to_owned(),
            Err(error) => format!("**failed**: {}", error.replace('|', "\\|")),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {} {} | {ITERATIONS} iterations, {} model requests, {} s | {outcome} |",
            driven.program.name,
            driven.program.package,
            driven.program.version,
            driven.requests,
            driven.elapsed.as_secs(),
        );
    }
    table
}

/// The table of hooks in Markdown.
pub(crate) fn hooks_table(results: &[Hooked]) -> String {
    let mut table = String::from(
        "| Program | Version | Model requests without hooks, with them, with hooks that die | Result |\n\
         |---|---|---|---|\n",
    );
    for hooked in results {
        let outcome = match &hooked.outcome {
            Ok(()) => "passed".to_owned(),
            Err(error) => format!("**failed**: {}", error.replace('|', "\\|")),
        };
        let [without, with, dying] = hooked.requests;
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {} {} | {without}, {with}, {dying}; {} s | {outcome} |",
            hooked.program.name,
            hooked.program.package,
            hooked.program.version,
            hooked.elapsed.as_secs(),
        );
    }
    table
}

/// The table of MCP in Markdown.
pub(crate) fn mcp_table(results: &[Asked]) -> String {
    let mut table = String::from(
        "| Program | Version | Driven | Result |\n\
         |---|---|---|---|\n",
    );
    for asked in results {
        let outcome = match &asked.outcome {
            Ok(()) => "passed".to_owned(),
            Err(error) => format!("**failed**: {}", error.replace('|', "\\|")),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {} {} | {} model requests, {} s | {outcome} |",
            asked.program.name,
            asked.program.package,
            asked.program.version,
            asked.requests,
            asked.elapsed.as_secs(),
        );
    }
    table
}

/// Writes `docs/agents.md`.
pub(crate) fn write_doc(
    results: &[Driven],
    hooked: &[Hooked],
    asked: &[Asked],
) -> Result<(), String> {
    let mut page = INTRODUCTION.to_owned();
    page.push_str(&table(results));
    page.push_str(HOOKS);
    page.push_str(&hooks_table(hooked));
    page.push_str(MCP);
    page.push_str(&mcp_table(asked));
    page.push_str(
        "\n## The command lines\n\nHeirloom adds the context and the stream options.\n\n```sh\n",
    );
    for driven in results {
        let _ = writeln!(page, "{}", command(driven.program));
    }
    page.push_str("```\n");
    page.push_str(NOTES);
    let path = cargo::root().join("docs/agents.md");
    std::fs::write(&path, page).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn command(program: &Program) -> String {
    let binary = program.binary.rsplit('/').next().unwrap_or(program.binary);
    let arguments = program.arguments.iter().map(|argument| match *argument {
        "PROMPT" => format!(" '{PROMPT}'"),
        other => format!(" {other}"),
    });
    format!(
        "heirloom run --agent {} -- {binary}{}",
        program.name,
        arguments.collect::<String>()
    )
}
