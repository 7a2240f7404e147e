//! What is killed, and what must hold afterwards.

mod carrying;
mod deciding;
mod hooked;
mod inbox;
mod layers;
mod migrating;
mod running;
mod taking;
mod whole;
mod writing;

use super::known::Known;
use super::rng::Rng;
use super::victim::{Said, Victim};
use crate::desk::Desk;

/// What was found after a kill.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Writes that had been acknowledged, all of them there.
    pub(super) acknowledged: usize,
    /// Whether the process had any effect.
    pub(super) effect: bool,
}

/// A command that is killed at random points.
pub(super) trait Scenario {
    /// Its name for `--only`.
    fn name(&self) -> &'static str;

    /// Makes the project that every run begins with a copy of; says why if there is nothing to be killed.
    fn prepare(&mut self, desk: &Desk) -> Result<Option<String>, String>;

    /// What is started, and what it reads.
    fn victim(&mut self, rng: &mut Rng) -> Victim;

    /// Looks at what the kill left before any other process does.
    fn look(&self, _desk: &Desk) {}

    /// What must hold after the kill; an error is a loss.
    fn check(&self, desk: &Desk, said: &Said, known: &Known) -> Result<Found, String>;

    /// Makes ready for the same command once more.
    fn before_again(&self, _desk: &Desk) -> Result<(), String> {
        Ok(())
    }

    /// The same command once more, to its end.
    fn again(&self, desk: &Desk, victim: &Victim) -> Result<Said, String> {
        victim.done(desk)
    }

    /// What must hold after the same command ran once more, to its end; `before` is what was known before it.
    fn check_again(
        &self,
        desk: &Desk,
        said: &Said,
        before: &Known,
        known: &Known,
    ) -> Result<(), String>;
}

/// Every scenario.
pub(super) fn all() -> Vec<Box<dyn Scenario>> {
    let mut all: Vec<Box<dyn Scenario>> = vec![
        Box::new(writing::Remember::new()),
        Box::new(writing::Observe::new()),
        Box::new(carrying::Import::default()),
        Box::new(taking::Prune),
        Box::new(taking::Undo::default()),
        Box::new(deciding::Resolve::default()),
        Box::new(running::Run),
        Box::new(migrating::Migration::default()),
    ];
    all.push(Box::new(inbox::Inbox::default()));
    all.extend(layers::all());
    all.extend(hooked::all());
    all
}

/// JSONL for `remember --stdin`.
fn facts(texts: impl IntoIterator<Item = String>) -> String {
    let line = |text: String| format!("{}\n", serde_json::json!({ "text": text }));
    texts.into_iter().map(line).collect()
}

/// Lets `heirloom` read `input`.
fn feed(desk: &Desk, args: &[&str], input: String) -> Result<Said, String> {
    let mut victim = Victim::silent(args);
    victim.input = vec![(std::time::Duration::ZERO, input)];
    victim.done(desk)
}
