//! Redaction: generated secrets in every surrounding, and false alarms in real text.

use heirloom_redact::Redactor;
use heirloom_testkit::secrets::{
    SURROUNDINGS, SecretSample, Surrounding, format_sample, is_left, named_samples,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Percentage of the secrets with a listed format that must be found in each surrounding.
const FORMATS_MIN: f64 = 99.0;
/// Percentage of the secrets that are known only by their name.
const NAMED_MIN: f64 = 95.0;
/// Default number of seeds, each of which gives one sample of each format and 120 named ones.
const SEEDS: u64 = 5;
/// Number of missed samples that are printed for a surrounding under its goal.
const SHOWN: usize = 3;

/// Result of one group of samples in one surrounding.
#[derive(Default)]
struct Share {
    found: usize,
    all: usize,
    missed: Vec<String>,
}

impl Share {
    fn percent(&self) -> f64 {
        match self.all {
            0 => 100.0,
            all => 100.0 * self.found as f64 / all as f64,
        }
    }
}

pub(super) fn run(args: &[String]) -> Result<(), String> {
    let (mut seeds, mut text) = (SEEDS, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--seeds", Some(count)) => {
                seeds = count
                    .parse()
                    .map_err(|_| format!("not a number: {count}"))?;
            }
            ("--text", Some(folder)) => text = Some(PathBuf::from(folder)),
            _ => {
                return Err(
                    "usage: cargo xtask attack secrets [--seeds N] [--text FOLDER]".to_owned(),
                );
            }
        }
    }
    let (formats, named) = samples(seeds);
    println!(
        "{} samples of formats, {} known by name, {} surroundings",
        formats.len(),
        named.len(),
        SURROUNDINGS.len()
    );
    println!("{:<26} {:>9} {:>9}", "surrounding", "formats", "by name");
    let mut bad = Vec::new();
    for surrounding in SURROUNDINGS {
        let own = measure(surrounding, &formats);
        let by_name = measure(surrounding, &named);
        let shown = match surrounding.has_name {
            true => format!("{:.1} %", by_name.percent()),
            false => "-".to_owned(),
        };
        println!(
            "{:<26} {:>9} {shown:>9}",
            surrounding.name,
            format!("{:.1} %", own.percent())
        );
        for (share, least) in [(own, FORMATS_MIN), (by_name, NAMED_MIN)] {
            let is_wanted = least == FORMATS_MIN || surrounding.has_name;
            if is_wanted && share.percent() < least {
                bad.push(format!(
                    "{}: under {least} %: {}",
                    surrounding.name,
                    share.missed.join(" | ")
                ));
            }
        }
    }
    if let Some(folder) = text {
        count_alarms(&folder)?;
    }
    match bad.is_empty() {
        true => Ok(()),
        false => Err(bad.join("\n")),
    }
}

/// Generates the samples of some seeds: of every format, and of names.
fn samples(seeds: u64) -> (Vec<SecretSample>, Vec<SecretSample>) {
    let (mut formats, mut named) = (Vec::new(), Vec::new());
    for seed in 1..=seeds {
        for (number, rule) in heirloom_redact::formats().enumerate() {
            let name = format!("{} {}", rule.kind, rule.expression);
            let seed = seed * 10_000 + number as u64;
            formats.push(format_sample(&name, rule.before, rule.expression, seed));
        }
        named.extend(named_samples(seed));
    }
    (formats, named)
}

/// Redacts samples in one surrounding.
fn measure(surrounding: &Surrounding, samples: &[SecretSample]) -> Share {
    let redactor = Redactor::default();
    let mut share = Share::default();
    for sample in samples {
        let text = (surrounding.write)(sample);
        share.all += 1;
        match is_left(&redactor.redact(&text), sample) {
            false => share.found += 1,
            true if share.missed.len() < SHOWN => {
                share.missed.push(format!("{} in {text:?}", sample.rule))
            }
            true => {}
        }
    }
    share
}

/// Prints every finding in the files of a folder, for a reader who tells secrets from false alarms.
fn count_alarms(folder: &Path) -> Result<(), String> {
    let redactor = Redactor::default();
    let (mut bytes, mut count) = (0, 0);
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path)
                .map_err(|error| format!("cannot list {}: {error}", path.display()))?;
            open.extend(entries.filter_map(|entry| entry.map(|entry| entry.path()).ok()));
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        bytes += text.len();
        for one in redactor.find(&text) {
            count += 1;
            let line = text.get(..one.start).unwrap_or("").matches('\n').count() + 1;
            let shown: String = text
                .get(one.start..one.end)
                .unwrap_or("")
                .chars()
                .take(60)
                .collect();
            println!("{}:{line}: {}: {shown:?}", path.display(), one.kind);
        }
    }
    println!("{count} findings in {:.1} MB", bytes as f64 / 1e6);
    Ok(())
}
