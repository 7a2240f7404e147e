//! Session histories: interactions of a conversation, and the section of a prompt.

use super::context::Echoes;
use crate::engine::Sessions;
use heirloom_formats::session_history::{
    HistoryEntry, HistoryLine, Interaction, fit_to_budget, interactions, render_older,
    render_recent, render_turn,
};
use heirloom_model::rating::{Rating, Tier};
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::text::counted;
use heirloom_model::{ErrorKind, Fault, Message, RecordId, limits, text};
use heirloom_search::recall::RecallItem;
use heirloom_store::StoreError;
use std::collections::HashMap;

/// Summary of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// Number of interactions that were read.
    pub interactions: usize,
    /// Number of them that a prompt gets in full.
    pub live: usize,
    /// One line for each of the last [`limits::HISTORY_SUMMARISED`], oldest first.
    pub recent: Vec<String>,
    /// One line for each interaction that is no longer live, oldest first.
    pub older: Vec<String>,
}

impl Sessions<'_> {
    /// Returns the interactions of a session, oldest first. Errors: `NotFound`.
    pub fn session_interactions(&self, session: &str) -> Result<Vec<HistoryEntry>, Fault> {
        let (_, turns) = self.get(session, None)?;
        let found = interactions(&turns).into_iter();
        Ok(found.map(|one| one.entry).collect())
    }

    /// Summarises a session without a model. Errors: `NotFound`.
    pub fn session_summary(&self, session: &str) -> Result<SessionSummary, Fault> {
        let (turns, _) = self.newest_turns(session, limits::HISTORY_TURNS_MAX)?;
        let all = interactions(&turns);
        let live = all
            .len()
            .min(self.engine.settings.history.live_interactions);
        let (gone, _) = all.split_at(all.len() - live);
        Ok(SessionSummary {
            interactions: all.len(),
            live,
            recent: render_recent(last(&all, limits::HISTORY_SUMMARISED)),
            older: render_older(gone),
        })
    }

    /// Searches turns, best first; of one session if it is named.
    pub fn search_sessions(
        &self,
        words: &str,
        session: Option<&str>,
        k: usize,
    ) -> Result<Vec<(String, Message, f64)>, Fault> {
        if words.trim().is_empty() {
            return Err(Fault::usage("there are no words to search for")
                .hint("heirloom session search WORDS"));
        }
        let request = super::RecallRequest {
            question: words.to_owned(),
            syntax: super::QuerySyntax::Words,
            k: Some(k),
            conversations: super::ConversationHits::All,
            only_conversations: true,
            min_relevance: Some(0.0),
            scope: heirloom_model::Scope {
                session: session.map(str::to_owned),
                ..Default::default()
            },
            ..Default::default()
        };
        let hits = self
            .engine
            .recall()
            .search(&request)?
            .conversations
            .into_iter();
        let turns = hits.filter_map(|hit| match hit.item {
            RecallItem::Turn {
                session, message, ..
            } => Some((session, *message, hit.breakdown.total)),
            RecallItem::Record(_) => None,
        });
        Ok(turns.collect())
    }

    /// Returns the history section of a prompt: the newest turns that fit, oldest first, after a summary of the last
    /// interactions if not all of them fit.
    ///
    /// The budget is the configured one, or `room_tokens` if that is less. Empty for an unknown session.
    pub fn history_section(
        &self,
        session: &str,
        budget_tokens: Option<usize>,
    ) -> Result<Section, Fault> {
        self.history_without(&Echoes::default(), session, budget_tokens)
    }

    /// Returns the section as [`Self::history_section`], without turns and goals that only repeat the question or the
    /// prompt.
    pub(super) fn history_without(
        &self,
        echoes: &Echoes,
        session: &str,
        budget_tokens: Option<usize>,
    ) -> Result<Section, Fault> {
        let mut section = Section {
            name: "history".to_owned(),
            heading: "## Conversation History".to_owned(),
            ..Section::default()
        };
        let (turns, whole) = match self.live_turns(session) {
            Err(fault) if fault.kind == ErrorKind::NotFound => return Ok(section),
            turns => turns?,
        };
        let mut all = interactions(&turns);
        for one in &mut all {
            if echoes.has(&one.entry.goal) {
                one.entry.goal.clear();
            }
        }
        let lines_of = |turns: &[Message]| -> Vec<HistoryLine> {
            let new =
                (turns.iter()).filter(|turn| !turn.is_bookkeeping() && !echoes.has(&turn.text));
            new.filter_map(render_turn).collect()
        };
        let live = last(&all, self.engine.settings.history.live_interactions);
        let first = live.first().map_or(turns.len(), |one| one.turns.start);
        let lines = lines_of(&turns[first..]);
        let chars_max = self.history_chars(budget_tokens);
        let mut fitted = fit_to_budget(lines.clone(), chars_max, text::chars);
        let recent_lines = last(&all, limits::HISTORY_SUMMARISED)
            .first()
            .map_or(0, |one| lines_of(&turns[one.turns.start..]).len());
        if fitted.lines.len() < recent_lines || fitted.cut {
            let summary = summary(&all);
            let takes = text::chars(&summary) + 1;
            // A summary that takes most of the budget is less useful than the turns.
            if takes <= chars_max / 4 {
                fitted = fit_to_budget(lines, chars_max - takes, text::chars);
                section.offers.push(Offer {
                    text: summary,
                    ..Offer::default()
                });
            }
        }
        if fitted.cut {
            (section.notes)
                .push("the newest message is larger than the budget: it is cut".to_owned());
        }
        if fitted.left_out > 0 {
            (section.notes).push(format!(
                "{} did not fit",
                counted(fitted.left_out, "older message", "older messages")
            ));
        }
        if all.len() > live.len() || !whole {
            let note = "older interactions are left out; recall finds them";
            section.notes.push(note.to_owned());
        }
        let newest_first = live.iter().rev().enumerate();
        let ages: HashMap<RecordId, i32> = newest_first
            .flat_map(|(age, one)| {
                let age = i32::try_from(age).unwrap_or(i32::MAX);
                turns[one.turns.clone()]
                    .iter()
                    .map(move |turn| (turn.id, age))
            })
            .collect();
        let last = fitted.lines.len().saturating_sub(1);
        let lines = fitted.lines.into_iter().enumerate();
        section.offers.extend(lines.map(|(at, line)| Offer {
            origin: Origin::Record(line.id),
            rating: rate_line(ages.get(&line.id).copied().unwrap_or(i32::MAX)),
            text: line.text,
            requires_next: at < last,
            ..Offer::default()
        }));
        Ok(section)
    }

    /// Returns the maximum number of characters of the history.
    fn history_chars(&self, budget_tokens: Option<usize>) -> usize {
        let configured = match self.engine.settings.history.budget_tokens {
            0 => usize::MAX,
            tokens => tokens,
        };
        let tokens = configured.min(budget_tokens.unwrap_or(usize::MAX));
        tokens.saturating_mul(limits::CHARS_PER_TOKEN)
    }

    /// Returns the turns of the live interactions of a session, oldest first. Errors: `NotFound`.
    pub(super) fn recent_turns(&self, session: &str) -> Result<Vec<Message>, Fault> {
        self.live_turns(session).map(|(turns, _)| turns)
    }

    /// Returns the turns of the live interactions of a session, in order; true if these are all turns.
    fn live_turns(&self, session: &str) -> Result<(Vec<Message>, bool), Fault> {
        // Usually few turns belong to a goal, so a small number is read first.
        const FEW: usize = 200;
        let (turns, whole) = self.newest_turns(session, FEW)?;
        // The first turn may belong to an earlier interaction.
        if whole || interactions(&turns).len() > self.engine.settings.history.live_interactions {
            return Ok((turns, whole));
        }
        self.newest_turns(session, limits::HISTORY_TURNS_MAX)
    }

    /// Returns the newest turns of a session in order, independent of its length; true if these are all.
    fn newest_turns(&self, session: &str, most: usize) -> Result<(Vec<Message>, bool), Fault> {
        let at = |from: u64, limit: usize| -> Result<Vec<Message>, StoreError> {
            self.engine
                .store
                .messages(&self.engine.project, session, from, limit)
        };
        let turns = at(0, most + 1)?;
        let Some(last) = turns.last().filter(|_| turns.len() > most) else {
            return Ok((turns, true));
        };
        let place = |from: u64| -> Result<Option<u64>, StoreError> {
            Ok(at(from, 1)?.first().map(|turn| turn.seq))
        };
        // Sequence numbers ascend, with gaps: exponential and then binary search for the last one.
        let (mut there, mut step) = (last.seq, most as u64);
        while let Some(found) = place(there + step)? {
            there = found;
            step *= 2;
        }
        let mut beyond = there + step;
        while beyond - there > 1 {
            let middle = there + (beyond - there) / 2;
            match place(middle)? {
                Some(found) => there = found,
                None => beyond = middle,
            }
        }
        Ok((at((there + 1).saturating_sub(most as u64), most)?, false))
    }
}

/// Returns the rating of a line by the age of its exchange, 0 for the last one.
fn rate_line(age: i32) -> Rating {
    const WORTH: f64 = 0.3;
    const OLDER_FACTOR: f64 = 0.8;
    match age {
        0 => Rating {
            tier: Tier::Exempt,
            relevance: None,
            worth: 1.0,
        },
        age => Rating {
            tier: Tier::Competing,
            relevance: None,
            worth: WORTH * OLDER_FACTOR.powi(age),
        },
    }
}

fn last<T>(all: &[T], most: usize) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

fn summary(all: &[Interaction]) -> String {
    let lines = render_recent(last(all, limits::HISTORY_SUMMARISED));
    format!("The last interactions, in short:\n{}", lines.join("\n"))
}
