//! Statistics of a campaign: times of the kills and losses.

use std::fmt;
use std::time::Duration;

/// Cells of the histogram: tenths of the range of delays.
const CELLS: usize = 10;
/// Minimum percentage of kills during the work of the process; below it the campaign proves little.
const RUNNING_PERCENT_MIN: usize = 30;

/// Time of a kill relative to the work of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before the process had done anything.
    Before,
    /// After its first effect and before its end.
    During,
    /// After the process had ended.
    After,
}

/// Results of one scenario.
#[derive(Debug, Default)]
pub(super) struct Tally {
    runs: usize,
    moments: [usize; 3],
    /// Kills during the work and all kills, by tenth of the range.
    cells: [(usize, usize); CELLS],
    /// Number of acknowledged writes.
    pub(super) acknowledged: usize,
    /// Runs after which something was lost or unsound.
    pub(super) failed: usize,
    /// Temporary files that killed processes left behind.
    pub(super) left: usize,
    /// Total time.
    pub(super) took: Duration,
}

impl Tally {
    /// Records a kill at `share` (0 to 1) of the range of delays.
    pub(super) fn note(&mut self, moment: Moment, share: f64) {
        self.runs += 1;
        self.moments[moment as usize] += 1;
        let cell = ((share * CELLS as f64) as usize).min(CELLS - 1);
        self.cells[cell].1 += 1;
        self.cells[cell].0 += usize::from(moment != Moment::After);
    }

    /// Number of kills during the work of the process.
    pub(super) fn running(&self) -> usize {
        self.moments[Moment::Before as usize] + self.moments[Moment::During as usize]
    }

    /// True if enough kills happened during the work of the process.
    pub(super) fn is_meaningful(&self) -> bool {
        self.running() * 100 >= self.runs * RUNNING_PERCENT_MIN
    }

    /// True if the range of delays should be shortened because most processes had ended before the kill.
    pub(super) fn is_late(&self) -> bool {
        self.runs >= 10 && self.running() * 2 < self.runs
    }

    /// The summary's row.
    pub(super) fn row(&self, name: &str) -> String {
        format!(
            "{name:10} {:5} {:8} {:12} {:5} {:5} {:8.1}",
            self.runs,
            self.running(),
            self.acknowledged,
            self.failed,
            self.left,
            self.took.as_secs_f64()
        )
    }
}

/// The heading over the rows of [`Tally::row`].
pub(super) const HEADING: &str = "scenario   times  running acknowledged  lost  left  seconds";

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [before, during, after] = self.moments;
        write!(
            f,
            "{before} before, {during} during, {after} after; running/all by tenth of the range:"
        )?;
        (self.cells.iter()).try_for_each(|(running, all)| write!(f, " {running}/{all}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_counted_by_tenth_of_range() {
        let mut tally = Tally::default();
        for (moment, share) in [
            (Moment::Before, 0.0),
            (Moment::During, 0.55),
            (Moment::After, 0.999),
            (Moment::After, 1.0),
        ] {
            tally.note(moment, share);
        }
        let report = tally.to_string();
        assert_eq!(
            report,
            "1 before, 1 during, 2 after; running/all by tenth of the range: \
             1/1 0/0 0/0 0/0 0/0 1/1 0/0 0/0 0/0 0/2"
        );
        assert!(tally.is_meaningful());
        assert!(tally.row("run").starts_with("run            4        2 "));
    }

    #[test]
    fn late_campaign_is_detected() {
        let mut tally = Tally::default();
        for n in 0..10 {
            assert!(!tally.is_late());
            tally.note(if n < 2 { Moment::During } else { Moment::After }, 0.5);
        }
        assert!(tally.is_late() && !tally.is_meaningful());
    }
}
