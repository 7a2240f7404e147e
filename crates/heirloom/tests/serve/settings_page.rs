//! Settings pages: values with undo, tokens, hooks of agent programs, first steps, health.

use crate::client::{Answer, Server};
use crate::page::{Browser, HTMX_REQUEST};
use heirloom_testkit::sh;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// Returns the config file of the server's project.
fn project_config(server: &Server) -> PathBuf {
    server.fixture.root().join(".heirloom/config.toml")
}

fn write_config(server: &Server, text: &str) {
    let project = &server.fixture.project;
    project.write(".heirloom/config.toml", text).unwrap();
}

fn text_of(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).unwrap()
}

/// Returns the id of the change that a redirect names.
#[track_caller]
fn undo_id(answer: &Answer) -> String {
    assert_eq!(answer.status, 303, "{}", text_of(answer));
    let to = answer.header("location").unwrap();
    let (_, rest) = to.split_once("undo=").unwrap();
    rest.split('#').next().unwrap().to_owned()
}

fn effective(server: &Server, key: &str) -> serde_json::Value {
    let found = server.fixture.call(&["config", key, "--json"]).expect(0);
    found.json()["config"][0].clone()
}

#[test]
fn setting_change_keeps_comments_and_is_undone() {
    let server = Server::start();
    let file = project_config(&server);
    let before = std::fs::read_to_string(&file).unwrap();
    let commented = format!("# of the team\n{before}# few\nmax_entries = 9 # nine\n");
    write_config(&server, &commented);
    let browser = Browser::log_in(&server, "admin");
    let path = "/settings/values/memory.max_entries";
    let saved = browser.submit(path, "layer=project&value=7", &[]);
    let id = undo_id(&saved);
    let after = std::fs::read_to_string(&file).unwrap();
    assert_eq!(after, commented.replace("= 9 # nine", "= 7 # nine"));
    assert_eq!(effective(&server, "memory.max_entries")["value"], 7);
    let page = browser.page_text(&format!("/settings?done=setting&undo={id}"));
    assert!(
        page.contains(&format!("action=\"/settings/undo/{id}\"")),
        "{page}"
    );
    assert!(page.contains("memory.max_entries is changed for this project, in effect now."));
    let removed = browser.submit(path, "remove=project", &[]);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(
        kept.contains("# few\n# nine\n") && !kept.contains("max_entries"),
        "{kept}"
    );
    assert_eq!(
        effective(&server, "memory.max_entries")["origin"],
        "default"
    );
    for (change, expected) in [(undo_id(&removed), &after), (id.clone(), &commented)] {
        let undone = browser.submit(&format!("/settings/undo/{change}"), "", &[]);
        assert_eq!(undone.status, 303, "{}", text_of(&undone));
        assert_eq!(&std::fs::read_to_string(&file).unwrap(), expected);
    }
    let again = browser.submit(&format!("/settings/undo/{id}"), "", &[]);
    assert_eq!(again.status, 404);
}

#[test]
fn undo_of_overwritten_setting_is_refused() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let file = project_config(&server);
    let change =
        |form: &str| undo_id(&browser.submit("/settings/values/run.iterations", form, &[]));
    let first = change("layer=project&value=3");
    // Another key may change in between; the same key may not.
    let text = std::fs::read_to_string(&file).unwrap();
    write_config(&server, &format!("{text}stall_limit = 2\n"));
    let undone = browser.submit(&format!("/settings/undo/{first}"), "", &[]);
    assert_eq!(undone.status, 303, "{}", text_of(&undone));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        !text.contains("iterations") && text.contains("stall_limit = 2"),
        "{text}"
    );
    let second = change("layer=project&value=4");
    change("layer=project&value=5");
    let refused = browser.submit(&format!("/settings/undo/{second}"), "", &[]);
    assert_eq!(refused.status, 403);
    assert_eq!(effective(&server, "run.iterations")["value"], 5);
}

