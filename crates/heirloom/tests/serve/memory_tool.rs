//! The commands of Anthropic's memory tool.

use crate::client::Server;
use serde_json::{Value, json};

/// Runs a command that must succeed; returns the text for the model.
#[track_caller]
fn call(server: &Server, command: &Value) -> String {
    run_command(server, command, false)
}

/// Runs a command that must fail; returns the text for the model.
#[track_caller]
fn call_failing(server: &Server, command: &Value) -> String {
    run_command(server, command, true)
}

#[track_caller]
fn run_command(server: &Server, command: &Value, is_error: bool) -> String {
    let answer = server.post("/api/memory/tool", command).expect(200).json();
    assert_eq!(answer["is_error"], is_error, "{answer}");
    answer["content"].as_str().unwrap().to_owned()
}

#[test]
fn memory_tool_creates_edits_renames_and_deletes_files() {
    let server = Server::start();
    let file = "/memories/notes/plan.md";
    let create = json!({"command": "create", "path": file, "file_text": "one\ntwo\nthree\n"});
    let text = call(&server, &create);
    assert_eq!(text, format!("File created successfully at: {file}"));
    call_failing(&server, &create);
    let text = call(&server, &json!({"command": "view", "path": "/memories"}));
    assert!(text.contains("/memories/notes/plan.md"), "{text}");
    // An unknown command is an error of the caller, not of the model.
    server
        .post("/api/memory/tool", &json!({"command": "fly"}))
        .expect(422);
    let by_number = json!({"command": 0, "path": "/memories"});
    server.post("/api/memory/tool", &by_number).expect(422);
    let text = call(
        &server,
        &json!({"command": "view", "path": file, "view_range": [2, 3]}),
    );
    assert!(text.ends_with("     2\ttwo\n     3\tthree"), "{text}");
    let edit = |old: &str, new: &str| json!({"command": "str_replace", "path": file, "old_str": old, "new_str": new});
    let view_lines = |first: i64, last: i64| json!({"command": "view", "path": file, "view_range": [first, last]});
    for (first, last) in [(4, -1), (4, 9), (3, 2), (0, 1)] {
        let text = call_failing(&server, &view_lines(first, last));
        assert!(text.contains("[1, 3]"), "{text}");
    }
    call(&server, &edit("two", "2"));
    let text = call_failing(&server, &edit("four", "4"));
    assert!(text.contains("did not appear verbatim"), "{text}");
    let text = call_failing(&server, &edit("e", "E"));
    assert!(
        text.contains("Multiple occurrences") && text.contains("1, 3"),
        "{text}"
    );
    let insert = |line: usize| json!({"command": "insert", "path": file, "insert_line": line, "insert_text": "zero\n"});
    call(&server, &insert(0));
    let text = call_failing(&server, &insert(9));
    assert!(text.contains("[0, 4]"), "{text}");
    let stored = server
        .fixture
        .project
        .read(".heirloom/workspace/notes/plan.md")
        .unwrap();
    assert_eq!(stored, "zero\none\n2\nthree\n");
    let rename = json!({"command": "rename", "old_path": file, "new_path": "/memories/done.md"});
    call(&server, &rename);
    let text = call_failing(&server, &rename);
    assert!(text.contains("does not exist"), "{text}");
    call(
        &server,
        &json!({"command": "delete", "path": "/memories/done.md"}),
    );
    call_failing(
        &server,
        &json!({"command": "view", "path": "/memories/done.md"}),
    );
}

#[test]
fn memory_tool_paths_outside_the_workspace_fail() {
    let server = Server::start();
    let root = server.fixture.root().join(".heirloom/workspace");
    std::fs::create_dir_all(&root).unwrap();
    std::os::unix::fs::symlink(server.fixture.root().join(".heirloom"), root.join("out")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", root.join("host.md")).unwrap();
    for path in [
        "/memories/../tokens.json",
        "/memories/a/../../tokens.json",
        "/memories/%2e%2e/tokens.json/..",
        "/etc/passwd",
        "memories/x",
        "/memoriesx",
        "/memories//x",
        "/memories/./x",
        "/memories/out/tokens.json",
        "/memories/host.md",
        "/memories/\u{0}",
        "/memories/.trash/x",
    ] {
        for command in [
            json!({"command": "view", "path": path}),
            json!({"command": "create", "path": path, "file_text": "x"}),
            json!({"command": "delete", "path": path}),
            json!({"command": "rename", "old_path": path, "new_path": "/memories/y"}),
        ] {
            call_failing(&server, &command);
        }
    }
    assert!(server.fixture.root().join(".heirloom/tokens.json").exists());
    call_failing(&server, &json!({"command": "delete", "path": "/memories"}));
    // Secrets are redacted.
    let secret = format!("key = \"ghp_{}\"", "a1B2c3D4e5F6".repeat(3));
    let create = json!({"command": "create", "path": "/memories/s.md", "file_text": secret});
    call(&server, &create);
    let stored = server
        .fixture
        .project
        .read(".heirloom/workspace/s.md")
        .unwrap();
    assert!(!stored.contains("a1B2c3"), "{stored}");
    // A secret in the name of a file, and one whose name is in the file already.
    let named = format!("/memories/ghp_{}.md", "a1B2c3D4e5F6".repeat(3));
    let text = call_failing(
        &server,
        &json!({"command": "create", "path": named, "file_text": "x"}),
    );
    assert!(!text.contains("a1B2c3"), "{text}");
    call_failing(
        &server,
        &json!({"command": "rename", "old_path": "/memories/s.md", "new_path": named}),
    );
    let create =
        json!({"command": "create", "path": "/memories/p.md", "file_text": "password: TO_DO\n"});
    call(&server, &create);
    let replace = json!({"command": "str_replace", "path": "/memories/p.md", "old_str": "TO_DO", "new_str": "Zk3Lm9XvB4cR"});
    call(&server, &replace);
    let insert = json!({"command": "insert", "path": "/memories/p.md", "insert_line": 1, "insert_text": "  value: Zk3Lm9XvB4cR\n"});
    call(&server, &insert);
    let stored = server
        .fixture
        .project
        .read(".heirloom/workspace/p.md")
        .unwrap();
    assert!(stored.contains("password: [redacted:password]"), "{stored}");
}
