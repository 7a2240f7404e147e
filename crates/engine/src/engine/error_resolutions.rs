//! Earlier resolutions of errors: of the same error, or of one with the same signature.

use super::error_records::{EarlierResolution, Errors};
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{Fault, Kind, Record, Scope, limits, text};
use heirloom_search::recall::error_signature;
use heirloom_store::Filter;

/// Stored errors with their signatures by state, each read when it is needed first.
#[derive(Default)]
struct ComparedErrors {
    resolved: Option<Vec<(String, Record)>>,
    open: Option<Vec<(String, Record)>>,
}

impl Errors<'_> {
    /// Returns the resolution of the same error: in the same task and phase, otherwise the newest one elsewhere.
    ///
    /// An open error keeps the resolution of its earlier occurrence in its history.
    pub(super) fn resolved_before(
        &self,
        error: &str,
        scope: &Scope,
    ) -> Result<Option<EarlierResolution>, Fault> {
        Ok(self.resolutions_before(&[error], scope)?.pop())
    }

    /// Returns an earlier resolution for each of these errors that has one: of the same error in the same task and phase,
    /// otherwise the newest one elsewhere. The stored errors are read once.
    pub fn resolutions_before(
        &self,
        errors: &[&str],
        scope: &Scope,
    ) -> Result<Vec<EarlierResolution>, Fault> {
        let mut compared = ComparedErrors::default();
        let mut resolutions = Vec::new();
        for error in errors {
            let here = self.error_like(error, scope)?;
            let resolution = match here.map(|here| self.last_resolution(&here)).transpose()? {
                Some(Some(resolution)) => Some(resolution),
                Some(None) | None => self.resolution_elsewhere(error, &mut compared)?,
            };
            resolutions.extend(resolution);
        }
        Ok(resolutions)
    }

    /// Returns the resolution of the newest error with the same signature: of a resolved one, otherwise of an earlier
    /// occurrence of an open one.
    fn resolution_elsewhere(
        &self,
        error: &str,
        compared: &mut ComparedErrors,
    ) -> Result<Option<EarlierResolution>, Fault> {
        let wanted = error_signature::signature(&self.engine.redaction().redact_input(error));
        if wanted.is_empty() {
            return Ok(None);
        }
        // The signature leaves out paths, and with them the names of tests in files.
        let tests = text::test_names(error);
        let states = [
            (ErrorRecord::RESOLVED, &mut compared.resolved),
            (ErrorRecord::OPEN, &mut compared.open),
        ];
        for (state, known) in states {
            let errors = match known {
                Some(errors) => errors,
                None => known.insert(self.signed_errors(state)?),
            };
            let same = errors.iter().find(|(signature, record)| {
                *signature == wanted && text::test_names(&record.text) == tests
            });
            if let Some((_, same)) = same
                && let Some(resolution) = self.last_resolution(same)?
            {
                return Ok(Some(resolution));
            }
        }
        Ok(None)
    }

    /// Reads the newest errors of a state with their signatures.
    fn signed_errors(&self, state: &str) -> Result<Vec<(String, Record)>, Fault> {
        let filter = Filter::current(&[Kind::Error], self.engine.now())
            .state(state)
            .limit(limits::ERRORS_COMPARED_MAX);
        let found = self.engine.records().find(&filter)?.into_iter();
        Ok(found
            .map(|record| (error_signature::signature(&record.text), record))
            .collect())
    }

    /// Returns the resolution of an error, or of its newest version that has one.
    fn last_resolution(&self, error: &Record) -> Result<Option<EarlierResolution>, Fault> {
        let resolution_of = |record: &Record| {
            let resolution = record.attr_str("resolution")?.to_owned();
            Some(EarlierResolution {
                id: record.id,
                resolution,
            })
        };
        if let Some(current) = resolution_of(error) {
            return Ok(Some(current));
        }
        let versions = self.engine.records().history(error.id)?;
        Ok(versions.iter().rev().find_map(resolution_of))
    }
}
