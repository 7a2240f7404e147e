//! `heirloom demo --serve`: in a worktree of a real project, and the size of its first view.

use crate::client::Server;
use crate::driver::{ProjectFixture, send, wait};
use crate::page::Browser;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;

/// Starts the demo in a folder; returns its process, the server, and the login link.
fn start_demo(fixture: &ProjectFixture, folder: &Path) -> (Child, Server, String) {
    let args = ["demo", "--serve", "--folder", folder.to_str().unwrap()];
    let mut child = fixture.heirloom(&args).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    let address = line().rsplit("://").next().unwrap().parse().unwrap();
    let token = line().strip_prefix("token: ").unwrap().to_owned();
    let link = loop {
        let line = line();
        if line.contains("/login?once=") {
            break line;
        }
    };
    (child, Server::attach(address, token), link)
}

#[test]
fn demo_in_a_linked_worktree_leaves_the_repository_memory_alone() {
    let fixture = ProjectFixture::git();
    fixture.call(&["remember", "what is real"]).expect(0);
    let linked = fixture.outside_path("linked");
    let path = linked.to_str().unwrap();
    fixture
        .project
        .run_git(&["worktree", "add", "-q", path, "-b", "side"])
        .unwrap();
    let (child, server, _) = start_demo(&fixture, &linked);
    let found = server.items("/api/tasks");
    assert!(found.len() > 2, "{found:?}");
    assert_eq!(found[0]["project"], "fernpost");
    send("INT", i64::from(child.id()));
    wait(child).expect(0);
    assert!(linked.join(".heirloom/heirloom.db").is_file());
    assert_eq!(fixture.texts("knowledge"), ["what is real"]);
    assert!(fixture.records("task").is_empty());
}

/// Returns the addresses of the icon, styles and scripts that a page loads.
fn loaded_assets(page: &str) -> Vec<String> {
    let starts = page.match_indices("\"/assets/").map(|(at, _)| at + 1);
    let assets = starts.map(|at| page[at..].split('"').next().unwrap().to_owned());
    assets.collect()
}

#[test]
fn first_view_of_the_demo_is_small() {
    const BYTES_MAX: usize = 38_000;
    let fixture = ProjectFixture::plain();
    let (child, server, link) = start_demo(&fixture, &fixture.outside_path("demo"));
    let browser = Browser::open(&server, &link);
    let page = browser.page_text("/");
    let mut paths = loaded_assets(&page);
    assert_eq!(paths.len(), 4, "{paths:?}");
    paths.push("/".to_owned());
    let mut sizes = Vec::new();
    for path in paths {
        let answer = browser
            .get(&path, &[("accept-encoding", "gzip")])
            .expect(200);
        sizes.push((path, answer.body.len()));
    }
    let total: usize = sizes.iter().map(|(_, bytes)| bytes).sum();
    assert!(total <= BYTES_MAX, "{total} bytes: {sizes:?}");
    send("INT", i64::from(child.id()));
    wait(child).expect(0);
}
