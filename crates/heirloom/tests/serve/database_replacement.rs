//! Replacement of the database file, and moves of it, under a running server.

use crate::client::Server;
use serde_json::{Value, json};
use std::fs;

const KNOWLEDGE: &str = "/api/memory/knowledge";

fn knowledge_body(text: &str) -> Value {
    json!({"category": "decision", "key": text, "value": text})
}

#[track_caller]
fn keys(server: &Server) -> Vec<String> {
    let items = server.items("/api/memory/knowledge?category=decision");
    let mut keys: Vec<String> = items
        .iter()
        .map(|item| item["key"].as_str().unwrap().to_owned())
        .collect();
    keys.sort();
    keys
}

#[test]
fn database_replaced_by_its_copy_keeps_every_write() {
    let server = Server::start();
    let folder = server.fixture.root().join(".heirloom");
    let live = folder.join("heirloom.db");
    let mut expected = Vec::new();
    for round in 0..3 {
        let text = format!("before {round}");
        server.post(KNOWLEDGE, &knowledge_body(&text)).expect(201);
        expected.push(text);
        let copy = folder.join("copy.db");
        fs::copy(&live, &copy).unwrap();
        fs::rename(&copy, &live).unwrap();
        let text = format!("after {round}");
        server.post(KNOWLEDGE, &knowledge_body(&text)).expect(201);
        expected.push(text);
        expected.sort();
        assert_eq!(keys(&server), expected);
        server.fixture.call(&["doctor"]).expect(0);
    }
    let (fixture, _) = server.stop();
    let listed = fixture
        .call(&["list", "--kind", "knowledge"])
        .expect(0)
        .text();
    for text in expected {
        assert!(listed.contains(&text), "{listed}");
    }
}

#[test]
fn database_replaced_by_a_backup_is_read_and_written() {
    let server = Server::start();
    server.post(KNOWLEDGE, &knowledge_body("first")).expect(201);
    let folder = server.fixture.root().join(".heirloom");
    let copy = folder.join("copy.db");
    server
        .fixture
        .call(&["backup", copy.to_str().unwrap()])
        .expect(0);
    server.post(KNOWLEDGE, &knowledge_body("later")).expect(201);
    for end in ["-wal", "-shm"] {
        drop(fs::remove_file(folder.join(format!("heirloom.db{end}"))));
    }
    fs::rename(&copy, folder.join("heirloom.db")).unwrap();
    assert_eq!(keys(&server), ["first"], "reads are of the new file");
    server
        .post(KNOWLEDGE, &knowledge_body("second"))
        .expect(201);
    assert_eq!(keys(&server), ["first", "second"]);
    server.assert_alive();
    server.fixture.call(&["doctor"]).expect(0);
}

#[test]
fn database_moved_away_and_back_is_served_as_before() {
    let server = Server::start();
    server.post(KNOWLEDGE, &knowledge_body("first")).expect(201);
    let live = server.fixture.root().join(".heirloom/heirloom.db");
    let away = server.fixture.root().join("away.db");
    fs::rename(&live, &away).unwrap();
    server
        .post(KNOWLEDGE, &knowledge_body("meanwhile"))
        .expect(500);
    fs::rename(&away, &live).unwrap();
    server
        .post(KNOWLEDGE, &knowledge_body("second"))
        .expect(201);
    assert_eq!(keys(&server), ["first", "second"]);
    server.fixture.call(&["doctor"]).expect(0);
}

#[test]
fn invalid_database_file_is_refused_until_removed() {
    let server = Server::start();
    server.post(KNOWLEDGE, &knowledge_body("first")).expect(201);
    let live = server.fixture.root().join(".heirloom/heirloom.db");
    let away = server.fixture.root().join("away.db");
    fs::rename(&live, &away).unwrap();
    heirloom_fs::durable::write_atomic(&live, b"no database at all").unwrap();
    for _ in 0..2 {
        let problem = server
            .post(KNOWLEDGE, &knowledge_body("meanwhile"))
            .expect(500)
            .json();
        let detail = problem["detail"].as_str().unwrap();
        assert!(
            detail.contains("is damaged or is not a Heirloom database"),
            "{detail}"
        );
    }
    fs::remove_file(&live).unwrap();
    fs::rename(&away, &live).unwrap();
    server
        .post(KNOWLEDGE, &knowledge_body("second"))
        .expect(201);
    assert_eq!(keys(&server), ["first", "second"]);
}
