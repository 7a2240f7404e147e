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

/// Runs a command with this token; returns the id for `undo`.
#[track_caller]
fn change_as(server: &Server, token: &str, command: &Value) -> String {
    let path = "/api/memory/tool";
    let answer = server
        .send_as(token, "POST", path, command)
        .expect(200)
        .json();
    let undo = answer["undo"].as_str();
    undo.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn agent_undoes_its_own_changes_only() {
    let server = Server::start();
    let token = |name: &str| server.create_token("agent", &["--name", name]);
    let (coder, tester) = (token("coder"), token("tester"));
    let file = |name: &str| format!(".heirloom/workspace/{name}");
    let read = |name: &str| server.fixture.project.read(&file(name));
    let undo = |token: &str, id: &str| {
        let path = format!("/api/undo/{id}");
        server.send_as(token, "POST", &path, &json!({})).status
    };
    let create = json!({"command": "create", "path": "/memories/a.md", "file_text": "one\n"});
    let created = change_as(&server, &coder, &create);
    let edit = json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "two"});
    let edited = change_as(&server, &coder, &edit);
    assert_eq!(undo(&tester, &edited), 403, "another agent");
    assert_eq!(read("a.md").unwrap(), "two\n");
    assert_eq!(undo(&coder, &edited), 200);
    assert_eq!(read("a.md").unwrap(), "one\n");
    assert_eq!(undo(&coder, &edited), 403, "it was undone already");
    // A person's edit is never undone with it.
    let edited = change_as(&server, &coder, &edit);
    server
        .fixture
        .project
        .write(&file("a.md"), "mine\n")
        .unwrap();
    assert_eq!(undo(&coder, &edited), 409);
    assert_eq!(undo(&coder, &created), 409);
    assert_eq!(read("a.md").unwrap(), "mine\n");
    // Nor does an agent revert the undo of a person.
    let delete = json!({"command": "delete", "path": "/memories/a.md"});
    let deleted = change_as(&server, &coder, &delete);
    assert_eq!(undo(&server.token, &deleted), 200);
    assert_eq!(undo(&coder, &deleted), 403);
    assert_eq!(read("a.md").unwrap(), "mine\n");
    let deleted = change_as(&server, &coder, &delete);
    assert!(read("a.md").is_err());
    assert_eq!(undo(&coder, &deleted), 200);
    assert_eq!(read("a.md").unwrap(), "mine\n");
    let fact = json!({"type": "fact", "content": "The port is 5432"});
    let sent = server.send_as(&coder, "POST", "/api/workspace", &fact);
    let added = sent.expect(201).json()["undo"].as_str().unwrap().to_owned();
    assert_eq!(undo(&coder, &added), 200);
    assert!(!read("MEMORY.md").unwrap_or_default().contains("5432"));
    // Other records stay with people and orchestrators.
    let known = json!({"value": "a fact of its own"});
    let known = server.send_as(&coder, "POST", "/api/memory/knowledge", &known);
    let known = known.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(undo(&coder, &known), 403);
}
