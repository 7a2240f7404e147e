//! `run`: an agent that says what it learned, three times in a row.

use super::super::known::{Known, ensure};
use super::super::rng::Rng;
use super::super::victim::{Said, Victim};
use super::{Found, Scenario};
use crate::desk::{self, Desk};
use heirloom_testkit::ScriptedAgent;
use serde_json::Value;
use std::fs;

/// Iterations of one run.
const ITERATIONS: usize = 3;
/// Facts that the agent says in each.
const FACTS: usize = 6;
/// Where the agent counts its iterations, seen from the project.
const COUNTER: &str = "../count";

/// `run` with the scripted agent.
pub(super) struct Run;

fn fact(iteration: usize, n: usize) -> String {
    format!("learned {iteration}-{n} in a run")
}

fn facts() -> impl Iterator<Item = String> {
    (1..=ITERATIONS).flat_map(|iteration| (0..FACTS).map(move |n| fact(iteration, n)))
}

/// The agent's arguments: other words in each iteration, and a step that stays pending, so that it goes on.
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

/// The key facts and the iteration of the mirror; none if there is no mirror. Half a one is an error.
fn mirror(desk: &Desk) -> Result<Option<(Vec<String>, u64)>, String> {
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
fn ended(said: &Said) -> u64 {
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

    fn prepare(&mut self, desk: &Desk) -> Result<Option<String>, String> {
        desk.done(&["remember", "known before the run"])?;
        Ok(None)
    }

    fn victim(&mut self, _rng: &mut Rng) -> Victim {
        let options = ["run", "--json", "--iterations", "3", "--task", "T", "--"];
        let mut victim = Victim::silent(&options);
        victim.args.extend(agent());
        victim
    }

    fn check(&self, desk: &Desk, said: &Said, known: &Known) -> Result<Found, String> {
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
        Ok(Found {
            acknowledged,
            effect: known.records().count() > 1,
        })
    }

    fn before_again(&self, desk: &Desk) -> Result<(), String> {
        let counter = desk.project().join(COUNTER);
        match fs::remove_file(&counter) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(desk::about("remove", &counter, &error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn check_again(
        &self,
        desk: &Desk,
        said: &Said,
        before: &Known,
        known: &Known,
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
