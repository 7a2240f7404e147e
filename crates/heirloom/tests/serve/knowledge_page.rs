//! Knowledge page over real sockets: filters with their counts, paging, bulk changes, the panel of an entry, export,
//! and edits that meet another change.

use crate::client::{Answer, Server};
use crate::driver::ProjectFixture;
use crate::page::{Browser, HTMX_REQUEST, remember};
use heirloom_model::limits::{BULK_CHANGES_MAX, MARKED_ROWS_SHOWN_MAX};
use serde_json::{Value, json};

/// Stores knowledge of a source and category.
fn remember_of(server: &Server, key: &str, text: &str, category: &str, source: &str) {
    let args = [
        "remember",
        text,
        "--key",
        key,
        "--category",
        category,
        "--source",
        source,
    ];
    server.fixture.call(&args).expect(0);
}

/// Returns the keys of the rows on a page, in its order.
fn row_keys(page: &str) -> Vec<&str> {
    let rows = page.split("data-key=\"h\" data-open").skip(1);
    let keys = rows.filter_map(|row| row.split_once('>')?.1.split('<').next());
    keys.collect()
}

/// Returns the count that the filter shows for a category.
fn category_count<'p>(page: &'p str, name: &str) -> &'p str {
    let (_, rest) = page
        .split_once(&format!(">{name}<span class=\"n\">"))
        .unwrap();
    rest.split('<').next().unwrap()
}

/// Returns the parameters of a redirect.
fn location(answer: &Answer) -> String {
    answer.header("location").unwrap().to_owned()
}

#[test]
fn category_counts_and_links_follow_the_other_filters() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember_of(&server, "a", "polls the outbox", "fact", "agent:codex");
    remember_of(&server, "b", "polls the queue", "decision", "agent:codex");
    remember_of(&server, "c", "polls the clock", "fact", "agent:claude-code");
    remember_of(&server, "d", "a label printer", "fact", "agent:codex");
    let page = browser.page_text("/knowledge");
    assert_eq!(category_count(&page, "All"), "4");
    assert_eq!(category_count(&page, "fact"), "3");
    let page = browser.page_text("/knowledge?f=polls&source=agent:codex");
    assert_eq!(category_count(&page, "All"), "2");
    assert_eq!(category_count(&page, "fact"), "1");
    assert!(
        page.contains("href=\"/knowledge?category=fact&#38;f=polls&#38;source=agent%3Acodex\""),
        "{page}"
    );
    // The chip of a filter removes only this filter.
    assert!(
        page.contains("href=\"/knowledge?source=agent%3Acodex\"><span class=\"sr\">Remove"),
        "{page}"
    );
    let page = browser.page_text("/knowledge?category=fact&f=polls&source=agent:codex");
    assert_eq!(row_keys(&page), ["a"]);
    let page = browser.page_text("/knowledge?sort=key");
    assert_eq!(row_keys(&page), ["a", "b", "c", "d"]);
    let page = browser.page_text("/knowledge?sort=oldest&source=agent:codex");
    assert_eq!(row_keys(&page), ["a", "b", "d"]);
    let page = browser.page_text("/knowledge?until=2001-01-01");
    assert!(page.contains("Nothing fits"), "{page}");
    // The answer to the filter form names an address without the empty fields.
    let to_list = [HTMX_REQUEST, ("hx-target", "list")];
    let part = browser.get("/knowledge?f=&source=agent:codex&state=&sort=", &to_list);
    assert_eq!(
        part.header("hx-push-url"),
        Some("/knowledge?source=agent%3Acodex")
    );
}

#[test]
fn states_filter_pinned_muted_disputed_proposed_and_stale_entries() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let pinned = remember(&server, "pinned-key", "one that is pinned");
    let muted = remember(&server, "muted-key", "one that is muted");
    for (id, mark) in [(&pinned, "pin"), (&muted, "mute")] {
        let form = format!("mark={mark}");
        browser
            .submit(&format!("/records/{id}/mark"), &form, &[])
            .expect(303);
    }
    remember_of(&server, "port", "the port is 5432", "fact", "agent:codex");
    remember_of(
        &server,
        "port",
        "the port is 5433",
        "fact",
        "agent:claude-code",
    );
    std::fs::create_dir(server.fixture.root().join("src")).unwrap();
    remember(&server, "gone", "look at src/gone.rs first");
    for (state, expected) in [
        ("pinned", "pinned-key"),
        ("muted", "muted-key"),
        ("disputed", "port"),
        ("stale", "gone"),
    ] {
        let page = browser.page_text(&format!("/knowledge?state={state}"));
        assert_eq!(row_keys(&page), [expected], "{state}");
        assert_eq!(category_count(&page, "All"), "1", "{state}");
    }
    let page = browser.page_text("/knowledge?state=proposed");
    assert!(page.contains("Nothing fits"), "{page}");
}

