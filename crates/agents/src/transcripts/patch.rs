//! Parser of patches as Codex and opencode write them (`*** Begin Patch`), also inside of a shell command.

use super::FileEdit;
use super::file_edits::{add_lines, has_private_key};
use crate::patch_marks::{PATCH_END, named_file};
use std::collections::HashMap;

/// Returns the edits of a patch, one for each file.
pub(crate) fn patched_files(patch: &str) -> Vec<FileEdit> {
    let mut edits: Vec<FileEdit> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut current = None;
    let shows_content = !has_private_key(patch);
    for line in patch.lines() {
        if let Some(file) = named_file(line) {
            current = (!file.is_empty()).then(|| {
                *places.entry(file).or_insert_with(|| {
                    edits.push(FileEdit::of_path(file.to_owned()));
                    edits.len() - 1
                })
            });
        } else if line.trim_end() == PATCH_END {
            // Commands may follow the patch.
            current = None;
        } else if let Some(edit) = current.and_then(|place| edits.get_mut(place))
            && shows_content
        {
            if let Some(added) = line.strip_prefix('+') {
                add_lines(&mut edit.added, added);
            } else if let Some(removed) = line.strip_prefix('-') {
                add_lines(&mut edit.removed, removed);
            }
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patched_files_have_added_and_removed_lines() {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.toml\n@@\n [package]\n-version = \"1\"\n+version = \"2\"\n+edition = \"2024\"\n*** Add File: b.txt\n+one\n+\n+two\n*** Delete File: c.txt\n*** Update File: a.toml\n*** Move to: d.toml\n*** End Patch\nEOF\n- not a part\n";
        let edits = patched_files(patch);
        let shown: Vec<_> = (edits.iter())
            .map(|edit| (&*edit.path, &*edit.removed, &*edit.added))
            .collect();
        assert_eq!(
            shown,
            [
                (
                    "a.toml",
                    "version = \"1\"",
                    "version = \"2\"\nedition = \"2024\""
                ),
                ("b.txt", "", "one\ntwo"),
                ("c.txt", "", ""),
                ("d.toml", "", ""),
            ]
        );
        assert!(patched_files("").is_empty());
        assert!(patched_files("*** Update File: \n+x").is_empty());
    }
}
