//! Conflicts between sources over one key: winner, resolution, undo and context.

use crate::project::{Project, string, texts};
use heirloom_model::limits::CONFLICT_SIDES_SHOWN_MAX;
use heirloom_testkit::sh;
use serde_json::{Value, json};

/// Remembers a value of the key `port` from `source`.
fn remember_port(project: &Project, source: &str, text: &str) -> Value {
    project.json(&["remember", text, "--key", "port", "--source", source])
}

fn conflicts(project: &Project) -> Vec<Value> {
    let value = project.json(&["conflicts"]);
    value["conflicts"].as_array().unwrap().clone()
}

/// Returns the texts of a conflict: the winner's, then the losers'.
fn side_texts(conflict: &Value) -> Vec<String> {
    let losers = conflict["losers"].as_array().unwrap();
    let all = std::iter::once(&conflict["winner"]).chain(losers);
    all.map(|side| string(&side["text"])).collect()
}

fn current_texts(project: &Project) -> Vec<String> {
    texts(&Value::from(project.list("knowledge")))
}

fn context(project: &Project) -> String {
    project.ok(&["context"]).stdout
}

/// Creates a conflict that the user's value won against two agents; returns the ids.
fn create_conflict(project: &Project) -> [String; 3] {
    [("user", "80"), ("bob", "81"), ("eve", "82")]
        .map(|(source, text)| string(&remember_port(project, source, text)["id"]))
}

fn resolve(project: &Project, id: &str, keep: &str) -> Value {
    project.json(&["resolve", id, "--keep", keep, "--as", "orchestrator"])
}

#[test]
fn conflicts_lists_the_winner_and_losers_newest_first() {
    let project = Project::new();
    assert_eq!(project.json(&["conflicts"]), json!({"conflicts": []}));
    let [user, bob, eve] = create_conflict(&project);
    let [conflict] = &conflicts(&project)[..] else {
        panic!("one key, one conflict")
    };
    assert_eq!(conflict["id"], user.as_str());
    assert_eq!(conflict["category"], "fact");
    assert_eq!(conflict["key"], "port");
    let winner = &conflict["winner"];
    assert_eq!(winner["id"], user.as_str());
    assert_eq!(
        (&winner["text"], &winner["confidence"], &winner["source"]),
        (&json!("80"), &json!(1.0), &json!("user"))
    );
    let losers: Vec<_> = conflict["losers"].as_array().unwrap().iter().collect();
    assert_eq!(losers[0]["id"], eve.as_str(), "newest first");
    assert_eq!(losers[1]["id"], bob.as_str());
    assert_eq!(
        (
            &losers[1]["text"],
            &losers[1]["confidence"],
            &losers[1]["source"]
        ),
        (&json!("81"), &json!(0.8), &json!("bob"))
    );
    let output = project.ok(&["conflicts"]).stdout;
    assert!(
        output.contains("won") && output.contains("against"),
        "{output}"
    );
    // Repeated values of one agent count as one loser.
    remember_port(&project, "bob", "81!");
    assert_eq!(side_texts(&conflicts(&project)[0]), ["80", "81!", "82"]);
}

#[test]
fn resolve_keeping_the_winner_closes_the_conflict() {
    let project = Project::new();
    let [user, bob, _] = create_conflict(&project);
    let outcome = resolve(&project, &user, &user);
    assert_eq!(
        outcome,
        json!({"id": user, "outcome": "resolved", "retired": null})
    );
    assert!(conflicts(&project).is_empty());
    assert_eq!(current_texts(&project), ["80"]);
    let loser = project.json(&["show", &bob]);
    assert!(loser["arbitrated"].is_string(), "{loser}");
    project.expect(&["resolve", &user, "--keep", &user, "--as", "user"], 3);
    // The same value of the same agent opens a new conflict.
    remember_port(&project, "bob", "81");
    assert_eq!(side_texts(&conflicts(&project)[0]), ["80", "81"]);
}

#[test]
fn resolve_keeping_a_loser_restores_it() {
    let project = Project::new();
    let [user, bob, eve] = create_conflict(&project);
    // A conflict can be named by the id of any of its records.
    let outcome = resolve(&project, &eve[..30], &bob);
    assert_eq!(
        outcome,
        json!({"id": bob, "outcome": "resolved", "retired": user})
    );
    assert_eq!(current_texts(&project), ["81"]);
    assert!(conflicts(&project).is_empty());
    let won = project.json(&["show", &bob]);
    assert_eq!(
        (won.get("conflict"), &won["retired_at"]),
        (None, &Value::Null)
    );
    let beaten = project.json(&["show", &user]);
    assert_eq!(beaten["replaced_by"], bob.as_str());
    assert_eq!(beaten.get("conflict"), None);
    assert!(context(&project).contains("81"));
}

