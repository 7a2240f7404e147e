//! Pages of tasks, sessions and errors: titles, states, filters and links.

use crate::client::Server;
use heirloom_testkit::sh;
use serde_json::json;

/// Returns a whole page, whose status must be 200.
#[track_caller]
fn page(server: &Server, path: &str) -> String {
    let answer = server.get(path);
    let text = String::from_utf8(answer.body).unwrap();
    assert_eq!(answer.status, 200, "{path}: {text}");
    text
}

/// Returns the texts of a page in one line, without markup.
fn plain(page: &str) -> String {
    let mut text = String::new();
    for part in page.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, after)| after));
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn set_task(server: &Server, id: &str, fields: &serde_json::Value) {
    let path = format!("/api/tasks/{id}");
    let answer = server.send_as(&server.token, "PUT", &path, fields);
    assert!(answer.status < 300, "{id}: {}", answer.status);
}

#[track_caller]
fn say(server: &Server, session: &str, task: &str, agent: &str, role: &str, text: &str) {
    let turn = json!({"role": role, "text": text, "task_id": task, "agent_id": agent});
    let path = format!("/api/sessions/{session}/messages");
    server.post(&path, &turn).expect(201);
}

#[test]
fn state_of_task_is_the_same_on_every_page() {
    let server = Server::start();
    set_task(&server, "1", &json!({"phase": "Review"}));
    set_task(&server, "2", &json!({"phase": "test", "branch": "fix/2"}));
    set_task(&server, "3", &json!({"blocked_reason": "waits for a key"}));
    set_task(&server, "4", &json!({"state": "done"}));
    set_task(&server, "5", &json!({}));
    let error = json!({"text": "assertion failed", "task_id": "2"});
    server.post("/api/errors", &error).expect(201);
    let list = page(&server, "/tasks");
    for (id, icon, state) in [
        ("1", "episode", "review"),
        ("2", "error", "failing"),
        ("3", "pause", "blocked"),
        ("4", "check", "done"),
        ("5", "dash", "open"),
    ] {
        let shown = format!("<use href=\"#i-{icon}\"/></svg>{state}</span>");
        let row = list
            .split("<li data-id")
            .find(|row| row.contains(&format!("href=\"/tasks/{id}\"")));
        assert!(row.unwrap().contains(&shown), "{id}: {list}");
        let task = page(&server, &format!("/tasks/{id}"));
        assert!(task.contains(&shown), "{id}: {task}");
        let overview = page(&server, "/");
        let expected = usize::from(id != "4");
        assert_eq!(overview.matches(&shown).count(), expected, "{id}");
    }
    assert!(!list.contains(">Task 2</a> <"), "{list}");
    let list = plain(&list);
    for words in [
        "5 tasks: 1 failing, 1 blocked, 1 in progress, 1 open, 1 done.",
        "All 5 Failing 1 Blocked 1 In progress 1 Open 1 Done 1",
        "waits for a key",
    ] {
        assert!(list.contains(words), "{words}: {list}");
    }
    let failing = plain(&page(&server, "/tasks?state=failing"));
    assert!(
        failing.contains("Task 2") && !failing.contains("Task 3"),
        "{failing}"
    );
    let failed = plain(&page(&server, "/tasks?state=failed&q=key"));
    assert!(failed.contains("No failed task with “key”."), "{failed}");
    assert!(failed.contains("All 1 Blocked 1 Failed 0"), "{failed}");
}

