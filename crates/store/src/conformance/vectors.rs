//! Vectors of other models: kept apart, ranked whole or not at all.

use super::Check;
use super::world::{BY, World, at, ok, put};
use crate::{
    Change, Filter, Found, ModelVector, NewVectors, Search, Selection, Store, StoreError,
    Unembedded, VectorsOf,
};
use heirloom_index::vector;
use heirloom_index::words::Question;
use heirloom_model::record::Attrs;
use heirloom_model::{Kind, Merge, Message, RecordId, Role, Session, limits};

pub(super) const CHECKS: &[Check] = &[
    ("what lacks a vector is told with its text", told),
    ("vectors of a model rank once they are whole", ranked),
    ("a few may lack a vector", nearly_whole),
    ("vectors of two models never meet", apart),
    ("the next model takes the place of the last", replaced),
    ("what is retired needs no vector", retired),
    ("vectors belong to one building of the index", rebuilt),
    ("bad vectors are refused", refused),
    ("vectors of projects are apart", projects),
];

const MODEL: &str = "model-a";

fn filled(store: &dyn Store, texts: usize) -> (World<'_>, Vec<RecordId>) {
    let w = World::new(store);
    let record = |n: usize| {
        let second = i64::try_from(n).unwrap_or_default();
        w.record(Kind::Note, &format!("text {n}"), second)
    };
    let changes: Vec<Change> = (1..=texts)
        .map(|n| put(&record(n), Merge::Replace))
        .collect();
    let ids = w.apply(&changes).iter().map(|applied| applied.id).collect();
    (w, ids)
}

fn lacking(w: &World<'_>, model: &str, limit: usize) -> Unembedded {
    ok(w.store.unembedded(&w.project, model, limit))
}

/// A direction of its own for each ordinal.
fn direction(ordinal: u32, dims: usize) -> Vec<f32> {
    // Far enough from all others for 8 bits.
    let angle = ordinal as f32 * 0.0937;
    let mut numbers = vec![0.0; dims];
    numbers[0] = angle.cos();
    numbers[1] = angle.sin();
    if dims > 2 {
        numbers[2 + ordinal as usize % (dims - 2)] = 1.0;
    }
    numbers
}

/// Embeds everything that lacks a vector, in batches of this size; how many it were.
fn embed_all(w: &World<'_>, model: &str, dims: usize, batch: usize) -> u64 {
    let mut done = 0;
    loop {
        let lack = lacking(w, model, batch);
        if lack.next.is_empty() {
            return done;
        }
        let rows = lack.next.iter();
        let rows = rows.map(|text| (text.ordinal, Some(direction(text.ordinal, dims))));
        let vectors = NewVectors {
            model: model.to_owned(),
            generation: lack.generation,
            rows: rows.collect(),
        };
        done += vectors.rows.len() as u64;
        assert!(ok(w.store.embed(&w.project, &vectors)));
    }
}

fn near(w: &World<'_>, model: &str, numbers: Vec<f32>) -> Found {
    let search = Search {
        words: None,
        meaning: Some("text 1".to_owned()),
        vector: Some(ModelVector {
            model: model.to_owned(),
            numbers,
        }),
        filter: Filter::current(&[], at(10_000)),
        each: 3,
    };
    ok(w.store.search(&w.project, &search))
}

fn first(found: &Found) -> RecordId {
    found.hits.first().map_or(RecordId::MIN, |hit| hit.id)
}

fn told(store: &dyn Store) {
    let w = World::new(store);
    assert_eq!(lacking(&w, MODEL, 10), Unembedded::default());
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
    assert_eq!(texts[..3], ["text 1", "text 2", "text 3"]);
    assert!(texts[3].starts_with("Marta: é"));
    let most = limits::EMBEDDING_TEXT_BYTES_MAX;
    assert!((most - 1..=most).contains(&texts[3].len()));
    assert_eq!(lacking(&w, MODEL, 2).next.len(), 2);
    assert_eq!(lacking(&w, vector::MODEL, 2).missing, 0);
}

