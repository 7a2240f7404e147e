//! `heirloom analytics`.

use crate::store_access::CliSession;
use heirloom_engine::analytics::{AnalyticsReport, AttemptGroup, RepeatedFailure};
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

/// Show what worked: success rates, durations and tokens, and repeated failures
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Covers current episodes. The rate counts attempts with a known result; weeks are in UTC."
)]
pub(crate) struct Args {
    /// Only of this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let found = session.open()?.tasks().analytics(args.task.as_deref())?;
    if session.out.json {
        session.out.value(&value(&found));
        return Ok(0);
    }
    if found.by_week.is_empty() {
        session
            .out
            .talk("no episodes yet: heirloom episode log, heirloom task done");
        return Ok(0);
    }
    let tables = [
        ("Approach", &found.by_approach),
        ("Agent", &found.by_agent),
        ("Category", &found.by_category),
        ("Week", &found.by_week),
    ];
    for (title, groups) in tables.into_iter().filter(|(_, groups)| !groups.is_empty()) {
        let head = [
            title,
            "tries",
            "worked",
            "failed",
            "unknown",
            "rate",
            "median ms",
            "median tokens",
        ];
        let head = vec![head.map(str::to_owned).to_vec()];
        let rows: Vec<_> = head.into_iter().chain(groups.iter().map(row)).collect();
        session.out.table(&rows, &[]);
        session.out.line("");
    }
    for failing in &found.repeated_failures {
        session.out.line(&describe_failure(failing));
    }
    Ok(0)
}

fn row(group: &AttemptGroup) -> Vec<String> {
    let number = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let rate = group.rate.map(|rate| format!("{:.0} %", rate * 100.0));
    vec![
        text::excerpt(group.name.as_deref().unwrap_or("-"), 60),
        group.attempts.to_string(),
        group.successes.to_string(),
        group.failures.to_string(),
        group.unknown().to_string(),
        rate.unwrap_or_else(|| "-".to_owned()),
        number(group.median_duration_ms),
        number(group.median_tokens),
    ]
}

fn describe_failure(failing: &RepeatedFailure) -> String {
    let why = failing.last_outcome.as_deref().unwrap_or("no reason given");
    format!(
        "failed {} times and never worked: {} ({})",
        failing.failures,
        text::excerpt(&failing.approach, 90),
        text::excerpt(why, 90)
    )
}

fn value(found: &AnalyticsReport) -> Value {
    let groups = |name: &str, groups: &[AttemptGroup]| {
        let group = |group: &AttemptGroup| {
            json!({
                name: group.name,
                "attempts": group.attempts,
                "successes": group.successes,
                "failures": group.failures,
                "unknown": group.unknown(),
                "rate": group.rate,
                "median_duration_ms": group.median_duration_ms,
                "median_tokens": group.median_tokens,
            })
        };
        groups.iter().map(group).collect::<Vec<_>>()
    };
    let failing = |one: &RepeatedFailure| {
        json!({
            "approach": one.approach,
            "failures": one.failures,
            "tasks": one.tasks,
            "last_outcome": one.last_outcome,
            "last_at": one.last_at.to_string(),
        })
    };
    json!({
        "by_approach": groups("approach", &found.by_approach),
        "by_agent": groups("agent", &found.by_agent),
        "by_category": groups("category", &found.by_category),
        "by_week": groups("week", &found.by_week),
        "repeated_failures": found.repeated_failures.iter().map(failing).collect::<Vec<_>>(),
    })
}
