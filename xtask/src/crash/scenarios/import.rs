//! `import`: an import in batches.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario, facts, feed};
use crate::sandbox::Sandbox;

/// Facts in the file.
const FACTS: usize = 900;
/// Number of values in one chain of replacements.
const REPLACED: usize = 100;
/// Records of one durable batch.
const BATCH: usize = 256;
/// The file in the project's folder.
const FILE: &str = "import.jsonl";

/// `import jsonl` into an empty store.
#[derive(Default)]
pub(super) struct Import {
    export: String,
    /// Records in the file, without sessions and messages.
    records: usize,
}

impl Import {
    /// Exports a project with facts, history, a session and messages.
    fn donor(desk: &Sandbox) -> Result<String, String> {
        let texts = (0..FACTS).map(|n| format!("a carried fact, number {n}"));
        feed(desk, &["remember", "--stdin"], facts(texts))?;
        let values = (0..REPLACED).map(|n| {
            let line = serde_json::json!({"text": format!("value {n}"), "key": "k", "category": "convention"});
            format!("{line}\n")
        });
        feed(desk, &["remember", "--stdin"], values.collect())?;
        let say = "echo 'HEIRLOOM_MEMORY: KEY_FACT from a run'";
        desk.call_ok(&["run", "--iterations", "2", "--", "sh", "-c", say])?;
        desk.call_ok(&["export", "--format", "jsonl", "--all"])
    }
}

impl Scenario for Import {
    fn name(&self) -> &'static str {
        "import"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        let donor = desk.create_sibling("donor")?;
        let carried = Export::of(Self::donor(&donor)?)?;
        donor.remove()?;
        self.records = carried.records().count();
        self.export = carried.export;
        desk.write(&desk.project().join(FILE), self.export.as_bytes())?;
        Ok(None)
    }

    fn victim(&mut self, _rng: &mut Rng) -> Victim {
        Victim::without_input(&["import", "jsonl", FILE, "--json"])
    }

    fn check(
        &self,
        _desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let carried = Export::of(self.export.clone())?;
        let there = known.records().count();
        let same = known.records().zip(carried.records()).all(|(a, b)| a == b);
        ensure(same, || {
            "the records are not the first ones of the file".to_owned()
        })?;
        ensure(there.is_multiple_of(BATCH) || there == self.records, || {
            format!("{there} of {} records: a batch was torn", self.records)
        })?;
        let whole = known.export == self.export;
        let reported = said
            .lines()
            .first()
            .and_then(|report| report["created"].as_u64());
        ensure(reported.is_none() || whole, || {
            format!(
                "reported as done, and {there} of {} records are there",
                self.records
            )
        })?;
        Ok(Observed {
            acknowledged: reported.map_or(0, |_| carried.ids().len()),
            effect: there > 0,
        })
    }

    fn check_again(
        &self,
        _: &Sandbox,
        _: &ProcessOutput,
        _: &Export,
        known: &Export,
    ) -> Result<(), String> {
        ensure(known.export == self.export, || {
            "imported again to the end, the export differs from the file".to_owned()
        })
    }
}
