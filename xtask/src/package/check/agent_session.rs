//! First session with an installed package: memory, demonstration, hooks of an agent program, and MCP.

use super::environment::Environment;
use crate::sandbox::excerpt;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Stdio};

/// The first fact.
const FACT: &str = "the login tests need a running Redis";
/// Words that find it.
const QUESTION: &str = "login tests Redis";
/// Settings of the agent program, from the home.
const SETTINGS: &str = ".claude/settings.json";

/// Enables memory and remembers the first fact; returns the time in seconds.
pub(super) fn remember_first_fact(
    environment: &Environment,
    launcher: &[&str],
) -> Result<f64, String> {
    let (_, init_s) = environment.run(&[launcher, &["init"]].concat())?;
    let (_, remember_s) = environment.run(&[launcher, &["remember", FACT]].concat())?;
    Ok(init_s + remember_s)
}

/// Uses the rest of the program; the error names the first call that failed.
pub(super) fn use_program(
    environment: &Environment,
    launcher: &[&str],
    version: &str,
) -> Result<(), String> {
    let call = |args: &[&str]| environment.run(&[launcher, args].concat());
    expect(&call(&["--version"])?.0, version, "--version")?;
    expect(&call(&["recall", QUESTION])?.0, FACT, "recall")?;
    expect(&call(&["demo"])?.0, "HEIRLOOM_STATUS: COMPLETE", "demo")?;
    call(&["install", "claude-code", "--yes"])?;
    // Hooks call the program by its name, which is in PATH only after an installation.
    call_hooks(environment, launcher == ["heirloom"])?;
    answer_mcp(environment, launcher)?;
    call(&["uninstall", "claude-code", "--yes"])?;
    let settings = environment.home().join(SETTINGS);
    match fs::read_to_string(settings).is_ok_and(|text| text.contains("heirloom hook")) {
        true => Err("`uninstall claude-code` left hooks in the settings".to_owned()),
        false => Ok(()),
    }
}

fn expect(output: &str, text: &str, call: &str) -> Result<(), String> {
    match output.contains(text) {
        true => Ok(()),
        false => Err(format!(
            "`heirloom {call}` did not print `{text}`: {}",
            excerpt(output.as_bytes())
        )),
    }
}

/// Checks the installed hooks, and runs the one of a session's start as the agent program does.
fn call_hooks(environment: &Environment, is_in_path: bool) -> Result<(), String> {
    let path = environment.home().join(SETTINGS);
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let settings: Value =
        serde_json::from_str(&text).map_err(|error| format!("{SETTINGS} has no JSON: {error}"))?;
    let hook = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
        .as_str()
        .ok_or_else(|| format!("{SETTINGS} has no hook of a session's start: {text}"))?;
    if !is_in_path {
        return Ok(());
    }
    let mut child = environment
        .command(&["sh", "-c", hook])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start the hook: {error}"))?;
    let event = json!({
        "session_id": "first-session",
        "hook_event_name": "SessionStart",
        "source": "startup",
        "cwd": "/",
    });
    if let Some(mut input) = child.stdin.take() {
        write_line(&mut input, &event)?;
    }
    let output = child
        .wait_with_output()
        .map_err(|error| format!("the hook failed: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("the hook ended with {}", output.status)),
    }
}

/// Connects as an MCP client over standard input and output, lists the tools and recalls the fact.
fn answer_mcp(environment: &Environment, launcher: &[&str]) -> Result<(), String> {
    let mut child = environment
        .command(&[launcher, &["mcp"]].concat())
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start `heirloom mcp`: {error}"))?;
    let mut input = child.stdin.take().ok_or("`heirloom mcp` has no input")?;
    let output = child.stdout.take().ok_or("`heirloom mcp` has no output")?;
    let mut lines = BufReader::new(output).lines();
    let mut request = |id: u32, method: &str, params: Value| -> Result<Value, String> {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        write_line(&mut input, &message)?;
        for line in lines.by_ref() {
            let line = line.map_err(|error| format!("`heirloom mcp`: {error}"))?;
            let answer: Value = serde_json::from_str(&line)
                .map_err(|error| format!("`heirloom mcp` printed no JSON: {error}: {line}"))?;
            if answer["id"] == id {
                return Ok(answer);
            }
        }
        Err(format!("`heirloom mcp` ended before it answered {method}"))
    };
    let client = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "package-check", "version": "1"},
    });
    let welcome = request(1, "initialize", client)?;
    if welcome["result"]["serverInfo"].is_null() {
        return Err(format!("`heirloom mcp` did not initialize: {welcome}"));
    }
    let tools = request(2, "tools/list", json!({}))?;
    let names = tools["result"]["tools"].as_array();
    if !names.is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "recall")) {
        return Err(format!("`heirloom mcp` lists no tool `recall`: {tools}"));
    }
    let call = json!({"name": "recall", "arguments": {"query": QUESTION}});
    let recalled = request(3, "tools/call", call)?;
    if !recalled.to_string().contains(FACT) {
        return Err(format!(
            "the tool `recall` did not find the fact: {recalled}"
        ));
    }
    // The end of the input ends the server.
    drop(input);
    let status = child
        .wait()
        .map_err(|error| format!("`heirloom mcp`: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`heirloom mcp` ended with {status}")),
    }
}

fn write_line(input: &mut ChildStdin, message: &Value) -> Result<(), String> {
    writeln!(input, "{message}")
        .and_then(|()| input.flush())
        .map_err(|error| format!("cannot write to the program: {error}"))
}
