//! The inbox, the activity page and unknown addresses over real sockets.

use crate::client::Server;
use crate::page::{Browser, HTMX_REQUEST};
use serde_json::{Value, json};

fn propose(server: &Server, key: &str, text: &str) -> String {
    let body =
        json!({"key": key, "value": text, "category": "preference", "source": "agent:codex"});
    let made = server.post("/api/memory/knowledge", &body);
    assert!(made.status < 300, "{}", String::from_utf8_lossy(&made.body));
    made.json()["id"].as_str().unwrap().to_owned()
}

/// Returns the number in the headline of the inbox; 0 if nothing waits.
fn waiting(browser: &Browser<'_>) -> usize {
    let page = browser.page_text("/inbox");
    let headline = page.split("Inbox</span>").nth(1).unwrap();
    let number = headline.split(' ').next().unwrap();
    number.parse().unwrap_or(0)
}

#[test]
fn inbox_counts_the_same_items_as_overview_and_navigation() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    propose(&server, "small-commits", "Prefers small commits");
    propose(&server, "no-emoji", "Prefers messages without emoji");
    for (source, value) in [("agent:codex", "5432"), ("agent:claude-code", "5433")] {
        let body = json!({"key": "port", "value": format!("the test database listens on port {value}"), "category": "fact", "source": source});
        assert!(server.post("/api/memory/knowledge", &body).status < 300);
    }
    let error = json!({"text": "the build failed: left 1, right 2"});
    assert!(server.post("/api/errors", &error).status < 300);
    let blocked = ["task", "set", "7", "--blocked", "waits for a key"];
    server.fixture.call(&blocked).expect(0);

    let inbox = browser.page_text("/inbox");
    for expected in [
        "Prefers small commits",
        "Prefers messages without emoji",
        "the build failed",
        "waits for a key",
        "Accept",
        "Unblock",
    ] {
        assert!(inbox.contains(expected), "lacks `{expected}`: {inbox}");
    }
    assert!(!inbox.contains("<span class=\"warn\"></span>"), "{inbox}");
    let count = waiting(&browser);
    assert!(count >= 4, "{count}");
    let overview = browser.page_text("/");
    let due = format!("<span class=\"count due\">{count}</span>");
    assert!(overview.contains(&due), "{overview}");
    for expected in ["2 proposals", "1 open error", "1 blocked task"] {
        assert!(
            overview.contains(expected),
            "lacks `{expected}`: {overview}"
        );
    }
    browser.get("/review", &[]).expect(308);
}

#[test]
fn record_with_two_findings_waits_once() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let folder = server.fixture.root().join("src");
    std::fs::create_dir_all(folder).unwrap();
    let id = propose(&server, "style", "Prefers the style of src/gone.rs");
    assert_eq!(waiting(&browser), 1);
    let inbox = browser.page_text("/inbox");
    assert_eq!(inbox.matches(&format!("id=\"r-{id}\"")).count(), 1);
    // As an accepted record it is still about a missing file.
    browser
        .submit(&format!("/inbox/{id}"), "choice=accept", &[])
        .expect(303);
    let inbox = browser.page_text("/inbox");
    assert!(inbox.contains("id=\"stale\""), "{inbox}");
}

#[test]
fn work_without_a_task_is_no_task_on_the_page() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let says = "HEIRLOOM_MEMORY: STEP_PENDING rotate the key";
    let failed = "HEIRLOOM_STATUS: FAILED the key is locked";
    let options = ["--approach", "Rotate the key by hand", "--iterations", "1"];
    server
        .fixture
        .run(&options, &["--say", says, "--say", failed]);
    let session = browser.page_text("/sessions");
    let (_, session) = session.split_once("href=\"/sessions/").unwrap();
    let session = format!("/sessions/{}", session.split(['"', '?']).next().unwrap());
    for path in [
        "/",
        "/tasks",
        "/sessions",
        &session,
        "/activity",
        "/receipts",
        "/analytics",
        "/recall?q=rotate+the+key",
    ] {
        let page = browser.page_text(path);
        for forbidden in ["/tasks/main", "Task main", "task main"] {
            assert!(!page.contains(forbidden), "{path}, {forbidden}: {page}");
        }
    }
    // The attempt is found, and leads to its own page.
    let id = server.fixture.records("episode")[0]["id"].clone();
    let href = format!("/records/{}", id.as_str().unwrap());
    let activity = browser.page_text("/activity");
    assert!(activity.contains(&href), "{activity}");
    browser.get(&href, &[]).expect(303);
    let attempt = browser.page_text(&href.replace("/records/", "/knowledge/"));
    assert!(attempt.contains("Rotate the key by hand"), "{attempt}");
}

