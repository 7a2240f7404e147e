//! TLS from certificate files, with a client that verifies the server.
//!
//! The certificates were made with `openssl x509`: a root, and a certificate for `localhost` and `127.0.0.1`, valid
//! for a hundred years. Only these tests trust the root, and its key was deleted.

use crate::client::Server;
use crate::driver::ProjectFixture;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::sync::Arc;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

const ROOT: &[u8] = include_bytes!("tls/root.pem");
const FILES: [(&str, &str); 2] = [
    ("certificate.pem", include_str!("tls/certificate.pem")),
    ("key.pem", include_str!("tls/key.pem")),
];
const OPTIONS: [&str; 4] = ["--tls-cert", "certificate.pem", "--tls-key", "key.pem"];

/// Starts a server with TLS and these further options.
fn start_tls(more: &[&str]) -> Server {
    let fixture = ProjectFixture::plain();
    for (name, text) in FILES {
        fixture.project.write(name, text).unwrap();
    }
    Server::start_in(fixture, &[&OPTIONS, more].concat())
}

/// Returns a client that trusts these roots.
fn client_with_roots(roots: RootCerts) -> ureq::Agent {
    let tls = TlsConfig::builder().root_certs(roots).build();
    let config = ureq::Agent::config_builder().tls_config(tls).proxy(None);
    let config = config.max_redirects(0).max_redirects_will_error(false);
    config.http_status_as_error(false).build().into()
}

fn trusting_client() -> ureq::Agent {
    let root = Certificate::from_pem(ROOT).unwrap();
    client_with_roots(RootCerts::Specific(Arc::new(vec![root])))
}

#[test]
fn client_that_trusts_the_certificate_is_served() {
    // With a certificate a public address is allowed.
    for host in ["127.0.0.1", "0.0.0.0"] {
        let server = start_tls(&["--host", host]);
        // Connections without a TLS handshake do not block others.
        let silent: Vec<_> = (0..50).map(|_| server.connect()).collect();
        let agent = trusting_client();
        let bearer = format!("Bearer {}", server.token);
        let address = format!("https://127.0.0.1:{}/api", server.address.port());
        let body = json!({"key": "k", "value": "v"}).to_string();
        let made = agent
            .post(format!("{address}/memory/knowledge"))
            .header("authorization", &bearer)
            .header("content-type", "application/json")
            .send(body);
        assert_eq!(made.unwrap().status(), 201);
        let found = agent.get(format!("{address}/memory/knowledge"));
        let mut found = found.header("authorization", &bearer).call().unwrap();
        let found: Value =
            serde_json::from_str(&found.body_mut().read_to_string().unwrap()).unwrap();
        assert_eq!(found["items"][0]["value"], "v");
        let anonymous = agent.get(format!("{address}/memory/knowledge")).call();
        assert_eq!(anonymous.unwrap().status(), 401);
        drop(silent);
    }
}

#[test]
fn untrusting_clients_get_no_answer_and_plain_http_is_refused() {
    let server = start_tls(&[]);
    let address = format!("https://127.0.0.1:{}/health", server.address.port());
    let stranger = client_with_roots(RootCerts::WebPki).get(&address).call();
    assert!(stranger.is_err(), "{stranger:?}");
    let mut plain = server.connect();
    plain
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    let mut received = String::new();
    plain.read_to_string(&mut received).unwrap();
    assert!(received.starts_with("HTTP/1.1 400"), "{received}");
    assert!(received.contains("https"), "{received}");
    // Bytes of neither protocol.
    let mut garbage = server.connect();
    garbage.write_all(&[0, 1, 2, 3, 255, 10]).unwrap();
    let mut received = Vec::new();
    // The server may reset the connection.
    drop(garbage.read_to_end(&mut received));
    assert!(!received.starts_with(b"HTTP"), "{received:?}");
    assert_eq!(
        trusting_client().get(&address).call().unwrap().status(),
        200
    );
}

#[test]
fn login_cookie_over_tls_is_secure() {
    let server = start_tls(&[]);
    let args = ["ui", "--no-open", "--json"];
    let output = server.fixture.call(&args).expect(0).json();
    let link = output["link"].as_str().unwrap();
    assert!(link.starts_with("https://"), "{link}");
    let answer = trusting_client().get(link).call().unwrap();
    let cookie = answer.headers().get("set-cookie").unwrap();
    let cookie = cookie.to_str().unwrap();
    assert!(cookie.contains("Secure"), "{cookie}");
}

#[test]
fn certificate_that_cannot_serve_is_refused_at_the_start() {
    let fixture = ProjectFixture::plain();
    for (name, text) in FILES {
        fixture.project.write(name, text).unwrap();
    }
    for (name, text) in [
        ("expired.pem", include_str!("tls/expired.pem")),
        ("other-key.pem", include_str!("tls/other-key.pem")),
        (
            "broken.pem",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ),
    ] {
        fixture.project.write(name, text).unwrap();
    }
    for (certificate, key, told) in [
        ("expired.pem", "other-key.pem", "expired at 2021-01-02"),
        (
            "certificate.pem",
            "other-key.pem",
            "certificate.pem: keys may not be consistent",
        ),
        ("certificate.pem", "certificate.pem", "certificate.pem: "),
        ("key.pem", "key.pem", "contains no certificate"),
        ("broken.pem", "key.pem", "broken.pem: "),
        ("missing.pem", "key.pem", "missing.pem: "),
    ] {
        let args = [
            "serve",
            "--port",
            "0",
            "--tls-cert",
            certificate,
            "--tls-key",
            key,
        ];
        let result = fixture.call(&args);
        assert_eq!(result.code, 2, "{certificate} {key}: {}", result.stderr);
        assert!(result.stderr.contains(told), "{told} in {}", result.stderr);
    }
}