#[test]
fn running_server_applies_a_changed_setting() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let body = json!({"key": "k", "value": "a value", "category": "fact"});
    server.post("/api/memory/knowledge", &body).expect(201);
    let path = "/settings/values/memory.enabled";
    // A checkbox that is off sends no value.
    let off = browser.submit(path, "layer=project", &[]);
    let id = undo_id(&off);
    server.post("/api/memory/knowledge", &body).expect(403);
    let undone = browser.submit(&format!("/settings/undo/{id}"), "", &[HTMX_REQUEST]);
    assert!(text_of(&undone).contains("memory.enabled is as before."));
    assert_eq!(undone.header("hx-trigger"), Some("heirloom:changed"));
    let again = server.post("/api/memory/knowledge", &body);
    assert!(again.status < 300, "{}", text_of(&again));
}

#[test]
fn wrong_setting_value_is_reported_at_its_field() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let file = project_config(&server);
    let before = std::fs::read_to_string(&file).unwrap();
    for (key, form, reason) in [
        (
            "memory.max_entries",
            "layer=project&value=many",
            "expected a whole number, found `many`",
        ),
        ("memory.max_entries", "layer=user&value=-1", "-1 is outside"),
        (
            "memory.conflict_policy",
            "layer=project&value=dice",
            "expected higher-confidence or",
        ),
        (
            "redact.rules",
            "layer=project&value=bad%3A+%28",
            "unclosed group",
        ),
        (
            "run.command",
            "layer=project&value=sh",
            "is not taken from a project&#39;s file",
        ),
    ] {
        let path = format!("/settings/values/{key}");
        let page = browser.submit(&path, form, &[]);
        assert_eq!(page.status, 422, "{key}");
        let page = text_of(&page);
        assert!(page.starts_with("<!doctype html>"), "{key}");
        let field = format!("id=\"e-{}\"", key.replace('.', "-"));
        assert!(
            page.contains(&field) && page.contains(reason),
            "{key}: {page}"
        );
        let part = text_of(&browser.submit(&path, form, &[HTMX_REQUEST]));
        assert!(
            part.starts_with("<li") && part.contains(reason),
            "{key}: {part}"
        );
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert!(
        !server
            .fixture
            .outside_path("config/heirloom/config.toml")
            .exists()
    );
    let unknown = browser.submit("/settings/values/no.key", "layer=user&value=1", &[]);
    assert_eq!(unknown.status, 404);
}

#[test]
fn settings_page_filters_and_shows_changed_values_first() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let page = browser.page_text("/settings");
    let changed = page.find("s-memory-enabled").unwrap();
    assert!(
        changed < page.find("s-store-url").unwrap(),
        "changed values come first"
    );
    assert!(page.contains("Budget of a context in characters."));
    let filtered = browser.page_text("/settings?f=CONFLICT+policy");
    assert!(filtered.contains("s-memory-conflict_policy") && !filtered.contains("s-store-url"));
    assert!(
        browser
            .page_text("/settings?f=zzz")
            .contains("No setting fits")
    );
    let form = browser.page_text("/settings?edit=memory.conflict_policy");
    assert!(
        form.contains("<option selected>higher-confidence</option>"),
        "{form}"
    );
    let part = browser.get("/settings/values/redact.allow", &[HTMX_REQUEST]);
    let part = text_of(&part);
    assert!(
        part.contains("<textarea") && !part.contains("value=\"project\""),
        "{part}"
    );
}

#[test]
fn settings_and_tokens_need_an_admin() {
    let server = Server::start();
    let user = Browser::log_in(&server, "user");
    let page = user.page_text("/settings");
    assert!(page.contains("heirloom ui --role admin") && !page.contains(">Change<"));
    for (path, form) in [
        (
            "/settings/values/memory.max_entries",
            "layer=project&value=7",
        ),
        ("/settings/tokens", "role=admin"),
        ("/settings/tokens/00/revoke", ""),
        ("/settings/agents/claude-code/user", ""),
        ("/settings/agents/claude-code/user/remove", ""),
        ("/settings/undo/1", ""),
    ] {
        assert_eq!(user.submit(path, form, &[]).status, 403, "{path}");
    }
    assert!(!user.page_text("/settings/tokens").contains("New token"));
    // An access token may be on another machine: it must not make this one run programs.
    let secret = server.create_token("admin", &[]);
    let bearer = format!("Bearer {secret}");
    let send = |path: &str, form: &str| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        server
            .request("POST", path, &headers, form.as_bytes())
            .status
    };
    assert_eq!(
        send("/settings/values/run.command", "layer=user&value=sh"),
        403
    );
    assert_eq!(send("/settings/agents/claude-code/user", ""), 403);
    assert_eq!(send("/settings/agents/claude-code/user/remove", ""), 403);
    assert_eq!(
        send("/settings/values/run.iterations", "layer=user&value=3"),
        303
    );
    let bound = server.create_token("admin", &["--project", "other"]);
    let bearer = format!("Bearer {bound}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let refused = server.request("POST", "/settings/tokens", &headers, b"role=admin");
    assert_eq!(refused.status, 403);
}

