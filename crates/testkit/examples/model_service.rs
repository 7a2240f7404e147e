//! The model service by hand, to try a real agent program against it.
//!
//! `model_service SCRIPT.json` prints its base URL, then each request as one
//! JSON line, until it is killed. The script is a list of turns:
//! `[{"text": "…", "tool_calls": [{"name": "Bash", "input": {…}}]}]`;
//! `{"status": 529}` is an error instead, `"cut": true` breaks the turn off.

#![expect(clippy::print_stdout, reason = "a program for a developer's terminal")]

use std::error::Error;
use std::time::Duration;

use heirloom_testkit::{ModelService, Reply, Turn};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a script file")?;
    let script: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let turns = script.as_array().ok_or("the script is no list")?;
    let service = ModelService::start(turns.iter().map(turn).collect::<Vec<Reply>>())?;
    println!("{}", service.base_url());
    let mut printed = 0;
    loop {
        for request in service.requests().into_iter().skip(printed) {
            printed += 1;
            let line = json!({
                "method": request.method,
                "path": request.path,
                "main": request.is_main,
                "tools": request.tool_names(),
                "tool_result": request.ends_with_tool_result(),
                "body": request.body,
            });
            println!("{line}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn turn(value: &Value) -> Reply {
    if let Some(status) = value["status"].as_u64() {
        return Reply::Status(u16::try_from(status).unwrap_or(500));
    }
    let calls = value["tool_calls"].as_array().into_iter().flatten();
    let text = Turn::text(value["text"].as_str().unwrap_or(""));
    let turn = calls.fold(text, |turn, call| {
        turn.and_call(call["name"].as_str().unwrap_or(""), call["input"].clone())
    });
    if value["cut"] == true {
        Reply::Cut(turn)
    } else {
        turn.into()
    }
}
