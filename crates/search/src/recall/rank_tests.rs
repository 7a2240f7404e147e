//! Tests of the ranking with constructed hits.

use super::*;
use heirloom_model::kinds::{Artifact, Knowledge};
use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, IdSource, Kind, KindData, Mark, Message, ProjectName, Record, Role,
};
use std::sync::LazyLock;

static IDS: LazyLock<IdSource> = LazyLock::new(IdSource::default);

fn now() -> Timestamp {
    "2026-05-20T15:00:00Z".parse().unwrap()
}

/// Creates a note that is one year old.
pub(in crate::recall) fn record(text: &str) -> Record {
    let at = "2025-05-20T15:00:00Z".parse().unwrap();
    Record {
        project: ProjectName::new("p").unwrap(),
        id: IDS.next(at),
        kind: Kind::Note,
        key: None,
        text: text.to_owned(),
        attrs: Attrs::new(),
        scope: Scope::default(),
        source: "user".to_owned(),
        confidence: Confidence::FULL,
        tokens: u32::try_from(text::tokens(text)).unwrap(),
        recorded_at: at,
        true_from: None,
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: None,
    }
}

pub(in crate::recall) fn turn(text: &str) -> RecallItem {
    let record = record(text);
    RecallItem::Turn {
        session: "s".to_owned(),
        message: Box::new(Message {
            id: record.id,
            seq: 0,
            role: Role::User,
            sender: None,
            text: record.text,
            attrs: Attrs::new(),
            tokens: record.tokens,
            at: record.recorded_at,
        }),
    }
}

fn item(record: Record) -> RecallItem {
    RecallItem::Record(Box::new(record))
}

fn candidate(item: RecallItem, score: f32) -> Candidate {
    let hit = Hit {
        id: item.id(),
        lexical: score,
        vector: 0.0,
        sentence: None,
        score,
        word_score: score,
        conversation: 0.0,
    };
    Candidate { item, hit }
}

fn stems(text: &str) -> Vec<Term> {
    let code = |word: &str| Term(word.bytes().fold(7, |sum, b| sum * 31 + u64::from(b)));
    text.split(' ').map(code).collect()
}

fn ranked(question: &str, caller_scope: &Scope, candidates: Vec<Candidate>) -> Vec<Ranked> {
    let query = ParsedQuery::parse(question, now());
    let terms = stems(&query.text);
    let pairs: Vec<_> = (1..terms.len()).map(|n| (n - 1, n)).collect();
    let context = RankContext {
        query: &query,
        scope: caller_scope,
        now: now(),
        terms: &terms,
        pairs: &pairs,
        dfs: &[],
        searched: 100,
        verbatim: None,
        stems: &stems,
    };
    rank(&context, candidates)
}

/// Checks that `better` ranks first because of one score part, although its index score is slightly lower.
fn check(question: &str, better: RecallItem, worse: RecallItem, part: fn(&ScoreBreakdown) -> f64) {
    let caller_scope = Scope {
        task: Some("42".to_owned()),
        plan: Some("p".to_owned()),
        ..Scope::default()
    };
    let id = better.id();
    let both = vec![candidate(worse, 1.02), candidate(better, 1.0)];
    let found = ranked(question, &caller_scope, both);
    assert_eq!(found[0].item.id(), id, "{question}: {found:#?}");
    assert!(
        part(&found[0].breakdown) > part(&found[1].breakdown),
        "{question}"
    );
    for one in &found {
        let named = one.breakdown.labelled();
        let sum: f64 = named[3..17].iter().map(|(_, value)| value).sum();
        assert!((sum - one.breakdown.total).abs() < 1e-9, "{named:?}");
        assert_eq!(named[17].0, "total");
    }
}

fn with(change: impl FnOnce(&mut Record)) -> RecallItem {
    let mut one = record("x y");
    change(&mut one);
    item(one)
}

#[test]
fn rank_each_part_can_reorder_neighbours() {
    let plain = || with(|_| ());
    let scoped = |scope: Scope| with(|r| r.scope = scope);
    let plan = || Scope {
        plan: Some("p".to_owned()),
        ..Scope::default()
    };
    check("x", with(|r| r.recorded_at = now()), plain(), |p| p.recency);
    check(
        "x",
        plain(),
        with(|r| r.confidence = Confidence::AGENT),
        |p| p.confidence,
    );
    check("x", scoped(Scope::of_task("42")), plain(), |p| p.scope);
    check("x", scoped(plan()), plain(), |p| p.scope);
    check("x", scoped(Scope::of_task("42")), scoped(plan()), |p| {
        p.scope
    });
    check("x", with(|r| r.kind = Kind::Knowledge), plain(), |p| p.kind);
    check("x", plain(), turn("x y"), |p| p.kind);
    let confirmed = |times: u32| {
        with(|r| {
            let mut knowledge = Knowledge::with_category("fact");
            knowledge.confirmations = times;
            r.attrs = knowledge.to_attrs();
        })
    };
    check("x", confirmed(3), confirmed(0), |p| p.confirmations);
    check("x", confirmed(9), confirmed(3), |p| p.confirmations);
    let marked = |mark: Mark| with(|r| r.attrs = mark.apply_to(&r.attrs));
    check("x", marked(Mark::Useful(true)), plain(), |p| p.useful);
    check("x", plain(), marked(Mark::Useful(false)), |p| p.useful);
    check(
        "\"y x\"",
        with(|r| r.text = "Y  X".to_owned()),
        plain(),
        |p| p.phrases,
    );
    check(
        "x y",
        with(|r| r.text = "y x".to_owned()),
        with(|r| r.text = "x a b c y".to_owned()),
        |p| p.proximity,
    );
}

