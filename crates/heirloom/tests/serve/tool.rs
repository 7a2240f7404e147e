//! The commands of Anthropic's memory tool.

use crate::client::Server;
use serde_json::{Value, json};

/// One command; what the model is told.
#[track_caller]
fn call(server: &Server, status: u16, command: &Value) -> String {
    let answer = server
        .post("/api/memory/tool", command)
        .expect(status)
        .json();
    let said = if status == 200 { "content" } else { "detail" };
    answer[said].as_str().unwrap().to_owned()
}

#[test]
fn a_model_keeps_its_files() {
    let server = Server::start();
    let file = "/memories/notes/plan.md";
    let create = json!({"command": "create", "path": file, "file_text": "one\ntwo\nthree\n"});
    let said = call(&server, 200, &create);
    assert_eq!(said, format!("File created successfully at: {file}"));
    call(&server, 409, &create);
    let said = call(
        &server,
        200,
        &json!({"command": "view", "path": "/memories"}),
    );
    assert!(said.contains("/memories/notes/plan.md"), "{said}");
    let said = call(
        &server,
        200,
        &json!({"command": "view", "path": file, "view_range": [2, 3]}),
    );
    assert!(said.ends_with("     2\ttwo\n     3\tthree"), "{said}");
    let edit = |old: &str, new: &str| json!({"command": "str_replace", "path": file, "old_str": old, "new_str": new});
    call(&server, 200, &edit("two", "2"));
    let said = call(&server, 400, &edit("four", "4"));
    assert!(said.contains("did not appear verbatim"), "{said}");
    let said = call(&server, 400, &edit("e", "E"));
    assert!(
        said.contains("Multiple occurrences") && said.contains("1, 3"),
        "{said}"
    );
    let insert = |line: usize| json!({"command": "insert", "path": file, "insert_line": line, "insert_text": "zero\n"});
    call(&server, 200, &insert(0));
    let said = call(&server, 400, &insert(9));
    assert!(said.contains("[0, 4]"), "{said}");
    let kept = server
        .desk
        .project
        .read(".heirloom/workspace/notes/plan.md")
        .unwrap();
    assert_eq!(kept, "zero\none\n2\nthree\n");
    let rename = json!({"command": "rename", "old_path": file, "new_path": "/memories/done.md"});
    call(&server, 200, &rename);
    let said = call(&server, 404, &rename);
    assert!(said.contains("does not exist"), "{said}");
    call(
        &server,
        200,
        &json!({"command": "delete", "path": "/memories/done.md"}),
    );
    call(
        &server,
        404,
        &json!({"command": "view", "path": "/memories/done.md"}),
    );
}

#[test]
fn nothing_leads_out_of_the_workspace() {
    let server = Server::start();
    let root = server.desk.root().join(".heirloom/workspace");
    std::fs::create_dir_all(&root).unwrap();
    std::os::unix::fs::symlink(server.desk.root().join(".heirloom"), root.join("out")).unwrap();
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
            let answer = server.post("/api/memory/tool", &command);
            let status = answer.status;
            assert!([403, 404, 409].contains(&status), "{status}: {command}");
        }
    }
    assert!(server.desk.root().join(".heirloom/tokens.json").exists());
    call(
        &server,
        403,
        &json!({"command": "delete", "path": "/memories"}),
    );
    // Secrets are left out.
    let secret = format!("key = \"ghp_{}\"", "a1B2c3D4e5F6".repeat(3));
    let create = json!({"command": "create", "path": "/memories/s.md", "file_text": secret});
    call(&server, 200, &create);
    let kept = server
        .desk
        .project
        .read(".heirloom/workspace/s.md")
        .unwrap();
    assert!(!kept.contains("a1B2c3"), "{kept}");
}
