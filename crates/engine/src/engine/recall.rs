//! Recall: one question over everything. The store finds candidates, the recall room ranks them.

mod asked;

use super::Engine;
use crate::recall::{Asked, Asking, Candidate, Filters, Item, Parts, Ranked, fill, fold, rank};
use asked::{ask, candidates, checked_count, keys, stems, turn_fits};
use heirloom_index::words::{Question, Term};
use heirloom_model::{Fault, Kind, RecordId, Scope, Timestamp, limits, text};
use heirloom_store::{Filter, Found, Hit, ModelVector, Search, When};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// How the text of a question is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reading {
    /// As somebody's question: `task:42` narrows, and a filter that cannot be used is an error.
    #[default]
    Question,
    /// As words: prompts, errors and other texts that nobody wrote as a question.
    Words,
}

/// What candidates are looked for by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arms {
    /// Words and meaning.
    #[default]
    Both,
    /// Words only.
    Words,
    /// Meaning only.
    Meaning,
}

/// Whose vectors rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    /// The built-in ones, whose cosines mean the same everywhere; nobody is asked.
    BuiltIn,
    /// Those of the engine's model, if it has one.
    OfTheModel,
}

/// What becomes of near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Doubles {
    /// They stand under the best of them.
    #[default]
    Fold,
    /// Each has its own place.
    Keep,
}

/// What the index knows of a question: how rare its words are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Evidence {
    /// The stems of the question.
    pub(super) terms: Vec<Term>,
    /// In how many texts each of them is.
    pub(super) dfs: Vec<u64>,
    /// How many texts were searched.
    pub(super) searched: u64,
}

/// What is to be recalled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallRequest {
    /// The question.
    pub question: String,
    /// How it is read.
    pub reading: Reading,
    /// At most so many hits; else [`limits::RECALL_HITS_DEFAULT`], or what fits the budget.
    pub k: Option<usize>,
    /// At most so many tokens of text.
    pub budget_tokens: Option<usize>,
    /// Only these kinds of records, beside those that the question names; empty = all.
    pub kinds: Vec<Kind>,
    /// Turns of conversations, where kinds are named.
    pub turns: bool,
    /// Only these records; empty = all.
    pub among: Vec<RecordId>,
    /// Only what belongs here.
    pub scope: Scope,
    /// Where whoever asks stands: what lies near ranks higher.
    pub near: Scope,
    /// What was current then, instead of now.
    pub as_of: Option<Timestamp>,
    /// By words, by meaning, or both.
    pub arms: Arms,
    /// What becomes of near-duplicates.
    pub doubles: Doubles,
}

/// What was recalled.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The hits, best first; on a tie the older first.
    pub hits: Vec<Ranked>,
    /// What is worth knowing about the question.
    pub notes: Vec<String>,
    /// Microseconds that it took.
    pub took_us: u64,
}

impl Engine {
    /// What memory has for a question, best first: records, and turns of conversations.
    ///
    /// Never what is retired or has expired, unless the past is asked for. The same question over the same
    /// memory gives the same list. An engine with a model of its own asks it for the question's vector; whatever
    /// comes of that, there is an answer, and a note if it went without. Errors: `Usage` for a question that is
    /// empty or too long, a filter that cannot be used, or a number over its cap.
    pub fn recall(&self, request: &RecallRequest) -> Result<Recalled, Fault> {
        self.recall_by(request, Vectors::OfTheModel)
    }

