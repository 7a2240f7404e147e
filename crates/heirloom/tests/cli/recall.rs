//! `recall`, `tried`, `pin` and `mute`, `session`, and `bench recall`.

use crate::project::Project;
use heirloom_model::limits;
use heirloom_testkit::sh;
use serde_json::{Value, json};

fn string(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Returns the texts of the hits.
fn hit_texts(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| string(&hit["text"])).collect()
}

fn filled_project() -> Project {
    let project = Project::new();
    project.ok(&sh(
        "remember 'The staging database is read-only on Fridays' --task 42",
    ));
    project.ok(&sh(
        "remember 'Deploys go through the blue cluster first' --category convention --key \
         deploy-order",
    ));
    project.ok(&sh(
        "remember 'Use tabs' --category convention --key indent",
    ));
    project.ok(&sh(
        "error log 'cannot reach the staging database' --task 42",
    ));
    project
}

#[test]
fn invalid_recall_arguments_fail_and_odd_queries_succeed() {
    let project = filled_project();
    for (args, code, part) in [
        (&["recall", ""][..], 2, "the question is empty"),
        (&["recall", " \n "], 2, "the question is empty"),
        (
            &["recall", "x", "-k", "0"],
            2,
            "0 hits requested; 1 to 1000",
        ),
        (
            &["recall", "x", "-k", "1000000"],
            2,
            "1 to 1000 are possible",
        ),
        (&["recall", "x", "--budget-tokens", "0"], 2, "too small"),
        (
            &["recall", "x", "--budget-tokens", "1000001"],
            2,
            "at most 1000000",
        ),
        (&["recall", "x", "--kind", "nonsense"], 2, "is not a kind"),
        (
            &["recall", "task:1 x", "--task", "2"],
            2,
            "task `2` is requested",
        ),
        (&["recall", "x", "--as-of", "soon"], 2, "as-of"),
        (&["tried", ""], 2, "the question is empty"),
    ] {
        let answer = project.expect(args, code);
        assert!(answer.stderr.contains(part), "{args:?}: {}", answer.stderr);
    }
    assert_eq!(limits::RECALL_HITS_MAX, 1_000);
    for question in [
        "✓✓",
        "the of and",
        "\"\"\"",
        "AND OR NOT (",
        "foo:bar std::fs http://x",
        "%_*'--",
        "-x",
    ] {
        let answer = project.json(&["recall", question]);
        assert!(answer["hits"].is_array(), "{question}: {answer}");
        assert!(answer["took_us"].is_u64());
    }
    let note = |question: &str| project.json(&["recall", question])["notes"].to_string();
    assert!(note("✓").contains("no words"), "{}", note("✓"));
    assert!(note("x after:2999-01-01").contains("future"));
    let future = project.json(&["recall", "x", "--as-of", "2999-01-01T00:00:00Z"]);
    assert!(future["notes"].to_string().contains("future"), "{future}");
}

#[test]
fn query_from_stdin_up_to_the_size_limit_is_answered() {
    let project = filled_project();
    let many: Vec<String> = (0..10_000).map(|n| format!("term{n}")).collect();
    let megabyte = "word and more words ".repeat((1 << 20) / 20);
    for question in [many.join(" "), megabyte] {
        let answer = project.input(&["recall", "-", "--json"], question.as_bytes());
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        assert!(answer.json()["hits"].is_array());
    }
    let over = vec![b'x'; limits::RECALL_QUERY_BYTES_MAX + 1];
    let answer = project.input(&["recall", "-"], &over);
    assert_eq!(answer.code, 2, "{}", answer.stderr);
    assert!(answer.stderr.contains("more than"), "{}", answer.stderr);
}

#[test]
fn query_of_filters_only_lists_the_newest_records() {
    let project = filled_project();
    let found = project.json(&["recall", "kind:knowledge"]);
    assert_eq!(hit_texts(&found).len(), 3);
    assert_eq!(hit_texts(&found)[0], "Use tabs");
    let found = project.json(&["recall", "task:42 kind:error,knowledge"]);
    assert_eq!(hit_texts(&found).len(), 2);
    assert_eq!(
        hit_texts(&project.json(&["recall", "task:42 kind:error"])),
        ["cannot reach the staging database"]
    );
    assert_eq!(
        hit_texts(&project.json(&["recall", "source:nobody"])),
        [""; 0]
    );
    assert_eq!(
        hit_texts(&project.json(&["recall", "before:2001-01-01"])),
        [""; 0]
    );
    assert_eq!(
        hit_texts(&project.json(&["recall", "category:convention", "-k", "1"])),
        ["Use tabs"]
    );
    let turns = project.json(&["recall", "kind:message"]);
    assert!(
        turns["notes"].to_string().contains("add some words"),
        "{turns}"
    );
}

