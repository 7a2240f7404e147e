//! Retention over HTTP.

use crate::client::Server;
use crate::driver::{ProjectFixture, finish};
use serde_json::json;

/// Time long before the retention of episodes.
const LONG_AGO: &str = "2026-01-01T10:00:00Z";

/// Runs a command at an earlier time.
fn call_long_ago(fixture: &ProjectFixture, args: &[&str]) {
    let mut command = fixture.heirloom(args);
    command.env("HEIRLOOM_NOW", LONG_AGO);
    finish(command, |_| {}).expect(0);
}

#[test]
fn prune_lists_and_applies_for_orchestrators_only() {
    let fixture = ProjectFixture::plain();
    for task in ["1", "2"] {
        let log = ["episode", "log", "--task", task, "--agent", "coder"];
        let log = [
            &log[..],
            &["--action", "completed", "--approach", "by hand"],
        ]
        .concat();
        call_long_ago(&fixture, &log);
    }
    let pinned = fixture.records("episode")[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    fixture.call(&["pin", &pinned]).expect(0);
    let server = Server::start_in(fixture, &[]);
    let agent = server.create_token("agent", &[]);
    let apply = json!({"apply": true});
    server
        .send_as(&agent, "POST", "/api/prune", &json!({}))
        .expect(403);
    server
        .send_as(&agent, "POST", "/api/prune", &apply)
        .expect(403);
    let listed = server.post("/api/prune", &json!({})).expect(200).json();
    assert_eq!(
        (&listed["applied"], &listed["episodes"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(server.items("/api/memory/episodes").len(), 2);
    let retired = server.post("/api/prune", &apply).expect(200).json();
    assert_eq!(
        (&retired["applied"], &retired["ids"]),
        (&json!(true), &listed["ids"])
    );
    assert_eq!(
        (&retired["artifacts"], &retired["more"]),
        (&json!(0), &json!(false))
    );
    assert_eq!(server.items("/api/memory/episodes").len(), 1);
    // A restored attempt is not retired again.
    let id = retired["ids"][0].as_str().unwrap();
    server
        .post(&format!("/api/undo/{id}"), &json!({}))
        .expect(200);
    let again = server.post("/api/prune", &apply).expect(200).json();
    assert_eq!(again["episodes"], 0, "{again}");
    assert_eq!(server.items("/api/memory/episodes").len(), 2);
}
