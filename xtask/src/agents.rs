//! Drives real agent programs through `heirloom run`, against a scripted model.
//!
//! Each program is installed at a pinned version below `target/agents`, gets a
//! fresh project, a fresh home and the model service on loopback, and runs for
//! three iterations. Facts of the first iteration must occur in the second one's
//! prompt, and what a tool merely showed must not be remembered.
//!
//! No program reaches the network: besides being pointed at the service, each
//! gets a proxy at a closed port for every other address.
#![expect(
    clippy::disallowed_methods,
    reason = "a child needs our PATH; what is written is thrown away or can be written again"
)]

mod concurrent;
mod hooks;
mod install;
mod iterations;
mod lesson_question;
mod matrix;
mod mcp_client;
mod memory_sessions;
mod model_script;
mod plugins;
mod program;
mod report;
mod results;
mod rules;
mod run_checks;
mod streams;
mod subagent;

use std::path::PathBuf;

use program::{PROGRAMS, Program};

const HELP: &str = "\
usage: cargo xtask agents [--only NAME] [--write-doc] [--heirloom PATH] [--streams] [--hooks] [--mcp]
                    [--plugins] [--memory]

  --only NAME      one of claude-code, codex, gemini, opencode, copilot, aider
  --write-doc      write docs/agents.md, and the results of --memory for docs/benchmarks.md
  --heirloom PATH  drive this binary instead of building one
  --streams        without Heirloom: run each program once and save what it printed
                   to crates/engine/tests/streams
  --hooks          only as programs that call Heirloom by their hooks
  --mcp            only as programs that ask Heirloom over MCP
  --plugins        only with the plugins that the programs' own commands install
  --memory         only the sessions of two days: a dead end before the fix, and rules that change
";

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let Some(options) = parse(args)? else {
        print!("{HELP}");
        return Ok(());
    };
    for program in &options.programs {
        install::ensure(program)?;
    }
    if options.streams {
        return options.programs.iter().try_for_each(|p| streams::save(p));
    }
    let heirloom = match &options.heirloom {
        Some(path) => path.clone(),
        None => iterations::build_heirloom()?,
    };
    let mut results = Vec::new();
    for program in options.programs.iter().filter(|_| options.all()) {
        eprintln!("agents: {} {}", program.name, program.version);
        results.push(iterations::three_iterations(program, &heirloom));
    }
    let mut hooked = Vec::new();
    let by_hooks = options.hooks || options.all();
    for program in (options.programs.iter()).filter(|program| by_hooks && program.has_hooks) {
        eprintln!("agents: {} {}, by its hooks", program.name, program.version);
        hooked.push(hooks::drive(program, &heirloom));
    }
    let over_mcp = options.mcp || options.all();
    let mut asked = Vec::new();
    for program in (options.programs.iter()).filter(|program| over_mcp && program.has_mcp) {
        eprintln!("agents: {} {}, over MCP", program.name, program.version);
        asked.push(mcp_client::drive(program, &heirloom));
    }
    let with_plugins = options.plugins || options.all();
    let mut plugged = Vec::new();
    for program in (options.programs.iter()).filter(|one| with_plugins && one.plugin.is_some()) {
        eprintln!(
            "agents: {} {}, by its plugin",
            program.name, program.version
        );
        plugged.push(plugins::drive(program, &heirloom));
    }
    let over_days = options.memory || options.all();
    let mut remembered = Vec::new();
    for program in (options.programs.iter()).filter(|program| over_days && program.has_hooks) {
        eprintln!(
            "agents: {} {}, over two days",
            program.name, program.version
        );
        remembered.push(memory_sessions::drive(program, &heirloom));
    }
    let drives = matrix::DriveResults {
        loops: &results,
        hooks: &hooked,
        mcp: &asked,
        plugins: &plugged,
        memory: &remembered,
    };
    print!("{}", matrix::table(&drives));
    print!("\n{}", report::table(&results));
    print!("\n{}", report::hooks_table(&hooked));
    print!("\n{}", report::mcp_table(&asked));
    print!("\n{}", report::plugin_table(&plugged));
    print!("\n{}", report::memory_table(&remembered));
    if options.write_doc {
        report::write_doc(&drives)?;
        results::record(&remembered)?;
    }
    let failed: Vec<&str> = results
        .iter()
        .map(|one| (&one.outcome, one.program.name))
        .chain(hooked.iter().map(|one| (&one.outcome, one.program.name)))
        .chain(asked.iter().map(|one| (&one.outcome, one.program.name)))
        .chain(plugged.iter().map(|one| (&one.outcome, one.program.name)))
        .chain(
            remembered
                .iter()
                .map(|one| (&one.outcome, one.program.name)),
        )
        .filter_map(|(outcome, name)| outcome.is_err().then_some(name))
        .collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")))
    }
}

struct AgentOptions {
    programs: Vec<&'static Program>,
    write_doc: bool,
    streams: bool,
    hooks: bool,
    mcp: bool,
    plugins: bool,
    memory: bool,
    heirloom: Option<PathBuf>,
}

impl AgentOptions {
    /// True if no part is selected.
    fn all(&self) -> bool {
        !self.hooks && !self.mcp && !self.plugins && !self.memory
    }
}

/// Parses the options; `None` if help was requested.
/// The binary at a path. Hooks and MCP entries call it by its name.
fn named_heirloom(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    let path = path
        .canonicalize()
        .map_err(|error| format!("--heirloom {}: {error}", path.display()))?;
    if path.file_name().is_some_and(|name| name == "heirloom") {
        return Ok(path);
    }
    Err(format!(
        "--heirloom {}: programs call it as `heirloom`; put it under that name into a folder",
        path.display()
    ))
}

fn parse(args: &[String]) -> Result<Option<AgentOptions>, String> {
    let mut options = AgentOptions {
        programs: PROGRAMS.iter().collect(),
        write_doc: false,
        streams: false,
        hooks: false,
        mcp: false,
        plugins: false,
        memory: false,
        heirloom: None,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--only" => {
                let name = args.next().ok_or("--only wants a name")?;
                options.programs.retain(|program| program.name == name);
                if options.programs.is_empty() {
                    return Err(format!("no program is called `{name}`\n{HELP}"));
                }
            }
            "--heirloom" => {
                let path = args.next().ok_or("--heirloom wants a path")?;
                options.heirloom = Some(named_heirloom(path)?);
            }
            "--write-doc" => options.write_doc = true,
            "--streams" => options.streams = true,
            "--hooks" => options.hooks = true,
            "--mcp" => options.mcp = true,
            "--plugins" => options.plugins = true,
            "--memory" => options.memory = true,
            "--help" | "-h" => return Ok(None),
            other => return Err(format!("what is `{other}`?\n{HELP}")),
        }
    }
    let is_part = options.programs.len() < PROGRAMS.len() || !options.all();
    if !options.all() {
        let (mcp, plugins) = (options.mcp, options.plugins);
        let hooks = options.hooks || options.memory;
        let is_meant = |program: &&Program| {
            let has_plugin = program.plugin.is_some();
            hooks && program.has_hooks || mcp && program.has_mcp || plugins && has_plugin
        };
        options.programs.retain(is_meant);
    }
    if options.write_doc && is_part {
        return Err("--write-doc wants all of it: leave --only and the parts out".into());
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_with_other_name_is_refused() {
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let error = named_heirloom(other).unwrap_err();
        assert!(error.contains("under that name"), "{error}");
    }
}
