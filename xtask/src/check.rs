//! `check`: all checks that a change must pass, cheapest first.

mod counts;
mod skipped_tests;
mod tee;

use std::time::{Duration, Instant};

use heirloom_testkit::{REQUIRE_ALL_VARIABLE, SKIPPED_FILE_VARIABLE};

use crate::postgres::{self, ConnectionPooler, PostgresCluster};
use crate::{cargo, deny, tidy};
use counts::Counts;
use skipped_tests::SkippedTests;

/// Variable with the seed of the property tests. A fixed seed makes a failure reproducible elsewhere; a run of
/// the tests without `check` uses a random one.
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";

/// Variable that defines the handling of changed snapshots. `no` fails a test and writes nothing.
const SNAPSHOT_UPDATE: &str = "INSTA_UPDATE";

/// Runner of the tests. It hides the output of skipped tests, because the last lines of `check` name them.
const NEXTEST: [&str; 6] = [
    "nextest",
    "run",
    "--workspace",
    "--no-fail-fast",
    "--success-output",
    "never",
];

/// Options of the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct CheckOptions {
    /// Leave out doc tests and docs.
    fast: bool,
    /// Fail the tests whose prerequisite the machine lacks, instead of skipping them.
    require_all: bool,
}

/// Result of a step.
enum Outcome {
    Passed,
    /// Its tool is not installed.
    Skipped(String),
    Failed(String),
}

/// Results of the tests.
#[derive(Debug, Default)]
struct TestReport {
    counts: Counts,
    /// Tests whose prerequisite the machine lacks.
    skipped: SkippedTests,
}

/// One row of the summary.
struct SummaryRow {
    name: &'static str,
    outcome: Outcome,
    elapsed: Duration,
}

/// A step and what it adds to the report of the tests.
struct Step {
    name: &'static str,
    run: fn(&CheckOptions, &mut Option<TestReport>) -> Outcome,
}

const STEPS: [Step; 6] = [
    Step {
        name: "fmt",
        run: fmt,
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "tidy",
        run: |_, _| outcome(tidy::run(&[])),
    },
    Step {
        name: "deny",
        run: deny,
    },
    Step {
        name: "tests",
        run: tests,
    },
    Step {
        name: "docs",
        run: docs,
    },
];

/// Runs all steps, also after one that failed, and prints a summary and, when tests ran, those without their
/// prerequisite and `N passed, N failed, N skipped`.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = parse(args)?;
    let started = Instant::now();
    let mut report = None;
    let mut rows: Vec<SummaryRow> = Vec::new();
    for step in &STEPS {
        if options.fast && step.name == "docs" {
            continue;
        }
        println!("\n== {} (at {})", step.name, seconds(started.elapsed()));
        let step_started = Instant::now();
        let outcome = (step.run)(&options, &mut report);
        rows.push(SummaryRow {
            name: step.name,
            outcome,
            elapsed: step_started.elapsed(),
        });
    }
    print!("\n{}", summary(&rows));
    println!("{:<8}{:>9}", "all", seconds(started.elapsed()));
    if let Some(report) = report {
        println!("\n{}{}", report.skipped, report.counts);
    }
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| matches!(row.outcome, Outcome::Failed(_)))
        .map(|row| row.name)
        .collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")))
    }
}

fn parse(args: &[String]) -> Result<CheckOptions, String> {
    let mut options = CheckOptions::default();
    for arg in args {
        match arg.as_str() {
            "--fast" => options.fast = true,
            "--require-all" => options.require_all = true,
            other => {
                return Err(format!(
                    "unexpected `{other}`; usage: check [--fast] [--require-all]"
                ));
            }
        }
    }
    Ok(options)
}

fn fmt(_: &CheckOptions, _: &mut Option<TestReport>) -> Outcome {
    if !cargo::has("fmt") {
        return Outcome::Skipped("rustfmt is not installed".into());
    }
    // The fuzz targets are outside the workspace.
    let fuzz = "--manifest-path=fuzz/Cargo.toml";
    let packages = ["--all", fuzz].map(|which| {
        let mut fmt = cargo::command(["fmt", which]);
        cargo::run(fmt.args(["--", "--check"]))
    });
    outcome(packages.into_iter().collect())
}

fn clippy(_: &CheckOptions, _: &mut Option<TestReport>) -> Outcome {
    if !cargo::has("clippy") {
        return Outcome::Skipped("clippy is not installed".into());
    }
    let mut clippy = cargo::command(["clippy", "--workspace", "--all-targets"]);
    clippy.args(["--", "-D", "warnings"]);
    outcome(cargo::run(&mut clippy))
}

fn deny(_: &CheckOptions, _: &mut Option<TestReport>) -> Outcome {
    if !deny::is_installed() {
        return Outcome::Skipped(deny::NOT_INSTALLED.into());
    }
    outcome(deny::run(&[]))
}

