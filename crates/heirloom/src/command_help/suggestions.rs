//! Suggestions for names of commands that do not exist.

use super::command_groups::GROUPS;
use super::help_topics::TOPICS;

/// Words of other products and of everyday use, with the commands that do it here.
const SYNONYMS: [(&str, &[&str]); 44] = [
    ("ask", &["recall"]),
    ("audit", &["history", "receipts"]),
    ("begin", &["init", "demo"]),
    ("browse", &["ui", "list"]),
    ("cat", &["show"]),
    ("clean", &["prune", "review"]),
    ("clear", &["purge"]),
    ("connect", &["install"]),
    ("create", &["remember", "init"]),
    ("dashboard", &["ui"]),
    ("del", &["forget"]),
    ("destroy", &["purge"]),
    ("drop", &["forget", "purge"]),
    ("dump", &["export", "backup"]),
    ("edit", &["remember", "ui"]),
    ("erase", &["purge"]),
    ("examine", &["doctor"]),
    ("fix", &["doctor"]),
    ("gc", &["prune"]),
    ("grep", &["recall"]),
    ("health", &["doctor", "status"]),
    ("hooks", &["install", "hook"]),
    ("info", &["status"]),
    ("inspect", &["show", "doctor"]),
    ("load", &["import"]),
    ("lookup", &["recall"]),
    ("new", &["init", "remember"]),
    ("open", &["ui"]),
    ("print", &["show", "context"]),
    ("prompt", &["context"]),
    ("put", &["remember"]),
    ("query", &["recall"]),
    ("remove", &["forget"]),
    ("retrieve", &["recall"]),
    ("revert", &["undo"]),
    ("server", &["serve"]),
    ("set", &["config", "remember"]),
    ("settings", &["config"]),
    ("setup", &["init", "install"]),
    ("start", &["init", "demo", "serve"]),
    ("store", &["remember"]),
    ("sync", &["watch", "workspace"]),
    ("web", &["ui"]),
    ("write", &["remember"]),
];

/// Smallest Jaro-Winkler similarity of a suggestion.
const SIMILARITY_MIN: f64 = 0.8;

/// Largest distance of the similarity to that of the best suggestion.
const SIMILARITY_MARGIN: f64 = 0.06;

/// Most suggestions.
const SUGGESTIONS_MAX: usize = 3;

/// Returns the commands of `program` that a wrong name may mean, the best first.
pub(crate) fn suggest_commands<'p>(given: &str, program: &'p clap::Command) -> Vec<&'p str> {
    let given = given.to_lowercase();
    if let Some((_, commands)) = SYNONYMS.iter().find(|(word, _)| *word == given) {
        return commands.to_vec();
    }
    let names = program.get_subcommands().flat_map(|command| {
        let name = command.get_name();
        let all = std::iter::once(name).chain(command.get_all_aliases());
        all.map(move |word| (word, name))
    });
    let synonyms = SYNONYMS
        .iter()
        .filter_map(|(word, commands)| Some((*word, *commands.first()?)));
    nearest(&given, names.chain(synonyms))
}

/// Returns the names of topics, groups and commands that a wrong topic may mean, the best first.
pub(crate) fn suggest_topics<'p>(given: &str, program: &'p clap::Command) -> Vec<&'p str> {
    let given = given.to_lowercase();
    let topics = TOPICS.iter().flat_map(|topic| {
        let all = std::iter::once(&topic.name).chain(topic.other_names);
        all.map(|word| (*word, topic.name))
    });
    let groups = GROUPS.iter().map(|group| (group.topic, group.topic));
    let found = nearest(&given, topics.chain(groups));
    let commands = suggest_commands(&given, program);
    let mut all: Vec<_> = commands.into_iter().chain(found).collect();
    all.truncate(SUGGESTIONS_MAX);
    all
}

/// Returns the targets of the words that are most similar to `given`.
fn nearest<'p>(given: &str, words: impl Iterator<Item = (&'p str, &'p str)>) -> Vec<&'p str> {
    let rated = words.map(|(word, target)| (similarity(given, word), target));
    let mut rated: Vec<_> = rated.filter(|(rate, _)| *rate >= SIMILARITY_MIN).collect();
    rated.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = rated.first().map_or(0.0, |(rate, _)| *rate);
    let mut found = Vec::new();
    for (rate, target) in rated {
        if rate >= best - SIMILARITY_MARGIN && !found.contains(&target) {
            found.push(target);
        }
    }
    found.truncate(SUGGESTIONS_MAX);
    found
}

/// Returns the similarity of two words, 0 to 1: the better one of Jaro-Winkler, which favours equal beginnings, and of
/// the number of edits, which favours equal lengths.
fn similarity(given: &str, word: &str) -> f64 {
    let edits = strsim::normalized_damerau_levenshtein(given, word);
    strsim::jaro_winkler(given, word).max(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a program with some of the real commands.
    fn program() -> clap::Command {
        let names = GROUPS.iter().flat_map(|group| group.commands);
        let commands = names.map(|(name, _)| match *name {
            "recall" => clap::Command::new("recall").alias("search"),
            name => clap::Command::new(name),
        });
        clap::Command::new("heirloom").subcommands(commands)
    }

    #[test]
    fn suggest_commands_finds_misspelt_names() {
        for (given, command) in [
            ("lst", "list"),
            ("rember", "remember"),
            ("remeber", "remember"),
            ("recal", "recall"),
            ("serach", "recall"),
            ("contxt", "context"),
            ("instal", "install"),
            ("docter", "doctor"),
            ("hepl", "help"),
            ("statsu", "status"),
            ("LIST", "list"),
        ] {
            assert_eq!(
                suggest_commands(given, &program()).first(),
                Some(&command),
                "{given}"
            );
        }
    }

    #[test]
    fn suggest_commands_knows_words_of_other_products() {
        for (given, command) in [
            ("store", "remember"),
            ("query", "recall"),
            ("start", "init"),
            ("remove", "forget"),
            ("dashboard", "ui"),
            ("removed", "forget"),
        ] {
            assert_eq!(
                suggest_commands(given, &program()).first(),
                Some(&command),
                "{given}"
            );
        }
    }

    #[test]
    fn suggest_commands_has_nothing_for_other_words() {
        for given in ["", "xyzzy", "why does the deploy fail", "é"] {
            assert!(suggest_commands(given, &program()).is_empty(), "{given}");
        }
    }

    #[test]
    fn synonyms_are_no_names_and_lead_to_commands() {
        let program = program();
        let is_name = |word: &str| program.find_subcommand(word).is_some();
        for (word, commands) in SYNONYMS {
            assert!(!is_name(word), "{word}");
            assert!(commands.iter().all(|command| is_name(command)), "{word}");
        }
    }

    #[test]
    fn suggest_topics_includes_topics_groups_and_commands() {
        assert_eq!(suggest_topics("budgt", &program()).first(), Some(&"budget"));
        assert_eq!(
            suggest_topics("variable", &program()).first(),
            Some(&"environment")
        );
        assert_eq!(
            suggest_topics("advancd", &program()).first(),
            Some(&"advanced")
        );
        assert_eq!(suggest_topics("recal", &program()).first(), Some(&"recall"));
    }
}
