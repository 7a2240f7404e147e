//! Haystack that is scored here from parts of the index, so that each part can be left out.
//!
//! With nothing left out, its lists equal those of the store; the ablation prints the number of differing queries.

use heirloom_model::{Record, Scope, Timestamp, limits};
use heirloom_search::index::bm25::{ScoreStats, Totals, Weights, top_scores};
use heirloom_search::index::posting_code::{self, CodeTables};
use heirloom_search::index::tokenizer::{HEAD_STEMS, QueryTerms, Stem, Term, stems};
use heirloom_search::index::vector::{EMPTY_ROW, EmbeddedDocument, QueryVector};
use heirloom_search::recall::{Candidate, ParsedQuery, RankContext, Ranked, RecallItem, rank};
use heirloom_store::Hit;
use std::collections::HashMap;

/// Weight of the vector score relative to the lexical score; must equal the store's.
const VECTOR: f32 = 1.5;
/// Number of candidates of each arm.
const EACH: usize = 50;

/// Part of the index or of the query parser that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Without {
    /// Nothing is left out.
    Nothing,
    /// Joined forms of words with hyphens and underscores.
    Joined,
    /// Parts of camel-case names.
    CamelParts,
    /// The extra weight of the head of a text.
    Head,
    /// The stop-word list: a query keeps stop words.
    StopWords,
    /// Rarity of pieces in the query vector.
    Rarity,
    /// Rounding of counts and lengths to one byte.
    Rounding,
}

/// Text split into terms.
struct Text {
    stems: Vec<Stem>,
    joined: Vec<Term>,
    first_line_end: usize,
}

/// Texts of one haystack.
pub(crate) struct Haystack<'r> {
    records: &'r [Record],
    texts: Vec<Text>,
    rows: Vec<u8>,
    pieces: HashMap<u16, u32>,
    now: Timestamp,
}

/// Count of a stem in one text.
struct Posting {
    text: usize,
    len: u32,
    head_len: u32,
    count: u32,
    in_head: u32,
}

/// Postings of all texts, with one part left out.
pub(crate) struct Postings {
    without: Without,
    terms: HashMap<Term, Vec<Posting>>,
    weights: Weights,
}

impl<'r> Haystack<'r> {
    /// Tokenises and embeds the texts.
    pub(crate) fn of(records: &'r [Record], now: Timestamp) -> Self {
        let mut rows = Vec::new();
        let mut pieces = HashMap::new();
        for record in records {
            match EmbeddedDocument::of(&record.text) {
                Some(meaning) => {
                    rows.extend_from_slice(&meaning.vector.to_bytes());
                    for piece in meaning.distinct {
                        *pieces.entry(piece).or_default() += 1;
                    }
                }
                None => rows.extend_from_slice(&EMPTY_ROW),
            }
        }
        Self {
            records,
            texts: records
                .iter()
                .map(|record| Text::of(&record.text))
                .collect(),
            rows,
            pieces,
            now,
        }
    }

    /// Builds the postings of all texts.
    pub(crate) fn postings(&self, without: Without) -> Postings {
        let mut terms: HashMap<Term, Vec<Posting>> = HashMap::new();
        let mut totals = Totals::default();
        for (text, parts) in self.texts.iter().enumerate() {
            let kept_stems: Vec<&Stem> = parts
                .stems
                .iter()
                .filter(|stem| parts.is_used(stem, without))
                .collect();
            let heads = kept_stems.iter().take(HEAD_STEMS);
            let head_len = heads
                .take_while(|stem| stem.at < parts.first_line_end)
                .count();
            let (len, head_len) = (length(kept_stems.len()), length(head_len));
            totals.texts += 1;
            totals.len += u64::from(len);
            totals.head_len += u64::from(head_len);
            for (place, stem) in (0..).zip(kept_stems) {
                let list = terms.entry(stem.term).or_default();
                if list.last().is_none_or(|last| last.text != text) {
                    list.push(Posting {
                        text,
                        len,
                        head_len,
                        count: 0,
                        in_head: 0,
                    });
                }
                if let Some(posting) = list.last_mut() {
                    posting.count += 1;
                    posting.in_head += u32::from(place < head_len);
                }
            }
        }
        Postings {
            without,
            terms,
            weights: Weights::of(totals),
        }
    }

    /// Returns the answers to a query, best first.
    pub(crate) fn ranked(&self, postings: &Postings, parsed: &ParsedQuery) -> Vec<Ranked> {
        let question = postings.question(&parsed.text);
        let (lexical, dfs) = postings.scores(&question, self.records.len());
        let vector = self.vector_scores(&parsed.text, postings.without);
        let count = self.records.len() as u64;
        let spreads = (
            ScoreStats::of(&lexical, count),
            ScoreStats::of(&vector, count),
        );
        let mut places: Vec<usize> = [&lexical, &vector]
            .into_iter()
            .flat_map(|scores| top_scores(scores, EACH, |_| true))
            .map(|(place, _)| place)
            .collect();
        places.sort_unstable();
        places.dedup();
        let at = |scores: &[f32], place: usize| scores.get(place).copied().unwrap_or(0.0);
        let z = |scores: &[f32], spread: &ScoreStats, place: usize| {
            scores.get(place).map_or(0.0, |score| spread.z(*score))
        };
        let candidate = |place: usize| Candidate {
            hit: Hit {
                id: self.records[place].id,
                lexical: at(&lexical, place),
                vector: at(&vector, place),
                sentence: None,
                score: z(&lexical, &spreads.0, place) + VECTOR * z(&vector, &spreads.1, place),
                word_score: z(&lexical, &spreads.0, place),
                conversation: 0.0,
            },
            item: RecallItem::Record(Box::new(self.records[place].clone())),
        };
        let asking = RankContext {
            query: parsed,
            scope: &Scope::default(),
            now: self.now,
            terms: &question.terms,
            pairs: &question.pairs,
            dfs: &dfs,
            searched: count,
            verbatim: None,
            stems: &plain_stems,
        };
        rank(&asking, places.into_iter().map(candidate).collect())
    }

