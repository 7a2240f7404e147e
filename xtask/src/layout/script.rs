//! From the functions that ran to a linker script that puts them side by side.

use std::collections::{BTreeMap, BTreeSet};

/// The functions in what `nm --defined-only` says: address, kind and name of a symbol in each line.
pub(super) fn names(listing: &str) -> BTreeSet<&str> {
    listing.lines().filter_map(function).collect()
}

fn function(line: &str) -> Option<&str> {
    match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        [_, "t" | "T" | "w" | "W", name] => Some(name),
        _ => None,
    }
}

/// The functions that callgrind counted, of whatever file.
pub(super) fn functions(counted: &str) -> BTreeSet<&str> {
    let names = counted.lines().filter_map(|line| line.strip_prefix("fn="));
    // A function that called itself has a number behind it.
    names
        .map(|name| name.split('\'').next().unwrap_or(name))
        .collect()
}

/// The script: what most runs need comes first. `names` are those of all functions, `runs` those that each run needed.
pub(super) fn of(names: &BTreeSet<&str>, runs: &[BTreeSet<String>]) -> String {
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        let count = runs.iter().filter(|run| run.contains(*name)).count();
        if count > 0 {
            let most = wanted.entry(pattern(name)).or_default();
            *most = count.max(*most);
        }
    }
    let mut wanted: Vec<_> = wanted.iter().collect();
    wanted.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    // What is seldom reached may be in `.text.unlikely`.
    let line = |name: &str| format!("    *(.text*.{name})\n");
    let lines = wanted.iter().map(|(name, _)| line(name));
    format!(
        "/* Written by `cargo xtask layout`: what runs when a command starts (docs/decisions/0074). */\n\
         SECTIONS {{\n  .text.start : {{\n{}  }}\n}} INSERT BEFORE .text;\n",
        lines.collect::<String>()
    )
}

/// A name without what changes from build to build: the hash at its end, and what the optimiser appends.
fn pattern(name: &str) -> String {
    const HASH: usize = "17h0123456789abcdefE".len();
    let end = name.find(".llvm.").unwrap_or(name.len());
    let (name, _) = name.split_at(end);
    let place = name.len().saturating_sub(HASH);
    match name.split_at_checked(place) {
        Some((path, hash))
            if path.starts_with("_ZN") && hash.starts_with("17h") && hash.ends_with('E') =>
        {
            format!("{path}17h*")
        }
        Some(_) | None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_name_loses_its_hash_and_what_the_optimiser_appends() {
        let path = "_ZN8heirloom3run17h0123456789abcdefE";
        assert_eq!(pattern(path), "_ZN8heirloom3run17h*");
        assert_eq!(pattern(&format!("{path}.llvm.42")), "_ZN8heirloom3run17h*");
        assert_eq!(pattern("sqlite3VdbeExec"), "sqlite3VdbeExec");
        assert_eq!(pattern("x"), "x");
    }

    #[test]
    fn what_most_runs_need_comes_first_and_what_did_not_run_is_not_there() {
        let names = names(
            "0000000000001000 t early\n\
             0000000000001020 T often\n\
             0000000000001040 t never\n\
             0000000000001060 d data\n\
             undefined\n",
        );
        let script = of(&names, &[run(&["often", "early"]), run(&["often", "data"])]);
        let (often, early) = (script.find("(.text*.often)"), script.find("(.text*.early)"));
        assert!(often.is_some() && often < early, "{script}");
        assert!(
            !script.contains("never") && !script.contains("data"),
            "{script}"
        );
        assert!(script.ends_with("} INSERT BEFORE .text;\n"), "{script}");
    }

    #[test]
    fn functions_of_one_name_are_one_line() {
        let both = [
            "_ZN3vec4grow17h0123456789abcdefE",
            "_ZN3vec4grow17h1123456789abcdefE",
        ];
        let script = of(&both.into(), &[run(&both), run(&both[..1])]);
        assert_eq!(script.matches("grow").count(), 1, "{script}");
        assert!(script.contains("*(.text*._ZN3vec4grow17h*)"), "{script}");
    }

    #[test]
    fn functions_are_told_from_what_else_is_counted() {
        let counted = "fl=vec.rs\nfn=grow\n1 2\ncfn=called\ncalls=1 2\nfn=again'2\n";
        assert_eq!(
            functions(counted).into_iter().collect::<Vec<_>>(),
            ["again", "grow"]
        );
    }
}
