//! Receipts on the web page: the text that was sent, reasons, comparisons and filters.

use crate::client::Server;
use rusqlite::Connection;
use serde_json::{Value, json};

/// Reader of pages that is logged in.
struct PageReader<'s> {
    server: &'s Server,
    cookie: String,
}

impl<'s> PageReader<'s> {
    fn log_in(server: &'s Server) -> Self {
        let link = server.fixture.call(&["ui", "--no-open", "--json"]);
        let link = link.expect(0).json()["link"].as_str().unwrap().to_owned();
        let (_, path) = link.split_once(&server.address.to_string()).unwrap();
        let answer = server.request("GET", path, &[], b"").expect(303);
        let cookie = answer.header("set-cookie").unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { server, cookie }
    }

    #[track_caller]
    fn page(&self, path: &str) -> String {
        let headers = [("cookie", self.cookie.as_str()), ("accept", "text/html")];
        let answer = self.server.request("GET", path, &headers, b"").expect(200);
        String::from_utf8(answer.body).unwrap()
    }
}

fn remember(server: &Server, key: &str, value: &str) -> String {
    let body = json!({"key": key, "value": value, "category": "fact"});
    let made = server.post("/api/memory/knowledge", &body).expect(201);
    made.json()["id"].as_str().unwrap().to_owned()
}

/// Requests a context and returns it; its `receipt` is stored.
fn context(server: &Server, query: &str) -> Value {
    server
        .get(&format!("/api/context?{query}"))
        .expect(200)
        .json()
}

/// Returns the part of a page between two texts.
#[track_caller]
fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    let (_, rest) = page
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start} in {page}"));
    rest.split_once(end).unwrap().0
}

