//! Answers of the HTTP API.

use crate::client::Server;
use serde_json::{Value, json};

fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap().to_owned()
}

#[test]
fn knowledge_key_has_one_current_value() {
    let server = Server::start();
    let path = "/api/memory/knowledge";
    let body = |value: &str| json!({"category": "convention", "key": "indent", "value": value});
    let first = server.post(path, &body("four spaces")).expect(201).json();
    assert_eq!(first["outcome"], "created");
    let again = server.post(path, &body("Four spaces.")).expect(200).json();
    assert_eq!(again["outcome"], "confirmed");
    let second = server.post(path, &body("two spaces")).expect(200).json();
    assert_eq!(second["outcome"], "replaced");
    assert_eq!(second["replaced"], first["id"]);
    let items = server.items("/api/memory/knowledge?category=convention");
    assert_eq!(items.len(), 1);
    for (name, value) in [
        ("value", json!("two spaces")),
        ("source", json!("orchestrator")),
        ("confidence", json!(1.0)),
        ("key", json!("indent")),
    ] {
        assert_eq!(items[0][name], value, "{name}");
    }
    assert!(items[0]["created_at"].as_str() <= items[0]["updated_at"].as_str());
    assert!(
        server
            .items("/api/memory/knowledge?category=fact")
            .is_empty()
    );
    server
        .post(path, &json!({"key": "k", "value": "v", "confidence": 1.5}))
        .expect(400);
    let gone = format!("{path}/{}", id(&second));
    server
        .send_as(&server.token, "DELETE", &gone, &json!({}))
        .expect(200);
    assert!(server.items(path).is_empty());
    let twice = server.send_as(&server.token, "DELETE", &gone, &json!({}));
    twice.expect(409);
    server
        .post(&format!("/api/undo/{}", id(&second)), &json!({}))
        .expect(200);
    assert_eq!(server.items(path)[0]["value"], "two spaces");
    let past = server
        .get(&format!("/api/history/{}", id(&second)))
        .expect(200)
        .json();
    assert_eq!(past["records"].as_array().unwrap().len(), 2);
}

#[test]
fn episodes_are_stored_filtered_and_found_by_approach() {
    let server = Server::start();
    let path = "/api/memory/episodes";
    for (agent, action) in [
        ("ann", "attempted"),
        ("ann", "failed"),
        ("bob", "completed"),
    ] {
        let body = json!({
            "task_id": "42", "agent_id": agent, "action": action, "approach": "mock the database",
            "outcome": "as it went", "duration_ms": 7, "tokens_in": 1, "tokens_out": 2,
        });
        server.post(path, &body).expect(201);
    }
    assert_eq!(server.items("/api/memory/episodes?task_id=42").len(), 3);
    let failed = server.items("/api/memory/episodes?agent_id=ann&action=failed");
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["duration_ms"], 7);
    assert_eq!(failed[0]["task_id"], "42");
    assert!(server.items("/api/memory/episodes?task_id=43").is_empty());
    let tried = server
        .get("/api/tried?approach=mock%20the%20database")
        .expect(200)
        .json();
    assert_eq!(tried["failed"], true);
    let analytics = server.get("/api/analytics").expect(200).json();
    assert_eq!(analytics["by_agent"].as_array().unwrap().len(), 2);
    server
        .post(path, &json!({"task_id": "1", "action": "guessed"}))
        .expect(422);
    server
        .get("/api/memory/episodes?action=guessed")
        .expect(400);
}

