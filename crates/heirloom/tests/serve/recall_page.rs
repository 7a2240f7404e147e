//! The recall page: relevance and explanation of hits, sections, filters, and records that are not among the hits.

use crate::client::Server;
use crate::page::{Browser, remember};
use heirloom_testkit::sh;
use serde_json::json;

/// Question about [`STAGING`].
const QUESTION: &str = "/recall?q=is+the+staging+database+read-only+on+Fridays";
const STAGING: &str =
    "The staging database is read-only on Fridays, because the copy of production runs all day";
const MASCOT: &str = "The mascot of the project is a heron that stands on one leg, as it was drawn for the first conference";

/// Returns the part of a page from one text to the next one.
#[track_caller]
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("{page}"));
    rest.split_once(to).unwrap_or_else(|| panic!("{rest}")).0
}

/// Returns the answer to "Why is a record not here?".
#[track_caller]
fn why(browser: &Browser<'_>, question: &str, given: &str) -> String {
    let page = browser.page_text(&format!("/recall?q={question}&why={given}"));
    between(&page, "class=\"absence\">", "</div>").to_owned()
}

#[test]
fn hit_has_relevance_sentence_bar_and_whole_words_marked() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember(&server, "staging", STAGING);
    remember(&server, "mascot", MASCOT);
    let page = browser.page_text(QUESTION);
    let hit = between(&page, "id=\"hits\"", "</ol>");
    assert!(page.contains("1 record is relevant."), "{page}");
    for expected in [
        " % <small class=\"faint\">relevant, strong</small>",
        "All 5 words match: staging, database, read, only, fridays; similar in meaning; its name is in the question; from today.",
        "The score is words ",
        ", meaning ",
        "The <mark>staging</mark> <mark>database</mark> is <mark>read</mark>",
    ] {
        assert!(hit.contains(expected), "`{expected}` is not in {hit}");
    }
    for unexpected in [
        "<mark>the</mark>",
        "<mark>is</mark>",
        "fused",
        "lexical",
        "heron",
    ] {
        assert!(!hit.contains(unexpected), "{unexpected} is in {hit}");
    }
    let legend = between(&page, "Colours of the bars", "</ul>");
    assert!(
        legend.contains("</svg>meaning") && !legend.contains("conversation"),
        "{legend}"
    );
}

#[test]
fn weak_hits_are_in_a_details_element() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember(&server, "staging", STAGING);
    remember(&server, "mascot", MASCOT);
    let page = browser.page_text(QUESTION);
    let weak = between(
        &page,
        "<details class=\"band\" id=\"weak\">",
        "</ol></details>",
    );
    assert!(
        weak.contains("Show 1 weak match<") && weak.contains("heron"),
        "{weak}"
    );
    for nonsense in ["zzzqqq", "what+is+zzzqqq"] {
        let none = browser.page_text(&format!("/recall?q={nonsense}"));
        assert!(none.contains("<h2>Nothing relevant</h2>"), "{none}");
        assert!(none.contains("Show 2 weak matches"), "{none}");
        assert!(!none.contains("id=\"hits\""), "{none}");
    }
}

#[test]
fn turns_are_apart_from_records_and_copies_are_shown_once() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember(&server, "staging", STAGING);
    for _ in 0..2 {
        let turn = json!({"role": "user", "text": "the staging database was read-only again, as on all Fridays"});
        server.post("/api/sessions/s1/messages", &turn).expect(201);
    }
    let page = browser.page_text(QUESTION);
    assert!(
        page.contains("1 record and 1 conversation turn are relevant."),
        "{page}"
    );
    let records = between(&page, "id=\"hits\"", "</ol>");
    assert!(
        records.contains("copy of production") && !records.contains("/sessions/s1"),
        "{records}"
    );
    let turns = between(&page, "id=\"turns\"", "</ol>");
    assert_eq!(turns.matches("<li ").count(), 1, "{turns}");
    for expected in [
        "/sessions/s1#t-0",
        "Occurs 2 times in conversations, shown once.",
    ] {
        assert!(turns.contains(expected), "{turns}");
    }
}

