//! Checks of vectors of the sentence transformer.

use super::Check;
use super::conversations::{message, session};
use super::test_project::{TestProject, at, ok};
use super::vectors::{MODEL, direction, embed_all, filled, lacking};
use crate::{
    Filter, Lane, SearchQuery, SearchResults, SentenceQuestion, Store, UnembeddedText, VectorBatch,
    VectorSource,
};
use heirloom_model::{EmbedPurpose, Embedder, Fault, Kind, RecordId};
use heirloom_search::Hit;
use heirloom_search::index::tokenizer::QueryTerms;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) const CHECKS: &[Check] = &[
    (
        "vectors of a sentence transformer add to the other arms",
        sentence_vectors_add_to_scores,
    ),
    (
        "missing sentence vectors favour neither half of the texts",
        missing_sentence_vectors_are_fair,
    ),
    (
        "a question's sentence vector is computed only if texts have some and words do not settle it",
        vector_is_computed_when_needed,
    ),
    (
        "sentence vectors that follow are found",
        later_sentence_vectors_are_found,
    ),
    ("vectors are read by record", vectors_by_record),
];

/// Model that gives every text the same vector, and counts its calls.
struct OneVector {
    numbers: Vec<f32>,
    calls: AtomicUsize,
}

impl Embedder for OneVector {
    fn model(&self) -> &str {
        MODEL
    }

    fn embed(&self, texts: &[&str], _: EmbedPurpose) -> Result<Vec<Vec<f32>>, Fault> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(vec![self.numbers.clone(); texts.len()])
    }
}

fn search_sentence(w: &TestProject<'_>, numbers: Vec<f32>) -> SearchResults {
    search_counted(w, "the same text", numbers).0
}

/// Searches, and returns the number of calls of the model too.
fn search_counted(
    w: &TestProject<'_>,
    question: &str,
    numbers: Vec<f32>,
) -> (SearchResults, usize) {
    let model = Arc::new(OneVector {
        numbers,
        calls: AtomicUsize::new(0),
    });
    let search = SearchQuery {
        words: Some(QueryTerms::of(question)),
        semantic_text: Some(question.to_owned()),
        vector: None,
        sentence: Some(SentenceQuestion {
            text: question.to_owned(),
            model: Arc::clone(&model) as Arc<dyn Embedder>,
        }),
        filter: Filter::current(&[], at(10_000)),
        lane: Lane::Memory,
        key_filters: Vec::new(),
        limit_per_arm: 60,
    };
    let found = ok(w.store.search(&w.project, &search));
    (found, model.calls.load(Ordering::Relaxed))
}

fn sentence_vectors_add_to_scores(store: &dyn Store) {
    let (w, ids) = filled(store, 40);
    let without = search_sentence(&w, direction(20, 4));
    assert!(without.hits.iter().all(|hit| hit.sentence.is_none()));
    embed_all(&w, MODEL, 4, 16);
    // The first query, and later ones that may use caches.
    for _ in 0..3 {
        let found = search_sentence(&w, direction(20, 4));
        assert_eq!(found.vectors, VectorSource::BuiltIn);
        let best = found.hits.iter().find(|hit| hit.id == ids[20]);
        assert!(best.is_some_and(|hit| hit.sentence.is_some_and(|cosine| cosine > 0.99)));
        let nearest = found.hits.iter().max_by(|a, b| {
            a.sentence
                .unwrap_or(-1.0)
                .total_cmp(&b.sentence.unwrap_or(-1.0))
        });
        assert_eq!(nearest.map(|hit| hit.id), Some(ids[20]));
        let rank = |found: &SearchResults| found.hits.iter().position(|hit| hit.id == ids[20]);
        assert!(rank(&found) < rank(&without) || rank(&found) == Some(0));
    }
    // A question of another model, or with other dimensions, is not compared.
    assert_eq!(search_sentence(&w, direction(20, 5)).hits, without.hits);
}

