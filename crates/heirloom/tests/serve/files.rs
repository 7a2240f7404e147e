//! Access to files: of another project, with secrets, and written by people.

use crate::client::Server;
use crate::driver::ProjectFixture;
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

/// Text in files of the served project.
const MARKER: &str = "zebra of the served project";

#[test]
fn token_of_another_project_reaches_no_file_of_the_served_project() {
    let fixture = ProjectFixture::git();
    for file in [
        "README.md",
        ".env",
        ".heirloom/workspace/SOUL.md",
        ".heirloom/groups/main/MEMORY.md",
    ] {
        fixture.project.write(file, MARKER).unwrap();
    }
    let before = fixture.project.read(".heirloom/workspace/SOUL.md").unwrap();
    let facts = fixture
        .project
        .read(".heirloom/workspace/MEMORY.md")
        .unwrap();
    let server = Server::start_in(fixture, &[]);
    for role in ["agent", "orchestrator", "user", "admin"] {
        let token = server.create_token(role, &["--project", "other"]);
        for name in [
            "README.md",
            ".env",
            ".git/config",
            ".heirloom/tokens.json",
            "*",
        ] {
            let request = json!({"invocation": format!("coder[input:{name}]")});
            server
                .send_as(&token, "POST", "/api/context", &request)
                .expect(403);
        }
        let made = server.send_as(&token, "POST", "/api/context", &json!({"group": "main"}));
        assert!(!String::from_utf8_lossy(&made.body).contains(MARKER));
        for path in ["/api/workspace", "/api/groups", "/api/groups/main"] {
            server.get_as(&token, path).expect(403);
        }
        let send = |path: &str, body: Value| server.send_as(&token, "POST", path, &body);
        for command in [
            json!({"command": "view", "path": "/memories/SOUL.md"}),
            json!({"command": "create", "path": "/memories/x.md", "file_text": "x"}),
            json!({"command": "delete", "path": "/memories/SOUL.md"}),
        ] {
            send("/api/memory/tool", command).expect(403);
        }
        send("/api/workspace", json!({"type": "fact", "text": "x"})).expect(403);
        send("/api/groups/main", json!({"text": "x"})).expect(403);
        let file = json!({"task_id": "7", "path": "README.md"});
        send("/api/memory/artifacts", file).expect(403);
    }
    let root = server.fixture.root();
    assert_eq!(
        server
            .fixture
            .project
            .read(".heirloom/workspace/SOUL.md")
            .unwrap(),
        before
    );
    assert!(!root.join(".heirloom/workspace/x.md").exists());
    let memory = server.fixture.project.read(".heirloom/workspace/MEMORY.md");
    assert_eq!(memory.unwrap(), facts);
    // Creating a token imports no file of this folder into the other project's memory.
    let notes = server.items("/api/notes?project=other");
    assert!(notes.is_empty(), "{notes:?}");
    // A token of the served project reads the files that it may read.
    let request = json!({"invocation": "coder[input:README.md]"});
    let made = server.post("/api/context", &request).expect(200).json();
    assert!(made["text"].as_str().unwrap().contains(MARKER));
}

#[test]
fn files_with_secrets_are_refused_in_contexts() {
    let fixture = ProjectFixture::git();
    for file in [".env", "deploy/server.pem", "id_rsa", "notes/plain.txt"] {
        fixture.project.write(file, MARKER).unwrap();
    }
    let root = fixture.root().to_owned();
    std::os::unix::fs::symlink(root.join(".env"), root.join("notes/link.txt")).unwrap();
    std::os::unix::fs::symlink(root.join(".git"), root.join("notes/git")).unwrap();
    let server = Server::start_in(fixture, &[]);
    let inject = |name: &str| {
        let request = json!({"invocation": format!("coder[input:{name}]")});
        server.post("/api/context", &request)
    };
    for name in [
        ".env",
        "./.env",
        "deploy/../.env",
        "deploy/server.pem",
        "id_rsa",
        "notes/link.txt",
        "notes/git/config",
        ".git/config",
        ".heirloom/tokens.json",
        ".heirloom/heirloom.db",
        ".heirloom/config.toml",
    ] {
        let refused = inject(name).expect(403).json();
        assert!(!refused.to_string().contains(MARKER), "{name}");
    }
    let absolute = root.join(".env").display().to_string();
    inject(&absolute).expect(403);
    let made = inject("notes/*").expect(200).json();
    let text = made["text"].as_str().unwrap();
    assert_eq!(text.matches(MARKER).count(), 1, "{text}");
    let notes = made["notes"].to_string();
    assert!(
        !text.contains("link.txt") || notes.contains("keys or passwords"),
        "{made}"
    );
}

/// Runs one command of the memory tool.
fn run_tool(server: &Server, token: &str, command: Value) -> Value {
    let mut command = command;
    command["agent_id"] = json!("coder");
    server
        .send_as(token, "POST", "/api/memory/tool", &command)
        .expect(200)
        .json()
}

