//! Spend ledger: daily cost and limits of language models, in a file next to the person's memory, for all projects.

use heirloom_fs::durable;
use heirloom_fs::project_fs::{DigestProblem, read_bounded};
use heirloom_model::spend_meter::{DailyLimits, DailySpend, Price, SpendMeter};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::{Path, PathBuf};

/// Daily limits, and the file with today's spend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendLedger {
    /// Path of the ledger; its lock is next to it.
    pub file: PathBuf,
    /// Daily limits.
    pub limits: DailyLimits,
    /// Price of the model, if configured.
    pub price: Option<Price>,
}

impl SpendLedger {
    /// Reads today's spend; zero if there is no file.
    ///
    /// Errors: `Failed` for an unreadable file. Fails closed: an unreadable ledger never counts as zero spend.
    pub fn spent(&self) -> Result<DailySpend, Fault> {
        let bytes = match read_bounded(&self.file, limits::SPEND_LEDGER_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(DigestProblem::Missing) => return Ok(DailySpend::default()),
            Err(problem) => return Err(self.unreadable(&problem.to_string())),
        };
        serde_json::from_slice(&bytes).map_err(|error| self.unreadable(&error.to_string()))
    }

    /// Returns a meter that starts with the stored spend. Writes nothing.
    pub fn meter(&self) -> Result<SpendMeter, Fault> {
        Ok(SpendMeter::new(self.limits, self.price, self.spent()?))
    }

    /// Changes the ledger under its lock; durable when it returns.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut SpendMeter) -> T) -> Result<T, Fault> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        durable::create_dir_private(folder)?;
        let lock = durable::lock(&self.file.with_extension("lock"), limits::FILE_LOCK_MS)?;
        let mut meter = self.meter()?;
        let before = meter.spent().clone();
        let answer = change(&mut meter);
        if *meter.spent() != before {
            let json = serde_json::to_vec(meter.spent())
                .map_err(|error| Fault::failed(format!("the spend ledger: {error}")))?;
            durable::write_atomic(&self.file, &json)?;
        }
        drop(lock);
        Ok(answer)
    }

    fn unreadable(&self, problem: &str) -> Fault {
        let file = self.file.to_escaped();
        Fault::failed(format!(
            "the spend ledger cannot be read: {file}: {problem}"
        ))
        .hint("remove the file: the daily budget starts at zero")
    }
}
