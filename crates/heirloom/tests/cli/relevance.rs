//! Relevance of hits: the floor of `recall`, the meaning of hits, similar attempts, and reasons in receipts.

use crate::mcp::Client;
use crate::project::Project;
use heirloom_testkit::sh;
use serde_json::{Value, json};

const QUESTION: &str = "is the staging database read-only on Fridays?";
/// Question that nothing in the memory answers.
const UNANSWERED: &str = "sourdough";
const FIX: &str = "pin openssl to 3.0 in the image";

fn project_with_records() -> Project {
    let project = Project::new();
    for line in [
        "remember 'The staging database is read-only on Fridays, because the copy of production runs all day' --task 42",
        "remember 'Deploys go through the blue cluster first, and the green one follows after an hour without alarms in \
         the dashboard' --category convention --key deploy-order",
        "remember 'The mascot of the project is a heron that stands on one leg, as it was drawn for the first conference'",
        "remember 'Icons are drawn on a grid of 24 pixels with strokes of two pixels, so that they stay sharp on every screen'",
    ] {
        project.ok(&sh(line));
    }
    project
}

fn hits(answer: &Value) -> &Vec<Value> {
    answer["hits"].as_array().unwrap()
}

fn is_graded(hit: &Value, grades: &[&str]) -> bool {
    let relevance = hit["relevance"].as_f64().unwrap();
    let rounded = (relevance * 1e4).round() / 1e4;
    (0.0..=1.0).contains(&relevance)
        && (relevance - rounded).abs() < 1e-12
        && grades.contains(&hit["grade"].as_str().unwrap())
}

#[test]
fn recall_ends_at_floor_and_all_shows_weak() {
    let project = project_with_records();
    let found = project.json(&["recall", QUESTION]);
    let all = project.json(&["recall", QUESTION, "--all"]);
    let (shown, weak) = (hits(&found).len(), found["weak"].as_u64().unwrap());
    assert!(shown > 0 && weak > 0, "{found}");
    assert_eq!(hits(&all).len() as u64, shown as u64 + weak);
    assert_eq!(all["weak"], 0);
    assert!(
        hits(&found)
            .iter()
            .all(|hit| is_graded(hit, &["likely", "strong"])),
        "{found}"
    );
    let rest = hits(&all).iter().filter(|hit| !hits(&found).contains(hit));
    assert!(
        rest.clone().count() > 0 && rest.into_iter().all(|hit| is_graded(hit, &["weak"])),
        "{all}"
    );
    // A question of filters has no relevance, and nothing is weak.
    let filtered = project.json(&["recall", "kind:knowledge"]);
    assert_eq!((hits(&filtered).len(), &filtered["weak"]), (4, &json!(0)));
    assert_eq!(filtered["hits"][0].get("relevance"), None);
}

#[test]
fn recall_without_answer_says_so_exit_0() {
    let project = project_with_records();
    let output = project.ok(&["recall", UNANSWERED]);
    assert_eq!(output.stdout, "");
    assert!(
        output.stderr.contains("nothing relevant is remembered"),
        "{output:?}"
    );
    assert!(
        output
            .stderr
            .contains("2 weak hits are left out; --all shows them"),
        "{output:?}"
    );
    let found = project.json(&["recall", UNANSWERED]);
    assert_eq!(found["hits"], json!([]));
    assert_eq!(found["notes"], json!(["nothing relevant is remembered"]));
    assert_eq!(found["weak"], 2);
    let empty = Project::new().ok(&["recall", UNANSWERED]);
    assert!(
        empty.stderr.contains("nothing is remembered here yet"),
        "{empty:?}"
    );
}

#[test]
fn recall_all_lists_weak_hits() {
    let project = project_with_records();
    let output = project.ok(&["recall", UNANSWERED, "--all"]);
    assert!(
        output
            .stdout
            .contains("The mascot of the project is a heron"),
        "{output:?}"
    );
    let weak = output
        .stdout
        .lines()
        .filter(|line| line.starts_with("weak "));
    assert_eq!(weak.count(), 2, "{output:?}");
    assert_eq!(output.stderr, "");
    let strong = project.ok(&["recall", QUESTION]).stdout;
    let first = strong.lines().next().unwrap();
    assert!(
        first.starts_with("strong    The staging database"),
        "{first}"
    );
}

#[test]
fn hit_of_error_has_its_fix() {
    let project = project_with_records();
    project.ok(&sh(
        "error log 'linker failed: undefined symbol SSL_new' --task 42",
    ));
    project.ok(&[
        "error",
        "resolve",
        "undefined symbol SSL_new",
        "--with",
        FIX,
    ]);
    project.ok(&sh(
        "remember 'SQLite stores everything' --category decision --rationale 'one file to back up'",
    ));
    let question = "undefined symbol SSL_new at link time";
    let meaning = format!("linker failed: undefined symbol SSL_new → fixed by: {FIX}");
    let found = project.json(&["recall", question]);
    assert_eq!(
        found["hits"][0]["text"],
        "linker failed: undefined symbol SSL_new"
    );
    assert_eq!(found["hits"][0]["meaning"], meaning.as_str());
    let printed = project.ok(&["recall", question]).stdout;
    assert!(printed.contains(&meaning), "{printed}");
    let mut client = Client::new(&project);
    let told = client.call_tool("recall", json!({"query": question}));
    assert_eq!(told["hits"][0]["meaning"], meaning.as_str());
    let decision = client.call_tool(
        "recall",
        json!({"query": "where does SQLite store everything"}),
    );
    assert_eq!(
        decision["hits"][0]["meaning"],
        "SQLite stores everything (because one file to back up)"
    );
    assert_eq!(client.close().1, 0);
    let plain = project.json(&["recall", "which heron is the mascot"]);
    assert_eq!(plain["hits"][0].get("meaning"), None, "{plain}");
}

