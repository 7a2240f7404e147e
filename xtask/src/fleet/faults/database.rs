//! Faults of the database: lost connections, and a crash of the primary.

use super::{Load, recovery, write_during};
use crate::fleet::servers::Fleet;
use crate::postgres::PostgresCluster;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Time that the database is down: longer than a write waits for it.
const DOWN: Duration = Duration::from_secs(14);

/// Ends all connections of the database again and again while clients write. Returns the number of acknowledged writes.
pub(in crate::fleet) fn terminate_connections(
    fleet: &Fleet,
    load: &Load,
    url: &str,
    times: usize,
) -> Result<usize, String> {
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE application_name LIKE 'heirloom%' AND pid <> pg_backend_pid()";
    let (writes, ended) = write_during(fleet, load, || {
        for _ in 0..times {
            thread::sleep(Duration::from_millis(60));
            let mut psql = Command::new("psql");
            psql.args(["--quiet", "--no-psqlrc", "--tuples-only", "--command"]);
            let done = psql.args([sql, url]).output();
            done.map_err(|error| format!("cannot start psql: {error}"))?;
        }
        Ok::<(), String>(())
    });
    ended?;
    writes.check(fleet)
}

/// Crashes the primary while clients write, and starts it again. Returns the number of acknowledged writes, and the seconds
/// from its return until writes succeed through each server.
pub(in crate::fleet) fn restart_primary(
    fleet: &Fleet,
    load: &Load,
    cluster: &mut PostgresCluster,
) -> Result<(usize, f64), String> {
    let (writes, recovered) = write_during(fleet, load, || {
        thread::sleep(Duration::from_millis(500));
        cluster.crash()?;
        thread::sleep(DOWN);
        cluster.start_again()?;
        recovery(fleet, load)
    });
    let seconds = recovered?;
    let kept = writes.check(fleet)?;
    if writes.unavailable == 0 {
        return Err("no write was refused while the database was down".to_owned());
    }
    Ok((kept, seconds))
}