#[test]
fn only_texts_that_a_person_changed_are_corrected() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    for port in ["5432", "5433"] {
        let body =
            json!({"key": "port", "value": format!("the port is {port}"), "source": "agent:codex"});
        assert!(server.post("/api/memory/knowledge", &body).status < 300);
        let branch = format!("fix-{port}");
        let task = ["task", "set", "7", "--branch", &branch];
        server.fixture.call(&task).expect(0);
    }
    let overview = browser.page_text("/");
    assert!(overview.contains(", 0 corrected,"), "{overview}");
    for day in ["Monday", "Tuesday"] {
        let words = format!("Releases are cut on {day}");
        let call = ["remember", "--key", "release-day", &words];
        server.fixture.call(&call).expect(0);
    }
    let overview = browser.page_text("/");
    assert!(overview.contains(", 1 corrected,"), "{overview}");
}

#[test]
fn accepted_proposal_leaves_inbox_until_undone() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let id = propose(&server, "small-commits", "Prefers small commits");
    assert_eq!(waiting(&browser), 1);
    let answer = browser.submit(&format!("/inbox/{id}"), "choice=accept", &[HTMX_REQUEST]);
    let line = String::from_utf8(answer.body).unwrap();
    assert_eq!(answer.status, 200, "{line}");
    assert!(
        line.contains("Accepted") && line.contains("/undo/"),
        "{line}"
    );
    assert_eq!(waiting(&browser), 0);
    let (_, undo) = line.split_once("action=\"/undo/").unwrap();
    let undo = undo.split('"').next().unwrap();
    browser
        .submit(&format!("/undo/{undo}"), "back=/inbox", &[])
        .expect(303);
    assert_eq!(waiting(&browser), 1);
    // Without a script the answer is a redirect.
    let rejected = browser
        .submit(&format!("/inbox/{id}"), "choice=reject", &[])
        .expect(303);
    assert!(
        rejected
            .header("location")
            .unwrap()
            .starts_with("/inbox?done=rejected")
    );
    assert_eq!(waiting(&browser), 0);
    browser
        .submit(&format!("/inbox/{id}"), "choice=burn", &[])
        .expect_text(400);
}

#[test]
fn selection_is_rejected_and_undone_as_a_whole() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let ids: Vec<String> = (0..4_usize)
        .map(|n| {
            propose(
                &server,
                &format!("habit-{n}"),
                [
                    "Prefers small commits",
                    "Writes tests first",
                    "Likes short functions",
                    "Avoids macros",
                ][n],
            )
        })
        .collect();
    let selected: Vec<String> = ids.iter().take(3).map(|id| format!("id={id}")).collect();
    let form = format!("choice=reject&{}", selected.join("&"));
    let answer = browser.submit("/inbox/bulk", &form, &[]).expect(303);
    assert_eq!(waiting(&browser), 1);
    let to = answer.header("location").unwrap();
    let undo = to.split("undo=").nth(1).unwrap().to_owned();
    browser
        .submit(&format!("/undo/{undo}"), "back=/inbox", &[])
        .expect(303);
    assert_eq!(waiting(&browser), 4);
    // An unknown id changes nothing.
    let form = format!(
        "choice=reject&id={}&id=01890000-0000-7000-8000-000000000000",
        ids[0]
    );
    assert_eq!(browser.submit("/inbox/bulk", &form, &[]).status, 404);
    assert_eq!(waiting(&browser), 4);
    browser
        .submit("/inbox/bulk", "choice=reject", &[])
        .expect_text(400);
    let agent = Browser::log_in(&server, "agent");
    let form = format!("choice=accept&id={}", ids[0]);
    assert_eq!(agent.submit("/inbox/bulk", &form, &[]).status, 403);
}

