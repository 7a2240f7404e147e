//! Authentication and permissions: tokens, roles, origins, login links.

use crate::client::Server;
use crate::driver::ProjectFixture;
use heirloom_model::limits::TOKEN_NAME_CHARS_MAX;
use heirloom_testkit::sh;
use serde_json::json;

#[test]
fn request_without_a_valid_token_is_unauthorized() {
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
    for credentials in ["Basic x", "Bearer", "Bearer ", "x"] {
        let headers = [("authorization", credentials)];
        server
            .request("GET", "/api/tasks", &headers, b"")
            .expect(401);
    }
    server.get("/api/tasks").expect(200);
    let token_file = server
        .fixture
        .project
        .read(".heirloom/tokens.json")
        .unwrap();
    assert!(!token_file.contains(&server.token), "only its hash is kept");
}

#[test]
fn heirloom_log_info_logs_requests_without_secrets() {
    let fixture = ProjectFixture::plain();
    let mut command = fixture.heirloom(&["serve", "--port", "0"]);
    command.env("HEIRLOOM_LOG", "info");
    let server = Server::start_command(command, fixture);
    server.get("/api/recall?query=moonlight").expect(200);
    server.get_as("hl_0000", "/api/tasks").expect(401);
    let named = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    server
        .get_as("hl_0000", &format!("/api/records/{named}"))
        .expect(401);
    let token = server.token.clone();
    let (_desk, result) = server.stop();
    for prefix in ["GET /api/recall 200, ", "GET /api/tasks 401, "] {
        let prefix = format!("heirloom: {prefix}");
        let line = result.stderr.lines().find(|line| line.starts_with(&prefix));
        assert!(
            line.is_some_and(|line| line.ends_with(" ms")),
            "{}",
            result.stderr
        );
    }
    for secret in ["moonlight", "hl_0000", &token, &named] {
        assert!(!result.stderr.contains(secret), "{}", result.stderr);
    }
}

#[test]
fn first_token_is_printed_once_and_revoked_token_is_unauthorized() {
    let server = Server::start();
    let token = server.token.clone();
    let (fixture, result) = server.stop();
    assert_eq!(result.code, 0, "{}", result.stderr);
    let server = Server::start_in(fixture, &[]);
    assert_eq!(server.token, token);
    server.get("/api/tasks").expect(200);
    let listed = server
        .fixture
        .call(&["token", "list", "--json"])
        .expect(0)
        .json();
    let id = listed["tokens"][0]["id"].as_str().unwrap();
    server.fixture.call(&["token", "revoke", id]).expect(0);
    server.fixture.call(&["token", "revoke", id]).expect(3);
    server.get("/api/tasks").expect(401);
}

#[test]
fn roles_are_limited_to_their_permissions() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    let admin = server.create_token("admin", &[]);
    let body = json!({"key": "indent", "value": "four spaces"});
    let post = |token: &str, body| server.send_as(token, "POST", "/api/memory/knowledge", body);
    let ours = post(&server.token, &body).expect(201).json();
    let id = ours["id"].as_str().unwrap();
    // An agent's value is a proposal with lower confidence.
    let theirs = json!({"key": "indent", "value": "tabs", "agent_id": "bob"});
    let lost = post(&agent, &theirs).expect(200).json();
    assert_eq!(lost["outcome"], "conflict");
    let new = json!({"key": "quotes", "value": "single", "agent_id": "bob"});
    post(&agent, &new).expect(201);
    let quotes = &server.items("/api/memory/knowledge?key=quotes")[0];
    assert_eq!(quotes["source"], "bob");
    assert_eq!(quotes["proposal"], true);
    assert_eq!(quotes["confidence"], 0.8);
    // An agent cannot use a person's source, retire records of others, or resolve conflicts.
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
fn token_name_is_set_and_listed_by_command_line_and_api() {
    let server = Server::start();
    let admin = server.create_token("admin", &["--name", "laptop of Ada"]);
    let new = json!({"role": "agent", "name": "build server"});
    (server.send_as(&admin, "POST", "/api/tokens", &new)).expect(201);
    (server.send_as(&admin, "POST", "/api/tokens", &json!({"role": "agent"}))).expect(201);
    let long = json!({"role": "agent", "name": "n".repeat(TOKEN_NAME_CHARS_MAX + 1)});
    (server.send_as(&admin, "POST", "/api/tokens", &long)).expect(400);
    let names = |tokens: &serde_json::Value| {
        let tokens = tokens.as_array().unwrap().iter();
        tokens
            .map(|token| token["name"].clone())
            .collect::<Vec<_>>()
    };
    let wanted = [
        json!(null),
        json!("laptop of Ada"),
        json!("build server"),
        json!(null),
    ];
    let listed = server.get_as(&admin, "/api/tokens").expect(200).json();
    assert_eq!(names(&listed["items"]), wanted);
    let listed = server.fixture.call(&["token", "list", "--json"]);
    assert_eq!(names(&listed.expect(0).json()["tokens"]), wanted);
    let printed = server.fixture.call(&["token", "list"]).expect(0).text();
    assert!(
        printed.contains("every project  laptop of Ada\n"),
        "{printed}"
    );
}

