//! One call of the program, from process start to its end: what a hook or a shell waits for.

use crate::dice::Dice;
use crate::stats::{Times, median_more};
use crate::{Outcome, probe};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Records in the store.
const SIZES: [usize; 2] = [10_000, 100_000];
/// Words of a text.
const WORDS: usize = 19;
/// Runs of each command.
const RUNS: usize = 200;
/// Runs before the clock counts.
const WARM: usize = 5;

/// What is started; a question is added to the second.
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
    let mut engine = probe::engine(root.path())?;
    let (mut dice, mut stored) = (Dice(23), 0);
    for size in SIZES
        .into_iter()
        .filter(|size| to.is_none_or(|to| *size <= to))
    {
        probe::fill_with(&engine, stored, size, &mut |_| dice.text(WORDS))?;
        stored = size;
        // As it is when nobody else is at work: the last to close leaves one file.
        drop(engine);
        by_turns(heirloom, root.path(), &format!("{size} records"))?;
        engine = probe::reopened(root.path())?;
        by_turns(
            heirloom,
            root.path(),
            &format!("{size} records, open elsewhere"),
        )?;
    }
    Ok(())
}

/// Each command once in each round, every round begun by another one.
fn by_turns(heirloom: &Path, root: &Path, name: &str) -> Outcome<()> {
    let mut times: [Vec<Duration>; COMMANDS.len()] = Default::default();
    for (round, prompt) in Dice(29).prompts(WARM + RUNS).iter().enumerate() {
        for n in 0..COMMANDS.len() {
            let which = (round + n) % COMMANDS.len();
            let (command, args) = COMMANDS[which];
            let mut args = args.to_vec();
            if command == "recall" {
                args.push(prompt);
            }
            let took = run(heirloom, root, &args)?;
            if round >= WARM {
                times[which].push(took);
            }
        }
    }
    for ((command, _), own) in COMMANDS.iter().zip(&times) {
        Times::of(own).print(&format!("heirloom {command}, {name}"));
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
