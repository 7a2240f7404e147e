//! The reference in docs/reference, generated from the program.
//!
//! `cargo nextest run -p heirloom --test guide --run-ignored only write_reference` writes the pages.

use super::project::GuideProject;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// Folder of the pages, from the folder of this crate.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference");

/// Sentence that begins each page.
const GENERATED: &str =
    "Generated from the program; the test `guide` fails when this page is out of date.";

/// Returns the names of the commands below a command, in the order of its help.
fn subcommands(help: &str) -> Vec<&str> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let list = list.lines().take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  "));
    names
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

/// Removes the list of options that every command has.
fn without_common_options(help: &str) -> String {
    let mut kept = Vec::new();
    let mut is_common = false;
    for line in help.lines() {
        if line.starts_with("Options of every command:") {
            is_common = true;
        } else if is_common && line.is_empty() {
            is_common = false;
        } else if !is_common {
            kept.push(line);
        }
    }
    kept.join("\n").trim_end().to_owned()
}

/// Appends the help of a command, and of the commands below it.
fn add_command(page: &mut String, project: &GuideProject, name: &str, depth: usize) {
    let help = project.printed(&format!("{name} --help"));
    let shown = match depth {
        0 => help.clone(),
        _ => without_common_options(&help),
    };
    let mark = "#".repeat(depth + 1);
    writeln!(
        page,
        "\n{mark}# {name}\n\n```text\n{}\n```",
        shown.trim_end()
    )
    .unwrap();
    for below in subcommands(&help) {
        if below != "help" {
            add_command(page, project, &format!("{name} {below}"), depth + 1);
        }
    }
}

/// The help of all commands.
fn commands_page(project: &GuideProject) -> String {
    let mut page = format!(
        "# Commands\n\n{GENERATED} `heirloom COMMAND --help` prints the same, `heirloom man COMMAND` a manual page. The options of \
         every command are in the first list only. Promises for scripts are in [the contract](../contract.md).\n"
    );
    add_command(&mut page, project, "heirloom", 0);
    page
}

/// The keys of the settings with their defaults, from the file of built-in defaults.
fn settings_page(project: &GuideProject) -> String {
    let defaults = include_str!("../../src/config/defaults.toml");
    let mut page = format!(
        "# Settings\n\n{GENERATED} Later layers win: the defaults here, `~/.config/heirloom/config.toml`, the project's \
         `.heirloom/config.toml`, `HEIRLOOM_<SECTION>_<KEY>` in the environment, `--set section.key=value`. `heirloom config \
         --show-origin` prints the values and where they come from.\n"
    );
    let (mut section, mut comment, mut keys) = (String::new(), Vec::new(), Vec::new());
    for line in defaults.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
        } else if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.clone_into(&mut section);
            comment.clear();
            writeln!(
                page,
                "\n## {name}\n\n| Key | Default | Meaning |\n|---|---|---|"
            )
            .unwrap();
        } else if let Some((key, value)) = line.split_once(" = ") {
            let meaning = comment.join(" ").replace('|', "\\|").replace('<', "&lt;");
            let value = value.replace('|', "\\|");
            writeln!(page, "| `{section}.{key}` | `{value}` | {meaning} |").unwrap();
            keys.push(format!("{section}.{key}"));
            comment.clear();
        }
    }
    let listed = project.json("heirloom config --json");
    for entry in listed["config"].as_array().unwrap() {
        let key = entry["key"].as_str().unwrap();
        assert!(keys.iter().any(|known| known == key), "no default: {key}");
    }
    page
}

/// First sentence of a description, on one line of a table.
fn first_sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text[..end].replace('|', "\\|").replace('<', "&lt;")
}

/// The routes of the HTTP API, from its description.
fn http_page() -> String {
    let api: Value =
        serde_json::from_str(include_str!("../../../../clients/openapi.json")).unwrap();
    let mut page = format!(
        "# HTTP API\n\n{GENERATED} `heirloom serve` answers at `http://127.0.0.1:7717`, and describes parameters and answers at \
         `/openapi.json`; the same file is [openapi.json](../../clients/openapi.json).\n\n| Method | Path | Meaning |\n|---|---|---|\n"
    );
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let text =
                ["summary", "description"].map(|key| route[key].as_str().unwrap_or_default());
            let text = text.into_iter().find(|text| !text.is_empty());
            let meaning = first_sentence(text.unwrap_or_default());
            let method = method.to_uppercase();
            writeln!(page, "| {method} | `{path}` | {meaning} |").unwrap();
        }
    }
    page
}

/// The tools of the MCP server with their arguments, from its own list.
fn mcp_page(project: &GuideProject) -> String {
    let requests = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"reference","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#,
    ];
    let printed = project.printed(&format!(
        "printf '%s\\n' '{}' | heirloom mcp",
        requests.join("' '")
    ));
    let mut answers = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let listed: Value = answers.next_back().unwrap();
    let mut page = format!(
        "# MCP tools\n\n{GENERATED} `heirloom mcp` serves them over standard input and output, `heirloom mcp --http 7718` over HTTP.\n"
    );
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let about = tool["description"].as_str().unwrap_or_default();
        let about = about.replace('<', "&lt;");
        writeln!(
            page,
            "\n## {name}\n\n{about}\n\n| Argument | Type | Meaning |\n|---|---|---|"
        )
        .unwrap();
        let schema = &tool["inputSchema"];
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (argument, field) in schema["properties"].as_object().unwrap() {
            let kind = field["type"].as_str().unwrap_or("any");
            let mark = match required.iter().any(|name| name == argument) {
                true => ", required",
                false => "",
            };
            let meaning = first_sentence(field["description"].as_str().unwrap_or_default());
            writeln!(page, "| `{argument}` | {kind}{mark} | {meaning} |").unwrap();
        }
    }
    page
}

/// The JSON schemas of what commands print.
fn schemas_page() -> String {
    let folder = Path::new(FOLDER).join("../schemas");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut page = format!(
        "# JSON schemas\n\n{GENERATED} What `--json` prints, as JSON Schema; fields may be added, and never change their meaning.\n\n"
    );
    for name in names {
        let stem = name.trim_end_matches(".json");
        writeln!(page, "- [{stem}](../schemas/{name})").unwrap();
    }
    page
}

/// Returns all pages by name.
fn pages() -> [(&'static str, String); 5] {
    let project = GuideProject::new();
    project.printed("heirloom init");
    [
        ("commands.md", commands_page(&project)),
        ("settings.md", settings_page(&project)),
        ("http.md", http_page()),
        ("mcp.md", mcp_page(&project)),
        ("schemas.md", schemas_page()),
    ]
}

#[test]
fn reference_is_that_of_the_program() {
    for (name, text) in pages() {
        let stored = std::fs::read_to_string(Path::new(FOLDER).join(name)).unwrap_or_default();
        assert!(
            stored == text,
            "docs/reference/{name} is out of date: cargo nextest run -p heirloom --test guide --run-ignored only write_reference"
        );
    }
}

#[test]
#[ignore = "writes docs/reference"]
fn write_reference() {
    std::fs::create_dir_all(FOLDER).unwrap();
    for (name, text) in pages() {
        std::fs::write(Path::new(FOLDER).join(name), text).unwrap();
    }
}