#[test]
fn record_is_found_by_its_key() {
    let project = filled_project();
    let found = project.json(&["recall", "indent", "--explain"]);
    let first = &found["hits"][0];
    assert_eq!(first["text"], "Use tabs");
    assert_eq!(first["kind"], "knowledge");
    assert_eq!(
        (&first["key"], &first["category"]),
        (&json!("indent"), &json!("convention"))
    );
    assert!(first["parts"]["exact"].as_f64().unwrap() > 0.0, "{first}");
    assert_eq!(first["parts"]["total"], first["score"]);
    assert_eq!(first["scope"], json!({}));
    let plain = project.json(&["recall", "where is deploy-order from"]);
    assert_eq!(plain["hits"][0]["key"], "deploy-order");
    assert_eq!(plain["hits"][0].get("parts"), None);
    project.ok(&["forget", string(&first["id"])]);
    let gone = project.json(&["recall", "indent"]);
    assert!(!hit_texts(&gone).contains(&"Use tabs"), "{gone}");
}

#[test]
fn pinned_record_is_in_every_context_of_its_scope() {
    let project = filled_project();
    for n in 0..30 {
        project.ok(&[
            "remember",
            &format!("a fact that fills the context number {n}"),
        ]);
    }
    let id = |text: &str| {
        let all = project.list("knowledge");
        let found = all.iter().find(|record| record["text"] == text);
        string(&found.unwrap()["id"]).to_owned()
    };
    let context = |task: &str| {
        project
            .ok(&["context", "--task", task, "--budget-chars", "300"])
            .stdout
    };
    let (tabs, friday) = (
        id("Use tabs"),
        id("The staging database is read-only on Fridays"),
    );
    let output = project.json(&["pin", &tabs]);
    assert_eq!(
        (&output["outcome"], &output["mark"]),
        (&json!("marked"), &json!("pinned"))
    );
    assert_eq!(project.json(&["pin", &tabs])["outcome"], "unchanged");
    project.ok(&["pin", &friday]);
    assert!(
        context("42").contains("### Pinned\n") && context("42").contains("indent: Use tabs"),
        "{}",
        context("42")
    );
    assert!(context("42").contains("Fridays"));
    assert!(
        context("7").contains("Use tabs") && !context("7").contains("Fridays"),
        "{}",
        context("7")
    );
    project.ok(&sh(
        "remember 'Use spaces' --category convention --key indent",
    ));
    assert!(
        context("7").contains("indent: Use spaces"),
        "a new value keeps the pin"
    );
    project.ok(&["pin", &id("Use spaces"), "--off"]);
    assert!(!context("7").contains("### Pinned"));
    project.expect(&["pin", "01890a5d-ac96-774b-bcce-b302099a8057"], 3);
    project.expect(&["pin", &tabs], 1);
}

#[test]
fn muted_record_is_in_no_context_and_undo_reverts_marks() {
    let project = filled_project();
    let found = project.json(&["recall", "indent"]);
    let id = string(&found["hits"][0]["id"]).to_owned();
    let context = || project.ok(&["context"]).stdout;
    assert!(context().contains("Use tabs"));
    project.ok(&["mute", &id]);
    assert!(!context().contains("Use tabs"));
    assert_eq!(
        project.json(&["recall", "indent"])["hits"][0]["text"],
        "Use tabs"
    );
    let undone = project.json(&["undo", &id]);
    assert_eq!(
        (&undone["outcome"], &undone["mark"]),
        (&json!("marked"), &json!("not muted"))
    );
    assert!(context().contains("Use tabs"));
    project.ok(&["undo", &id]);
    assert!(!context().contains("Use tabs"));
    project.ok(&["mute", &id, "--off"]);
    for _ in 0..=limits::USEFUL_MAX {
        project.ok(&["useful", &id, "yes"]);
    }
    assert_eq!(project.json(&["show", &id])["useful"], limits::USEFUL_MAX);
    assert_eq!(
        project.json(&["useful", &id, "yes"])["outcome"],
        "unchanged"
    );
    project.expect(&["useful", &id, "perhaps"], 2);
    let events = project.json(&["history", &id])["events"].to_string();
    assert!(
        events.contains("marked") && events.contains("not muted"),
        "{events}"
    );
}