#[test]
fn rank_matches_names_and_dates() {
    let plain = || with(|_| ());
    let keyed = |key: &str| {
        let key = Some(key.to_owned());
        with(|r| r.key = key)
    };
    check("the Indent of x", keyed("indent"), plain(), |p| p.exact);
    check(
        "indent",
        keyed("indent"),
        with(|r| r.key = Some("x".to_owned())),
        |p| p.exact,
    );
    let file = with(|r| r.attrs = Artifact::file("src/main.rs").to_attrs());
    check("what is in src/main.rs?", file.clone(), plain(), |p| {
        p.exact
    });
    check(
        "what is in main.rs",
        file,
        with(|r| r.attrs = Artifact::file("src/xmain.rs").to_attrs()),
        |p| p.exact,
    );
    let at = |time: &str| {
        let time = time.parse().unwrap();
        with(|r| r.recorded_at = time)
    };
    check(
        "x on 3 March 2024",
        at("2024-03-04T01:00:00Z"),
        at("2024-03-20T00:00:00Z"),
        |p| p.dates,
    );
    check(
        "x on 3 March 2024",
        at("2024-03-20T00:00:00Z"),
        at("2024-04-20T00:00:00Z"),
        |p| p.dates,
    );
    check(
        "x in March 2024",
        at("2024-03-20T00:00:00Z"),
        at("2024-04-01T00:00:00Z"),
        |p| p.dates,
    );
    let knowledge = |sender: &str| match turn("x y") {
        RecallItem::Turn {
            session,
            mut message,
        } => {
            message.sender = Some(sender.to_owned());
            RecallItem::Turn { session, message }
        }
        RecallItem::Record(_) => unreachable!(),
    };
    check(
        "what was Ada's x?",
        knowledge("Ada Lovelace"),
        knowledge("Bob"),
        |p| p.speaker,
    );
}

#[test]
fn rank_record_with_query_as_key_is_first() {
    let keyed = with(|r| r.key = Some("Deploy Target".to_owned()));
    let id = keyed.id();
    let far = vec![candidate(with(|_| ()), 50.0), candidate(keyed, -2.0)];
    let found = ranked("deploy target", &Scope::default(), far);
    assert_eq!(found[0].item.id(), id);
}

#[test]
fn rank_equal_scores_older_first() {
    let (old, new) = (record("x"), record("x"));
    let (old_id, new_id) = (old.id, new.id);
    let tie = |a: Record, b: Record| vec![candidate(item(a), 1.0), candidate(item(b), 1.0)];
    for both in [tie(old.clone(), new.clone()), tie(new, old)] {
        let found = ranked("x", &Scope::default(), both);
        let ids: Vec<_> = found.iter().map(|one| one.item.id()).collect();
        assert_eq!(ids, [old_id, new_id]);
    }
}

#[test]
fn rank_parts_together_stay_below_word_score() {
    let mut every = record("x");
    every.kind = Kind::Knowledge;
    every.recorded_at = now();
    every.scope = Scope::of_task("42");
    every
        .attrs
        .insert("confirmations".to_owned(), 1_000_000.into());
    every.attrs.insert("useful".to_owned(), 1_000_000.into());
    let parts = ranked(
        "x",
        &Scope::of_task("42"),
        vec![candidate(item(every), 0.0)],
    )[0]
    .breakdown;
    assert!((0.5..1.5).contains(&parts.total), "{parts:?}");
}

proptest::proptest! {
    /// Records that are equal in every score part stay in the order of the store.
    #[test]
    fn rank_equal_records_keep_store_order(scores in proptest::collection::vec(-5.0_f32..20.0, 1..40)) {
        let mut scores = scores;
        scores.sort_by(|a, b| b.total_cmp(a));
        let all: Vec<Candidate> = scores.iter().map(|score| candidate(item(record("a note")), *score)).collect();
        let ids: Vec<_> = all.iter().map(|one| one.item.id()).collect();
        let mut mixed = all;
        mixed.reverse();
        let found = ranked("some question of last week", &Scope::of_task("42"), mixed);
        let found: Vec<_> = found.iter().map(|one| one.item.id()).collect();
        assert_eq!(found, ids);
    }
}
