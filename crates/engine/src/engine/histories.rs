//! The history of a session: its interactions, what of them a prompt is told, and files of other programs.

use super::Engine;
use super::new_record::bad_name;
use super::outputs::{OutputSource, id_of};
use super::transfer::{ImportReport, Taking};
use crate::history::{
    FiledInteraction, Interaction, Line, PART, PLAN, WHOLE, fit, interactions, line_of, older,
    parse, recent,
};
use crate::recall::Item;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{ErrorKind, Fault, Message, Role, Session, Timestamp, limits, text};
use heirloom_store::{Change, StoreError};
use serde_json::{Value, json};

/// A file of a session's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySource {
    /// Its path, as it is told.
    pub path: String,
    /// The session.
    pub session: String,
    /// When it was last changed, in seconds since 1970: for interactions that do not say when they were.
    pub changed: i64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a session comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// Interactions that were looked at.
    pub interactions: usize,
    /// How many of them are told in full.
    pub live: usize,
    /// A line for each of the last [`limits::HISTORY_SUMMARISED`], oldest first.
    pub recent: Vec<String>,
    /// Lines for those that are no longer live, oldest first.
    pub older: Vec<String>,
}

impl Engine {
    /// The interactions of a session, oldest first. Errors: `NotFound`.
    pub fn session_interactions(&self, session: &str) -> Result<Vec<FiledInteraction>, Fault> {
        let (_, turns) = self.session(session, None)?;
        let found = interactions(&turns).into_iter();
        Ok(found.map(|one| one.said).collect())
    }

    /// What a session comes to, in its own words. Errors: `NotFound`.
    pub fn session_summary(&self, session: &str) -> Result<SessionSummary, Fault> {
        let (turns, _) = self.newest_turns(session, limits::HISTORY_TURNS_MAX)?;
        let all = interactions(&turns);
        let live = all.len().min(self.settings.history.live);
        let (gone, _) = all.split_at(all.len() - live);
        Ok(SessionSummary {
            interactions: all.len(),
            live,
            recent: recent(last(&all, limits::HISTORY_SUMMARISED)),
            older: older(gone),
        })
    }

    /// Turns of sessions that say this, best first; of one session if it is named.
    pub fn search_sessions(
        &self,
        words: &str,
        session: Option<&str>,
        k: usize,
    ) -> Result<Vec<(String, Message, f64)>, Fault> {
        if words.trim().is_empty() {
            return Err(Fault::usage("which words?").hint("heirloom session search WORDS"));
        }
        let request = super::RecallRequest {
            question: words.to_owned(),
            reading: super::Reading::Words,
            k: Some(k),
            turns: true,
            scope: heirloom_model::Scope {
                session: session.map(str::to_owned),
                ..Default::default()
            },
            ..Default::default()
        };
        let hits = self.recall(&request)?.hits.into_iter();
        let turns = hits.filter_map(|hit| match hit.item {
            Item::Turn {
                session, message, ..
            } => Some((session, *message, hit.parts.total)),
            Item::Record(_) => None,
        });
        Ok(turns.collect())
    }

    /// What a prompt is told of a session: its newest turns that fit, oldest first, and before them a summary of the
    /// last interactions if not all of them fit.
    ///
    /// The budget is the configured one, or `room_tokens` if that is less. Nothing for a session that is not here.
    pub fn history_section(
        &self,
        session: &str,
        room_tokens: Option<usize>,
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
        let all = interactions(&turns);
        let live = last(&all, self.settings.history.live);
        let first = live.first().map_or(turns.len(), |one| one.turns.start);
        let lines: Vec<Line> = turns[first..].iter().filter_map(line_of).collect();
        let room = self.history_room(room_tokens);
        let mut told = fit(lines.clone(), room, text::chars);
        let recent_lines = last(&all, limits::HISTORY_SUMMARISED)
            .first()
            .map_or(0, |one| {
                turns[one.turns.start..].iter().filter_map(line_of).count()
            });
        if told.lines.len() < recent_lines || told.cut {
            let summary = summary(&all);
            let takes = text::chars(&summary) + 1;
            // A summary that takes most of the room says less than the turns.
            if takes <= room / 4 {
                told = fit(lines, room - takes, text::chars);
                section.offers.push(Offer {
                    text: summary,
                    ..Offer::default()
                });
            }
        }
        if told.cut {
            (section.notes)
                .push("the newest message is larger than the budget: it is cut".to_owned());
        }
        if told.left_out > 0 {
            (section.notes).push(format!("{} older messages did not fit", told.left_out));
        }
        if all.len() > live.len() || !whole {
            let said = "older interactions are not told here, recall finds them";
            section.notes.push(said.to_owned());
        }
        section
            .offers
            .extend(told.lines.into_iter().map(|line| Offer {
                origin: Origin::Record(line.id),
                text: line.text,
                ..Offer::default()
            }));
        Ok(section)
    }

    /// Takes histories and outputs of other programs in as one import, which `undo` takes back; what is here already
    /// stays as it is. A dry one writes nothing and says what would come.
    pub fn import_histories(
        &self,
        histories: &[HistorySource],
        outputs: &[OutputSource],
        source: &str,
        dry: bool,
    ) -> Result<ImportReport, Fault> {
        let mut taking = Taking::new(self, source)?.in_a_session();
        if dry {
            taking = taking.dry();
        }
        let taken = self.take_histories(histories, outputs, &mut taking);
        taken.map_err(|fault| taking.abandon(fault))?;
        taking.end()
    }

    /// Adds histories and outputs to an import.
    pub(super) fn take_histories(
        &self,
        histories: &[HistorySource],
        outputs: &[OutputSource],
        taking: &mut Taking<'_>,
    ) -> Result<(), Fault> {
        for file in histories {
            self.take_history(file, taking)?;
        }
        self.take_outputs(outputs, taking)
    }