#[test]
fn mcp_recall_marks_grade() {
    let project = project_with_records();
    let mut client = Client::new(&project);
    let answer = client.request(
        "tools/call",
        json!({"name": "recall", "arguments": {"query": QUESTION}}),
    );
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(", strong, id "), "{text}");
    let found = &answer["structuredContent"];
    assert!(is_graded(&found["hits"][0], &["strong"]), "{found}");
    assert!(found["weak"].as_u64().unwrap() > 0, "{found}");
    let none = client.call_tool("recall", json!({"query": UNANSWERED}));
    assert_eq!((&none["hits"], &none["weak"]), (&json!([]), &json!(2)));
    let all = client.call_tool("recall", json!({"query": UNANSWERED, "min_relevance": 0}));
    assert!(
        hits(&all).len() == 2 && hits(&all).iter().all(|hit| is_graded(hit, &["weak"])),
        "{all}"
    );
    let certain = client.call_tool("recall", json!({"query": QUESTION, "min_relevance": 1.0}));
    assert_eq!(certain["hits"], json!([]));
    let wrong = client.request(
        "tools/call",
        json!({"name": "recall", "arguments": {"query": "x", "min_relevance": 1.5}}),
    );
    assert!(
        wrong.to_string().contains("a number from 0 to 1"),
        "{wrong}"
    );
    assert_eq!(client.close().1, 0);
}

#[test]
fn tried_without_similar_attempt_says_so() {
    let project = Project::new();
    for approach in [
        "fix the failing test by raising the timeout",
        "fix the failing test by mocking the clock",
        "fix the failing test by deleting the fixture",
    ] {
        project.ok(&[
            "task",
            "fail",
            "42",
            "--approach",
            approach,
            "--outcome",
            "still red",
        ]);
    }
    let planned = "fix the failing test by rewriting the parser";
    let output = project.ok(&["tried", planned]);
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("", "nothing similar was tried\n")
    );
    let found = project.json(&["tried", planned]);
    assert_eq!(
        (&found["tried"], &found["failed"]),
        (&json!([]), &json!(false))
    );
    let same = project.json(&["tried", "use a fake clock in the failing test"]);
    assert_eq!(same["tried"].as_array().unwrap().len(), 1, "{same}");
    assert_eq!(
        same["tried"][0]["approach"],
        "fix the failing test by mocking the clock"
    );
    assert_eq!(
        (&same["failed"], &same["tried"][0]["alike"]),
        (&json!(true), &json!(true))
    );
    let mut client = Client::new(&project);
    let told = client.call_tool("tried", json!({"approach": planned}));
    assert_eq!(
        (&told["tried"], &told["failed"]),
        (&json!([]), &json!(false))
    );
    assert_eq!(client.close().1, 0);
}

#[test]
fn explain_prints_reason_of_every_item() {
    let project = project_with_records();
    let args = [
        "context",
        "--task",
        "42",
        "--query",
        QUESTION,
        "--budget-chars",
        "400",
    ];
    let plain = project.ok(&args);
    let answer = project.json(&args);
    let printed = project.ok(&[&args[..], &["--explain"]].concat());
    assert_eq!(printed.stdout, plain.stdout);
    assert!(!printed.stdout.is_empty() && plain.stderr.is_empty());
    let (mut count, mut left_out) = (0, 0);
    for section in answer["sections"].as_array().unwrap() {
        for item in section["items"].as_array().unwrap() {
            let is_included = item["included"] == true;
            let state = if is_included { "in " } else { "out " };
            let reason = item["reason"].as_str().unwrap();
            let begin: String = item["text"].as_str().unwrap().chars().take(20).collect();
            let is_row = |line: &&str| {
                line.trim_start().starts_with(state)
                    && line.contains(reason)
                    && line.contains(&begin)
            };
            assert!(
                printed.stderr.lines().any(|line| is_row(&line)),
                "{item}\n{}",
                printed.stderr
            );
            count += 1;
            left_out += usize::from(!is_included);
        }
    }
    assert!(count >= 4 && left_out > 0, "{answer}");
    // The stored receipt is printed with the same reasons.
    let newest = project.json(&sh("receipts list -n 1"));
    let id = newest["receipts"][0]["id"].as_str().unwrap();
    let shown = project.ok(&["receipts", "show", id]).stdout;
    let rows = |text: &str| -> Vec<String> {
        let rows = text
            .lines()
            .filter(|line| line.starts_with("  in ") || line.starts_with("  out "));
        rows.map(str::to_owned).collect()
    };
    assert_eq!(rows(&shown), rows(&printed.stderr));
}
