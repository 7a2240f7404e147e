//! Tests with episodes as table rows.

use super::*;
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{IdSource, clock};

/// 2026-05-01T10:00:00Z, a Friday of week 18, in seconds.
const BEGINNING: i64 = 1_777_629_600;

/// Creates episodes from rows `task agent action approach [duration/tokens]`, one hour apart.
fn episodes(rows: &[(&str, &str, &str, &str, Option<u64>)]) -> Vec<EpisodeRow> {
    let ids = IdSource::default();
    let some = |word: &str| Some(word.to_owned()).filter(|word| !word.is_empty());
    let row = |(n, (task, agent, action, approach, cost)): (
        usize,
        &(&str, &str, &str, &str, Option<u64>),
    )| {
        let at = clock::from_micros((BEGINNING + n as i64 * 3_600) * 1_000_000);
        EpisodeRow {
            id: ids.next(at),
            at,
            task: some(task),
            agent: some(agent),
            action: action.parse::<EpisodeAction>().ok(),
            approach: some(approach),
            outcome: Some(format!("why {n}")),
            duration_ms: *cost,
            tokens: cost.map(|n| n * 10),
        }
    };
    rows.iter().enumerate().map(row).collect()
}

fn group_lines(groups: &[AttemptGroup]) -> Vec<String> {
    let number = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
    let line = |g: &AttemptGroup| {
        let rate = g.rate.map_or("-".to_owned(), |rate| format!("{rate:.2}"));
        format!(
            "{} {}/{}/{} {rate} {} {}",
            g.name.as_deref().unwrap_or("?"),
            g.attempts,
            g.successes,
            g.failures,
            number(g.median_duration_ms),
            number(g.median_tokens)
        )
    };
    groups.iter().map(line).collect()
}

#[test]
fn analyse_groups_have_rates_and_medians() {
    let all = episodes(&[
        ("1", "a", "failed", "Mock the clock", Some(10)),
        ("1", "b", "completed", "mock the clock.", Some(30)),
        ("2", "a", "completed", "freeze  it", Some(20)),
        ("2", "a", "completed", "Freeze it!", Some(40)),
        ("3", "", "attempted", "", None),
    ]);
    let types =
        BTreeMap::from([("1", "issue"), ("2", "pr")].map(|(k, v)| (k.to_owned(), v.to_owned())));
    let found = analyse(&all, &types);
    assert_eq!(
        group_lines(&found.by_approach),
        [
            "Freeze it! 2/2/0 1.00 30 300",
            "mock the clock. 2/1/1 0.50 20 200"
        ]
    );
    assert_eq!(
        group_lines(&found.by_agent),
        [
            "a 3/2/1 0.67 20 200",
            "? 1/0/0 - - -",
            "b 1/1/0 1.00 30 300"
        ]
    );
    assert_eq!(
        group_lines(&found.by_category),
        [
            "issue 2/1/1 0.50 20 200",
            "pr 2/2/0 1.00 30 300",
            "? 1/0/0 - - -"
        ]
    );
    assert_eq!(group_lines(&found.by_week), ["2026-W18 5/3/1 0.75 25 250"]);
    assert_eq!(found.repeated_failures, []);
    let mut backwards = all;
    backwards.reverse();
    assert_eq!(analyse(&backwards, &types), found, "whatever the order");
    assert_eq!(analyse(&[], &types), AnalyticsReport::default());
}

#[test]
fn analyse_start_and_end_count_as_one_attempt() {
    let check = |rows: &[(&str, &str, &str)], expect: &str| {
        let rows: Vec<_> = rows
            .iter()
            .map(|(agent, action, approach)| ("1", *agent, *action, *approach, Some(5)))
            .collect();
        let found = analyse(&episodes(&rows), &BTreeMap::new());
        assert_eq!(
            group_lines(&found.by_week),
            [format!("2026-W18 {expect} 5 50")],
            "{rows:?}"
        );
    };
    check(
        &[("a", "attempted", "x"), ("a", "failed", "X.")],
        "1/0/1 0.00",
    );
    check(
        &[("a", "attempted", "x"), ("b", "failed", "x")],
        "2/0/1 0.00",
    );
    check(
        &[("a", "attempted", "x"), ("a", "failed", "y")],
        "2/0/1 0.00",
    );
    check(
        &[
            ("a", "attempted", "x"),
            ("a", "retried", "x"),
            ("a", "completed", "x"),
        ],
        "2/1/0 1.00",
    );
    check(
        &[
            ("a", "attempted", "x"),
            ("a", "failed", "x"),
            ("a", "failed", "x"),
        ],
        "2/0/2 0.00",
    );
    check(
        &[("a", "failed", "x"), ("a", "attempted", "x")],
        "2/0/1 0.00",
    );
}

#[test]
fn analyse_reports_repeated_failures() {
    let found = analyse(
        &episodes(&[
            ("1", "a", "failed", "Sleep", None),
            ("2", "b", "failed", "sleep!", None),
            ("1", "a", "failed", "once", None),
            ("1", "a", "failed", "luck", None),
            ("1", "a", "failed", "luck", None),
            ("2", "a", "completed", "Luck", None),
            ("1", "a", "failed", "", None),
            ("1", "a", "failed", "", None),
        ]),
        &BTreeMap::new(),
    );
    let [one] = found.repeated_failures.as_slice() else {
        panic!("{:?}", found.repeated_failures);
    };
    assert_eq!((one.approach.as_str(), one.failures), ("sleep!", 2));
    assert_eq!(one.tasks, ["1", "2"]);
    assert_eq!(one.last_outcome.as_deref(), Some("why 1"));
}

#[test]
fn median_is_middle_value() {
    for (values, expect) in [
        (vec![], None),
        (vec![7], Some(7)),
        (vec![9, 1], Some(5)),
        (vec![3, 1, 2], Some(2)),
        (vec![u64::MAX, u64::MAX], Some(u64::MAX)),
    ] {
        assert_eq!(median(values.into_iter()), expect);
    }
}

#[test]
fn iso_week_follows_calendar() {
    for (date, week) in [
        ("2026-01-01T00:00:00Z", "2026-W01"),
        ("2027-01-03T23:59:59Z", "2026-W53"),
        ("2027-01-04T00:00:00Z", "2027-W01"),
    ] {
        assert_eq!(iso_week(date.parse().unwrap()), week);
    }
}
