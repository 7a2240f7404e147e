//! Data of summaries, commits, outcomes, reports, documents, and the selection.

use crate::phrases::Phrases;
use serde::Deserialize;

/// Contents of `data/summaries.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SummaryCues {
    /// Worth of records.
    pub(crate) worth: SummaryWorth,
    /// Headings.
    pub(crate) sections: SummarySections,
    /// Phrases.
    pub(crate) phrases: SummaryPhrases,
}

/// Worth of records from a summary.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SummaryWorth {
    /// Error with a fix that names code.
    pub(crate) error: f32,
    /// Error with a fix in general words.
    pub(crate) vague_error: f32,
    /// Finding of a linter or formatter.
    pub(crate) minor_error: f32,
    /// Mistake in the agent's own unfinished work.
    pub(crate) own_mistake: f32,
    /// General statement.
    pub(crate) learning: f32,
    /// Statement about the work of the session.
    pub(crate) narration: f32,
    /// Topic with a general statement.
    pub(crate) concept: f32,
    /// Wish of a person.
    pub(crate) preference: f32,
}

/// Headings of a summary's sections.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SummarySections {
    /// Errors with their fixes.
    pub(crate) errors: Phrases,
    /// General statements.
    pub(crate) learnings: Phrases,
    /// Topics.
    pub(crate) concepts: Phrases,
    /// Wishes of people.
    pub(crate) preferences: Phrases,
    /// Open work.
    pub(crate) pending: Phrases,
}

/// Phrases in a summary.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SummaryPhrases {
    /// Beginnings of a fix.
    pub(crate) fix_starts: Phrases,
    /// Parts of a sentence with a fix.
    pub(crate) fix_parts: Phrases,
    /// Words of a sentence about an error without a fix.
    pub(crate) failing: Phrases,
    /// Errors that are no errors.
    pub(crate) expected: Phrases,
    /// Findings of linters and formatters.
    pub(crate) minor: Phrases,
    /// Mistakes of the agent in its own unfinished work.
    pub(crate) own_mistake: Phrases,
    /// Statements that are true beyond the session.
    pub(crate) general: Phrases,
    /// Words of a requirement or a limit.
    pub(crate) binding: Phrases,
    /// Beginnings of statements about past actions.
    pub(crate) narration: Phrases,
    /// Wishes of people in the summary's words.
    pub(crate) wish: Phrases,
    /// Beginnings of points of a section of wishes that state none.
    pub(crate) no_wish: Phrases,
}

/// Contents of `data/commits.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommitCues {
    /// Worth of records.
    pub(crate) worth: CommitWorth,
    /// Phrases.
    pub(crate) phrases: CommitPhrases,
    /// Lines.
    pub(crate) lines: CommitLines,
}

/// Worth of records from commits.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommitWorth {
    /// Choice with a reason.
    pub(crate) choice: f32,
    /// Choice without a reason.
    pub(crate) weak_choice: f32,
    /// Choice in a commit of tests or texts.
    pub(crate) minor: f32,
}

/// Phrases in commit messages.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommitPhrases {
    /// Choices and reasons.
    pub(crate) choice: Phrases,
    /// Words of a reason.
    pub(crate) reason: Phrases,
    /// Beginnings of subjects of commits that change only tests or texts.
    pub(crate) subjects_of_less_worth: Phrases,
}

/// Lines of commit messages.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommitLines {
    /// Beginnings of trailers.
    pub(crate) trailers: Vec<String>,
}

/// Contents of `data/outcome.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct OutcomeCues {
    /// Worth of cases.
    pub(crate) worth: OutcomeWorth,
    /// Phrases.
    pub(crate) phrases: OutcomePhrases,
}

/// Worth of cases.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct OutcomeWorth {
    /// Files were changed.
    pub(crate) changed: f32,
    /// Something was found out.
    pub(crate) answered: f32,
}

/// Phrases in requests and final messages.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct OutcomePhrases {
    /// Turns that add nothing.
    pub(crate) approvals: Phrases,
    /// Verbs with which a request begins.
    pub(crate) work_verbs: Phrases,
    /// Beginnings of requests that continue something the request does not name.
    pub(crate) continuations: Phrases,
    /// Words before a request.
    pub(crate) politeness: Vec<String>,
    /// Beginnings of sentences that only announce something.
    pub(crate) openers: Phrases,
    /// Words about results.
    pub(crate) status: Phrases,
    /// Words about open work.
    pub(crate) left: Phrases,
    /// Beginnings of sentences in which the agent says what it does next.
    pub(crate) narration: Phrases,
    /// Words of sentences about work that still runs.
    pub(crate) ongoing: Phrases,
    /// Beginnings of requests that only tidy up the repository around the work.
    pub(crate) chores: Phrases,
    /// Words with which a person says that the work before does not work.
    pub(crate) dissent: Phrases,
    /// Words with which a person accepts the work before.
    pub(crate) assent: Phrases,
}

