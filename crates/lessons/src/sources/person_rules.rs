//! Rules by people: turns that set a rule or correct the agent, reasons of rejected calls, and checks such as "did you
//! push?", which suggest a preference.

mod abandoned_turns;
mod habit_change;
mod leaving_statements;
mod pasted_text;
mod rule_finder;
mod scored_sentence;
mod session_sentences;
mod stops;
mod turn_text;
mod weak_preference;

pub(super) use turn_text::own_text;

use crate::code_tokens::content_words;
use crate::cues::{Cues, PersonRuleCues, RuleCategory, normalize};
use crate::rule_model::SentencePlace;
use crate::sentences::{plain_text, sentences, shorten_to_sentences};
use crate::wishes::Wish;
use crate::{Candidate, Evidence, LessonContent, SourceKind, Speaker};
use abandoned_turns::AbandonedTurns;
use heirloom_agents::transcripts::{
    EventBody, ToolOutcome, TranscriptEvent, TurnAuthor, without_injected_text,
};
use heirloom_model::{Timestamp, text};
pub(super) use rule_finder::find_rules;
use rule_finder::{FoundRule, find_wishes};
pub use rule_finder::{TurnSentence, turn_sentences};
pub(crate) use rule_finder::{own_sentences, rule_category};
use serde::{Deserialize, Serialize};
use session_sentences::ReadTurn;
pub use session_sentences::{SessionSentences, SpokenSentence};
use stops::{call_id, describe_call, is_stop, rejection_reason, typed_command};

/// Greatest number of rules that are kept.
const RULES_MAX: usize = 50;
/// Greatest number of characters of an evidence line and of a rationale.
const LINE_CHARS_MAX: usize = 200;
/// Greatest number of characters of the agent's last text.
const STATEMENT_CHARS_MAX: usize = 1200;
/// Number of calls whose action is remembered until their result.
const CALLS_MAX: usize = 8;
/// Number of calls after an interrupt that the agent makes before a prompt, which waited, reaches it.
const CALLS_AFTER_INTERRUPT_MAX: u32 = 2;
/// Rise of the worth of a rule that is repeated.
const REPETITION_WORTH: f32 = 0.05;
/// Greatest number of answers of one question tool.
const ANSWERS_MAX: usize = 8;
/// Parts of the names of tools that ask a person: `AskUserQuestion`, `question`, `ask_user` and `request_user_input`.
const QUESTION_TOOLS: [&str; 4] = ["question", "askuser", "ask_user", "user_input"];
/// Tool of a command that the person gave to the shell, whose output says nothing about a rejection.
const TYPED_TOOL: &str = "run";
/// Smallest number of words of an answer in the person's own words; shorter ones are options.
const ANSWER_WORDS_MIN: usize = 5;
/// Greatest number of wishes; the newest ones stay.
const WISHES_MAX: usize = 40;
/// Greatest number of weak preferences.
const WEAK_MAX: usize = 3;

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PersonRules {
    rules: Vec<StoredRule>,
    /// The agent's last text.
    statement: String,
    /// Ids and actions of the last calls.
    calls: Vec<(String, String)>,
    /// Id of the last call of a command that the person gave to the shell.
    typed_command: String,
    /// Number of calls since the last turn.
    call_count: u32,
    /// Action of the call that the person interrupted without a reason.
    interrupted: Option<String>,
    /// Number of calls since then.
    calls_since_interrupt: u32,
    /// Sentences that would be preferences if they came back.
    wishes: Vec<Wish>,
    /// Turns that the person abandoned since the last one.
    abandoned: AbandonedTurns,
    /// Position of the last turn.
    last_turn: Option<u64>,
    /// Turns that were read, if they are collected for the fit of the model.
    #[serde(skip)]
    read: Option<Vec<ReadTurn>>,
}

/// Rule with its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredRule {
    category: String,
    text: String,
    rationale: Option<String>,
    worth: f32,
    is_weak: bool,
    /// True if another author than the person may have said it.
    #[serde(default)]
    is_unverified: bool,
    event: String,
    position: u64,
    line: String,
    at: Option<Timestamp>,
}

