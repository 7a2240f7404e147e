//! The web page over real sockets: answer of each address, escaping of stored text, and CSRF protection of changes.

use crate::client::{Answer, Server};
use crate::driver::ProjectFixture;
use heirloom_testkit::sh;
use rusqlite::Connection;
use serde_json::json;

/// Browser that is logged in.
pub(crate) struct Browser<'s> {
    pub(crate) server: &'s Server,
    cookie: String,
    csrf: String,
}

impl<'s> Browser<'s> {
    pub(crate) fn log_in(server: &'s Server, role: &str) -> Self {
        let args = ["ui", "--no-open", "--json", "--role", role];
        let link = server.fixture.call(&args).expect(0).json();
        Self::open(server, link["link"].as_str().unwrap())
    }

    /// Logs in with a one-time link.
    pub(crate) fn open(server: &'s Server, link: &str) -> Self {
        let (_, path) = link.split_once(&server.address.to_string()).unwrap();
        let answer = server.request("GET", path, &[], b"").expect(303);
        let cookie = answer.header("set-cookie").unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let mut browser = Self {
            server,
            cookie,
            csrf: String::new(),
        };
        browser.csrf = browser.csrf_token("/settings");
        browser
    }

    /// Returns the CSRF token in the forms of a page.
    fn csrf_token(&self, path: &str) -> String {
        let page = self.page_text(path);
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// Sends no token with the next forms, as another site would.
    pub(crate) fn forget_csrf_token(&mut self) {
        self.csrf.clear();
    }

    pub(crate) fn get(&self, path: &str, more: &[(&str, &str)]) -> Answer {
        let headers = [
            &[("cookie", self.cookie.as_str()), ("accept", "text/html")],
            more,
        ]
        .concat();
        self.server.request("GET", path, &headers, b"")
    }

    /// Returns a whole page, whose status must be 200.
    #[track_caller]
    pub(crate) fn page_text(&self, path: &str) -> String {
        let answer = self.get(path, &[]);
        let text = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, 200, "{path}: {text}");
        text
    }

    /// Submits a form with these additional headers.
    pub(crate) fn submit(&self, path: &str, form: &str, more: &[(&str, &str)]) -> Answer {
        let content_type = ("content-type", "application/x-www-form-urlencoded");
        let headers = [&[("cookie", self.cookie.as_str()), content_type], more].concat();
        let body = format!("csrf={}&{form}", self.csrf);
        self.server.request("POST", path, &headers, body.as_bytes())
    }
}

pub(crate) const HTMX_REQUEST: (&str, &str) = ("hx-request", "true");

pub(crate) fn remember(server: &Server, key: &str, value: &str) -> String {
    let body = json!({"key": key, "value": value, "category": "fact"});
    let made = server.post("/api/memory/knowledge", &body);
    assert!(made.status < 300, "{}", String::from_utf8_lossy(&made.body));
    made.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_page_of_an_empty_memory_answers_with_guidance() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    for (path, expected) in [
        ("/", "First steps"),
        ("/recall", "Nothing is remembered yet"),
        ("/recall?q=anything", "Nothing relevant"),
        ("/knowledge", "Nothing is known yet"),
        ("/knowledge?new=1", "New entry"),
        ("/tasks", "No task yet"),
        ("/errors", "Every error is resolved"),
        ("/workspace", "Each bullet becomes a fact."),
        ("/groups", "No group yet"),
        ("/receipts", "No context yet"),
        ("/sessions", "No transcript"),
        ("/analytics", "Needs 5 attempts"),
        ("/inbox", "Nothing waits for you"),
        ("/activity", "No event matches"),
        ("/marks", "Nothing is pinned"),
        ("/settings", "memory.enabled"),
        ("/settings/health", "Check again"),
        ("/settings/hooks", "No call yet"),
    ] {
        let page = browser.page_text(path);
        assert!(page.contains(expected), "{path} lacks `{expected}`");
        assert!(page.starts_with("<!doctype html>"), "{path}");
        let part = browser.get(path, &[HTMX_REQUEST]);
        let part = String::from_utf8(part.body).unwrap();
        assert!(part.trim_start().starts_with("<main"), "{path}: {part}");
        assert!(
            !page.contains(" style=") && !page.contains("<script>"),
            "{path}"
        );
    }
    for path in [
        "/knowledge/00000000-0000-7000-8000-000000000000",
        "/tasks/none",
        "/sessions/none",
        "/receipts/00000000",
        "/workspace/no.md",
        "/groups/..%2Fx",
    ] {
        let answer = browser.get(path, &[]);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(
            (400..=404).contains(&answer.status),
            "{path}: {} {text}",
            answer.status
        );
        assert!(text.contains("<h1>"), "{path}: {text}");
    }
}

