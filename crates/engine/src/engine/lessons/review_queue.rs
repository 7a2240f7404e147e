//! Learned proposals that no person has reviewed.

use super::{LessonSource, Lessons};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Record, limits};
use heirloom_store::Filter;

impl Lessons<'_> {
    /// Returns the learned proposals that no person or orchestrator has reviewed, newest first, at most `most` of the
    /// newest records.
    pub fn unreviewed(&self, most: usize) -> Result<Vec<Record>, Fault> {
        let filter = Filter::current(&[Kind::Knowledge], self.engine.now())
            .limit(limits::LESSON_RECORDS_MAX);
        let mut found = self.engine.records().find(&filter)?;
        found.retain(|record| {
            LessonSource::is_in(record)
                && Knowledge::from_record(record).is_ok_and(|typed| typed.proposal)
        });
        found.truncate(most);
        Ok(found)
    }
}
