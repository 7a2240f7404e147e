//! Scenarios of the crash campaign.

mod atomic;
mod hooks;
mod import;
mod inbox;
mod migration;
mod prune_undo;
mod record_commands;
mod resolve;
mod run_loop;
mod streams;

use super::export::Export;
use super::rng::Rng;
use super::target_process::{ProcessOutput, Victim};
use crate::sandbox::Sandbox;

/// State observed after a kill.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Observed {
    /// Number of acknowledged writes, all of them present.
    pub(super) acknowledged: usize,
    /// True if the process had any effect.
    pub(super) effect: bool,
}

/// A command that is killed at random points.
pub(super) trait Scenario {
    /// Its name for `--only`.
    fn name(&self) -> &'static str;

    /// Creates the project that each run copies; returns the reason if the scenario cannot run.
    fn prepare(&mut self, desk: &Sandbox) -> Result<Option<String>, String>;

    /// Command line and input of the process that is killed.
    fn victim(&mut self, rng: &mut Rng) -> Victim;

    /// Inspects the files before any other process opens them.
    fn inspect(&self, _desk: &Sandbox) {}

    /// Checks the state after the kill; an error is a loss.
    fn check(
        &self,
        desk: &Sandbox,
        said: &ProcessOutput,
        known: &Export,
    ) -> Result<Observed, String>;

    /// Prepares the repetition of the command.
    fn prepare_again(&self, _desk: &Sandbox) -> Result<(), String> {
        Ok(())
    }

    /// Repeats the command to its end.
    fn run_again(&self, desk: &Sandbox, victim: &Victim) -> Result<ProcessOutput, String> {
        victim.run_to_end(desk)
    }

    /// Checks the state after the repetition; `before` is the state before it.
    fn check_again(
        &self,
        desk: &Sandbox,
        said: &ProcessOutput,
        before: &Export,
        known: &Export,
    ) -> Result<(), String>;
}

/// Every scenario.
pub(super) fn all() -> Vec<Box<dyn Scenario>> {
    let mut all: Vec<Box<dyn Scenario>> = vec![
        Box::new(streams::Remember::new()),
        Box::new(streams::Observe::new()),
        Box::new(import::Import::default()),
        Box::new(prune_undo::Prune),
        Box::new(prune_undo::Undo::default()),
        Box::new(resolve::Resolve::default()),
        Box::new(run_loop::Run),
        Box::new(migration::Migration::default()),
    ];
    all.push(Box::new(inbox::Inbox::default()));
    all.extend(record_commands::all());
    all.extend(hooks::all());
    all
}

/// JSONL for `remember --stdin`.
pub(super) fn facts(texts: impl IntoIterator<Item = String>) -> String {
    let line = |text: String| format!("{}\n", serde_json::json!({ "text": text }));
    texts.into_iter().map(line).collect()
}

/// Runs `heirloom` with `input` on standard input.
pub(super) fn feed(desk: &Sandbox, args: &[&str], input: String) -> Result<ProcessOutput, String> {
    let mut victim = Victim::without_input(args);
    victim.input = vec![(std::time::Duration::ZERO, input)];
    victim.run_to_end(desk)
}