#[test]
fn task_is_called_by_its_title_else_by_the_first_prompt() {
    let server = Server::start();
    set_task(
        &server,
        "7",
        &json!({"type": "issue", "branch": "fix/7-odd"}),
    );
    let untitled = plain(&page(&server, "/tasks/7"));
    assert!(
        untitled.contains("Task Issue #7 Open; not tried yet."),
        "{untitled}"
    );
    say(
        &server,
        "s1",
        "7",
        "codex",
        "user",
        "<system-reminder>be nice</system-reminder>",
    );
    say(
        &server,
        "s1",
        "7",
        "codex",
        "user",
        "Deliver each event <once>\nand test it",
    );
    say(&server, "s2", "7", "claude-code", "user", "Go on");
    let title = "#7 Deliver each event &#60;once&#62;";
    for path in ["/tasks", "/tasks/7", "/", "/sessions/s1"] {
        let page = page(&server, path)
            .replace("&lt;", "&#60;")
            .replace("&gt;", "&#62;");
        assert!(page.contains(title), "{path}: {page}");
        let is_conversation = path.starts_with("/sessions/");
        assert!(is_conversation || !page.contains("be nice"), "{path}");
        assert!(!page.contains("“&#60;system-reminder"), "{path}");
    }
    assert!(page(&server, "/tasks?q=deliver+event").contains(title));
    let other = plain(&page(&server, "/tasks?q=elephant"));
    assert!(other.contains("No task with “elephant”."), "{other}");
    set_task(&server, "7", &json!({"title": " Events are\n sent twice "}));
    let found = server.get("/api/tasks/7").expect(200).json();
    assert_eq!(found["title"], "Events are sent twice");
    let shown = page(&server, "/tasks?agent=codex");
    assert!(shown.contains("#7 Events are sent twice"), "{shown}");
    let none = plain(&page(&server, "/tasks?agent=reviewer"));
    assert!(none.contains("No task of reviewer."), "{none}");
    server.fixture.call(&sh("task set 7 --title ''")).expect(0);
    let found = server.get("/api/tasks/7").expect(200).json();
    assert_eq!(found["title"], "Issue #7");
}

#[test]
fn task_page_links_to_contexts_sessions_and_learned_records_and_says_what_remains() {
    let server = Server::start();
    say(&server, "s1", "9", "codex", "user", "Mend the drain");
    let learned =
        json!({"value": "the drain flushes first", "key": "drain-order", "session_id": "s1"});
    server.post("/api/memory/knowledge", &learned).expect(201);
    let context = server
        .get("/api/context?task_id=9&session_id=s1")
        .expect(200)
        .json();
    let receipt = context["receipt"].as_str().unwrap().to_owned();
    for (action, minutes) in [("failed", 38), ("completed", 14)] {
        let tried = json!({"task_id": "9", "action": action, "approach": "a", "duration_ms": minutes * 60_000});
        server.post("/api/memory/episodes", &tried).expect(201);
    }
    let step = json!({"text": "drop the old column", "state": "pending"});
    server.post("/api/tasks/9/steps", &step).expect(201);
    server
        .post(
            "/api/errors",
            &json!({"text": "sent twice", "task_id": "9"}),
        )
        .expect(201);
    server
        .post("/api/errors", &json!({"text": "unrelated to any task"}))
        .expect(201);
    let open = page(&server, "/tasks/9");
    assert!(!open.contains("The task is"), "{open}");
    set_task(&server, "9", &json!({"state": "done"}));
    let done = page(&server, "/tasks/9");
    let link = format!("/receipts/{receipt}");
    for expected in [
        "Done on the second try.",
        "The task is done, but 1 error is still open, and 1 step is not done.",
        &link,
        "href=\"/sessions/s1\">Mend the drain</a>",
        ">drain-order</a>",
        "Attempt 1, failed, 38 min, ",
        "its width is the duration",
    ] {
        assert!(done.contains(expected), "{expected}: {done}");
    }
    assert!(!done.contains("unrelated to any task"), "{done}");
    let errors = plain(&page(&server, "/errors"));
    assert!(errors.contains("2 errors are open."), "{errors}");
}

#[test]
fn sessions_are_found_by_words_and_filtered_by_agent() {
    let server = Server::start();
    say(
        &server,
        "first",
        "225",
        "codex",
        "user",
        "Make the drain reliable",
    );
    say(
        &server,
        "first",
        "225",
        "codex",
        "assistant",
        "the poller stops before the leaky bucket",
    );
    say(
        &server,
        "second",
        "226",
        "claude-code",
        "user",
        "Rename the crate",
    );
    let all = page(&server, "/sessions");
    for expected in [
        "href=\"/sessions/first\" data-open>Make the drain reliable</a>",
        "href=\"/tasks/225\">#225</a>",
        ">codex<span class=\"n\">1</span>",
    ] {
        assert!(all.contains(expected), "{expected}: {all}");
    }
    let found = page(&server, "/sessions?q=leaky+bucket");
    assert!(
        plain(&found).contains("the poller stops before the leaky bucket"),
        "{found}"
    );
    assert!(!found.contains("Rename the crate"), "{found}");
    let some = plain(&page(&server, "/sessions?q=leaky+elephant"));
    assert!(some.contains("No turn has all of these words"), "{some}");
    let of_agent = page(&server, "/sessions?agent=claude-code");
    assert!(of_agent.contains("Rename the crate"), "{of_agent}");
    assert!(!of_agent.contains("Make the drain"), "{of_agent}");
    let none = plain(&page(&server, "/sessions?agent=nobody"));
    assert!(none.contains("No session of nobody."), "{none}");
}