    /// As [`Engine::recall`], by these vectors.
    pub(super) fn recall_by(
        &self,
        request: &RecallRequest,
        vectors: Vectors,
    ) -> Result<Recalled, Fault> {
        let began = Instant::now();
        let k = checked_count(request)?;
        let question = self.clean(&request.question);
        let mut asked = ask(&question, request.reading, self.now())?;
        let filter = self.narrowed(&mut asked, request)?;
        let mut notes = std::mem::take(&mut asked.notes);
        if request.as_of.is_some_and(|then| then > self.now()) {
            notes.push(
                "the time that is asked for lies in the future: it is answered as of now"
                    .to_owned(),
            );
        }
        let hits = if asked.text.trim().is_empty() {
            if !asked.filters.records_too() {
                notes.push(
                    "turns of conversations are found by what they say: give some words".to_owned(),
                );
            }
            self.newest(&filter, k, &asked.filters)?
        } else if asked.text.chars().any(char::is_alphanumeric) {
            let by_model = vectors == Vectors::OfTheModel && request.arms != Arms::Words;
            let vector = if by_model {
                self.question_vector(&asked.text, &mut notes)?
            } else {
                None
            };
            self.ranked(&asked, filter, k, request, vector)?
        } else {
            notes.push("the question has no words to search for".to_owned());
            Vec::new()
        };
        let mut hits = match request.budget_tokens {
            Some(budget) => fill(hits, budget),
            None => hits,
        };
        self.with_lines(hits.iter_mut().filter_map(|hit| match &mut hit.item {
            Item::Record(record) => Some(&mut **record),
            Item::Turn { .. } => None,
        }));
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(Recalled {
            hits,
            notes,
            took_us,
        })
    }

    /// The hits of a question by the built-in vectors, with what the index knows of its words.
    pub(super) fn recall_with_evidence(
        &self,
        request: &RecallRequest,
    ) -> Result<(Vec<Ranked>, Evidence), Fault> {
        let k = checked_count(request)?;
        let question = self.clean(&request.question);
        let mut asked = ask(&question, request.reading, self.now())?;
        let filter = self.narrowed(&mut asked, request)?;
        if !asked.text.chars().any(char::is_alphanumeric) {
            return Ok(Default::default());
        }
        self.ranked_with_evidence(&asked, filter, k, request, None)
    }

    /// The filter that the request and the question make together; kinds and scope of the request join the
    /// question's own.
    fn narrowed(&self, asked: &mut Asked, request: &RecallRequest) -> Result<Filter, Fault> {
        let filters = &mut asked.filters;
        filters.turns |= request.turns;
        for kind in &request.kinds {
            if !filters.kinds.contains(kind) {
                filters.kinds.push(*kind);
            }
        }
        let given = request.scope.names();
        for (slot, (name, value)) in filters.scope.names_mut().into_iter().zip(given) {
            match (&slot, value) {
                (_, None) => {}
                (Some(asked), Some(value)) if asked != value => {
                    return Err(Fault::usage(format!(
                        "{name} `{}` is asked for, and {name} `{}` in the question",
                        text::excerpt(value, 60),
                        text::excerpt(asked, 60)
                    )));
                }
                (_, Some(value)) => *slot = Some(value.to_owned()),
            }
        }
        super::new_record::check_scope(&filters.scope)?;
        let filters = &asked.filters;
        Ok(Filter {
            category: filters.category.clone(),
            key: filters.key.clone(),
            scope: filters.scope.clone(),
            source: filters.source.clone(),
            recorded_from: filters.after,
            recorded_before: filters.before,
            ids: request.among.clone(),
            when: match request.as_of {
                Some(then) => When::AsOf(then),
                None => When::Current(self.now()),
            },
            ..Filter::current(&filters.kinds, self.now())
        })
    }

    /// Without words: the newest that the filters leave.
    fn newest(&self, filter: &Filter, k: usize, filters: &Filters) -> Result<Vec<Ranked>, Fault> {
        if !filters.records_too() {
            return Ok(Vec::new());
        }
        let found = self.find(&filter.clone().limit(k))?;
        let plain = |record| Ranked {
            item: Item::Record(Box::new(record)),
            parts: Parts::default(),
            folded: Vec::new(),
        };
        Ok(found.into_iter().map(plain).collect())
    }

    fn ranked(
        &self,
        asked: &Asked,
        filter: Filter,
        k: usize,
        request: &RecallRequest,
        vector: Option<ModelVector>,
    ) -> Result<Vec<Ranked>, Fault> {
        let ranked = self.ranked_with_evidence(asked, filter, k, request, vector);
        ranked.map(|(ranked, _)| ranked)
    }

