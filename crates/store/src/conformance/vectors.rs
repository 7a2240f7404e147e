//! Checks of vectors of external models.

use super::Check;
use super::test_project::{BY, TestProject, at, ok, put};
use crate::{
    Change, EmbeddingBacklog, Filter, Lane, ModelVector, PurgeTarget, SearchQuery, SearchResults,
    Store, StoreError, VectorBatch, VectorSource,
};
use heirloom_model::record::Attrs;
use heirloom_model::{Kind, MergeRule, Message, RecordId, Role, Session, limits};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_search::index::vector;

pub(super) const CHECKS: &[Check] = &[
    (
        "the backlog contains the texts without a vector",
        backlog_texts,
    ),
    ("vectors of a model rank once they are complete", ranked),
    ("a few may lack a vector", few_missing_vectors_are_tolerated),
    (
        "vectors of two models are never compared",
        one_model_at_a_time,
    ),
    ("a new model replaces the previous one", replaced),
    ("retired texts need no vector", retired),
    ("vectors belong to one index generation", rebuilt),
    ("bad vectors are refused", refused),
    ("vectors of projects are isolated", projects),
];

pub(super) const MODEL: &str = "model-a";

pub(super) fn filled(store: &dyn Store, texts: usize) -> (TestProject<'_>, Vec<RecordId>) {
    let w = TestProject::new(store);
    let record = |n: usize| {
        let second = i64::try_from(n).unwrap_or_default();
        w.record(Kind::Note, &format!("text {n}"), second)
    };
    let changes: Vec<Change> = (1..=texts)
        .map(|n| put(&record(n), MergeRule::Replace))
        .collect();
    let ids = w.apply(&changes).iter().map(|applied| applied.id).collect();
    (w, ids)
}

pub(super) fn lacking(w: &TestProject<'_>, model: &str, limit: usize) -> EmbeddingBacklog {
    ok(w.store.embedding_backlog(&w.project, model, limit))
}

/// Returns a distinct direction for each ordinal.
pub(super) fn direction(ordinal: u32, dims: usize) -> Vec<f32> {
    // Different enough to survive rounding to 8 bits.
    let angle = ordinal as f32 * 0.0937;
    let mut numbers = vec![0.0; dims];
    numbers[0] = angle.cos();
    numbers[1] = angle.sin();
    if dims > 2 {
        numbers[2 + ordinal as usize % (dims - 2)] = 1.0;
    }
    numbers
}

/// Embeds the whole backlog in batches of this size; returns the number of texts.
pub(super) fn embed_all(w: &TestProject<'_>, model: &str, dims: usize, batch: usize) -> u64 {
    let mut done = 0;
    loop {
        let lack = lacking(w, model, batch);
        if lack.next.is_empty() {
            return done;
        }
        let rows = lack.next.iter();
        let rows = rows.map(|text| (text.ordinal, Some(direction(text.ordinal, dims))));
        let vectors = VectorBatch {
            lane: lack.lane,
            model: model.to_owned(),
            generation: lack.generation,
            rows: rows.collect(),
        };
        done += vectors.rows.len() as u64;
        assert!(ok(w.store.store_vectors(&w.project, &vectors)));
    }
}

fn search_near(w: &TestProject<'_>, model: &str, numbers: Vec<f32>) -> SearchResults {
    let search = SearchQuery {
        words: None,
        semantic_text: Some("text 1".to_owned()),
        vector: Some(ModelVector {
            model: model.to_owned(),
            numbers,
        }),
        sentence: None,
        filter: Filter::current(&[], at(10_000)),
        lane: Lane::Memory,
        key_filters: Vec::new(),
        limit_per_arm: 3,
    };
    ok(w.store.search(&w.project, &search))
}

fn first(found: &SearchResults) -> RecordId {
    found.hits.first().map_or(RecordId::MIN, |hit| hit.id)
}

