//! Checks of `find` and the smaller queries.

use super::Check;
use super::test_project::{TestProject, at, ok, put, retire};
use crate::{AsOf, Filter, Order, Store};
use heirloom_model::kinds::{ErrorRecord, Knowledge};
use heirloom_model::{Kind, KindData, MergeRule, Record, RecordId, Scope, Timestamp};

pub(super) const CHECKS: &[Check] = &[
    ("results are in order of id", order),
    ("every part of a filter restricts the results", narrowing),
    ("every scope coordinate restricts the results", coordinates),
    (
        "the filter `no_task` finds records without a task",
        of_no_task,
    ),
    ("several kinds are merged in order", several_kinds),
    ("pages add up to all results", pages),
    ("a limit of 0 finds no record", no_limit),
    ("ids are found by prefix", prefixes),
    ("records are counted by kind", counts),
    ("projects are isolated", isolation),
    ("names may contain quotes and emoji", names),
    ("the filter `holds_at` finds valid records", holds_at),
    ("filters by key prefix and by source", prefixes_and_sources),
];

fn order(store: &dyn Store) {
    let w = TestProject::new(store);
    let (early, late) = (
        w.record(Kind::Note, "early", 1),
        w.record(Kind::Note, "late", 2),
    );
    w.created(&late);
    w.created(&early);
    let filter = Filter::current(&[], at(9));
    assert_eq!(filter.order, Order::Newest);
    assert_eq!(w.texts(&filter), ["late", "early"]);
    assert_eq!(w.texts(&filter.oldest_first()), ["early", "late"]);
}

fn narrowing(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut error = w.record(Kind::Error, "error", 1);
    error.attrs = ErrorRecord::open().to_attrs();
    let mut decision = w.fact("d", "decision", 2);
    decision.attrs = Knowledge::with_category("decision").to_attrs();
    let mut note = w.record(Kind::Note, "note", 3);
    note.attrs = Knowledge::with_category("decision").to_attrs();
    let fact = w.fact("f", "fact", 4);
    let retired = w.fact("g", "gone", 5);
    for record in [&error, &decision, &note, &fact, &retired] {
        w.created(record);
    }
    w.change(retire(retired.id, 6));
    let rows: [(Filter, &[&str]); 15] = [
        (current(&[]), &["fact", "note", "decision", "error"]),
        (current(&[Kind::Knowledge]), &["fact", "decision"]),
        (current(&[]).category("decision"), &["note", "decision"]),
        (
            current(&[Kind::Knowledge]).category("decision"),
            &["decision"],
        ),
        (current(&[Kind::Error]).category("decision"), &[]),
        (current(&[]).except_category("decision"), &["fact", "error"]),
        (
            current(&[Kind::Knowledge]).except_category("decision"),
            &["fact"],
        ),
        (current(&[]).state("open"), &["error"]),
        (current(&[Kind::Error]).state("open"), &["error"]),
        (current(&[Kind::Error]).state("resolved"), &[]),
        (current(&[]).key("f"), &["fact"]),
        (current(&[Kind::Note]).key("f"), &[]),
        (current(&[]).key("f").category("decision"), &[]),
        (current(&[]).key("d").category("decision"), &["decision"]),
        (current(&[Kind::Knowledge]).key("g"), &[]),
    ];
    for (filter, expected) in rows {
        assert_eq!(w.texts(&filter), expected, "{filter:?}");
        let as_of = Filter {
            as_of: AsOf::Past(at(9)),
            ..filter
        };
        assert_eq!(w.texts(&as_of), expected, "{as_of:?}");
    }
    let ever = |filter| Filter {
        as_of: AsOf::Ever,
        ..filter
    };
    assert_eq!(w.texts(&ever(current(&[]).key("g"))), ["gone"]);
    let facts = ever(current(&[Kind::Knowledge, Kind::Note]).category("fact"));
    assert_eq!(w.texts(&facts), ["gone", "fact"]);
}

fn coordinates(store: &dyn Store) {
    let w = TestProject::new(store);
    let name = |value: &str| Some(value.to_owned());
    let nowhere = Scope::default;
    let scopes = [
        Scope {
            plan: name("x"),
            ..nowhere()
        },
        Scope {
            group: name("x"),
            ..nowhere()
        },
        Scope {
            session: name("x"),
            ..nowhere()
        },
        Scope {
            task: name("x"),
            ..nowhere()
        },
        Scope {
            agent: name("x"),
            ..nowhere()
        },
        Scope {
            phase: name("x"),
            ..nowhere()
        },
        Scope {
            iteration: Some(1),
            ..nowhere()
        },
    ];
    for (i, scope) in scopes.iter().enumerate() {
        let mut record = w.record(Kind::Note, &i.to_string(), 1);
        record.scope = scope.clone();
        w.created(&record);
    }
    let mut both = w.record(Kind::Note, "both", 2);
    both.scope = Scope {
        task: name("x"),
        agent: name("y"),
        ..nowhere()
    };
    w.created(&both);
    for (i, scope) in scopes.iter().enumerate() {
        let mut expected = vec![i.to_string()];
        if scope.task.is_some() {
            expected.insert(0, "both".to_owned());
        }
        for kinds in [&[][..], &[Kind::Note], &[Kind::Note, Kind::Step]] {
            let found = w.texts(&current(kinds).scope(scope.clone()));
            assert_eq!(found, expected, "{scope:?}");
        }
    }
    let scope = Scope {
        task: name("x"),
        agent: name("y"),
        ..nowhere()
    };
    assert_eq!(w.texts(&current(&[]).scope(scope)), ["both"]);
    let elsewhere = Scope {
        task: name("x"),
        agent: name("x"),
        ..nowhere()
    };
    assert!(w.texts(&current(&[]).scope(elsewhere)).is_empty());
}

