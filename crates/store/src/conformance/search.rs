//! Checks of search: matches, exclusions and order.

use super::Check;
use super::test_project::{TestProject, at, is_invalid, ok, put, restore, retire};
use crate::{AsOf, Filter, Lane, PurgeTarget, SearchQuery, SearchResults, Store};
use heirloom_model::record::Attrs;
use heirloom_model::{
    Kind, MergeRule, Message, ProjectName, Record, RecordId, Role, Scope, Session, limits,
};
use heirloom_search::index::tokenizer::QueryTerms;

pub(super) const CHECKS: &[Check] = &[
    ("words find the texts that contain them, best first", words),
    ("retired records are not found, restored ones are", retired),
    ("expired records are not found", expired),
    ("as-of search sees the past state", past),
    (
        "filters apply inside the index, not after a limit",
        filtered,
    ),
    (
        "turns of conversations are found, with their neighbours",
        turns,
    ),
    ("records and conversations do not affect each other", lanes),
    ("projects are isolated", projects),
    ("results do not depend on writes and merges", many_merges),
    ("purged records are not found", purged),
    ("a query without words finds nothing", no_words),
    ("records are read by key with a search", by_key),
];

fn question(text: &str, filter: Filter, limit_per_arm: usize) -> SearchQuery {
    SearchQuery {
        words: Some(QueryTerms::of(text)),
        semantic_text: None,
        vector: None,
        sentence: None,
        filter,
        lane: Lane::Memory,
        key_filters: Vec::new(),
        limit_per_arm,
    }
}

fn now() -> Filter {
    Filter::current(&[], at(1_000))
}

fn search(w: &TestProject<'_>, text: &str, filter: Filter) -> SearchResults {
    ok(w.store.search(&w.project, &question(text, filter, 50)))
}

fn search_turns(w: &TestProject<'_>, text: &str, filter: Filter) -> SearchResults {
    let question = SearchQuery {
        lane: Lane::Archive,
        ..question(text, filter, 50)
    };
    ok(w.store.search(&w.project, &question))
}

fn ids(found: &SearchResults) -> Vec<RecordId> {
    found.hits.iter().map(|hit| hit.id).collect()
}

fn texts(w: &TestProject<'_>, text: &str, filter: Filter) -> Vec<String> {
    let found = ids(&search(w, text, filter));
    found.into_iter().map(|id| w.get(id).text).collect()
}

fn note(w: &TestProject<'_>, text: &str, second: i64) -> Record {
    w.record(Kind::Note, text, second)
}

fn filled<'s>(store: &'s dyn Store, texts: &[&str]) -> TestProject<'s> {
    let w = TestProject::new(store);
    for (second, text) in (1..).zip(texts) {
        w.created(&note(&w, text, second));
    }
    w
}

fn words(store: &dyn Store) {
    let w = filled(
        store,
        &[
            "the parser fails on tabs",
            "a parser for dates",
            "tabs are four spaces wide",
            "the cache is cleared at midnight",
        ],
    );
    let found = texts(&w, "Why does the parser fail with TABS?", now());
    assert_eq!(found[0], "the parser fails on tabs");
    assert_eq!(found.len(), 3, "{found:?}");
    let all = search(&w, "midnight", now());
    assert_eq!((all.scope_size, all.hits.len()), (4, 1));
    assert!(all.hits[0].lexical > 0.0 && all.hits[0].conversation == 0.0);
    assert_eq!(
        search(&w, "midnight", now()),
        all,
        "the same question, the same answer"
    );
    assert_eq!(texts(&w, "unheard", now()), Vec::<String>::new());
    // Equal scores: the older first.
    for second in [20, 21] {
        w.created(&note(&w, "twins say this", second));
    }
    let twins = search(&w, "twins", now());
    assert!(twins.hits[0].id < twins.hits[1].id);
}

fn retired(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = w.created(&w.fact("k", "the port is 8080", 1));
    w.put(&w.fact("k", "the port is 9090", 2));
    assert_eq!(texts(&w, "port", now()), ["the port is 9090"]);
    w.change(restore(first, 3));
    assert_eq!(texts(&w, "port", now()), ["the port is 8080"]);
    w.change(retire(first, 4));
    let none = search(&w, "port", now());
    assert_eq!((none.scope_size, none.hits.len()), (0, 0));
    w.change(restore(first, 5));
    assert_eq!(texts(&w, "port", now()), ["the port is 8080"]);
}

fn expired(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut record = note(&w, "holds for a while", 1);
    record.expires_at = Some(at(10));
    w.created(&record);
    assert_eq!(texts(&w, "while", Filter::current(&[], at(9))).len(), 1);
    let found = search(&w, "while", Filter::current(&[], at(10)));
    assert_eq!((found.scope_size, found.hits.len()), (0, 0));
}