#[test]
fn token_secret_is_shown_once_and_revoked_token_is_refused() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let created = browser.submit("/settings/tokens", "role=agent&name=my+%3Cb%3Elaptop", &[]);
    assert_eq!(created.status, 200);
    assert_eq!(created.header("cache-control"), Some("no-store"));
    let page = text_of(&created);
    let (_, rest) = page.split_once("id=\"secret\" value=\"").unwrap();
    let secret = rest.split('"').next().unwrap();
    assert!(page.contains("my &#60;b&#62;laptop"), "{page}");
    let page = browser.page_text("/settings/tokens");
    assert!(!page.contains(secret), "it is shown once");
    assert!(page.contains("not used since the server started"));
    server.get_as(secret, "/api/memory/knowledge").expect(200);
    assert!(
        browser
            .page_text("/settings/tokens")
            .contains("last used today")
    );
    let (_, rest) = page
        .split_once("my &#60;b&#62;laptop</b><span class=\"key\">")
        .unwrap();
    let id = rest.split('<').next().unwrap();
    let revoked = browser.submit(&format!("/settings/tokens/{id}/revoke"), "", &[]);
    assert_eq!(revoked.status, 303);
    server.get_as(secret, "/api/memory/knowledge").expect(401);
    assert!(!browser.page_text("/settings/tokens").contains("laptop"));
}

#[test]
fn hooks_are_installed_from_the_page_and_removed_by_undo() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let settings = server.fixture.outside_path(".claude/settings.json");
    let own = "{\n  \"env\": {\"ANTHROPIC_API_KEY\": \"private-value\"}\n}\n";
    server
        .fixture
        .home
        .write(".claude/settings.json", own)
        .unwrap();
    let page = browser.page_text("/settings/agents");
    assert!(page.contains("No agent program has the hooks yet."));
    assert!(page.contains("heirloom install codex --scope project"));
    assert!(!page.contains("private-value"), "{page}");
    let installed = browser.submit("/settings/agents/claude-code/user", "", &[]);
    let id = undo_id(&installed);
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(text.contains("heirloom") && text.contains("private-value"));
    assert!(
        browser
            .page_text("/settings/agents")
            .contains("1 agent program has the hooks.")
    );
    let again = browser.submit("/settings/agents/claude-code/user", "", &[]);
    assert_eq!(undo_id(&again), "", "nothing changed");
    let undone = browser.submit(&format!("/settings/undo/{id}"), "", &[]);
    assert_eq!(undone.status, 303, "{}", text_of(&undone));
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), own);
    for (path, status) in [
        ("/settings/agents/aider/user", 404),
        ("/settings/agents/evil/user", 404),
        ("/settings/agents/codex/everyone", 404),
    ] {
        assert_eq!(browser.submit(path, "", &[]).status, status, "{path}");
    }
}

