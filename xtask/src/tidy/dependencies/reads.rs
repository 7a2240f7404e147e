//! Files are opened by name in one place, which never waits, refuses what is no file and reads up to a limit; and their
//! names are shown escaped.

use super::paths::Named;

/// Files that may open a file by name: the bounded reader, the writers, and the no-follow walk.
const MAY_OPEN: [&str; 7] = [
    "crates/fs/src/durable.rs",
    "crates/fs/src/durable/file_names.rs",
    "crates/fs/src/durable/regular_file.rs",
    // Options of the files that the modules above open.
    "crates/fs/src/platform/unix.rs",
    "crates/fs/src/platform/windows.rs",
    // Open each name in the folder that was opened before.
    "crates/fs/src/project_fs/safe_walk/unix.rs",
    "crates/fs/src/project_fs/safe_walk/windows.rs",
];

/// The ends of paths that open a file by its name.
const OPENS: [&[&str]; 9] = [
    &["fs", "read"],
    &["fs", "read_to_string"],
    &["fs", "copy"],
    &["File", "open"],
    &["File", "options"],
    &["OpenOptions"],
    &["OpenOptions", "new"],
    &["fs", "openat"],
    &["fs", "open"],
];

/// Returns the violation of a path that opens a file.
pub(super) fn violation(path: &str, named: &Named) -> Option<String> {
    if named.in_test || !is_product(path) || MAY_OPEN.contains(&path) {
        return None;
    }
    let segments: Vec<&str> = named.segments.iter().map(String::as_str).collect();
    let opens = OPENS.iter().any(|end| segments.ends_with(end));
    opens.then(|| {
        format!(
            "`{}` may wait for a pipe and has no limit: use `heirloom_fs::durable::regular_file` or the engine's `project_fs`",
            segments.join("::")
        )
    })
}

/// The lines, counted from 1, on which a path is shown as it is. Tests at the end of a file may.
pub(super) fn raw_names<'t>(path: &str, text: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_checked = is_product(path);
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = product.lines().enumerate().filter(move |_| is_checked);
    lines
        .filter(|(_, line)| line.contains(".display()"))
        .map(|(at, _)| at + 1)
}

fn is_product(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !path.starts_with("crates/testkit/")
}
