//! Invalid requests, broken connections and disk errors: each gets a problem document, and the server continues.

use crate::client::{Server, read_answer};
use crate::driver::{ProjectFixture, send, wait, wait_until};
use heirloom_model::limits::{SERVER_BODY_BYTES_MAX, SERVER_JSON_DEPTH_MAX, SERVER_RETRY_AFTER_S};
use serde_json::json;
use std::io::{BufReader, Read, Write};
use std::net::Shutdown;

fn post(server: &Server, headers: &[(&str, &str)], body: &[u8]) -> crate::client::Answer {
    let bearer = format!("Bearer {}", server.token);
    let mut all = vec![("authorization", bearer.as_str())];
    all.extend(headers);
    server.request("POST", "/api/memory/knowledge", &all, body)
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn invalid_bodies_and_routes_get_their_status() {
    let server = Server::start();
    post(&server, &[], b"key=k&value=v").expect(415);
    post(&server, &[("content-type", "text/plain")], b"{}").expect(415);
    for broken in [
        "",
        "{",
        "{\"key\": \"k\", \"value\": \"v\"",
        "nonsense",
        "\u{0}",
    ] {
        post(&server, &[JSON], broken.as_bytes()).expect(400);
    }
    post(&server, &[JSON], &[0xff, 0xfe]).expect(400);
    for wrong in ["[]", "7", "null", "{}"] {
        post(&server, &[JSON], wrong.as_bytes()).expect(422);
    }
    // A number in place of a text is read as it is written.
    post(&server, &[JSON], b"{\"value\": 7}").expect(201);
    let nested = |n: usize| {
        let (open, close) = ("[".repeat(n - 1), "]".repeat(n - 1));
        format!("{{\"value\": \"v\", \"deep\": {open}{close}}}")
    };
    post(&server, &[JSON], nested(SERVER_JSON_DEPTH_MAX).as_bytes()).expect(201);
    post(
        &server,
        &[JSON],
        nested(SERVER_JSON_DEPTH_MAX + 1).as_bytes(),
    )
    .expect(400);
    post(&server, &[JSON], nested(100_000).as_bytes()).expect(400);
    let method = server.request("PATCH", "/health", &[], b"").expect(405);
    assert!(method.header("allow").unwrap().contains("GET"));
    server.get("/nothing/here").expect(404);
    server.get("/api/records/x").expect(404);
    server.get("/api/memory/knowledge?limit=-1").expect(400);
    server
        .get("/api/memory/knowledge?limit=1&limit=2")
        .expect(400);
    server.assert_alive();
}

#[test]
fn body_over_size_limit_is_refused() {
    let server = Server::start();
    let padded = |bytes: usize| {
        let body = "{\"value\": \"v\"}";
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    post(&server, &[JSON], padded(SERVER_BODY_BYTES_MAX).as_bytes()).expect(201);
    post(
        &server,
        &[JSON],
        padded(SERVER_BODY_BYTES_MAX + 1).as_bytes(),
    )
    .expect(413);
    // A body that is announced and never sent.
    let head = format!(
        "POST /api/memory/knowledge HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n",
        server.token
    );
    server.send_raw(head.as_bytes()).expect(413);
    // Chunks whose total size is not announced.
    let head = head.replace("content-length: 99999999999", "transfer-encoding: chunked");
    let mut stream = server.connect();
    stream.write_all(head.as_bytes()).unwrap();
    let piece = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
    for _ in 0..=SERVER_BODY_BYTES_MAX >> 20 {
        if stream.write_all(&piece).is_err() {
            break;
        }
    }
    if let Some(answer) = read_answer(&mut BufReader::new(stream)) {
        answer.expect(413);
    }
    server.assert_alive();
}

#[test]
fn incomplete_requests_do_not_block_other_clients() {
    let server = Server::start();
    let head = server.request_bytes("POST", "/api/memory/knowledge", &[JSON], b"");
    let mut hanging = Vec::new();
    for n in 0..200 {
        let mut stream = server.connect();
        // Nothing, a part of a head, a head without its body, and a connection whose client closed its side.
        match n % 4 {
            0 => {}
            1 => stream.write_all(&head[..20]).unwrap(),
            2 => stream
                .write_all(
                    format!("POST /api/memory/knowledge HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-length: 50\r\n\r\n{{", server.token)
                        .as_bytes(),
                )
                .unwrap(),
            _ => stream.shutdown(Shutdown::Write).unwrap(),
        }
        hanging.push(stream);
    }
    for n in 0..20 {
        let body = json!({"key": format!("k{n}"), "value": "v"});
        server.post("/api/memory/knowledge", &body).expect(201);
    }
    server.wait_for_in_flight(50);
    drop(hanging);
    server.wait_for_in_flight(0);
    // An incomplete body writes nothing.
    assert_eq!(server.items("/api/memory/knowledge").len(), 20);
    server.assert_alive();
}

#[test]
fn more_connections_than_open_files_do_not_block_other_clients() {
    let fixture = ProjectFixture::plain();
    let serve = fixture.heirloom(&["serve", "--port", "0"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -Sn 200; exec \"$0\" serve --port 0"]);
    limited.arg(serve.get_program());
    limited.current_dir(serve.get_current_dir().unwrap());
    limited.env_clear();
    for (name, value) in serve.get_envs() {
        limited.envs(value.map(|value| (name, value)));
    }
    limited.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    limited.stdin(std::process::Stdio::null());
    limited.stdout(std::process::Stdio::piped());
    limited.stderr(std::process::Stdio::piped());
    let server = Server::start_command(limited, fixture);
    let idle: Vec<_> = (0..300).map(|_| server.connect()).collect();
    for n in 0..5 {
        let body = json!({"key": format!("k{n}"), "value": "v"});
        server.post("/api/memory/knowledge", &body).expect(201);
    }
    drop(idle);
}

#[test]
fn request_in_flight_is_answered_before_shutdown() {
    let server = Server::start();
    let body = json!({"key": "late", "value": "but there"}).to_string();
    let bearer = format!("Bearer {}", server.token);
    let request = server.request_bytes(
        "POST",
        "/api/memory/knowledge",
        &[("authorization", &bearer), JSON],
        body.as_bytes(),
    );
    let mut stream = server.connect();
    let (first, rest) = request.split_at(request.len() - 5);
    stream.write_all(first).unwrap();
    server.wait_for_in_flight(1);
    send("INT", server.pid());
    // The server accepts no new connections.
    wait_until("it stops listening", || {
        std::net::TcpStream::connect(server.address).is_err()
    });
    stream.write_all(rest).unwrap();
    let answer = read_answer(&mut BufReader::new(stream)).unwrap();
    assert_eq!(answer.status, 201);
    let (fixture, result) = server.stop();
    assert_eq!(result.code, 0, "{}", result.stderr);
    assert_eq!(fixture.texts("knowledge"), ["but there"]);
}

#[test]
fn valid_time_that_ends_before_it_begins_is_a_conflict() {
    let server = Server::start();
    let body =
        |from: &str, to: &str| json!({"key": "k", "value": "v", "true_from": from, "true_to": to});
    let path = "/api/memory/knowledge";
    let (early, late) = ("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z");
    let refused = server.post(path, &body(late, early)).expect(409).json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("`true_to`") && detail.contains(late),
        "{detail}"
    );
    assert!(refused["hint"].as_str().is_some(), "{refused}");
    assert!(server.items(path).is_empty());
    server.post(path, &body(early, early)).expect(201);
    server.post(path, &body("tomorrow", late)).expect(400);
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let server = Server::start();
    let path = "/api/memory/episodes";
    let mut acknowledged = Vec::new();
    for n in 0..30 {
        let body = json!({"task_id": "t", "action": "attempted", "approach": format!("way {n}")});
        let made = server.post(path, &body).expect(201).json();
        acknowledged.push(made["id"].clone());
    }
    let fixture = server.kill();
    let server = Server::start_in(fixture, &[]);
    let found = server.items(&format!("{path}?limit=1000"));
    for id in acknowledged {
        assert!(found.iter().any(|item| item["id"] == id), "{id}");
    }
    server.fixture.assert_healthy();
}

#[test]
fn write_to_a_locked_database_is_unavailable_and_reads_work() {
    let server = Server::start();
    let path = server.fixture.root().join(".heirloom/heirloom.db");
    let holder = rusqlite::Connection::open(path).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    server.assert_alive();
    server.get("/api/memory/knowledge").expect(200);
    let body = json!({"key": "k", "value": "v"});
    let refused = server.post("/api/memory/knowledge", &body).expect(503);
    let wait = SERVER_RETRY_AFTER_S.to_string();
    assert_eq!(refused.header("retry-after"), Some(&*wait));
    holder.execute_batch("COMMIT").unwrap();
    server.post("/api/memory/knowledge", &body).expect(201);
}

#[test]
fn full_disk_is_insufficient_storage_and_reads_work() {
    let fixture = ProjectFixture::plain();
    let first = Server::start_in(fixture, &[]);
    first
        .post("/api/memory/knowledge", &json!({"key": "k", "value": "v"}))
        .expect(201);
    let token = first.token.clone();
    let (fixture, _) = first.stop();
    // No file may grow beyond the present size of the database, which gives the same error as a full disk.
    let size = std::fs::metadata(fixture.root().join(".heirloom/heirloom.db"))
        .unwrap()
        .len();
    let program = fixture.heirloom(&["serve", "--port", "0"]);
    let mut limited = std::process::Command::new("sh");
    limited.args([
        "-c",
        &format!(
            "trap '' XFSZ; ulimit -f {}; exec \"$0\" serve --port 0",
            size / 512 + 64
        ),
    ]);
    limited.arg(program.get_program());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.current_dir(fixture.root());
    limited.stdin(std::process::Stdio::null());
    limited.stdout(std::process::Stdio::piped());
    limited.stderr(std::process::Stdio::piped());
    let mut child = limited.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first_line = Vec::new();
    while !first_line.ends_with(b"\n") {
        let mut byte = [0];
        out.read_exact(&mut byte).unwrap();
        first_line.push(byte[0]);
    }
    let first_line = String::from_utf8(first_line).unwrap();
    let address = first_line
        .trim()
        .rsplit("://")
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let server = Server::attach(address, token);
    let large = |n: usize| json!({"key": format!("large{n}"), "value": "x ".repeat(400_000)});
    let refused = (0..20).find_map(|n| {
        let answer = server.post("/api/memory/knowledge", &large(n));
        (answer.status != 201).then_some(answer)
    });
    refused.unwrap().expect(507);
    server.assert_alive();
    assert!(!server.items("/api/memory/knowledge?key=k").is_empty());
    send("INT", i64::from(child.id()));
    wait(child).expect(0);
}
