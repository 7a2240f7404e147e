//! Cost of the sentence transformer: vectors, recall and hooks over embedded texts, a server's load and memory.

use crate::stats::Times;
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results, server};
use heirloom_engine::{Engine, RecallRequest};
use heirloom_model::{EmbedPurpose, Embedder};
use heirloom_store::{SqliteStore, Store, VectorBatch};
use heirloom_transformer::SentenceEmbedder;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

/// Number of questions whose vector is computed.
const QUESTIONS: usize = 200;
/// Number of texts that are embedded for the rate.
const TEXTS: usize = 2_000;
/// Number of records of the store of hooks and commands, and of the one of warm recall.
const SIZES: [usize; 2] = [10_000, 100_000];
/// Number of words of a text.
const WORDS: usize = 19;
/// Number of calls of each command.
const RUNS: usize = 100;
/// Number of vectors that are stored together.
const BATCH: usize = 64;

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let Some(model) = SentenceEmbedder::new() else {
        println!("sentences: skipped, this processor has no instructions for the transformer");
        return Ok(());
    };
    let model: Arc<dyn Embedder> = Arc::new(model);
    measure_vectors(&*model)?;
    for size in SIZES {
        let root = tempfile::tempdir()?;
        let mut generator = ZipfGenerator(61);
        let engine = fixture::engine(root.path())?;
        fixture::fill_with(&engine, 0, size, &mut |_| generator.text(WORDS))?;
        drop(engine);
        let store = SqliteStore::open(&root.path().join(".heirloom/heirloom.db"))?;
        let store = Arc::new(store);
        let engine = fixture::project(Arc::clone(&store), root.path(), "bench")?;
        let engine = engine.with_sentence_model(Arc::clone(&model));
        store_vectors(&*store, &engine, model.model())?;
        let suffix = fixture::size_suffix(size);
        measure_recall(&engine, &suffix)?;
        drop((engine, store));
        if let Some(heirloom) = heirloom {
            measure_commands(heirloom, root.path(), &suffix)?;
            if size == SIZES[1] {
                server::measure_sentences(heirloom, root.path())?;
            }
        }
        let bytes = std::fs::metadata(root.path().join(".heirloom/heirloom.db"))?.len();
        let name = format!("store with sentence vectors, {size} records");
        let id = format!("sentences.store_{suffix}");
        results::value(&id, &name, "MB", bytes as f64 / 1e6);
    }
    Ok(())
}

/// Measures the vector of a question and the rate of texts.
fn measure_vectors(model: &dyn Embedder) -> Outcome<()> {
    let mut times = Vec::new();
    for n in 0..QUESTIONS {
        let question = question(n);
        let start = Instant::now();
        model.embed(&[&question], EmbedPurpose::Query)?;
        times.push(start.elapsed());
    }
    let name = "sentence vector of a question of 24 tokens";
    results::times("sentences.question", name, &Times::of(&times));
    let mut generator = ZipfGenerator(67);
    let texts: Vec<String> = (0..TEXTS).map(|_| generator.text(WORDS)).collect();
    let start = Instant::now();
    for batch in texts.chunks(8) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        model.embed(&batch, EmbedPurpose::Documents)?;
    }
    let rate = TEXTS as f64 / start.elapsed().as_secs_f64();
    let name = format!("sentence vectors of texts of {WORDS} words");
    results::value("sentences.texts", &name, "texts/s", rate);
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    fixture::fill(&engine, TEXTS)?;
    let start = Instant::now();
    let engine = fixture::with_sentences(&engine)?;
    let rate = TEXTS as f64 / start.elapsed().as_secs_f64();
    drop(engine);
    results::value("sentences.reembed", "heirloom reembed", "texts/s", rate);
    Ok(())
}

/// Returns a question of about 24 tokens, different for each number.
fn question(number: usize) -> String {
    format!(
        "why does the nightly export number {number} of invoices fail when the disk of the build server is full?"
    )
}

/// Stores a vector of random direction for each text, because real ones of 100,000 texts take ten minutes.
pub(crate) fn store_vectors(store: &dyn Store, engine: &Engine, model: &str) -> Outcome<()> {
    let mut generator = ZipfGenerator(71);
    loop {
        let backlog = store.embedding_backlog(engine.project(), model, BATCH)?;
        if backlog.next.is_empty() {
            return Ok(());
        }
        let mut direction = || -> Vec<f32> {
            let number = |_| (generator.next_number() % 2_001) as f32 - 1_000.0;
            (0..384).map(number).collect()
        };
        let rows = (backlog.next.iter()).map(|text| (text.ordinal, Some(direction())));
        let batch = VectorBatch {
            model: model.to_owned(),
            lane: backlog.lane,
            generation: backlog.generation,
            rows: rows.collect(),
        };
        store.store_vectors(engine.project(), &batch)?;
    }
}

/// Measures recall in this process with new questions, with one question again, and without the transformer.
fn measure_recall(engine: &Engine, suffix: &str) -> Outcome<()> {
    // The embedder keeps the vectors of questions, so that each size asks others.
    let first = suffix.len() * 10_000;
    let prompts: Vec<String> = (first..first + RUNS + 5).map(question).collect();
    let recall = |question: &str| -> Outcome<std::time::Duration> {
        let request = RecallRequest {
            question: question.to_owned(),
            ..RecallRequest::default()
        };
        let start = Instant::now();
        engine.recall().search(&request)?;
        Ok(start.elapsed())
    };
    for (id, name, is_new) in [
        ("new", "recall, a new question", true),
        ("cached", "recall, a question again", false),
    ] {
        let mut times = Vec::new();
        for (n, prompt) in prompts.iter().enumerate() {
            let question = if is_new { prompt } else { &prompts[0] };
            let took = recall(question)?;
            times.extend((n >= 5).then_some(took));
        }
        let id = format!("sentences.recall_{id}_{suffix}");
        let name = format!("{name}, with sentence vectors, {suffix} records");
        results::times(&id, &name, &Times::of(&times));
    }
    Ok(())
}

/// Measures the prompt hook through a shell, and one `recall` from process start.
fn measure_commands(heirloom: &Path, root: &Path, suffix: &str) -> Outcome<()> {
    let prompts: Vec<String> = (0..RUNS + 3).map(question).collect();
    let mut times = Vec::new();
    for (n, prompt) in prompts.iter().enumerate() {
        let event = json!({"prompt": prompt});
        let took = crate::hooks::call_hook(heirloom, root, "UserPromptSubmit", n, event)?;
        times.extend((n >= 3).then_some(took));
    }
    let name = format!("hook UserPromptSubmit with sentence vectors, {suffix} records");
    let id = format!("sentences.hook_{suffix}");
    results::times(&id, &name, &Times::of(&times));
    let mut times = Vec::new();
    for (n, prompt) in prompts.iter().enumerate() {
        let start = Instant::now();
        let status = Command::new(heirloom)
            .args(["recall", prompt])
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        times.extend((n >= 3).then(|| start.elapsed()));
        assert!(status.success(), "recall failed");
    }
    let name = format!("heirloom recall with sentence vectors, {suffix} records");
    let id = format!("sentences.command_{suffix}");
    results::times(&id, &name, &Times::of(&times));
    Ok(())
}