fn past(store: &dyn Store) {
    let w = TestProject::new(store);
    w.created(&w.fact("k", "the port is 8080", 10));
    w.put(&w.fact("k", "the port is 9090", 20));
    let as_of = |second| Filter {
        as_of: AsOf::Past(at(second)),
        ..now()
    };
    assert_eq!(texts(&w, "port", as_of(9)), Vec::<String>::new());
    assert_eq!(texts(&w, "port", as_of(15)), ["the port is 8080"]);
    assert_eq!(texts(&w, "port", as_of(25)), ["the port is 9090"]);
    let ever = Filter {
        as_of: AsOf::Ever,
        ..now()
    };
    assert_eq!(texts(&w, "port", ever).len(), 2);
}

fn filtered(store: &dyn Store) {
    let w = TestProject::new(store);
    for second in 1..=80 {
        w.created(&note(&w, "needle needle needle", second));
    }
    let mut matching = w.record(
        Kind::Error,
        "a needle in a long text that says much else besides it",
        90,
    );
    matching.scope.task = Some("42".to_owned());
    w.created(&matching);
    let of_kind = Filter::current(&[Kind::Error], at(1_000));
    let of_task = now().scope(Scope {
        task: Some("42".to_owned()),
        ..Scope::default()
    });
    for filter in [of_kind, of_task] {
        let found = ok(w.store.search(&w.project, &question("needle", filter, 3)));
        assert_eq!(ids(&found), [matching.id]);
        assert_eq!(found.scope_size, 1);
    }
    let few = ok(w.store.search(&w.project, &question("needle", now(), 3)));
    assert_eq!(few.hits.len(), 3);
}

fn session(w: &TestProject<'_>, id: &str) -> Session {
    Session {
        project: w.project.clone(),
        id: id.to_owned(),
        agent: None,
        task: Some("t".to_owned()),
        started_at: at(0),
        ended_at: None,
        attrs: Attrs::new(),
    }
}

fn turn(w: &TestProject<'_>, sender: Option<&str>, text: &str, second: i64) -> Message {
    Message {
        id: w.id(second),
        seq: 0,
        role: Role::User,
        sender: sender.map(str::to_owned),
        text: text.to_owned(),
        attrs: Attrs::new(),
        tokens: 1,
        at: at(second),
    }
}

fn turns(store: &dyn Store) {
    let w = TestProject::new(store);
    for name in ["one", "two"] {
        ok(w.store.put_session(&session(&w, name)));
    }
    let texts = [
        turn(&w, Some("Marta"), "we talked about the release", 1),
        turn(&w, None, "the deadline is the third of May", 2),
        turn(&w, None, "all right then", 3),
    ];
    let other = [turn(&w, None, "nothing about it at all", 4)];
    ok(w.store.append_messages(&w.project, "one", &texts));
    ok(w.store.append_messages(&w.project, "two", &other));
    let found = search_turns(&w, "when is the deadline", now());
    assert_eq!(found.scope_size, 4);
    assert_eq!(found.hits[0].id, texts[1].id);
    assert!(found.hits[0].conversation != 0.0);
    let neighbour = found.hits.iter().position(|hit| hit.id == texts[0].id);
    assert!(neighbour.is_some(), "the turn before comes along");
    // The speaker's name is indexed with the text.
    assert_eq!(search_turns(&w, "Marta", now()).hits[0].id, texts[0].id);
    // A filter for kinds excludes turns.
    assert!(
        search_turns(&w, "deadline", Filter::current(&[Kind::Note], at(1_000)))
            .hits
            .is_empty()
    );
    let of = |session: &str| {
        now().scope(Scope {
            session: Some(session.to_owned()),
            ..Scope::default()
        })
    };
    assert_eq!(
        search_turns(&w, "deadline", of("one")).hits[0].id,
        texts[1].id
    );
    assert!(search_turns(&w, "deadline", of("two")).hits.is_empty());
}

/// A record has the same score whatever the conversations of the project say.
fn lanes(store: &dyn Store) {
    let w = filled(
        store,
        &[
            "the deadline is the third of May",
            "the release has a deadline",
            "tabs are four spaces wide",
        ],
    );
    let ask = || {
        let mut question = question("when is the deadline of the release", now(), 50);
        question.semantic_text = Some("when is the deadline of the release".to_owned());
        ok(w.store.search(&w.project, &question))
    };
    let before = ask();
    ok(w.store.put_session(&session(&w, "one")));
    let turns: Vec<Message> = (10..60)
        .map(|n| turn(&w, None, &format!("deadline, release, deadline {n}"), n))
        .collect();
    ok(w.store.append_messages(&w.project, "one", &turns));
    assert_eq!(ask(), before);
    assert_eq!(search_turns(&w, "deadline", now()).scope_size, 50);
    w.created(&note(&w, "a deadline of its own", 90));
    assert_eq!(search_turns(&w, "deadline", now()).scope_size, 50);
    assert_eq!(ask().scope_size, 4);
}

