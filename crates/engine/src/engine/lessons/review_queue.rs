//! Learned proposals that no person has reviewed.

use super::{LessonSource, Lessons};
use heirloom_model::{Fault, Record};

impl Lessons<'_> {
    /// Returns the learned ones among the pending proposals, newest first, at most `most`.
    pub fn unreviewed(&self, most: usize) -> Result<Vec<Record>, Fault> {
        let mut found = self.engine.records().proposals().pending()?;
        found.retain(LessonSource::is_in);
        found.truncate(most);
        Ok(found)
    }
}