#[test]
fn agent_cannot_change_persona_files() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    for name in ["SOUL.md", "AGENTS.md"] {
        let file = format!(".heirloom/workspace/{name}");
        server
            .fixture
            .project
            .write(&file, "# Ours\n- keep this\n")
            .unwrap();
        let path = format!("/memories/{name}");
        for command in [
            json!({"command": "delete", "path": path}),
            json!({"command": "str_replace", "path": path, "old_str": "keep", "new_str": "drop"}),
            json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}),
            json!({"command": "rename", "old_path": path, "new_path": "/memories/x.md"}),
        ] {
            let answer = run_tool(&server, &agent, command);
            assert_eq!(answer["is_error"], true, "{answer}");
        }
        let create =
            json!({"command": "create", "path": format!("/memories/a/{name}"), "file_text": "x"});
        assert_eq!(run_tool(&server, &agent, create)["is_error"], true);
        let content = server.fixture.project.read(&file).unwrap();
        assert_eq!(content, "# Ours\n- keep this\n");
    }
    let onto = json!({"command": "rename", "old_path": "/memories/n.md", "new_path": "/memories/b/SOUL.md"});
    assert_eq!(run_tool(&server, &agent, onto)["is_error"], true);
}

#[test]
fn undo_restores_a_file_that_an_agent_changed() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    let file = ".heirloom/workspace/TOOLS.md";
    let first = "# Tools\n- use pnpm\n- use make\n";
    server.fixture.project.write(file, first).unwrap();
    server.fixture.call(&["workspace", "sync"]);
    let read = |path: &str| server.fixture.project.read(path).ok();
    let undo = |id: &str| {
        server.fixture.call(&["undo", id]).expect(0);
    };
    let path = "/memories/TOOLS.md";
    let commands = [
        json!({"command": "str_replace", "path": path, "old_str": "pnpm", "new_str": "npm"}),
        json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}),
        json!({"command": "delete", "path": path}),
        json!({"command": "rename", "old_path": path, "new_path": "/memories/other.md"}),
    ];
    for command in commands {
        let done = run_tool(&server, &agent, command.clone());
        assert_eq!(done["is_error"], false, "{done}");
        let id = done["undo"].as_str().unwrap();
        let after = read(file);
        assert_ne!(after.as_deref(), Some(first), "{command}");
        let record = server.get(&format!("/api/records/{id}")).expect(200).json();
        assert_eq!(record["source"], "coder", "{record}");
        undo(id);
        assert_eq!(read(file).as_deref(), Some(first), "{command}");
        // The second undo restores the change, the third one the first state again.
        undo(id);
        assert_eq!(read(file), after, "{command}");
        undo(id);
        assert_eq!(read(file).as_deref(), Some(first), "{command}");
        let recalled = server.get("/api/recall?query=pnpm").expect(200).json();
        assert!(recalled.to_string().contains("use pnpm"), "{recalled}");
    }
    let create = json!({"command": "create", "path": "/memories/new.md", "file_text": "x"});
    let id = run_tool(&server, &agent, create)["undo"]
        .as_str()
        .unwrap()
        .to_owned();
    undo(&id);
    assert_eq!(read(".heirloom/workspace/new.md"), None);
    let fact = json!({"type": "fact", "text": "it rains", "agent_id": "coder"});
    let added = server
        .send_as(&agent, "POST", "/api/workspace", &fact)
        .expect(201)
        .json();
    let memory = ".heirloom/workspace/MEMORY.md";
    assert!(read(memory).unwrap().contains("it rains"));
    undo(added["undo"].as_str().unwrap());
    assert!(!read(memory).unwrap_or_default().contains("it rains"));
}

#[test]
fn history_names_the_agent_and_undo_of_an_entry_restores_the_file() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    let file = ".heirloom/workspace/TOOLS.md";
    let first = "# Tools\n- use pnpm for everything\n";
    server.fixture.project.write(file, first).unwrap();
    server.fixture.call(&["list"]).expect(0);
    let found = server.items("/api/notes?category=workspace");
    let entry = found
        .iter()
        .find(|note| note["text"] == "use pnpm for everything");
    let entry = entry.unwrap_or_else(|| panic!("{found:?}"))["id"]
        .as_str()
        .unwrap();
    let delete = json!({"command": "delete", "path": "/memories/TOOLS.md"});
    assert_eq!(run_tool(&server, &agent, delete)["is_error"], false);
    let past = server
        .get(&format!("/api/history/{entry}"))
        .expect(200)
        .json();
    let last = past["events"].as_array().unwrap().last().unwrap();
    assert_eq!(last["action"], "retired", "{past}");
    assert_eq!(last["by"], "workspace: coder", "{past}");
    server.fixture.call(&["undo", entry]).expect(0);
    assert_eq!(server.fixture.project.read(file).unwrap(), first);
    let notes = server.items("/api/notes?category=workspace");
    assert!(notes.iter().any(|note| note["id"] == entry), "{notes:?}");
}