fn projects(store: &dyn Store) {
    let w = filled(store, &["shared words"]);
    let other = TestProject::of(store, "another");
    other.created(&note(&other, "shared words", 1));
    for world in [&w, &other] {
        let found = search(world, "shared", now());
        assert_eq!((found.scope_size, found.hits.len()), (1, 1));
        assert_eq!(world.get(found.hits[0].id).project, world.project);
    }
    let Ok(unknown) = ProjectName::new("unknown") else {
        panic!("a good name");
    };
    assert_eq!(
        ok(store.search(&unknown, &question("shared", now(), 5))),
        SearchResults::default()
    );
}

fn many_merges(store: &dyn Store) {
    let w = TestProject::new(store);
    let records: Vec<Record> = (0..700)
        .map(|n| {
            note(
                &w,
                &format!("number {n} of kind {} and group {}", n % 7, n % 50),
                n,
            )
        })
        .collect();
    let (first, rest) = records.split_at(300);
    for record in first {
        w.created(record);
    }
    for part in rest.chunks(200) {
        let changes: Vec<_> = part
            .iter()
            .map(|record| put(record, MergeRule::Keep))
            .collect();
        w.apply(&changes);
    }
    for n in [0, 299, 300, 511, 512, 699] {
        assert_eq!(texts(&w, &n.to_string(), now())[0], records[n].text);
    }
    let of_group = ok(w
        .store
        .search(&w.project, &question("group 31", now(), 100)));
    let scores: Vec<_> = of_group
        .hits
        .iter()
        .take(14)
        .map(|hit| w.get(hit.id).text)
        .collect();
    assert!(
        scores
            .iter()
            .all(|text| text.ends_with("group 31") || text.contains(" 31 ")),
        "{scores:?}"
    );
}

fn purged(store: &dyn Store) {
    let w = filled(store, &["keep this word", "purge that word"]);
    let selection = PurgeTarget::Containing("purge".to_owned());
    ok(store.purge(&w.project, &selection, at(50), "user"));
    assert_eq!(texts(&w, "word", now()), ["keep this word"]);
    assert!(search(&w, "purge", now()).hits.is_empty());
    ok(store.purge(&w.project, &PurgeTarget::Project, at(51), "user"));
    assert_eq!(search(&w, "word", now()), SearchResults::default());
    w.created(&note(&w, "a new beginning", 60));
    assert_eq!(texts(&w, "beginning", now()).len(), 1);
}

fn no_words(store: &dyn Store) {
    let w = filled(store, &["a word"]);
    for text in ["", "?!", "🙂🙂"] {
        assert!(search(&w, text, now()).hits.is_empty(), "{text:?}");
    }
    let no_arm = SearchQuery {
        words: None,
        ..question("word", now(), 5)
    };
    assert!(ok(store.search(&w.project, &no_arm)).hits.is_empty());
    let none = ok(store.search(&w.project, &question("word", now(), 0)));
    assert!(none.hits.is_empty());
}

fn by_key(store: &dyn Store) {
    let w = TestProject::new(store);
    let one = w.fact("port", "the server listens on 8080", 1);
    let other = w.fact("MAX_SIZE", "at most 4 KiB", 2);
    w.created(&one);
    let by_keys = |keys: &[&str]| SearchQuery {
        key_filters: keys.iter().map(|key| now().key(key).limit(5)).collect(),
        ..question("listens", now(), 5)
    };
    let found = |keys: &[&str]| {
        let found = ok(store.search(&w.project, &by_keys(keys)));
        assert_eq!(ids(&found), [one.id]);
        let keys = found.key_matches.into_iter().map(|record| record.key);
        keys.map(Option::unwrap).collect::<Vec<_>>()
    };
    assert!(found(&[]).is_empty());
    assert!(found(&["MAX_SIZE"]).is_empty());
    w.created(&other);
    // The second query of a connection may use what the first has read.
    for _ in 0..2 {
        assert_eq!(found(&["MAX_SIZE", "none", "port"]), ["MAX_SIZE", "port"]);
    }
    w.change(retire(other.id, 3));
    assert_eq!(found(&["MAX_SIZE", "port"]), ["port"]);
    let most = ["k"; limits::RECALL_KEYS_MAX];
    assert!(found(&most).is_empty());
    let more = [most.as_slice(), &["k"]].concat();
    let refused = store.search(&w.project, &by_keys(&more));
    assert!(refused.is_err_and(|error| is_invalid(&error)));
}
