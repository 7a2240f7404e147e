//! `heirloom demo --serve` in a worktree of a real project.

use crate::client::Server;
use crate::driver::{ProjectFixture, send, wait};
use std::io::{BufRead, BufReader};

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
    let args = ["demo", "--serve", "--folder", path];
    let mut child = fixture.heirloom(&args).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    let address = line().rsplit("://").next().unwrap().parse().unwrap();
    let token = line().strip_prefix("token: ").unwrap().to_owned();
    let server = Server::attach(address, token);
    let found = server.items("/api/tasks");
    assert!(found.len() > 2, "{found:?}");
    assert_eq!(found[0]["project"], "fernpost");
    send("INT", i64::from(child.id()));
    wait(child).expect(0);
    assert!(linked.join(".heirloom/heirloom.db").is_file());
    assert_eq!(fixture.texts("knowledge"), ["what is real"]);
    assert!(fixture.records("task").is_empty());
}
