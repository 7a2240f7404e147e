//! Lessons on the overview of the example week: what was learned, which sessions were told, and what happened.

use crate::client::Server;
use crate::driver::ProjectFixture;
use crate::page::Browser;
use std::io::{BufRead, BufReader};
use std::process::Child;

/// Demo process, which is killed on drop.
struct Demo {
    child: Child,
    /// Folder of the demo, which its drop removes.
    _fixture: ProjectFixture,
}

impl Drop for Demo {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts the demo; returns its process, server and login link.
fn start_demo() -> (Demo, Server, String) {
    let fixture = ProjectFixture::bare();
    let path = fixture.outside_path("demo");
    let args = ["demo", "--serve", "--folder", path.to_str().unwrap()];
    let mut child = fixture.heirloom(&args).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    let address = line().rsplit("://").next().unwrap().parse().unwrap();
    let token = line().strip_prefix("token: ").unwrap().to_owned();
    let mut link = line();
    while !link.contains("/login?once=") {
        link = line();
    }
    let demo = Demo {
        child,
        _fixture: fixture,
    };
    (demo, Server::attach(address, token), link)
}

#[test]
fn overview_of_example_week_shows_lessons_with_their_outcome() {
    let (_demo, server, link) = start_demo();
    let browser = Browser::open(&server, &link);
    let page = browser.page_text("/");
    for expected in [
        ">Did not help: Raise the shutdown timeout<",
        "after 1 failed attempt (12 min, 77k tokens)",
        "2 later sessions were told; none repeated it, 2 completed.",
        "2 known failures came again",
    ] {
        assert!(page.contains(expected), "lacks `{expected}`: {page}");
    }
    // Each link of the lesson leads to a page: its receipts, sessions, and the other lessons.
    let links: Vec<&str> = page
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|to| {
            to.starts_with("/receipts/")
                || to.starts_with("/?lesson=")
                || to.starts_with("/sessions/")
        })
        .collect();
    assert!(links.len() > 10, "{links:?}");
    for to in &links {
        browser.page_text(to.split('#').next().unwrap());
    }
    // The warning is in the context of both sessions.
    let receipts = links.iter().filter(|to| to.starts_with("/receipts/"));
    for to in receipts.take(2) {
        let receipt = browser.page_text(to.split('#').next().unwrap());
        assert!(receipt.contains("Raise the shutdown timeout"), "{to}");
    }
    // A failure that came again is told as such.
    let repeated = links
        .iter()
        .filter(|to| to.starts_with("/?lesson="))
        .map(|to| browser.page_text(to.split('#').next().unwrap()))
        .find(|page| {
            page.contains("It failed again: Session-level advisory lock around the export")
        })
        .unwrap();
    assert!(
        repeated.contains("the failure came again 1 time"),
        "{repeated}"
    );
    assert!(
        repeated.contains("not told: the session had no context"),
        "{repeated}"
    );

    let (_, image) = page.split_once("href=\"/lessons/").unwrap();
    let image = format!("/lessons/{}", image.split('"').next().unwrap());
    let answer = browser.get(&image, &[]).expect(200);
    assert_eq!(
        answer.header("content-type"),
        Some("image/svg+xml; charset=utf-8")
    );
    let svg = String::from_utf8(answer.body).unwrap();
    assert!(
        svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>"),
        "{svg}"
    );
    let title = ">Did not help: Raise the shutdown timeout<";
    assert!(svg.contains(title), "{svg}");
    for forbidden in ["<script", "<style", "style=", "href", "url("] {
        assert!(!svg.contains(forbidden), "{forbidden}: {svg}");
    }
    let unknown = "/lessons/01890000-0000-7000-8000-000000000000.svg";
    assert_eq!(browser.get(unknown, &[]).status, 404);
}