#[test]
fn bulk_change_of_selected_entries_is_one_request_with_one_undo() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let ids = ["one", "two", "three"].map(|key| remember(&server, key, &format!("value {key}")));
    let page = browser.page_text("/knowledge?select=page");
    assert_eq!(page.matches("form=\"bulk\"").count(), 3);
    assert_eq!(page.matches(" checked>").count(), 3, "{page}");
    let selected = format!("id={}&id={}&back=/knowledge%3Fsort%3Dkey", ids[0], ids[1]);
    let bulk =
        |action: &str| browser.submit("/knowledge/bulk", &format!("{selected}&{action}"), &[]);
    let retired = location(&bulk("do=retire").expect(303));
    let undo = format!("undo={},{}", ids[0], ids[1]);
    assert!(
        retired.starts_with("/knowledge?sort=key&done=all-retired&"),
        "{retired}"
    );
    assert!(
        retired.contains(ids[0].as_str()) && retired.contains(ids[1].as_str()),
        "{undo}"
    );
    let page = browser.page_text(&retired);
    assert_eq!(row_keys(&page), ["three"]);
    assert!(page.contains("They stay in history."), "{page}");
    let undo = retired.rsplit("undo=").next().unwrap().to_owned();
    let undone = browser
        .submit(&format!("/undo/{undo}"), "back=/knowledge", &[])
        .expect(303);
    assert_eq!(
        row_keys(&browser.page_text("/knowledge?sort=key")),
        ["one", "three", "two"]
    );
    // Without a script, the undo of an undo retires both again.
    let redo = location(&undone).rsplit("undo=").next().unwrap().to_owned();
    browser
        .submit(&format!("/undo/{redo}"), "", &[])
        .expect(303);
    assert_eq!(row_keys(&browser.page_text("/knowledge")), ["three"]);
    browser
        .submit(&format!("/undo/{redo}"), "", &[])
        .expect(303);
    // A move keeps text and confidence, and is undone as well.
    let moved = location(&bulk("do=move&category=decision").expect(303));
    let page = browser.page_text("/knowledge?category=decision&sort=key");
    assert_eq!(row_keys(&page), ["one", "two"]);
    let undo = moved.rsplit("undo=").next().unwrap().to_owned();
    browser
        .submit(&format!("/undo/{undo}"), "", &[])
        .expect(303);
    assert_eq!(
        category_count(&browser.page_text("/knowledge"), "fact"),
        "3"
    );
    let part = browser.submit(
        "/knowledge/bulk",
        &format!("{selected}&do=pin"),
        &[HTMX_REQUEST],
    );
    assert_eq!(part.header("hx-trigger"), Some("heirloom:changed"));
    let toast = part.expect_text(200);
    assert!(
        toast.contains("2 entries: Pinned") && toast.contains("/undo/"),
        "{toast}"
    );
    assert_eq!(
        browser
            .page_text("/knowledge?state=pinned")
            .matches("form=\"bulk\"")
            .count(),
        2
    );
    // What has the mark already is not changed, so that undo does not remove it.
    let again = location(&bulk("do=pin").expect(303));
    assert!(again.contains("done=unchanged"), "{again}");
    browser
        .submit("/knowledge/bulk", "do=retire", &[])
        .expect_text(400);
    browser
        .submit("/knowledge/bulk", &format!("{selected}&do=move"), &[])
        .expect_text(400);
    let many = |count: usize| vec![format!("id={}", ids[0]); count].join("&");
    let most = format!("{}&do=pin", many(BULK_CHANGES_MAX));
    browser.submit("/knowledge/bulk", &most, &[]).expect(303);
    let beyond = format!("{}&do=pin", many(BULK_CHANGES_MAX + 1));
    browser
        .submit("/knowledge/bulk", &beyond, &[])
        .expect_text(400);
    let agent = Browser::log_in(&server, "agent");
    let refused = agent.submit("/knowledge/bulk", &format!("{selected}&do=retire"), &[]);
    refused.expect_text(403);
}

#[test]
fn marks_page_lists_the_first_pinned_and_counts_all() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let pinned = MARKED_ROWS_SHOWN_MAX + 1;
    let ids: Vec<String> = (0..pinned)
        .map(|n| {
            format!(
                "id={}",
                remember(&server, &format!("k{n}"), &format!("pinned fact {n}"))
            )
        })
        .collect();
    let form = format!("{}&do=pin", ids.join("&"));
    browser.submit("/knowledge/bulk", &form, &[]).expect(303);
    let page = browser.page_text("/marks");
    assert!(page.contains(&format!("{pinned} pinned")), "{page}");
    let listed = (0..pinned).filter(|n| page.contains(&format!(">pinned fact {n}<")));
    assert_eq!(listed.count(), MARKED_ROWS_SHOWN_MAX, "{page}");
}