#[test]
fn history_names_the_token_that_marked_and_undid() {
    let server = Server::start();
    let made = ["token", "create", "--role", "user", "--json"];
    let made = server.fixture.call(&made).expect(0).json();
    let (id, token) = (
        made["id"].as_str().unwrap(),
        made["token"].as_str().unwrap(),
    );
    let body = json!({"key": "indent", "value": "four spaces"});
    let record = server
        .post("/api/memory/knowledge", &body)
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
    // The first undo retires the record, the second one restores it.
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
fn token_of_one_project_reaches_no_other_project() {
    let server = Server::start();
    let bound = server.create_token("orchestrator", &["--project", "other"]);
    let body = json!({"key": "k", "value": "of the other"});
    let path = "/api/memory/knowledge";
    server.send_as(&bound, "POST", path, &body).expect(201);
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
fn foreign_hosts_and_origins_are_refused() {
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
    let fixture = ProjectFixture::plain();
    let origins = [
        "--allow-origin",
        "https://board.example",
        "--allow-host",
        "memory.example",
    ];
    let server = Server::start_in(fixture, &origins);
    let bearer = format!("Bearer {}", server.token);
    let headers = [
        ("authorization", bearer.as_str()),
        ("origin", "https://board.example"),
        ("host", "memory.example:7717"),
    ];
    let answer = server
        .request("GET", "/api/tasks", &headers, b"")
        .expect(200);
    let allowed = answer.header("access-control-allow-origin");
    assert_eq!(allowed, Some("https://board.example"));
    let before = server.request("OPTIONS", "/api/tasks", &headers[1..], b"");
    before.expect(204);
}

#[test]
fn login_link_works_once_and_writes_need_the_csrf_token() {
    let server = Server::start();
    let path = &*server.login_link();
    let head_answer = server.send_raw(&server.request_bytes("HEAD", path, &[], b""));
    assert_eq!(head_answer.status, 204, "a look leaves it as it is");
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
fn login_link_survives_requests_that_no_person_made() {
    let server = Server::start();
    let link = server.login_link();
    for (name, value) in [
        ("sec-purpose", "prefetch"),
        ("sec-purpose", "prefetch;prerender"),
        ("Sec-Purpose", "Prefetch; anonymous-client-ip"),
        ("sec-purpose", "prerender"),
        ("purpose", "prefetch"),
        ("x-moz", "prefetch"),
        ("x-purpose", "preview"),
        ("x-purpose", "instant"),
        ("sec-fetch-mode", "no-cors"),
        ("sec-fetch-mode", "cors"),
    ] {
        let answer = server.request("GET", &link, &[(name, value)], b"");
        assert_eq!(answer.status, 503, "{name}: {value}");
        assert_eq!(answer.header("set-cookie"), None, "{name}: {value}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    let options = server.request("OPTIONS", &link, &[], b"");
    assert_eq!(options.status, 405);
    let visit = [
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    server.request("GET", &link, &visit, b"").expect(303);
}

#[test]
fn public_address_without_a_certificate_is_refused() {
    let fixture = ProjectFixture::plain();
    let result = fixture.call(&sh("serve --host 0.0.0.0 --port 0"));
    assert!(result.stderr.contains("--tls-cert"), "{}", result.stderr);
    assert_eq!(result.code, 4);
    fixture.project.write("no.pem", "nothing").unwrap();
    let files = ["--tls-cert", "no.pem", "--tls-key", "no.pem"];
    let result = fixture.call(&[&["serve", "--port", "0"], &files[..]].concat());
    assert_eq!(result.code, 2, "{}", result.stderr);
}