#[test]
fn resolve_by_an_agent_is_refused() {
    let project = Project::new();
    let [user, bob, _] = create_conflict(&project);
    for role in ["scout", "bob", "User", ""] {
        let args = ["resolve", &user, "--keep", &bob, "--as", role, "--json"];
        let refused = project.expect(&args, 4);
        assert_eq!(refused.error()["kind"], "refused");
        assert!(refused.stderr.contains("may not decide"), "{refused:?}");
    }
    project.expect(&["resolve", &user, "--keep", &bob], 2);
    assert_eq!(conflicts(&project).len(), 1);
    assert_eq!(current_texts(&project), ["80"]);
    project.ok(&["resolve", &user, "--keep", &bob, "--as", "user"]);
}

#[test]
fn resolve_keeping_an_unrelated_record_is_refused() {
    let project = Project::new();
    let [user, _, _] = create_conflict(&project);
    let other = project.remember("something else", &[]);
    let output = project.expect(&["resolve", &user, "--keep", &other, "--as", "user"], 2);
    assert!(output.stderr.contains("not a side"), "{output:?}");
    assert!(
        output.stderr.contains(&user),
        "the sides are listed: {output:?}"
    );
    // More sides than are listed.
    for n in 0..CONFLICT_SIDES_SHOWN_MAX {
        remember_port(&project, &format!("agent-{n}"), &format!("port {}", 90 + n));
    }
    let output = project.expect(&["resolve", &user, "--keep", &other, "--as", "user"], 2);
    let listed = output.stderr.split("keep one of these:").nth(1).unwrap();
    assert_eq!(listed.matches("; ").count() + 1, CONFLICT_SIDES_SHOWN_MAX);
    let output = project.expect(&["resolve", &other, "--keep", &other, "--as", "user"], 3);
    assert!(output.stderr.contains("no open conflict"), "{output:?}");
    let unknown_id = "01890a5d-ac96-774b-bcce-b302099a8057";
    project.expect(&["resolve", unknown_id, "--keep", &user, "--as", "user"], 3);
    project.expect(&["resolve", &user, "--keep", unknown_id, "--as", "user"], 3);
    assert_eq!(conflicts(&project).len(), 1);
}

#[test]
fn undo_of_resolve_toggles_the_conflict() {
    let project = Project::new();
    let [user, bob, eve] = create_conflict(&project);
    for (keep, named) in [(&user, &user), (&bob, &bob), (&bob, &user)] {
        let other = Some(&user).filter(|user| *user != keep);
        let ends = || (conflicts(&project), current_texts(&project));
        let before = ends();
        resolve(&project, &eve, keep);
        let after = ends();
        assert!(after.0.is_empty());
        let undone = project.json(&["undo", named]);
        assert_eq!(undone["outcome"], "reopened");
        assert_eq!(undone["id"], user.as_str());
        assert_eq!(undone["retired"], json!(other.map(|_| keep)));
        assert_eq!(ends(), before);
        let again = project.json(&["undo", &user]);
        assert_eq!(
            (&again["outcome"], &again["id"]),
            (&json!("resolved"), &json!(keep))
        );
        assert_eq!(ends(), after);
        project.json(&["undo", keep]);
        assert_eq!(ends(), before);
    }
    assert_eq!(side_texts(&conflicts(&project)[0]), ["80", "82", "81"]);
}

#[test]
fn history_of_a_resolved_conflict_names_the_resolver() {
    let project = Project::new();
    let [user, bob, _] = create_conflict(&project);
    resolve(&project, &user, &bob);
    let history = project.json(&["history", &user]);
    let events = history["events"].as_array().unwrap();
    let actions: Vec<_> = events
        .iter()
        .map(|e| (string(&e["action"]), string(&e["by"])))
        .collect();
    let actions: Vec<_> = actions
        .iter()
        .map(|(action, by)| (&**action, &**by))
        .collect();
    assert_eq!(
        actions,
        [
            ("created", "user"),
            // The restored record is listed as created and not as a loser.
            ("created", "bob"),
            ("conflict", "eve"),
            ("resolved", "orchestrator"),
        ]
    );
    assert_eq!(events[3]["id"], bob.as_str());
    assert_eq!(events[3]["other"], user.as_str());
}

#[test]
fn newest_policy_lets_the_later_value_win() {
    let project = Project::new();
    project
        .configure("\n[memory]\nconflict_policy = \"newest\"\n".trim_start_matches("\n[memory]"));
    let first = remember_port(&project, "eve", "80");
    let newer = remember_port(&project, "bob", "81");
    assert_eq!(newer["outcome"], "replaced");
    assert_eq!(current_texts(&project), ["81"]);
    let [conflict] = &conflicts(&project)[..] else {
        panic!("one conflict")
    };
    assert_eq!(side_texts(conflict), ["81", "80"]);
    resolve(&project, &string(&conflict["id"]), &string(&first["id"]));
    assert_eq!(current_texts(&project), ["80"]);
}