fn several_kinds(store: &dyn Store) {
    let w = TestProject::new(store);
    for second in 0..30 {
        let kind = Kind::ALL[usize::try_from(second % 9).unwrap_or(0)];
        w.created(&w.record(kind, &second.to_string(), second));
    }
    let kinds = [Kind::Step, Kind::Knowledge, Kind::Note, Kind::Step];
    let found = w.texts(&current(&kinds).limit(5));
    assert_eq!(found, ["29", "27", "25", "20", "18"]);
    assert_eq!(w.find(&current(&kinds)).len(), 11);
    assert_eq!(w.find(&current(&Kind::ALL)).len(), 30);
}

fn pages(store: &dyn Store) {
    let w = TestProject::new(store);
    let changes: Vec<_> = (0..25)
        .map(|n| {
            put(
                &w.fact(&n.to_string(), &n.to_string(), n / 5),
                MergeRule::Replace,
            )
        })
        .collect();
    w.apply(&changes);
    for filter in [
        current(&[]),
        current(&[Kind::Knowledge]),
        current(&[Kind::Knowledge]).category("fact").oldest_first(),
        Filter {
            as_of: AsOf::Ever,
            ..current(&[]).oldest_first()
        },
    ] {
        let whole = w.find(&filter);
        assert_eq!(whole.len(), 25);
        let mut page = filter.limit(4);
        let mut paged = Vec::new();
        loop {
            let found = w.find(&page);
            assert!(found.len() <= 4);
            let Some(last) = found.last() else { break };
            page.after = Some(last.id);
            paged.extend(found);
        }
        assert_eq!(paged, whole);
    }
}

fn of_no_task(store: &dyn Store) {
    let w = TestProject::new(store);
    w.created(&w.fact("k", "alone", 1));
    let mut of_task = w.fact("l", "of a task", 2);
    of_task.scope = Scope::of_task("1");
    w.created(&of_task);
    let filter = |no_task| Filter {
        no_task,
        ..current(&[Kind::Knowledge])
    };
    assert_eq!(w.texts(&filter(true)), ["alone"]);
    assert_eq!(w.texts(&filter(false)).len(), 2);
}

fn no_limit(store: &dyn Store) {
    let w = TestProject::new(store);
    w.created(&w.fact("k", "one", 1));
    assert!(w.find(&current(&[]).limit(0)).is_empty());
    assert!(ok(store.ids_with_prefix(&w.project, "", 0)).is_empty());
}

fn prefixes(store: &dyn Store) {
    let w = TestProject::new(store);
    let id = |text: &str| match text.parse::<RecordId>() {
        Ok(id) => id,
        Err(bad) => panic!("{bad}"),
    };
    let ids = [
        id("01890a5d-ac96-774b-bcce-b302099a8057"),
        id("01890a5d-ac96-774b-bcce-b302099a8058"),
        id("01890a5e-ac96-774b-bcce-b302099a8057"),
    ];
    for id in ids.iter().rev() {
        let mut record = w.record(Kind::Note, "x", 1);
        record.id = *id;
        w.created(&record);
    }
    let found = |prefix: &str, limit| ok(store.ids_with_prefix(&w.project, prefix, limit));
    assert_eq!(found("", 9), ids);
    assert_eq!(found("01890a5", 9), ids);
    assert_eq!(found("01890a5", 2), ids[..2]);
    assert_eq!(found("01890A5D-AC96", 9), ids[..2]);
    assert_eq!(found("01890a5dac96774b", 9), ids[..2]);
    assert_eq!(found("01890a5d-ac96-774b-bcce-b302099a8058", 9), [ids[1]]);
    assert_eq!(found("02", 9), []);
    assert_eq!(found("01890a5d-ac96-774b-bcce-b302099a80580", 9), []);
    assert_eq!(found("no hex", 9), []);
    assert_eq!(found("…8057", 9), [ids[0], ids[2]]);
    assert_eq!(found("…8057", 1), [ids[0]]);
    assert_eq!(found("…B302-099A8058", 9), [ids[1]]);
    assert_eq!(found("…01890a5d-ac96-774b-bcce-b302099a8057", 9), [ids[0]]);
    for nothing in [
        "…",
        "…0000",
        "…no hex",
        "…001890a5d-ac96-774b-bcce-b302099a8057",
    ] {
        assert_eq!(found(nothing, 9), [], "{nothing}");
    }
    let elsewhere = TestProject::of(store, "other");
    assert_eq!(ok(store.ids_with_prefix(&elsewhere.project, "", 9)), []);
}

