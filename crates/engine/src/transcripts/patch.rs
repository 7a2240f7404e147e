//! The files that a patch of Codex changes.

/// How a line begins that names a file.
const MARKS: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// The files of a patch, each once.
pub(super) fn files(patch: &str) -> Vec<String> {
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
