//! Recall in one large project, next to a server with an SQLite database.

use super::load::{Extent, Load, Operation};
use super::report::Report;
use super::servers::Fleet;
use std::path::Path;
use std::time::Duration;

/// Records of the project whose first recall is measured.
const RECORDS: usize = 10_000;
/// Records of the large project.
const RECORDS_LARGE: usize = 100_000;
/// Repetitions with each of both databases, of which the median is taken.
const ROUNDS: usize = 3;
/// Starts of a server, of which the median is taken.
const STARTS: usize = 9;

/// Measures the first recall after a server's start, and recalls from the cache over one connection.
pub(super) fn measure(
    fleet: &mut Fleet,
    binary: &Path,
    root: &Path,
    url: &str,
    seconds: u64,
    report: &mut Report,
) -> Result<(), String> {
    let mut sqlite = Fleet::start_sqlite(binary, root)?;
    let middle = Load {
        name: "middle",
        projects: 1,
        clients: 32,
    };
    let large = Load {
        name: "large",
        ..middle
    };
    for servers in [&*fleet, &sqlite] {
        middle.seed(servers, 0, RECORDS)?;
        large.seed(servers, 0, RECORDS_LARGE)?;
    }
    super::vacuum_database(url)?;
    let first = first_recall(fleet, &middle)?;
    let first_sqlite = first_recall(&mut sqlite, &middle)?;
    report.compared("first", first, ("SQLite", first_sqlite));
    let extent = Extent::Time(Duration::from_secs(seconds));
    // Both alternate, because the speed of a shared machine changes.
    let mut medians = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (servers, medians) in [&*fleet, &sqlite].into_iter().zip(&mut medians) {
            large.fill_caches(servers, 1)?;
            let one = large.with_clients(1);
            let rate = one.measure(servers, 1, Operation::Recall, &extent)?;
            medians.push(rate.median);
        }
    }
    let [warm, warm_sqlite] = medians.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    });
    report.compared("warm", warm, ("SQLite", warm_sqlite));
    Ok(())
}

/// Returns the median time of the first recall after a start, milliseconds.
fn first_recall(fleet: &mut Fleet, load: &Load) -> Result<f64, String> {
    let mut times = Vec::new();
    for number in 0..STARTS {
        fleet.restart_process(0)?;
        let one = load.with_clients(1);
        let numbers = Extent::Numbers(number..number + 1);
        times.push(one.measure(fleet, 1, Operation::Recall, &numbers)?.median);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[STARTS / 2])
}