impl PersonRules {
    /// Reads an event. Prompts of subagents are written by an agent and never count.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        if event.agent.is_some() {
            return;
        }
        let cues = &cues.person_rules;
        match &event.body {
            // Claude Code stores an interrupt as a prompt of its own before the person's.
            EventBody::Prompt(turn) if is_stop(turn, &cues.turns) => {
                let action = self.calls.last().map(|(_, action)| action.clone());
                self.interrupted = action.or_else(|| Some("a call".to_owned()));
                self.calls_since_interrupt = 0;
            }
            EventBody::AbandonedPrompt(turn) => {
                self.read_abandoned_turn(position, event, turn, cues);
            }
            EventBody::Prompt(turn) => {
                let rewritten = self.abandoned.take_rewritten(turn);
                self.rules
                    .retain(|rule| !rewritten.contains(&rule.position));
                self.read_turn(position, event, turn, cues);
                self.call_count = 0;
                self.calls.clear();
                self.interrupted = None;
                self.statement.clear();
                self.last_turn = Some(position);
            }
            EventBody::AssistantText(words) => {
                self.statement = text::clip_start(words, STATEMENT_CHARS_MAX).to_owned();
            }
            EventBody::Call { call, tool, action } => {
                if self.calls.len() >= CALLS_MAX {
                    self.calls.remove(0);
                }
                let id = call_id(call);
                if tool == TYPED_TOOL {
                    self.typed_command.clone_from(&id);
                }
                self.calls.push((id, describe_call(tool, action)));
                self.call_count = self.call_count.saturating_add(1);
                self.calls_since_interrupt = self.calls_since_interrupt.saturating_add(1);
                if self.calls_since_interrupt > CALLS_AFTER_INTERRUPT_MAX {
                    self.interrupted = None;
                }
            }
            EventBody::Result {
                call,
                outcome: ToolOutcome::Rejected,
                text,
            } => self.read_rejection(position, event, (call, text), cues),
            EventBody::ConversationStart(_) => {
                self.calls.clear();
                self.statement.clear();
                self.interrupted = None;
            }
            EventBody::Result { call, text, .. } if self.is_question(call) => {
                self.read_answers(position, event, text, cues);
            }
            EventBody::Result { .. } => {}
            EventBody::Summary(_) | EventBody::FileChanged(_) | EventBody::TokenUsage(_) => {}
        }
    }

    fn read_turn(
        &mut self,
        position: u64,
        event: &TranscriptEvent,
        turn: &str,
        cues: &PersonRuleCues,
    ) {
        let turn = without_injected_text(turn);
        if event.author == TurnAuthor::Person {
            self.withdraw(&turn, cues);
        }
        let place = SentencePlace {
            follows_stop: self.interrupted.is_some(),
            is_first_prompt: self.last_turn.is_none(),
            ..SentencePlace::default()
        };
        let found = match self
            .interrupted
            .as_ref()
            .and_then(|action| typed_command(&turn, action))
        {
            Some(rule) => vec![rule],
            None => self.find(&turn, place, event.at, cues),
        };
        let is_empty = found.is_empty();
        if event.author == TurnAuthor::Person {
            self.add_wishes(position, event, find_wishes(&turn, place, cues));
        }
        for rule in found {
            let rationale = self.rationale(&rule, None);
            self.add(stored_rule(rule, rationale, position, event));
        }
        if is_empty
            && event.author == TurnAuthor::Person
            && self.rules.iter().filter(|rule| rule.is_weak).count() < WEAK_MAX
            && self.last_turn.is_some()
            && let Some(text) = self.weak_preference(&turn, cues)
        {
            self.add(StoredRule {
                category: "preference".to_owned(),
                line: text::excerpt(&turn, LINE_CHARS_MAX),
                text,
                rationale: None,
                worth: cues.weak_worth,
                is_weak: true,
                is_unverified: false,
                event: event.id.clone(),
                position,
                at: event.at,
            });
        }
    }

    /// Reads a turn of a branch that the person abandoned: what they said holds, unless the next turn is a new version of it.
    fn read_abandoned_turn(
        &mut self,
        position: u64,
        event: &TranscriptEvent,
        turn: &str,
        cues: &PersonRuleCues,
    ) {
        let turn = without_injected_text(turn);
        if is_stop(&turn, &cues.turns) {
            return;
        }
        let place = SentencePlace {
            is_first_prompt: self.last_turn.is_none(),
            ..SentencePlace::default()
        };
        for rule in self.find(&turn, place, event.at, cues) {
            let reason = rule.reason.clone();
            self.add(stored_rule(rule, reason, position, event));
        }
        self.abandoned.add(position, &turn);
    }

    /// Reads the result of a rejected call. Its text has the person's reason, or none after an interrupt.
    fn read_rejection(
        &mut self,
        position: u64,
        event: &TranscriptEvent,
        (call, text): (&str, &str),
        cues: &PersonRuleCues,
    ) {
        let words = &cues.turns;
        if call_id(call) == self.typed_command {
            return;
        }
        if !words
            .rejections
            .iter()
            .any(|start| text.starts_with(*start))
        {
            return;
        }
        let known = self.calls.iter().rev().find(|(id, _)| id == call);
        let action = known.map(|(_, action)| action.clone());
        match rejection_reason(text, words) {
            Some(reason) => {
                let place = SentencePlace {
                    follows_stop: true,
                    is_rejection: true,
                    ..SentencePlace::default()
                };
                for rule in self.find(reason, place, event.at, cues) {
                    let rationale = self.rationale(&rule, action.as_deref());
                    self.add(stored_rule(rule, rationale, position, event));
                }
            }
            None => {
                self.interrupted = action.or_else(|| Some("a call".to_owned()));
                self.calls_since_interrupt = 0;
            }
        }
    }

    /// Returns true if a call asked the person something. The output of any other tool may have the same words.
    fn is_question(&self, call: &str) -> bool {
        let id = call_id(call);
        let known = self.calls.iter().rev().find(|(known, _)| *known == id);
        known.is_some_and(|(_, action)| {
            // The input follows the name, and may have any words.
            let tool = action
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_lowercase();
            !tool.starts_with('`') && QUESTION_TOOLS.iter().any(|word| tool.contains(word))
        })
    }

    /// Reads the result of a question tool: the person's answers are their words.
    fn read_answers(
        &mut self,
        position: u64,
        event: &TranscriptEvent,
        text: &str,
        cues: &PersonRuleCues,
    ) {
        let marks = &cues.turns.answers;
        let Some(answers) = marks.iter().find_map(|mark| text.strip_prefix(*mark)) else {
            return;
        };
        let answers = answers.split("\"=\"").skip(1).take(ANSWERS_MAX);
        for answer in answers.filter_map(|rest| rest.split('"').next()) {
            let is_option = answer.ends_with("(Recommended)");
            if is_option || answer.split_whitespace().count() < ANSWER_WORDS_MIN {
                continue;
            }
            for rule in self.find(answer, SentencePlace::default(), event.at, cues) {
                let rationale = rule.reason.clone();
                self.add(stored_rule(rule, rationale, position, event));
            }
        }
    }

    fn add_wishes(&mut self, position: u64, event: &TranscriptEvent, found: Vec<(String, bool)>) {
        for (text, forbids) in found {
            if self.wishes.len() >= WISHES_MAX {
                self.wishes.remove(0);
            }
            self.wishes.push(Wish {
                event: event.id.clone(),
                text: text::excerpt(&text, LINE_CHARS_MAX),
                position,
                at: event.at,
                forbids,
                is_rule: false,
            });
        }
    }

    /// Returns the sentences that would be preferences if they came back in other sessions.
    pub(crate) fn wishes(&self) -> &[Wish] {
        &self.wishes
    }

    /// Returns the rationale of a rule: for a correction the rejected action or the agent's statement, otherwise the
    /// person's reason.
    fn rationale(&self, rule: &FoundRule, rejected: Option<&str>) -> Option<String> {
        if rule.category != RuleCategory::Correction {
            return rule.reason.clone();
        }
        if let Some(action) = rejected {
            return Some(format!("The person rejected {action}."));
        }
        let wrong = self.statement_about(&rule.text);
        wrong
            .map(|statement| format!("The agent had written: \"{statement}\""))
            .or_else(|| {
                let (_, action) = self.calls.last()?;
                Some(format!("The agent had used {action}."))
            })
            .or_else(|| rule.reason.clone())
    }

    /// Returns the sentence of the agent's last text that shares most words with the rule; `None` if none shares any, as the
    /// text is then about something else.
    fn statement_about(&self, rule: &str) -> Option<String> {
        let rule = normalize(rule);
        let words: Vec<&str> = rule
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .collect();
        let plain = plain_text(&self.statement);
        let all: Vec<&str> = sentences(&plain).collect();
        let shared = |sentence: &str| {
            let sentence = normalize(sentence);
            words
                .iter()
                .filter(|word| sentence.contains(**word))
                .count()
        };
        let topics = content_words(&rule);
        let is_about_it = |sentence: &str| {
            let sentence = normalize(sentence);
            topics.iter().any(|word| sentence.contains(word.as_str()))
        };
        let best = all
            .iter()
            .enumerate()
            .filter(|(_, sentence)| is_about_it(sentence))
            .max_by_key(|(index, sentence)| (shared(sentence), *index))
            .map(|(_, sentence)| *sentence)?;
        let short = shorten_to_sentences(best, LINE_CHARS_MAX);
        Some(match short.is_empty() {
            true => text::excerpt(best, LINE_CHARS_MAX),
            false => short,
        })
    }

    /// Removes the rules of the last turn if this turn withdraws them.
    fn withdraw(&mut self, turn: &str, cues: &PersonRuleCues) {
        let start = normalize(text::clip(turn.trim_start(), LINE_CHARS_MAX));
        let withdrawals = &cues.turns.withdrawals;
        if let Some(last) = self.last_turn
            && withdrawals.iter().any(|word| start.starts_with(*word))
        {
            self.rules.retain(|rule| rule.position != last);
        }
    }

    /// Adds a rule; a repetition raises the worth of the first one.
    fn add(&mut self, rule: StoredRule) {
        let key = normalize(&rule.text);
        if let Some(known) = self
            .rules
            .iter_mut()
            .find(|known| normalize(&known.text) == key)
        {
            let worth = (known.worth + REPETITION_WORTH).min(1.0);
            // A person who repeats a pasted sentence makes it a rule of their own.
            if known.is_unverified && !rule.is_unverified {
                *known = rule;
            }
            known.worth = known.worth.max(worth);
            return;
        }
        if self.rules.len() >= RULES_MAX {
            let least = self
                .rules
                .iter()
                .enumerate()
                .min_by(|(_, one), (_, other)| one.worth.total_cmp(&other.worth))
                .map(|(index, least)| (index, least.worth));
            match least {
                Some((index, worth)) if worth < rule.worth => drop(self.rules.remove(index)),
                _ => return,
            }
        }
        self.rules.push(rule);
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, _cues: &Cues, out: &mut Vec<Candidate>) {
        out.extend(self.rules.iter().map(|rule| Candidate {
            source: SourceKind::PersonRule,
            speaker: match rule.is_unverified {
                true => Speaker::Unknown,
                false => Speaker::Person,
            },
            content: LessonContent::Knowledge {
                category: rule.category.clone(),
                key: None,
                text: rule.text.clone(),
                rationale: rule.rationale.clone(),
            },
            worth: rule.worth,
            evidence: vec![Evidence {
                event: rule.event.clone(),
                position: rule.position,
                line: rule.line.clone(),
            }],
            at: rule.at,
            agent: None,
        }));
    }
}

fn stored_rule(
    rule: FoundRule,
    rationale: Option<String>,
    position: u64,
    event: &TranscriptEvent,
) -> StoredRule {
    StoredRule {
        category: rule.category.as_str().to_owned(),
        text: rule.text,
        rationale,
        worth: rule.worth,
        is_weak: false,
        is_unverified: rule.is_pasted || event.author == TurnAuthor::Other,
        event: event.id.clone(),
        position,
        line: text::excerpt(&rule.line, LINE_CHARS_MAX),
        at: event.at,
    }
}
