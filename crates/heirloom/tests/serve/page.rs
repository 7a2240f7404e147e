//! The page, over real sockets: what each address answers, that nothing of memory is markup, and that changes need it.

use crate::client::{Answer, Server};
use serde_json::json;

/// A browser that is logged in.
struct Person<'s> {
    server: &'s Server,
    cookie: String,
    csrf: String,
}

impl<'s> Person<'s> {
    fn of(server: &'s Server, role: &str) -> Self {
        let args = ["ui", "--no-open", "--json", "--role", role];
        let link = server.desk.call(&args).expect(0).json();
        let link = link["link"].as_str().unwrap().to_owned();
        let (_, path) = link.split_once(&server.address.to_string()).unwrap();
        let answer = server.request("GET", path, &[], b"").expect(303);
        let cookie = answer.header("set-cookie").unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let mut person = Self {
            server,
            cookie,
            csrf: String::new(),
        };
        person.csrf = person.form_of("/settings");
        person
    }

    /// What the forms of a page send back.
    fn form_of(&self, path: &str) -> String {
        let page = self.sees(path);
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    fn get(&self, path: &str, more: &[(&str, &str)]) -> Answer {
        let headers = [
            &[("cookie", self.cookie.as_str()), ("accept", "text/html")],
            more,
        ]
        .concat();
        self.server.request("GET", path, &headers, b"")
    }

    /// A whole page.
    #[track_caller]
    fn sees(&self, path: &str) -> String {
        let answer = self.get(path, &[]);
        let text = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, 200, "{path}: {text}");
        text
    }

    /// Sends a form; `more` are headers beside the usual.
    fn sends(&self, path: &str, form: &str, more: &[(&str, &str)]) -> Answer {
        let sort = ("content-type", "application/x-www-form-urlencoded");
        let headers = [&[("cookie", self.cookie.as_str()), sort], more].concat();
        let body = format!("csrf={}&{form}", self.csrf);
        self.server.request("POST", path, &headers, body.as_bytes())
    }
}

const PART: (&str, &str) = ("hx-request", "true");