#[test]
fn artifact_inside_the_project_is_stored_and_outside_refused() {
    let server = Server::start();
    server.fixture.project.write("notes.md", "words").unwrap();
    let path = "/api/memory/artifacts";
    let body = json!({"task_id": "42", "agent_id": "bob", "type": "document", "path": "notes.md"});
    let made = server.post(path, &body).expect(201).json();
    let far = json!({"task_id": "42", "type": "file", "path": "far.bin", "size_bytes": 3, "checksum": "a".repeat(64)});
    server.post(path, &far).expect(201);
    let found = server.items("/api/memory/artifacts?type=document");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["size_bytes"], 5);
    assert_eq!(server.items("/api/memory/artifacts?path=far.bin").len(), 1);
    assert_eq!(server.items("/api/memory/artifacts?task_id=42").len(), 2);
    for outside in ["../x", "/etc/passwd"] {
        let body = json!({"task_id": "42", "type": "file", "path": outside});
        server.post(path, &body).expect(403);
    }
    let missing = json!({"task_id": "42", "type": "file", "path": "not-there"});
    server.post(path, &missing).expect(404);
    let agent = server.create_token("agent", &[]);
    let one = format!("{path}/{}", id(&made));
    let remove = |path: &str| server.send_as(&agent, "DELETE", path, &json!({}));
    remove(&format!("{one}?agent_id=ann")).expect(403);
    remove(&format!("{one}?agent_id=bob")).expect(403);
    server
        .send_as(&server.token, "DELETE", &one, &json!({}))
        .expect(200);
    assert_eq!(server.items(path).len(), 1);
    assert!(server.fixture.root().join("notes.md").exists());
}

#[test]
fn context_request_returns_text_and_receipt() {
    let server = Server::start();
    let body = json!({"category": "decision", "key": "db", "value": "use SQLite"});
    server.post("/api/memory/knowledge", &body).expect(201);
    let made = server
        .get("/api/context?task_id=7&budget_chars=2000")
        .expect(200)
        .json();
    assert!(
        made["text"].as_str().unwrap().contains("use SQLite"),
        "{made}"
    );
    let receipt = made["receipt"].as_str().unwrap();
    let shown = server
        .get(&format!("/api/receipts/{receipt}"))
        .expect(200)
        .json();
    assert!(shown["sections"].is_array(), "{shown}");
    assert_eq!(server.items("/api/receipts").len(), 1);
    let hits = server
        .get("/api/recall?query=use%20SQLite&explain=true")
        .expect(200)
        .json();
    assert_eq!(hits["hits"][0]["text"], "use SQLite");
    assert!(hits["hits"][0]["parts"].is_object());
    server.get("/api/context?budget_chars=x").expect(400);
    server.get("/api/recall").expect(400);
}

#[test]
fn http_min_relevance_filters() {
    let server = Server::start();
    for text in [
        "The staging database is read-only on Fridays, because the copy of production runs all day",
        "The mascot of the project is a heron that stands on one leg, as it was drawn for the first conference",
        "Icons are drawn on a grid of 24 pixels with strokes of two pixels, so that they stay sharp on every screen",
    ] {
        let body = json!({"category": "fact", "value": text});
        server.post("/api/memory/knowledge", &body).expect(201);
    }
    let about = "query=is%20the%20staging%20database%20read-only%20on%20Fridays%3F";
    let recall = |query: &str| {
        server
            .get(&format!("/api/recall?{query}"))
            .expect(200)
            .json()
    };
    let count = |answer: &Value| answer["hits"].as_array().unwrap().len();
    let found = recall(about);
    let first = &found["hits"][0];
    assert_eq!(first["grade"], "strong", "{found}");
    let relevance = first["relevance"].as_f64().unwrap();
    assert!((0.5..1.0).contains(&relevance), "{found}");
    let all = recall(&format!("{about}&min_relevance=0"));
    assert_eq!((count(&all), &all["weak"]), (3, &json!(0)), "{all}");
    let least = relevance + 0.001;
    let none = recall(&format!("{about}&min_relevance={least}"));
    assert_eq!((count(&none), &none["weak"]), (0, &json!(3)), "{none}");
    assert_eq!(none["notes"], json!(["nothing relevant is remembered"]));
    let body = json!({"query": "sourdough", "min_relevance": 0.0});
    let posted = server.post("/api/recall", &body).expect(200).json();
    assert_eq!(
        (count(&posted), &posted["hits"][0]["grade"]),
        (2, &json!("weak"))
    );
    for wrong in ["1.01", "-0.1", "NaN", "inf", "half"] {
        let path = format!("/api/recall?{about}&min_relevance={wrong}");
        server.get(&path).expect(400);
    }
    let filtered = recall("query=kind:knowledge");
    assert_eq!(filtered["hits"][0].get("relevance"), None, "{filtered}");
}