#[test]
fn large_memory_is_paged_in_both_directions() {
    let fixture = ProjectFixture::plain();
    let line = |n: usize| json!({"text": format!("value {n}"), "key": format!("k{n:04}")});
    let lines: Vec<String> = (0..1_060).map(|n| line(n).to_string()).collect();
    fixture
        .feed(&["remember", "--stdin"], lines.join("\n").as_bytes())
        .expect(0);
    let server = Server::start_in(fixture, &[]);
    let browser = Browser::log_in(&server, "user");
    let link = |page: &str, rel: &str| {
        let (before, _) = page.split_once(&format!("\" rel=\"{rel}\"")).unwrap();
        before
            .rsplit("href=\"")
            .next()
            .unwrap()
            .replace("&#38;", "&")
    };
    let first = browser.page_text("/knowledge");
    assert_eq!(category_count(&first, "All"), "1,060");
    assert_eq!(category_count(&first, "fact"), "1,000+");
    assert_eq!(row_keys(&first)[0], "k1059");
    assert!(!first.contains("rel=\"prev\""));
    let second = browser.page_text(&link(&first, "next"));
    assert_eq!(row_keys(&second)[0], "k1034");
    let third = browser.page_text(&link(&second, "next"));
    let back = browser.page_text(&link(&third, "prev"));
    assert_eq!(row_keys(&back), row_keys(&second));
    let start = browser.page_text(&link(&back, "prev"));
    assert_eq!(row_keys(&start), row_keys(&first));
    assert!(!start.contains("rel=\"prev\""));
    let oldest = browser.page_text("/knowledge?sort=oldest");
    assert_eq!(row_keys(&oldest)[0], "k0000");
    // Sorting by key looks at the newest thousand and says so.
    let by_key = browser.page_text("/knowledge?sort=key");
    assert_eq!(row_keys(&by_key)[0], "k0060");
    assert!(
        by_key.contains("Among the newest 1,000 entries."),
        "{by_key}"
    );
    let next = browser.page_text(&link(&by_key, "next"));
    assert_eq!(row_keys(&next)[0], "k0085");
    assert_eq!(
        row_keys(&browser.page_text(&link(&next, "prev")))[0],
        "k0060"
    );
}

#[test]
fn panel_names_receipts_and_related_entries_and_keeps_the_filters() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let scope = json!({"key": "staging", "value": "staging is read-only on Fridays",
        "category": "fact", "scope": {"task_id": "214"}});
    let made = server.post("/api/memory/knowledge", &scope);
    assert!(made.status < 300, "{}", String::from_utf8_lossy(&made.body));
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let before = browser.page_text(&format!("/knowledge/{id}"));
    assert!(
        before.contains("No context has included it yet."),
        "{before}"
    );
    let context = server
        .get("/api/context?task_id=214&budget_chars=2000")
        .json();
    assert!(
        context["text"].as_str().unwrap().contains("read-only"),
        "{context}"
    );
    let panel = browser.page_text(&format!("/knowledge/{id}?source=user&sort=key"));
    assert!(panel.contains("In 1 context, last today"), "{panel}");
    assert!(
        panel.contains("href=\"/receipts/") && panel.contains(&format!("?record={id}#sent\"")),
        "{panel}"
    );
    if panel.contains("id=\"hr\"") {
        assert!(panel.contains("<svg class=\"chart fan\""), "{panel}");
    }
    assert!(
        panel.contains("data-close hx-get=\"/knowledge?source=user&#38;sort=key\""),
        "{panel}"
    );
    remember(
        &server,
        "staging-copy",
        "staging is read-only on Fridays and Saturdays",
    );
    let panel = browser.page_text(&format!("/knowledge/{id}"));
    let (_, related) = panel.split_once("id=\"hr\"").unwrap();
    assert!(related.contains("staging-copy"), "{related}");
    // Without a panel its place is empty.
    assert!(
        browser
            .page_text("/knowledge")
            .contains("id=\"history\" aria-label=\"Entry\" hidden")
    );
}