#[test]
fn session_messages_are_stored_in_order_and_redacted() {
    let project = Project::new();
    let add = |role: &str, text: &str| {
        let args = [
            "session",
            "add",
            "--session",
            "s1",
            "--role",
            role,
            "--sender",
            "Ada",
            "--task",
            "42",
            "--json",
        ];
        project.input(&args, text.as_bytes())
    };
    for (seq, (role, text)) in [
        ("user", "hello"),
        ("assistant", "good day"),
        ("tool", "42\n"),
        ("system", "x"),
    ]
    .into_iter()
    .enumerate()
    {
        let output = add(role, text);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let output = output.json();
        assert_eq!(
            (&output["session"], &output["seq"]),
            (&json!("s1"), &json!(seq))
        );
        assert!(output["id"].is_string());
    }
    assert_eq!(add("user", "password = \"hunter2hunter2\"").code, 0);
    assert_eq!(add("user", " \n").code, 2);
    assert_eq!(add("nobody", "x").code, 2);
    let over = "x".repeat(limits::SESSION_ADD_BYTES_MAX + 1);
    assert_eq!(add("user", &over).code, 2);
    let shown = project.json(&["session", "show", "s1"]);
    assert_eq!(shown["task"], "42");
    let turns = shown["messages"].as_array().unwrap();
    let roles: Vec<&str> = turns.iter().map(|turn| string(&turn["role"])).collect();
    assert_eq!(
        roles,
        ["user", "assistant", "tool_result", "system", "user"]
    );
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
    let last = project.json(&sh("session show s1 -n 2"));
    assert_eq!(last["messages"].as_array().unwrap()[..], turns[3..]);
    let text = project.ok(&["session", "show", "s1"]).stdout;
    assert!(text.contains("1 Ada:\n  good day"), "{text}");
    project.expect(&["session", "show", "nowhere"], 3);
}

#[test]
fn bench_recall_writes_ranked_ids_and_refuses_invalid_data_sets() {
    let project = Project::new();
    let docs = [
        json!({"id": "a/1", "conversation": "a", "text": "the parser reads numbers", "date": "2024-05-11T13:56"}),
        json!({"id": "b/1", "conversation": "b", "session": "s", "speaker": "Ada", "text": "I like the parser"}),
        json!({"id": "b/2", "conversation": "b", "session": "s", "speaker": "user", "text": "me too"}),
    ];
    let queries = [
        json!({"id": "q1", "conversation": "a", "text": "parser", "category": "easy", "gold": ["a/1"]}),
        json!({"id": "q2", "conversation": "b", "text": "kind:pattern parser", "category": "easy", "gold": []}),
        json!({"id": "q3", "conversation": "nowhere", "text": "parser", "category": "easy", "gold": []}),
    ];
    let lines = |values: &[Value]| {
        values
            .iter()
            .map(|value| format!("{value}\n"))
            .collect::<String>()
    };
    project.folder.write("docs.jsonl", lines(&docs)).unwrap();
    project
        .folder
        .write("queries.jsonl", lines(&queries))
        .unwrap();
    let args = [
        "bench",
        "recall",
        "--docs",
        "docs.jsonl",
        "--queries",
        "queries.jsonl",
        "--out",
        "ranked.jsonl",
    ];
    let output = project.json(&args);
    assert_eq!(
        (&output["documents"], &output["queries"]),
        (&json!(3), &json!(3))
    );
    let ranked = std::fs::read_to_string(project.file("ranked.jsonl")).unwrap();
    let ranked: Vec<Value> = ranked
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: Vec<_> = ranked.iter().map(|line| string(&line["id"])).collect();
    assert_eq!(ids, ["q1", "q2", "q3"]);
    assert!(
        ranked
            .iter()
            .all(|line| line["ranked"].is_array() && line["took_us"].is_u64())
    );
    assert_eq!(ranked[2]["ranked"], json!([]));
    assert_eq!(
        project.list("note").len(),
        0,
        "the data set is not in the project"
    );
    project.expect(
        &sh("bench recall --docs gone --queries queries.jsonl --out x"),
        3,
    );
    project.folder.write("bad.jsonl", "{\"id\": 1}\n").unwrap();
    project.expect(
        &sh("bench recall --docs bad.jsonl --queries queries.jsonl --out x"),
        2,
    );
}

