//! Reader of git's log of a work tree's head, which exists only on this machine.

use crate::project_fs;
use heirloom_model::limits;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Returns true if a file that was written at `seconds` since 1970 was committed in this work tree: a commit is the first
/// operation of the log since then, and no other one is in the same second. `git_dir` is the git directory of the work
/// tree.
///
/// Example: a pull that writes the file is followed by its own entry, `pull: Fast-forward`.
pub fn is_committed_after(git_dir: &Path, seconds: i64) -> bool {
    // A log that cannot be read tells nothing.
    let Some(text) = read_end(&git_dir.join("logs/HEAD")) else {
        return false;
    };
    let mut later = text.lines().filter_map(|line| {
        let (head, message) = line.split_once('\t')?;
        // Ends with the time and its zone: `… <a@example.com> 1700000000 +0100`.
        let at: i64 = head.rsplit(' ').nth(1)?.parse().ok()?;
        (at >= seconds).then_some((at, message))
    });
    let Some((at, message)) = later.next() else {
        return false;
    };
    let is_alone = later
        .take_while(|(other, _)| *other == at && at == seconds)
        .all(|(_, message)| is_own_commit(message));
    is_own_commit(message) && is_alone
}

/// Returns the end of a log, as far as its limit allows.
fn read_end(path: &Path) -> Option<String> {
    let (mut file, size) = project_fs::open_file(path).ok()?;
    let skipped = size.saturating_sub(limits::GIT_REFLOG_BYTES_MAX);
    file.seek(SeekFrom::Start(skipped)).ok()?;
    let mut bytes = Vec::new();
    let read = file
        .take(limits::GIT_REFLOG_BYTES_MAX)
        .read_to_end(&mut bytes);
    read.ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns true for the message of a commit that was made in this work tree, not one of a merge or another branch.
fn is_own_commit(message: &str) -> bool {
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
    fn commit_is_the_first_operation_after_the_file_was_written() {
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
            + &line(300, "pull: Fast-forward")
            + &line(400, "commit: two")
            + &line(400, "pull: Fast-forward");
        std::fs::write(folder.path().join("logs/HEAD"), log).unwrap();
        let at = |seconds| is_committed_after(folder.path(), seconds);
        assert!(at(150) && at(200) && at(350));
        assert!(!at(201) && !at(100) && !at(401));
        assert!(!at(400), "the pull of the same second may have written it");
        // The beginning of a long log is not read.
        let most = usize::try_from(limits::GIT_REFLOG_BYTES_MAX).unwrap();
        let long = line(100, "commit: old") + &line(400, &"x".repeat(most));
        std::fs::write(folder.path().join("logs/HEAD"), long).unwrap();
        assert!(!at(1));
        assert!(is_own_commit("commit (amend): x"));
        assert!(!is_own_commit("commit (merge): x") && !is_own_commit("pull: x"));
    }
}
