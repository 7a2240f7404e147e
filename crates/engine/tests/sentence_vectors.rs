//! Sentence vectors: which operations compute them, and what recall does with them.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::{Engine, NewRecord, RecallRequest, ReembedMode};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::limits::{
    SENTENCE_BATCH_TEXTS, SENTENCE_COMMAND_BYTES_MAX, SENTENCE_QUESTION_MS, VECTORS_PER_WRITE_MAX,
};
use heirloom_model::{EmbedPurpose, Embedder, Fault, FixedClock, ProjectName, Settings};
use heirloom_search::recall::Ranked;
use heirloom_store::SqliteStore;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Concepts: texts with a word of one concept have the same vector.
const CONCEPTS: [&[&str]; 3] = [
    &["car", "automobile", "vehicle"],
    &["doctor", "physician"],
    &["bread", "loaf"],
];
/// Longest time of a call in these tests.
const LONG: Duration = Duration::from_secs(60);

/// Embedder by concepts that counts its texts.
#[derive(Default)]
struct Concepts {
    documents: AtomicUsize,
    questions: AtomicUsize,
}

impl Embedder for Concepts {
    fn model(&self) -> &str {
        "concepts"
    }

    fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vec<f32>>, Fault> {
        let counter = match purpose {
            EmbedPurpose::Documents => &self.documents,
            EmbedPurpose::Query => &self.questions,
        };
        counter.fetch_add(texts.len(), Ordering::SeqCst);
        let of_text = |text: &&str| {
            let has = |words: &&[&str]| words.iter().any(|word| text.contains(word));
            let mut numbers: Vec<f32> = CONCEPTS
                .iter()
                .map(|one| f32::from(u8::from(has(one))))
                .collect();
            numbers.push(0.2);
            numbers
        };
        Ok(texts.iter().map(of_text).collect())
    }
}

fn plain_engine() -> Engine {
    let root = std::path::PathBuf::from("/nonexistent-project");
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root,
    };
    let clock = Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap()));
    let store = Arc::new(SqliteStore::memory().unwrap());
    let name = ProjectName::new("p").unwrap();
    Engine::new(store, name, place, Settings::default(), clock).unwrap()
}

fn engine() -> (Engine, Arc<Concepts>) {
    let model = Arc::new(Concepts::default());
    (plain_engine().with_sentence_model(model.clone()), model)
}

fn remember(engine: &Engine, texts: impl IntoIterator<Item = String>) {
    let record = |text| NewRecord {
        text,
        source: Some("user".to_owned()),
        ..NewRecord::default()
    };
    let records = texts.into_iter().map(record).collect();
    engine.records().remember_all(records).unwrap();
}

fn missing(engine: &Engine) -> u64 {
    let coverage = engine.maintenance().sentence_coverage().unwrap();
    coverage.unwrap().missing
}

fn recall(engine: &Engine, question: &str) -> Vec<Ranked> {
    let request = RecallRequest {
        question: question.to_owned(),
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    };
    engine.recall().search(&request).unwrap().hits
}

#[test]
fn writes_never_compute_vectors_and_recall_finds_meaning_afterwards() {
    let (engine, model) = engine();
    let texts = [
        "the automobile is in the garage",
        "a loaf costs two coins",
        "the moon is far",
    ];
    remember(&engine, texts.map(str::to_owned));
    assert_eq!(model.documents.load(Ordering::SeqCst), 0);
    // Without a vector of a text the question needs none.
    assert!(
        recall(&engine, "vehicle")
            .iter()
            .all(|hit| hit.breakdown.sentence.is_none())
    );
    assert_eq!(model.questions.load(Ordering::SeqCst), 0);
    engine.maintenance().embed_sentences(64, LONG).unwrap();
    assert_eq!(missing(&engine), 0);
    let hits = recall(&engine, "vehicle");
    assert_eq!(hits[0].item.text(), texts[0]);
    assert!(hits[0].breakdown.sentence.unwrap() > 0.9);
    assert_eq!(model.questions.load(Ordering::SeqCst), 1);
}

/// Returns words that begin alike and continue with eight digits each, by a linear congruential generator.
fn similar_words(seed: u64) -> impl Iterator<Item = String> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        format!("zebra{:08x}", state >> 32)
    })
}

#[test]
fn rare_word_of_a_new_text_wins_over_an_older_text_with_a_vector() {
    let (engine, _) = engine();
    remember(
        &engine,
        ["a loaf costs two coins", "the moon is far", "a physician"].map(str::to_owned),
    );
    let mut words = similar_words(7);
    for _ in 0..40 {
        let old = words.next().unwrap();
        remember(&engine, [format!("The {old} car must stop twice")]);
        engine.maintenance().embed_sentences(64, LONG).unwrap();
        let new = words.next().unwrap();
        remember(&engine, [format!("The {new} car must stop twice")]);
        assert_eq!(missing(&engine), 1);
        for question in [
            new.clone(),
            format!("{new} vehicle"),
            format!("how often must the {new} car stop?"),
        ] {
            let hits = recall(&engine, &question);
            let first = hits[0].item.text();
            assert!(first.contains(&new), "{question}: {first}");
        }
    }
}

#[test]
fn rare_word_wins_in_a_memory_of_a_few_texts() {
    let mut words = similar_words(11);
    for texts in [2, 2, 3, 4, 8].repeat(20) {
        let engine = plain_engine();
        let stored: Vec<String> = words.by_ref().take(texts).collect();
        let text = |word: &String| format!("The {word} migration must run twice");
        remember(&engine, stored.iter().map(text));
        for word in &stored {
            for question in [word.clone(), format!("how often must {word} run?")] {
                let hits = recall(&engine, &question);
                assert_eq!(hits[0].item.text(), text(word), "{question}");
            }
        }
    }
}

