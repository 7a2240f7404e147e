//! Latency of the prompt hook in a project with conversations, with and without the transformer, in a process and from
//! process start.

use crate::prompts::told_text;
use crate::stats::Times;
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results, sentences};
use heirloom_engine::Engine;
use heirloom_model::Embedder;
use heirloom_store::SqliteStore;
use heirloom_transformer::SentenceEmbedder;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Number of records in the store.
const RECORDS: usize = 10_000;
/// Number of turns of conversations in the store.
const TURNS: usize = 50_000;
/// Number of words of a text.
const WORDS: usize = 19;
/// Number of prompts in a process.
const RUNS: usize = 400;
/// Number of prompts of processes.
const PROCESSES: usize = 200;
/// Number of warm-up prompts, which are not timed.
const WARM: usize = 20;

pub(crate) fn measure(heirloom: Option<&Path>, to: Option<usize>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let turns = to.unwrap_or(TURNS);
    let mut generator = ZipfGenerator(79);
    fixture::fill_with(&engine, 0, RECORDS, &mut |_| generator.english_text(WORDS))?;
    fixture::add_turns(&engine, turns, &mut || generator.english_text(WORDS))?;
    drop(engine);
    let mut hook = PromptHook {
        root: root.path(),
        size: format!("{RECORDS} records and {turns} turns"),
        prompts: ZipfGenerator(83),
        sessions: 0,
    };
    let engine = fixture::reopen(root.path())?;
    hook.time_in_process(&engine, "in_process", "")?;
    drop(engine);
    if let Some(heirloom) = heirloom {
        let config = root.path().join(".heirloom/config.toml");
        let with_transformer = std::fs::read(&config)?;
        let without = [
            &with_transformer,
            "\n[recall]\ntransformer = false\n".as_bytes(),
        ]
        .concat();
        heirloom_fs::durable::write_atomic(&config, &without)?;
        hook.time_processes(heirloom, "process", "")?;
        heirloom_fs::durable::write_atomic(&config, &with_transformer)?;
    }
    let Some(model) = SentenceEmbedder::new() else {
        println!("prompt-hook: no transformer, this processor has no instructions for it");
        return Ok(());
    };
    let model: Arc<dyn Embedder> = Arc::new(model);
    let store = Arc::new(SqliteStore::open(
        &root.path().join(".heirloom/heirloom.db"),
    )?);
    let engine = fixture::project(Arc::clone(&store), root.path(), "bench")?;
    let engine = engine.with_sentence_model(Arc::clone(&model));
    sentences::store_vectors(&*store, &engine, model.model())?;
    let note = ", with the transformer";
    hook.time_in_process(&engine, "sentences_in_process", note)?;
    drop((engine, store));
    if let Some(heirloom) = heirloom {
        hook.time_processes(heirloom, "sentences_process", note)?;
    }
    Ok(())
}

/// Prompt hook of a project, called with a new prompt in a new session each time.
struct PromptHook<'r> {
    root: &'r Path,
    /// Size of the store, for the names of metrics.
    size: String,
    prompts: ZipfGenerator,
    /// Number of sessions so far.
    sessions: usize,
}

impl PromptHook<'_> {
    fn time_in_process(&mut self, engine: &Engine, id: &str, note: &str) -> Outcome<()> {
        let (mut times, mut told) = (Vec::new(), 0);
        for (n, prompt) in (self.prompts.english_prompts(WARM + RUNS).iter()).enumerate() {
            self.sessions += 1;
            let start = Instant::now();
            let answer = told_text(engine, self.sessions, prompt)?;
            times.extend((n >= WARM).then(|| start.elapsed()));
            told += usize::from(!answer.is_empty());
        }
        println!(
            "prompt-hook: {told} of {} prompts are told something",
            WARM + RUNS
        );
        let name = format!("prompt hook, {}, in a process{note}", self.size);
        results::times(&format!("prompt-hook.{id}"), &name, &Times::of(&times));
        Ok(())
    }

    fn time_processes(&mut self, heirloom: &Path, id: &str, note: &str) -> Outcome<()> {
        let mut times = Vec::new();
        for (n, prompt) in (self.prompts.english_prompts(WARM + PROCESSES).iter()).enumerate() {
            self.sessions += 1;
            let event = json!({"prompt": prompt});
            let name = "UserPromptSubmit";
            let took = crate::hooks::call_hook(heirloom, self.root, name, self.sessions, event)?;
            times.extend((n >= WARM).then_some(took));
        }
        let name = format!("prompt hook, {}, through a shell{note}", self.size);
        results::times(&format!("prompt-hook.{id}"), &name, &Times::of(&times));
        Ok(())
    }
}
