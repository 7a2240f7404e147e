//! Edits of single keys in a TOML file that keep everything else unchanged.

use heirloom_model::Fault;
use toml_edit::{Document, DocumentMut, Item, Table};

/// Returns `text` with these keys of `section` set; comments, order and other keys stay.
///
/// Errors: `Usage` if the text is not TOML, or `section` is not a table.
pub(crate) fn with_keys(
    text: &str,
    section: &str,
    keys: &[(&str, toml::Value)],
) -> Result<String, Fault> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error| Fault::usage(format!("the config file cannot be read: {error}")))?;
    let table = document
        .entry(section)
        .or_insert(Item::Table(Table::new()))
        .as_table_like_mut()
        .ok_or_else(|| {
            Fault::usage(format!("`{section}` in the config file is not a table"))
                .hint(format!("write it as `[{section}]` with its keys below"))
        })?;
    for (key, value) in keys {
        let mut value: toml_edit::Value = value
            .to_string()
            .parse()
            .map_err(|error| Fault::failed(format!("`{key}`: {error}")))?;
        // `insert` would lose the comments above an existing key, and the value the comment after it.
        match table.get_mut(key) {
            Some(item) => {
                if let Some(previous) = item.as_value() {
                    *value.decor_mut() = previous.decor().clone();
                }
                *item = toml_edit::value(value);
            }
            None => {
                table.insert(key, toml_edit::value(value));
            }
        }
    }
    Ok(document.to_string())
}

/// Returns `text` without `key` of `section`; comments, order and other keys stay. A missing key changes nothing.
///
/// Errors: `Usage` if the text is not TOML, or `section` is not a table.
pub(crate) fn without_key(text: &str, section: &str, key: &str) -> Result<String, Fault> {
    let bad = |error: toml_edit::TomlError| {
        Fault::usage(format!("the config file cannot be read: {error}"))
    };
    let positions = Document::parse(text).map_err(bad)?;
    let table = positions.get(section).and_then(Item::as_table_like);
    let Some((name, item)) = table.and_then(|table| table.key(key).zip(table.get(key))) else {
        return Ok(text.to_owned());
    };
    let is_line = positions.get(section).is_some_and(Item::is_table) && item.is_value();
    // The lines are removed from the text, because a document loses the comments above a removed key.
    if is_line && let (Some(name), Some(value)) = (name.span(), item.span()) {
        let start = text[..name.start].rfind('\n').map_or(0, |at| at + 1);
        let rest = &text[value.end..];
        let end = rest.find('\n').map_or(text.len(), |at| value.end + at + 1);
        let comment = text[value.end..end].trim_start();
        let edited = [&text[..start], comment, &text[end..]].concat();
        if let Ok(document) = edited.parse::<DocumentMut>()
            && (document.get(section)).is_none_or(|table| table.get(key).is_none())
        {
            return Ok(edited);
        }
    }
    let mut document: DocumentMut = text.parse().map_err(bad)?;
    let table = document.get_mut(section).and_then(Item::as_table_like_mut);
    if let Some(table) = table {
        table.remove(key);
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_keys_keeps_other_keys_and_comments() {
        let text = "# mine\n[memory]\nenabled = true # yes\n";
        let edited =
            with_keys(text, "memory", &[("max_entries", toml::Value::Integer(7))]).unwrap();
        assert_eq!(
            edited,
            "# mine\n[memory]\nenabled = true # yes\nmax_entries = 7\n"
        );
    }

    #[test]
    fn with_keys_keeps_comment_after_replaced_value() {
        let text = "[memory]\n# above\nmax_entries = 50 # few\n";
        let seven = [("max_entries", toml::Value::Integer(7))];
        let edited = with_keys(text, "memory", &seven).unwrap();
        assert_eq!(edited, "[memory]\n# above\nmax_entries = 7 # few\n");
    }

    #[test]
    fn without_key_keeps_comments_and_other_keys() {
        let without = |text| without_key(text, "memory", "max_entries").unwrap();
        for (text, expected) in [
            (
                "# mine\n[memory]\n# many\nmax_entries = 7 # seven\nenabled = true\n",
                "# mine\n[memory]\n# many\n# seven\nenabled = true\n",
            ),
            ("[memory]\nmax_entries = 7", "[memory]\n"),
            ("memory.max_entries = 7\na.b = 1\n", "a.b = 1\n"),
            (
                "memory = { enabled = true, max_entries = 7 }\n",
                "memory = { enabled = true}\n",
            ),
            ("[memory]\nenabled = true\n", "[memory]\nenabled = true\n"),
            ("", ""),
        ] {
            assert_eq!(without(text), expected, "{text}");
        }
        let list = "[context]\nsources = [\n  \"a 1\", # one\n]\nselection = \"worth\"\n";
        assert_eq!(
            without_key(list, "context", "sources").unwrap(),
            "[context]\nselection = \"worth\"\n"
        );
    }

    #[test]
    fn with_keys_accepts_any_table_form_and_refuses_other_types() {
        let set = |text| with_keys(text, "memory", &[("max_entries", toml::Value::Integer(7))]);
        assert_eq!(
            set("memory = { enabled = true }\n").unwrap(),
            "memory = { enabled = true , max_entries = 7 }\n"
        );
        assert_eq!(
            set("memory.max_entries = 3\n").unwrap(),
            "memory.max_entries = 7\n"
        );
        for other in ["memory = \"a\"\n", "[[memory]]\na = 1\n", "memory = 1\n"] {
            let fault = set(other).unwrap_err();
            assert!(fault.message.contains("not a table"), "{fault:?}");
        }
    }
}
