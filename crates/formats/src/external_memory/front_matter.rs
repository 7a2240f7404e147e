//! Front matter of Markdown files, read as its programs write it.

use serde_json::{Map, Value};

/// A Markdown file in two parts.
#[derive(Debug, Default)]
pub(super) struct FrontMatter<'t> {
    /// Fields; empty if there is no front matter or it is not valid.
    pub(super) fields: Map<String, Value>,
    /// Text after the front matter.
    pub(super) body: &'t str,
    /// Number of lines before the body.
    pub(super) lines: u64,
}

/// Splits a file. Front matter that is not YAML is read line by line as `name: value`: Cursor writes unquoted patterns
/// such as `globs: *.ts`, which YAML refuses.
pub(super) fn split(text: &str) -> FrontMatter<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let whole = FrontMatter {
        body: text,
        ..FrontMatter::default()
    };
    let Some(rest) = text.strip_prefix("---") else {
        return whole;
    };
    let Some((first, rest)) = rest.split_once('\n') else {
        return whole;
    };
    if !first.trim().is_empty() {
        return whole;
    }
    let (mut at, mut lines) = (0, 1);
    for line in rest.split_inclusive('\n') {
        lines += 1;
        if line.trim_end() == "---" {
            let front = rest.get(..at).unwrap_or_default();
            let body = rest.get(at + line.len()..).unwrap_or_default();
            let fields = parse_fields(front);
            return FrontMatter {
                fields,
                body,
                lines,
            };
        }
        at += line.len();
    }
    whole
}

fn parse_fields(front: &str) -> Map<String, Value> {
    if let Ok(fields) = serde_norway::from_str::<Map<String, Value>>(front) {
        return fields;
    }
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let is_name = !name.is_empty() && !name.starts_with([' ', '-', '#']);
        let value = value.trim().trim_matches(['"', '\'']);
        let value = match value {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => Value::String(text.to_owned()),
        };
        is_name.then(|| (name.trim().to_owned(), value))
    };
    front.lines().filter_map(field).collect()
}

impl FrontMatter<'_> {
    /// Returns a field as trimmed text; also one below `metadata`.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let nested = || self.fields.get("metadata")?.get(name);
        let value = self.fields.get(name).or_else(nested)?;
        let text = value.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn split_reads_yaml_and_unquoted_patterns() {
        let read = split("---\nname: a\nmetadata:\n  type: user\n---\nbody\n");
        assert_eq!((read.body, read.lines), ("body\n", 5));
        assert_eq!(read.text("type").as_deref(), Some("user"));
        let read = split(
            "---\r\ndescription: x: y\r\nglobs: *.ts,*.tsx\r\nalwaysApply: false\r\n---\r\n- rule\r\n",
        );
        assert_eq!(read.fields["globs"], json!("*.ts,*.tsx"));
        assert_eq!(read.fields["alwaysApply"], json!(false));
        assert_eq!(read.body, "- rule\r\n");
    }

    #[test]
    fn split_of_text_without_front_matter_returns_all_of_it() {
        for text in [
            "",
            "---",
            "---\nname: a\n",
            "--- a\nb\n---\n",
            "# Title\n---\n",
        ] {
            let read = split(text);
            assert_eq!((read.body, read.fields.len()), (text, 0), "{text}");
        }
        // A list at the top is not a set of fields.
        assert!(split("---\n- a\n---\nb").fields.is_empty());
    }
}
