//! Standing rules: the texts that people wrote to be read every time, and their rules among the records.

use super::{Contexts, is_eligible, is_valid_at, outdated_records};
use crate::engine::Engine;
use crate::engine::tasks::TASK_MAIN;
use heirloom_model::context::MemoryView;
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_PREFERENCE, Knowledge,
};
use heirloom_model::{Authority, Budget, Fault, Kind, Record, limits};
use heirloom_prompt::context::{self, StandingAllowance, WorthInput};
use heirloom_store::Filter;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Categories of standing rules: they hold for all work, so that no question asks for them.
///
/// A decision of a person, `From now on the tests run with Postgres`, is a rule like the convention that it replaces.
pub(in crate::engine) const RULE_CATEGORIES: [&str; 3] =
    [CATEGORY_PREFERENCE, CATEGORY_CONVENTION, CATEGORY_DECISION];

/// Source of what a person writes.
const PERSON: &str = "user";

impl Contexts<'_> {
    /// Returns the standing instructions of people (SOUL.md, AGENTS.md), at most `chars_max` characters of them. Empty
    /// if the source table leaves the workspace out.
    pub fn standing_text(&self, chars_max: usize) -> String {
        let rows = &self.engine.settings.sources;
        let mut used = rows
            .iter()
            .filter(|row| row.share_percent > 0 || row.min_chars > 0);
        let Some(row) = used.find(|row| row.name == "workspace") else {
            return String::new();
        };
        let section = self.engine.workspace().section_with_standing();
        let prefixes = self.signal_prefixes();
        let allowed = chars_max.min(self.engine.settings.standing_chars);
        context::render_by_worth(&WorthInput {
            view: &MemoryView::default(),
            sections: &[(row.clone(), section)],
            budget: Budget::Chars(0),
            standing: StandingAllowance {
                chars: 0,
                is_within_budget: true,
                separate_chars: Some(allowed),
            },
            question: None,
            best_floor: 0.0,
            floor: 0.0,
            prefixes: &prefixes,
        })
        .rules
    }

    /// Returns the records that hold for all work: pinned ones, then rules of people, those of
    /// the person's own memory last; each newest first. Muted, disputed and invalid ones are left out.
    ///
    /// A memory of the person that cannot be read counts as empty.
    pub fn standing_records(&self) -> Result<Vec<Record>, Fault> {
        let mut found = self.pinned_records(TASK_MAIN)?;
        found.reverse();
        found.extend(rules_of_people(self.engine)?);
        if let Some(user) = &self.engine.user {
            found.extend(rules_of_people(user).unwrap_or_default());
        }
        let mut seen = HashSet::new();
        let outdated = outdated_records(&found);
        found.retain(|record| !outdated.contains(&record.id) && seen.insert(record.id));
        Ok(found)
    }
}

/// Returns the rules of people, those that were stated or confirmed last first.
fn rules_of_people(engine: &Engine) -> Result<Vec<Record>, Fault> {
    let now = engine.now();
    let mut rules = Vec::new();
    for category in RULE_CATEGORIES {
        let filter = Filter::current(&[Kind::Knowledge], now)
            .category(category)
            .holds_at(now)
            .limit(limits::STANDING_RECORDS_MAX);
        // Rules that agents left must not displace those of people.
        let by_person = Filter {
            source: Some(PERSON.to_owned()),
            ..filter.clone()
        };
        for filter in [by_person, filter] {
            rules.extend(engine.records().find(&filter)?);
        }
    }
    rules.retain(|record| {
        is_standing_rule(record) && is_eligible(record) && is_valid_at(record, now)
    });
    rules.sort_by_key(|record| Reverse((Knowledge::last_stated_at(record), record.id)));
    Ok(rules)
}

/// Returns true for a rule of a person that is not limited to a task.
pub(in crate::engine) fn is_standing_rule(record: &Record) -> bool {
    let is_rule = |category| RULE_CATEGORIES.contains(&category);
    let is_general = (record.scope.task.as_deref()).is_none_or(|task| task == TASK_MAIN);
    is_general
        && record.category().is_some_and(is_rule)
        && Authority::of_record(record) == Authority::Person
}
