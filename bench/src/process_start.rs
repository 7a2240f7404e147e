//! Latency of one call from process start to its end, as a hook or a shell sees it.

use crate::stats::{Times, median_more};
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Numbers of records in the store.
const SIZES: [usize; 2] = [10_000, 100_000];
/// Number of words of a text.
const WORDS: usize = 19;
/// Number of runs of each command.
const RUNS: usize = 200;
/// Number of warm-up runs, which are not timed.
const WARM: usize = 5;

/// Commands that are started; a query is added to the second.
const COMMANDS: [(&str, &[&str]); 3] = [
    ("--version", &["--version"]),
    ("recall", &["recall"]),
    ("context", &["context", "--task", "7"]),
];

pub(crate) fn measure(heirloom: Option<&Path>, to: Option<usize>) -> Outcome<()> {
    let Some(heirloom) = heirloom else {
        println!("process start: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let root = tempfile::tempdir()?;
    let mut engine = fixture::engine(root.path())?;
    let (mut generator, mut stored) = (ZipfGenerator(23), 0);
    for size in SIZES
        .into_iter()
        .filter(|size| to.is_none_or(|to| *size <= to))
    {
        fixture::fill_with(&engine, stored, size, &mut |_| generator.text(WORDS))?;
        stored = size;
        // With no other process on the store: the last one to close it leaves a single file.
        drop(engine);
        let suffix = fixture::size_suffix(size);
        run_rounds(heirloom, root.path(), &suffix, &format!("{size} records"))?;
        engine = fixture::reopen(root.path())?;
        run_rounds(
            heirloom,
            root.path(),
            &format!("{suffix}_open"),
            &format!("{size} records, open elsewhere"),
        )?;
    }
    Ok(())
}

/// Runs each command once in each round; every round begins with another command.
fn run_rounds(heirloom: &Path, root: &Path, suffix: &str, name: &str) -> Outcome<()> {
    let mut times: [Vec<Duration>; COMMANDS.len()] = Default::default();
    for (round, prompt) in ZipfGenerator(29).prompts(WARM + RUNS).iter().enumerate() {
        for n in 0..COMMANDS.len() {
            let index = (round + n) % COMMANDS.len();
            let (command, args) = COMMANDS[index];
            let mut args = args.to_vec();
            if command == "recall" {
                args.push(prompt);
            }
            let took = run(heirloom, root, &args)?;
            if round >= WARM {
                times[index].push(took);
            }
        }
    }
    let bare = Times::of(&times[0]);
    for ((command, _), own) in COMMANDS.iter().zip(&times) {
        let id = format!("start.{}_{suffix}", command.trim_start_matches('-'));
        let name = format!("heirloom {command}, {name}");
        let measured = Times::of(own);
        match *command {
            "--version" => results::times(&id, &name, &measured),
            _ => {
                let yardstick = ("heirloom --version", &bare);
                results::times_with_yardstick(&id, &name, &measured, yardstick);
            }
        }
        if *command != "--version" {
            let more = median_more(own, &times[0]);
            println!(
                "{:40} {more:12.3} ms",
                "  more than --version, median of pairs"
            );
        }
    }
    Ok(())
}

fn run(heirloom: &Path, root: &Path, args: &[&str]) -> Outcome<Duration> {
    let start = Instant::now();
    let status = Command::new(heirloom)
        .args(args)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    let took = start.elapsed();
    if !status.success() {
        return Err(format!("heirloom {} ended with {status}", args.join(" ")).into());
    }
    Ok(took)
}