#[test]
fn purge_deletes_the_stored_former_text_of_a_file() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    let file = ".heirloom/workspace/TOOLS.md";
    server
        .fixture
        .project
        .write(file, "- moonlight sonata\n")
        .unwrap();
    let edit = json!({"command": "str_replace", "path": "/memories/TOOLS.md",
        "old_str": "moonlight sonata", "new_str": "x"});
    let id = run_tool(&server, &agent, edit)["undo"]
        .as_str()
        .unwrap()
        .to_owned();
    let former_file = server
        .fixture
        .root()
        .join(".heirloom/workspace/.history")
        .join(&id);
    assert!(former_file.exists());
    server
        .fixture
        .call(&["purge", "--query", "moonlight", "--yes"])
        .expect(0);
    assert!(!former_file.exists());
    let result = server.fixture.call(&["undo", &id]);
    assert_eq!(result.code, 3, "{}", result.stderr);
}

#[test]
fn routes_by_id_find_the_record_in_every_project() {
    let server = Server::start();
    let path = "/api/memory/knowledge";
    let add = |key: &str| {
        let body = json!({"key": key, "value": "v", "project": "other"});
        let made = server.post(path, &body).expect(201).json();
        made["id"].as_str().unwrap().to_owned()
    };
    let (id, second) = (add("one"), add("two"));
    for path in [
        format!("{path}/{id}"),
        format!("/api/records/{id}"),
        format!("/api/history/{id}"),
    ] {
        server.get(&path).expect(200);
    }
    let pin = json!({"mark": "pinned"});
    server
        .post(&format!("/api/records/{id}/mark"), &pin)
        .expect(200);
    let delete = |path: String, status| {
        server
            .send_as(&server.token, "DELETE", &path, &json!({}))
            .expect(status)
    };
    delete(format!("{path}/{id}"), 200);
    server
        .post(&format!("/api/undo/{id}"), &json!({}))
        .expect(200);
    delete(format!("/api/records/{second}"), 200);
    // A token of a third project does not find it.
    let bound = server.create_token("orchestrator", &["--project", "third"]);
    server.get_as(&bound, &format!("{path}/{id}")).expect(404);
    server
        .get(&format!("{path}/{id}?project=third"))
        .expect(404);
}

#[test]
fn served_project_gets_inbox_and_workspace_files_without_a_command() {
    let server = Server::start();
    let write = |name: &str, text: &str| server.fixture.project.write(name, text).unwrap();
    let note = json!({"type": "update_memory", "payload": {"content": "the lion sleeps"}});
    write(".heirloom/inbox/a.json", &note.to_string());
    write(".heirloom/workspace/MEMORY.md", "- the zebra runs\n");
    let until = Instant::now() + Duration::from_secs(30);
    for text in ["the lion sleeps", "the zebra runs"] {
        while !server
            .items("/api/notes")
            .iter()
            .any(|note| note["text"] == text)
        {
            assert!(Instant::now() < until, "{text}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn user_workspace_is_reached_except_with_a_token_of_one_project() {
    let server = Server::start();
    let token = |more: &[&str]| server.create_token("agent", more);
    let project = server.get("/api/projects").json()["items"][0]["name"].clone();
    let bound = token(&["--project", project.as_str().unwrap()]);
    let fact = json!({"type": "fact", "text": "Prefers tabs", "user": true});
    let send = |token: &str| server.send_as(token, "POST", "/api/workspace", &fact);
    let refused = send(&bound).expect(403).json();
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("every project")
    );
    let added = send(&token(&[])).expect(201).json();
    let file = added["file"].as_str().unwrap();
    assert!(
        file.starts_with(server.fixture.home.path().to_str().unwrap()),
        "{added}"
    );
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .contains("Prefers tabs")
    );
    let of_project = ".heirloom/workspace/MEMORY.md";
    let of_project = server.fixture.project.read(of_project).unwrap_or_default();
    assert!(!of_project.contains("Prefers tabs"), "{of_project}");
}

#[test]
fn bodies_take_content_as_the_text() {
    let server = Server::start();
    for path in [
        "/api/groups/main",
        "/api/notes",
        "/api/workspace",
        "/api/errors",
        "/api/memory/knowledge",
    ] {
        let mut body = json!({"content": format!("left over {path}")});
        if path == "/api/workspace" {
            body["type"] = json!("fact");
        }
        let made = server.post(path, &body).expect(201).json();
        assert!(made["warnings"].is_null(), "{path}: {made}");
    }
    let memory = server
        .fixture
        .project
        .read(".heirloom/groups/main/MEMORY.md");
    assert!(memory.unwrap().contains("left over /api/groups/main"));
    let both = json!({"content": "a", "text": "b"});
    server.post("/api/groups/main", &both).expect(422);
}
