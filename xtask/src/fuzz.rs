//! `fuzz`: libFuzzer on the stable compiler, without cargo-fuzz.
//!
//! cargo-fuzz needs a nightly compiler for the address sanitizer. Our code forbids
//! `unsafe`, so coverage is sufficient, which stable provides as an LLVM pass.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use crate::cargo;

/// Default run time of each target.
const SECONDS_DEFAULT: u64 = 60;

/// Number of final log lines printed for a finding; they contain the input.
const LOG_LINES_SHOWN: usize = 60;

const USAGE: &str = "usage: fuzz [TARGET] [--seconds N] [--jobs N] [--seed N]";

/// Compiler flags for libFuzzer's coverage counters.
const RUSTFLAGS: &str = "--cfg fuzzing \
    -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// Options of the command line.
#[derive(Debug, PartialEq, Eq)]
struct FuzzOptions {
    /// One target by name; all of them when absent.
    target: Option<String>,
    /// Run time of each target.
    seconds: u64,
    /// Number of targets that run concurrently.
    jobs: usize,
    /// Seed of libFuzzer; random when absent.
    seed: Option<u32>,
}

/// Builds all targets, runs each for its time, and lists those with a finding.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = parse(args)?;
    let folder = cargo::root().join("fuzz");
    let known = targets(&folder)?;
    let chosen = choose(&known, options.target.as_deref())?;
    let built = build(&folder, &chosen)?;
    println!(
        "== fuzz {}, {} s each, {} at a time",
        options.target.as_deref().unwrap_or("all targets"),
        options.seconds,
        options.jobs
    );
    let queue = Mutex::new(chosen.into_iter());
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while let Some(target) = next_target(&queue) {
                    let done = fuzz_one(&folder, &built, target, &options);
                    if let (Err(message), Ok(mut failed)) = (done, failed.lock()) {
                        println!("{message}");
                        failed.push(target.clone());
                    }
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_default() {
        none if none.is_empty() => Ok(()),
        some => Err(format!(
            "found something: {}; the inputs are in fuzz/artifacts. Mend it, and leave a test",
            some.join(", ")
        )),
    }
}

/// Returns the next target of a queue shared by threads.
fn next_target<T>(queue: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    queue.lock().ok()?.next()
}

fn parse(args: &[String]) -> Result<FuzzOptions, String> {
    let mut options = FuzzOptions {
        target: None,
        seconds: SECONDS_DEFAULT,
        jobs: 1,
        seed: None,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.as_str(), None),
        };
        let mut number = || {
            let value = value.or_else(|| args.next().map(String::as_str));
            value
                .and_then(|value| value.parse().ok())
                .filter(|number| *number > 0)
                .ok_or_else(|| format!("{name} takes a whole number from 1; {USAGE}"))
        };
        match name {
            "--seconds" => options.seconds = number()?,
            "--seed" => options.seed = Some(u32::try_from(number()?).unwrap_or(u32::MAX)),
            "--jobs" => options.jobs = usize::try_from(number()?).unwrap_or(usize::MAX),
            _ if arg.starts_with('-') || options.target.is_some() => {
                return Err(format!("unexpected `{arg}`; {USAGE}"));
            }
            _ => options.target = Some(arg.clone()),
        }
    }
    Ok(options)
}

/// The targets, sorted: one per file in `fuzz/targets`.
fn targets(folder: &Path) -> Result<Vec<String>, String> {
    let folder = folder.join("targets");
    let entries = std::fs::read_dir(&folder)
        .map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_suffix(".rs").map(str::to_owned)
        })
        .collect();
    names.sort();
    Ok(names)
}

fn choose<'a>(known: &'a [String], wanted: Option<&str>) -> Result<Vec<&'a String>, String> {
    let chosen: Vec<&String> = known
        .iter()
        .filter(|name| wanted.is_none_or(|wanted| wanted == name.as_str()))
        .collect();
    match (chosen.is_empty(), wanted) {
        (false, _) => Ok(chosen),
        (true, Some(wanted)) => Err(format!(
            "no target `{wanted}`; there are: {}",
            known.join(", ")
        )),
        (true, None) => Err("no targets: fuzz/targets holds no .rs file".into()),
    }
}

/// Returns the host triple. Passing it as the target keeps the flags away from build scripts and macros.
fn host() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .current_dir(cargo::root())
        .output()
        .map_err(|error| format!("cannot start rustc: {error}"))?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .ok_or_else(|| "`rustc -vV` names no host".to_owned())
}

/// Builds all targets in one cargo call; returns the folder of the binaries.
fn build(folder: &Path, targets: &[&String]) -> Result<PathBuf, String> {
    let host = host()?;
    let built = folder.join("target");
    let mut build = cargo::command(["build", "--release", "--target", &host]);
    for target in targets {
        build.args(["--bin", target]);
    }
    build
        .current_dir(folder)
        .arg("--target-dir")
        .arg(&built)
        .env("RUSTFLAGS", RUSTFLAGS)
        // Would take precedence over RUSTFLAGS.
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo::run(&mut build)?;
    Ok(built.join(host).join("release"))
}

