//! `layout`: which functions run when a command starts, for the linker to put them side by side.
//!
//! A program's code is mapped 64 KB at a time as it is reached. Where what runs is scattered over twenty megabytes,
//! every start pays for a hundred such pieces that hold little of use.

mod script;

use crate::cargo;
use crate::desk::{self, Desk};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const HELP: &str = "\
usage: cargo xtask layout [--heirloom PATH]

  --heirloom PATH  this binary, with its symbols, instead of building one
";

/// Where the script is, from the root.
const SCRIPT: &str = "crates/heirloom/start.ld";
/// Records in the project that is asked: enough for the ways of a large one.
const RECORDS: usize = 10_000;
/// What a record is made of.
const SYLLABLES: [&str; 12] = [
    "ra", "mo", "ti", "sel", "do", "ku", "ven", "pa", "lor", "ni", "bas", "fe",
];

/// Runs the chore; the error is what to tell the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let binary = match args {
        [] => cargo::build_dist(&["heirloom"])?.join(cargo::exe("heirloom")),
        [option, path] if option == "--heirloom" => Path::new(path)
            .canonicalize()
            .map_err(|error| desk::about("find", Path::new(path), &error))?,
        _ => {
            print!("{HELP}");
            return Ok(());
        }
    };
    let listing = Command::new("nm")
        .arg("--defined-only")
        .arg(&binary)
        .output()
        .map_err(|error| format!("cannot start nm, which is in binutils: {error}"))?;
    let listing = String::from_utf8_lossy(&listing.stdout);
    let names = script::names(&listing);
    if names.is_empty() {
        return Err(format!("{} has no symbols", binary.display()));
    }
    let desk = Desk::fresh(&binary, &cargo::target_dir()?.join("layout"))?;
    fill(&desk)?;
    let mut runs = Vec::new();
    for (args, input) in starts(&desk) {
        runs.push(functions_of(&desk, &binary, &args, &input)?);
    }
    let script = script::of(&names, &runs);
    println!(
        "{SCRIPT}: {} patterns of functions that {} starts ran",
        script.matches("*(.text").count(),
        runs.len()
    );
    desk.write(&cargo::root().join(SCRIPT), script.as_bytes())?;
    desk.remove()
}

/// Puts records into the project.
fn fill(desk: &Desk) -> Result<(), String> {
    let line = |n| format!("{}\n", json!({"kind": "note", "text": text(n)}));
    let lines: String = (0..RECORDS).map(line).collect();
    fed(desk.heirloom(&["remember", "--stdin"]), &lines)?;
    // The first question writes what the next ones read.
    desk.done(&["recall", &text(1)])?;
    Ok(())
}

/// Twenty words, others for each number.
fn text(number: usize) -> String {
    let word = |place: usize| {
        let at =
            |step: usize| SYLLABLES[(number * 7 + place * step + number / 12) % SYLLABLES.len()];
        format!("{}{}{}", at(5), at(3), at(1 + number % 11))
    };
    (0..20).map(word).collect::<Vec<_>>().join(" ")
}

/// Every start that somebody waits for: its arguments, and what it reads.
fn starts(desk: &Desk) -> Vec<(Vec<String>, String)> {
    let command = |args: &[&str]| {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        (args, String::new())
    };
    let hook = |name: &str, mut event: serde_json::Value| {
        event["session_id"] = json!("s1");
        event["hook_event_name"] = json!(name);
        event["cwd"] = json!(desk.project());
        let (args, _) = command(&["hook", "claude-code", name]);
        (args, event.to_string())
    };
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "cargo test -p parser"}});
    let answered = {
        let mut event = bash.clone();
        event["tool_response"] = json!({"stdout": "12 passed", "stderr": ""});
        event
    };
    let asked = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "layout", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let (mcp, _) = command(&["mcp"]);
    vec![
        command(&["recall", &text(3)]),
        command(&["recall", &text(4), "--json"]),
        command(&["remember", "the linker puts what starts side by side"]),
        command(&["context", &text(5)]),
        hook("SessionStart", json!({"source": "startup"})),
        hook("UserPromptSubmit", json!({"prompt": text(6)})),
        hook("PreToolUse", bash),
        hook("PostToolUse", answered),
        hook("Stop", json!({})),
        (mcp, asked.map(|line| format!("{line}\n")).concat()),
    ]
}

/// The functions of the binary that one start ran.
fn functions_of(
    desk: &Desk,
    binary: &Path,
    args: &[String],
    input: &str,
) -> Result<BTreeSet<String>, String> {
    let counted = desk.root().join("callgrind.out");
    let into = format!("--callgrind-out-file={}", counted.display());
    let mut under = vec!["--tool=callgrind", "--quiet", "--demangle=no"];
    under.extend(["--compress-strings=no", "--compress-pos=no", &into]);
    let binary = binary.to_string_lossy();
    under.push(&binary);
    under.extend(args.iter().map(String::as_str));
    fed(desk.through("valgrind", &under), input)?;
    let counted =
        std::fs::read_to_string(&counted).map_err(|error| desk::about("read", &counted, &error))?;
    let names = script::functions(&counted);
    println!("{:5} functions: {}", names.len(), args.join(" "));
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// Runs a command that reads `input` to its end; what it prints is nobody's, and waits for nobody.
fn fed(mut command: Command, input: &str) -> Result<(), String> {
    let name = cargo::describe(&command);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = (command.spawn()).map_err(|error| format!("cannot start `{name}`: {error}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // What needs no input may have closed it.
        let _is_read = pipe.write_all(input.as_bytes());
    }
    let output = (child.wait_with_output()).map_err(|error| format!("cannot wait: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("`{name}`: {}", desk::excerpt(&output.stderr)))
}
