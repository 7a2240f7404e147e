//! `heirloom reembed` next to a reader: latency of recall alone and during it, its rate, and how soon it stops.

use crate::stats::Times;
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use heirloom_engine::{Engine, RecallRequest};
use heirloom_model::Embedder;
use heirloom_store::{SqliteStore, Store};
use heirloom_transformer::SentenceEmbedder;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of records without a vector.
const RECORDS: usize = 100_000;
/// Number of words of a text: about 40 tokens.
const WORDS: usize = 19;
/// Number of questions of each measurement.
const QUESTIONS: usize = 400;
/// Rounds of a measurement alone and one next to the process, in turn.
const ROUNDS: usize = 3;
/// Time in which the process loads the model and stores its first vectors.
const WARM_UP: Duration = Duration::from_secs(2);

pub(crate) fn measure(heirloom: Option<&Path>, to: Option<usize>) -> Outcome<()> {
    let (Some(heirloom), Some(model)) = (heirloom, SentenceEmbedder::new()) else {
        println!(
            "reembed: skipped, it needs --heirloom BINARY and a processor for the transformer"
        );
        return Ok(());
    };
    let model: Arc<dyn Embedder> = Arc::new(model);
    let root = tempfile::tempdir()?;
    let mut generator = ZipfGenerator(73);
    let engine = fixture::engine(root.path())?;
    let records = to.unwrap_or(RECORDS);
    fixture::fill_with(&engine, 0, records, &mut |_| generator.text(WORDS))?;
    drop(engine);
    let store = SqliteStore::open(&root.path().join(".heirloom/heirloom.db"))?;
    let store = Arc::new(store);
    let engine = fixture::project(Arc::clone(&store), root.path(), "bench")?;
    let engine = engine.with_sentence_model(Arc::clone(&model));
    let missing = || -> Outcome<u64> {
        let backlog = store.embedding_backlog(engine.project(), model.model(), 1)?;
        Ok(backlog.missing)
    };
    let mut questions = (0..).map(question);
    let (mut alone, mut beside, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    let (mut stored, mut running) = (0, Duration::ZERO);
    // The first questions read the index.
    recall(&engine, &mut questions, &mut Vec::new())?;
    for _ in 0..ROUNDS {
        recall(&engine, &mut questions, &mut alone)?;
        let process = start(heirloom, root.path())?;
        std::thread::sleep(WARM_UP);
        let (before, began) = (missing()?, Instant::now());
        recall(&engine, &mut questions, &mut beside)?;
        running += began.elapsed();
        stored += before.saturating_sub(missing()?);
        stops.push(stop(process)?);
    }
    let (alone, beside) = (Times::of(&alone), Times::of(&beside));
    let name = format!("recall, new questions, {records} records, alone");
    results::times("reembed.recall_alone", &name, &alone);
    results::times(
        "reembed.recall",
        "the same during heirloom reembed",
        &beside,
    );
    let ratio = beside.p99() / alone.p99();
    results::value("reembed.recall_p99", "p99 of both", "times", ratio);
    let rate = stored as f64 / running.as_secs_f64();
    results::value(
        "reembed.rate",
        "heirloom reembed meanwhile",
        "texts/s",
        rate,
    );
    let name = "heirloom reembed, from an interrupt to its end";
    results::times("reembed.stop", name, &Times::of(&stops));
    Ok(())
}

/// Returns a question of about 24 tokens, different for each number.
fn question(number: usize) -> String {
    format!(
        "why does job number {number} of the nightly export fail when the disk of the server is full?"
    )
}

/// Recalls new questions and adds their times.
fn recall(
    engine: &Engine,
    questions: &mut impl Iterator<Item = String>,
    times: &mut Vec<Duration>,
) -> Outcome<()> {
    for question in questions.take(QUESTIONS) {
        let request = RecallRequest {
            question,
            ..RecallRequest::default()
        };
        let start = Instant::now();
        engine.recall().search(&request)?;
        times.push(start.elapsed());
    }
    Ok(())
}

fn start(heirloom: &Path, root: &Path) -> Outcome<Child> {
    let mut command = Command::new(heirloom);
    command.arg("reembed").current_dir(root);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Ok(command.stderr(Stdio::null()).spawn()?)
}

/// Interrupts the process as Ctrl-C does, and returns how long it took to end.
fn stop(mut process: Child) -> Outcome<Duration> {
    let start = Instant::now();
    let id = process.id().to_string();
    Command::new("kill").args(["-INT", &id]).status()?;
    process.wait()?;
    Ok(start.elapsed())
}
