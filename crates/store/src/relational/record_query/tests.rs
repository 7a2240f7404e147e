use super::*;
use crate::SqliteStore;
use heirloom_model::{Scope, Timestamp};

/// Returns SQLite's query plan for `filter`.
fn plan(filter: &Filter) -> Vec<String> {
    let store = SqliteStore::memory().unwrap();
    let query = SqlQuery::new(1, filter, COLUMNS);
    let connection = store.lock();
    let sql = format!("EXPLAIN QUERY PLAN {}", query.sql);
    let mut statement = connection.prepare_cached(&sql).unwrap();
    let values: Vec<&dyn ToSql> = query.values.iter().map(Box::as_ref).collect();
    let lines = statement.query_map(&values[..], |row| row.get::<_, String>(3));
    lines.unwrap().collect::<Result<_, _>>().unwrap()
}

/// Checks that each part of the plan searches `index` down to `columns`, in order, without a sort or a table
/// scan.
fn check(filter: &Filter, index: &str, columns: &str) {
    for filter in [filter.clone(), filter.clone().oldest_first()] {
        let plan = plan(&filter);
        let parts = plan.iter().filter(|line| line.contains("SEARCH records"));
        let wanted = format!("SEARCH records USING INDEX {index} ({columns})");
        let parts: Vec<&String> = parts.collect();
        assert!(!parts.is_empty(), "{plan:#?}");
        assert!(parts.iter().all(|part| **part == wanted), "{plan:#?}");
        let slow = |line: &&String| line.contains("TEMP B-TREE") || line.contains("SCAN");
        assert_eq!(plan.iter().find(slow), None, "{plan:#?}");
    }
}

#[test]
fn every_filter_walks_an_index_in_order() {
    let now = Timestamp::UNIX_EPOCH;
    let current = |kinds: &[Kind]| Filter::current(kinds, now);
    let one = || current(&[Kind::Knowledge]);
    let many = || current(&[Kind::Step, Kind::Error, Kind::Note]);
    let task = || Scope::of_task("42");
    check(&current(&[]), "records_by_id", "project=?");
    check(&one(), "current_by_kind", "project=? AND kind=?");
    let facts = one().except_category("decision");
    check(&facts, "current_by_kind", "project=? AND kind=?");
    check(&many(), "current_by_kind", "project=? AND kind=?");
    for filter in [one(), many(), current(&[])] {
        let columns = "project=? AND category=?";
        check(
            &filter.clone().category("decision"),
            "current_by_category",
            columns,
        );
        let columns = "project=? AND kind=? AND state=?";
        check(&filter.clone().state("open"), "current_by_state", columns);
    }
    let columns = "project=? AND task=? AND kind=?";
    check(&many().scope(task()), "current_by_task", columns);
    let pending = current(&[Kind::Step]).scope(task()).state("pending");
    check(&pending, "current_by_task", columns);
    let open = current(&[Kind::Error]).state("open");
    let columns = "project=? AND task=?";
    check(&one().scope(task()), "knowledge_by_task", columns);
    check(&open.clone().scope(task()), "open_errors_by_task", columns);
    let without_task = Filter {
        no_task: true,
        ..open
    };
    check(&without_task, "open_errors_by_task", columns);
    let decisions = one().scope(task()).category("decision");
    check(
        &decisions,
        "current_by_category",
        "project=? AND category=?",
    );
    for when in [AsOf::Past(now), AsOf::Ever] {
        check(
            &Filter {
                as_of: when,
                ..many().scope(task())
            },
            "records_by_id",
            "project=?",
        );
    }
    let open = Filter {
        as_of: AsOf::Ever,
        open_conflict: true,
        ..current(&[])
    };
    check(&open, "open_conflicts", "project=?");
    let after = Some(heirloom_model::RecordId::MIN);
    let newest = Filter { after, ..one() };
    let plan = plan(&newest);
    assert!(
        plan.iter().any(|line| line.contains("kind=? AND id<?")),
        "{plan:#?}"
    );
}

#[test]
fn ids_and_pins_use_their_index() {
    let now = Timestamp::UNIX_EPOCH;
    let ids = Filter::current(&[Kind::Note], now).ids(vec![heirloom_model::RecordId::MIN]);
    for when in [AsOf::Current(now), AsOf::Past(now), AsOf::Ever] {
        let filter = Filter {
            as_of: when,
            ..ids.clone()
        };
        let plan = plan(&filter);
        let wanted = "SEARCH records USING INDEX records_by_id (project=? AND id=?)";
        assert!(plan.iter().any(|line| line == wanted), "{plan:#?}");
    }
    let pinned = Filter {
        pinned: true,
        ..Filter::current(&[], now)
    };
    check(&pinned, "current_pinned", "project=?");
    let team = Filter {
        source: Some(SOURCE_TEAM.to_owned()),
        ..Filter::current(&[Kind::Knowledge], now)
    };
    check(&team, "current_of_team", "project=?");
}

#[test]
fn key_uses_identity_index() {
    for filter in [
        Filter::current(&[Kind::Knowledge], Timestamp::UNIX_EPOCH).key("k"),
        Filter::current(&[], Timestamp::UNIX_EPOCH)
            .key("k")
            .category("fact"),
    ] {
        let plan = plan(&filter);
        let wanted = "records_by_identity (project=? AND kind=? AND key=?";
        assert!(plan.iter().any(|line| line.contains(wanted)), "{plan:#?}");
        assert!(!plan.iter().any(|line| line.contains("SCAN")), "{plan:#?}");
    }
}

#[test]
fn key_prefix_is_an_index_range() {
    let filter = Filter {
        key_prefix: Some("db.".to_owned()),
        ..Filter::current(&[Kind::Knowledge], Timestamp::UNIX_EPOCH)
    };
    let plan = plan(&filter);
    let wanted = "records_by_identity (project=? AND kind=? AND key>? AND key<?";
    assert!(plan.iter().any(|line| line.contains(wanted)), "{plan:#?}");
}