fn counts(store: &dyn Store) {
    let w = TestProject::new(store);
    assert_eq!(ok(store.counts(&w.project, at(1))), []);
    w.created(&w.record(Kind::Note, "a", 1));
    let retired = w.created(&w.record(Kind::Note, "b", 2));
    w.created(&w.fact("k", "c", 3));
    w.change(retire(retired, 4));
    w.put(&w.fact("k", "d", 5));
    let expected = [(Kind::Knowledge, 1), (Kind::Note, 1)];
    assert_eq!(ok(store.counts(&w.project, at(9))), expected);
}

fn isolation(store: &dyn Store) {
    let (first, second) = (TestProject::of(store, "b"), TestProject::of(store, "a"));
    first.created(&first.fact("k", "here", 1));
    second.created(&second.fact("k", "there", 2));
    assert_eq!(first.current(9), ["here"]);
    assert_eq!(second.current(9), ["there"]);
    assert_eq!(first.as_of(9), ["here"]);
    let projects = [second.project.clone(), first.project.clone()];
    assert_eq!(ok(store.projects()), projects, "by name");
    assert!(TestProject::of(store, "c").current(9).is_empty());
    assert_eq!(ok(store.projects()).len(), 2, "reading makes no project");
}

fn names(store: &dyn Store) {
    for (i, name) in ["it's \"quoted\"", "🦀/ünï", "%_*?", "a b"]
        .iter()
        .enumerate()
    {
        let w = TestProject::of(store, name);
        let mut record = w.fact(name, name, 1);
        record.source = (*name).to_owned();
        record.scope = Scope::of_task(name);
        record.attrs = Knowledge::with_category(name).to_attrs();
        w.created(&record);
        let filter = current(&[Kind::Knowledge]).category(name).key(name);
        assert_eq!(w.find(&filter.scope(Scope::of_task(name))), [record]);
        assert_eq!(ok(store.projects()).len(), i + 1);
    }
}

fn current(kinds: &[Kind]) -> Filter {
    Filter::current(kinds, at(9))
}

fn holds_at(store: &dyn Store) {
    let w = TestProject::new(store);
    let of = |key: &str, from: Option<Timestamp>, to: Option<Timestamp>| {
        let record = Record {
            true_from: from,
            true_to: to,
            ..w.fact(key, key, 1)
        };
        w.created(&record);
    };
    of("always", None, None);
    of("from 10", Some(at(10)), None);
    of("to 10", None, Some(at(10)));
    of("from 5 to 15", Some(at(5)), Some(at(15)));
    for (second, expected) in [
        (4, &["always", "to 10"][..]),
        (5, &["always", "to 10", "from 5 to 15"]),
        (10, &["always", "from 10", "from 5 to 15"]),
        (15, &["always", "from 10"]),
    ] {
        let filter = Filter::current(&[], at(20))
            .oldest_first()
            .holds_at(at(second));
        assert_eq!(w.texts(&filter), expected, "at {second}");
    }
}

fn prefixes_and_sources(store: &dyn Store) {
    let w = TestProject::new(store);
    for (second, key) in ["db.host", "db.port", "db", "DB.x", "d%b", "é.1"]
        .iter()
        .enumerate()
    {
        w.created(&w.fact(key, key, i64::try_from(second).unwrap_or(0)));
    }
    let mut theirs = w.fact("db.user", "db.user", 9);
    theirs.source = "bob".to_owned();
    w.created(&theirs);
    let prefix = |prefix: &str| Filter {
        key_prefix: Some(prefix.to_owned()),
        ..Filter::current(&[], at(20)).oldest_first()
    };
    assert_eq!(w.texts(&prefix("db.")), ["db.host", "db.port", "db.user"]);
    assert_eq!(w.texts(&prefix("db")).len(), 4);
    assert_eq!(w.texts(&prefix("é")), ["é.1"]);
    assert_eq!(w.texts(&prefix("%")), Vec::<String>::new());
    assert_eq!(w.texts(&prefix("")).len(), 7);
    let mut both = prefix("db");
    both.source = Some("bob".to_owned());
    assert_eq!(w.texts(&both), ["db.user"]);
    both.key_prefix = None;
    both.source = Some("user".to_owned());
    assert_eq!(w.texts(&both).len(), 6);
}