fn backlog_texts(store: &dyn Store) {
    let w = TestProject::new(store);
    assert_eq!(lacking(&w, MODEL, 10), EmbeddingBacklog::default());
    let (w, _) = filled(store, 3);
    ok(w.store.put_session(&Session {
        project: w.project.clone(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: at(5),
        ended_at: None,
        attrs: Attrs::new(),
    }));
    let turn = Message {
        id: w.id(6),
        seq: 0,
        role: Role::User,
        sender: Some("Marta".to_owned()),
        text: "é".repeat(limits::EMBEDDING_TEXT_BYTES_MAX),
        attrs: Attrs::new(),
        tokens: 1,
        at: at(6),
    };
    ok(w.store.append_messages(&w.project, "s", &[turn]));
    let lack = lacking(&w, MODEL, 10);
    assert_eq!((lack.texts, lack.missing), (4, 4));
    assert_eq!((lack.dims, &lack.other), (None, &None));
    let texts: Vec<&str> = lack.next.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(
        (lack.lane, texts),
        (Lane::Memory, vec!["text 3", "text 2", "text 1"])
    );
    assert_eq!(lacking(&w, MODEL, 2).next.len(), 2);
    assert_eq!(lacking(&w, vector::MODEL, 2).missing, 0);
    // Turns follow when all records have a vector.
    let rows = lack.next.iter();
    let rows = rows.map(|text| (text.ordinal, Some(direction(text.ordinal, 4))));
    let vectors = VectorBatch {
        lane: lack.lane,
        model: MODEL.to_owned(),
        generation: lack.generation,
        rows: rows.collect(),
    };
    assert!(ok(w.store.store_vectors(&w.project, &vectors)));
    let rest = lacking(&w, MODEL, 10);
    assert_eq!((rest.lane, rest.texts, rest.missing), (Lane::Archive, 4, 1));
    let turn = rest.next.first().map_or("", |one| one.text.as_str());
    assert!(turn.starts_with("Marta: é"));
    let most = limits::EMBEDDING_TEXT_BYTES_MAX;
    assert!((most - 1..=most).contains(&turn.len()));
}

fn ranked(store: &dyn Store) {
    // More than one block, and more than one merge step.
    let (w, ids) = filled(store, 300);
    let question = direction(130, 300);
    let before = search_near(&w, MODEL, question.clone());
    assert_eq!(
        (before.vectors, before.unembedded),
        (VectorSource::BuiltIn, 300)
    );
    assert_eq!(embed_all(&w, MODEL, 300, 50), 300);
    assert_eq!(lacking(&w, MODEL, 1).dims, Some(300));
    // The first query, and later ones that may use caches.
    for _ in 0..3 {
        let after = search_near(&w, MODEL, question.clone());
        assert_eq!((after.vectors, after.unembedded), (VectorSource::Model, 0));
        assert_eq!(first(&after), ids[130]);
        assert!(after.hits[0].vector > 0.99);
    }
    // Storing the same vectors again changes nothing.
    let again = VectorBatch {
        lane: Lane::Memory,
        model: MODEL.to_owned(),
        generation: lacking(&w, MODEL, 0).generation,
        rows: vec![(130, Some(direction(130, 300)))],
    };
    let before = search_near(&w, MODEL, question.clone());
    assert!(ok(w.store.store_vectors(&w.project, &again)));
    assert_eq!(search_near(&w, MODEL, question), before);
}

fn few_missing_vectors_are_tolerated(store: &dyn Store) {
    let few = usize::try_from(limits::EMBEDDING_MISSING_ONE_IN).unwrap_or(usize::MAX);
    let (w, ids) = filled(store, 2 * few - 2);
    embed_all(&w, MODEL, 2, 7);
    for more in 0..3 {
        let found = search_near(&w, MODEL, direction(3, 2));
        assert_eq!(found.unembedded, more);
        let by = if more < 3 && (more * limits::EMBEDDING_MISSING_ONE_IN) <= found.scope_size {
            VectorSource::Model
        } else {
            VectorSource::BuiltIn
        };
        assert_eq!(found.vectors, by, "{more} of {}", found.scope_size);
        if by == VectorSource::Model {
            assert_eq!(first(&found), ids[3]);
        }
        let second = i64::try_from(5_000 + more).unwrap_or_default();
        w.created(&w.record(Kind::Note, "a newcomer", second));
    }
    // A text without a vector is found by its words, and its missing vector does not affect its rank.
    let (w, _) = (w, ids);
    embed_all(&w, MODEL, 2, 7);
    let newest = w.created(&w.record(Kind::Note, "zebra", 6_000));
    let search = SearchQuery {
        words: Some(QueryTerms::of("zebra")),
        semantic_text: Some("zebra".to_owned()),
        vector: Some(ModelVector {
            model: MODEL.to_owned(),
            numbers: direction(0, 2),
        }),
        sentence: None,
        filter: Filter::current(&[], at(10_000)),
        lane: Lane::Memory,
        key_filters: Vec::new(),
        limit_per_arm: 5,
    };
    let found = ok(w.store.search(&w.project, &search));
    assert_eq!(found.vectors, VectorSource::Model);
    let hit = found.hits.iter().find(|hit| hit.id == newest);
    assert!(hit.is_some_and(|hit| hit.vector == 0.0 && hit.lexical > 0.0));
}

fn one_model_at_a_time(store: &dyn Store) {
    let (w, ids) = filled(store, 40);
    embed_all(&w, MODEL, 4, 64);
    // Queries of another model or with other dimensions are not compared with these vectors.
    let other = search_near(&w, "model-b", direction(7, 4));
    assert_eq!(
        (other.vectors, other.unembedded),
        (VectorSource::BuiltIn, 40)
    );
    let longer = search_near(&w, MODEL, direction(7, 5));
    assert_eq!(longer.vectors, VectorSource::BuiltIn);
    assert_eq!(longer.hits, other.hits);
    let none = search_near(&w, MODEL, vec![0.0; 4]);
    assert_eq!(none.vectors, VectorSource::BuiltIn);
    assert_eq!(first(&search_near(&w, MODEL, direction(7, 4))), ids[7]);
    assert_eq!(
        lacking(&w, "model-b", 0).other,
        Some((MODEL.to_owned(), 40))
    );
}

fn replaced(store: &dyn Store) {
    let (w, ids) = filled(store, 100);
    embed_all(&w, MODEL, 4, 64);
    let lack = lacking(&w, "model-b", 10);
    assert_eq!((lack.missing, lack.next.len()), (100, 10));
    let some = VectorBatch {
        lane: Lane::Memory,
        model: "model-b".to_owned(),
        generation: lack.generation,
        rows: vec![(5, Some(direction(5, 9)))],
    };
    assert!(ok(w.store.store_vectors(&w.project, &some)));
    // Halfway through, neither model ranks.
    for model in [MODEL, "model-b"] {
        let found = search_near(&w, model, direction(5, if model == MODEL { 4 } else { 9 }));
        assert_eq!(found.vectors, VectorSource::BuiltIn, "{model}");
    }
    assert_eq!(embed_all(&w, "model-b", 9, 64), 99);
    let found = search_near(&w, "model-b", direction(5, 9));
    assert_eq!(
        (found.vectors, first(&found)),
        (VectorSource::Model, ids[5])
    );
    assert_eq!(lacking(&w, MODEL, 0).missing, 100);
    // After switching back to the built-in model, no external vectors are left.
    let none = VectorBatch {
        lane: Lane::Memory,
        model: vector::MODEL.to_owned(),
        generation: lack.generation,
        rows: Vec::new(),
    };
    assert!(ok(w.store.store_vectors(&w.project, &none)));
    let lack = lacking(&w, "model-b", 0);
    assert_eq!((lack.missing, lack.dims, lack.other), (100, None, None));
}

fn retired(store: &dyn Store) {
    let (w, ids) = filled(store, 30);
    let (at, by) = (at(100), BY.to_owned());
    w.change(Change::Retire { id: ids[4], at, by });
    let lack = lacking(&w, MODEL, 64);
    assert_eq!((lack.texts, lack.missing), (29, 29));
    assert!(lack.next.iter().all(|one| one.ordinal != 4));
    assert_eq!(embed_all(&w, MODEL, 2, 64), 29);
    let found = search_near(&w, MODEL, direction(20, 2));
    assert_eq!(
        (found.vectors, first(&found)),
        (VectorSource::Model, ids[20])
    );
    // A restored record needs a vector again.
    let by = BY.to_owned();
    w.change(Change::Restore { id: ids[4], at, by });
    assert_eq!(lacking(&w, MODEL, 0).missing, 1);
    assert_eq!(embed_all(&w, MODEL, 2, 64), 1);
}

fn rebuilt(store: &dyn Store) {
    let (w, ids) = filled(store, 30);
    embed_all(&w, MODEL, 2, 64);
    let late = VectorBatch {
        lane: Lane::Memory,
        model: MODEL.to_owned(),
        generation: lacking(&w, MODEL, 0).generation,
        rows: vec![(0, Some(direction(0, 2)))],
    };
    let target = PurgeTarget::Records(vec![ids[2]]);
    ok(w.store.purge(&w.project, &target, at(200), BY));
    let lack = lacking(&w, MODEL, 64);
    assert_eq!(lack.texts, 29);
    assert!(!ok(w.store.store_vectors(&w.project, &late)));
    embed_all(&w, MODEL, 2, 64);
    let found = search_near(&w, MODEL, direction(0, 2));
    assert_eq!(
        (found.vectors, first(&found)),
        (VectorSource::Model, ids[0])
    );
}

fn refused(store: &dyn Store) {
    let (w, _) = filled(store, 3);
    let most = limits::EMBEDDING_DIMS_MAX;
    let vectors = |rows: Vec<(u32, Option<Vec<f32>>)>| VectorBatch {
        lane: Lane::Memory,
        model: MODEL.to_owned(),
        generation: lacking(&w, MODEL, 0).generation,
        rows,
    };
    assert!(ok(w.store.store_vectors(
        &w.project,
        &vectors(vec![(0, Some(vec![1.0; most]))])
    )));
    let many = limits::VECTORS_PER_WRITE_MAX + 1;
    let named = |model: String| VectorBatch {
        lane: Lane::Memory,
        model,
        ..vectors(vec![(0, Some(vec![1.0; most]))])
    };
    let long = limits::EMBEDDING_MODEL_BYTES_MAX;
    assert!(ok(w.store.embedding_backlog(&w.project, &"x".repeat(long), 0)).missing == 3);
    for (bad, part) in [
        (
            vectors(vec![(1, Some(vec![1.0; most + 1]))]),
            "numbers of a vector",
        ),
        (
            vectors(vec![(1, Some(vec![1.0; most - 1]))]),
            "the stored ones have",
        ),
        (vectors(vec![(1, Some(vec![0.0; most]))]), "no direction"),
        (
            vectors(vec![(1, Some(vec![f32::NAN; most]))]),
            "no direction",
        ),
        (
            vectors(vec![(3, Some(vec![1.0; most]))]),
            "nothing has the ordinal 3",
        ),
        (vectors(vec![(1, None); many]), "vectors in one write"),
        (named(String::new()), "has no name"),
        (named("x".repeat(long + 1)), "name of a model"),
    ] {
        match w.store.store_vectors(&w.project, &bad) {
            Err(StoreError::Invalid(said)) if said.contains(part) => {}
            other => panic!("`{part}` was expected: {other:?}"),
        }
    }
    // A batch is stored completely or not at all.
    let half = vectors(vec![(1, Some(vec![1.0; most])), (2, Some(vec![1.0]))]);
    assert!(w.store.store_vectors(&w.project, &half).is_err());
    assert_eq!(lacking(&w, MODEL, 0).missing, 2);
    // A text that cannot be embedded is no longer in the backlog.
    assert!(ok(w
        .store
        .store_vectors(&w.project, &vectors(vec![(1, None)]))));
    assert_eq!(lacking(&w, MODEL, 0).missing, 1);
}

fn projects(store: &dyn Store) {
    let (w, _) = filled(store, 5);
    let other = TestProject::of(store, "another");
    other.created(&other.record(Kind::Note, "elsewhere", 1));
    embed_all(&w, MODEL, 2, 64);
    assert_eq!(lacking(&other, MODEL, 0).missing, 1);
    embed_all(&other, MODEL, 3, 64);
    assert_eq!(lacking(&w, MODEL, 0).dims, Some(2));
    ok(other
        .store
        .purge(&other.project, &PurgeTarget::Project, at(20), BY));
    assert_eq!(lacking(&other, MODEL, 0), EmbeddingBacklog::default());
    assert_eq!(lacking(&w, MODEL, 0).missing, 0);
}
