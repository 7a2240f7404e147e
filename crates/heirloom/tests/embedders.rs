//! Tests of vectors from an embeddings service, over real HTTP.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "support/answer_validation.rs"]
mod answer_validation;
#[path = "embedders/failures.rs"]
mod failures;
#[path = "embedders/model_switch.rs"]
mod model_switch;
#[expect(dead_code, reason = "each test file uses a part of it")]
#[path = "cli/project.rs"]
mod project;
#[path = "embedders/reembedding.rs"]
mod reembedding;

use heirloom_testkit::EmbeddingService;
use project::Project;
use serde_json::Value;

/// Dimensions of the service's vectors; differs from the built-in ones.
const DIMS: usize = 384;
/// Invented synonyms that only the service relates.
const SYNONYMS: &[&[&str]] = &[&["florp", "zibble"], &["quandor", "mivlet"]];

fn service() -> EmbeddingService {
    EmbeddingService::start(DIMS, SYNONYMS).unwrap()
}

/// Writes the user's config: the service, its model, and further keys.
fn configure(project: &Project, service: &EmbeddingService, model: &str, more: &str) {
    let config = format!(
        "[embedder]\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"{model}\"\n{more}\n",
        service.url()
    );
    project
        .home
        .write(".config/heirloom/config.toml", config)
        .unwrap();
}

/// Creates a project with records whose relation to the questions only the service knows.
fn project_with_texts(texts: usize) -> Project {
    let project = Project::new();
    let line = |n: usize| match n {
        0 => "{\"text\": \"the zibble is kept below the stairs\"}\n".to_owned(),
        1 => "{\"text\": \"a mivlet hums at night\"}\n".to_owned(),
        n => format!("{{\"text\": \"plain matter number {n} of the house\"}}\n"),
    };
    let lines: String = (0..texts).map(line).collect();
    let answer = project.input(&["remember", "--stdin"], lines.as_bytes());
    assert_eq!(answer.code, 0, "{answer:?}");
    project
}

/// Returns the text of the first hit, and the notes.
fn recall(project: &Project, question: &str) -> (String, String) {
    let answer = project.json(&["recall", question]);
    let first = answer["hits"][0]["text"].as_str().unwrap_or_default();
    (first.to_owned(), answer["notes"].to_string())
}

fn vectors_check(project: &Project) -> Value {
    let answer = project.json(&["doctor"]);
    let checks = answer["checks"].as_array().unwrap().clone();
    let found = checks.into_iter().find(|check| check["name"] == "vectors");
    found.unwrap_or(Value::Null)
}
