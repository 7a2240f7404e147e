//! Who gets in, and what they may.

use crate::client::Server;
use crate::driver::Desk;
use serde_json::json;

#[test]
fn only_who_has_a_token_gets_in() {
    let server = Server::start();
    server.request("GET", "/health", &[], b"").expect(200);
    server.request("GET", "/openapi.json", &[], b"").expect(200);
    for path in [
        "/api/memory/knowledge",
        "/api/events",
        "/metrics",
        "/nothing",
    ] {
        let answer = server.request("GET", path, &[], b"").expect(401);
        assert!(answer.header("www-authenticate").is_some());
        server.get_as("hl_0000", path).expect(401);
    }
    for given in ["Basic x", "Bearer", "Bearer ", "x"] {
        let headers = [("authorization", given)];
        server
            .request("GET", "/api/tasks", &headers, b"")
            .expect(401);
    }
    server.get("/api/tasks").expect(200);
    let kept = server.desk.project.read(".heirloom/tokens.json").unwrap();
    assert!(!kept.contains(&server.token), "only its hash is kept");
}

#[test]
fn a_line_says_what_was_asked_where_that_is_wanted() {
    let desk = Desk::plain();
    let mut command = desk.heirloom(&["serve", "--port", "0"]);
    command.env("HEIRLOOM_LOG", "info");
    let server = Server::of(command, desk);
    server.get("/api/recall?query=moonlight").expect(200);
    server.get_as("hl_0000", "/api/tasks").expect(401);
    let token = server.token.clone();
    let (_desk, ran) = server.stop();
    for begins in ["GET /api/recall 200, ", "GET /api/tasks 401, "] {
        let begins = format!("heirloom: {begins}");
        let line = ran.stderr.lines().find(|line| line.starts_with(&begins));
        assert!(
            line.is_some_and(|line| line.ends_with(" ms")),
            "{}",
            ran.stderr
        );
    }
    for secret in ["moonlight", "hl_0000", &token] {
        assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
    }
}

#[test]
fn the_first_token_is_told_once_and_a_revoked_one_opens_nothing() {
    let server = Server::start();
    let token = server.token.clone();
    let (desk, ran) = server.stop();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let server = Server::over(desk, &[]);
    assert_eq!(server.token, token);
    server.get("/api/tasks").expect(200);
    let listed = server
        .desk
        .call(&["token", "list", "--json"])
        .expect(0)
        .json();
    let id = listed["tokens"][0]["id"].as_str().unwrap();
    server.desk.call(&["token", "revoke", id]).expect(0);
    server.desk.call(&["token", "revoke", id]).expect(3);
    server.get("/api/tasks").expect(401);
}

#[test]
fn roles_may_what_they_are_for() {
    let server = Server::start();
    let agent = server.token_of("agent", &[]);
    let admin = server.token_of("admin", &[]);
    let said = json!({"key": "indent", "value": "four spaces"});
    let post = |token: &str, body| server.send_as(token, "POST", "/api/memory/knowledge", body);
    let ours = post(&server.token, &said).expect(201).json();
    let id = ours["id"].as_str().unwrap();
    // An agent's word is a proposal, and weaker.
    let theirs = json!({"key": "indent", "value": "tabs", "agent_id": "bob"});
    let lost = post(&agent, &theirs).expect(200).json();
    assert_eq!(lost["outcome"], "conflict");
    let new = json!({"key": "quotes", "value": "single", "agent_id": "bob"});
    post(&agent, &new).expect(201);
    let quotes = &server.items("/api/memory/knowledge?key=quotes")[0];
    assert_eq!(quotes["source"], "bob");
    assert_eq!(quotes["proposal"], true);
    assert_eq!(quotes["confidence"], 0.8);
    // Nobody borrows a greater name, takes back what others said, or decides.
    let as_user = json!({"key": "x", "value": "y", "source": "user"});
    post(&agent, &as_user).expect(403);
    let path = format!("/api/memory/knowledge/{id}");
    server
        .send_as(&agent, "DELETE", &path, &json!({}))
        .expect(403);
    let resolve = format!("/api/conflicts/{id}/resolve");
    let keep = json!({"keep": lost["id"]});
    server.send_as(&agent, "POST", &resolve, &keep).expect(403);
    let undo = format!("/api/undo/{id}");
    server
        .send_as(&agent, "POST", &undo, &json!({}))
        .expect(403);
    server.post(&resolve, &keep).expect(200);
    for token in [&agent, &server.token] {
        let role = json!({"role": "admin"});
        server
            .send_as(token, "POST", "/api/tokens", &role)
            .expect(403);
        let purge = json!({"query": "tabs"});
        server
            .send_as(token, "POST", "/api/purge", &purge)
            .expect(403);
    }
    let made = server.send_as(&admin, "POST", "/api/tokens", &json!({"role": "user"}));
    let made = made.expect(201).json();
    server
        .get_as(made["token"].as_str().unwrap(), "/api/tasks")
        .expect(200);
    let gone = server.send_as(&admin, "POST", "/api/purge", &json!({"query": "single"}));
    assert_eq!(gone.expect(200).json()["records"], 1);
    assert!(
        server
            .items("/api/memory/knowledge?key=quotes&all=true")
            .is_empty()
    );
}