fn remember(server: &Server, key: &str, value: &str) -> String {
    let body = json!({"key": key, "value": value, "category": "fact"});
    let made = server.post("/api/memory/knowledge", &body);
    assert!(made.status < 300, "{}", String::from_utf8_lossy(&made.body));
    made.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_page_answers_over_an_empty_memory_and_says_what_to_do() {
    let server = Server::start();
    let person = Person::of(&server, "admin");
    for (path, says) in [
        ("/", "No session yet"),
        ("/recall", "Ask what an agent would"),
        ("/recall?q=anything", "Nothing fits"),
        ("/knowledge", "Nothing is known yet"),
        ("/knowledge?new=1", "New entry"),
        ("/tasks", "No task yet"),
        ("/errors", "Every error is resolved"),
        ("/workspace", "MEMORY.md"),
        ("/groups", "No group yet"),
        ("/receipts", "No context yet"),
        ("/sessions", "No transcript"),
        ("/analytics", "Needs 5 tries"),
        ("/review", "Nothing wants a second look"),
        ("/marks", "Nothing is pinned"),
        ("/settings", "memory.enabled"),
        ("/settings/health?check=1", "Checks"),
        ("/settings/hooks", "No call yet"),
    ] {
        let page = person.sees(path);
        assert!(page.contains(says), "{path} lacks `{says}`");
        assert!(page.starts_with("<!doctype html>"), "{path}");
        let part = person.get(path, &[PART]);
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
        let answer = person.get(path, &[]);
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
fn what_is_remembered_is_never_markup() {
    let server = Server::start();
    let person = Person::of(&server, "admin");
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\" onload=\"x \u{1b}[31mred";
    let id = remember(&server, "<b>key</b>", evil);
    let told = |path: &str| {
        let page = person.sees(path);
        assert!(!page.contains("<script>alert"), "{path}");
        assert!(!page.contains("<img"), "{path}");
        assert!(!page.contains("<b>key"), "{path}");
        assert!(!page.contains("\" onload"), "{path}");
        // A field for correcting holds the text as it is: else saving it would change it.
        let is_field = path.ends_with("?edit=1");
        assert!(is_field || !page.contains('\u{1b}'), "{path}");
    };
    let task = "a\"><i>task";
    let tried = json!({"task_id": task, "action": "failed", "approach": evil, "outcome": evil});
    server.post("/api/memory/episodes", &tried).expect(201);
    server
        .desk
        .call(&["session", "add", "--session", "s<u>1", "--role", "user"]);
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
        "/review",
    ] {
        told(path);
    }
    told(&format!("/knowledge/{id}"));
    told(&format!("/knowledge/{id}?edit=1"));
    let policy = person.get("/", &[]);
    let policy = policy.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
}

#[test]
fn an_entry_is_corrected_and_the_correction_is_taken_back() {
    let server = Server::start();
    let person = Person::of(&server, "user");
    let id = remember(&server, "port", "the port is 80");
    let form = "text=the+port+is+8080&category=convention&confidence=0.5&true_from=2026-05-01";
    let part = person.sends(&format!("/knowledge/{id}"), form, &[PART]);
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
    let page = person.sees("/knowledge");
    for says in ["the port is 8080", "convention", "confidence 0.50"] {
        assert!(page.contains(says), "lacks `{says}`");
    }
    // Whoever has seen the old version is asked, and nothing of theirs is lost.
    let late = person.sends(&format!("/knowledge/{id}"), "text=the+port+is+9090", &[]);
    let both = String::from_utf8(late.body).unwrap();
    assert_eq!(late.status, 409, "{both}");
    assert!(both.contains("the port is 8080") && both.contains("the port is 9090"));
    assert!(!person.sees("/knowledge").contains("9090"));
    // Without a script: there and back.
    let newer = page.split("href=\"/knowledge/").nth(1).unwrap();
    let newer = newer.split(['"', '?']).next().unwrap().to_owned();
    let undone = person
        .sends(&format!("/undo/{newer}"), "back=/knowledge", &[])
        .expect(303);
    let to = undone.header("location").unwrap();
    assert!(to.starts_with("/knowledge?done=undone"), "{to}");
    let page = person.sees(to);
    assert!(
        page.contains("the port is 80") && page.contains("Undone."),
        "{page}"
    );
    assert!(!page.contains("8080"));
    let again = person.sends(
        &format!("/knowledge/{id}"),
        "text=the+port+is+80&confidence=1.00",
        &[],
    );
    assert!(again.header("location").unwrap().contains("done=unchanged"));
    person
        .sends(&format!("/knowledge/{id}"), "text=x&confidence=7", &[])
        .assert(400);
    person
        .sends(&format!("/knowledge/{id}"), "text=x&true_from=soon", &[])
        .assert(400);
    person
        .sends(&format!("/knowledge/{id}"), "text=", &[])
        .assert(400);
}

#[test]
fn marks_retiring_and_purging() {
    let server = Server::start();
    let admin = Person::of(&server, "admin");
    let id = remember(&server, "old", "an old thing");
    for (mark, chip) in [("pin", "pinned"), ("mute", "muted")] {
        let form = format!("mark={mark}&as=row");
        let row = admin
            .sends(&format!("/records/{id}/mark"), &form, &[PART])
            .assert(200);
        assert!(row.contains(chip), "{row}");
        assert!(admin.sees("/marks").contains("an old thing"));
    }
    admin
        .sends(&format!("/records/{id}/mark"), "mark=shout", &[PART])
        .assert(400);
    let line = admin
        .sends(&format!("/records/{id}/retire"), "as=line", &[PART])
        .assert(200);
    assert!(
        line.contains("class=\"gone\"") && line.contains("Undo"),
        "{line}"
    );
    assert!(admin.sees("/knowledge").contains("Nothing is known yet"));
    let undone = admin.sends(&format!("/undo/{id}"), "", &[PART]);
    assert_eq!(undone.header("hx-trigger"), Some("heirloom:changed"));
    assert!(admin.sees("/knowledge").contains("an old thing"));
    let user = Person::of(&server, "user");
    user.sends(&format!("/records/{id}/purge"), "", &[])
        .assert(403);
    admin
        .sends(&format!("/records/{id}/purge"), "", &[])
        .expect(303);
    assert!(admin.sees("/knowledge").contains("Nothing is known yet"));
    admin.get(&format!("/knowledge/{id}"), &[]).assert(404);
}

#[test]
fn who_only_reads_changes_nothing_and_no_other_site_does() {
    let server = Server::start();
    let id = remember(&server, "kept", "a kept thing");
    let agent = Person::of(&server, "agent");
    assert!(agent.sees("/knowledge").contains("a kept thing"));
    let retire = format!("/records/{id}/retire");
    for (path, form) in [
        (retire.as_str(), ""),
        ("/knowledge", "text=new"),
        ("/workspace/MEMORY.md", "text=x&tag="),
        ("/review/pair", "keep=newer&older=a&newer=b"),
    ] {
        agent.sends(path, form, &[]).assert(403);
    }
    let person = Person::of(&server, "user");
    let forged = Person {
        csrf: "00".to_owned(),
        cookie: person.cookie.clone(),
        server: &server,
    };
    forged.sends(&retire, "", &[]).assert(403);
    let origin = ("origin", "https://evil.example");
    person.sends(&retire, "", &[origin]).assert(403);
    server.request("POST", &retire, &[], b"").expect(401);
    let html = ("accept", "text/html");
    let stranger = server.request("GET", "/knowledge", &[html], b"");
    assert_eq!(stranger.status, 401);
    assert!(!String::from_utf8_lossy(&stranger.body).contains("kept"));
    assert!(person.sees("/knowledge").contains("a kept thing"));
}

#[test]
fn another_project_is_jumped_to_and_back() {
    let server = Server::start();
    remember(&server, "here", "of the served one");
    let there = json!({"key": "there", "value": "of the other", "project": "other one"});
    server.post("/api/memory/knowledge", &there).expect(201);
    let mut person = Person::of(&server, "user");
    let jump = person.get("/jump?q=OTHER", &[PART]);
    let jump = String::from_utf8(jump.body).unwrap();
    assert!(jump.contains("href=\"/projects/other%20one\""), "{jump}");
    let served = server.items("/api/memory/knowledge")[0]["project"].clone();
    let served = served.as_str().unwrap();
    let chosen = person.get("/projects/other%20one", &[]);
    assert_eq!(chosen.status, 303);
    let cookie = chosen.header("set-cookie").unwrap();
    assert!(cookie.contains("SameSite=Strict"), "{cookie}");
    let before = person.cookie.clone();
    person.cookie = format!("{before}; {}", cookie.split(';').next().unwrap());
    let page = person.sees("/knowledge");
    assert!(page.contains("of the other") && !page.contains("of the served one"));
    assert!(page.contains("/api/events?project=other%20one"));
    let form = "key=new&text=written+there&category=fact";
    person.csrf = person.form_of("/knowledge?new=1");
    assert!(person.sends("/knowledge", form, &[]).status < 400);
    let other = server.items("/api/memory/knowledge?project=other%20one");
    assert_eq!(other.len(), 2, "{other:?}");
    assert_eq!(server.items("/api/memory/knowledge").len(), 1);
    assert_eq!(person.get("/projects/nobody", &[]).status, 404);
    let served = served.replace('/', "%2F");
    let back = person.get(&format!("/projects/{served}"), &[]);
    assert_eq!(back.status, 303, "{served}");
    let cookie = back.header("set-cookie").unwrap();
    person.cookie = format!("{before}; {}", cookie.split(';').next().unwrap());
    assert!(person.sees("/knowledge").contains("of the served one"));
}

#[test]
fn a_form_writes_to_the_project_that_it_was_shown_for() {
    let server = Server::start();
    let kept = remember(&server, "here", "of the served one");
    let there = json!({"key": "there", "value": "of the other", "project": "other one"});
    server.post("/api/memory/knowledge", &there).expect(201);
    let mut person = Person::of(&server, "user");
    let login = person.cookie.clone();
    let of = |project: &str| {
        server
            .items(&format!("/api/memory/knowledge{project}"))
            .len()
    };
    let other = "?project=other%20one";
    // One tab shows the form of the served project; another tab chooses the other project.
    person.csrf = person.form_of("/knowledge?new=1");
    let choice = person.get("/projects/other%20one", &[]);
    let choice = choice.header("set-cookie").unwrap().to_owned();
    person.cookie = format!("{login}; {}", choice.split(';').next().unwrap());
    assert!(person.sees("/knowledge").contains("of the other"));
    let form = "key=new&text=written+here&category=fact";
    let saved = person.sends("/knowledge", form, &[]).expect(303);
    assert_eq!((of(""), of(other)), (2, 1));
    let cookie = saved.header("set-cookie").unwrap();
    assert!(
        cookie.contains("Max-Age=0"),
        "one goes on where one wrote: {cookie}"
    );
    // A part that a script sends, and the way back that its answer has.
    let retired = person.sends(&format!("/records/{kept}/retire"), "as=line", &[PART]);
    let part = String::from_utf8(retired.expect(200).body).unwrap();
    assert_eq!((of(""), of(other)), (1, 1));
    assert!(part.contains(&person.csrf), "{part}");
    let (_, undo) = part.split_once("action=\"/undo/").unwrap();
    let undo = format!("/undo/{}", undo.split('"').next().unwrap());
    assert!(person.sends(&undo, "", &[PART]).status < 300);
    assert_eq!((of(""), of(other)), (2, 1));
    // And the other way round.
    person.csrf = person.form_of("/knowledge?new=1");
    person.cookie = login;
    let form = "key=newer&text=written+there&category=fact";
    let saved = person.sends("/knowledge", form, &[]).expect(303);
    assert_eq!((of(""), of(other)), (2, 2));
    let cookie = saved.header("set-cookie").unwrap();
    assert!(cookie.contains("=other%20one;"), "{cookie}");
    // What is no name opens nothing; whoever may not write may not do so there either.
    let secret = person.csrf.split('.').next().unwrap().to_owned();
    person.csrf = format!("{secret}.zz");
    person.sends("/knowledge", form, &[]).assert(403);
    let mut agent = Person::of(&server, "agent");
    let secret = agent.csrf.split('.').next().unwrap().to_owned();
    agent.csrf = format!("{secret}.6f74686572206f6e65");
    agent.sends("/knowledge", form, &[]).assert(403);
    assert_eq!((of(""), of(other)), (2, 2));
}

#[test]
fn files_are_saved_by_who_has_seen_them() {
    let server = Server::start();
    let person = Person::of(&server, "user");
    let tag = |page: &str| {
        let (_, rest) = page.split_once("name=\"tag\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let path = "/workspace/MEMORY.md";
    let seen = tag(&person.sees(path));
    let saved = person
        .sends(path, &format!("tag={seen}&text=%23+Facts%0A-+one%0A"), &[])
        .expect(303);
    assert_eq!(
        saved.header("location"),
        Some("/workspace/MEMORY.md?done=written&undo=")
    );
    let page = person.sees("/workspace/MEMORY.md?done=written&undo=");
    assert!(
        page.contains("<li>one</li>") && page.contains("/unsave/workspace/MEMORY.md"),
        "{page}"
    );
    let late = person
        .sends(path, &format!("tag={seen}&text=-+two"), &[])
        .assert(409);
    assert!(late.contains("one") && late.contains("two"), "{late}");
    person
        .sends("/unsave/workspace/MEMORY.md", "", &[])
        .expect(303);
    assert!(!person.sees(path).contains("<li>one</li>"));
    let shown = person
        .sends("/preview", "text=**x**+%3Ci%3E", &[PART])
        .assert(200);
    assert!(shown.contains("&lt;i&gt;"), "{shown}");
}

#[test]
fn a_browser_keeps_what_it_wants_and_pages_are_small() {
    let server = Server::start();
    let person = Person::of(&server, "user");
    let dark = person
        .sends("/settings/theme", "theme=dark&back=/tasks", &[])
        .expect(303);
    assert_eq!(dark.header("location"), Some("/tasks"));
    assert!(
        dark.header("set-cookie")
            .unwrap()
            .starts_with("heirloom_theme=dark;")
    );
    let elsewhere = person.sends("/settings/theme", "theme=dark&back=//evil.example", &[]);
    assert_eq!(elsewhere.header("location"), Some("/"));
    let cookie = format!("{}; heirloom_theme=dark; heirloom_keys=off", person.cookie);
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
    /// The body as a text, of this status.
    #[track_caller]
    fn assert(self, status: u16) -> String {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        assert_eq!(self.status, status, "{text}");
        text
    }
}
