//! From an invocation to what a prompt gets of it: files, recalled records, an agent's last lines, a budget.

mod files;
mod near;

use super::{Engine, RecallRequest};
use crate::context;
use crate::directives::{self, Directive, SyntaxError, block};
use crate::recall::Item;
use files::Files;
use heirloom_model::section::{Layout, Offer, Origin, Section};
use heirloom_model::{Budget, Fault, text};

/// What an invocation injects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Injected {
    /// The agent's name.
    pub agent: String,
    /// The files, then a section for each recall. What is in the texts is never expanded again.
    pub sections: Vec<Section>,
    /// So many last lines of the agent's previous output are wanted; [`Engine::tail_section`] shows them.
    pub tail_lines: Option<usize>,
    /// The budget that was asked for.
    pub budget: Option<Budget>,
}

impl Engine {
    /// What the directives of `invocation` ask for. Reads the files at each call.
    ///
    /// Errors: `Usage` for what cannot be read, with its column, and for a question that recall refuses; `NotFound`
    /// for a file that is not there, with the nearest match, and for a pattern that nothing matches; `Refused` for
    /// a file outside of the project, also through links, that is no regular one, no text, or too large.
    pub fn inject(&self, invocation: &str) -> Result<Injected, Fault> {
        let asked = directives::parse(invocation).map_err(|error| misread(&error))?;
        let mut injected = Injected {
            agent: asked.agent,
            ..Injected::default()
        };
        let mut inputs = Vec::new();
        for directive in asked.directives {
            match directive {
                Directive::Input(more) => inputs.extend(more),
                Directive::Recall(words) => injected.sections.push(self.recalled(&words)?),
                Directive::Tail(lines) => injected.tail_lines = Some(lines),
                Directive::Budget(budget) => injected.budget = Some(budget),
            }
        }
        if !inputs.is_empty() {
            let section = Files::read(self, &inputs)?;
            injected.sections.insert(0, section);
        }
        Ok(injected)
    }

    /// The last `lines` lines of what `agent` put out.
    pub fn tail_section(&self, agent: &str, lines: usize, output: &str) -> Section {
        let output = context::disarm(&self.clean(output), &self.signal_prefixes());
        let (last, shown) = block::tail(&output, lines);
        let text = self.disarmed(&block::output(agent, shown, last));
        let offer = Offer {
            frame: Some(block::frame(&text)),
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

    /// The same of the output that is kept; a note if there is none.
    pub(super) fn injected_tail(
        &self,
        plan: Option<&str>,
        agent: &str,
        lines: usize,
    ) -> Result<Section, Fault> {
        let (last, of) = match self.output_lines(plan, agent)? {
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

    /// A text without signals that count.
    fn disarmed(&self, text: &str) -> String {
        context::disarm(text, &self.signal_prefixes())
    }

    fn recalled(&self, words: &str) -> Result<Section, Fault> {
        let found = self.recall(&RecallRequest {
            question: words.to_owned(),
            ..RecallRequest::default()
        })?;
        let offers = found.hits.into_iter().map(|hit| {
            let origin = match &hit.item {
                Item::Record(record) => Origin::Record(record.id),
                Item::Turn { .. } => Origin::Nowhere,
            };
            Offer {
                origin,
                text: hit.item.text().to_owned(),
                score: Some(hit.parts.total),
                ..Offer::default()
            }
        });
        let words = text::excerpt(words, 80).replace('`', "'");
        Ok(Section {
            name: "recall".to_owned(),
            heading: format!("## Recalled: {}", self.disarmed(&words)),
            offers: offers.collect(),
            notes: found.notes,
            ..Section::default()
        })
    }
}

fn misread(error: &SyntaxError) -> Fault {
    Fault::usage(error.to_string()).hint(&error.hint)
}