/// Undoes the escaping of a page.
fn unescape(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[test]
fn receipt_page_marks_the_line_of_a_record_in_the_whole_text() {
    let server = Server::start();
    remember(&server, "db", "use <b>SQLite</b> & WAL");
    let port = remember(&server, "port", "The test database has port 5433");
    let muted = remember(&server, "later", "Not in this context");
    server.fixture.call(&["mute", &muted]).expect(0);
    let made = context(&server, "task_id=7&budget_chars=2000");
    let reader = PageReader::log_in(&server);
    let receipt = made["receipt"].as_str().unwrap();
    let path = format!("/receipts/{receipt}");
    let page = reader.page(&path);
    let href = format!("href=\"{path}?record={port}#sent\"");
    assert!(page.contains(&href), "{page}");
    assert!(page.contains("<details><summary>Show as text"), "{page}");
    assert!(page.contains("<h2 id=\"sent\""), "{page}");

    let marked = reader.page(&format!("{path}?record={port}"));
    let mark = between(&marked, "<mark id=\"sent\" tabindex=\"-1\">", "</mark>");
    assert_eq!(mark, "- The test database has port 5433");
    assert!(
        marked.contains("<details open><summary>Show as text"),
        "{marked}"
    );
    assert_eq!(marked.matches("id=\"sent\"").count(), 1, "{marked}");
    let text = between(&marked, "aria-label=\"Text of the context\">", "</pre>");
    let text = text
        .replace("<mark id=\"sent\" tabindex=\"-1\">", "")
        .replace("</mark>", "");
    assert!(
        text.contains("&lt;b&gt;SQLite&lt;/b&gt; &amp; WAL"),
        "{text}"
    );
    assert_eq!(unescape(&text), made["text"].as_str().unwrap());

    for other in [muted.as_str(), "nonsense"] {
        let page = reader.page(&format!("{path}?record={other}"));
        assert!(!page.contains("<mark"), "{page}");
        assert!(
            page.contains("This text has no line of the linked record."),
            "{page}"
        );
    }
}

#[test]
fn receipt_without_its_text_says_that_it_was_not_kept() {
    let server = Server::start();
    remember(&server, "port", "The test database has port 5433");
    let made = context(&server, "budget_chars=2000");
    let database = server.fixture.root().join(".heirloom/heirloom.db");
    let store = Connection::open(database).unwrap();
    let removed = "UPDATE receipts SET body = json_remove(body, '$.text', '$.counts')";
    assert_eq!(store.execute(removed, []).unwrap(), 1);
    drop(store);
    let reader = PageReader::log_in(&server);
    let receipt = made["receipt"].as_str().unwrap();
    let page = reader.page(&format!("/receipts/{receipt}?text=1"));
    assert!(page.contains("The text was not kept"), "{page}");
    assert!(!page.contains("data-copy"), "{page}");
    assert!(page.contains("The test database has port 5433"), "{page}");
    let list = reader.page("/receipts");
    assert!(list.contains("1 record got in"), "{list}");
}

#[test]
fn receipt_page_has_plain_reasons_and_all_omitted_items() {
    let server = Server::start();
    for n in 0..40 {
        let words = format!("The fact number {n} {}", "has these words ".repeat(18));
        remember(&server, &format!("fact-{n}"), &words);
    }
    let made = context(&server, "budget_chars=1000");
    let reader = PageReader::log_in(&server);
    let path = format!("/receipts/{}", made["receipt"].as_str().unwrap());
    let page = reader.page(&path);
    let free = 1000 - made["chars"].as_u64().unwrap();
    assert!(
        page.contains(&format!("Cut: did not fit: {free} characters left")),
        "{page}"
    );
    let out = made["sections"][0]["items"].as_array().unwrap();
    let out = out
        .iter()
        .filter(|item| item["included"] == json!(false))
        .count();
    assert!(out > 20, "{made}");
    let words = format!("Cut, did not fit: {out} items");
    assert!(
        between(&page, "<figcaption>", "</figcaption>").contains(&words),
        "{page}"
    );
    assert!(page.contains(&format!("{out} did not: ")), "{page}");
    for old in ["larger than the budget", ">included<", "Key Facts</b>"] {
        assert!(!page.contains(old), "{old}: {page}");
    }
    assert!(page.contains("<b>Facts</b>"), "{page}");
    let cut = reader.page(&format!("{path}?show=cut"));
    let rows = cut
        .matches("<tr class=\"gone\"><td><span class=\"kind")
        .count();
    assert_eq!(rows, 20, "{cut}");
    assert!(
        cut.contains(&format!("and {} more that did not get in", out - 20)),
        "{cut}"
    );
}

#[test]
fn receipt_page_compares_with_now_and_with_the_previous_context() {
    let server = Server::start();
    remember(&server, "port", "The test database has port 5433");
    let gone = remember(&server, "old", "The old interface is used");
    let first = context(&server, "task_id=7&budget_chars=2000");
    remember(&server, "new", "The new interface is used");
    server.fixture.call(&["forget", &gone]).expect(0);
    let reader = PageReader::log_in(&server);
    let path = |made: &Value| format!("/receipts/{}", made["receipt"].as_str().unwrap());

    let again = reader.page(&format!("{}?again=1", path(&first)));
    assert!(
        again.contains("would get 1 item more, lose 1, and keep 1"),
        "{again}"
    );
    let added = between(&again, "Would get in now", "</ul>");
    assert!(
        added.contains("The new interface is used") && !added.contains("The old"),
        "{added}"
    );
    let removed = between(&again, "Would not get in any more", "</ul>");
    assert!(removed.contains("The old interface is used"), "{removed}");

    let second = context(&server, "task_id=7&budget_chars=2000");
    let previous = reader.page(&format!("{}?previous=1", path(&second)));
    assert!(
        previous.contains("context of this task, 1 item came, 1 went, 1 stayed"),
        "{previous}"
    );
    let other = format!("href=\"{}\">Receipt of", path(&first));
    assert!(previous.contains(&other), "{previous}");
    let none = reader.page(&format!("{}?previous=1", path(&first)));
    assert!(
        none.contains("No earlier context of this session or task is stored."),
        "{none}"
    );
}

#[test]
fn receipt_list_names_contents_and_filters_by_session_task_and_cuts() {
    let server = Server::start();
    for n in 0..20 {
        remember(
            &server,
            &format!("fact-{n}"),
            &format!("The fact number {n} has these words"),
        );
    }
    let small = context(&server, "task_id=7&budget_chars=300");
    let large = context(&server, "session_id=s%261&budget_chars=9000");
    let asked = context(
        &server,
        "task_id=8&query=fact%20number%203&budget_chars=9000",
    );
    let reader = PageReader::log_in(&server);
    let listed = |query: &str| -> Vec<bool> {
        let page = reader.page(&format!("/receipts{query}"));
        let has = |made: &Value| {
            let id = made["receipt"].as_str().unwrap();
            page.contains(&format!("data-id=\"{id}\""))
        };
        [&small, &large, &asked].map(has).to_vec()
    };
    assert_eq!(listed(""), [true, true, true]);
    assert_eq!(listed("?task=7"), [true, false, false]);
    assert_eq!(listed("?session=s%261&task="), [false, true, false]);
    assert_eq!(listed("?cut=1"), [true, false, false]);
    assert_eq!(listed("?task=8&cut=1"), [false, false, false]);
    let page = reader.page("/receipts");
    assert!(page.contains(">fact number 3</a>"), "{page}");
    assert!(page.contains(">Task #7</a>"), "{page}");
    assert!(page.contains("20 facts"), "{page}");
    assert!(page.contains("in 1 something did not fit"), "{page}");
    let used = format!("<b>{} of 300</b> characters", small["chars"]);
    assert!(page.contains(&used), "{page}");
    assert!(
        page.contains("href=\"/receipts?session=s%261\">session s&amp;1")
            || page.contains("session s&#38;1"),
        "{page}"
    );
}
