//! `bench`: builds the shipped binary, runs the benchmarks, and renders the tables of docs/benchmarks.md.

pub(crate) mod document;
mod judgement;
pub(crate) mod metrics;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo;
use document::{DOCUMENT, RESULTS, Results};
use judgement::Judgement;
use metrics::{GROUPS, LONG, WITH_DATA};

/// Options that change a measurement: its results are not those of the document.
const VARIANTS: [&str; 2] = ["--to", "--json"];

/// Builds the binary and the benchmarks with the `dist` profile, without a measurement.
const BUILD_ONLY: &str = "--build";

/// Builds the binary and the benchmarks with the `dist` profile and runs the groups of `--only`, or all that need
/// neither data nor a million records. Each group writes its results to `bench/results`, unless an option changes what
/// is measured. `--table` only renders the document, `--judged METRIC GOOD/SAMPLE` records what a person judged.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if args == ["--table"] {
        return write_tables();
    }
    if let [option, id, share] = args
        && option == "--judged"
    {
        return record_judgement(&Judgement::parse(id, share)?);
    }
    let is_usual = |group: &&str| !LONG.contains(group) && !WITH_DATA.contains(group);
    let mut groups: Vec<&str> = GROUPS.into_iter().filter(is_usual).collect();
    let mut rest = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--only" => groups = only(words.next())?,
            other => rest.push(other),
        }
    }
    let folder = cargo::build_dist(&["heirloom", "heirloom-bench"])?;
    if rest.contains(&BUILD_ONLY) {
        copy_binary(&folder)?;
        return Ok(());
    }
    let binary = copy_binary(&folder)?;
    if groups.contains(&"tokens") {
        let options = ["--profile", "dist", "--features", "tokens"];
        let mut build = cargo::command(["build", "--package", "heirloom-bench"]);
        cargo::run(build.args(options))?;
    }
    let commit = cargo::commit();
    let is_variant = rest.iter().any(|word| VARIANTS.contains(word));
    let mut failures = Vec::new();
    for group in groups {
        let mut bench = Command::new(folder.join(cargo::exe("heirloom-bench")));
        bench
            .args(&rest)
            .args(["--only", group, "--heirloom"])
            .arg(&binary)
            .current_dir(cargo::root())
            .stdin(Stdio::null());
        let is_recorded = GROUPS.contains(&group) && !is_variant;
        let measured = folder.join(format!("bench-{group}.json"));
        if is_recorded {
            bench.arg("--json").arg(&measured);
            bench.args(commit.iter().flat_map(|hash| ["--commit", hash]));
        }
        println!("# {group}");
        let _ = fs::remove_file(&measured);
        // A group that was skipped, because its data is missing, writes nothing.
        let done = cargo::run(&mut bench).and_then(|()| match is_recorded && measured.exists() {
            true => record(group, &measured),
            false => Ok(()),
        });
        if let Err(error) = done {
            failures.push(format!("{group}: {error}"));
        }
    }
    match failures.is_empty() {
        true => write_tables(),
        false => Err(failures.join("; ")),
    }
}

/// Replaces the recorded results of a group by the measured ones, unless a metric is missing in them.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the repository, under version control"
)]
fn record(group: &str, measured: &Path) -> Result<(), String> {
    let path = cargo::root().join(format!("{RESULTS}{group}.json"));
    let text =
        fs::read_to_string(measured).map_err(|error| format!("{}: {error}", measured.display()))?;
    let before = fs::read_to_string(&path).unwrap_or_default();
    let missing = document::missing_metrics(&before, &text);
    if !missing.is_empty() {
        return Err(format!(
            "the results are not recorded, because these metrics are missing: {}. Run the group with its data folder in \
             HEIRLOOM_BENCH_DATA; if they were removed on purpose, delete {RESULTS}{group}.json first",
            missing.join(", ")
        ));
    }
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Splits the argument of `--only`, a comma-separated list of groups. The prompts are measured in a process and through the
/// program.
fn only(list: Option<&String>) -> Result<Vec<&str>, String> {
    let words = list.into_iter().flat_map(|list| list.split(','));
    let groups: Vec<&str> = words
        .flat_map(|word| match word {
            "prompts" => vec!["prompts", "prompts-program"],
            other => vec![other],
        })
        .collect();
    match groups.iter().all(|group| !group.is_empty()) && !groups.is_empty() {
        true => Ok(groups),
        false => Err("--only needs groups, such as `--only prompts,context`".to_owned()),
    }
}

/// Copies the binary, as every installation does. A process of the linker's own file starts one millisecond later: the
/// linker writes its pages in small pieces, so that each page fault maps fewer of them.
fn copy_binary(folder: &Path) -> Result<PathBuf, String> {
    let copy = folder.join("installed").join(cargo::exe("heirloom"));
    let copied = copy
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::copy(folder.join(cargo::exe("heirloom")), &copy));
    copied.map_err(|error| format!("{}: {error}", copy.display()))?;
    Ok(copy)
}

/// Writes a judgement to the results and renders the document.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the repository, under version control"
)]
fn record_judgement(judgement: &Judgement) -> Result<(), String> {
    let path = cargo::root().join(judgement::file());
    let before = fs::read_to_string(&path).unwrap_or_default();
    let written = judgement.add_to(
        &before,
        cargo::commit().as_deref(),
        cargo::commit_date().as_deref(),
    )?;
    fs::write(&path, written).map_err(|error| format!("{}: {error}", judgement::file()))?;
    write_tables()
}

/// Renders the tables of the document from the results.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the repository, under version control"
)]
pub(crate) fn write_tables() -> Result<(), String> {
    let root = cargo::root();
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
    };
    let folder = fs::read_dir(root.join(RESULTS)).map_err(|error| format!("{RESULTS}: {error}"))?;
    let mut files = Vec::new();
    for entry in folder {
        let entry = entry.map_err(|error| format!("{RESULTS}: {error}"))?;
        let path = format!("{RESULTS}{}", entry.file_name().to_string_lossy());
        files.push((path.clone(), read(&path)?));
    }
    let texts = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()));
    let filled = Results::parse(texts)?.fill(&read(DOCUMENT)?)?;
    fs::write(root.join(DOCUMENT), filled).map_err(|error| format!("{DOCUMENT}: {error}"))?;
    println!("wrote the tables of {DOCUMENT}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_separated_by_commas_and_not_empty() {
        let list = "replay,prompts".to_owned();
        let groups = ["replay", "prompts", "prompts-program"];
        assert_eq!(only(Some(&list)).unwrap(), groups);
        for list in [None, Some(String::new()), Some("replay,".to_owned())] {
            assert!(only(list.as_ref()).is_err(), "{list:?}");
        }
    }
}
