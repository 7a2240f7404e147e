//! Store behind a proxy.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use crate::commit_proxy::CommitProxy;
use crate::test_database::TestDatabase;
use crate::test_database::address;
use heirloom_store::PostgresStore;
use std::net::ToSocketAddrs;

/// Creates a store behind a proxy.
pub(crate) fn proxied_store(database: &TestDatabase) -> (PostgresStore, CommitProxy) {
    let (url, proxy) = proxied_url(database);
    (PostgresStore::create(&address(&url)).unwrap(), proxy)
}

/// Creates the URL of an empty store behind a proxy.
pub(crate) fn proxied_url(database: &TestDatabase) -> (String, CommitProxy) {
    let url = database.new_url();
    let server = database.address();
    let proxy = CommitProxy::start(server.to_socket_addrs().unwrap().next().unwrap());
    let url = url.replace(&server, &format!("127.0.0.1:{}", proxy.port()));
    (url, proxy)
}
