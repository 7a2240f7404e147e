//! Words of the paths in a prompt. A path says where work happens, not what it is about, so it is no evidence alone.

use heirloom_model::Record;
use heirloom_model::record_meaning::record_meaning;
use heirloom_search::index::tokenizer::{QueryTerms, Term, stems};
use std::collections::HashSet;

/// Marks around a path that are no part of it.
const AROUND: [char; 15] = [
    '`', '"', '\'', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '!', '?',
];

/// Terms of a prompt, apart by their place.
pub(super) struct PromptTerms {
    /// Terms outside of paths.
    own: HashSet<Term>,
    /// Terms that only paths have.
    paths: HashSet<Term>,
}

impl PromptTerms {
    /// Reads a prompt.
    pub(super) fn of(prompt: &str) -> Self {
        let whole: HashSet<Term> = QueryTerms::of(prompt).terms.into_iter().collect();
        let is_only_files = prompt
            .split_whitespace()
            .all(|word| is_path(word) || is_file(word));
        let rest: Vec<&str> = match is_only_files {
            true => Vec::new(),
            false => (prompt.split_whitespace())
                .filter(|word| !is_path(word))
                .collect(),
        };
        // Stop words are terms of the rest if it has no others, but never of the whole.
        let own = QueryTerms::of(&rest.join(" ")).terms.into_iter();
        let own: HashSet<Term> = own.filter(|term| whole.contains(term)).collect();
        let paths = whole.difference(&own).copied().collect();
        Self { own, paths }
    }

    /// Returns true if the prompt has nothing but paths.
    pub(super) fn is_only_paths(&self) -> bool {
        self.own.is_empty()
    }

    /// Returns true if words of paths are all that a record shares with the prompt. A record that shares nothing has
    /// another reason to be found.
    pub(super) fn shares_only_paths(&self, record: &Record) -> bool {
        if self.paths.is_empty() {
            return false;
        }
        let meaning = record_meaning(record);
        let named = record.key.as_deref().unwrap_or_default();
        let mut shares_path = false;
        for stem in stems(&meaning).into_iter().chain(stems(named)) {
            if self.own.contains(&stem.term) {
                return false;
            }
            shares_path |= self.paths.contains(&stem.term);
        }
        shares_path
    }
}

/// Returns true for a path with folders, such as `src/a.rs`, `@docs/x.md` or `C:\x`, and for a link to a page such as
/// `https://example.org/pull/7`, whose words are mostly those of the project; not for a module such as `github.com/a/b`.
fn is_path(word: &str) -> bool {
    let word = word.trim_matches(AROUND).trim_start_matches('@');
    if let Some((_, address)) = word.split_once("://") {
        return address
            .split_once('/')
            .is_some_and(|(_, page)| !page.is_empty());
    }
    let Some(at) = word.find(['/', '\\']) else {
        return false;
    };
    let (first, rest) = word.split_at(at);
    let is_host = first.trim_start_matches('.').contains('.');
    let has_name = first.chars().chain(rest.chars()).any(char::is_alphanumeric);
    has_name && !is_host
}

/// Returns true for a name with an extension of letters, such as `main.rs`, with or without a position in the file.
fn is_file(word: &str) -> bool {
    let word = word.trim_matches(AROUND).trim_start_matches('@');
    let name = word.split(':').next().unwrap_or_default();
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let is_extension = (1..=5).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    is_extension && stem.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_path_needs_folders_and_no_host() {
        for path in [
            "src/a.rs",
            "./x",
            "../x/y",
            "/etc/hosts",
            "~/.config",
            "@docs/x.md",
            "`src/a.rs:12:5`,",
            "C:\\work\\x.cs",
            ".github/workflows",
            "https://example.org/team/project/pull/7",
        ] {
            assert!(is_path(path), "{path}");
        }
        for word in [
            "src",
            "a.rs",
            "/",
            "//",
            "https://example.org",
            "http://localhost:8791/",
            "github.com/a/b",
            "sigs.k8s.io/controller-runtime",
        ] {
            assert!(!is_path(word), "{word}");
        }
    }

    #[test]
    fn prompt_of_files_has_no_words_of_its_own() {
        for prompt in [
            "src/a.rs",
            "main.rs:12",
            "  @src/a.rs lib.rs\n",
            "look at src/",
        ] {
            let terms = PromptTerms::of(prompt);
            assert_eq!(
                terms.is_only_paths(),
                !prompt.starts_with("look"),
                "{prompt}"
            );
        }
        for prompt in [
            "v0.18.2",
            "why?",
            "what is in src/a.rs",
            "12.5",
            "e.g. this",
        ] {
            let terms = PromptTerms::of(prompt);
            assert_eq!(
                terms.is_only_paths(),
                prompt.starts_with("what"),
                "{prompt}"
            );
        }
    }
}
