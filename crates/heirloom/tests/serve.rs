//! Server tests over real sockets: access, answers and limits.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "serve/access.rs"]
mod access;
#[path = "serve/access_matrix.rs"]
mod access_matrix;
#[path = "serve/api.rs"]
mod api;
#[path = "serve/authority.rs"]
mod authority;
#[path = "serve/browser_requests.rs"]
mod browser_requests;
#[path = "serve/client.rs"]
mod client;
#[path = "serve/database_replacement.rs"]
mod database_replacement;
#[path = "serve/demo.rs"]
mod demo;
#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;
#[path = "serve/event_access.rs"]
mod event_access;
#[path = "serve/events.rs"]
mod events;
#[path = "serve/failures.rs"]
mod failures;
#[path = "serve/files.rs"]
mod files;
#[path = "serve/inbox.rs"]
mod inbox;
#[path = "serve/knowledge_page.rs"]
mod knowledge_page;
#[path = "serve/lessons.rs"]
mod lessons;
#[path = "serve/limits.rs"]
mod limits;
#[path = "serve/memory_tool.rs"]
mod memory_tool;
#[path = "serve/page.rs"]
mod page;
#[path = "serve/page_work.rs"]
mod page_work;
#[path = "serve/recall_page.rs"]
mod recall_page;
#[path = "serve/receipt_page.rs"]
mod receipt_page;
#[path = "serve/retention.rs"]
mod retention;
#[path = "serve/settings_page.rs"]
mod settings_page;
#[path = "serve/tls.rs"]
mod tls;
