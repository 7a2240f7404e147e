//! Retained backups: copies of a database next to it from before a migration or a restore, and damaged databases.

use super::database_location::{JOURNAL_SUFFIXES, with_suffix};
use crate::StoreError;
use heirloom_fs::durable;
use heirloom_model::{Timestamp, limits};
use std::path::{Path, PathBuf};

const SECONDS_PER_DAY: i64 = 86_400;

/// Reason for a retained backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupReason {
    /// Made before a migration.
    Migration,
    /// Made before a restore.
    Restore,
    /// A damaged database that was replaced; a person decides when it is removed.
    Damage,
}

/// Retained backup of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedBackup {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason for the backup.
    pub reason: BackupReason,
    /// Time of the backup, read from its name.
    pub made_at: Timestamp,
    /// Size of the file, bytes.
    pub size_bytes: u64,
}

impl RetainedBackup {
    /// Returns true if the retention time has passed at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        let age_s = now.as_second() - self.made_at.as_second();
        self.reason != BackupReason::Damage
            && age_s > limits::RETAINED_BACKUP_DAYS * SECONDS_PER_DAY
    }
}

/// Lists the retained backups of the database at `live`, oldest first.
pub(super) fn list(live: &Path) -> Result<Vec<RetainedBackup>, StoreError> {
    let folder = durable::folder_of(live);
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|error| durable::failed("list", folder, error))?;
    let mut copies: Vec<RetainedBackup> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let (reason, made_at) = parse_name(live, name.to_str()?)?;
            let size_bytes = entry.metadata().ok().filter(|found| found.is_file())?.len();
            Some(RetainedBackup {
                path: entry.path(),
                reason,
                made_at,
                size_bytes,
            })
        })
        .collect();
    copies.sort_by(|one, other| (one.made_at, &one.path).cmp(&(other.made_at, &other.path)));
    Ok(copies)
}

/// Removes the expired backups and returns their paths.
pub(super) fn remove_expired(live: &Path, now: Timestamp) -> Result<Vec<PathBuf>, StoreError> {
    let mut removed = Vec::new();
    for copy in list(live)?.into_iter().filter(|copy| copy.is_expired(now)) {
        for part in JOURNAL_SUFFIXES.map(|end| with_suffix(&copy.path, end)) {
            durable::remove_if_exists(&part)?;
        }
        durable::remove_if_exists(&copy.path)?;
        removed.push(copy.path);
    }
    Ok(removed)
}

/// Formats a time for file names.
pub(super) fn format_time(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Parses the file name of a backup; `None` for any other name.
fn parse_name(live: &Path, name: &str) -> Option<(BackupReason, Timestamp)> {
    let rest = name
        .strip_prefix(live.file_name()?.to_str()?)?
        .strip_prefix('.')?;
    let (reason, stamp) = if let Some(stamp) = rest.strip_prefix("before-restore-") {
        (BackupReason::Restore, stamp)
    } else if let Some(stamp) = rest.strip_prefix("damaged-") {
        (BackupReason::Damage, stamp)
    } else {
        let (version, stamp) = rest.strip_prefix("before-v")?.split_once('-')?;
        version.parse::<u32>().ok()?;
        (BackupReason::Migration, stamp)
    };
    // If the name was taken, a number follows the time.
    let (stamp, again) = stamp.split_once('-').unwrap_or((stamp, "2"));
    again.parse::<u32>().ok()?;
    Some((reason, parse_time(stamp)?))
}

fn parse_time(stamp: &str) -> Option<Timestamp> {
    let digits = |range: std::ops::Range<usize>| {
        let part = stamp.get(range)?;
        part.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(part)
    };
    let (date, time) = (
        (digits(0..4)?, digits(4..6)?, digits(6..8)?),
        (digits(9..11)?, digits(11..13)?, digits(13..15)?),
    );
    if stamp.len() != 16 || stamp.as_bytes().get(8) != Some(&b'T') || !stamp.ends_with('Z') {
        return None;
    }
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        date.0, date.1, date.2, time.0, time.1, time.2
    );
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_contains_reason_and_time() {
        let live = Path::new("/p/heirloom.db");
        let time: Timestamp = "2026-05-01T10:20:30Z".parse().unwrap();
        for (name, reason) in [
            (
                "heirloom.db.before-v2-20260501T102030Z",
                BackupReason::Migration,
            ),
            (
                "heirloom.db.before-v12-20260501T102030Z-3",
                BackupReason::Migration,
            ),
            (
                "heirloom.db.before-restore-20260501T102030Z",
                BackupReason::Restore,
            ),
            ("heirloom.db.damaged-20260501T102030Z", BackupReason::Damage),
        ] {
            assert_eq!(parse_name(live, name), Some((reason, time)), "{name}");
        }
        assert_eq!(format_time(time), "20260501T102030Z");
        for name in [
            "heirloom.db",
            "heirloom.db-wal",
            "other.db.before-v2-20260501T102030Z",
            "heirloom.db.before-v2-yesterday",
            "heirloom.db.before-vX-20260501T102030Z",
            "heirloom.db.before-v2-20261301T102030Z",
            "heirloom.db.before-v2-20260501T102030Z-wal",
            "heirloom.db.damaged-20260501T102030Z-wal",
            "heirloom.db.before-v2-2026ü501T10203Z",
            "heirloom.db.before-mine",
        ] {
            assert_eq!(parse_name(live, name), None, "{name}");
        }
    }

    #[test]
    fn backup_expires_after_retention_time() {
        let made_at: Timestamp = "2026-05-01T10:20:30Z".parse().unwrap();
        let after = |seconds: i64| {
            let kept_s = limits::RETAINED_BACKUP_DAYS * SECONDS_PER_DAY;
            Timestamp::from_second(made_at.as_second() + kept_s + seconds).unwrap()
        };
        let copy = |reason| RetainedBackup {
            path: PathBuf::new(),
            reason,
            made_at,
            size_bytes: 0,
        };
        for reason in [BackupReason::Migration, BackupReason::Restore] {
            assert!(!copy(reason).is_expired(after(0)));
            assert!(copy(reason).is_expired(after(1)));
        }
        assert!(!copy(BackupReason::Damage).is_expired(after(1_000_000_000)));
    }

    #[test]
    fn retention_time_is_thirty_days() {
        let folder = tempfile::tempdir().unwrap();
        let live = folder.path().join("heirloom.db");
        for name in [
            "heirloom.db",
            "heirloom.db.before-v2-20260401T000000Z",
            "heirloom.db.before-v2-20260401T000000Z-wal",
            "heirloom.db.before-restore-20260402T000000Z",
            "heirloom.db.before-restore-mine",
            "heirloom.db.damaged-20200101T000000Z",
        ] {
            durable::write_atomic(&folder.path().join(name), b"x").unwrap();
        }
        let on_the_day: Timestamp = "2026-05-01T00:00:00Z".parse().unwrap();
        assert_eq!(
            remove_expired(&live, on_the_day).unwrap(),
            Vec::<PathBuf>::new()
        );
        let later: Timestamp = "2026-05-01T00:00:01Z".parse().unwrap();
        let removed = remove_expired(&live, later).unwrap();
        assert_eq!(
            removed,
            [folder.path().join("heirloom.db.before-v2-20260401T000000Z")]
        );
        let left: Vec<_> = list(&live)
            .unwrap()
            .into_iter()
            .map(|copy| copy.reason)
            .collect();
        assert_eq!(left, [BackupReason::Damage, BackupReason::Restore]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}
