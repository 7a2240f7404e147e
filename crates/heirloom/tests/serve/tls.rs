//! TLS by files, with a client that checks whom it speaks with.
//!
//! The certificates were made by `openssl x509`: a root that signed one for `localhost` and `127.0.0.1`, for a hundred
//! years. Nobody trusts the root but these tests, and its key is gone.

use crate::client::Server;
use crate::driver::Desk;
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

/// A server that speaks TLS, with these options besides.
fn secure(more: &[&str]) -> Server {
    let desk = Desk::plain();
    for (name, text) in FILES {
        desk.project.write(name, text).unwrap();
    }
    Server::over(desk, &[&OPTIONS, more].concat())
}

/// A client that trusts these roots.
fn client(roots: RootCerts) -> ureq::Agent {
    let tls = TlsConfig::builder().root_certs(roots).build();
    let config = ureq::Agent::config_builder().tls_config(tls).proxy(None);
    let config = config.max_redirects(0).max_redirects_will_error(false);
    config.http_status_as_error(false).build().into()
}

fn ours() -> ureq::Agent {
    let root = Certificate::from_pem(ROOT).unwrap();
    client(RootCerts::Specific(Arc::new(vec![root])))
}

#[test]
fn a_client_that_trusts_the_certificate_is_served() {
    // Reached from elsewhere too: with a certificate it may be.
    for host in ["127.0.0.1", "0.0.0.0"] {
        let server = secure(&["--host", host]);
        // Who connects and never says hello holds up nobody.
        let silent: Vec<_> = (0..50).map(|_| server.connect()).collect();
        let agent = ours();
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
        let nobody = agent.get(format!("{address}/memory/knowledge")).call();
        assert_eq!(nobody.unwrap().status(), 401);
        drop(silent);
    }
}

#[test]
fn who_does_not_trust_it_or_speaks_no_tls_gets_nothing() {
    let server = secure(&[]);
    let address = format!("https://127.0.0.1:{}/health", server.address.port());
    let stranger = client(RootCerts::WebPki).get(&address).call();
    assert!(stranger.is_err(), "{stranger:?}");
    let mut plain = server.connect();
    plain
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    let mut said = Vec::new();
    // The server may end the connection by a reset.
    drop(plain.read_to_end(&mut said));
    assert!(!said.starts_with(b"HTTP"), "{said:?}");
    assert_eq!(ours().get(&address).call().unwrap().status(), 200);
}

#[test]
fn a_login_by_tls_is_for_tls_alone() {
    let server = secure(&[]);
    let args = ["ui", "--no-open", "--json"];
    let told = server.desk.call(&args).expect(0).json();
    let link = told["link"].as_str().unwrap();
    assert!(link.starts_with("https://"), "{link}");
    let answer = ours().get(link).call().unwrap();
    let cookie = answer.headers().get("set-cookie").unwrap();
    let cookie = cookie.to_str().unwrap();
    assert!(cookie.contains("Secure"), "{cookie}");
}
