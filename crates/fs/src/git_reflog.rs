//! Reader of git's log of a work tree's head, which exists only on this machine.

use crate::project_fs;
use heirloom_model::limits;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Returns the message of the first operation at or after `seconds` since 1970, such as `commit: text` or
/// `pull: Fast-forward`; `None` without one. `git_dir` is the git directory of the work tree.
pub fn first_operation_since(git_dir: &Path, seconds: i64) -> Option<String> {
    // Only the end of the log is read; a log that cannot be read tells nothing.
    let (mut file, size) = project_fs::open_file(&git_dir.join("logs/HEAD")).ok()?;
    let skipped = size.saturating_sub(limits::GIT_REFLOG_BYTES_MAX);
    file.seek(SeekFrom::Start(skipped)).ok()?;
    let mut bytes = Vec::new();
    let read = file
        .take(limits::GIT_REFLOG_BYTES_MAX)
        .read_to_end(&mut bytes);
    read.ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().find_map(|line| {
        let (head, message) = line.split_once('\t')?;
        // Ends with the time and its zone: `… <a@example.com> 1700000000 +0100`.
        let at: i64 = head.rsplit(' ').nth(1)?.parse().ok()?;
        (at >= seconds).then(|| message.to_owned())
    })
}

/// Returns true for the message of a commit that was made in this work tree, not one of a merge or another branch.
pub fn is_own_commit(message: &str) -> bool {
    ["commit: ", "commit (amend): ", "commit (initial): "]
        .iter()
        .any(|begin| message.starts_with(begin))
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "files of tests need no durable writes"
)]
mod tests {
    use super::*;

    #[test]
    fn first_operation_at_or_after_a_time_is_found() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        let line = |at: i64, message: &str| {
            format!(
                "{0} {0} A B <a@example.com> {at} +0100\t{message}\n",
                "0".repeat(40)
            )
        };
        let log = line(100, "clone: from x")
            + &line(200, "commit: one")
            + &line(300, "pull: Fast-forward");
        std::fs::write(folder.path().join("logs/HEAD"), log).unwrap();
        let at = |seconds| first_operation_since(folder.path(), seconds);
        assert_eq!(at(200).as_deref(), Some("commit: one"));
        assert_eq!(at(201).as_deref(), Some("pull: Fast-forward"));
        assert_eq!(at(301), None);
        // The beginning of a long log is not read.
        let most = usize::try_from(limits::GIT_REFLOG_BYTES_MAX).unwrap();
        let long = line(100, "commit: old") + &line(400, &"x".repeat(most));
        std::fs::write(folder.path().join("logs/HEAD"), long).unwrap();
        assert_eq!(at(1), None);
        assert!(is_own_commit("commit (amend): x"));
        assert!(!is_own_commit("commit (merge): x") && !is_own_commit("pull: x"));
    }
}
