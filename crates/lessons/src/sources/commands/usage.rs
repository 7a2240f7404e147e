//! Usage of commands: successes, failures and durations of each form.

use crate::event_place::EventPlace;
use serde::{Deserialize, Serialize};

/// Greatest number of forms that are kept.
const FORMS_MAX: usize = 28;
/// Number of seconds from which on a first run is slow.
const SLOW_SECONDS_MIN: u32 = 60;
/// A first run is slow if it took this many times as long as any later one.
const SLOW_FACTOR: u32 = 4;
/// Number of lines about compiled or downloaded packages from which on a run built the dependencies.
const PACKAGE_LINES_MIN: usize = 8;

/// Form of a command in a folder, with its use in the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CommandUsage {
    /// Index of the purpose.
    pub(super) purpose: usize,
    /// Folder as the shell had it.
    pub(super) folder: String,
    /// Barest form.
    pub(super) form: String,
    /// Shortest command of this form that succeeded; empty if each was long.
    shortest: String,
    /// Number of runs that succeeded.
    pub(super) succeeded: u32,
    /// True if the last run with a known outcome succeeded.
    pub(super) last_succeeded: bool,
    /// Place of the last run that succeeded.
    pub(super) place: EventPlace,
    /// Duration of the first run.
    first_seconds: Option<u32>,
    /// True if the first run built the dependencies.
    is_first_building: bool,
    /// Greatest duration of the later runs.
    later_seconds: Option<u32>,
}

/// A finished run of a command.
#[derive(Debug)]
pub(super) struct FinishedRun<'r> {
    /// True if it succeeded; `None` if that is unknown.
    pub(super) has_succeeded: Option<bool>,
    /// Duration, if the transcript has times.
    pub(super) seconds: Option<u32>,
    /// Output of the command.
    pub(super) output: &'r str,
    /// The command; empty if it was long.
    pub(super) line: &'r str,
}

impl CommandUsage {
    /// Returns the command that a later session can run: the shortest one that succeeded. The barest form of `python3 -m
    /// unittest discover -s tests` was never run, and passes without a test. A form with names left open is a pattern.
    pub(super) fn command(&self) -> &str {
        match self.shortest.is_empty() || self.form.contains('<') {
            true => &self.form,
            false => &self.shortest,
        }
    }

    fn add_line(&mut self, line: &str) {
        let is_shorter = self.shortest.is_empty() || line.len() < self.shortest.len();
        if is_shorter && !line.is_empty() {
            line.clone_into(&mut self.shortest);
        }
    }

    /// Adds the later use of the same form.
    fn add(&mut self, other: &Self) {
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
        self.add_line(&other.shortest);
        if other.place.position > self.place.position {
            self.last_succeeded = other.last_succeeded;
            self.place = other.place.clone();
        }
        let later = [self.later_seconds, other.first_seconds, other.later_seconds];
        if self.first_seconds.is_none() {
            self.first_seconds = other.first_seconds;
            self.is_first_building = other.is_first_building;
            self.later_seconds = other.later_seconds;
        } else {
            self.later_seconds = later.into_iter().flatten().max();
        }
    }

    /// Returns the sentence about a slow first run.
    pub(super) fn slow_first_run(&self) -> Option<String> {
        let (first, later) = (self.first_seconds?, self.later_seconds?);
        if first < SLOW_SECONDS_MIN || later.saturating_mul(SLOW_FACTOR) > first {
            return None;
        }
        let reason = match self.is_first_building {
            true => " because it compiled all dependencies",
            false => "",
        };
        Some(format!(
            "The first run took {}{reason}, later ones at most {}.",
            duration_text(first),
            duration_text(later.max(1)),
        ))
    }
}

fn duration_text(seconds: u32) -> String {
    match seconds {
        1 => "1 second".to_owned(),
        0..=90 => format!("{seconds} seconds"),
        _ => format!("about {} minutes", (seconds + 30) / 60),
    }
}

/// Forms of all commands of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct UsageTable(Vec<CommandUsage>);

impl UsageTable {
    /// Returns the index of a form, which is added if it is new; `None` if the table is full of others.
    pub(super) fn index_of(&mut self, purpose: usize, folder: &str, form: &str) -> Option<usize> {
        let is_same = |usage: &CommandUsage| {
            usage.purpose == purpose && usage.form == form && usage.folder == folder
        };
        if let Some(index) = self.0.iter().position(is_same) {
            return Some(index);
        }
        let usage = CommandUsage {
            purpose,
            folder: folder.to_owned(),
            form: form.to_owned(),
            ..CommandUsage::default()
        };
        if self.0.len() < FORMS_MAX {
            self.0.push(usage);
            return Some(self.0.len() - 1);
        }
        // A form that never succeeded makes space.
        let index = self.0.iter().position(|usage| usage.succeeded == 0)?;
        *self.0.get_mut(index)? = usage;
        Some(index)
    }