#[test]
fn filters_are_added_and_removed_by_links() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    remember(&server, "staging", STAGING);
    server
        .fixture
        .call(&sh(
            "error log 'The staging database is read-only on Fridays' --task 7",
        ))
        .expect(0);
    let page = browser.page_text("/recall?q=staging+database+task:7");
    let remove = "href=\"/recall?q=staging%20database\" aria-label=\"Remove the filter task:7\"";
    assert!(page.contains(remove), "{page}");
    let page = browser.page_text("/recall?q=staging+database");
    for added in [
        "kind%3Aerror\">kind:error <span class=\"faint\">1</span>",
        "task%3A7\">task:7",
    ] {
        assert!(page.contains(added), "{page}");
    }
    let only = browser.page_text("/recall?q=staging%20database%20kind%3Aerror");
    let hits = between(&only, "id=\"hits\"", "</ol>");
    assert!(
        !hits.contains("copy of production") && hits.contains("k-error"),
        "{hits}"
    );
    let wrong = browser.page_text("/recall?q=staging+kind:foo");
    assert!(wrong.contains("`foo` is not a kind"), "{wrong}");
}

#[test]
fn disputed_record_links_to_its_conflict_and_retired_one_is_left_out() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let agent = server.create_token("agent", &[]);
    remember(&server, "db-port", "the database port is 5432");
    let other = json!({"key": "db-port", "value": "the database port is 5433", "source": "eve"});
    let lost = server.send_as(&agent, "POST", "/api/memory/knowledge", &other);
    assert_eq!(lost.json()["outcome"], "conflict");
    let lost_id = lost.json()["id"].as_str().unwrap().to_owned();
    let gone = remember(&server, "gone", "the database port was 5000");
    server.fixture.call(&["forget", &gone]).expect(0);
    let page = browser.page_text("/recall?q=database+port");
    assert!(
        page.contains("href=\"/knowledge?conflict=0#conflict\">disputed"),
        "{page}"
    );
    assert!(!page.contains("5000") && !page.contains("5433"), "{page}");
    let outvoted = why(&browser, "database+port", &lost_id);
    assert!(
        outvoted.contains("outvoted: the value of") && outvoted.contains("until the conflict"),
        "{outvoted}"
    );
    assert!(
        outvoted.contains("/knowledge?conflict=0#conflict"),
        "{outvoted}"
    );
    assert!(why(&browser, "database+port", "gone").contains("It was retired (today"));
}

#[test]
fn absence_of_a_record_is_explained() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let staging = remember(&server, "staging", STAGING);
    remember(&server, "mascot", MASCOT);
    let old = remember(&server, "proxy", "the proxy port is 80");
    remember(&server, "proxy", "the proxy port is 8080");
    for n in 0..14 {
        let value = format!("room {n}: the {n}th printer is called Nimbus{n}x{n}");
        remember(&server, &format!("printer-{n}"), &value);
    }
    let other = json!({"key": "there", "value": "of the other", "project": "other one"});
    server.post("/api/memory/knowledge", &other).expect(201);
    browser
        .submit(&format!("/records/{staging}/mark"), "mark=mute", &[])
        .expect(303);
    for (question, given, expected) in [
        ("staging+database", "staging", "It is here: hit 1"),
        (
            "staging+database",
            "staging",
            "It is muted: recall finds it, prompts leave it out.",
        ),
        ("staging+database", staging.as_str(), "It is here: hit 1"),
        (
            "staging+database+kind:error",
            "staging",
            "leave it out: kind:error.",
        ),
        (
            "staging+database",
            "mascot",
            "below the limit of 1 %: no word matches.",
        ),
        ("proxy+port", old.as_str(), "A newer version replaced it."),
        ("staging", "no-such-key", "No record has this key or id."),
        ("staging", "prox", "href=\"/knowledge/"),
        (
            "staging",
            "there",
            "It belongs to another project: other one.",
        ),
    ] {
        let answer = why(&browser, question, given);
        assert!(answer.contains(expected), "{given}: {answer}");
    }
    let beyond = (0..14).filter(|n| {
        let answer = why(&browser, "printer+room", &format!("printer-{n}"));
        answer.contains("; an agent gets the first 10.")
    });
    assert_eq!(beyond.count(), 4);
}
