//! Several sources say different things of one key: who wins, who decides, and what is told meanwhile.

use crate::project::{Project, string, texts};
use serde_json::{Value, json};

/// What `source` says about the port, and what became of it.
fn say(project: &Project, source: &str, text: &str) -> Value {
    project.json(&["remember", text, "--key", "port", "--source", source])
}

fn conflicts(project: &Project) -> Vec<Value> {
    let value = project.json(&["conflicts"]);
    value["conflicts"].as_array().unwrap().clone()
}

/// The texts of a conflict: of the winner, then of the losers.
fn sides(conflict: &Value) -> Vec<String> {
    let losers = conflict["losers"].as_array().unwrap();
    let all = std::iter::once(&conflict["winner"]).chain(losers);
    all.map(|side| string(&side["text"])).collect()
}

fn current(project: &Project) -> Vec<String> {
    texts(&Value::from(project.list("knowledge")))
}

fn context(project: &Project) -> String {
    project.ok(&["context"]).stdout
}

/// The user's value, against which two agents have lost: the ids.
fn contested(project: &Project) -> [String; 3] {
    [("user", "80"), ("bob", "81"), ("eve", "82")]
        .map(|(source, text)| string(&say(project, source, text)["id"]))
}

fn resolve(project: &Project, id: &str, keep: &str) -> Value {
    project.json(&["resolve", id, "--keep", keep, "--as", "orchestrator"])
}

#[test]
fn conflicts_are_listed_in_the_form_of_the_contract() {
    let project = Project::new();
    assert_eq!(project.json(&["conflicts"]), json!({"conflicts": []}));
    let [user, bob, eve] = contested(&project);
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
    let said = project.ok(&["conflicts"]).stdout;
    assert!(said.contains("won") && said.contains("against"), "{said}");
    // What an agent says again and again is one loser.
    say(&project, "bob", "81!");
    assert_eq!(sides(&conflicts(&project)[0]), ["80", "81!", "82"]);
}

#[test]
fn keeping_the_winner_ends_the_conflict() {
    let project = Project::new();
    let [user, bob, _] = contested(&project);
    let kept = resolve(&project, &user, &user);
    assert_eq!(
        kept,
        json!({"id": user, "outcome": "resolved", "retired": null})
    );
    assert!(conflicts(&project).is_empty());
    assert_eq!(current(&project), ["80"]);
    let loser = project.json(&["show", &bob]);
    assert!(loser["arbitrated"].is_string(), "{loser}");
    project.expect(&["resolve", &user, "--keep", &user, "--as", "user"], 3);
    // The same agent says the same once more: a new conflict.
    say(&project, "bob", "81");
    assert_eq!(sides(&conflicts(&project)[0]), ["80", "81"]);
}

