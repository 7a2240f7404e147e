//! Requests that a browser with a login sends for pages of other origins: none of them writes.

use crate::access_matrix::MatrixFixture;
use crate::client::{Answer, Server};
use serde_json::Value;

/// Login of a browser: its cookie, and the CSRF token of the server's pages.
struct Login {
    cookie: String,
    csrf: String,
}

impl Login {
    fn new(server: &Server) -> Self {
        let cookie = server.log_in();
        let page = server.request(
            "GET",
            "/settings",
            &[("cookie", &cookie), ("accept", "text/html")],
            b"",
        );
        let page = String::from_utf8(page.expect(200).body).unwrap();
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
        let csrf = rest.split('"').next().unwrap().to_owned();
        Self { cookie, csrf }
    }

    fn send(
        &self,
        server: &Server,
        (method, path): (&str, &str),
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut all = vec![("cookie", self.cookie.as_str())];
        all.extend(headers);
        server.request(method, path, &all, body)
    }
}

/// Everything that a request could have changed.
fn stored_state(server: &Server) -> (String, String, Vec<Value>) {
    let exported = server.fixture.call(&["export", "--all"]).expect(0).text();
    let tokens = server.fixture.project.read(".heirloom/tokens.json");
    (exported, tokens.unwrap(), server.items("/api/receipts"))
}

/// Form posts of the pages, which a foreign page could send as they are.
const FORMS: [(&str, &str); 8] = [
    ("/knowledge", "key=forged&text=forged&category=fact"),
    ("/settings/tokens", "role=admin&name=forged"),
    ("/settings/theme", "theme=dark"),
    ("/inbox/bulk", "decision=accept"),
    ("/tasks/7", "state=done"),
    ("/groups/main/CLAUDE.md", "text=forged"),
    ("/preview", "text=forged"),
    ("/logout", ""),
];

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

#[test]
fn requests_of_foreign_pages_write_nothing_with_a_login() {
    let fixture = MatrixFixture::new();
    let server = &fixture.server;
    let login = Login::new(server);
    let before = stored_state(server);
    let csrf = ("x-csrf-token", login.csrf.as_str());
    let own_origin = format!("http://{}", server.address);
    let mut requests: Vec<_> = fixture.valid_requests();
    requests.retain(|(method, ..)| method != "GET");
    assert!(requests.len() > 20);
    // Without the token of a page, whatever the origin and the encoding.
    let without_token: [&[(&str, &str)]; 7] = [
        &[JSON],
        &[JSON, ("origin", &own_origin)],
        &[
            ("content-type", "text/plain"),
            ("sec-fetch-site", "cross-site"),
        ],
        &[("content-type", "text/plain")],
        &[FORM],
        &[("content-type", "multipart/form-data; boundary=x")],
        &[JSON, ("x-csrf-token", "00")],
    ];
    // With it, as if it had leaked, from a page that the browser does not name as the server's.
    let with_token: [&[(&str, &str)]; 6] = [
        &[JSON, csrf, ("origin", "https://evil.example")],
        &[JSON, csrf, ("origin", "null")],
        &[JSON, csrf, ("origin", "http://localhost:3000")],
        &[JSON, csrf, ("sec-fetch-site", "cross-site")],
        &[JSON, csrf, ("sec-fetch-site", "same-site")],
        &[
            JSON,
            csrf,
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ],
    ];
    for (method, path, body) in &requests {
        for headers in without_token.iter().chain(&with_token) {
            let answer = login.send(server, (method, path), headers, body.to_string().as_bytes());
            assert_eq!(answer.status, 403, "{method} {path} {headers:?}");
        }
    }
    for (path, body) in FORMS {
        for headers in without_token.iter().chain(&with_token) {
            let answer = login.send(server, ("POST", path), headers, body.as_bytes());
            assert_eq!(answer.status, 403, "POST {path} {headers:?}");
        }
    }
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    login
        .send(server, ("POST", "/mcp"), &[JSON], call)
        .expect(403);
    assert!(stored_state(server) == before, "a request wrote");
    // The server's own page writes, and the login is still there.
    let own = [
        JSON,
        csrf,
        ("origin", &own_origin),
        ("sec-fetch-site", "same-origin"),
    ];
    let body = br#"{"key": "own", "value": "v"}"#;
    login
        .send(server, ("POST", "/api/memory/knowledge"), &own, body)
        .expect(201);
}

#[test]
fn reads_and_overridden_methods_of_foreign_pages_write_nothing_with_a_login() {
    let fixture = MatrixFixture::new();
    let server = &fixture.server;
    let login = Login::new(server);
    let before = stored_state(server);
    for (method, path, body) in fixture.valid_requests() {
        // A context is a read that stores its receipt.
        if path.starts_with("/api/context") {
            continue;
        }
        for name in [
            "x-http-method-override",
            "x-http-method",
            "x-method-override",
        ] {
            let headers = [(name, method.as_str()), ("sec-fetch-site", "none")];
            login.send(server, ("GET", &path), &headers, b"");
        }
        let overridden = format!(
            "{path}{}_method={method}",
            if path.contains('?') { '&' } else { '?' }
        );
        if method != "GET" {
            login.send(
                server,
                ("GET", &overridden),
                &[FORM],
                body.to_string().as_bytes(),
            );
        }
    }
    // A page on another port of this host has the cookie, and its images and links need no origin.
    for headers in [
        [
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", "no-cors"),
            ("sec-fetch-dest", "image"),
        ],
        [
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ],
        [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "cors"),
            ("sec-fetch-dest", "empty"),
        ],
    ] {
        let context = "/api/context?query=zebramarker";
        login
            .send(server, ("GET", context), &headers, b"")
            .expect(403);
    }
    assert!(stored_state(server) == before, "a request wrote");
    // A person may follow a link of another page to this one, but no page may embed it.
    let link = [
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    login.send(server, ("GET", "/"), &link, b"").expect(200);
    let frame = [
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "iframe"),
    ];
    login.send(server, ("GET", "/"), &frame, b"").expect(403);
    // Tokens are not sent by browsers on their own.
    let bearer = format!("Bearer {}", server.token);
    let program = [
        ("authorization", bearer.as_str()),
        ("sec-fetch-site", "cross-site"),
    ];
    server
        .request("GET", "/api/tasks", &program, b"")
        .expect(200);
}
