//! From an invocation to what a prompt gets of it: files, recalled records, an agent's last lines, a budget.

mod files;
mod near;
mod page;

use super::{ContextRequest, Engine, RecallRequest};
use crate::context;
use crate::directives::{self, Directive, SyntaxError, block};
use crate::recall::Item;
use files::Files;
use heirloom_model::context::Context;
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Budget, Fault, Kind, Scope, text};
use heirloom_store::Filter;

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

/// A context with what an invocation injects.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectedContext {
    /// The agent's name.
    pub agent: String,
    /// Session Memory, then what was injected.
    pub context: Context,
    /// What somebody should know: what was cut, left out or redacted.
    pub notes: Vec<String>,
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
        let offer = Offer {
            text: self.disarmed(&block::output(agent, shown, last)),
            ..Offer::default()
        };
        Section {
            name: "tail".to_owned(),
            heading: "## Last Output".to_owned(),
            offers: vec![offer],
            notes: Vec::new(),
        }
    }

    /// Session Memory, and behind it, in what it leaves of the budget, what `invocation` injects.
    ///
    /// Of the budgets of the request and of the invocation the smaller one holds; without both that of the settings.
    /// Errors: those of [`Engine::inject`] and [`Engine::context`].
    pub fn context_for(
        &self,
        request: &ContextRequest,
        invocation: &str,
    ) -> Result<InjectedContext, Fault> {
        let mut injected = self.inject(invocation)?;
        let mut notes = Vec::new();
        if let Some(lines) = injected.tail_lines {
            match self.last_output(&injected.agent)? {
                Some(output) => {
                    let section = self.tail_section(&injected.agent, lines, &output);
                    injected.sections.push(section);
                }
                None => notes.push(format!(
                    "`{}` has no output yet",
                    text::excerpt(&injected.agent, 80)
                )),
            }
        }
        let budgets = [request.budget, injected.budget].into_iter().flatten();
        let request = ContextRequest {
            budget: budgets.min_by_key(|budget| budget.chars()),
            ..request.clone()
        };
        let mut context = self.context(&request)?;
        if self.settings.enabled {
            page::append(&mut context, &injected.sections, &mut notes);
        }
        Ok(InjectedContext {
            agent: injected.agent,
            context,
            notes,
        })
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
            let line = text::one_line(&text::strip_ansi(hit.item.text()));
            let origin = match &hit.item {
                Item::Record(record) => Origin::Record(record.id),
                Item::Turn { .. } => Origin::Nowhere,
            };
            Offer {
                origin,
                text: format!("- {}\n", self.disarmed(&line)),
                score: Some(hit.parts.total),
            }
        });
        let words = text::excerpt(words, 80).replace('`', "'");
        Ok(Section {
            name: "recall".to_owned(),
            heading: format!("## Recalled: {}", self.disarmed(&words)),
            offers: offers.collect(),
            notes: found.notes,
        })
    }

    /// What the agent put out last, as far as it is remembered.
    fn last_output(&self, agent: &str) -> Result<Option<String>, Fault> {
        let scope = self.clean_scope(Scope {
            agent: Some(agent.to_owned()),
            ..Scope::default()
        });
        let question = Filter::current(&[Kind::Output], self.now()).scope(scope);
        let found = self.find(&question.limit(1))?;
        Ok(found.into_iter().next().map(|record| record.text))
    }
}

fn misread(error: &SyntaxError) -> Fault {
    Fault::usage(error.to_string()).hint(&error.hint)
}
