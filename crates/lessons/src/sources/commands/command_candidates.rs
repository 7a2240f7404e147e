//! Candidates about commands: their texts, keys and worth.

use super::Commands;
use super::usage::CommandUsage;
use crate::cues::{CommandCues, Cues};
use crate::event_place::EventPlace;
use crate::{Candidate, LessonContent, SourceKind, Speaker};

/// Number of successes from which on a command works.
const SUCCESSES_MIN: u32 = 2;

impl Commands {
    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let cues = &cues.commands;
        let (merged, indices) = self.usages.merged(|folder| self.folders.relative(folder));
        let mut chosen: Vec<&CommandUsage> = Vec::new();
        for usage in merged.iter().filter(|usage| usage.last_succeeded) {
            let is_same = |other: &&mut &CommandUsage| {
                other.purpose == usage.purpose && other.folder == usage.folder
            };
            match chosen.iter_mut().find(is_same) {
                Some(other) if other.succeeded < usage.succeeded => *other = usage,
                Some(_) => {}
                None => chosen.push(usage),
            }
        }
        chosen.retain(|usage| usage.succeeded >= SUCCESSES_MIN);
        let checks = self.cycle.usual_checks(&merged, &indices);
        out.extend(checks_candidate(&checks, cues));
        for usage in &chosen {
            out.extend(usage_candidate(usage, &chosen, cues));
        }
        if let Some(text) = self.tracker.text() {
            let record = CommandRecord {
                key: "command:tracker".to_owned(),
                text,
                worth: cues.worth.tracker,
            };
            out.push(record.into_candidate(&self.tracker.place));
        }
    }
}

/// Returns the record about checks before commits.
fn checks_candidate(checks: &[&CommandUsage], cues: &CommandCues) -> Option<Candidate> {
    let latest = checks.iter().max_by_key(|usage| usage.place.position)?;
    let forms: Vec<String> = checks
        .iter()
        .map(|usage| match usage.folder.as_str() {
            "" => format!("`{}`", usage.command()),
            folder => format!("`{}` in `{folder}`", usage.command()),
        })
        .collect();
    let (last, rest) = forms.split_last()?;
    let record = CommandRecord {
        key: "command:checks".to_owned(),
        text: format!(
            "Before its commits this session ran {} and {last}; all passed.",
            rest.join(", ")
        ),
        worth: cues.worth.checks,
    };
    Some(record.into_candidate(&latest.place))
}

/// Returns the record about a command for one purpose and folder.
fn usage_candidate(
    usage: &CommandUsage,
    chosen: &[&CommandUsage],
    cues: &CommandCues,
) -> Option<Candidate> {
    let purpose = cues.purpose.get(usage.purpose)?;
    let (place, key) = match usage.folder.as_str() {
        "" => (String::new(), format!("command:{}", purpose.name)),
        folder => (
            format!(" in `{folder}`"),
            format!("command:{}:{folder}", purpose.name),
        ),
    };
    let is_generation = purpose.name == "generate";
    let migration = chosen.iter().find(|other| {
        let follows = other.place.position > usage.place.position;
        let is_migration = cues
            .purpose
            .get(other.purpose)
            .is_some_and(|purpose| purpose.name == "migrate");
        is_generation && follows && is_migration
    });
    let then = migration.map_or(String::new(), |other| {
        format!(", then `{}`", other.command())
    });
    let mut text = format!("{}{place}: `{}`{then}.", purpose.label, usage.command());
    let mut worth = match purpose.name.as_str() {
        "generate" | "migrate" | "deploy" => cues.worth.generation,
        _ => cues.worth.repeated,
    };
    if let Some(slow) = usage.slow_first_run() {
        text = format!("{text} {slow}");
        worth = worth.max(cues.worth.slow_first_run);
    }
    let record = CommandRecord { key, text, worth };
    Some(record.into_candidate(&usage.place))
}

/// Text of a record about commands.
struct CommandRecord {
    key: String,
    text: String,
    worth: f32,
}

impl CommandRecord {
    fn into_candidate(self, place: &EventPlace) -> Candidate {
        Candidate {
            source: SourceKind::Command,
            speaker: Speaker::Program,
            evidence: vec![place.evidence(&self.text)],
            content: LessonContent::Knowledge {
                category: "fact".to_owned(),
                key: Some(self.key),
                text: self.text,
                rationale: None,
            },
            worth: self.worth,
            at: place.at,
            agent: place.agent.clone(),
        }
    }
}
