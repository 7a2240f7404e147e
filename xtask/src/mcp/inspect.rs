//! The inspector's command line, over both transports.

use super::packages::Packages;
use super::suite::McpServer;
use crate::sandbox::{Sandbox, excerpt};
use serde_json::{Value, json};
use std::path::Path;

const SCRIPT: &str = "inspector/cli/build/cli.js";

/// Calls, each with a text that the answer must contain.
const CALLS: [(&[&str], &str); 7] = [
    (&["--method", "tools/list"], "\"register_artifact\""),
    (
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "remember",
            "--tool-arg",
            "text=Redis is on 6379",
        ],
        "\"outcome\"",
    ),
    (
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "recall",
            "--tool-arg",
            "query=redis",
            "--tool-arg",
            "k=3",
        ],
        "Redis is on 6379",
    ),
    (
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "context",
            "--tool-arg",
            "budget_chars=2000",
        ],
        "\"sections\"",
    ),
    (&["--method", "resources/list"], "\"resources\""),
    (
        &["--method", "resources/templates/list"],
        "heirloom://task/{task}",
    ),
    (&["--method", "prompts/list"], "\"prompts\""),
];

/// Makes all calls over both transports; returns one line per wrong answer.
pub(super) fn run(
    desk: &Sandbox,
    binary: &Path,
    packages: &Packages,
) -> Result<Vec<String>, String> {
    let project = desk.project();
    let config = desk.root().join("inspector.json");
    let args = json!(["mcp", "--project-dir", project]);
    let servers: Value = json!({"mcpServers": {"heirloom": {"command": binary, "args": args}}});
    desk.write(&config, servers.to_string().as_bytes())?;
    let config = config.display().to_string();
    let served = McpServer::start(&mut desk.heirloom(&["mcp", "--http", "0"]))?;
    let over = [
        ("stdio", vec!["--config", &config, "--server", "heirloom"]),
        ("http", vec![served.url.as_str(), "--transport", "http"]),
    ];
    let mut failed = Vec::new();
    for (transport, server) in over {
        for (asked, wanted) in CALLS {
            let mut command = packages.call(SCRIPT);
            command.arg("--cli").args(&server).args(asked);
            let output = command.output();
            let output = output.map_err(|error| format!("cannot start the inspector: {error}"))?;
            let name = format!("inspector, {transport}: {}", asked[1..].join(" "));
            let text = String::from_utf8_lossy(&output.stdout);
            if output.status.success() && text.contains(wanted) {
                println!("{name}: ok");
            } else {
                let message = excerpt(&output.stderr);
                failed.push(format!("{name}: {}{message}", excerpt(&output.stdout)));
            }
        }
    }
    Ok(failed)
}
