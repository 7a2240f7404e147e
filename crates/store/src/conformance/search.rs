//! Searching: what is found, what never is, and in which order.

use super::Check;
use super::world::{World, at, ok, put, restore, retire};
use crate::{Filter, Found, Search, Selection, Store, When};
use heirloom_index::words::Question;
use heirloom_model::record::Attrs;
use heirloom_model::{Kind, Merge, Message, ProjectName, Record, RecordId, Role, Scope, Session};

pub(super) const CHECKS: &[Check] = &[
    (
        "the words of a question find what says them, best first",
        words,
    ),
    ("what is retired is not found, what comes back is", retired),
    ("what has expired is not found", expired),
    ("the past is searched as it was", past),
    (
        "filters apply inside the index, not behind a limit",
        filtered,
    ),
    (
        "turns of conversations are found, with their neighbours",
        turns,
    ),
    ("a project finds nothing of another", projects),
    ("many writes and many merges find the same as one", many),
    ("what is purged is not found", purged),
    ("a question without words finds nothing", nothing),
];

fn question(text: &str, filter: Filter, each: usize) -> Search {
    Search {
        words: Some(Question::of(text)),
        meaning: None,
        vector: None,
        filter,
        each,
    }
}

fn now() -> Filter {
    Filter::current(&[], at(1_000))
}

fn search(w: &World<'_>, text: &str, filter: Filter) -> Found {
    ok(w.store.search(&w.project, &question(text, filter, 50)))
}

fn ids(found: &Found) -> Vec<RecordId> {
    found.hits.iter().map(|hit| hit.id).collect()
}

fn texts(w: &World<'_>, text: &str, filter: Filter) -> Vec<String> {
    let found = ids(&search(w, text, filter));
    found.into_iter().map(|id| w.get(id).text).collect()
}

fn note(w: &World<'_>, text: &str, second: i64) -> Record {
    w.record(Kind::Note, text, second)
}

fn filled<'s>(store: &'s dyn Store, said: &[&str]) -> World<'s> {
    let w = World::new(store);
    for (second, text) in (1..).zip(said) {
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
    assert_eq!((all.searched, all.hits.len()), (4, 1));
    assert!(all.hits[0].lexical > 0.0 && !all.hits[0].is_turn);
    assert_eq!(
        search(&w, "midnight", now()),
        all,
        "the same question, the same answer"
    );
    assert_eq!(texts(&w, "unheard", now()), Vec::<String>::new());
    // Alike in everything: the older first.
    for second in [20, 21] {
        w.created(&note(&w, "twins say this", second));
    }
    let twins = search(&w, "twins", now());
    assert!(twins.hits[0].id < twins.hits[1].id);
}

fn retired(store: &dyn Store) {
    let w = World::new(store);
    let first = w.created(&w.fact("k", "the port is 8080", 1));
    w.put(&w.fact("k", "the port is 9090", 2));
    assert_eq!(texts(&w, "port", now()), ["the port is 9090"]);
    w.change(restore(first, 3));
    assert_eq!(texts(&w, "port", now()), ["the port is 8080"]);
    w.change(retire(first, 4));
    let none = search(&w, "port", now());
    assert_eq!((none.searched, none.hits.len()), (0, 0));
    w.change(restore(first, 5));
    assert_eq!(texts(&w, "port", now()), ["the port is 8080"]);
}

fn expired(store: &dyn Store) {
    let w = World::new(store);
    let mut record = note(&w, "holds for a while", 1);
    record.expires_at = Some(at(10));
    w.created(&record);
    assert_eq!(texts(&w, "while", Filter::current(&[], at(9))).len(), 1);
    let found = search(&w, "while", Filter::current(&[], at(10)));
    assert_eq!((found.searched, found.hits.len()), (0, 0));
}

fn past(store: &dyn Store) {
    let w = World::new(store);
    w.created(&w.fact("k", "the port is 8080", 10));
    w.put(&w.fact("k", "the port is 9090", 20));
    let as_of = |second| Filter {
        when: When::AsOf(at(second)),
        ..now()
    };
    assert_eq!(texts(&w, "port", as_of(9)), Vec::<String>::new());
    assert_eq!(texts(&w, "port", as_of(15)), ["the port is 8080"]);
    assert_eq!(texts(&w, "port", as_of(25)), ["the port is 9090"]);
    let ever = Filter {
        when: When::Ever,
        ..now()
    };
    assert_eq!(texts(&w, "port", ever).len(), 2);
}

