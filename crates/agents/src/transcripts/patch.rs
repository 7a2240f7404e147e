//! Parser of patches as Codex and opencode write them.

/// Beginnings of lines that name a file.
const MARKS: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// Returns the files of a patch, without duplicates.
pub(crate) fn patched_files(patch: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let named = MARKS.iter().find_map(|mark| line.strip_prefix(mark));
        if let Some(file) = named.map(str::trim).filter(|file| !file.is_empty())
            && !files.iter().any(|known| known == file)
        {
            files.push(file.to_owned());
        }
    }
    files
}