fn ranked(store: &dyn Store) {
    // More than one block, and more than are merged at once.
    let (w, ids) = filled(store, 300);
    let question = direction(130, 300);
    let before = near(&w, MODEL, question.clone());
    assert_eq!(
        (before.vectors, before.unembedded),
        (VectorsOf::BuiltIn, 300)
    );
    assert_eq!(embed_all(&w, MODEL, 300, 50), 300);
    assert_eq!(lacking(&w, MODEL, 1).dims, Some(300));
    // The first question, and later ones, which may be answered from memory.
    for _ in 0..3 {
        let after = near(&w, MODEL, question.clone());
        assert_eq!((after.vectors, after.unembedded), (VectorsOf::Model, 0));
        assert_eq!(first(&after), ids[130]);
        assert!(after.hits[0].vector > 0.99);
    }
    // The same once more changes nothing.
    let again = NewVectors {
        model: MODEL.to_owned(),
        generation: lacking(&w, MODEL, 0).generation,
        rows: vec![(130, Some(direction(130, 300)))],
    };
    let before = near(&w, MODEL, question.clone());
    assert!(ok(w.store.embed(&w.project, &again)));
    assert_eq!(near(&w, MODEL, question), before);
}

fn nearly_whole(store: &dyn Store) {
    let few = usize::try_from(limits::EMBEDDING_MISSING_ONE_IN).unwrap_or(usize::MAX);
    let (w, ids) = filled(store, 2 * few - 2);
    embed_all(&w, MODEL, 2, 7);
    for more in 0..3 {
        let found = near(&w, MODEL, direction(3, 2));
        assert_eq!(found.unembedded, more);
        let by = if more < 3 && (more * limits::EMBEDDING_MISSING_ONE_IN) <= found.searched {
            VectorsOf::Model
        } else {
            VectorsOf::BuiltIn
        };
        assert_eq!(found.vectors, by, "{more} of {}", found.searched);
        if by == VectorsOf::Model {
            assert_eq!(first(&found), ids[3]);
        }
        let second = i64::try_from(5_000 + more).unwrap_or_default();
        w.created(&w.record(Kind::Note, "a newcomer", second));
    }
    // What lacks a vector is found by its words, and its vector counts neither for nor against it.
    let (w, _) = (w, ids);
    embed_all(&w, MODEL, 2, 7);
    let newest = w.created(&w.record(Kind::Note, "zebra", 6_000));
    let search = Search {
        words: Some(Question::of("zebra")),
        meaning: Some("zebra".to_owned()),
        vector: Some(ModelVector {
            model: MODEL.to_owned(),
            numbers: direction(0, 2),
        }),
        filter: Filter::current(&[], at(10_000)),
        each: 5,
    };
    let found = ok(w.store.search(&w.project, &search));
    assert_eq!(found.vectors, VectorsOf::Model);
    let hit = found.hits.iter().find(|hit| hit.id == newest);
    assert!(hit.is_some_and(|hit| hit.vector == 0.0 && hit.lexical > 0.0));
}

fn apart(store: &dyn Store) {
    let (w, ids) = filled(store, 40);
    embed_all(&w, MODEL, 4, 64);
    // A question of another model, and one of other dimensions, are not compared with these.
    let other = near(&w, "model-b", direction(7, 4));
    assert_eq!((other.vectors, other.unembedded), (VectorsOf::BuiltIn, 40));
    let longer = near(&w, MODEL, direction(7, 5));
    assert_eq!(longer.vectors, VectorsOf::BuiltIn);
    assert_eq!(longer.hits, other.hits);
    let none = near(&w, MODEL, vec![0.0; 4]);
    assert_eq!(none.vectors, VectorsOf::BuiltIn);
    assert_eq!(first(&near(&w, MODEL, direction(7, 4))), ids[7]);
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
    let some = NewVectors {
        model: "model-b".to_owned(),
        generation: lack.generation,
        rows: vec![(5, Some(direction(5, 9)))],
    };
    assert!(ok(w.store.embed(&w.project, &some)));
    // In between neither ranks.
    for model in [MODEL, "model-b"] {
        let found = near(&w, model, direction(5, if model == MODEL { 4 } else { 9 }));
        assert_eq!(found.vectors, VectorsOf::BuiltIn, "{model}");
    }
    assert_eq!(embed_all(&w, "model-b", 9, 64), 99);
    let found = near(&w, "model-b", direction(5, 9));
    assert_eq!((found.vectors, first(&found)), (VectorsOf::Model, ids[5]));
    assert_eq!(lacking(&w, MODEL, 0).missing, 100);
    // Back to the built-in one: nothing of another is kept.
    let none = NewVectors {
        model: vector::MODEL.to_owned(),
        generation: lack.generation,
        rows: Vec::new(),
    };
    assert!(ok(w.store.embed(&w.project, &none)));
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
    let found = near(&w, MODEL, direction(20, 2));
    assert_eq!((found.vectors, first(&found)), (VectorsOf::Model, ids[20]));
    // Here again, it needs one.
    let by = BY.to_owned();
    w.change(Change::Restore { id: ids[4], at, by });
    assert_eq!(lacking(&w, MODEL, 0).missing, 1);
    assert_eq!(embed_all(&w, MODEL, 2, 64), 1);
}