#[test]
fn ask_policy_hides_both_values_until_resolved() {
    let project = Project::new();
    let ask = ["--set", "memory.conflict_policy=ask"];
    let remember_port = |source: &str, text: &str| {
        let args = ["remember", text, "--key", "port", "--source", source];
        project.json(&[&args[..], &ask].concat())
    };
    let first = string(&remember_port("bob", "eighty")["id"]);
    assert!(context(&project).contains("eighty"));
    let second = remember_port("ann", "ninety");
    assert_eq!(second["outcome"], "conflict");
    assert_eq!(second["winner"], first.as_str());
    let output = context(&project);
    assert!(
        !output.contains("eighty") && !output.contains("ninety"),
        "{output}"
    );
    let mirror = project.ok(&["export", "--format", "agentium"]).stdout;
    assert!(
        !mirror.contains("eighty") && !mirror.contains("ninety"),
        "{mirror}"
    );
    let listed = project.ok(&["list"]).stdout;
    assert!(listed.contains("(disputed) "), "{listed}");
    assert!(!listed.contains("ninety"), "{listed}");
    let conflict = &conflicts(&project)[0];
    assert_eq!(conflict["disputed"], true);
    assert_eq!(side_texts(conflict), ["eighty", "ninety"]);
    // Confirming one of the values does not resolve the conflict.
    assert_eq!(remember_port("eve", "Eighty.")["outcome"], "confirmed");
    assert!(!context(&project).contains("eighty"));
    let args = [
        "resolve",
        &first,
        "--keep",
        &string(&second["id"]),
        "--as",
        "user",
    ];
    project.ok(&args);
    let output = context(&project);
    assert!(
        output.contains("ninety") && !output.contains("eighty"),
        "{output}"
    );
    assert!(conflicts(&project).is_empty());
    project.json(&["undo", &first]);
    assert!(!context(&project).contains("ninety"));
    assert_eq!(conflicts(&project).len(), 1);
    let output = project.ok(&[
        &["remember", "a hundred", "--key", "port", "--source", "ann"][..],
        &ask,
    ]
    .concat());
    assert!(output.stdout.contains("disputed"), "{output:?}");
}

#[test]
fn unknown_conflict_policy_is_refused_or_ignored() {
    let project = Project::new();
    let wrong = ["list", "--set", "memory.conflict_policy=louder"];
    let output = project.expect(&wrong, 2);
    assert!(
        output.stderr.contains("higher-confidence or newest or ask"),
        "{output:?}"
    );
    project.configure("conflict_policy = \"louder\"\n");
    let output = project.ok(&["list"]);
    assert!(output.stderr.contains("conflict_policy"), "{output:?}");
    create_conflict(&project);
    assert_eq!(current_texts(&project), ["80"], "the default holds");
}

#[test]
fn agent_proposal_is_accepted_when_the_orchestrator_confirms() {
    let project = Project::new();
    let id = project.remember("Use pnpm, not npm", &["--source", "scout"]);
    let record = project.json(&["show", &id]);
    assert_eq!(
        (&record["proposal"], &record["confidence"]),
        (&json!(true), &json!(0.8))
    );
    assert!(project.ok(&["list"]).stdout.contains("(proposal) "));
    assert!(
        context(&project).contains("pnpm"),
        "it takes effect at once"
    );
    let confirm = |source: &str| {
        let output = project.json(&["remember", "use pnpm; not npm!", "--source", source]);
        assert_eq!(
            (&output["outcome"], &output["id"]),
            (&json!("confirmed"), &json!(id))
        );
        project.json(&["show", &id])
    };
    assert_eq!(confirm("bob")["proposal"], true, "agents cannot accept it");
    let accepted = confirm("orchestrator");
    assert_eq!(accepted.get("proposal"), None);
    assert_eq!(accepted["confidence"], 1.0);
    assert_eq!(accepted["confirmations"], 2);
    assert_eq!(confirm("scout")["confidence"], 1.0, "it never falls");
    assert!(!project.ok(&["list"]).stdout.contains("(proposal)"));
}

#[test]
fn texts_that_differ_in_substance_create_separate_records() {
    let project = Project::new();
    for (n, text) in [
        "deploy v1.2 with a.b",
        "deploy v1-2 with a.b",
        "deploy v12 with a.b",
        "deploy v1.2 with ab",
        "do not deploy v1.2 with a.b",
        "deploy -1 with foo_bar",
        "deploy 1 with foo_bar",
        "deploy 1 with foo bar",
        "write it in C++",
        "write it in C",
        "see src/Main.rs",
        "see src/main.rs",
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(
            project.json(&["remember", text])["outcome"],
            "created",
            "{text}"
        );
        assert_eq!(project.list("knowledge").len(), n + 1);
    }
    assert_eq!(
        project.json(&["remember", "  Deploy `v1.2`, with \"a.b\"."])["outcome"],
        "confirmed"
    );
}

