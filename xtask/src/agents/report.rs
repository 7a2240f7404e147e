//! Result tables for the terminal and `docs/agents.md`.

use std::fmt::Write;

use crate::cargo;

use super::hooks::HookRun;
use super::iterations::LoopRun;
use super::matrix::{self, DriveResults};
use super::mcp_client::McpRun;
use super::memory_sessions::MemoryRun;
use super::model_script::ITERATIONS;
use super::plugins::PluginRun;
use super::program::{PROMPT, Program};

const INTRODUCTION: &str = "\
# Agent programs

`cargo xtask agents --write-doc` generates this page. It installs each program at
the version below, points it at a scripted model on loopback, and runs it in a
fresh project. No program reaches the network.

";

const LEGEND: &str = "
- **driven**: the real program did it in this run of the task. **checked**: the files and answers match the documented
  schema, which is in `crates/heirloom/tests/fixtures/agent_settings` with its source and date; the program was not run
  here. **–**: the program or Heirloom does not have it.
- Start context: a session begins with rules of people, open work and known pitfalls. Prompt: a prompt gets relevant
  records. Failures: hooks record failed commands. Two days: sessions with a dead end, and with rules that change. MCP:
  the server with its twelve tools. Plugin: installed by the program's own command. Run: `heirloom run`.
- Windsurf: no hook can add to the context, so that `heirloom install windsurf --scope project` also writes a rule that
  tells the agent to ask. Cursor and VS Code get such a file in a project too. Hooks of Cursor and VS Code have no answer
  to a prompt.
- VS Code and Copilot CLI read the same file of hooks.

## Loop

Each program runs through `heirloom run` for three iterations.

- the agent reads a file that contains a signal line, and that line is not
  remembered: only the agent's own text counts;
- facts of iteration 1 are in the prompt of iteration 2, with the line
  \"This is iteration 2.\", and facts of both are in the prompt of iteration 3;
- each fact is recorded once and complete, although it arrived in fragments.

";

const HOOKS: &str = "
## Hooks

Each program runs four times as a person would start it: without Heirloom, after
`heirloom install PROGRAM`, with hooks that are killed while they read their event, and with Heirloom removed.

- each request to the model contains the known fact once, inside the envelope, and in no
  tool result;
- signals of the agent are recorded once, text shown by a tool is not;
- after the end of the session its turns are stored without Heirloom's own text, and an
  import of the program's conversations adds nothing;
- two concurrent sessions in two worktrees of a project share what they learn, a
  concurrent session in another project shares nothing with them;
- the session after these is told the facts of its own project when it asks for them;
- a subagent of Claude Code, Codex or opencode gets the rules of people, its facts have its own id, and its
  conversation is a session with that id;
- with `hooks.ask = true` Claude Code, Codex and Copilot CLI get a request for a lesson once, after a failure without a
  signal; the answer is recorded, and the turn ends without another question;
- the number of model requests is the same without hooks, with them and with failing
  hooks; no hook call fails.

Codex runs with `--dangerously-bypass-hook-trust`, which replaces the person who
accepts the hooks in `/hooks`. opencode calls the hooks by a plugin; it has no answer before a
tool and keeps its conversations in a database. While the hook at the end of a turn or of the session
runs, the plugin writes the conversation to a private file (mode 0600) in
`~/.local/share/opencode/heirloom`, which is deleted when the hook has read it; what is stored is in
the project's memory, with secrets replaced. No copy remains, not even after hooks that die.

";

const MEMORY: &str = "
## Two days

Each program works in two small Python projects with hooks.

- Dead end: `python3 -m unittest` fails with two tests, `KeyError: 'SHOP_DB_URL'` and `AssertionError: 499 != 500`. The
  agent sets the variable, and one test still fails; it adds `+ 0.49`, which does not help; it reverts the edit with
  `git checkout` and changes the calculation to `(cents * (100 - percent) + 50) // 100`, and all pass. The next session
  asks what fixed the tests and runs them again: they fail as before.
- Changed rules: after such a session a person says that money is integer cents and that the tests run with SQLite, and on the next day in
  two sessions \"from now on use Decimal for money, not integer cents\" and \"stop running the tests with sqlite. The tests
  must run with SHOP_DB_URL=postgresql://localhost/shop_test now\". The next session gets another
  task and runs the tests.

| Finding | Right | The next session |
|---|---|---|
| `fix_told_true` | true | is told the true fix of each of both failures, before it runs the tests |
| `dead_end_told` | false | is told as a fix: the dead end, its revert, or what fixed the other failure |
| `dead_end_found` | true | gets the dead end from `heirloom tried \"add 0.49 before truncating\"` |
| `old_rule_told` | false | is told a rule that the person replaced, or a fix with the old value |
| `new_rule_told` | true | is told each new rule |

";

const MCP: &str = "
## MCP

Each program gets the server by the command of the guide (`claude mcp add heirloom -- heirloom mcp`,
`codex mcp add heirloom -- heirloom mcp`, `gemini mcp add heirloom heirloom mcp`), opencode and Copilot CLI by
`heirloom install`; the latter list it (`opencode mcp list`, `copilot mcp list`). Each runs once.

- the model is offered all twelve tools;
- the recalled text is in the tool's result and declared as data;
- the remembered text is a record, a proposal of the program.

`--allowedTools mcp__heirloom`, `--dangerously-bypass-approvals-and-sandbox` and
`GEMINI_CLI_TRUST_WORKSPACE=true` replace the person who permits the tools.