#[test]
fn stored_text_is_escaped_on_every_page() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\" onload=\"x \u{1b}[31mred";
    let id = remember(&server, "<b>key</b>", evil);
    let assert_escaped = |path: &str| {
        let page = browser.page_text(path);
        assert!(!page.contains("<script>alert"), "{path}");
        assert!(!page.contains("<img"), "{path}");
        assert!(!page.contains("<b>key"), "{path}");
        assert!(!page.contains("\" onload"), "{path}");
        // An edit field contains the exact text; otherwise saving would change it.
        let is_field = path.ends_with("?edit=1");
        assert!(is_field || !page.contains('\u{1b}'), "{path}");
    };
    let task = "a\"><i>task";
    let tried = json!({"task_id": task, "action": "failed", "approach": evil, "outcome": evil});
    server.post("/api/memory/episodes", &tried).expect(201);
    server
        .fixture
        .call(&sh("session add --session s<u>1 --role user"));
    for path in [
        "/",
        "/knowledge",
        "/recall?q=alert",
        "/recall?q=%3Cscript%3Ealert(3)%3C/script%3E",
        "/knowledge?f=%22%3E%3Cimg%20src%3Dx%3E",
        "/knowledge?category=%22%3E%3Cimg%3E",
        "/tasks",
        "/tasks/a%22%3E%3Ci%3Etask",
        "/tasks/a%22%3E%3Ci%3Etask?approach=%3Cimg%3E",
        "/analytics",
        "/inbox",
    ] {
        assert_escaped(path);
    }
    assert_escaped(&format!("/knowledge/{id}"));
    assert_escaped(&format!("/knowledge/{id}?edit=1"));
    let policy = browser.get("/", &[]);
    let policy = policy.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
}

#[test]
fn knowledge_entry_is_edited_and_the_edit_undone() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let id = remember(&server, "port", "the port is 80");
    let form = "text=the+port+is+8080&category=convention&confidence=0.5&true_from=2026-05-01";
    let part = browser.submit(&format!("/knowledge/{id}"), form, &[HTMX_REQUEST]);
    let row = String::from_utf8(part.body).unwrap();
    assert_eq!(part.status, 200, "{row}");
    assert!(
        row.trim_start().starts_with("<li") && row.contains("the port is 8080"),
        "{row}"
    );
    assert!(
        row.contains("hx-swap-oob") && row.contains("/undo/"),
        "{row}"
    );
    let page = browser.page_text("/knowledge");
    for expected in ["the port is 8080", "convention", "confidence 0.50"] {
        assert!(page.contains(expected), "lacks `{expected}`");
    }
    // A form with an old version gets a conflict page with both texts.
    let late = browser.submit(&format!("/knowledge/{id}"), "text=the+port+is+9090", &[]);
    let both = String::from_utf8(late.body).unwrap();
    assert_eq!(late.status, 409, "{both}");
    assert!(both.contains("the port is 8080") && both.contains("the port is 9090"));
    assert!(!browser.page_text("/knowledge").contains("9090"));
    // Without a script, undo redirects back.
    let newer = page.split("data-id=\"").nth(1).unwrap();
    let newer = newer.split('"').next().unwrap().to_owned();
    let undone = browser
        .submit(&format!("/undo/{newer}"), "back=/knowledge", &[])
        .expect(303);
    let to = undone.header("location").unwrap();
    assert!(to.starts_with("/knowledge?done=undone"), "{to}");
    let page = browser.page_text(to);
    assert!(
        page.contains("the port is 80") && page.contains("Undone."),
        "{page}"
    );
    assert!(!page.contains("port is 8080"));
    let again = browser.submit(
        &format!("/knowledge/{id}"),
        "text=the+port+is+80&confidence=1.00",
        &[],
    );
    assert!(again.header("location").unwrap().contains("done=unchanged"));
    browser
        .submit(&format!("/knowledge/{id}"), "text=x&confidence=7", &[])
        .expect_text(400);
    browser
        .submit(&format!("/knowledge/{id}"), "text=x&true_from=soon", &[])
        .expect_text(400);
    browser
        .submit(&format!("/knowledge/{id}"), "text=", &[])
        .expect_text(400);
}