#[test]
fn list_filters_by_key_prefix_source_and_conflict() {
    let project = Project::new();
    create_conflict(&project);
    for (key, source) in [("db.host", "bob"), ("db.port", "user"), ("dx", "user")] {
        project.remember(key, &["--key", key, "--source", source]);
    }
    project.remember("db.x", &["--key", "db.x", "--category", "convention"]);
    let list = |options: &[&str]| {
        let value = project.json(&[&["list"], options].concat());
        let mut found = texts(&value["records"]);
        found.sort();
        found
    };
    assert_eq!(
        list(&["--key-prefix", "db."]),
        ["db.host", "db.port", "db.x"]
    );
    let narrow = [
        "--category",
        "fact",
        "--key-prefix",
        "db.",
        "--source",
        "bob",
    ];
    assert_eq!(list(&narrow), ["db.host"]);
    assert_eq!(list(&["--conflicts"]), ["81", "82"]);
    assert_eq!(list(&["--conflicts", "--source", "eve"]), ["82"]);
    assert_eq!(
        list(&["--conflicts", "--key-prefix", "q"]),
        Vec::<String>::new()
    );
    let output = project.ok(&["list", "--conflicts"]).stdout;
    assert!(output.contains("(conflict) "), "{output}");
    project.expect(&["list", "--conflicts", "--all"], 2);
}

#[test]
fn context_contains_only_records_valid_now() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T00:00:00Z");
    project.remember("gone by then", &["--true-to", "2026-05-02T00:00:00Z"]);
    project.remember("not yet so", &["--true-from", "2026-05-03T00:00:00Z"]);
    project.remember("always so", &[]);
    let visible = |project: &Project| {
        let output = context(project);
        ["gone by then", "not yet so", "always so"].map(|text| output.contains(text))
    };
    assert_eq!(visible(&project), [true, false, true]);
    project.set_clock("2026-05-02T12:00:00Z");
    assert_eq!(visible(&project), [false, false, true]);
    project.set_clock("2026-05-03T00:00:00Z");
    assert_eq!(visible(&project), [false, true, true]);
    // `--as-of` is about transaction time, not valid time.
    assert_eq!(current_texts(&project).len(), 3);
    let listed = |time: &str| texts(&project.json(&["list", "--as-of", time])["records"]).len();
    assert_eq!(listed("2026-05-01T00:00:00Z"), 3);
    assert_eq!(listed("2026-04-30T00:00:00Z"), 0);
}

#[test]
fn remember_with_past_end_replaces_the_record_and_hides_it() {
    let project = Project::new();
    project.remember("Fridays are free", &[]);
    let ended = project.json(&sh(
        "remember 'Fridays are free' --true-to 2020-01-01T00:00:00Z",
    ));
    assert_eq!(ended["outcome"], "replaced");
    assert!(!context(&project).contains("Fridays"));
}

#[test]
fn texts_up_to_the_size_limit_are_stored_and_confirmed() {
    let project = Project::new();
    for text in ["x", "!", "👍"] {
        assert_eq!(
            project.json(&["remember", text])["outcome"],
            "created",
            "{text}"
        );
        assert_eq!(
            project.json(&["remember", text])["outcome"],
            "confirmed",
            "{text}"
        );
    }
    let line = |bytes: usize, end: &str| {
        let words = "word ".repeat(bytes / 10);
        let text = format!("{words}{}{end}", "y".repeat(bytes - words.len() - 1));
        assert_eq!(text.len(), bytes);
        format!("{}\n", json!({ "text": text }))
    };
    let megabyte = 1 << 20;
    let remember_lines = |input: String| project.input(&["remember", "--stdin"], input.as_bytes());
    let whole = remember_lines(
        line(megabyte, "x")
            + &line(megabyte, "x").replacen("word", "Word", 1)
            + &line(megabyte, "2"),
    );
    let outcomes: Vec<_> = whole
        .lines()
        .iter()
        .map(|l| string(&l["outcome"]))
        .collect();
    assert_eq!(
        (whole.code, outcomes),
        (
            0,
            vec!["created".into(), "confirmed".into(), "created".into()]
        )
    );
    let over = remember_lines(line(megabyte + 1, "x"));
    assert_eq!(over.code, 1);
    assert!(over.stdout.contains("bytes"), "{}", over.stdout);
    for wrong in ["7", "-1", "1e999"] {
        let answer = remember_lines(format!("{{\"text\": \"y\", \"confidence\": {wrong}}}\n"));
        assert_eq!(answer.code, 1, "{wrong}");
        assert!(
            answer.stdout.contains("error"),
            "{wrong}: {}",
            answer.stdout
        );
    }
}
