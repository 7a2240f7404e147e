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
/// Number of neighbouring words in a query.
const QUERY_WORDS: usize = 3;
/// Number of queries, each for one fact.
const QUERIES: usize = 2_000;
/// Number of hits in which the fact is to be.
const HITS: usize = 10;

/// Query for a fact.
struct PhraseQuery {
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
    let queries: Vec<PhraseQuery> = (0..QUERIES)
        .map(|_| new_query(&facts, &mut generator))
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
    for query in &queries {
        let rows = fts.search(query.words.split(' '), HITS)?;
        found += usize::from(rows.contains(&(query.fact + 1)));
    }
    record("fts5_found", "FTS5, OR of three neighbouring words", found);
    let found = count_found(heirloom, root.path(), &facts, &queries)?;
    record("found", "three neighbouring words over MCP", found);
    if SentenceEmbedder::new().is_some() {
        drop(fixture::with_sentences(&fixture::reopen(root.path())?)?);
        let found = count_found(heirloom, root.path(), &facts, &queries)?;
        let name = "three neighbouring words over MCP, with sentence vectors";
        record("sentences_found", name, found);
    }
    Ok(())
}

fn new_query(facts: &[String], generator: &mut ZipfGenerator) -> PhraseQuery {
    let fact = generator.index(facts.len());
    let first = generator.index(WORDS - QUERY_WORDS + 1);
    let words = facts[fact].split(' ').skip(first).take(QUERY_WORDS);
    PhraseQuery {
        fact,
        words: words.collect::<Vec<_>>().join(" "),
    }
}

/// Returns the number of queries whose fact is among the first hits of a server.
fn count_found(
    heirloom: &Path,
    root: &Path,
    facts: &[String],
    queries: &[PhraseQuery],
) -> Outcome<usize> {
    let (mut session, _) = Session::begin(heirloom, root)?;
    let (mut found, mut missed) = (0, Vec::new());
    for query in queries {
        match session.recalled_text(&query.words)? {
            answer if answer.contains(&facts[query.fact]) => found += 1,
            _ => missed.push(query.words.as_str()),
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
    let share = 100.0 * found as f64 / QUERIES as f64;
    results::value(&format!("neighbouring-words.{id}"), &name, "%", share);
}
