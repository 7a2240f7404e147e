//! Facts that are found by three of their words, one after the other, over MCP; compared with SQLite's FTS5.

use crate::fts5::Fts5;
use crate::mcp::Session;
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use heirloom_engine::NewRecord;
use heirloom_transformer::SentenceEmbedder;
use std::path::Path;

/// Number of facts in the store.
const FACTS: usize = 10_000;
/// Number of words of a fact.
const WORDS: usize = 18;
/// Number of neighbouring words in a question.
const ASKED: usize = 3;
/// Number of facts that are asked for.
const QUESTIONS: usize = 2_000;
/// Number of hits in which the fact is to be.
const HITS: usize = 10;

/// Question about a fact.
struct Question {
    /// Number of the fact.
    fact: usize,
    words: String,
}

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let Some(heirloom) = heirloom else {
        println!("neighbouring-words: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let mut generator = ZipfGenerator(97);
    let facts: Vec<String> = (0..FACTS).map(|_| generator.english_text(WORDS)).collect();
    let questions: Vec<Question> = (0..QUESTIONS)
        .map(|_| new_question(&facts, &mut generator))
        .collect();
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    for batch in facts.chunks(1_000) {
        let batch = batch.iter().map(|text| NewRecord {
            text: text.clone(),
            ..NewRecord::default()
        });
        engine.records().remember_all(batch.collect())?;
    }
    drop(engine);
    let fts = Fts5::in_memory()?;
    fts.add(&facts)?;
    let mut found = 0;
    for question in &questions {
        let rows = fts.search(question.words.split(' '), HITS)?;
        found += usize::from(rows.contains(&(question.fact + 1)));
    }
    record("fts5_found", "FTS5, OR of three neighbouring words", found);
    let found = count_found(heirloom, root.path(), &facts, &questions)?;
    record("found", "three neighbouring words over MCP", found);
    if SentenceEmbedder::new().is_some() {
        drop(fixture::with_sentences(&fixture::reopen(root.path())?)?);
        let found = count_found(heirloom, root.path(), &facts, &questions)?;
        let name = "three neighbouring words over MCP, with sentence vectors";
        record("sentences_found", name, found);
    }
    Ok(())
}

fn new_question(facts: &[String], generator: &mut ZipfGenerator) -> Question {
    let fact = generator.index(facts.len());
    let first = generator.index(WORDS - ASKED + 1);
    let words = facts[fact].split(' ').skip(first).take(ASKED);
    Question {
        fact,
        words: words.collect::<Vec<_>>().join(" "),
    }
}

/// Returns the number of questions whose fact is among the first hits of a server.
fn count_found(
    heirloom: &Path,
    root: &Path,
    facts: &[String],
    questions: &[Question],
) -> Outcome<usize> {
    let (mut session, _) = Session::begin(heirloom, root)?;
    let (mut found, mut missed) = (0, Vec::new());
    for question in questions {
        match session.recalled_text(&question.words)? {
            answer if answer.contains(&facts[question.fact]) => found += 1,
            _ => missed.push(question.words.as_str()),
        }
    }
    session.end()?;
    missed.truncate(40);
    println!(
        "neighbouring-words: not found, the first: {}",
        missed.join(", ")
    );
    Ok(found)
}

fn record(id: &str, name: &str, found: usize) {
    let name = format!("{name}, {FACTS} facts: in the first ten");
    let share = 100.0 * found as f64 / QUESTIONS as f64;
    results::value(&format!("neighbouring-words.{id}"), &name, "%", share);
}