#[test]
fn history_names_the_token_that_marked_and_took_back() {
    let server = Server::start();
    let made = ["token", "create", "--role", "user", "--json"];
    let made = server.desk.call(&made).expect(0).json();
    let (id, token) = (
        made["id"].as_str().unwrap(),
        made["token"].as_str().unwrap(),
    );
    let said = json!({"key": "indent", "value": "four spaces"});
    let record = server
        .post("/api/memory/knowledge", &said)
        .expect(201)
        .json();
    let record = record["id"].as_str().unwrap();
    let mark = format!("/api/records/{record}/mark");
    let pinned = json!({"mark": "pinned"});
    server.send_as(token, "POST", &mark, &pinned).expect(200);
    let undo = format!("/api/undo/{record}");
    server.send_as(token, "POST", &undo, &json!({})).expect(200);
    let other = json!({"key": "quotes", "value": "single"});
    let other = server
        .post("/api/memory/knowledge", &other)
        .expect(201)
        .json();
    let other = other["id"].as_str().unwrap();
    // The record itself, then that it was retired.
    let undo = format!("/api/undo/{other}");
    for _ in 0..2 {
        server.send_as(token, "POST", &undo, &json!({})).expect(200);
    }
    let name = format!("token {id}");
    for (record, actions) in [
        (record, ["marked", "marked"]),
        (other, ["retired", "restored"]),
    ] {
        let past = server
            .get(&format!("/api/history/{record}"))
            .expect(200)
            .json();
        let events = past["events"].as_array().unwrap();
        for (event, action) in events[events.len() - 2..].iter().zip(actions) {
            assert_eq!(event["action"], action, "{past}");
            assert_eq!(event["by"], name.as_str(), "{past}");
        }
    }
}

#[test]
fn a_token_of_one_project_opens_no_other() {
    let server = Server::start();
    let bound = server.token_of("orchestrator", &["--project", "other"]);
    let said = json!({"key": "k", "value": "of the other"});
    let path = "/api/memory/knowledge";
    server.send_as(&bound, "POST", path, &said).expect(201);
    let found = server.get_as(&bound, path).expect(200).json();
    assert_eq!(found["items"][0]["project"], "other");
    assert!(
        server.items(path).is_empty(),
        "the served one knows nothing of it"
    );
    server
        .get_as(&bound, &format!("{path}?project=third"))
        .expect(403);
    let elsewhere = json!({"key": "k", "value": "v", "project": "third"});
    server.send_as(&bound, "POST", path, &elsewhere).expect(403);
    assert_eq!(server.items(&format!("{path}?project=other")).len(), 1);
    let named = server.get_as(&bound, "/api/projects").expect(200).json();
    assert_eq!(named["items"].as_array().unwrap().len(), 1, "{named}");
}

#[test]
fn names_and_origins_that_nobody_meant_are_refused() {
    let server = Server::start();
    let with = |name: &str, value: &str| {
        let bearer = format!("Bearer {}", server.token);
        let headers = [("authorization", bearer.as_str()), (name, value)];
        server.request("GET", "/api/tasks", &headers, b"")
    };
    let port = server.address.port();
    for host in ["evil.example", "localhost.evil.example:80", "10.0.0.1"] {
        with("host", host).expect(403);
    }
    with("host", &format!("localhost:{port}")).expect(200);
    for origin in ["http://evil.example", "null", "http://localhost:1"] {
        let answer = with("origin", origin).expect(403);
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    with("origin", &format!("http://127.0.0.1:{port}")).expect(200);
    let desk = Desk::plain();
    let origins = [
        "--allow-origin",
        "https://board.example",
        "--allow-host",
        "memory.example",
    ];
    let server = Server::over(desk, &origins);
    let bearer = format!("Bearer {}", server.token);
    let asked = [
        ("authorization", bearer.as_str()),
        ("origin", "https://board.example"),
        ("host", "memory.example:7717"),
    ];
    let answer = server.request("GET", "/api/tasks", &asked, b"").expect(200);
    let allowed = answer.header("access-control-allow-origin");
    assert_eq!(allowed, Some("https://board.example"));
    let before = server.request("OPTIONS", "/api/tasks", &asked[1..], b"");
    before.expect(204);
}

#[test]
fn a_login_link_works_once_and_changes_need_the_page() {
    let server = Server::start();
    let link = server
        .desk
        .call(&["ui", "--no-open", "--json"])
        .expect(0)
        .json();
    let link = link["link"].as_str().unwrap();
    let (_, path) = link.split_once(&server.address.to_string()).unwrap();
    let answer = server.request("GET", path, &[], b"").expect(303);
    let cookie = answer.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    assert_eq!(
        server.request("GET", path, &[], b"").status,
        401,
        "it was used"
    );
    let headers = [("cookie", cookie.as_str())];
    server
        .request("GET", "/api/tasks", &headers, b"")
        .expect(200);
    let json = ("content-type", "application/json");
    let body = br#"{"key": "k", "value": "v"}"#;
    let path = "/api/memory/knowledge";
    server
        .request("POST", path, &[headers[0], json], body)
        .expect(403);
    let wrong = ("x-csrf-token", "00");
    server
        .request("POST", path, &[headers[0], json, wrong], body)
        .expect(403);
    assert!(server.items(path).is_empty());
    let stranger = ("cookie", "heirloom-1=00");
    server
        .request("GET", "/api/tasks", &[stranger], b"")
        .expect(401);
}

#[test]
fn what_others_reach_needs_a_certificate() {
    let desk = Desk::plain();
    let ran = desk.call(&["serve", "--host", "0.0.0.0", "--port", "0"]);
    assert!(ran.stderr.contains("--tls-cert"), "{}", ran.stderr);
    assert_eq!(ran.code, 4);
    desk.project.write("no.pem", "nothing").unwrap();
    let files = ["--tls-cert", "no.pem", "--tls-key", "no.pem"];
    let ran = desk.call(&[&["serve", "--port", "0"], &files[..]].concat());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}