    fn take_history(&self, file: &HistorySource, taking: &mut Taking<'_>) -> Result<(), Fault> {
        let session = self.clean(file.session.trim()).into_owned();
        let read = check_name("session", &session)
            .map_err(|bad| bad_name(&bad).message)
            .and_then(|()| parse(&file.bytes).map_err(|problem| problem.to_string()));
        let read = match read {
            Ok(read) => read,
            Err(problem) => {
                taking.diagnose(format!("{}: {problem}; skipped", file.path));
                return Ok(());
            }
        };
        for problem in read.diagnostics {
            taking.diagnose(format!("{}: {problem}", file.path));
        }
        let Some(first) = read.interactions.first() else {
            return Ok(());
        };
        let begun = first.timestamp.unwrap_or(file.changed);
        taking.add(
            0,
            Change::TakeSession(Box::new(self.imported(&session, begun))),
        )?;
        for (n, one) in read.interactions.iter().enumerate() {
            let turns = turns_of(&session, n, one, file.changed);
            let changes = turns.into_iter().map(|message| Change::TakeMessage {
                session: session.clone(),
                message: Box::new(message),
            });
            taking.add_all(0, changes)?;
        }
        Ok(())
    }

    fn imported(&self, id: &str, begun: i64) -> Session {
        Session {
            project: self.project.clone(),
            id: id.to_owned(),
            agent: None,
            task: None,
            started_at: Timestamp::from_second(begun).unwrap_or(Timestamp::UNIX_EPOCH),
            ended_at: None,
            attrs: Attrs::new(),
        }
    }

    /// Characters that the history may take.
    fn history_room(&self, room_tokens: Option<usize>) -> usize {
        let configured = match self.settings.history.budget_tokens {
            0 => usize::MAX,
            tokens => tokens,
        };
        let tokens = configured.min(room_tokens.unwrap_or(usize::MAX));
        tokens.saturating_mul(limits::CHARS_PER_TOKEN)
    }

    /// The turns that hold the live interactions of a session, in order, or its newest ones; whether that is all.
    fn live_turns(&self, session: &str) -> Result<(Vec<Message>, bool), Fault> {
        // Most conversations have a few turns to a goal: few are read, and more only where these do not do.
        const FEW: usize = 200;
        let (turns, whole) = self.newest_turns(session, FEW)?;
        // The first of them may have begun before.
        if whole || interactions(&turns).len() > self.settings.history.live {
            return Ok((turns, whole));
        }
        self.newest_turns(session, limits::HISTORY_TURNS_MAX)
    }

    /// The newest turns of a session in order, however long it is, and whether they are all.
    fn newest_turns(&self, session: &str, most: usize) -> Result<(Vec<Message>, bool), Fault> {
        let at = |from: u64, limit: usize| -> Result<Vec<Message>, StoreError> {
            self.store.messages(&self.project, session, from, limit)
        };
        let turns = at(0, most + 1)?;
        let Some(last) = turns.last().filter(|_| turns.len() > most) else {
            return Ok((turns, true));
        };
        let place = |from: u64| -> Result<Option<u64>, StoreError> {
            Ok(at(from, 1)?.first().map(|turn| turn.seq))
        };
        // Places only ascend: the last one lies between one that is there and one behind which nothing is.
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

fn last<T>(all: &[T], most: usize) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

fn summary(all: &[Interaction]) -> String {
    let lines = recent(last(all, limits::HISTORY_SUMMARISED));
    format!("The last interactions, in short:\n{}", lines.join("\n"))
}

/// An interaction as turns, with ids that it has whenever it is imported.
fn turns_of(session: &str, n: usize, one: &FiledInteraction, changed: i64) -> Vec<Message> {
    let at = Timestamp::from_second(one.timestamp.unwrap_or(changed));
    let at = at.unwrap_or(Timestamp::UNIX_EPOCH);
    let (plan, is_json) = match &one.plan {
        Value::Null => (String::new(), false),
        Value::String(plan) => (plan.clone(), false),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            (one.plan.to_string(), true)
        }
    };
    let stamp = one
        .timestamp
        .map_or_else(|| n.to_string(), |at| at.to_string());
    let turn = |role, sender: Option<&str>, said: &str, attrs: Attrs| Message {
        id: id_of(
            at,
            &[
                "turn",
                session,
                &stamp,
                role_part(role, sender),
                &one.goal,
                &plan,
                &one.output,
            ],
        ),
        seq: 0,
        role,
        sender: sender.map(str::to_owned),
        text: said.to_owned(),
        attrs,
        tokens: u32::try_from(text::tokens(said)).unwrap_or(u32::MAX),
        at,
    };
    let mut whole = Attrs::new();
    let mut rest = serde_json::Map::new();
    if !one.metadata.is_null() {
        rest.insert("metadata".to_owned(), one.metadata.clone());
    }
    if !one.extra.is_empty() {
        rest.insert("extra".to_owned(), Value::Object(one.extra.clone()));
    }
    whole.insert(WHOLE.to_owned(), Value::Object(rest));
    let mut turns = vec![turn(Role::User, None, &one.goal, whole)];
    if !plan.is_empty() {
        let mut attrs = Attrs::new();
        attrs.insert(PART.to_owned(), json!(PLAN));
        if is_json {
            attrs.insert("json".to_owned(), json!(true));
        }
        turns.push(turn(Role::Assistant, Some(PLAN), &plan, attrs));
    }
    if !one.output.is_empty() {
        turns.push(turn(Role::Assistant, None, &one.output, Attrs::new()));
    }
    turns
}

fn role_part(role: Role, sender: Option<&str>) -> &str {
    sender.unwrap_or(role.as_str())
}
