//! Compares the reference server "memory" with `--compat server-memory`.

use super::packages::Packages;
use crate::sandbox::{Sandbox, excerpt};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SCRIPT: &str = "server-memory/dist/index.js";

/// MCP session with one of the two servers.
struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Session {
    fn begin(command: &mut Command) -> Result<Self, String> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start it: {error}"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (stdin, stdout) = stdin.zip(stdout).ok_or("it has no streams")?;
        let stdout = BufReader::new(stdout);
        let mut session = Self {
            child,
            stdin,
            stdout,
            asked: 0,
        };
        let client = json!({"name": "compare", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        session.ask("initialize", &params)?;
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(session)
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        writeln!(self.stdin, "{message}").map_err(|error| format!("it does not listen: {error}"))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line);
            if read.map_err(|error| format!("the server printed nothing: {error}"))? == 0 {
                return Err(format!("it ended before it answered {method}"));
            }
            let message: Value = serde_json::from_str(&line)
                .map_err(|error| format!("{error}: {}", excerpt(line.as_bytes())))?;
            if message["id"] == id {
                return Ok(message["result"].clone());
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Sends the same calls to both; returns one line per differing answer.
pub(super) fn run(desk: &Sandbox, packages: &Packages) -> Result<Vec<String>, String> {
    let mut theirs = packages.call(SCRIPT);
    theirs.env("MEMORY_FILE_PATH", desk.root().join("theirs.jsonl"));
    let mut theirs = Session::begin(&mut theirs)?;
    let mut ours = Session::begin(&mut desk.heirloom(&["mcp", "--compat", "server-memory"]))?;
    let mut failed = Vec::new();
    let listed = [&mut theirs, &mut ours].map(|session| session.ask("tools/list", &json!({})));
    let [their_tools, our_tools] = listed;
    let (mut their_tools, mut our_tools) = (their_tools?, our_tools?);
    for tools in [&mut their_tools, &mut our_tools] {
        normalize_tools(tools);
    }
    if their_tools != our_tools {
        failed.push(format!(
            "server-memory: tools/list: {their_tools} and {our_tools}"
        ));
    }
    let calls = calls();
    for (tool, arguments) in &calls {
        let params = json!({"name": tool, "arguments": arguments});
        let one = theirs.ask("tools/call", &params)?;
        let other = ours.ask("tools/call", &params)?;
        if comparable(&one) != comparable(&other) {
            failed.push(format!(
                "server-memory: {tool} {arguments}: {one} and {other}"
            ));
        }
    }
    if failed.is_empty() {
        println!(
            "server-memory: the tools and {} answers are the same",
            calls.len()
        );
    }
    Ok(failed)
}

/// Removes insignificant differences from a list of tools: the order of `required` and the task support.
fn normalize_tools(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("execution");
            if let Some(Value::Array(names)) = map.get_mut("required") {
                names.sort_by_key(ToString::to_string);
            }
            map.values_mut().for_each(normalize_tools);
        }
        Value::Array(all) => all.iter_mut().for_each(normalize_tools),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns an answer in comparable form, independent of white space and the order of names.
fn comparable(result: &Value) -> (Value, Value, bool) {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let text = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    let failed = result["isError"] == true;
    (text, result["structuredContent"].clone(), failed)
}

/// Calls that are sent to both, in order.
fn calls() -> Vec<(&'static str, Value)> {
    let entity = |name: &str, sort: &str, said: &[&str]| json!({"name": name, "entityType": sort, "observations": said});
    let relation =
        |from: &str, to: &str, sort: &str| json!({"from": from, "to": to, "relationType": sort});
    let shop = entity("Shop", "Service", &["runs on 8080", "in Rust"]);
    let (db, ann) = (
        entity("Db", "", &[]),
        entity("Ann", "Person", &["likes tea"]),
    );
    let uses = relation("Shop", "Db", "uses");
    vec![
        ("read_graph", json!({})),
        ("create_entities", json!({"entities": [shop, db, ann]})),
        (
            "create_entities",
            json!({"entities": [entity("Shop", "Other", &["x"]), entity("Cache", "Service", &["Redis"])]}),
        ),
        (
            "create_relations",
            json!({"relations": [uses, relation("Ann", "Shop", "owns"), relation("A", "B", "c")]}),
        ),
        (
            "create_relations",
            json!({"relations": [uses, relation("Shop", "Cache", "uses")]}),
        ),
        (
            "add_observations",
            json!({"observations": [{"entityName": "Db", "contents": ["Postgres 16", "Postgres 16 "]},
                                    {"entityName": "Shop", "contents": ["in Rust", "In Rust"]}]}),
        ),
        (
            "add_observations",
            json!({"observations": [{"entityName": "Db", "contents": ["more"]},
                                    {"entityName": "None", "contents": ["x"]}]}),
        ),
        ("read_graph", json!({})),
        ("search_nodes", json!({"query": "RUST"})),
        ("search_nodes", json!({"query": "service"})),
        ("search_nodes", json!({"query": "zzz"})),
        ("search_nodes", json!({"query": ""})),
        ("open_nodes", json!({"names": ["Ann", "None"]})),
        (
            "delete_observations",
            json!({"deletions": [{"entityName": "Ann", "observations": ["likes tea", "none"]},
                                 {"entityName": "None", "observations": ["x"]}]}),
        ),
        ("open_nodes", json!({"names": ["Ann"]})),
        (
            "delete_relations",
            json!({"relations": [relation("Shop", "Cache", "uses"), relation("x", "y", "z")]}),
        ),
        ("delete_entities", json!({"entityNames": ["Shop", "None"]})),
        ("read_graph", json!({})),
        (
            "create_entities",
            json!({"entities": [entity("Shop", "Service", &["again"])]}),
        ),
        ("read_graph", json!({})),
        ("no_such_tool", json!({})),
    ]
}