fn rebuilt(store: &dyn Store) {
    let (w, ids) = filled(store, 30);
    embed_all(&w, MODEL, 2, 64);
    let late = NewVectors {
        model: MODEL.to_owned(),
        generation: lacking(&w, MODEL, 0).generation,
        rows: vec![(0, Some(direction(0, 2)))],
    };
    let gone = Selection::Records(vec![ids[2]]);
    ok(w.store.purge(&w.project, &gone, at(200), BY));
    let lack = lacking(&w, MODEL, 64);
    assert_eq!(lack.texts, 29);
    assert!(!ok(w.store.embed(&w.project, &late)));
    embed_all(&w, MODEL, 2, 64);
    let found = near(&w, MODEL, direction(0, 2));
    assert_eq!((found.vectors, first(&found)), (VectorsOf::Model, ids[0]));
}

fn refused(store: &dyn Store) {
    let (w, _) = filled(store, 3);
    let most = limits::EMBEDDING_DIMS_MAX;
    let vectors = |rows: Vec<(u32, Option<Vec<f32>>)>| NewVectors {
        model: MODEL.to_owned(),
        generation: lacking(&w, MODEL, 0).generation,
        rows,
    };
    assert!(ok(w
        .store
        .embed(&w.project, &vectors(vec![(0, Some(vec![1.0; most]))]))));
    let many = limits::EMBEDDING_BATCH_TEXTS_MAX + 1;
    let named = |model: String| NewVectors {
        model,
        ..vectors(vec![(0, Some(vec![1.0; most]))])
    };
    let long = limits::EMBEDDING_MODEL_BYTES_MAX;
    assert!(ok(w.store.unembedded(&w.project, &"x".repeat(long), 0)).missing == 3);
    for (bad, part) in [
        (
            vectors(vec![(1, Some(vec![1.0; most + 1]))]),
            "numbers of a vector",
        ),
        (
            vectors(vec![(1, Some(vec![1.0; most - 1]))]),
            "those that are kept have",
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
        match w.store.embed(&w.project, &bad) {
            Err(StoreError::Invalid(said)) if said.contains(part) => {}
            other => panic!("`{part}` was expected: {other:?}"),
        }
    }
    // A batch is whole or not there.
    let half = vectors(vec![(1, Some(vec![1.0; most])), (2, Some(vec![1.0]))]);
    assert!(w.store.embed(&w.project, &half).is_err());
    assert_eq!(lacking(&w, MODEL, 0).missing, 2);
    // A text that can have none is done with.
    assert!(ok(w.store.embed(&w.project, &vectors(vec![(1, None)]))));
    assert_eq!(lacking(&w, MODEL, 0).missing, 1);
}

fn projects(store: &dyn Store) {
    let (w, _) = filled(store, 5);
    let other = World::of(store, "another");
    other.created(&other.record(Kind::Note, "elsewhere", 1));
    embed_all(&w, MODEL, 2, 64);
    assert_eq!(lacking(&other, MODEL, 0).missing, 1);
    embed_all(&other, MODEL, 3, 64);
    assert_eq!(lacking(&w, MODEL, 0).dims, Some(2));
    ok(other
        .store
        .purge(&other.project, &Selection::Project, at(20), BY));
    assert_eq!(lacking(&other, MODEL, 0), Unembedded::default());
    assert_eq!(lacking(&w, MODEL, 0).missing, 0);
}
