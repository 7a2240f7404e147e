//! Changing a few keys of a config file and leaving everything else as it stands.

use heirloom_model::Fault;
use toml_edit::{DocumentMut, Item, Table};

/// `text` with these keys of `section` set; comments, order and other keys stay.
///
/// Errors: `Usage` if the text is no TOML.
pub(crate) fn with_keys(
    text: &str,
    section: &str,
    keys: &[(&str, toml::Value)],
) -> Result<String, Fault> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error| Fault::usage(format!("the config file cannot be read: {error}")))?;
    let table = document.entry(section).or_insert(Item::Table(Table::new()));
    for (key, value) in keys {
        let value: toml_edit::Value = value
            .to_string()
            .parse()
            .map_err(|error| Fault::failed(format!("`{key}`: {error}")))?;
        table[key] = toml_edit::value(value);
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_keys_and_comments_stay() {
        let text = "# mine\n[memory]\nenabled = true # yes\n";
        let edited =
            with_keys(text, "memory", &[("max_entries", toml::Value::Integer(7))]).unwrap();
        assert_eq!(
            edited,
            "# mine\n[memory]\nenabled = true # yes\nmax_entries = 7\n"
        );
    }
}