#[test]
fn records_are_marked_retired_restored_and_purged_on_the_page() {
    let server = Server::start();
    let admin = Browser::log_in(&server, "admin");
    let id = remember(&server, "old", "an old thing");
    for (mark, chip) in [("pin", "pinned"), ("mute", "muted")] {
        let form = format!("mark={mark}&as=row");
        let row = admin
            .submit(&format!("/records/{id}/mark"), &form, &[HTMX_REQUEST])
            .expect_text(200);
        assert!(row.contains(chip), "{row}");
        assert!(admin.page_text("/marks").contains("an old thing"));
    }
    admin
        .submit(
            &format!("/records/{id}/mark"),
            "mark=shout",
            &[HTMX_REQUEST],
        )
        .expect_text(400);
    let line = admin
        .submit(&format!("/records/{id}/retire"), "as=line", &[HTMX_REQUEST])
        .expect_text(200);
    assert!(
        line.contains("class=\"gone\"") && line.contains("Undo"),
        "{line}"
    );
    assert!(
        admin
            .page_text("/knowledge")
            .contains("Nothing is known yet")
    );
    let undone = admin.submit(&format!("/undo/{id}"), "", &[HTMX_REQUEST]);
    assert_eq!(undone.header("hx-trigger"), Some("heirloom:changed"));
    assert!(admin.page_text("/knowledge").contains("an old thing"));
    let user = Browser::log_in(&server, "user");
    user.submit(&format!("/records/{id}/purge"), "", &[])
        .expect_text(403);
    admin
        .submit(&format!("/records/{id}/purge"), "", &[])
        .expect(303);
    assert!(
        admin
            .page_text("/knowledge")
            .contains("Nothing is known yet")
    );
    admin.get(&format!("/knowledge/{id}"), &[]).expect_text(404);
}

#[test]
fn agent_role_and_foreign_origin_cannot_change_anything() {
    let server = Server::start();
    let id = remember(&server, "kept", "a kept thing");
    let agent = Browser::log_in(&server, "agent");
    assert!(agent.page_text("/knowledge").contains("a kept thing"));
    let retire = format!("/records/{id}/retire");
    for (path, form) in [
        (retire.as_str(), ""),
        ("/knowledge", "text=new"),
        ("/workspace/MEMORY.md", "text=x&tag="),
        ("/inbox/pair", "keep=newer&older=a&newer=b"),
    ] {
        agent.submit(path, form, &[]).expect_text(403);
    }
    let browser = Browser::log_in(&server, "user");
    let forged = Browser {
        csrf: "00".to_owned(),
        cookie: browser.cookie.clone(),
        server: &server,
    };
    forged.submit(&retire, "", &[]).expect_text(403);
    let origin = ("origin", "https://evil.example");
    browser.submit(&retire, "", &[origin]).expect_text(403);
    server.request("POST", &retire, &[], b"").expect(401);
    let html = ("accept", "text/html");
    let stranger = server.request("GET", "/knowledge", &[html], b"");
    assert_eq!(stranger.status, 401);
    assert!(!String::from_utf8_lossy(&stranger.body).contains("kept"));
    assert!(browser.page_text("/knowledge").contains("a kept thing"));
}

#[test]
fn page_switches_to_another_project_and_back() {
    let server = Server::start();
    remember(&server, "here", "of the served one");
    let other_entry = json!({"key": "there", "value": "of the other", "project": "other one"});
    server
        .post("/api/memory/knowledge", &other_entry)
        .expect(201);
    let mut browser = Browser::log_in(&server, "user");
    let jump = browser.get("/jump?q=OTHER", &[HTMX_REQUEST]);
    let jump = String::from_utf8(jump.body).unwrap();
    assert!(jump.contains("href=\"/projects/other%20one\""), "{jump}");
    let served = server.items("/api/memory/knowledge")[0]["project"].clone();
    let served = served.as_str().unwrap();
    let chosen = browser.get("/projects/other%20one", &[]);
    assert_eq!(chosen.status, 303);
    let cookie = chosen.header("set-cookie").unwrap();
    assert!(cookie.contains("SameSite=Strict"), "{cookie}");
    let before = browser.cookie.clone();
    browser.cookie = format!("{before}; {}", cookie.split(';').next().unwrap());
    let page = browser.page_text("/knowledge");
    assert!(page.contains("of the other") && !page.contains("of the served one"));
    assert!(page.contains("/api/events?project=other%20one"));
    let form = "key=new&text=written+there&category=fact";
    browser.csrf = browser.csrf_token("/knowledge?new=1");
    assert!(browser.submit("/knowledge", form, &[]).status < 400);
    let other = server.items("/api/memory/knowledge?project=other%20one");
    assert_eq!(other.len(), 2, "{other:?}");
    assert_eq!(server.items("/api/memory/knowledge").len(), 1);
    assert_eq!(browser.get("/projects/nobody", &[]).status, 404);
    let served = served.replace('/', "%2F");
    let back = browser.get(&format!("/projects/{served}"), &[]);
    assert_eq!(back.status, 303, "{served}");
    let cookie = back.header("set-cookie").unwrap();
    browser.cookie = format!("{before}; {}", cookie.split(';').next().unwrap());
    assert!(
        browser
            .page_text("/knowledge")
            .contains("of the served one")
    );
}

