//! What was done: calls, their answers, and the files that were changed.

use super::state::{Open, Wrong};
use super::taker::{Taker, shortened, shortened_output};
use crate::engine::Engine;
use crate::engine::tasks::TASK_MAIN;
use crate::failures::{Subject, asks_only, is_own_command, is_probe};
use crate::transcripts::{Act, Failed, is_look, without_own};
use heirloom_model::kinds::Artifact;
use heirloom_model::limits::{
    TRANSCRIPT_CALL_CHARS_MAX, TRANSCRIPT_CALLS_MAX, TRANSCRIPT_RESULT_CHARS_MAX,
    TRANSCRIPT_TEXT_CHARS_MAX,
};
use heirloom_model::record::Attrs;
use heirloom_model::{Fault, Kind, Role, Timestamp, text};
use heirloom_store::Filter;
use serde_json::json;

/// Files that are told of a fix.
const CHANGED_MAX: usize = 5;

/// A call whose answer has not come.
#[derive(Debug)]
pub(super) enum Called {
    /// A command.
    Command(String),
    /// Changes to files.
    Edit(Vec<String>),
    /// Something of Heirloom's, whose answer is here already.
    Own,
    /// Something else.
    Other,
}

impl Taker<'_, '_, '_> {
    pub(super) fn call(
        &mut self,
        call: String,
        tool: String,
        act: Act,
        at: Timestamp,
        agent: Option<String>,
    ) {
        let (said, called) = match act {
            Act::Command(command) => {
                let command = shortened(self.engine, &command, TRANSCRIPT_TEXT_CHARS_MAX);
                let said = text::excerpt(&command, TRANSCRIPT_CALL_CHARS_MAX);
                let called = match is_own_command(&command) {
                    true => Called::Own,
                    false => Called::Command(command),
                };
                (said, called)
            }
            Act::Edit(files) => (files.join(", "), Called::Edit(files)),
            Act::Other(_) if tool.contains("heirloom") => (String::new(), Called::Own),
            Act::Other(said) => (said, Called::Other),
        };
        let said = format!(
            "{tool}: {}",
            text::excerpt(&said, TRANSCRIPT_CALL_CHARS_MAX)
        );
        let mut attrs = Attrs::new();
        attrs.insert("call".to_owned(), json!(call));
        self.turn(
            Role::ToolCall,
            agent,
            said,
            attrs,
            &format!("call {call}"),
            at,
        );
        if self.calls.len() >= TRANSCRIPT_CALLS_MAX {
            self.calls.clear();
        }
        self.calls.insert(call, (tool, called));
    }

    pub(super) fn result(
        &mut self,
        call: &str,
        failed: Failed,
        said: &str,
        id: &str,
        at: Timestamp,
        agent: Option<String>,
    ) -> Result<(), Fault> {
        let (tool, called) = match self.calls.remove(call) {
            Some((tool, called)) => (tool, called),
            None => (String::new(), Called::Other),
        };
        // Files are in the project, and what an edit says of itself is in its call.
        let shows = failed == Failed::No
            && match &called {
                Called::Command(command) => is_probe(command),
                Called::Edit(_) => true,
                Called::Own | Called::Other => is_look(&tool),
            };
        let is_left_out = shows || matches!(called, Called::Own);
        let id = if id.starts_with("result ") || call.is_empty() {
            id.to_owned()
        } else {
            format!("result {call}")
        };
        match (called, failed) {
            (Called::Command(command), Failed::Yes) if !asks_only(&command) => {
                let said = shortened_output(self.engine, said);
                let failure = self.engine.failure_seen(&Subject::Command(command), &said);
                self.state.open(Open {
                    id: id.clone(),
                    at,
                    what: Wrong::Command(failure),
                    agent: agent.clone(),
                    changed: Vec::new(),
                });
            }
            (Called::Command(command), Failed::No) => self.worked(&command, at)?,
            (Called::Edit(files), Failed::No) => {
                for file in files {
                    self.changed(&file, at, agent.as_deref())?;
                }
            }
            (Called::Command(_) | Called::Edit(_) | Called::Own | Called::Other, _) => {}
        }
        if is_left_out {
            return Ok(());
        }
        let said = without_own(said);
        let said = shortened(self.engine, said.trim(), TRANSCRIPT_RESULT_CHARS_MAX);
        let mut attrs = Attrs::new();
        attrs.insert("call".to_owned(), json!(call));
        if failed != Failed::No {
            let how = if failed == Failed::Yes {
                "failed"
            } else {
                "stopped"
            };
            attrs.insert(how.to_owned(), json!(true));
        }
        let sender = agent.or(Some(tool).filter(|tool| !tool.is_empty()));
        self.turn(Role::ToolResult, sender, said, attrs, &id, at);
        Ok(())
    }

    /// A file was changed: it is remembered once a conversation, and by what waits for a fix.
    pub(super) fn changed(
        &mut self,
        named: &str,
        at: Timestamp,
        agent: Option<&str>,
    ) -> Result<(), Fault> {
        let Some(file) = self.engine.file_inside(&self.base, &self.folder, named) else {
            return Ok(());
        };
        for open in &mut self.state.open {
            if open.changed.len() < CHANGED_MAX && !open.changed.contains(&file) {
                open.changed.push(file.clone());
            }
        }
        let is_new = self.files.insert(file.clone());
        if is_new && !self.engine.has_file(&file, Some(TASK_MAIN))? {
            let scope = self.scope(agent);
            let change = self.engine.file_change(&file, scope, self.agent.as_str());
            let id = self.id("file", &format!("{} {file}", self.session), at);
            self.hold_as(change, id, at);
        }
        Ok(())
    }
}

impl Engine {
    /// Whether a file is remembered for this task, or for none.
    pub(in crate::engine) fn has_file(
        &self,
        file: &str,
        task: Option<&str>,
    ) -> Result<bool, Fault> {
        let filter = Filter::current(&[Kind::Artifact], self.now())
            .key(&Artifact::key(&self.clean(file), task))
            .limit(1);
        Ok(!self.find(&filter)?.is_empty())
    }
}
