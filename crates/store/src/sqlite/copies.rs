//! The copies of a database that lie beside it: from before a migration, from before a restore, and damaged
//! ones that were set aside.

use super::backup::{BESIDE, beside};
use crate::{StoreError, durable};
use heirloom_model::{Timestamp, limits};
use std::path::{Path, PathBuf};

const SECONDS_PER_DAY: i64 = 86_400;

/// Why there is a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyReason {
    /// From before a migration.
    Migration,
    /// From before a restore.
    Restore,
    /// A damaged database that was set aside; a person decides when it goes.
    Damage,
}

/// A copy of a database beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCopy {
    /// The file.
    pub path: PathBuf,
    /// Why it was made.
    pub reason: CopyReason,
    /// When, by its name.
    pub made_at: Timestamp,
    /// Its size.
    pub size_bytes: u64,
}

impl StoredCopy {
    /// Whether it has been kept for long enough at `now`.
    pub fn is_old(&self, now: Timestamp) -> bool {
        let age_s = now.as_second() - self.made_at.as_second();
        self.reason != CopyReason::Damage && age_s > limits::COPIES_KEPT_DAYS * SECONDS_PER_DAY
    }
}

/// The copies beside the database at `live`, oldest first.
pub(super) fn copies(live: &Path) -> Result<Vec<StoredCopy>, StoreError> {
    let folder = durable::folder_of(live);
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|error| durable::failed("list", folder, error))?;
    let mut copies: Vec<StoredCopy> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let (reason, made_at) = read_name(live, name.to_str()?)?;
            let size_bytes = entry.metadata().ok().filter(|found| found.is_file())?.len();
            Some(StoredCopy {
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

/// Removes the copies that have been kept for long enough; those that are gone.
pub(super) fn remove_old(live: &Path, now: Timestamp) -> Result<Vec<PathBuf>, StoreError> {
    let mut removed = Vec::new();
    for copy in copies(live)?.into_iter().filter(|copy| copy.is_old(now)) {
        for part in BESIDE.map(|end| beside(&copy.path, end)) {
            durable::remove_if_there(&part)?;
        }
        durable::remove_if_there(&copy.path)?;
        removed.push(copy.path);
    }
    Ok(removed)
}

/// The time as it stands in names.
pub(super) fn stamp(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// What the name of a copy says; none for any other name.
fn read_name(live: &Path, name: &str) -> Option<(CopyReason, Timestamp)> {
    let rest = name
        .strip_prefix(live.file_name()?.to_str()?)?
        .strip_prefix('.')?;
    let (reason, stamp) = if let Some(stamp) = rest.strip_prefix("before-restore-") {
        (CopyReason::Restore, stamp)
    } else if let Some(stamp) = rest.strip_prefix("damaged-") {
        (CopyReason::Damage, stamp)
    } else {
        let (version, stamp) = rest.strip_prefix("before-v")?.split_once('-')?;
        version.parse::<u32>().ok()?;
        (CopyReason::Migration, stamp)
    };
    // Behind the time there may be a number, for a name that was taken.
    let (stamp, again) = stamp.split_once('-').unwrap_or((stamp, "2"));
    again.parse::<u32>().ok()?;
    Some((reason, read_stamp(stamp)?))
}

fn read_stamp(stamp: &str) -> Option<Timestamp> {
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
    fn names_say_why_and_when() {
        let live = Path::new("/p/heirloom.db");
        let time: Timestamp = "2026-05-01T10:20:30Z".parse().unwrap();
        for (name, reason) in [
            (
                "heirloom.db.before-v2-20260501T102030Z",
                CopyReason::Migration,
            ),
            (
                "heirloom.db.before-v12-20260501T102030Z-3",
                CopyReason::Migration,
            ),
            (
                "heirloom.db.before-restore-20260501T102030Z",
                CopyReason::Restore,
            ),
            ("heirloom.db.damaged-20260501T102030Z", CopyReason::Damage),
        ] {
            assert_eq!(read_name(live, name), Some((reason, time)), "{name}");
        }
        assert_eq!(stamp(time), "20260501T102030Z");
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
            assert_eq!(read_name(live, name), None, "{name}");
        }
    }

    #[test]
    fn a_copy_is_old_after_so_many_days() {
        let made_at: Timestamp = "2026-05-01T10:20:30Z".parse().unwrap();
        let after = |seconds: i64| {
            let kept_s = limits::COPIES_KEPT_DAYS * SECONDS_PER_DAY;
            Timestamp::from_second(made_at.as_second() + kept_s + seconds).unwrap()
        };
        let copy = |reason| StoredCopy {
            path: PathBuf::new(),
            reason,
            made_at,
            size_bytes: 0,
        };
        for reason in [CopyReason::Migration, CopyReason::Restore] {
            assert!(!copy(reason).is_old(after(0)));
            assert!(copy(reason).is_old(after(1)));
        }
        assert!(!copy(CopyReason::Damage).is_old(after(1_000_000_000)));
    }

    #[test]
    fn copies_are_kept_for_thirty_days() {
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
            remove_old(&live, on_the_day).unwrap(),
            Vec::<PathBuf>::new()
        );
        let later: Timestamp = "2026-05-01T00:00:01Z".parse().unwrap();
        let removed = remove_old(&live, later).unwrap();
        assert_eq!(
            removed,
            [folder.path().join("heirloom.db.before-v2-20260401T000000Z")]
        );
        let left: Vec<_> = copies(&live)
            .unwrap()
            .into_iter()
            .map(|copy| copy.reason)
            .collect();
        assert_eq!(left, [CopyReason::Damage, CopyReason::Restore]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}