/// Runs one target from its saved corpus; its output goes to a log, since several run concurrently.
fn fuzz_one(
    folder: &Path,
    built: &Path,
    target: &str,
    options: &FuzzOptions,
) -> Result<(), String> {
    let seeds = folder.join("corpus").join(target);
    // libFuzzer writes into the first folder, so findings are separate from the saved seeds.
    let found = seeds.join("new");
    let artifacts = folder.join("artifacts").join(target);
    for folder in [&found, &artifacts] {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    }
    let log = artifacts.join("run.log");
    let cannot = |error| format!("cannot write {}: {error}", log.display());
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&log);
    let file = file.map_err(cannot)?;
    let mut fuzzer = Command::new(built.join(cargo::exe(target)));
    fuzzer
        .arg(&found)
        .arg(&seeds)
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-max_total_time={}", options.seconds))
        // An input that takes this many seconds counts as a crash.
        .arg("-timeout=10")
        .arg("-print_final_stats=1")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file.try_clone().map_err(cannot)?)
        .stderr(file);
    if let Some(seed) = options.seed {
        fuzzer.arg(format!("-seed={seed}"));
    }
    let done = cargo::run(&mut fuzzer);
    let log_text = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    match done {
        Ok(()) => {
            println!("{target:<10} {}", summary(&log_text));
            Ok(())
        }
        Err(message) => Err(format!("\n== {target}\n{}\n{message}", tail(&log_text))),
    }
}

/// Summary of a run without a finding.
fn summary(log: &str) -> String {
    let stat = |name: &str| {
        let line = log.lines().rev().find(|line| line.contains(name));
        let value = line.and_then(|line| line.split_once(name));
        value.map_or("?", |(_, rest)| {
            rest.split_whitespace().next().unwrap_or("?")
        })
    };
    format!(
        "{} inputs, {} edges covered",
        stat("stat::number_of_executed_units:"),
        stat(" cov:")
    )
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<FuzzOptions, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args)
    }

    fn options(target: Option<&str>, seconds: u64, jobs: usize) -> FuzzOptions {
        FuzzOptions {
            target: target.map(str::to_owned),
            seconds,
            jobs,
            seed: None,
        }
    }

    #[test]
    fn parse_arguments_accepts_options_and_refuses_others() {
        assert_eq!(parsed(""), Ok(options(None, 60, 1)));
        assert_eq!(
            parsed("signals --seconds 5"),
            Ok(options(Some("signals"), 5, 1))
        );
        assert_eq!(
            parsed("--seconds=7 a --jobs 2"),
            Ok(options(Some("a"), 7, 2))
        );
        let seeded = FuzzOptions {
            seed: Some(7),
            ..options(Some("a"), 60, 1)
        };
        assert_eq!(parsed("a --seed 7"), Ok(seeded));
        for bad in [
            "a b",
            "--seconds",
            "--seconds x",
            "--secondsx",
            "--other",
            "--jobs 0",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn log_summary_has_executions_and_coverage() {
        let log = "#2 INITED cov: 12 ft: 13\n#9 NEW    cov: 345 ft: 678 corp: 9\nDONE\n\
                   stat::number_of_executed_units: 1234\nstat::peak_rss_mb: 40\n";
        assert_eq!(summary(log), "1234 inputs, 345 edges covered");
        assert_eq!(summary(""), "? inputs, ? edges covered");
        let lines: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let shown = tail(&lines.join("\n"));
        assert!(shown.starts_with("40\n") && shown.ends_with("\n99"));
    }

    /// Seeds are read by people and carried by every clone.
    #[test]
    fn saved_corpora_stay_below_size_limit() {
        let folder = cargo::root().join("fuzz");
        for target in targets(&folder).unwrap() {
            let seeds = fs::read_dir(folder.join("corpus").join(&target));
            let sizes: Vec<u64> = seeds
                .unwrap_or_else(|error| panic!("{target} has no seeds: {error}"))
                .map(|seed| seed.unwrap().metadata().unwrap())
                .filter(fs::Metadata::is_file)
                .map(|seed| seed.len())
                .collect();
            assert!((1..=30).contains(&sizes.len()), "{target}: {}", sizes.len());
            assert!(
                sizes.iter().all(|size| *size < 4_096),
                "{target}: {sizes:?}"
            );
        }
    }

    #[test]
    fn unknown_target_is_refused_with_list_of_targets() {
        let known = ["a".to_owned(), "b".to_owned()];
        assert_eq!(choose(&known, None).unwrap().len(), 2);
        assert_eq!(choose(&known, Some("b")).unwrap(), [&known[1]]);
        assert!(choose(&known, Some("c")).unwrap_err().contains("a, b"));
        assert!(choose(&[], None).is_err());
    }
}