    fn ranked_with_evidence(
        &self,
        asked: &Asked,
        filter: Filter,
        k: usize,
        request: &RecallRequest,
        vector: Option<ModelVector>,
    ) -> Result<(Vec<Ranked>, Evidence), Fault> {
        let question = Question::of(&asked.text);
        let search = Search {
            words: (request.arms != Arms::Meaning).then(|| question.clone()),
            meaning: (request.arms != Arms::Words).then(|| asked.text.clone()),
            vector,
            filter,
            each: candidates(k),
        };
        let found = self.store.search(&self.project, &search)?;
        let mut candidates = self.loaded(&found.hits, &search.filter, &asked.filters)?;
        self.add_the_named(asked, &search.filter, &found, &mut candidates)?;
        let stems = |text: &str| stems(text);
        let asking = Asking {
            asked,
            near: &request.near,
            now: self.now(),
            terms: &question.terms,
            pairs: &question.pairs,
            dfs: &found.dfs,
            searched: found.searched,
            stems: &stems,
        };
        let mut ranked = rank(&asking, candidates);
        match request.doubles {
            Doubles::Fold => ranked = fold(ranked, k),
            Doubles::Keep => ranked.truncate(k),
        }
        let evidence = Evidence {
            terms: question.terms,
            dfs: found.dfs,
            searched: found.searched,
        };
        Ok((ranked, evidence))
    }

    /// What is behind the hits, in their order. What was retired since the search, or does not fit the
    /// filters, is not among it.
    fn loaded(
        &self,
        hits: &[Hit],
        filter: &Filter,
        filters: &Filters,
    ) -> Result<Vec<Candidate>, Fault> {
        let ids = |turns: bool| -> Vec<RecordId> {
            let wanted = hits.iter().filter(|hit| hit.is_turn == turns);
            wanted.map(|hit| hit.id).collect()
        };
        let mut items: HashMap<RecordId, Item> = HashMap::new();
        let records = ids(false);
        if !records.is_empty() && filters.records_too() {
            let limit = records.len();
            for record in self.find(&filter.clone().ids(records).limit(limit))? {
                items.insert(record.id, Item::Record(Box::new(record)));
            }
        }
        let turns = ids(true);
        if !turns.is_empty() && filters.turns_too() {
            for (session, message) in self.store.turns(&self.project, &turns)? {
                let message = Box::new(message);
                let turn = Item::Turn { session, message };
                if turn_fits(&turn, filter) {
                    items.insert(turn.id(), turn);
                }
            }
        }
        let with_item = |hit: &Hit| {
            let item = items.remove(&hit.id)?;
            Some(Candidate { item, hit: *hit })
        };
        Ok(hits.iter().filter_map(with_item).collect())
    }

    /// Adds the records whose key the question, or one of its words that looks like a name, is.
    fn add_the_named(
        &self,
        asked: &Asked,
        filter: &Filter,
        found: &Found,
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), Fault> {
        let looked_up = matches!(filter.when, When::Current(_)) && filter.key.is_none();
        if !looked_up || !asked.filters.records_too() {
            return Ok(());
        }
        let mut known: HashSet<RecordId> = candidates.iter().map(|one| one.item.id()).collect();
        let least = found.hits.iter().map(|hit| hit.score).fold(0.0, f32::min);
        for key in keys(&asked.text) {
            for record in self.find(&filter.clone().key(key).limit(limits::RECALL_HITS_DEFAULT))? {
                if !known.insert(record.id) {
                    continue;
                }
                let hit = Hit {
                    id: record.id,
                    is_turn: false,
                    lexical: 0.0,
                    vector: 0.0,
                    score: least,
                    conversation: 0.0,
                };
                let item = Item::Record(Box::new(record));
                candidates.push(Candidate { item, hit });
            }
        }
        Ok(())
    }
}