#[test]
fn keeping_a_loser_brings_it_back() {
    let project = Project::new();
    let [user, bob, eve] = contested(&project);
    // The conflict may be named by anything that has a part in it.
    let kept = resolve(&project, &eve[..30], &bob);
    assert_eq!(
        kept,
        json!({"id": bob, "outcome": "resolved", "retired": user})
    );
    assert_eq!(current(&project), ["81"]);
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
fn only_a_person_and_the_orchestrator_decide() {
    let project = Project::new();
    let [user, bob, _] = contested(&project);
    for role in ["scout", "bob", "User", ""] {
        let args = ["resolve", &user, "--keep", &bob, "--as", role, "--json"];
        let refused = project.expect(&args, 4);
        assert_eq!(refused.error()["kind"], "refused");
        assert!(refused.stderr.contains("may not decide"), "{refused:?}");
    }
    project.expect(&["resolve", &user, "--keep", &bob], 2);
    assert_eq!(conflicts(&project).len(), 1);
    assert_eq!(current(&project), ["80"]);
    project.ok(&["resolve", &user, "--keep", &bob, "--as", "user"]);
}

#[test]
fn what_is_no_side_of_it_cannot_be_kept() {
    let project = Project::new();
    let [user, _, _] = contested(&project);
    let other = project.remember("something else", &[]);
    let said = project.expect(&["resolve", &user, "--keep", &other, "--as", "user"], 2);
    assert!(said.stderr.contains("no side"), "{said:?}");
    assert!(
        said.stderr.contains(&user),
        "the sides are listed: {said:?}"
    );
    let said = project.expect(&["resolve", &other, "--keep", &other, "--as", "user"], 3);
    assert!(said.stderr.contains("no open conflict"), "{said:?}");
    let nobody = "01890a5d-ac96-774b-bcce-b302099a8057";
    project.expect(&["resolve", nobody, "--keep", &user, "--as", "user"], 3);
    project.expect(&["resolve", &user, "--keep", nobody, "--as", "user"], 3);
    assert_eq!(conflicts(&project).len(), 1);
}

#[test]
fn a_decision_is_undone_and_done_again() {
    let project = Project::new();
    let [user, bob, eve] = contested(&project);
    for (keep, named) in [(&user, &user), (&bob, &bob), (&bob, &user)] {
        let other = Some(&user).filter(|user| *user != keep);
        let ends = || (conflicts(&project), current(&project));
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
    assert_eq!(sides(&conflicts(&project)[0]), ["80", "82", "81"]);
}

#[test]
fn the_history_says_who_decided() {
    let project = Project::new();
    let [user, bob, _] = contested(&project);
    resolve(&project, &user, &bob);
    let history = project.json(&["history", &user]);
    let events = history["events"].as_array().unwrap();
    let told: Vec<_> = events
        .iter()
        .map(|e| (string(&e["action"]), string(&e["by"])))
        .collect();
    let told: Vec<_> = told.iter().map(|(action, by)| (&**action, &**by)).collect();
    assert_eq!(
        told,
        [
            ("created", "user"),
            // Brought back, it is no loser any more.
            ("created", "bob"),
            ("conflict", "eve"),
            ("resolved", "orchestrator"),
        ]
    );
    assert_eq!(events[3]["id"], bob.as_str());
    assert_eq!(events[3]["other"], user.as_str());
}

#[test]
fn the_newest_wins_where_that_is_the_policy() {
    let project = Project::new();
    project
        .configure("\n[memory]\nconflict_policy = \"newest\"\n".trim_start_matches("\n[memory]"));
    let first = say(&project, "user", "80");
    let newer = say(&project, "bob", "81");
    assert_eq!(newer["outcome"], "replaced");
    assert_eq!(current(&project), ["81"]);
    let [conflict] = &conflicts(&project)[..] else {
        panic!("one conflict")
    };
    assert_eq!(sides(conflict), ["81", "80"]);
    resolve(&project, &string(&conflict["id"]), &string(&first["id"]));
    assert_eq!(current(&project), ["80"]);
}

#[test]
fn ask_tells_neither_until_somebody_decides() {
    let project = Project::new();
    let ask = ["--set", "memory.conflict_policy=ask"];
    let say = |source: &str, text: &str| {
        let args = ["remember", text, "--key", "port", "--source", source];
        project.json(&[&args[..], &ask].concat())
    };
    let first = string(&say("bob", "eighty")["id"]);
    assert!(context(&project).contains("eighty"));
    let second = say("user", "ninety");
    assert_eq!(second["outcome"], "conflict");
    assert_eq!(second["winner"], first.as_str());
    let said = context(&project);
    assert!(
        !said.contains("eighty") && !said.contains("ninety"),
        "{said}"
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
    assert_eq!(sides(conflict), ["eighty", "ninety"]);
    // Agreeing with one of them decides nothing.
    assert_eq!(say("eve", "Eighty.")["outcome"], "confirmed");
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
    let said = context(&project);
    assert!(
        said.contains("ninety") && !said.contains("eighty"),
        "{said}"
    );
    assert!(conflicts(&project).is_empty());
    project.json(&["undo", &first]);
    assert!(!context(&project).contains("ninety"));
    assert_eq!(conflicts(&project).len(), 1);
    let said = project.ok(&[
        &["remember", "a hundred", "--key", "port", "--source", "ann"][..],
        &ask,
    ]
    .concat());
    assert!(said.stdout.contains("disputed"), "{said:?}");
}

#[test]
fn a_policy_that_is_none_is_not_taken() {
    let project = Project::new();
    let wrong = ["list", "--set", "memory.conflict_policy=louder"];
    let said = project.expect(&wrong, 2);
    assert!(
        said.stderr.contains("higher-confidence or newest or ask"),
        "{said:?}"
    );
    project.configure("conflict_policy = \"louder\"\n");
    let said = project.ok(&["list"]);
    assert!(said.stderr.contains("conflict_policy"), "{said:?}");
    contested(&project);
    assert_eq!(current(&project), ["80"], "the default holds");
}

#[test]
fn an_agent_proposes_and_a_person_confirms() {
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
        let said = project.json(&["remember", "use PNPM; not npm!", "--source", source]);
        assert_eq!(
            (&said["outcome"], &said["id"]),
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
fn what_differs_in_substance_is_another_record() {
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
fn a_list_is_narrowed_by_key_source_and_conflict() {
    let project = Project::new();
    contested(&project);
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
    let said = project.ok(&["list", "--conflicts"]).stdout;
    assert!(said.contains("(conflict) "), "{said}");
    project.expect(&["list", "--conflicts", "--all"], 2);
}

#[test]
fn a_context_tells_what_holds_now() {
    let mut project = Project::new();
    project.at("2026-05-01T00:00:00Z");
    project.remember("gone by then", &["--true-to", "2026-05-02T00:00:00Z"]);
    project.remember("not yet so", &["--true-from", "2026-05-03T00:00:00Z"]);
    project.remember("always so", &[]);
    let told = |project: &Project| {
        let said = context(project);
        ["gone by then", "not yet so", "always so"].map(|text| said.contains(text))
    };
    assert_eq!(told(&project), [true, false, true]);
    project.at("2026-05-02T12:00:00Z");
    assert_eq!(told(&project), [false, false, true]);
    project.at("2026-05-03T00:00:00Z");
    assert_eq!(told(&project), [false, true, true]);
    // A list is about when it was recorded, not about when it holds.
    assert_eq!(current(&project).len(), 3);
    let listed = |time: &str| texts(&project.json(&["list", "--as-of", time])["records"]).len();
    assert_eq!(listed("2026-05-01T00:00:00Z"), 3);
    assert_eq!(listed("2026-04-30T00:00:00Z"), 0);
}

#[test]
fn what_ends_is_said_with_its_end() {
    let project = Project::new();
    project.remember("Fridays are free", &[]);
    let ended = project.json(&[
        "remember",
        "Fridays are free",
        "--true-to",
        "2020-01-01T00:00:00Z",
    ]);
    assert_eq!(ended["outcome"], "replaced");
    assert!(!context(&project).contains("Fridays"));
}

#[test]
fn texts_of_any_size_have_a_clear_answer() {
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
    let said = |input: String| project.input(&["remember", "--stdin"], input.as_bytes());
    let whole = said(
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
    let over = said(line(megabyte + 1, "x"));
    assert_eq!(over.code, 1);
    assert!(over.stdout.contains("bytes"), "{}", over.stdout);
    for wrong in ["7", "-1", "1e999"] {
        let answer = said(format!("{{\"text\": \"y\", \"confidence\": {wrong}}}\n"));
        assert_eq!(answer.code, 1, "{wrong}");
        assert!(
            answer.stdout.contains("error"),
            "{wrong}: {}",
            answer.stdout
        );
    }
}