    fn vector_scores(&self, text: &str, without: Without) -> Vec<f32> {
        let df = |piece| self.pieces.get(&piece).copied().unwrap_or(0);
        let query_vector = if without == Without::Rarity {
            QueryVector::of(text, 0, |_| 0)
        } else {
            QueryVector::of(text, length(self.records.len()), df)
        };
        let mut scores = Vec::new();
        if let Some(query_vector) = query_vector {
            query_vector.scores(&self.rows, &mut scores);
        }
        scores
    }
}

impl Text {
    fn of(text: &str) -> Self {
        let first_line = text.trim_start();
        let skipped = text.len() - first_line.len();
        Self {
            stems: stems(text),
            joined: joined(text),
            first_line_end: skipped + first_line.find('\n').unwrap_or(first_line.len()),
        }
    }

    fn is_used(&self, stem: &Stem, without: Without) -> bool {
        let is_joined = || self.joined.contains(&stem.term);
        let is_left_out = stem.is_extra
            && match without {
                Without::Joined => is_joined(),
                Without::CamelParts => !is_joined(),
                Without::Nothing
                | Without::Head
                | Without::StopWords
                | Without::Rarity
                | Without::Rounding => false,
            };
        !is_left_out
    }
}

impl Postings {
    fn question(&self, text: &str) -> QueryTerms {
        let mut question = QueryTerms::of(text);
        match self.without {
            Without::StopWords => {
                // Proximity pairs stay those without stop words: proximity is a separate signal.
                for stem in stems(text) {
                    if !question.terms.contains(&stem.term) {
                        question.terms.push(stem.term);
                    }
                }
                question.terms.truncate(limits::QUESTION_TERMS_MAX);
            }
            Without::Joined | Without::CamelParts => {
                let parts = Text::of(text);
                let kept_stems: Vec<Term> = parts
                    .stems
                    .iter()
                    .filter(|stem| parts.is_used(stem, self.without))
                    .map(|stem| stem.term)
                    .collect();
                // Keep the term's position, which pairs refer to; an unknown term adds nothing.
                for term in &mut question.terms {
                    if !kept_stems.contains(term) {
                        *term = Term(u64::MAX);
                    }
                }
            }
            Without::Nothing | Without::Head | Without::Rarity | Without::Rounding => {}
        }
        question
    }

    fn scores(&self, question: &QueryTerms, texts: usize) -> (Vec<f32>, Vec<u64>) {
        let mut scores = vec![0.0; texts];
        let mut dfs = Vec::new();
        for term in &question.terms {
            let list = self.terms.get(term).map_or(&[][..], Vec::as_slice);
            let codes: Vec<u8> = list.iter().map(Posting::code).collect();
            let df = list.len() as u64;
            let head_df = if self.without == Without::Rounding {
                list.iter().filter(|posting| posting.in_head > 0).count()
            } else {
                let in_head = codes.iter().filter(|code| posting_code::is_in_head(**code));
                in_head.count()
            } as u64;
            let table = CodeTables::of(self.weights).scores_by_code(df, head_df);
            for (posting, code) in list.iter().zip(codes) {
                scores[posting.text] += match self.without {
                    Without::Rounding => self.exact_score(posting, df, head_df),
                    Without::Head => {
                        let meaning = posting_code::decode(code);
                        self.weights.text_score(df, meaning.count, meaning.len)
                    }
                    Without::Nothing
                    | Without::Joined
                    | Without::CamelParts
                    | Without::StopWords
                    | Without::Rarity => table[usize::from(code)],
                };
            }
            dfs.push(df);
        }
        (scores, dfs)
    }

    fn exact_score(&self, posting: &Posting, df: u64, head_df: u64) -> f32 {
        let exact = |count: u32| count as f32;
        let head_len = Some(exact(posting.head_len));
        self.weights
            .text_score(df, exact(posting.count), exact(posting.len))
            + self
                .weights
                .head_score(head_df, exact(posting.in_head), head_len)
    }
}

impl Posting {
    fn code(&self) -> u8 {
        posting_code::encode(self.len, self.count, self.in_head)
    }
}

fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns the joined forms in a text, as terms.
fn joined(text: &str) -> Vec<Term> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut found = Vec::new();
    for run in text.split(|c: char| !is_part(c)) {
        let run = run.trim_matches(['-', '_']);
        if !run.contains(['-', '_']) {
            continue;
        }
        // In lower case, since otherwise the joined form would be split as a camel-case name.
        let whole: String = run.chars().filter(char::is_ascii_alphanumeric).collect();
        found.extend(
            stems(&whole.to_ascii_lowercase())
                .first()
                .map(|stem| stem.term),
        );
    }
    found
}

/// Returns the stems of a text, as the engine uses them for proximity.
fn plain_stems(text: &str) -> Vec<Term> {
    let plain = stems(text).into_iter().filter(|stem| !stem.is_extra);
    plain
        .map(|stem| stem.term)
        .take(limits::RECALL_PAIR_WORDS_MAX)
        .collect()
}