";

const PLUGINS: &str = "
## Plugins

Claude Code installs the plugin of this repository by `claude plugin marketplace add` and
`claude plugin install heirloom@heirloom`, Gemini CLI the extension by `gemini extensions install`. Both validate it
first. Each program runs three sessions.

- with the plugin: each request to the model contains the known fact once and all twelve tools of the MCP server; the
  agent's fact and its failed command are recorded once, and no hook call fails;
- with the plugin and the hooks of `heirloom install`: the same, nothing twice;
- after the program's own command removed the plugin: nothing.

";

const NOTES: &str = "
## Added arguments

- **Claude Code**: `-p`, `--output-format stream-json --verbose` when they are
  missing. A prompt that is long or begins with `-` goes through standard input.
- **Codex**: `exec`, `--json`, and `--skip-git-repo-check` outside a git
  repository.
- **Gemini CLI**: `--output-format stream-json`. Not `--skip-trust`: it would let a
  project's settings start programs. Add it yourself if you want it.
- **opencode**: `run`, `--format json`. The prompt goes through standard input, because
  `opencode run` puts quotes around arguments with blanks. Not `--auto`, which would
  approve every permission. Its plugins wait for an npm installation in their folder.
- **Copilot CLI**: `--output-format json`. The prompt goes through standard input. Not `--allow-all-tools`, which would
  permit every tool: without it the program waits for a person. Its conversations are written a moment after the events,
  so that the hooks at the end of a turn and of a session wait for them, at most half a second.
- **aider**: `--message-file`, `--yes-always`, and flags that prevent this consent from
  updating aider, sending statistics, opening a browser, fetching pages or running `git
  init`; `--no-pretty --stream`, because wrapped lines break signals. Flags of your own
  command take precedence.
- **Any other command**: nothing. `{prompt}` in its arguments, else standard input.

A prompt of your own that is a slash command (`claude -p \"/review\"`) is not
recognised by the program, because the context precedes it.
";

/// The table in Markdown.
pub(crate) fn table(results: &[LoopRun]) -> String {
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
pub(crate) fn hooks_table(results: &[HookRun]) -> String {
    let mut table = String::from(
        "| Program | Version | Model requests without hooks, with them, with hooks that die, with Heirloom removed | Result |\n\
         |---|---|---|---|\n",
    );
    for hooked in results {
        let outcome = match &hooked.outcome {
            Ok(()) => "passed".to_owned(),
            Err(error) => format!("**failed**: {}", error.replace('|', "\\|")),
        };
        let [without, with, dying, removed] = hooked.requests;
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {} {} | {without}, {with}, {dying}, {removed}; {} s | {outcome} |",
            hooked.program.name,
            hooked.program.package,
            hooked.program.version,
            hooked.elapsed.as_secs(),
        );
    }
    table
}

/// The table of MCP in Markdown.
pub(crate) fn mcp_table(results: &[McpRun]) -> String {
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

/// The table of plugins in Markdown.
pub(crate) fn plugin_table(results: &[PluginRun]) -> String {
    let mut table = String::from(
        "| Program | Version | Sessions with the plugin, with plugin and hooks, with the plugin removed | Result |\n\
         |---|---|---|---|\n",
    );
    for plugged in results {
        let outcome = match &plugged.outcome {
            Ok(()) => "passed".to_owned(),
            Err(error) => format!("**failed**: {}", error.replace('|', "\\|")),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {} {} | 3 sessions, {} s | {outcome} |",
            plugged.program.name,
            plugged.program.package,
            plugged.program.version,
            plugged.elapsed.as_secs(),
        );
    }
    table
}

/// The table of the sessions of two days in Markdown.
pub(crate) fn memory_table(results: &[MemoryRun]) -> String {
    let names = super::memory_sessions::MemoryFindings::default()
        .named()
        .map(|(name, _, _)| format!("`{name}`"));
    let mut table = format!(
        "| Program | Version | {} | Result |\n|---|---|---|---|---|---|---|---|\n",
        names.join(" | ")
    );
    for driven in results {
        let outcome = match &driven.outcome {
            Ok(()) => format!("passed, {} s", driven.elapsed.as_secs()),
            Err(error) => format!("**failed**: {}", error.replace('|', "\\|")),
        };
        let cells = driven
            .findings
            .named()
            .map(|(_, found, right)| match found {
                None => "–".to_owned(),
                Some(found) if found == right => found.to_string(),
                Some(found) => format!("**{found}**"),
            });
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {} {} | {} | {outcome} |",
            driven.program.name,
            driven.program.package,
            driven.program.version,
            cells.join(" | "),
        );
    }
    table
}

/// Writes `docs/agents.md`.
pub(crate) fn write_doc(drives: &DriveResults<'_>) -> Result<(), String> {
    let (results, hooked) = (drives.loops, drives.hooks);
    let (asked, plugged) = (drives.mcp, drives.plugins);
    let mut page = INTRODUCTION.to_owned();
    page.push_str(&matrix::table(drives));
    page.push_str(LEGEND);
    page.push_str(&table(results));
    page.push_str(HOOKS);
    page.push_str(&hooks_table(hooked));
    page.push_str(MEMORY);
    page.push_str(&memory_table(drives.memory));
    page.push_str(MCP);
    page.push_str(&mcp_table(asked));
    page.push_str(PLUGINS);
    page.push_str(&plugin_table(plugged));
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