#[test]
fn form_writes_to_the_project_it_was_rendered_for() {
    let server = Server::start();
    let id = remember(&server, "here", "of the served one");
    let other_entry = json!({"key": "there", "value": "of the other", "project": "other one"});
    server
        .post("/api/memory/knowledge", &other_entry)
        .expect(201);
    let mut browser = Browser::log_in(&server, "user");
    let login = browser.cookie.clone();
    let count_in = |project: &str| {
        server
            .items(&format!("/api/memory/knowledge{project}"))
            .len()
    };
    let other = "?project=other%20one";
    // One tab shows a form of the served project; another tab switches to the other project.
    browser.csrf = browser.csrf_token("/knowledge?new=1");
    let choice = browser.get("/projects/other%20one", &[]);
    let choice = choice.header("set-cookie").unwrap().to_owned();
    browser.cookie = format!("{login}; {}", choice.split(';').next().unwrap());
    assert!(browser.page_text("/knowledge").contains("of the other"));
    let form = "key=new&text=written+here&category=fact";
    let saved = browser.submit("/knowledge", form, &[]).expect(303);
    assert_eq!((count_in(""), count_in(other)), (2, 1));
    let cookie = saved.header("set-cookie").unwrap();
    assert!(
        cookie.contains("Max-Age=0"),
        "the page stays in the project of the write: {cookie}"
    );
    // A partial request of a script, and the undo form in its answer.
    let retired = browser.submit(&format!("/records/{id}/retire"), "as=line", &[HTMX_REQUEST]);
    let part = String::from_utf8(retired.expect(200).body).unwrap();
    assert_eq!((count_in(""), count_in(other)), (1, 1));
    assert!(part.contains(&browser.csrf), "{part}");
    let (_, undo) = part.split_once("action=\"/undo/").unwrap();
    let undo = format!("/undo/{}", undo.split('"').next().unwrap());
    assert!(browser.submit(&undo, "", &[HTMX_REQUEST]).status < 300);
    assert_eq!((count_in(""), count_in(other)), (2, 1));
    // The same in the other direction.
    browser.csrf = browser.csrf_token("/knowledge?new=1");
    browser.cookie = login;
    let form = "key=newer&text=written+there&category=fact";
    let saved = browser.submit("/knowledge", form, &[]).expect(303);
    assert_eq!((count_in(""), count_in(other)), (2, 2));
    let cookie = saved.header("set-cookie").unwrap();
    assert!(cookie.contains("=other%20one;"), "{cookie}");
    // A token with an invalid project is refused, and the project in a token gives an agent no permission.
    let secret = browser.csrf.split('.').next().unwrap().to_owned();
    browser.csrf = format!("{secret}.zz");
    browser.submit("/knowledge", form, &[]).expect_text(403);
    let mut agent = Browser::log_in(&server, "agent");
    let secret = agent.csrf.split('.').next().unwrap().to_owned();
    agent.csrf = format!("{secret}.6f74686572206f6e65");
    agent.submit("/knowledge", form, &[]).expect_text(403);
    assert_eq!((count_in(""), count_in(other)), (2, 2));
}

