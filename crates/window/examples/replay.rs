//! Cost of a policy over a folder of conversations, compared with common alternatives.
//!
//! `cargo run --release -p heirloom-window --example replay -- FOLDER [--exact] [--policy FILE] [--per-file]`: the
//! folder has `.json` files with `{"messages": […]}`; files with fewer than 40 messages are skipped.
#![expect(clippy::print_stdout, reason = "an example prints")]

use heirloom_window::replay::{ReplayMode, ReplayReport, replay, total};
use heirloom_window::{Conversation, Policy, PolicyKeys, Profile};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let folder = args.first().ok_or("a folder of conversations")?;
    let exact = args.iter().any(|arg| arg == "--exact");
    let per_file = args.iter().any(|arg| arg == "--per-file");
    let mut policies = vec![
        ("none", ReplayMode::FullHistory),
        ("every turn", ReplayMode::StubsEveryTurn),
        ("last 40k", ReplayMode::KeepLast(40_000)),
        ("seed", under(Policy::profile(Profile::Seed))),
        ("default", under(Policy::default())),
        ("large", under(Policy::profile(Profile::Large))),
    ];
    if let Some(at) = args.iter().position(|arg| arg == "--policy") {
        let text = std::fs::read_to_string(args.get(at + 1).ok_or("a file")?)?;
        let keys: PolicyKeys = toml::from_str(&text)?;
        policies.push((
            "given",
            under(keys.policy().map_err(|fault| fault.message)?),
        ));
    }
    let (names, conversations) = read(folder)?;
    let rows = |under: &ReplayMode| -> Result<Vec<ReplayReport>, Box<dyn Error>> {
        conversations
            .iter()
            .map(|one| Ok(replay(one, under, exact)?))
            .collect()
    };
    let none = rows(&ReplayMode::FullHistory)?;
    println!(
        "{:<12} {:>6} {:>6} {:>7} {:>6} {:>6} {:>7} {:>7} {:>6} {:>6} {:>7} {:>6} {:>6} {:>6} {:>5}",
        "policy",
        "input",
        "cost",
        "cost+rf",
        "median",
        "worst",
        "breaks%",
        "peak",
        "goal%",
        "near%",
        "recall%",
        "fresh%",
        "old%",
        "refet%",
        "lost"
    );
    for (name, under) in &policies {
        let rows = rows(under)?;
        let all = total(&rows, &none);
        println!(
            "{name:<12} {:>6.3} {:>6.3} {:>7.3} {:>6.3} {:>6.3} {:>7.1} {:>7} {:>6.1} {:>6.1} {:>7.1} {:>6.1} {:>6.1} {:>6.1} {:>5}",
            all.input,
            all.cost,
            all.cost_refetch,
            all.cost_median,
            all.cost_worst,
            all.prefix_breaks * 100.0,
            all.largest_request,
            all.goal * 100.0,
            all.goal_near * 100.0,
            all.recall * 100.0,
            all.fresh * 100.0,
            all.old * 100.0,
            all.refetches * 100.0,
            all.lost
        );
        if per_file {
            for ((file, row), none) in names.iter().zip(&rows).zip(&none) {
                println!(
                    "    {file:<40} turns {:>4} cost {:.3} peak {:>6} near {:.3} recall {:.3} fresh {:.3} old {:.3} breaks {}",
                    row.turns,
                    row.cost / none.cost,
                    row.largest_request,
                    row.goal_near as f64 / row.turns as f64,
                    row.recall,
                    row.fresh,
                    row.old,
                    row.prefix_breaks
                );
            }
        }
    }
    Ok(())
}

fn under(policy: Policy) -> ReplayMode {
    ReplayMode::Policy(Box::new(policy))
}

fn read(folder: &str) -> Result<(Vec<String>, Vec<Conversation>), Box<dyn Error>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    let (mut names, mut out) = (Vec::new(), Vec::new());
    for file in files {
        let one = Conversation::parse(&std::fs::read_to_string(&file)?, None)?;
        if one.len() >= 40 {
            names.push(
                file.file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            );
            out.push(one);
        }
    }
    Ok((names, out))
}