#[test]
fn export_contains_exactly_the_filtered_entries() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember_of(&server, "a", "polls the `outbox`", "fact", "agent:codex");
    remember_of(&server, "b", "polls the queue", "decision", "agent:codex");
    remember_of(&server, "c", "another thing", "fact", "agent:claude-code");
    let json = browser.get(
        "/knowledge/export?source=agent:codex&sort=key&format=json",
        &[],
    );
    assert_eq!(json.header("content-type"), Some("application/json"));
    let disposition = json.header("content-disposition").unwrap();
    assert_eq!(disposition, "attachment; filename=\"knowledge.json\"");
    let file: Value = serde_json::from_str(&json.expect_text(200)).unwrap();
    assert_eq!(file["count"], 2);
    assert_eq!(file["entries"][0]["key"], "a");
    assert_eq!(file["entries"][0]["text"], "polls the `outbox`");
    assert_eq!(file["entries"][1]["category"], "decision");
    let path = "/knowledge/export?category=fact&source=agent:codex&format=md";
    let text = browser.get(path, &[]).expect_text(200);
    assert!(
        text.contains("## fact\n\n- **a**: polls the `outbox` (codex, "),
        "{text}"
    );
    assert!(
        !text.contains("queue") && !text.contains("another"),
        "{text}"
    );
    browser
        .get("/knowledge/export?format=exe", &[])
        .expect_text(400);
}

#[test]
fn edited_entry_has_the_confidence_of_a_new_one() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember_of(&server, "port", "the port is 80", "fact", "agent:codex");
    let page = browser.page_text("/knowledge");
    assert!(page.contains("confidence 0.80"), "{page}");
    let (_, rest) = page.split_once("data-id=\"").unwrap();
    let id = rest.split('"').next().unwrap();
    let path = format!("/knowledge/{id}");
    // Nothing changes if nothing was changed.
    let same = browser.submit(&path, "text=the+port+is+80&category=fact&confidence=", &[]);
    assert!(location(&same).contains("done=unchanged"));
    browser
        .submit(
            &path,
            "text=the+port+is+8080&category=fact&confidence=",
            &[],
        )
        .expect(303);
    let page = browser.page_text("/knowledge");
    assert!(
        page.contains("8080") && page.contains("confidence 1.00"),
        "{page}"
    );
}

#[test]
fn conflict_of_edits_names_the_other_writer_and_shows_the_difference() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let id = remember(&server, "port", "run `just db` on port 80");
    let path = format!("/knowledge/{id}");
    browser
        .submit(&path, "text=run+%60just+db%60+on+port+81", &[])
        .expect(303);
    let both = browser
        .submit(&path, "text=run+%60just+db%60+on+port+82", &[])
        .expect_text(409);
    assert!(both.contains("You saved this in another tab."), "{both}");
    assert!(
        !both.contains("heirs") && !both.contains("theirs"),
        "{both}"
    );
    let diff = "run <code>just db</code> on port <del>81</del> <ins>82</ins>";
    assert!(both.contains(diff), "{both}");
    let file = "/workspace/MEMORY.md";
    browser.submit(file, "tag=&text=-+one%0A-+two%0A", &[]);
    let late = browser
        .submit(file, "tag=x&text=-+one%0A-+three%0A", &[])
        .expect_text(409);
    assert!(late.contains("<ins>+ - three</ins>"), "{late}");
    assert!(
        late.contains("<div class=\"preview\"><ul><li>one</li>"),
        "{late}"
    );
}

#[test]
fn conflict_between_sources_renders_code() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember_of(
        &server,
        "db",
        "start it with `just db`",
        "fact",
        "agent:codex",
    );
    remember_of(
        &server,
        "db",
        "start it with `make db`",
        "fact",
        "agent:claude-code",
    );
    let page = browser.page_text("/knowledge");
    let (_, conflict) = page.split_once("id=\"conflict\"").unwrap();
    assert!(
        conflict.contains("<mark><code>just db</code></mark>"),
        "{conflict}"
    );
}

#[test]
fn empty_groups_page_shows_a_command_that_works() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let page = browser.page_text("/groups");
    assert!(
        page.contains("heirloom group note delivery &#34;")
            || page.contains("heirloom group note delivery \""),
        "{page}"
    );
    server
        .fixture
        .call(&["group", "note", "delivery", "what everybody should know"])
        .expect(0);
    assert!(
        browser
            .page_text("/groups")
            .contains("what everybody should know")
    );
}

#[test]
fn texts_have_the_direction_of_their_script() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember_of(&server, "rtl", "שלום עולם", "fact", "agent:codex");
    for path in ["/knowledge", "/recall?q=key:rtl"] {
        let page = browser.page_text(path);
        assert!(page.contains("<p dir=\"auto\">שלום עולם"), "{path}: {page}");
    }
    let form = browser.page_text("/knowledge?new=1");
    assert!(form.contains("<textarea dir=\"auto\" id=\"nt\""), "{form}");
}