fn filtered(store: &dyn Store) {
    let w = World::new(store);
    for second in 1..=80 {
        w.created(&note(&w, "needle needle needle", second));
    }
    let mut wanted = w.record(
        Kind::Error,
        "a needle in a long text that says much else besides it",
        90,
    );
    wanted.scope.task = Some("42".to_owned());
    w.created(&wanted);
    let of_kind = Filter::current(&[Kind::Error], at(1_000));
    let of_task = now().scope(Scope {
        task: Some("42".to_owned()),
        ..Scope::default()
    });
    for filter in [of_kind, of_task] {
        let found = ok(w.store.search(&w.project, &question("needle", filter, 3)));
        assert_eq!(ids(&found), [wanted.id]);
        assert_eq!(found.searched, 1);
    }
    let few = ok(w.store.search(&w.project, &question("needle", now(), 3)));
    assert_eq!(few.hits.len(), 3);
}

fn session(w: &World<'_>, id: &str) -> Session {
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

fn turn(w: &World<'_>, sender: Option<&str>, text: &str, second: i64) -> Message {
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
    let w = World::new(store);
    for name in ["one", "two"] {
        ok(w.store.put_session(&session(&w, name)));
    }
    let said = [
        turn(&w, Some("Marta"), "we talked about the release", 1),
        turn(&w, None, "the deadline is the third of May", 2),
        turn(&w, None, "all right then", 3),
    ];
    let other = [turn(&w, None, "nothing about it at all", 4)];
    ok(w.store.append_messages(&w.project, "one", &said));
    ok(w.store.append_messages(&w.project, "two", &other));
    let found = search(&w, "when is the deadline", now());
    assert_eq!(found.searched, 4);
    assert_eq!(found.hits[0].id, said[1].id);
    assert!(found.hits[0].is_turn && found.hits[0].conversation != 0.0);
    let neighbour = found.hits.iter().position(|hit| hit.id == said[0].id);
    assert!(neighbour.is_some(), "the turn before comes along");
    // A speaker's name belongs to what they say.
    assert_eq!(search(&w, "Marta", now()).hits[0].id, said[0].id);
    // Records are not turns, and filters for records leave turns out.
    assert!(
        search(&w, "deadline", Filter::current(&[Kind::Note], at(1_000)))
            .hits
            .is_empty()
    );
    let of = |session: &str| {
        now().scope(Scope {
            session: Some(session.to_owned()),
            ..Scope::default()
        })
    };
    assert_eq!(search(&w, "deadline", of("one")).hits[0].id, said[1].id);
    assert!(search(&w, "deadline", of("two")).hits.is_empty());
}

fn projects(store: &dyn Store) {
    let w = filled(store, &["shared words"]);
    let other = World::of(store, "another");
    other.created(&note(&other, "shared words", 1));
    for world in [&w, &other] {
        let found = search(world, "shared", now());
        assert_eq!((found.searched, found.hits.len()), (1, 1));
        assert_eq!(world.get(found.hits[0].id).project, world.project);
    }
    let Ok(unknown) = ProjectName::new("unknown") else {
        panic!("a good name");
    };
    assert_eq!(
        ok(store.search(&unknown, &question("shared", now(), 5))),
        Found::default()
    );
}

fn many(store: &dyn Store) {
    let w = World::new(store);
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
        let changes: Vec<_> = part.iter().map(|record| put(record, Merge::Keep)).collect();
        w.apply(&changes);
    }
    for n in [0, 299, 300, 511, 512, 699] {
        assert_eq!(texts(&w, &n.to_string(), now())[0], records[n].text);
    }
    let of_group = ok(w
        .store
        .search(&w.project, &question("group 31", now(), 100)));
    let told: Vec<_> = of_group
        .hits
        .iter()
        .take(14)
        .map(|hit| w.get(hit.id).text)
        .collect();
    assert!(
        told.iter()
            .all(|text| text.ends_with("group 31") || text.contains(" 31 ")),
        "{told:?}"
    );
}

fn purged(store: &dyn Store) {
    let w = filled(store, &["keep this word", "purge that word"]);
    let selection = Selection::Containing("purge".to_owned());
    ok(store.purge(&w.project, &selection, at(50), "user"));
    assert_eq!(texts(&w, "word", now()), ["keep this word"]);
    assert!(search(&w, "purge", now()).hits.is_empty());
    ok(store.purge(&w.project, &Selection::Project, at(51), "user"));
    assert_eq!(search(&w, "word", now()), Found::default());
    w.created(&note(&w, "a new beginning", 60));
    assert_eq!(texts(&w, "beginning", now()).len(), 1);
}

fn nothing(store: &dyn Store) {
    let w = filled(store, &["a word"]);
    for text in ["", "?!", "🙂🙂"] {
        assert!(search(&w, text, now()).hits.is_empty(), "{text:?}");
    }
    let no_arm = Search {
        words: None,
        ..question("word", now(), 5)
    };
    assert!(ok(store.search(&w.project, &no_arm)).hits.is_empty());
    let none = ok(store.search(&w.project, &question("word", now(), 0)));
    assert!(none.hits.is_empty());
}
