//! The server, over real sockets: who gets in, what it answers, what it bears.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "serve/access.rs"]
mod access;
#[path = "serve/api.rs"]
mod api;
#[path = "serve/bad.rs"]
mod bad;
#[path = "serve/client.rs"]
mod client;
#[path = "serve/demo.rs"]
mod demo;
#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;
#[path = "serve/events.rs"]
mod events;
#[path = "serve/limits.rs"]
mod limits;
#[path = "serve/page.rs"]
mod page;
#[path = "serve/tls.rs"]
mod tls;
#[path = "serve/tool.rs"]
mod tool;