#[test]
fn bench_recall_ranks_the_gold_document_first() {
    let project = Project::new();
    let docs = [
        json!({"id": "a/1", "conversation": "a", "text": "the parser reads numbers"}),
        json!({"id": "a/2", "conversation": "a", "text": "the screen is drawn twice"}),
        json!({"id": "b/1", "conversation": "b", "session": "s", "speaker": "Ada", "text": "I like the parser"}),
    ];
    let queries = [
        json!({"id": "q1", "conversation": "a", "text": "how does the parser read a number?"}),
        json!({"id": "q2", "conversation": "b", "text": "kind:pattern parser that Ada likes"}),
    ];
    let lines = |values: &[Value]| {
        values
            .iter()
            .map(|value| format!("{value}\n"))
            .collect::<String>()
    };
    project.folder.write("docs.jsonl", lines(&docs)).unwrap();
    project
        .folder
        .write("queries.jsonl", lines(&queries))
        .unwrap();
    for arms in ["lexical", "vector", "lexical,vector"] {
        let args = [
            "bench",
            "recall",
            "--docs",
            "docs.jsonl",
            "--queries",
            "queries.jsonl",
            "--out",
            "r.jsonl",
            "--arms",
            arms,
        ];
        project.ok(&args);
        let ranked = std::fs::read_to_string(project.file("r.jsonl")).unwrap();
        let ranked: Vec<Value> = ranked
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(ranked[0]["ranked"][0], "a/1", "{arms}");
        assert_eq!(ranked[1]["ranked"][0], "b/1", "{arms}");
    }
}

#[test]
fn recall_by_words_finds_records_of_every_kind() {
    let project = filled_project();
    let found = project.json(&["recall", "staging database", "--explain"]);
    let all = hit_texts(&found);
    assert!(
        all.contains(&"cannot reach the staging database"),
        "{all:?}"
    );
    assert!(
        all.contains(&"The staging database is read-only on Fridays"),
        "{all:?}"
    );
    let scores: Vec<f64> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["score"].as_f64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(found["hits"][0]["parts"]["lexical"].as_f64().unwrap() > 0.0);
    let errors = project.json(&["recall", "staging database", "--kind", "error"]);
    assert_eq!(hit_texts(&errors), ["cannot reach the staging database"]);
    let again = project.json(&["recall", "staging database", "--explain"]);
    assert_eq!(again["hits"], found["hits"]);
    let one = project.json(&["recall", "staging database", "-k", "1"]);
    assert_eq!(one["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn recall_as_of_finds_the_earlier_value() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    project.ok(&sh(
        "remember 'the gateway listens on port 8080' --key gateway",
    ));
    project.set_clock("2026-05-02T10:00:00Z");
    project.ok(&sh(
        "remember 'the gateway listens on port 9090' --key gateway",
    ));
    project.set_clock("2026-05-03T10:00:00Z");
    assert_eq!(
        hit_texts(&project.json(&["recall", "gateway port"])),
        ["the gateway listens on port 9090"]
    );
    let past = project.json(&["recall", "gateway port", "--as-of", "2026-05-01T12:00:00Z"]);
    assert_eq!(hit_texts(&past), ["the gateway listens on port 8080"]);
}

#[test]
fn recall_finds_messages_and_folds_near_duplicates() {
    let project = Project::new();
    for text in [
        "we should rename the widget factory",
        "yes, to gadget works",
    ] {
        project.input(
            &sh("session add --session s1 --role user --sender Ada"),
            text.as_bytes(),
        );
    }
    let found = project.json(&["recall", "widget factory"]);
    assert_eq!(hit_texts(&found), [""; 0], "no record");
    let turn = &found["conversations"][0];
    assert_eq!(turn["kind"], "message");
    assert_eq!(turn["scope"], json!({"session": "s1"}));
    assert_eq!(turn["source"], "Ada");
    let asked = project.json(&["recall", "widget factory", "--kind", "message"]);
    assert_eq!(asked["hits"][0]["id"], turn["id"]);
    let only = project.json(&["recall", "widget factory", "--only", "conversations"]);
    assert_eq!(only["conversations"][0]["id"], turn["id"]);
    let memory = project.json(&["recall", "widget factory", "--only", "memory"]);
    assert_eq!(memory["conversations"], json!([]));
    let none = project.json(&["recall", "widget factory", "--kind", "note"]);
    assert_eq!(hit_texts(&none), [""; 0]);
    project.ok(&sh("remember 'Run the linter before every commit' --key a"));
    project.ok(&["remember", "run linter before every commit", "--key", "b"]);
    project.ok(&sh("remember 'run 2 linters before every commit' --key c"));
    let found = project.json(&["recall", "linter before commit", "--kind", "knowledge"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 2, "{found}");
    let folded = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|hit| hit.get("folded").is_some());
    assert_eq!(folded.count(), 1, "{found}");
}