#[test]
fn session_page_names_savings_and_offers_the_transcript() {
    let server = Server::start();
    for n in 0..3 {
        say(
            &server,
            "s-1",
            "9",
            "codex",
            "user",
            &format!("Question {n}\nwith more"),
        );
        say(
            &server,
            "s-1",
            "9",
            "codex",
            "tool_result",
            "a ```fence``` inside",
        );
    }
    let shown = page(&server, "/sessions/s-1");
    for expected in [
        "Question 0 <span",
        "A window saves nothing here",
        "recorded no usage",
        "href=\"/sessions/s-1/transcript.md\"",
        "/api/sessions/s-1/messages?limit=1000",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let line = shown.split("class=\"stroke\" d=\"").nth(1).unwrap();
    assert!(line.starts_with("M0.0 232.0"), "{line}");
    let file = server.get("/sessions/s-1/transcript.md");
    assert_eq!(file.status, 200);
    assert_eq!(
        file.header("content-disposition"),
        Some("attachment; filename=\"session-s-1.md\"")
    );
    let text = String::from_utf8(file.body).unwrap();
    assert!(
        text.starts_with("# Question 0\n\n- Session: s-1\n- Agent: codex\n"),
        "{text}"
    );
    assert!(
        text.contains("\n````\na ```fence``` inside\n````\n"),
        "{text}"
    );
    assert_eq!(text.matches("\n## ").count(), 6, "{text}");
}

/// Number of tasks and sessions that is more than one page, and more than a filter once looked at.
const MANY: usize = 560;

/// Imports many tasks whose oldest one is unlike the others.
fn import_many_tasks(server: &Server) {
    let mut lines = String::new();
    for n in 0..MANY {
        let (source, title) = match n {
            0 => ("gemini", "The oldest of all"),
            _ => ("codex", "A later one"),
        };
        let id = format!("019a0000-0000-7000-8000-{n:012x}");
        let task = json!({"kind": "task", "id": id, "key": format!("many-{n}"), "text": format!("Task many-{n}"),
            "title": title, "source": source, "confidence": 0.8, "recorded_at": "2026-01-01T10:00:00Z"});
        lines.push_str(&format!("{task}\n"));
    }
    server.fixture.project.write("many.jsonl", &lines).unwrap();
    server
        .fixture
        .call(&sh("import jsonl many.jsonl"))
        .expect(0);
}

#[test]
fn filters_of_tasks_count_and_find_all_of_them() {
    let server = Server::start();
    import_many_tasks(&server);
    let error = json!({"text": "assertion failed", "task_id": "many-0"});
    server.post("/api/errors", &error).expect(201);
    let all = plain(&page(&server, "/tasks"));
    assert!(
        all.contains(&format!("{MANY} tasks: 1 failing, {} open.", MANY - 1)),
        "{all}"
    );
    for filter in ["state=failing", "agent=gemini", "q=oldest"] {
        let found = page(&server, &format!("/tasks?{filter}"));
        assert!(found.contains("/tasks/many-0\""), "{filter}: {found}");
        assert!(!found.contains("/tasks/many-1\""), "{filter}: {found}");
    }
}

#[test]
fn filters_of_sessions_count_and_find_all_of_them_with_their_usage() {
    let server = Server::start();
    say(&server, "first", "1", "gemini", "user", "Begin here");
    let attempt = json!({"action": "failed", "task_id": "1", "session_id": "first", "agent_id": "gemini",
        "approach": "the first one", "outcome": "no", "tokens_in": 4000, "tokens_out": 300});
    server.post("/api/memory/episodes", &attempt).expect(201);
    for n in 0..MANY {
        say(
            &server,
            &format!("later-{n}"),
            "2",
            "codex",
            "user",
            "Go on",
        );
    }
    let list = page(&server, "/sessions");
    assert!(plain(&list).contains(&format!("{} sessions, the last", MANY + 1)));
    assert!(plain(&list).contains(&format!("codex {MANY}")), "{list}");
    let found = plain(&page(&server, "/sessions?agent=gemini"));
    assert!(
        found.contains("Begin here") && found.contains("4.0k in, 300 out"),
        "{found}"
    );
    assert!(found.contains("failed"), "{found}");
}