fn missing_sentence_vectors_are_fair(store: &dyn Store) {
    let (w, _) = filled(store, 60);
    let question = || direction(8, 4);
    let lack = lacking(&w, MODEL, 64);
    let of_even = |text: &&UnembeddedText| text.ordinal.is_multiple_of(2);
    let row = |text: &UnembeddedText| (text.ordinal, Some(direction(text.ordinal, 4)));
    let half = VectorBatch {
        lane: Lane::Memory,
        model: MODEL.to_owned(),
        generation: lack.generation,
        rows: lack.next.iter().filter(of_even).map(row).collect(),
    };
    assert!(ok(w.store.store_vectors(&w.project, &half)));
    let found = search_sentence(&w, question());
    let embedded: Vec<RecordId> = (found.hits.iter())
        .filter(|hit| hit.sentence.is_some())
        .map(|hit| hit.id)
        .collect();
    assert_eq!(embedded.len(), 30);
    // Both halves are among the best and the worst: the scores of one are not above those of the other.
    let of_embedded = |hits: &[Hit]| hits.iter().filter(|hit| hit.sentence.is_some()).count();
    let (better, worse) = found.hits.split_at(30);
    assert!(of_embedded(better) < 30 && of_embedded(worse) < 30);
    embed_all(&w, MODEL, 4, 64);
    let whole = search_sentence(&w, question());
    let order: Vec<RecordId> = (whole.hits.iter())
        .map(|hit| hit.id)
        .filter(|id| embedded.contains(id))
        .collect();
    assert_eq!(order.first(), embedded.first());
}

fn vector_is_computed_when_needed(store: &dyn Store) {
    let (w, _) = filled(store, 80);
    let calls = |question: &str| search_counted(&w, question, direction(3, 4)).1;
    assert_eq!(calls("text 1"), 0);
    embed_all(&w, MODEL, 4, 16);
    assert_eq!(calls("text 1"), 1);
    // One word of the texts is found by words; for another one the vector is all that there is.
    assert_eq!(calls("text"), 0);
    assert_eq!(calls("paragraph"), 1);
    // A text that is far better than all others needs no further score; two of them do.
    let question = "quokkas sleep below ferns";
    assert_eq!(calls(question), 1);
    for (n, expected) in [(1, 0), (2, 1)] {
        let key = format!("fern-{n}");
        w.put(&w.fact(&key, "quokkas sleep below the ferns", 200 + n));
        assert_eq!(calls(question), expected, "{n} such texts");
    }
    // An earlier request fits the same request best, and does not answer it.
    let (asked, tried) = ("wombats dig at night", "numbats eat termites");
    ok(w.store.put_session(&session(&w, "one", None, 300)));
    ok(w.store
        .append_messages(&w.project, "one", &[message(&w, asked, 301)]));
    w.put(&w.record(Kind::Episode, tried, 302));
    for question in [asked, tried] {
        assert_eq!(calls(question), 1, "{question}");
    }
}

/// A long-lived process has the first vectors in memory when further ones are stored.
fn later_sentence_vectors_are_found(store: &dyn Store) {
    let (w, ids) = filled(store, 200);
    let lack = lacking(&w, MODEL, 50);
    let row = |text: &UnembeddedText| (text.ordinal, Some(direction(text.ordinal, 8)));
    let first = VectorBatch {
        lane: Lane::Memory,
        model: MODEL.to_owned(),
        generation: lack.generation,
        rows: lack.next.iter().map(row).collect(),
    };
    assert!(ok(w.store.store_vectors(&w.project, &first)));
    let embedded = |found: &SearchResults| {
        let with =
            |id: &RecordId| (found.hits.iter()).any(|hit| hit.id == *id && hit.sentence.is_some());
        [30, 55, 100, 180].map(|n| with(&ids[n]))
    };
    for n in [30, 55, 100, 180].repeat(2) {
        let found = search_sentence(&w, direction(n, 8));
        assert_eq!(embedded(&found)[1..], [false; 3]);
    }
    embed_all(&w, MODEL, 8, 16);
    for n in [30_u32, 55, 100, 180] {
        let found = search_sentence(&w, direction(n, 8));
        let hit = (found.hits.iter()).find(|hit| hit.id == ids[n as usize]);
        let cosine = hit.and_then(|hit| hit.sentence);
        assert!(cosine.is_some_and(|cosine| cosine > 0.99), "{n}");
    }
}

fn vectors_by_record(store: &dyn Store) {
    let (w, ids) = filled(store, 70);
    let read = |model: &str, ids: &[RecordId]| ok(w.store.model_vectors(&w.project, model, ids));
    assert!(read(MODEL, &ids).is_empty());
    embed_all(&w, MODEL, 4, 64);
    let found = read(MODEL, &ids);
    assert_eq!(found.len(), ids.len());
    for (ordinal, id) in (0_u32..).zip(&ids) {
        let expected = direction(ordinal, 4);
        let length = expected.iter().map(|x| x * x).sum::<f32>().sqrt();
        let dot: f32 = expected.iter().zip(&found[id]).map(|(a, b)| a * b).sum();
        assert!((dot / length - 1.0).abs() < 0.01, "{ordinal}: {dot}");
    }
    assert!(read("another-model", &ids).is_empty());
    assert!(read(MODEL, &[RecordId::MIN]).is_empty());
}
