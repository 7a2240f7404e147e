//! The right commit in a context: 1,200 commits as memory, a changelog line as the query.

use crate::commit_memory::{self, FilledRepository};
use crate::developer_prompts::{flatten, mark_of};
use crate::{Outcome, results};
use heirloom_engine::{ContextRequest, RecallRequest};
use heirloom_model::Budget;
use std::path::Path;

/// Number of questions of each repository.
const QUESTIONS: usize = 20;
/// Sizes of the contexts in characters, smaller first.
const BUDGETS: [usize; 2] = [3_000, 8_000];
/// Number of recall's hits that are compared.
const HITS: usize = 10;

/// Number of questions whose right commit is somewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Found {
    questions: usize,
    /// In the contexts of [`BUDGETS`].
    in_context: [usize; 2],
    /// In the smaller context and not in the larger one.
    lost: usize,
    /// Among the first hits of recall, with weak ones.
    in_recall: usize,
}

impl Found {
    fn add(&mut self, contexts: [bool; 2], is_recalled: bool) {
        self.questions += 1;
        for (count, is_in) in self.in_context.iter_mut().zip(contexts) {
            *count += usize::from(is_in);
        }
        self.lost += usize::from(contexts[0] && !contexts[1]);
        self.in_recall += usize::from(is_recalled);
    }

    fn sum(self, other: Self) -> Self {
        let [smaller, larger] = self.in_context;
        Self {
            questions: self.questions + other.questions,
            in_context: [smaller + other.in_context[0], larger + other.in_context[1]],
            lost: self.lost + other.lost,
            in_recall: self.in_recall + other.in_recall,
        }
    }
}

pub(super) fn measure(folder: &Path) -> Outcome<()> {
    let mut rows = Vec::new();
    let mut all = Found::default();
    for repository in commit_memory::read(folder)? {
        let filled = repository.fill()?;
        let mut found = Found::default();
        for query in repository.own_questions(QUESTIONS) {
            let gold = repository.gold_of(query);
            let marks: Vec<String> = gold.iter().map(|text| mark_of(text)).collect();
            let mut contexts = [false; 2];
            for (is_in, chars) in contexts.iter_mut().zip(BUDGETS) {
                let text = context_text(&filled, &query.text, chars)?;
                *is_in = marks.iter().any(|mark| text.contains(mark.as_str()));
            }
            let hits = filled.engine.recall().search(&RecallRequest {
                question: query.text.clone(),
                syntax: heirloom_engine::QuerySyntax::Words,
                k: Some(HITS),
                min_relevance: Some(0.0),
                ..RecallRequest::default()
            })?;
            let mut texts = hits.hits.iter().map(|hit| hit.item.text());
            found.add(
                contexts,
                texts.any(|text| gold.iter().any(|one| *one == text)),
            );
        }
        rows.push(row(&repository.name, found));
        all = all.sum(found);
    }
    rows.push(row("all", all));
    let columns = [
        "1,200 commits of",
        "questions",
        "right commit in 3,000 characters",
        "in 8,000",
        "lost between",
        "in recall's first ten",
    ];
    results::table("context-commits", &columns, &rows);
    let value = |id: &str, name: &str, count: usize| {
        results::value(
            &format!("context.commits_{id}"),
            name,
            "of 120",
            count as f64,
        );
    };
    value(
        "3000",
        "right commit in a context of 3,000 characters",
        all.in_context[0],
    );
    value(
        "8000",
        "right commit in a context of 8,000 characters",
        all.in_context[1],
    );
    value(
        "lost",
        "right commit in 3,000 characters and not in 8,000",
        all.lost,
    );
    value(
        "recall",
        "right commit in recall's first ten",
        all.in_recall,
    );
    Ok(())
}

fn row(name: &str, found: Found) -> Vec<String> {
    let counts = [
        found.questions,
        found.in_context[0],
        found.in_context[1],
        found.lost,
        found.in_recall,
    ];
    let counts = counts.into_iter().map(|count| count.to_string());
    std::iter::once(name.to_owned()).chain(counts).collect()
}

/// Returns the text of a context on one line.
fn context_text(filled: &FilledRepository, query: &str, chars: usize) -> Outcome<String> {
    let context = filled.engine.contexts().build(&ContextRequest {
        task: Some("W".to_owned()),
        query: Some(query.to_owned()),
        budget: Some(Budget::Chars(chars)),
        ..ContextRequest::default()
    })?;
    Ok(flatten(&context.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_of_smaller_context_only_is_lost() {
        let mut found = Found::default();
        found.add([true, false], true);
        found.add([false, true], false);
        found.add([true, true], true);
        let expected = Found {
            questions: 3,
            in_context: [2, 2],
            lost: 1,
            in_recall: 2,
        };
        assert_eq!(found, expected);
        assert_eq!(found.sum(Found::default()), expected);
    }
}
