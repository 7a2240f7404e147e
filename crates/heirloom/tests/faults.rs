//! Real faults: full disks, read-only folders, truncated files, locks, clocks and kills.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "faults/clock.rs"]
mod clock;
#[path = "faults/damage.rs"]
mod damage;
#[path = "faults/database_lock.rs"]
mod database_lock;
#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;
#[path = "faults/first_starts.rs"]
mod first_starts;
#[path = "faults/full_disk.rs"]
mod full_disk;
#[path = "faults/hooks.rs"]
mod hooks;
#[path = "faults/migration.rs"]
mod migration;
#[path = "faults/read_only.rs"]
mod read_only;
#[path = "faults/small_filesystem.rs"]
mod small_filesystem;