/// Contents of `data/reports.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ReportCues {
    /// Worth of records.
    pub(crate) worth: ReportWorth,
    /// Sizes.
    pub(crate) size: ReportSize,
    /// Phrases.
    pub(crate) phrases: ReportPhrases,
}

/// Worth of records from reports.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ReportWorth {
    /// Point of a proposal.
    pub(crate) proposal: f32,
    /// Section of a report.
    pub(crate) report: f32,
}

/// Sizes of reports.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ReportSize {
    /// Smallest number of characters.
    pub(crate) chars_min: usize,
    /// Smallest number of points.
    pub(crate) points_min: usize,
    /// Greatest number of records from one message.
    pub(crate) points_max: usize,
}

/// Phrases in reports.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ReportPhrases {
    /// Words of decisions, constraints and incompatibilities.
    pub(crate) strong: Phrases,
    /// Words of other statements that matter later.
    pub(crate) statement: Phrases,
    /// Beginnings of points that do not.
    pub(crate) noise: Phrases,
    /// Headings of sections that are left out.
    pub(crate) noise_headings: Phrases,
    /// Headings that add nothing to a point.
    pub(crate) plain_headings: Phrases,
    /// Words of prompts whose answer is a proposal.
    pub(crate) proposal_requests: Phrases,
    /// Beginnings of prompts whose answer explains the code.
    pub(crate) explanation_requests: Phrases,
}

/// Contents of `data/documents.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct DocumentCues {
    /// Worth of records.
    pub(crate) worth: DocumentWorth,
    /// Headings.
    pub(crate) sections: DocumentSections,
    /// Phrases.
    pub(crate) phrases: DocumentPhrases,
}

/// Worth of records from documents.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct DocumentWorth {
    /// Lines that several documents repeat.
    pub(crate) repeated: f32,
    /// Constraints.
    pub(crate) constraint: f32,
    /// Scripts of a package.
    pub(crate) scripts: f32,
}

/// Headings of a document's sections.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct DocumentSections {
    /// Constraints and no-gos.
    pub(crate) constraints: Phrases,
    /// Definition of done.
    pub(crate) completion: Phrases,
    /// Requirements and conventions.
    pub(crate) requirements: Phrases,
}

/// Phrases in documents.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct DocumentPhrases {
    /// Words of lines that forbid or limit something.
    pub(crate) binding: Phrases,
    /// Words of lines that belong to one task.
    pub(crate) task_bound: Phrases,
    /// Names of plans and specifications.
    pub(crate) files: Phrases,
}

/// Contents of `data/selection.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SelectionCues {
    /// Greatest number of records besides steps and cases for ten requests, or fewer.
    pub(crate) records_of_ten_requests: usize,
    /// Worth below which nothing is kept.
    pub(crate) worth_min: f32,
    /// Factor for each further record from the same source.
    pub(crate) source_discount: f32,
    /// Number of records of a source without a discount.
    pub(crate) source_free: usize,
    /// Share of weighted words in common from which on two candidates state the same.
    pub(crate) same_share: f32,
    /// The same for two candidates about errors.
    pub(crate) same_error_share: f32,
    /// Phrases.
    pub(crate) phrases: SelectionPhrases,
}

/// Phrases that decide on a candidate.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SelectionPhrases {
    /// Beginnings of texts that refer to something outside of them.
    pub(crate) references: Vec<String>,
    /// References anywhere in a text.
    pub(crate) inner_references: Phrases,
    /// Phrases that withdraw an earlier statement.
    pub(crate) withdrawals: Phrases,
}

/// Contents of `data/pasted_text.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct PastedTextCues {
    /// Fields of the head of a mail.
    pub(crate) head_fields: Phrases,
    /// Those of them of which a head has one.
    pub(crate) head_subjects: Phrases,
    /// Verbs of lines that introduce a quoted message.
    pub(crate) quote_verbs: Phrases,
    /// Words of a line before a forwarded message.
    pub(crate) quote_marks: Phrases,
    /// Beginnings of a letter.
    pub(crate) salutations: Phrases,
    /// Beginnings of the line that ends a letter.
    pub(crate) closings: Phrases,
    /// Whole lines of a page.
    pub(crate) page_lines: Phrases,
    /// Words of a page or of a ticket.
    pub(crate) page_marks: Phrases,
    /// Words before a request.
    pub(crate) openers: Phrases,
    /// Requests about a text.
    pub(crate) strong_requests: Phrases,
    /// Requests about a text or about code.
    pub(crate) weak_requests: Phrases,
    /// Words that point to the text.
    pub(crate) pointers: Phrases,
    /// Names of texts.
    pub(crate) texts: Phrases,
    /// Words before a text that follows a colon.
    pub(crate) announcements: Phrases,
}