#[test]
fn activity_is_filtered_by_kind_source_and_event() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    propose(&server, "small-commits", "Prefers small commits");
    let error = json!({"text": "the build failed: left 1, right 2"});
    assert!(server.post("/api/errors", &error).status < 300);
    let all = browser.page_text("/activity");
    assert!(
        all.contains("Prefers small commits") && all.contains("the build failed"),
        "{all}"
    );
    let errors = browser.page_text("/activity?kind=error");
    assert!(
        errors.contains("the build failed") && !errors.contains("small commits"),
        "{errors}"
    );
    let codex = browser.page_text("/activity?by=codex");
    assert!(
        codex.contains("small commits") && !codex.contains("the build failed"),
        "{codex}"
    );
    let none = browser.page_text("/activity?kind=error&by=codex");
    assert!(none.contains("No event matches"), "{none}");
}

#[test]
fn unknown_address_is_a_page_for_browsers_and_a_problem_for_programs() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let page = browser.get("/nowhere", &[]);
    assert_eq!(page.status, 404);
    let text = String::from_utf8(page.body).unwrap();
    assert!(
        text.contains("No page has this address") && text.contains("href=\"/\""),
        "{text}"
    );
    let problem = server.get("/nowhere").expect(404);
    assert_eq!(
        problem.header("content-type"),
        Some("application/problem+json")
    );
    let api = browser.get("/api/nowhere", &[]).expect(404);
    assert_eq!(api.header("content-type"), Some("application/problem+json"));
}

#[test]
fn inbox_has_the_proposals_that_propose_lists() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let agent = server.create_token("agent", &["--name", "coder"]);
    let add = |token: &str, body: &Value| {
        let made = server.send_as(token, "POST", "/api/memory/knowledge", body);
        assert!(made.status < 300, "{}", String::from_utf8_lossy(&made.body));
        made.json()["id"].as_str().unwrap().to_owned()
    };
    let mut waits = Vec::new();
    for category in ["fact", "decision", "convention", "preference", "own word"] {
        let value = format!("The {category} about the queue");
        waits.push(add(&agent, &json!({"category": category, "value": value})));
    }
    // Neither a program's data, nor a value of the orchestrator, nor one in a conflict is a proposal that waits.
    add(
        &agent,
        &json!({"key": "cursor", "value": "9", "machine": true}),
    );
    add(&server.token, &json!({"value": "The queue is durable"}));
    let tester = server.create_token("agent", &["--name", "tester"]);
    add(
        &agent,
        &json!({"key": "db", "value": "postgres", "confidence": 0.6}),
    );
    let winner = add(
        &tester,
        &json!({"key": "db", "value": "sqlite", "confidence": 0.9}),
    );
    let proposed = |server: &Server| {
        let listed = server.fixture.call(&["propose", "--json"]).expect(0).json();
        let listed = listed["records"].as_array().unwrap().iter();
        let mut ids: Vec<String> = listed
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect();
        ids.reverse();
        ids
    };
    assert_eq!(proposed(&server), waits);
    let inbox = browser.page_text("/inbox");
    for id in &waits {
        assert!(
            inbox.contains(&format!("id=\"r-{id}\"")),
            "lacks {id}: {inbox}"
        );
    }
    assert_eq!(waiting(&browser), waits.len() + 1, "and the conflict");
    // A person's decision about the conflict is one about the value.
    let decision = json!({"keep": winner});
    let path = format!("/api/conflicts/{winner}/resolve");
    server.post(&path, &decision).expect(200);
    assert_eq!(waiting(&browser), waits.len());
    let listed = server.fixture.call(&["list"]).expect(0).text();
    assert!(!listed.contains("(proposal) sqlite"), "{listed}");
    browser
        .submit(&format!("/inbox/{}", waits[0]), "choice=accept", &[])
        .expect(303);
    assert_eq!(proposed(&server), waits[1..]);
    assert_eq!(waiting(&browser), waits.len() - 1);
}