/// Unit and integration tests with nextest where it is installed, then doc tests, which only
/// cargo itself can run.
fn tests(options: &CheckOptions, report: &mut Option<TestReport>) -> Outcome {
    let file = match tempfile::NamedTempFile::new() {
        Ok(file) => file,
        Err(error) => return Outcome::Failed(format!("cannot create a temporary file: {error}")),
    };
    let mut total = Counts::default();
    let mut results = Vec::new();
    let cluster = start_postgres().unwrap_or_else(|problem| {
        println!("no PostgreSQL server could be started for the tests: {problem}");
        None
    });
    let pooler = cluster.as_ref().map(ConnectionPooler::start).transpose();
    let pooler = pooler.unwrap_or_else(|problem| {
        println!("PgBouncer could not be started for the tests: {problem}");
        None
    });
    let nextest = cargo::has("nextest");
    let mut runners = vec![if nextest {
        NEXTEST.to_vec()
    } else {
        vec!["test", "--workspace", "--no-fail-fast", "--tests"]
    }];
    if !options.fast {
        runners.push(vec!["test", "--workspace", "--no-fail-fast", "--doc"]);
    }
    for runner in runners {
        let mut command = cargo::command(&runner);
        for (variable, default) in [(PROPERTY_SEED, "1"), (SNAPSHOT_UPDATE, "no")] {
            if value(variable).is_none() {
                command.env(variable, default);
            }
        }
        command.env(SKIPPED_FILE_VARIABLE, file.path());
        match options.require_all {
            true => command.env(REQUIRE_ALL_VARIABLE, "1"),
            false => command.env_remove(REQUIRE_ALL_VARIABLE),
        };
        if let Some(cluster) = &cluster {
            command.env(postgres::URL_VARIABLE, cluster.url());
        }
        if let Some(pooler) = &pooler {
            command.env(postgres::POOLER_URL_VARIABLE, pooler.url());
        }
        let (result, output) = tee::run(&mut command);
        let ran = if runner.contains(&"nextest") {
            counts::of_nextest(&output)
        } else {
            counts::of_cargo_test(&output)
        };
        total.add(ran.or_one_failure_unless(result.is_ok()));
        results.push(result);
    }
    let read = std::fs::read_to_string(file.path());
    let skipped = SkippedTests::parse(read.as_deref().unwrap_or_default());
    results.push(
        read.map(|_| ())
            .map_err(|error| format!("{}: {error}", file.path().display())),
    );
    total.move_to_skipped(skipped.count());
    *report = Some(TestReport {
        counts: total,
        skipped,
    });
    outcome(results.into_iter().collect())
}

/// Starts a server for the tests of PostgreSQL, unless one is named.
fn start_postgres() -> Result<Option<PostgresCluster>, String> {
    if value(postgres::URL_VARIABLE).is_some() {
        return Ok(None);
    }
    PostgresCluster::start(&[]).map(Some)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the runner of the tests reads these variables"
)]
fn value(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn docs(_: &CheckOptions, _: &mut Option<TestReport>) -> Outcome {
    let mut doc = cargo::command(["doc", "--workspace", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    outcome(cargo::run(&mut doc))
}

/// Prints a failure where it happened, so that the reader finds it above the next step.
fn outcome(result: Result<(), String>) -> Outcome {
    match result {
        Ok(()) => Outcome::Passed,
        Err(message) => {
            println!("{message}");
            Outcome::Failed(message)
        }
    }
}

fn summary(rows: &[SummaryRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let (state, detail) = match &row.outcome {
            Outcome::Passed => ("ok", ""),
            Outcome::Skipped(why) => ("skipped", why.as_str()),
            Outcome::Failed(why) => ("FAILED", why.as_str()),
        };
        let line = format!(
            "{:<8}{:>9}  {state:<8}{detail}",
            row.name,
            seconds(row.elapsed)
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_arguments_accepts_flags_and_refuses_others() {
        let parsed = |line: &str| {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            parse(&args)
        };
        assert_eq!(parsed(""), Ok(CheckOptions::default()));
        let both = CheckOptions {
            fast: true,
            require_all: true,
        };
        assert_eq!(parsed("--require-all --fast"), Ok(both));
        assert!(parsed("--slow").is_err());
    }

    #[test]
    fn summary_lists_each_step_with_its_result() {
        let row = |name, outcome| SummaryRow {
            name,
            outcome,
            elapsed: Duration::from_millis(1_250),
        };
        let text = summary(&[
            row("fmt", Outcome::Skipped("rustfmt is not installed".into())),
            row("clippy", Outcome::Passed),
            row("tests", Outcome::Failed("`cargo test` failed".into())),
        ]);
        assert_eq!(
            text,
            "fmt         1.2 s  skipped rustfmt is not installed\n\
             clippy      1.2 s  ok\n\
             tests       1.2 s  FAILED  `cargo test` failed\n"
        );
    }
}
