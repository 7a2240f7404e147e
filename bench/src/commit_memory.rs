//! Repositories as memories: 1,200 commits each, and changelog lines as questions.

use crate::quality::{Data, Document, Query};
use crate::{Outcome, fixture};
use heirloom_engine::{Engine, NewRecord};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Number of commits of a memory.
const COMMITS: usize = 1_200;
/// Number of own and of foreign questions of a repository to which relevance is fitted.
pub(crate) const FITTED_QUESTIONS: usize = 40;

/// Prompts to agents without a specific subject.
pub(crate) const PLAIN: [&str; 40] = [
    "continue",
    "yes",
    "yes, do it",
    "ok go ahead",
    "please continue",
    "try again",
    "run the tests",
    "run the tests again and fix what fails",
    "commit this",
    "commit and push",
    "looks good, thanks",
    "no, undo that",
    "revert the last change",
    "what did you change?",
    "explain this code to me",
    "why does this fail?",
    "fix it",
    "fix the bug",
    "fix the failing tests",
    "make it faster",
    "clean this up",
    "refactor this function",
    "add a test for this",
    "write the documentation",
    "update the readme",
    "what is next?",
    "show me the diff",
    "summarize what we did so far",
    "is this correct?",
    "can you check that again?",
    "use a better name for this variable",
    "stop",
    "wait, that is not what I meant",
    "hello",
    "which files did you look at?",
    "please review my changes",
    "do the same for the other file",
    "the build is broken, please look at it",
    "let's start over",
    "open a pull request",
];

/// Commits of a repository and questions to them.
pub(crate) struct Repository {
    /// Its name.
    pub(crate) name: String,
    /// The commits' texts.
    pub(crate) texts: Vec<String>,
    places: HashMap<String, usize>,
    own: Vec<Query>,
    foreign: Vec<Query>,
}

/// A repository's memory.
pub(crate) struct FilledRepository {
    /// Its engine.
    pub(crate) engine: Engine,
    /// Keeps the engine's files until it is dropped.
    _root: tempfile::TempDir,
}

/// Reads the repositories of a folder.
pub(crate) fn read(folder: &Path) -> Outcome<Vec<Repository>> {
    let data = Data::read(folder)?;
    let haystacks: &BTreeMap<String, Vec<Document>> = &data.haystacks;
    let of_haystack = |(name, documents): (&String, &Vec<Document>)| {
        let (own, foreign): (Vec<&Query>, Vec<&Query>) = data
            .queries
            .iter()
            .partition(|query| query.haystack == *name);
        let own: Vec<Query> = spread(&own, FITTED_QUESTIONS)
            .map(|query| (*query).clone())
            .collect();
        let chosen = choose(documents, &own);
        Repository {
            name: name.clone(),
            texts: chosen.iter().map(|one| one.text.clone()).collect(),
            places: (chosen.iter().enumerate())
                .map(|(place, one)| (one.id.clone(), place))
                .collect(),
            own,
            foreign: foreign.into_iter().cloned().collect(),
        }
    };
    Ok(haystacks.iter().map(of_haystack).collect())
}

/// Returns the commits that answer the questions, and others spread over the rest, in their order.
fn choose<'d>(documents: &'d [Document], questions: &[Query]) -> Vec<&'d Document> {
    let gold: HashSet<&String> = questions.iter().flat_map(|query| &query.gold).collect();
    let (answers, others): (Vec<&Document>, Vec<&Document>) =
        documents.iter().partition(|one| gold.contains(&one.id));
    let more = COMMITS.saturating_sub(answers.len());
    let mut kept: HashSet<&String> = spread(&others, more).map(|one| &one.id).collect();
    kept.extend(answers.iter().map(|one| &one.id));
    documents
        .iter()
        .filter(|one| kept.contains(&one.id))
        .collect()
}

impl Repository {
    /// Returns at most `count` questions that a commit answers, spread over all.
    pub(crate) fn own_questions(&self, count: usize) -> impl Iterator<Item = &Query> {
        spread(&self.own, count)
    }

    /// Returns at most `count` questions to other repositories, spread over all.
    pub(crate) fn foreign_questions(&self, count: usize) -> impl Iterator<Item = &Query> {
        spread(&self.foreign, count)
    }

    /// Returns the texts of the commits that answer a question.
    pub(crate) fn gold_of(&self, query: &Query) -> Vec<&String> {
        let places = query.gold.iter().filter_map(|id| self.places.get(id));
        places.filter_map(|place| self.texts.get(*place)).collect()
    }

    /// Remembers the commits as facts, oldest first as in the file.
    pub(crate) fn fill(&self) -> Outcome<FilledRepository> {
        let root = tempfile::tempdir()?;
        let engine = fixture::engine(root.path())?;
        let record = |text: &String| NewRecord {
            text: text.clone(),
            ..NewRecord::default()
        };
        for batch in self.texts.chunks(200) {
            engine
                .records()
                .remember_all(batch.iter().map(record).collect())?;
        }
        Ok(FilledRepository {
            engine,
            _root: root,
        })
    }
}

/// Returns `count` of all, spread evenly.
fn spread<T>(all: &[T], count: usize) -> impl Iterator<Item = &T> {
    let chosen = count.min(all.len());
    (0..chosen).filter_map(move |n| all.get(n * all.len() / chosen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_takes_evenly() {
        let all: Vec<u32> = (0..10).collect();
        assert_eq!(spread(&all, 3).collect::<Vec<_>>(), [&0, &3, &6]);
        assert_eq!(spread(&all, 20).count(), 10);
        assert_eq!(spread(&all[..0], 3).count(), 0);
    }

    #[test]
    fn chosen_commits_have_the_answers_and_keep_their_order() {
        let document = |n: usize| Document {
            id: n.to_string(),
            at: None,
            text: String::new(),
        };
        let documents: Vec<Document> = (0..2 * COMMITS).map(document).collect();
        let question = Query {
            haystack: String::new(),
            category: String::new(),
            text: String::new(),
            gold: vec!["1".to_owned(), "2399".to_owned()],
        };
        let chosen = choose(&documents, &[question]);
        assert_eq!(chosen.len(), COMMITS);
        let places: Vec<usize> = chosen.iter().map(|one| one.id.parse().unwrap()).collect();
        assert!(places.is_sorted() && places.contains(&1) && places.contains(&2_399));
    }
}
