//! `run`: an agent that reports facts in three iterations.

use super::super::export::{Export, ensure};
use super::super::rng::Rng;
use super::super::target_process::{ProcessOutput, Victim};
use super::{Observed, Scenario};
use crate::sandbox::{self, Sandbox};
use heirloom_testkit::ScriptedAgent;
use serde_json::Value;
use std::fs;

/// Iterations of one run.
const ITERATIONS: usize = 3;
/// Facts per iteration.
const FACTS: usize = 6;
/// File in which the agent counts its iterations, relative to the project.
const COUNTER: &str = "../count";

/// `run` with the scripted agent.
pub(super) struct Run;

fn fact(iteration: usize, n: usize) -> String {
    format!("learned {iteration}-{n} in a run")
}

fn facts() -> impl Iterator<Item = String> {
    (1..=ITERATIONS).flat_map(|iteration| (0..FACTS).map(move |n| fact(iteration, n)))
}

/// Arguments of the agent: different facts in each iteration, and a pending step, so that the loop continues.
fn agent() -> Vec<String> {
    let mut args = vec![ScriptedAgent::path().to_string_lossy().into_owned()];
    args.extend(
        [
            "--count",
            COUNTER,
            "--say",
            "HEIRLOOM_MEMORY: STEP_PENDING go on",
        ]
        .map(str::to_owned),
    );
    for iteration in 1..=ITERATIONS {
        for n in 0..FACTS {
            let say = format!("HEIRLOOM_MEMORY: KEY_FACT {}", fact(iteration, n));
            args.extend([
                "--on".to_owned(),
                iteration.to_string(),
                "--say".to_owned(),
                say,
            ]);
        }
    }
    args
}

/// Reads the key facts and the iteration of the mirror; `None` without a mirror, an error if it is truncated.
fn mirror(desk: &Sandbox) -> Result<Option<(Vec<String>, u64)>, String> {
    let path = desk.memory().join("memory.json");
    let Ok(text) = fs::read_to_string(&path) else {
        return Ok(None);
    };
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| format!("{} is not whole: {error}", path.display()))?;
    let facts = value["key_facts"]
        .as_array()
        .ok_or("the mirror has no facts")?;
    let facts = facts
        .iter()
        .filter_map(|fact| fact.as_str().map(str::to_owned));
    let iteration = value["iteration"]
        .as_u64()
        .ok_or("the mirror has no iteration")?;
    Ok(Some((facts.collect(), iteration)))
}

/// The last iteration that was reported as ended.
fn ended(said: &ProcessOutput) -> u64 {
    let events = said.lines();
    let ended = events
        .iter()
        .filter(|event| event["event"] == "iteration_ended");
    ended
        .filter_map(|event| event["iteration"].as_u64())
        .max()
        .unwrap_or(0)
}

impl Scenario for Run {
    fn name(&self) -> &'static str {
        "run"
    }

    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String> {
        desk.call_ok(&["remember", "known before the run"])?;
        Ok(None)
    }

    fn victim(&mut self, _rng: &mut Rng) -> Victim {
        let options = ["run", "--json", "--iterations", "3", "--task", "T", "--"];
        let mut victim = Victim::without_input(&options);
        victim.args.extend(agent());
        victim
    }

    fn check(
        &self,
        desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String> {
        let texts = known.texts();
        let mirror = mirror(desk)?;
        let (mut acknowledged, mut iteration) = (0, 0);
        for event in said.lines() {
            match event["event"].as_str() {
                Some("signal") if event["verb"] == "KEY_FACT" => {
                    let text = event["text"].as_str().unwrap_or_default();
                    ensure(texts.contains(text), || {
                        format!("`{text}` was read and is lost")
                    })?;
                    acknowledged += 1;
                }
                Some("iteration_ended") => iteration = event["iteration"].as_u64().unwrap_or(0),
                _ => {}
            }
        }
        let mirrored = mirror.as_ref().map_or(0, |(_, iteration)| *iteration);
        ensure(mirrored >= iteration, || {
            format!("iteration {iteration} was reported as ended, the mirror is of {mirrored}")
        })?;
        let (told, _) = mirror.unwrap_or_default();
        let due = facts().take(FACTS * usize::try_from(iteration).unwrap_or(0));
        for fact in due {
            ensure(told.contains(&fact), || {
                format!("the mirror of {iteration} lacks `{fact}`")
            })?;
        }
        Ok(Observed {
            acknowledged,
            effect: known.records().count() > 1,
        })
    }

    fn prepare_again(&self, desk: &Sandbox) -> Result<(), String> {
        let counter = desk.project().join(COUNTER);
        match fs::remove_file(&counter) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(sandbox::io_error("remove", &counter, &error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn check_again(
        &self,
        desk: &Sandbox,
        said: &ProcessOutput,
        before: &Export,
        known: &Export,
    ) -> Result<(), String> {
        let lost = before
            .ids()
            .into_iter()
            .find(|id| !known.ids().contains(id));
        ensure(lost.is_none(), || {
            format!("{lost:?} went in the second run")
        })?;
        let (told, iteration) = mirror(desk)?.ok_or("no mirror after a whole run")?;
        let missing = facts().find(|fact| !told.contains(fact));
        ensure(missing.is_none(), || {
            format!("the mirror lacks {missing:?}")
        })?;
        ensure(iteration == ended(said), || {
            format!("the mirror is of {iteration}, the run of {}", ended(said))
        })
    }
}
