//! Promotion of a synchronous replica after a crash of the primary.

use super::{Load, recovery, write_during};
use crate::fleet::servers::Fleet;
use crate::postgres::PostgresCluster;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Crashes a primary with a synchronous replica while clients write, and promotes the replica. Returns the number of
/// acknowledged writes, and the seconds from the promotion until writes succeed.
pub(in crate::fleet) fn promote_replica(
    binary: &Path,
    root: &Path,
    load: &Load,
) -> Result<(usize, f64), String> {
    let mut primary = PostgresCluster::start(&[])?;
    let replica = primary.create_replica()?;
    let both = primary.url_with(&[&primary, &replica]);
    let url = format!("{both}?target_session_attrs=read-write&prepared_statements=on");
    let fleet = Fleet::start(binary, root, &url, 1)?;
    let (writes, recovered) = write_during(&fleet, load, || {
        thread::sleep(Duration::from_secs(1));
        primary.crash()?;
        thread::sleep(Duration::from_millis(500));
        replica.execute("SELECT pg_promote()")?;
        recovery(&fleet, load)
    });
    let seconds = recovered?;
    Ok((writes.check(&fleet)?, seconds))
}
