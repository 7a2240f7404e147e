//! Descriptions of config keys: the comments of `defaults.toml`.

use super::layers::DEFAULTS;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Returns the description of a key, as one line; empty for an unknown key.
pub(crate) fn describe_key(name: &str) -> &'static str {
    static DESCRIPTIONS: LazyLock<BTreeMap<String, String>> =
        LazyLock::new(|| parse_comments(DEFAULTS));
    DESCRIPTIONS.get(name).map_or("", String::as_str)
}

/// Returns the first sentence of a description.
pub(crate) fn first_sentence(description: &str) -> &str {
    match description.find(". ") {
        Some(end) => &description[..=end],
        None => description,
    }
}

/// Reads the comment above each key of a TOML text.
fn parse_comments(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let (mut section, mut comment) = ("", Vec::new());
    for line in text.lines() {
        if let Some(words) = line.strip_prefix("# ") {
            comment.push(words);
        } else if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name;
            comment.clear();
        } else if let Some((key, _)) = line.split_once(" = ") {
            found.insert(format!("{section}.{key}"), comment.join(" "));
            comment.clear();
        } else {
            comment.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::KEYS;
    use super::*;

    #[test]
    fn every_key_has_a_description_of_its_own() {
        for key in KEYS {
            let sentence = first_sentence(describe_key(key.name));
            assert!(sentence.len() > 8, "{}: `{sentence}`", key.name);
            assert!(sentence.ends_with('.'), "{}: `{sentence}`", key.name);
        }
    }

    #[test]
    fn description_is_the_comment_above_the_key() {
        let found =
            parse_comments("# of the section\n[a]\n# One. Two\n# three.\nb = 1\nc = [\n]\n");
        assert_eq!(found["a.b"], "One. Two three.");
        assert_eq!(found["a.c"], "");
        assert_eq!(first_sentence(&found["a.b"]), "One.");
    }
}