#[test]
fn question_without_time_left_has_no_vector() {
    let (engine, model) = engine();
    remember(&engine, ["the physician".to_owned()]);
    engine.maintenance().embed_sentences(1, LONG).unwrap();
    let ask = |left: Duration| {
        let request = RecallRequest {
            question: "doctor".to_owned(),
            min_relevance: Some(0.0),
            deadline: Instant::now().checked_add(left),
            ..RecallRequest::default()
        };
        engine.recall().search(&request).unwrap();
        model.questions.load(Ordering::SeqCst)
    };
    assert_eq!(ask(Duration::from_millis(SENTENCE_QUESTION_MS - 1)), 0);
    assert_eq!(ask(LONG), 1);
}

#[test]
fn number_of_texts_is_limited() {
    let (engine, model) = engine();
    let all = 2 * VECTORS_PER_WRITE_MAX;
    remember(
        &engine,
        (0..all).map(|n| format!("text number {n} of many")),
    );
    let done = engine.maintenance().embed_quietly().unwrap().unwrap();
    assert_eq!(done.embedded, SENTENCE_BATCH_TEXTS as u64);
    let done = engine
        .maintenance()
        .embed_sentences(10, LONG)
        .unwrap()
        .unwrap();
    assert_eq!(done.embedded, 10);
    assert_eq!(
        model.documents.load(Ordering::SeqCst),
        10 + SENTENCE_BATCH_TEXTS
    );
    // No time: nothing is begun.
    let none = engine
        .maintenance()
        .embed_sentences(10, Duration::ZERO)
        .unwrap();
    assert_eq!(none.unwrap().embedded, 0);
    let mut waiting = Vec::new();
    let report = engine
        .maintenance()
        .reembed(ReembedMode::Incremental, &mut |done, all| {
            waiting.push(all - done);
        })
        .unwrap();
    assert_eq!((report.missing, missing(&engine)), (0, 0));
    let first = (all - 10 - SENTENCE_BATCH_TEXTS) as u64;
    assert!(first > VECTORS_PER_WRITE_MAX as u64, "two transactions");
    assert_eq!(waiting, [first, first - VECTORS_PER_WRITE_MAX as u64, 0]);
    assert_eq!(engine.maintenance().embed_quietly().unwrap(), None);
}

#[test]
fn command_embeds_one_short_text_after_a_change() {
    let (engine, model) = engine();
    engine.maintenance().embed_after_command().unwrap();
    remember(
        &engine,
        ["a short text".to_owned(), "another short text".to_owned()],
    );
    engine.maintenance().embed_after_command().unwrap();
    assert_eq!(
        (model.documents.load(Ordering::SeqCst), missing(&engine)),
        (1, 1)
    );
    // A process that changes nothing computes nothing.
    engine
        .shared()
        .for_project(ProjectName::new("other").unwrap())
        .maintenance()
        .embed_after_command()
        .unwrap();
    engine.maintenance().embed_after_command().unwrap();
    assert_eq!(missing(&engine), 0);
    let at_limit = "x".repeat(SENTENCE_COMMAND_BYTES_MAX);
    for (text, expected) in [(format!("{at_limit}y"), 1), (at_limit, 0)] {
        remember(&engine, [text]);
        engine.maintenance().embed_after_command().unwrap();
        assert_eq!(missing(&engine), expected);
        engine.maintenance().embed_sentences(1, LONG).unwrap();
    }
}

#[test]
fn external_embedder_takes_the_place_of_the_transformer() {
    let (engine, model) = engine();
    let engine = engine.with_embedder(Box::new(Concepts::default()));
    remember(&engine, ["the automobile".to_owned()]);
    assert_eq!(engine.maintenance().sentence_coverage().unwrap(), None);
    assert_eq!(engine.maintenance().embed_sentences(1, LONG).unwrap(), None);
    engine.maintenance().embed_after_command().unwrap();
    recall(&engine, "vehicle");
    assert_eq!(model.documents.load(Ordering::SeqCst), 0);
    assert_eq!(model.questions.load(Ordering::SeqCst), 0);
}

#[test]
fn engine_without_transformer_works_as_before() {
    let engine = plain_engine();
    remember(&engine, ["the automobile".to_owned()]);
    assert_eq!(engine.maintenance().sentence_coverage().unwrap(), None);
    assert_eq!(engine.maintenance().embed_quietly().unwrap(), None);
    assert_eq!(recall(&engine, "automobile").len(), 1);
}

#[test]
fn review_rejects_pairs_whose_vectors_differ() {
    let texts = [
        "the nightly export of the orders of a car is written at 2 in the morning",
        "the nightly export of the orders of a loaf is written at 2 in the morning",
        "the nightly export of the orders of a car is written at 3 in the morning",
    ];
    let pairs = |engine: &Engine| {
        let found = engine.conflicts().review().unwrap();
        found.duplicates.len() + found.contradictions.len()
    };
    let plain = plain_engine();
    remember(&plain, texts.map(str::to_owned));
    let (engine, _) = engine();
    remember(&engine, texts.map(str::to_owned));
    // Without vectors the words decide.
    assert_eq!((pairs(&plain), pairs(&engine)), (2, 2));
    engine
        .maintenance()
        .reembed(ReembedMode::Incremental, &mut |_, _| {})
        .unwrap();
    assert_eq!(pairs(&engine), 1);
}
