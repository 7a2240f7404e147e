//! Marks of a patch in the format of the tool `apply_patch`, as Codex and opencode write it.

/// First line of a patch.
pub(crate) const PATCH_BEGIN: &str = "*** Begin Patch";
/// Last line of a patch.
pub(crate) const PATCH_END: &str = "*** End Patch";
/// Beginnings of lines that name a file.
const FILE_MARKS: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// Returns the file that a line of a patch names, without blanks around it; empty after a mark without a name.
pub(crate) fn named_file(line: &str) -> Option<&str> {
    let named = FILE_MARKS.iter().find_map(|mark| line.strip_prefix(mark));
    named.map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_with_mark_names_its_file() {
        assert_eq!(named_file("*** Update File: a b.rs "), Some("a b.rs"));
        assert_eq!(named_file("*** Move to: c.rs"), Some("c.rs"));
        assert_eq!(named_file("*** Add File: "), Some(""));
        assert_eq!(named_file(PATCH_BEGIN), None);
        assert_eq!(named_file(PATCH_END), None);
    }
}