    /// Adds a finished run.
    pub(super) fn add_run(&mut self, index: usize, place: &EventPlace, run: &FinishedRun<'_>) {
        let Some(usage) = self.0.get_mut(index) else {
            return;
        };
        if let Some(seconds) = run.seconds {
            match usage.first_seconds {
                None => {
                    usage.first_seconds = Some(seconds);
                    usage.is_first_building = has_package_lines(run.output);
                }
                Some(_) => {
                    usage.later_seconds = Some(usage.later_seconds.unwrap_or(0).max(seconds))
                }
            }
        }
        match run.has_succeeded {
            Some(true) => {
                usage.succeeded += 1;
                usage.last_succeeded = true;
                usage.place = place.clone();
                usage.add_line(run.line);
            }
            Some(false) => usage.last_succeeded = false,
            None => {}
        }
    }

    /// Returns all forms in the order of their first use, after `name_folder` gave each folder its name. Forms with the
    /// same name of the folder are one; the second list has the index of each stored form in the first one.
    pub(super) fn merged<'f>(
        &'f self,
        name_folder: impl Fn(&'f str) -> &'f str,
    ) -> (Vec<CommandUsage>, Vec<usize>) {
        let mut merged: Vec<CommandUsage> = Vec::new();
        let mut indices = Vec::with_capacity(self.0.len());
        for usage in &self.0 {
            let folder = name_folder(&usage.folder);
            let is_same = |known: &CommandUsage| {
                known.purpose == usage.purpose && known.form == usage.form && known.folder == folder
            };
            let index = merged.iter().position(is_same).unwrap_or(merged.len());
            indices.push(index);
            match merged.get_mut(index) {
                Some(known) => known.add(usage),
                None => merged.push(CommandUsage {
                    folder: folder.to_owned(),
                    ..usage.clone()
                }),
            }
        }
        (merged, indices)
    }
}

/// Returns true if an output has many lines about compiled or downloaded packages.
fn has_package_lines(output: &str) -> bool {
    let starts = [
        "Compiling ",
        "Downloading ",
        "Downloaded ",
        "Building ",
        "==> ",
        "Collecting ",
        "Installing ",
        "Generated ",
    ];
    let is_package = |line: &&str| {
        starts
            .iter()
            .any(|start| line.trim_start().starts_with(start))
    };
    output
        .lines()
        .filter(is_package)
        .take(PACKAGE_LINES_MIN)
        .count()
        == PACKAGE_LINES_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(has_succeeded: Option<bool>, seconds: u32, output: &str) -> FinishedRun<'_> {
        FinishedRun {
            has_succeeded,
            seconds: Some(seconds),
            output,
            line: "",
        }
    }

    #[test]
    fn slow_first_run_needs_faster_later_ones() {
        let mut table = UsageTable::default();
        let index = table.index_of(0, "", "make test").unwrap();
        let packages = "Compiling a v1\n".repeat(20);
        table.add_run(
            index,
            &EventPlace::default(),
            &run(Some(true), 380, &packages),
        );
        assert_eq!(table.0[index].slow_first_run(), None);
        table.add_run(index, &EventPlace::default(), &run(Some(false), 9, ""));
        let usage = &table.0[index];
        assert_eq!(
            usage.slow_first_run().as_deref(),
            Some(
                "The first run took about 6 minutes because it compiled all dependencies, later ones at most 9 seconds."
            )
        );
        assert!(!usage.last_succeeded && usage.succeeded == 1);
        table.add_run(index, &EventPlace::default(), &run(None, 200, ""));
        assert_eq!(table.0[index].slow_first_run(), None);
    }

    #[test]
    fn merged_joins_folders_with_one_name() {
        let mut table = UsageTable::default();
        for (folder, seconds) in [("", 400), ("/p", 5), ("web", 7)] {
            let index = table.index_of(0, folder, "make test").unwrap();
            table.add_run(index, &EventPlace::default(), &run(Some(true), seconds, ""));
        }
        let (merged, indices) = table.merged(|folder| folder.trim_start_matches("/p"));
        assert_eq!(indices, [0, 0, 1]);
        assert_eq!(merged[0].succeeded, 2);
        assert!(merged[0].slow_first_run().is_some() && merged[1].slow_first_run().is_none());
    }

    #[test]
    fn index_of_keeps_a_bounded_number_of_forms() {
        let mut table = UsageTable::default();
        for number in 0..FORMS_MAX {
            let index = table.index_of(0, "", &format!("make {number}")).unwrap();
            table.add_run(index, &EventPlace::default(), &run(Some(number > 0), 1, ""));
        }
        assert_eq!(
            table.index_of(0, "", "make new"),
            Some(0),
            "the form that never succeeded"
        );
        table.add_run(0, &EventPlace::default(), &run(Some(true), 1, ""));
        assert_eq!(table.index_of(0, "", "make another"), None);
        assert_eq!(table.index_of(0, "", "make 5"), Some(5));
        assert_eq!(table.0.len(), FORMS_MAX);
    }
}
