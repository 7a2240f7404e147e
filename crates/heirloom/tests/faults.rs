//! Real faults: full disks, read-only folders, files that are cut short, locks, clocks and kills.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "faults/clock.rs"]
mod clock;
#[path = "faults/damage.rs"]
mod damage;
#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;
#[path = "faults/full.rs"]
mod full;
#[path = "faults/lock.rs"]
mod lock;
#[path = "faults/readonly.rs"]
mod readonly;
#[path = "faults/room.rs"]
mod room;
#[path = "faults/starts.rs"]
mod starts;
#[path = "faults/upgrade.rs"]
mod upgrade;