#[test]
fn http_hit_of_error_has_its_fix() {
    let server = Server::start();
    let symbol = "undefined symbol SSL_new";
    for args in [
        &["error", "log", "linker failed: undefined symbol SSL_new"][..],
        &["error", "resolve", symbol, "--with", "pin openssl to 3.0"],
    ] {
        let result = server.fixture.call(args);
        assert_eq!(result.code, 0, "{}", result.stderr);
    }
    let found = server
        .get("/api/recall?query=undefined%20symbol%20SSL_new")
        .expect(200)
        .json();
    assert_eq!(
        found["hits"][0]["text"],
        "linker failed: undefined symbol SSL_new"
    );
    assert_eq!(
        found["hits"][0]["meaning"],
        "linker failed: undefined symbol SSL_new → fixed by: pin openssl to 3.0"
    );
}

#[test]
fn task_note_group_session_and_metrics_routes_answer() {
    let server = Server::start();
    let task = server.send_as(
        &server.token,
        "PUT",
        "/api/tasks/42",
        &json!({"type": "issue", "title": "Fix the login"}),
    );
    task.expect(201);
    let context = server.get("/api/context?task_id=42").expect(200).json();
    let text = context["text"].to_string();
    assert!(text.contains("Issue #42: Fix the login"), "{text}");
    server
        .post(
            "/api/tasks/42/steps",
            &json!({"text": "write", "state": "pending"}),
        )
        .expect(201);
    server
        .post(
            "/api/tasks/42/steps",
            &json!({"text": "write", "state": "done"}),
        )
        .expect(200);
    let wrong = server.post("/api/errors", &json!({"text": "it broke", "task_id": "42"}));
    let wrong = wrong.expect(201).json();
    let resolve = format!("/api/errors/{}/resolve", id(&wrong));
    let mended = json!({"resolution": "mended"});
    server.post(&resolve, &mended).expect(200);
    let shown = server.get("/api/tasks/42").expect(200).json();
    assert_eq!(shown["completed_steps"].as_array().unwrap().len(), 1);
    server
        .post(
            "/api/tasks/42/end",
            &json!({"state": "done", "approach": "by hand"}),
        )
        .expect(200);
    assert_eq!(server.items("/api/tasks?state=done").len(), 1);
    server
        .post("/api/notes", &json!({"text": "a note", "task_id": "42"}))
        .expect(201);
    assert_eq!(server.items("/api/notes?task_id=42").len(), 1);
    server
        .post(
            "/api/workspace",
            &json!({"type": "fact", "text": "it rains"}),
        )
        .expect(201);
    let workspace = server.get("/api/workspace").expect(200).json();
    assert!(workspace.to_string().contains("it rains"), "{workspace}");
    server
        .post("/api/groups/main", &json!({"text": "for all"}))
        .expect(201);
    assert_eq!(server.items("/api/groups")[0]["name"], "main");
    assert!(
        server
            .get("/api/groups/main")
            .expect(200)
            .json()
            .to_string()
            .contains("for all")
    );
    for n in 0..3 {
        let turn = json!({"role": "user", "text": format!("turn {n}")});
        let added = server
            .post("/api/sessions/s1/messages", &turn)
            .expect(201)
            .json();
        assert_eq!(added["seq"], n);
    }
    let page = server
        .get("/api/sessions/s1/messages?limit=2")
        .expect(200)
        .json();
    assert_eq!(page["items"][1]["text"], "turn 1");
    let next = page["next"].as_str().unwrap();
    let rest = server.items(&format!("/api/sessions/s1/messages?cursor={next}"));
    assert_eq!(rest.len(), 1);
    server.get("/api/sessions/nobody").expect(404);
    server.get("/api/sessions/s1/summary").expect(200);
    let window = json!({"messages": [{"role": "user", "content": "hello"}]});
    let compacted = server.post("/api/compact", &window).expect(200).json();
    assert_eq!(compacted["messages"], window["messages"]);
    let metrics = server.get("/metrics").expect(200);
    let metrics = String::from_utf8(metrics.body).unwrap();
    assert!(
        metrics.contains("heirloom_requests_total{status=\"2xx\"}"),
        "{metrics}"
    );
    for (path, count) in [
        ("status", "counts"),
        ("history", "items"),
        ("projects", "items"),
    ] {
        let shown = server.get(&format!("/api/{path}")).expect(200).json();
        assert!(!shown[count].is_null(), "{shown}");
    }
    // Every route below /api is also available below /api/memory.
    server.get("/api/memory/tasks").expect(200);
}

