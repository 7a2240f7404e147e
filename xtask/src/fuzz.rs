//! `fuzz`: libFuzzer on the stable compiler, without cargo-fuzz.
//!
//! cargo-fuzz asks for a nightly compiler because of the address sanitizer. Our code forbids
//! `unsafe`, so coverage is all that is needed, and coverage is an LLVM pass that stable can run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cargo;

/// How long each target runs unless told.
const SECONDS_DEFAULT: u64 = 60;

/// What makes the compiler emit the counters that libFuzzer steers by.
const RUSTFLAGS: &str = "--cfg fuzzing \
    -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    /// One target by name; all of them when absent.
    target: Option<String>,
    seconds: u64,
}

/// Builds and runs one target or all; the first crash ends it.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = parse(args)?;
    let folder = cargo::root().join("fuzz");
    let known = targets(&folder)?;
    let chosen = choose(&known, options.target.as_deref())?;
    let host = host()?;
    for target in chosen {
        println!("== fuzz {target}, {} s", options.seconds);
        fuzz_one(&folder, &host, target, options.seconds)?;
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        target: None,
        seconds: SECONDS_DEFAULT,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let seconds = match arg.strip_prefix("--seconds") {
            Some("") => Some(args.next().map_or("", String::as_str)),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        if let Some(seconds) = seconds {
            options.seconds = seconds
                .parse()
                .map_err(|_| format!("--seconds takes a whole number, got `{seconds}`"))?;
        } else if arg.starts_with('-') || options.target.is_some() {
            return Err(format!(
                "unexpected `{arg}`; usage: fuzz [TARGET] [--seconds N]"
            ));
        } else {
            options.target = Some(arg.clone());
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

/// The triple of this machine. Naming it keeps the flags away from build scripts and macros.
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

fn fuzz_one(folder: &Path, host: &str, target: &str, seconds: u64) -> Result<(), String> {
    let built = folder.join("target");
    let mut build = cargo::command(["build", "--release", "--target", host, "--bin", target]);
    build
        .current_dir(folder)
        .arg("--target-dir")
        .arg(&built)
        .env("RUSTFLAGS", RUSTFLAGS)
        // Would take precedence over RUSTFLAGS.
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo::run(&mut build)?;

    let seeds = folder.join("corpus").join(target);
    // libFuzzer writes into the first folder: what it finds stays apart from the kept seeds.
    let found = seeds.join("new");
    let artifacts = folder.join("artifacts").join(target);
    for folder in [&found, &artifacts] {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    }
    let binary = built.join(host).join("release").join(cargo::exe(target));
    let mut fuzzer = Command::new(binary);
    fuzzer
        .arg(&found)
        .arg(&seeds)
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-max_total_time={seconds}"))
        // An input that takes this many seconds is as bad as a crash.
        .arg("-timeout=10")
        .arg("-print_final_stats=1")
        .current_dir(folder)
        .stdin(Stdio::null());
    cargo::run(&mut fuzzer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args)
    }

    fn options(target: Option<&str>, seconds: u64) -> Options {
        Options {
            target: target.map(str::to_owned),
            seconds,
        }
    }

    #[test]
    fn arguments() {
        assert_eq!(parsed(""), Ok(options(None, 60)));
        assert_eq!(
            parsed("signals --seconds 5"),
            Ok(options(Some("signals"), 5))
        );
        assert_eq!(parsed("--seconds=7 a"), Ok(options(Some("a"), 7)));
        for bad in ["a b", "--seconds", "--seconds x", "--secondsx", "--other"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_unknown_target_is_refused_with_the_known_ones() {
        let known = ["a".to_owned(), "b".to_owned()];
        assert_eq!(choose(&known, None).unwrap().len(), 2);
        assert_eq!(choose(&known, Some("b")).unwrap(), [&known[1]]);
        assert!(choose(&known, Some("c")).unwrap_err().contains("a, b"));
        assert!(choose(&[], None).is_err());
    }
}
