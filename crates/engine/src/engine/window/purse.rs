//! What models that write may cost a day, and have cost: a file beside a person's memory, for all projects.

use crate::places::{DigestProblem, whole_file};
use heirloom_model::meter::{DailyLimits, Meter, Price, Spent};
use heirloom_model::{Fault, limits};
use heirloom_store::durable;
use std::path::{Path, PathBuf};

/// The day's budget, and where is kept what was taken out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purse {
    /// The file; beside it stands its lock.
    pub file: PathBuf,
    /// What a day may cost.
    pub limits: DailyLimits,
    /// What the model costs, if somebody said so.
    pub price: Option<Price>,
}

impl Purse {
    /// What is kept; nothing if nothing was ever spent.
    ///
    /// Errors: `Failed` for a file that cannot be read: what it says is money, and nobody guesses at that.
    pub fn spent(&self) -> Result<Spent, Fault> {
        let bytes = match whole_file(&self.file, limits::WRITER_SPENT_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(DigestProblem::Missing) => return Ok(Spent::default()),
            Err(problem) => return Err(self.unfit(&problem.to_string())),
        };
        serde_json::from_slice(&bytes).map_err(|error| self.unfit(&error.to_string()))
    }

    /// A meter that goes on from what is kept. Nothing is written.
    pub fn meter(&self) -> Result<Meter, Fault> {
        Ok(Meter::new(self.limits, self.price, self.spent()?))
    }

    /// Changes what is kept, while no other process does; on the disk when it returns.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Meter) -> T) -> Result<T, Fault> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        durable::create_dir_private(folder)?;
        let lock = durable::lock(&self.file.with_extension("lock"), limits::FILE_LOCK_MS)?;
        let mut meter = self.meter()?;
        let before = meter.spent().clone();
        let answer = change(&mut meter);
        if *meter.spent() != before {
            let json = serde_json::to_vec(meter.spent())
                .map_err(|error| Fault::failed(format!("what was spent: {error}")))?;
            durable::write_atomic(&self.file, &json)?;
        }
        drop(lock);
        Ok(answer)
    }

    fn unfit(&self, problem: &str) -> Fault {
        let file = self.file.display();
        Fault::failed(format!(
            "what the day has cost is not known: {file}: {problem}"
        ))
        .hint("remove the file: the day's budget begins anew")
    }
}
