//! Edits of single keys in a TOML file that keep everything else unchanged.

use heirloom_model::Fault;
use toml_edit::{DocumentMut, Item, Table};

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
        let value: toml_edit::Value = value
            .to_string()
            .parse()
            .map_err(|error| Fault::failed(format!("`{key}`: {error}")))?;
        table.insert(key, toml_edit::value(value));
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
