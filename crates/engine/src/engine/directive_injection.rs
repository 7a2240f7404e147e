//! Injection: resolves the directives of an invocation into files, recalled records, an output tail and a budget.

mod injected_files;
mod nearest_file;

use super::RecallRequest;
use super::context::Echoes;
use crate::engine::Contexts;
use heirloom_model::section::{Layout, Offer, Origin, Section};
use heirloom_model::{Budget, Fault, text};
use heirloom_prompt::context;
use heirloom_prompt::directives::{self, Directive, SyntaxError, block};
use heirloom_search::recall::RecallItem;
use injected_files::Files;

/// Result of an invocation's directives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InjectionReport {
    /// The agent's name.
    pub agent: String,
    /// The files, then a section for each recall. Directives in these texts are not expanded.
    pub sections: Vec<Section>,
    /// Requested lines of the agent's previous output; [`Contexts::tail_section`] renders them.
    pub tail_lines: Option<usize>,
    /// Requested budget.
    pub budget: Option<Budget>,
}

impl Contexts<'_> {
    /// Resolves the directives of `invocation`. Files are read at each call.
    ///
    /// Errors: `Usage` for a syntax error, with its column, and for a query that recall refuses; `NotFound` for a
    /// missing file, with the nearest match, and for a pattern without matches; `Refused` for a file outside of the
    /// project, also through links, and for one that is not a regular text file or too large.
    pub fn inject(&self, invocation: &str) -> Result<InjectionReport, Fault> {
        let parsed = directives::parse(invocation).map_err(|error| syntax_fault(&error))?;
        let mut injected = InjectionReport {
            agent: parsed.agent,
            ..InjectionReport::default()
        };
        let mut inputs = Vec::new();
        for directive in parsed.directives {
            match directive {
                Directive::Input(more) => inputs.extend(more),
                Directive::Recall(words) => injected.sections.push(self.recall_section(&words)?),
                Directive::Tail(lines) => injected.tail_lines = Some(lines),
                Directive::Budget(budget) => injected.budget = Some(budget),
            }
        }
        if !inputs.is_empty() {
            self.engine.require_files()?;
            let section = Files::read(self.engine, &inputs)?;
            injected.sections.insert(0, section);
        }
        Ok(injected)
    }

    /// Renders the last `lines` lines of `agent`'s output.
    pub fn tail_section(&self, agent: &str, lines: usize, output: &str) -> Section {
        let output = context::neutralize_signals(
            &self.engine.redaction().redact_input(output),
            &self.signal_prefixes(),
        );
        let (last, shown) = block::last_lines(&output, lines);
        let text = self.neutralize(&block::render_output(agent, shown, last));
        let offer = Offer {
            frame: Some(block::frame_of_block(&text)),
            text,
            ..Offer::default()
        };
        Section {
            name: "tail".to_owned(),
            heading: "## Last Output".to_owned(),
            layout: Layout::Blocks,
            offers: vec![offer],
            ..Section::default()
        }
    }

    /// Renders the tail of the stored output; a note if there is no output.
    pub(super) fn injected_tail(
        &self,
        plan: Option<&str>,
        agent: &str,
        lines: usize,
    ) -> Result<Section, Fault> {
        let (last, of) = match self.engine.outputs().output_lines(plan, agent)? {
            Some(output) => output,
            None => {
                let agent = text::excerpt(agent, 80);
                return Ok(Section {
                    name: "tail".to_owned(),
                    notes: vec![format!("`{agent}` has no output yet")],
                    ..Section::default()
                });
            }
        };
        let mut section = self.tail_section(agent, lines, &last);
        for offer in &mut section.offers {
            offer.origin = Origin::Record(of);
        }
        Ok(section)
    }

    /// Neutralises the signals in a text.
    fn neutralize(&self, text: &str) -> String {
        context::neutralize_signals(text, &self.signal_prefixes())
    }

    fn recall_section(&self, words: &str) -> Result<Section, Fault> {
        let found = self.engine.recall().search(&RecallRequest {
            question: words.to_owned(),
            ..RecallRequest::default()
        })?;
        let echoes = Echoes::of_question(words);
        let hits = (found.hits.into_iter()).filter(|hit| !echoes.has_hit(&hit.item));
        let offers = hits.map(|hit| {
            let origin = match &hit.item {
                RecallItem::Record(record) => Origin::Record(record.id),
                RecallItem::Turn { .. } => Origin::Unspecified,
            };
            Offer {
                origin,
                text: hit.item.text().to_owned(),
                score: Some(hit.breakdown.total),
                ..Offer::default()
            }
        });
        let words = text::excerpt(words, 80).replace('`', "'");
        Ok(Section {
            name: "recall".to_owned(),
            heading: format!("## Recalled: {}", self.neutralize(&words)),
            offers: offers.collect(),
            notes: found.notes,
            ..Section::default()
        })
    }
}

fn syntax_fault(error: &SyntaxError) -> Fault {
    Fault::usage(error.to_string()).hint(&error.hint)
}