#[test]
fn counts_of_zero_are_refused_where_the_route_reads_them() {
    let server = Server::start();
    let window = json!({"messages": [], "target_tokens": 0, "\u{1}": null});
    server.post("/api/compact", &window).expect(422);
    let recall = json!({"query": "port", "k": 0});
    server.post("/api/recall", &recall).expect(422);
    let other = json!({"key": "port", "value": "8080", "k": 0, "target_tokens": 0});
    server.post("/api/memory/knowledge", &other).expect(201);
    let name = json!({"key": "host", "value": "h", "task_id": "", "\u{1}": null});
    server.post("/api/memory/knowledge", &name).expect(400);
}

#[test]
fn lists_are_paginated_and_etags_guard_changes() {
    let server = Server::start();
    for n in 0..5 {
        let body = json!({"key": format!("k{n}"), "value": format!("value {n}")});
        server.post("/api/memory/knowledge", &body).expect(201);
    }
    let mut seen = Vec::new();
    let mut path = "/api/memory/knowledge?limit=2".to_owned();
    loop {
        let part = server.get(&path).expect(200).json();
        let items = part["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| item["value"].to_string()));
        let Some(next) = part["next"].as_str() else {
            break;
        };
        path = format!("/api/memory/knowledge?limit=2&cursor={next}");
    }
    assert_eq!(seen.len(), 5);
    assert!(seen[0].contains('4'), "newest first: {seen:?}");
    server.get("/api/memory/knowledge?cursor=x").expect(400);
    let bearer = format!("Bearer {}", server.token);
    let bearer = ("authorization", bearer.as_str());
    let one = id(&server.items("/api/memory/knowledge")[0]);
    let path = format!("/api/records/{one}");
    let tag = server.get(&path).expect(200);
    let tag = tag.header("etag").unwrap();
    let known = ("if-none-match", tag);
    let answer = server.request("GET", &path, &[bearer, known], b"");
    assert_eq!(answer.status, 304);
    let marks = format!("{path}/mark");
    server.post(&marks, &json!({"mark": "pinned"})).expect(200);
    let expected = ("if-match", tag);
    let stale = server.request("DELETE", &path, &[bearer, expected], b"");
    stale.expect(412);
    let tag = server.get(&path).expect(200);
    let expected = ("if-match", tag.header("etag").unwrap());
    server
        .request("DELETE", &path, &[bearer, expected], b"")
        .expect(200);
}

#[test]
fn unknown_field_of_a_body_is_named_in_the_answer() {
    let server = Server::start();
    let path = "/api/memory/knowledge";
    let body = json!({"value": "v", "key": "k", "catgory": "decision", "extra": 1});
    let made = server.post(path, &body).expect(201).json();
    let warnings = [
        "the field `catgory` is not known: did you mean `category`?",
        "the field `extra` is not known and was ignored",
    ];
    assert_eq!(made["warnings"], json!(warnings));
    assert!(made["id"].is_string());
    let known = json!({"text": "v", "key": "k", "task": "1", "agent": "orchestrator"});
    let made = server.post(path, &known).expect(200).json();
    assert_eq!(made.get("warnings"), None, "aliases are known");
    let bearer = format!("Bearer {}", server.token);
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("prefer", "handling=strict"),
    ];
    let refused = server
        .request("POST", path, &headers, body.to_string().as_bytes())
        .expect(422)
        .json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("did you mean `category`?"), "{detail}");
    // A misspelled `dry_run` deletes nothing.
    let admin = server.create_token("admin", &[]);
    let purge = json!({"query": "v", "dryrun": true});
    server
        .send_as(&admin, "POST", "/api/purge", &purge)
        .expect(422);
    assert_eq!(server.items(path).len(), 1);
}