#[test]
fn hooks_are_uninstalled_from_the_page_and_restored_by_undo() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let settings = server.fixture.outside_path(".claude/settings.json");
    let own = "{\n  \"env\": {\"A\": \"1\"}\n}\n";
    let home = &server.fixture.home;
    home.write(".claude/settings.json", own).unwrap();
    let remove = "/settings/agents/claude-code/user/remove";
    let button = format!("formaction=\"{remove}\"");
    assert!(!browser.page_text("/settings/agents").contains(&button));
    let install = "install claude-code --yes";
    server.fixture.call(&sh(install)).expect(0);
    let installed = std::fs::read_to_string(&settings).unwrap();
    assert!(browser.page_text("/settings/agents").contains(&button));
    let removed = browser.submit(remove, "", &[]);
    let id = undo_id(&removed);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), own);
    let page = browser.page_text(&format!("/settings/agents?done=setting&undo={id}"));
    assert!(
        page.contains("The hooks of claude-code are removed.") && !page.contains(&button),
        "{page}"
    );
    let undone = browser.submit(&format!("/settings/undo/{id}"), "", &[]);
    assert_eq!(undone.status, 303, "{}", text_of(&undone));
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), installed);
    browser.submit(remove, "", &[]);
    let again = browser.submit(remove, "", &[]);
    assert_eq!(undo_id(&again), "", "nothing changed");
}

#[test]
fn first_steps_are_computed_from_the_memory() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "admin");
    let page = browser.page_text("/settings/start");
    assert!(
        page.contains("4 steps are left.") && page.contains("heirloom remember"),
        "{page}"
    );
    server
        .fixture
        .call(&sh("remember 'a first fact'"))
        .expect(0);
    server
        .fixture
        .call(&sh("install claude-code --yes"))
        .expect(0);
    let page = browser.page_text("/settings/start");
    assert!(
        page.contains("2 steps are left.") && page.contains("1 record<"),
        "{page}"
    );
    assert!(!page.contains("heirloom remember"));
    server.fixture.call(&sh("context")).expect(0);
    assert!(
        browser
            .page_text("/settings/start")
            .contains("1 step is left.")
    );
}

/// Waits until the health page shows a result.
fn wait_for_checks(browser: &Browser) -> String {
    for _ in 0..600 {
        let page = browser.page_text("/settings/health");
        if page.contains("Last run:") && !page.contains("The checks are running") {
            return page;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the checks did not end");
}

#[test]
fn health_page_shows_the_last_result_until_the_checks_run_again() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let first = browser.page_text("/settings/health");
    assert!(
        first.contains("The checks are running.") && first.contains("http-equiv=\"refresh\""),
        "{first}"
    );
    let page = wait_for_checks(&browser);
    assert!(
        page.contains("checks passed") && page.contains("SQLite file"),
        "{page}"
    );
    assert!(!page.contains("http-equiv=\"refresh\""), "{page}");
    let file = project_config(&server);
    let text = std::fs::read_to_string(&file).unwrap();
    write_config(&server, &format!("{text}unexpected_key = 1\n"));
    let page = browser.page_text("/settings/health");
    assert!(!page.contains("unexpected_key"), "{page}");
    let again = browser.submit("/settings/health", "", &[]);
    assert_eq!(again.status, 303, "{}", text_of(&again));
    assert_eq!(again.header("location"), Some("/settings/health"));
    let page = wait_for_checks(&browser);
    assert!(page.contains("The store is fine, with warnings."), "{page}");
    let problem = page.find("unexpected_key").unwrap();
    assert!(problem < page.find("checks passed").unwrap());
}

#[test]
fn health_checks_start_only_with_the_forms_token() {
    let server = Server::start();
    let mut browser = Browser::log_in(&server, "user");
    browser.forget_csrf_token();
    let refused = browser.submit("/settings/health", "", &[]);
    assert_eq!(refused.status, 403, "{}", text_of(&refused));
}

#[test]
fn hooks_page_groups_error_messages() {
    let server = Server::start();
    let browser = Browser::log_in(&server, "user");
    let line = "2026-05-01T10:00:00Z the <store> is busy\n";
    let project = &server.fixture.project;
    project
        .write(".heirloom/hooks.log", line.repeat(3))
        .unwrap();
    let calls = "2026-05-01T10:00:00Z codex Stop 4200 failed\n";
    project.write(".heirloom/hooks/calls", calls).unwrap();
    let page = browser.page_text("/settings/hooks");
    assert!(
        page.contains("the &#60;store&#62; is busy") && page.contains("3 times"),
        "{page}"
    );
    let problems = page.find("Problems").unwrap();
    assert!(problems < page.find("By event").unwrap());
    assert!(page.contains("<summary>The newest call</summary>"));
}