#[test]
fn file_is_saved_only_with_its_current_version() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let tag = |page: &str| {
        let (_, rest) = page.split_once("name=\"tag\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let path = "/workspace/MEMORY.md";
    let seen = tag(&browser.page_text(path));
    let saved = browser
        .submit(path, &format!("tag={seen}&text=%23+Facts%0A-+one%0A"), &[])
        .expect(303);
    assert_eq!(
        saved.header("location"),
        Some("/workspace/MEMORY.md?done=written&undo=")
    );
    let page = browser.page_text("/workspace/MEMORY.md?done=written&undo=");
    assert!(
        page.contains("<li>one</li>") && page.contains("/unsave/workspace/MEMORY.md"),
        "{page}"
    );
    let late = browser
        .submit(path, &format!("tag={seen}&text=-+two"), &[])
        .expect_text(409);
    assert!(late.contains("one") && late.contains("two"), "{late}");
    browser
        .submit("/unsave/workspace/MEMORY.md", "", &[])
        .expect(303);
    assert!(!browser.page_text(path).contains("<li>one</li>"));
    let shown = browser
        .submit("/preview", "text=**x**+%3Ci%3E", &[HTMX_REQUEST])
        .expect_text(200);
    assert!(shown.contains("&lt;i&gt;"), "{shown}");
}

#[test]
fn theme_cookie_is_set_and_pages_are_compressed() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let dark = browser
        .submit("/settings/theme", "theme=dark&back=/tasks", &[])
        .expect(303);
    assert_eq!(dark.header("location"), Some("/tasks"));
    assert!(
        dark.header("set-cookie")
            .unwrap()
            .starts_with("heirloom_theme=dark;")
    );
    let elsewhere = browser.submit("/settings/theme", "theme=dark&back=//evil.example", &[]);
    assert_eq!(elsewhere.header("location"), Some("/"));
    let cookie = format!("{}; heirloom_theme=dark; heirloom_keys=off", browser.cookie);
    let headers = [("cookie", cookie.as_str()), ("accept-encoding", "gzip")];
    let page = server.request("GET", "/knowledge", &headers[..1], b"");
    let page = String::from_utf8(page.body).unwrap();
    assert!(
        page.contains("data-theme=\"dark\" data-keys=\"off\""),
        "{page}"
    );
    for n in 0..60 {
        remember(
            &server,
            &format!("key-{n}"),
            &"words that fill a page ".repeat(20),
        );
    }
    for path in [
        "/",
        "/knowledge",
        "/recall?q=words",
        "/assets/app.js",
        "/assets/htmx.js",
    ] {
        let answer = server.request("GET", path, &headers, b"");
        assert_eq!(answer.header("content-encoding"), Some("gzip"), "{path}");
        assert!(
            answer.body.len() <= 60_000,
            "{path}: {} bytes",
            answer.body.len()
        );
    }
}

impl Answer {
    /// Returns the body as text, after a check of the status.
    #[track_caller]
    pub(crate) fn expect_text(self, status: u16) -> String {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        assert_eq!(self.status, status, "{text}");
        text
    }
}

#[test]
fn page_of_a_moved_project_shows_its_memory_under_a_short_name() {
    let fixture = ProjectFixture::plain();
    fixture
        .call(&["remember", "from before the move"])
        .expect(0);
    fixture
        .call(&["--project", "/x/other/.git", "remember", "of the other"])
        .expect(0);
    let store = Connection::open(fixture.root().join(".heirloom/heirloom.db")).unwrap();
    let moved = "UPDATE projects SET name = '/gone/proj/.git' WHERE name <> '/x/other/.git'; \
         UPDATE locations SET name = '/gone/proj/.git', home = '/gone/proj'";
    store.execute_batch(moved).unwrap();
    drop(store);
    let short = fixture
        .root()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let server = Server::start_in(fixture, &[]);
    let items = server.items("/api/memory/knowledge");
    assert_eq!(items[0]["value"], "from before the move");
    assert_eq!(items[0]["project"], "/gone/proj/.git");
    let projects = server.items("/api/projects");
    let named = |name: &str| projects.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(named("/gone/proj/.git")["display_name"], short.as_str());
    assert_eq!(named("/x/other/.git")["display_name"], "other");
    let mut browser = Browser::log_in(&server, "admin");
    for page in ["/", "/knowledge", "/settings"] {
        let page = browser.page_text(page);
        assert!(
            page.contains(&format!("· {short} · Heirloom</title>")),
            "{page}"
        );
        assert!(!page.contains("/gone/proj"), "{page}");
    }
    let jump = browser.get("/jump?q=other", &[HTMX_REQUEST]);
    let jump = String::from_utf8(jump.body).unwrap();
    assert!(jump.contains("/projects/%2Fx%2Fother%2F.git"), "{jump}");
    assert!(!jump.contains("/x/other"), "{jump}");
    browser.csrf.clear();
}