#[test]
fn kinds_of_a_recall_are_text_or_list() {
    let server = Server::start();
    let body = json!({"value": "the cache is flushed every hour"});
    server.post("/api/memory/knowledge", &body).expect(201);
    let body = json!({"text": "the cache was not flushed"});
    server.post("/api/errors", &body).expect(201);
    let count = |kinds: Value| {
        let body = json!({"query": "flushed cache", "kinds": kinds, "min_relevance": 0});
        let found = server.post("/api/recall", &body).expect(200).json();
        found["hits"].as_array().unwrap().len()
    };
    assert_eq!(count(json!("error")), 1);
    assert_eq!(count(json!(["error"])), 1);
    assert_eq!(count(json!(["error", "knowledge"])), 2);
    assert_eq!(count(json!([])), 2);
    assert_eq!(count(Value::Null), 2);
    for wrong in [json!(["nothing"]), json!([1]), json!({"error": true})] {
        let body = json!({"query": "flushed cache", "kinds": wrong});
        let status = server.post("/api/recall", &body).status;
        assert!([400, 422].contains(&status), "{wrong}: {status}");
    }
}

#[test]
fn large_answer_of_a_repeated_compaction_is_computed_again() {
    let server = Server::start();
    let bearer = format!("Bearer {}", server.token);
    let compact = |key: &str, text: &str| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = json!({"messages": [{"role": "user", "content": text}]}).to_string();
        let answer = server.request("POST", "/api/compact", &headers, body.as_bytes());
        answer.expect(200)
    };
    let replayed = |answer: &crate::client::Answer| answer.header("idempotency-replayed").is_some();
    assert!(!replayed(&compact("small", "hello")));
    assert!(replayed(&compact("small", "hello")));
    let large = "word ".repeat(heirloom_model::limits::IDEMPOTENCY_ANSWER_BYTES_MAX / 5);
    let first = compact("large", &large);
    let second = compact("large", &large);
    assert!(!replayed(&second));
    assert_eq!(first.json()["messages"], second.json()["messages"]);
}

#[test]
fn request_with_a_repeated_idempotency_key_runs_once() {
    let server = Server::start();
    let bearer = format!("Bearer {}", server.token);
    let with = |key: &str, body: &Value| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = body.to_string();
        server.request("POST", "/api/memory/episodes", &headers, body.as_bytes())
    };
    let body = json!({"task_id": "1", "action": "attempted"});
    let first = with("a", &body).expect(201);
    let second = with("a", &body).expect(201);
    assert_eq!(first.body, second.body);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    let other = json!({"task_id": "2", "action": "attempted"});
    with("a", &other).expect(422);
    with("b", &body).expect(201);
    assert_eq!(server.items("/api/memory/episodes").len(), 2);
    with(
        &"k".repeat(heirloom_model::limits::IDEMPOTENCY_KEY_BYTES_MAX),
        &body,
    )
    .expect(201);
    with(
        &"k".repeat(heirloom_model::limits::IDEMPOTENCY_KEY_BYTES_MAX + 1),
        &body,
    )
    .expect(400);
}

#[test]
fn working_memory_is_separate_for_each_token() {
    let server = Server::start();
    let other = server.create_token("agent", &[]);
    let path = "/api/memory/working";
    let working_memory = json!({
        "agent_id": "bob", "current_plan": "mend it", "active_constraints": ["no network"],
        "task_context": {"file": "a.rs"}, "scratchpad": ["look"],
    });
    let put = |token: &str, body: &Value| server.send_as(token, "PUT", path, body);
    put(&other, &working_memory).expect(200);
    let found = server.get_as(&other, path).expect(200).json();
    for (name, value) in working_memory.as_object().unwrap() {
        assert_eq!(&found[name], value, "{name}");
    }
    let mine = server.get(path).expect(200).json();
    assert_eq!(mine["current_plan"], Value::Null);
    server
        .send_as(&other, "DELETE", path, &json!({}))
        .expect(204);
    let found = server.get_as(&other, path).expect(200).json();
    assert_eq!(found["scratchpad"], json!([]));
}
