//! Module names: a module is a noun phrase of the field.

/// Bare participles, adverbs and prepositions, and nouns that are a metaphor.
const NO_NOUNS: [&str; 66] = [
    "acting",
    "again",
    "along",
    "any",
    "apart",
    "aside",
    "asked",
    "away",
    "before",
    "behind",
    "beneath",
    "belongs",
    "beside",
    "clean",
    "come",
    "counted",
    "counting",
    "door",
    "embedded",
    "foreign",
    "found",
    "given",
    "gather",
    "gone",
    "hearing",
    "heard",
    "held",
    "here",
    "inside",
    "kept",
    "known",
    "left",
    "listening",
    "look",
    "lately",
    "mended",
    "mirrored",
    "near",
    "never",
    "odd",
    "offered",
    "once",
    "outside",
    "own",
    "passed_on",
    "past",
    "planned",
    "reading",
    "rooms",
    "running",
    "said",
    "served",
    "settle",
    "shown",
    "taken",
    "there",
    "together",
    "told",
    "tracked",
    "tried",
    "wanted",
    "whole",
    "working",
    "writing",
    "written",
    "wrong",
];

/// Words that end like a participle and are nouns.
const NOUNS_IN_ED: [&str; 6] = ["embed", "feed", "need", "seed", "shed", "speed"];

/// Files here are called as the commands, whose names are part of the contract.
const COMMANDS: &str = "crates/heirloom/src/commands";

/// Returns the module name of a Rust file if it is no noun phrase.
pub(super) fn bad_name(path: &str) -> Option<&str> {
    let (folder, file) = path.rsplit_once('/')?;
    if folder == COMMANDS {
        return None;
    }
    let stem = file.strip_suffix(".rs")?;
    let is_participle = stem.ends_with("ed") && !stem.contains('_') && !NOUNS_IN_ED.contains(&stem);
    (NO_NOUNS.contains(&stem) || is_participle).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participles_adverbs_and_prepositions_are_found() {
        for (path, expected) in [
            ("a/src/told.rs", Some("told")),
            ("a/src/passed_on.rs", Some("passed_on")),
            ("a/src/brand/mirrored.rs", Some("mirrored")),
            ("a/src/polished.rs", Some("polished")),
            ("a/src/seed.rs", None),
            ("a/src/shared_files.rs", None),
            ("a/src/told/group_commit.rs", None),
            ("docs/told.md", None),
            ("crates/heirloom/src/commands/tried.rs", None),
            (
                "crates/heirloom/src/commands/import/offered.rs",
                Some("offered"),
            ),
        ] {
            assert_eq!(bad_name(path), expected, "{path}");
        }
    }
}
