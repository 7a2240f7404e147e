//! Wishes: sentences of a person that are no rule by themselves, but a preference if they come back in other sessions.

use crate::{Candidate, Evidence, LessonContent, SourceKind, Speaker};
use heirloom_model::Timestamp;
use heirloom_model::limits::WISH_SESSIONS_MIN;
use heirloom_model::similarity::ComparableText;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Smallest number of words that two wishes share.
const SHARED_WORDS_MIN: usize = 2;
/// Smallest share of the words of the shorter wish that the longer one has, and of all words of both.
const SHORTER_SHARE_MIN: f64 = 0.6;
const SHARE_MIN: f64 = 0.4;
/// Smallest number of letters of a stem.
const STEM_LETTERS_MIN: usize = 4;
/// Endings of words that other forms of the word lack.
const ENDINGS: [&str; 12] = [
    "eren", "iest", "ere", "ier", "ing", "est", "en", "er", "es", "ed", "e", "s",
];
/// Words with which any wish can be said; they are no subject.
const FILLERS: [&str; 44] = [
    "keep", "give", "make", "write", "use", "have", "want", "like", "let", "get", "put", "need",
    "go", "goes", "try", "see", "tell", "say", "stop", "mean", "think", "know", "look", "again",
    "too", "one", "me", "my", "your", "you", "i", "no", "not", "yes", "all", "just", "more",
    "much", "some", "so", "through", "then", "here", "them",
];
/// Worth of a wish that became a preference.
const WORTH: f32 = 0.8;
/// Category of its record.
const PREFERENCE: &str = "preference";

/// A sentence of a person that would be a preference if it came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// Id of its event, which copies of the conversation have too.
    #[serde(rename = "event")]
    pub event: String,
    /// The sentence.
    #[serde(rename = "text")]
    pub text: String,
    /// Number of the event in the conversation.
    #[serde(rename = "position")]
    pub position: u64,
    /// Time of the turn.
    #[serde(rename = "at")]
    pub at: Option<Timestamp>,
    /// True if it forbids something.
    #[serde(rename = "forbids")]
    pub forbids: bool,
    /// True if it became a preference of the person.
    #[serde(rename = "is_rule")]
    pub is_rule: bool,
}

impl Wish {
    /// Returns true if both ask for the same, as far as their words show it.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        let (one, two) = (subject_words(&self.text), subject_words(&other.text));
        let shared = one.intersection(&two).count();
        let shorter = one.len().min(two.len());
        let all = one.len() + two.len() - shared;
        #[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
        let share = |of: usize| shared as f64 / of.max(1) as f64;
        self.forbids == other.forbids
            && shared >= SHARED_WORDS_MIN
            && share(shorter) >= SHORTER_SHARE_MIN
            && share(all) >= SHARE_MIN
    }

    /// Returns the preference that it becomes, in the person's words.
    fn candidate(&self) -> Candidate {
        Candidate {
            source: SourceKind::PersonRule,
            speaker: Speaker::Person,
            content: LessonContent::Knowledge {
                category: PREFERENCE.to_owned(),
                key: None,
                text: self.text.clone(),
                rationale: None,
            },
            worth: WORTH,
            evidence: vec![Evidence {
                event: self.event.clone(),
                position: self.position,
                line: self.text.clone(),
            }],
            at: self.at,
            agent: None,
        }
    }
}

/// Marks the wishes of a session that came back in enough of the other sessions, and returns the preference of each. A wish
/// that became a preference in another session is known already.
pub fn repeated_wishes(own: &mut [Wish], others: &[Vec<Wish>]) -> Vec<Candidate> {
    let own_events: BTreeSet<String> = own.iter().map(|wish| wish.event.clone()).collect();
    let mut found: Vec<Candidate> = Vec::new();
    let mut known: Vec<Wish> = Vec::new();
    for wish in own.iter_mut() {
        wish.is_rule = false;
        if known.iter().any(|known| known.is_same_as(wish)) {
            continue;
        }
        let mut events = BTreeSet::new();
        let mut sessions = 1;
        let mut is_known = false;
        for other in others {
            let same: Vec<&Wish> = (other.iter())
                .filter(|other| !own_events.contains(&other.event) && other.is_same_as(wish))
                .collect();
            is_known |= same.iter().any(|same| same.is_rule);
            // A copy of a conversation has the same events.
            let is_new = same.iter().any(|same| !events.contains(&same.event));
            sessions += usize::from(is_new);
            events.extend(same.iter().map(|same| same.event.clone()));
        }
        if sessions >= WISH_SESSIONS_MIN && !is_known {
            wish.is_rule = true;
            known.push(wish.clone());
            found.push(wish.candidate());
        }
    }
    found
}

/// Returns the stems of the content words of a wish.
fn subject_words(text: &str) -> BTreeSet<String> {
    let text = ComparableText::from_text(text);
    let words = text.words().filter(|word| !FILLERS.contains(word));
    words.map(|word| stem_of(word).to_owned()).collect()
}

/// Returns a word without its endings: "answers" and "answer", "kürzere" and "kürzer".
fn stem_of(word: &str) -> &str {
    let mut stem = word;
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| {
        let shorter = stem.strip_suffix(ending)?;
        (shorter.chars().count() >= STEM_LETTERS_MIN).then_some(shorter)
    }) {
        stem = shorter;
    }
    stem
}