#[test]
fn tried_lists_similar_attempts_with_their_outcomes() {
    let project = Project::new();
    project.ok(&sh(
        "task fail 42 --agent codex --approach 'patch the parser by hand' --outcome 'tests \
         broke'",
    ));
    project.ok(&sh(
        "task done 43 --approach 'generate the parser' --outcome 'all green'",
    ));
    let output = project.json(&["tried", "patch the parser"]);
    assert_eq!(output["failed"], true);
    let actions: Vec<_> = output["tried"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| string(&one["action"]))
        .collect();
    assert_eq!(actions, ["completed", "failed"]);
    let failed = &output["tried"][1];
    assert_eq!(
        (&failed["task"], &failed["agent"], &failed["outcome"]),
        (&json!("42"), &json!("codex"), &json!("tests broke"))
    );
    assert_eq!(
        project.json(&["tried", "patch the parser", "--task", "43"])["failed"],
        false
    );
}

#[test]
fn review_apply_retires_only_exact_duplicates_unless_confirmed() {
    let project = Project::new();
    project.folder.write("src/here.rs", "").unwrap();
    for (key, text) in [
        ("a", "The gateway port is 8080"),
        ("b", "the gateway port is 8080."),
        ("c", "the gateway port is 9090"),
        ("d", "src/gone.rs and src/here.rs belong together"),
    ] {
        project.ok(&["remember", text, "--key", key]);
    }
    let found = project.json(&["review"]);
    let count = |value: &Value, name: &str| value[name].as_array().unwrap().len();
    assert_eq!(count(&found, "duplicates"), 1, "{found}");
    assert_eq!(found["duplicates"][0]["exact"], true);
    assert_eq!(count(&found, "contradictions"), 2);
    assert_eq!(found["stale"][0]["paths"], json!(["src/gone.rs"]));
    assert_eq!((count(&found, "unused"), count(&found, "retired")), (0, 0));
    assert_eq!(project.list("knowledge").len(), 4);
    let applied = project.json(&["review", "--apply"]);
    assert_eq!(applied["retired"], found["duplicates"][0]["duplicates"]);
    assert_eq!(project.list("knowledge").len(), 3);
    assert_eq!(count(&project.json(&["review", "--apply"]), "retired"), 0);
    assert_eq!(
        count(&project.json(&["review", "--apply", "--yes"]), "retired"),
        1
    );
    project.ok(&["undo", string(&applied["retired"][0])]);
    assert_eq!(project.list("knowledge").len(), 3);
    project.expect(&["review", "--yes"], 2);
    assert_eq!(limits::REVIEW_RECORDS_MAX, 20_000);
}

#[test]
fn pasted_text_with_a_colon_is_searched_as_words() {
    let project = Project::new();
    project.remember(
        "gradle task:compileJava fails on JDK 21 until the toolchain is set",
        &[],
    );
    project.remember(
        "kubectl says kind:Deployment is not namespaced when the CRD is missing",
        &[],
    );
    project.remember("🚀 deploy uses the blue 🟦 cluster", &[]);
    for (question, part, note) in [
        (
            "Execution failed for task:compileJava",
            "toolchain",
            "nothing matches task:compileJava",
        ),
        (
            "kind:Deployment is not namespaced",
            "kubectl",
            "`Deployment` is not a kind",
        ),
        ("kubectl before:soon", "kubectl", "not a date"),
        ("🚀", "blue", ""),
        ("🟦", "blue", ""),
    ] {
        let found = project.ok(&["recall", question]);
        assert!(found.stdout.contains(part), "{question}: {found:?}");
        assert!(found.stderr.contains(note), "{question}: {found:?}");
    }
    // A filter that something matches stays one.
    project.ok(&["remember", "the deploy of task 7", "--task", "7"]);
    let found = project.ok(&["recall", "deploy task:7"]);
    assert!(!found.stdout.contains("blue"), "{found:?}");
}
