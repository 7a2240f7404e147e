//! What a text is made of, for the search by words.

/// A stem, as the postings know it: 48 bits of its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// What is searched for: the distinct stems of a question, without stop words unless nothing else is left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
    /// The stems, in the order of the question.
    pub terms: Vec<Term>,
    /// Neighbours among them: indexes into `terms`.
    pub pairs: Vec<(usize, usize)>,
}

impl Question {
    /// The question in this text.
    pub fn of(text: &str) -> Self {
        let _ = text;
        Self::default()
    }
}
