//! The last output of each agent in a plan.

use super::Engine;
use super::new_record::{bad_name, check_scope};
use super::transfer::{ImportReport, Taking};
use crate::outputs::{OutputFile, check_part, last_lines, parse};
use heirloom_model::kinds::Output;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{
    Fault, Kind, KindData, Merge, Record, RecordId, Scope, Timestamp, limits, text,
};
use heirloom_store::{Applied, Change, Filter};
use serde_json::Value;

/// Who is named as the source of what an import brings.
const SOURCE: &str = "import";

/// An output that is to be kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewOutput {
    /// The plan.
    pub plan: String,
    /// The agent.
    pub agent: String,
    /// The stage that the plan is in, if that is known.
    pub stage: Option<String>,
    /// What the agent said, all of it.
    pub content: String,
    /// What else is known of it.
    pub metadata: Attrs,
}

/// The last output of an agent in a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOutput {
    /// Its record.
    pub id: RecordId,
    /// The plan.
    pub plan: String,
    /// The agent.
    pub agent: String,
    /// The stage that the plan was in.
    pub stage: Option<String>,
    /// Its last [`limits::OUTPUT_CHARS_MAX`] characters.
    pub content: String,
    /// All of it that is kept.
    pub full: String,
    /// Bytes at its beginning that are not kept.
    pub left_out_bytes: u64,
    /// When it was said.
    pub at: Timestamp,
    /// What else is known of it.
    pub metadata: Attrs,
    /// What else the file said that it came from.
    pub file: Attrs,
}

/// The end of an agent's last output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Its record.
    pub id: RecordId,
    /// The last lines.
    pub text: String,
    /// Whether there are no lines before them that are kept, although there were some.
    pub cut: bool,
}

/// A file of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSource {
    /// Its path, as it is told.
    pub path: String,
    /// The stage that its folder names.
    pub stage: String,
    /// The plan that its folder names.
    pub plan: String,
    /// The agent that its name tells, if it does.
    pub agent: Option<String>,
    /// When it was last changed, in seconds since 1970: for one that does not say when it was.
    pub changed: i64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Engine {
    /// Keeps the last output of an agent in a plan, in place of the one before; durable when it returns.
    ///
    /// Errors: `Usage` for an empty output, one over [`limits::OUTPUT_INPUT_BYTES_MAX`], metadata over its cap or a
    /// bad name; `Refused` for a name that would lead out of a folder.
    pub fn put_output(&self, new: &NewOutput) -> Result<Applied, Fault> {
        let record = self.output_record(new, None, Attrs::new(), &new.agent)?;
        self.apply_one(Change::Put {
            record: Box::new(record),
            merge: Merge::Replace,
        })
    }

    /// The last output of an agent in a plan. Errors: `NotFound`.
    pub fn output(&self, plan: &str, agent: &str) -> Result<PlanOutput, Fault> {
        let found = self.find_outputs(Some(plan), Some(agent), 1)?.pop();
        found.ok_or_else(|| {
            let (plan, agent) = (text::excerpt(plan, 60), text::excerpt(agent, 60));
            Fault::not_found(format!("no output of `{agent}` in the plan `{plan}`"))
                .hint("`heirloom output list --plan PLAN` names the agents that have one")
        })
    }

    /// The last outputs in a plan, one for each agent, or in all plans; newest first.
    pub fn outputs(&self, plan: Option<&str>) -> Result<Vec<PlanOutput>, Fault> {
        self.find_outputs(plan, None, limits::FIND_MAX)
    }

    /// The last `lines` lines of an agent's newest output, in one plan or in any. Errors: `NotFound`.
    pub fn output_tail(
        &self,
        plan: Option<&str>,
        agent: &str,
        lines: usize,
    ) -> Result<Tail, Fault> {
        let found = self.find_outputs(plan, Some(agent), 1)?.pop();
        let found = found.ok_or_else(|| {
            let agent = text::excerpt(agent, 60);
            Fault::not_found(format!("no output of `{agent}` is kept"))
                .hint("`heirloom output put --plan PLAN --agent AGENT` keeps one")
        })?;
        let tail = last_lines(&found.full, lines);
        Ok(Tail {
            id: found.id,
            cut: found.left_out_bytes > 0 && tail.len() + 2 >= found.full.len(),
            text: tail.to_owned(),
        })
    }

    /// All that is kept of an agent's newest output, in one plan or in any, and its record.
    pub(super) fn output_lines(
        &self,
        plan: Option<&str>,
        agent: &str,
    ) -> Result<Option<(String, RecordId)>, Fault> {
        let found = self.find_outputs(plan, Some(agent), 1)?.pop();
        Ok(found.map(|output| (output.full, output.id)))
    }

    /// What an agent said last, for its next prompt: in this plan, or in any.
    pub fn own_output_section(&self, plan: Option<&str>, agent: &str) -> Result<Section, Fault> {
        let found = self.find_outputs(plan, Some(agent), 1)?;
        let notes = (found.iter())
            .filter(|output| output.full.len() > output.content.len())
            .map(|output| format!("the last {} characters", text::chars(&output.content)));
        Ok(Section {
            name: "own_output".to_owned(),
            heading: "## Your Last Output".to_owned(),
            notes: notes.collect(),
            offers: found.iter().map(|o| offer(o.id, &o.content)).collect(),
            ..Section::default()
        })
    }

    /// What the other agents of a plan said last, newest first.
    pub fn other_outputs_section(&self, plan: &str, agent: Option<&str>) -> Result<Section, Fault> {
        let mut found = self.find_outputs(Some(plan), None, limits::CONTEXT_OUTPUTS_MAX + 2)?;
        let me = agent.map(|agent| self.clean(agent.trim()).into_owned());
        found.retain(|output| me.as_ref() != Some(&output.agent));
        let mut notes = Vec::new();
        if found.len() > limits::CONTEXT_OUTPUTS_MAX {
            found.truncate(limits::CONTEXT_OUTPUTS_MAX);
            notes.push(format!("only the newest {} are offered", found.len()));
        }
        let said = |output: &PlanOutput| {
            let who = text::one_line(&output.agent).replace(['[', ']'], "|");
            offer(output.id, &format!("[{who}]: {}", output.content))
        };
        Ok(Section {
            name: "other_outputs".to_owned(),
            heading: "## Outputs of Other Agents".to_owned(),
            offers: found.iter().map(said).collect(),
            notes,
            ..Section::default()
        })
    }

    /// Takes files of outputs in as one import, which `undo` takes back; what is here already stays as it is.
    ///
    /// `source` says where they come from. A dry one writes nothing and says what would come.
    pub fn import_outputs(
        &self,
        files: &[OutputSource],
        source: &str,
        dry: bool,
    ) -> Result<ImportReport, Fault> {
        let mut taking = Taking::new(self, source)?;
        if dry {
            taking = taking.dry();
        }
        self.take_outputs(files, &mut taking)?;
        taking.end()
    }

    /// Adds files of outputs to an import.
    pub(super) fn take_outputs(
        &self,
        files: &[OutputSource],
        taking: &mut Taking<'_>,
    ) -> Result<(), Fault> {
        for file in files {
            let record = match self.record_of_file(file) {
                Ok(record) => record,
                Err(problem) => {
                    taking.diagnose(format!("{}: {problem}; skipped", file.path));
                    continue;
                }
            };
            let agent = record.scope.agent.as_deref();
            let here = self.find_outputs(Some(&file.plan), agent, 1)?.pop();
            if let Some(here) =
                here.filter(|here| here.id != record.id && here.at < record.recorded_at)
            {
                let (then, at) = (here.at, record.recorded_at);
                taking.diagnose(format!(
                    "{}: is from {at}, what is here from {then}: that stays; skipped",
                    file.path
                ));
            }
            let put = Change::Put {
                record: Box::new(record),
                merge: Merge::Keep,
            };
            taking.add(0, put)?;
        }
        Ok(())
    }

    fn record_of_file(&self, file: &OutputSource) -> Result<Record, String> {
        let OutputFile {
            agent_id,
            content,
            timestamp,
            metadata,
            extra,
        } = parse(&file.bytes).map_err(|problem| problem.to_string())?;
        let agent = match (agent_id.trim(), &file.agent) {
            ("", Some(named)) => named.clone(),
            ("", None) => return Err("neither it nor its name says the agent".to_owned()),
            (agent, Some(named)) if agent != named => {
                return Err(format!(
                    "it says that it is of `{}`, its name says `{}`",
                    text::excerpt(agent, 60),
                    text::excerpt(named, 60)
                ));
            }
            (agent, _) => agent.to_owned(),
        };
        let new = NewOutput {
            plan: file.plan.clone(),
            agent,
            stage: Some(file.stage.clone()),
            content,
            metadata,
        };
        let at = timestamp.unwrap_or(file.changed);
        let at = Timestamp::from_second(at).unwrap_or(Timestamp::UNIX_EPOCH);
        let record = self.output_record(&new, Some(at), extra, SOURCE);
        record.map_err(|fault| fault.message)
    }

    fn output_record(
        &self,
        new: &NewOutput,
        at: Option<Timestamp>,
        file: Attrs,
        source: &str,
    ) -> Result<Record, Fault> {
        for (what, name) in [("plan", &new.plan), ("agent", &new.agent)] {
            check_name(what, name).map_err(|bad| bad_name(&bad))?;
        }
        let stage = new.stage.as_deref().map(str::trim).unwrap_or_default();
        for (what, name) in [
            ("plan", new.plan.as_str()),
            ("agent", &new.agent),
            ("stage", stage),
        ] {
            check_part(what, name).map_err(|bad| Fault::refused(bad.to_string()))?;
        }
        if new.content.len() > limits::OUTPUT_INPUT_BYTES_MAX {
            let most = limits::OUTPUT_INPUT_BYTES_MAX;
            return Err(Fault::usage(format!(
                "the output has more than {most} bytes"
            )));
        }
        // A secret must not be cut in two before it is found.
        let whole = self.clean(new.content.trim_end()).into_owned();
        if whole.trim().is_empty() {
            return Err(Fault::usage("the output is empty").hint("it comes from standard input"));
        }
        let metadata = new.metadata.clone();
        let size = Value::Object(metadata.clone()).to_string().len()
            + Value::Object(file.clone()).to_string().len();
        if size > limits::OUTPUT_METADATA_BYTES_MAX {
            let most = limits::OUTPUT_METADATA_BYTES_MAX;
            return Err(Fault::usage(format!(
                "the metadata has {size} bytes of JSON; at most {most} are kept"
            )));
        }
        let name =
            |name: &str| Some(self.clean(name.trim()).into_owned()).filter(|n| !n.is_empty());
        let scope = Scope {
            plan: name(&new.plan),
            agent: name(&new.agent),
            phase: name(stage),
            ..Scope::default()
        };
        check_scope(&scope)?;
        let content = text::clip_start(&whole, limits::OUTPUT_CHARS_MAX);
        let full = kept_end(&whole);
        let output = Output {
            metadata,
            full: (full.len() > content.len()).then(|| full.to_owned()),
            left_out_bytes: (whole.len() - full.len()) as u64,
            file,
            extra: Attrs::new(),
        };
        let mut record = self.draft(Kind::Output, content, scope, source);
        let (plan, agent) = (record.scope.plan.clone(), record.scope.agent.clone());
        let (plan, agent) = (plan.unwrap_or_default(), agent.unwrap_or_default());
        record.key = Some(Output::key(&plan, &agent));
        record.attrs = output.to_attrs();
        if let Some(at) = at {
            record.recorded_at = at;
            record.id = id_of(at, &["output", &plan, &agent, &whole]);
        }
        Ok(record)
    }

    fn find_outputs(
        &self,
        plan: Option<&str>,
        agent: Option<&str>,
        limit: usize,
    ) -> Result<Vec<PlanOutput>, Fault> {
        let named = |name: Option<&str>| name.map(|name| name.trim().to_owned());
        let scope = Scope {
            plan: named(plan),
            agent: named(agent),
            ..Scope::default()
        };
        let filter = Filter::current(&[Kind::Output], self.now()).scope(scope);
        let found = self.find(&filter.limit(limit))?;
        Ok(found.into_iter().map(plan_output).collect())
    }
}

fn plan_output(record: Record) -> PlanOutput {
    let kept = Output::of(&record).unwrap_or_default();
    PlanOutput {
        id: record.id,
        plan: record.scope.plan.unwrap_or_default(),
        agent: record.scope.agent.unwrap_or(record.source),
        stage: record.scope.phase,
        full: kept.full.unwrap_or_else(|| record.text.clone()),
        content: record.text,
        left_out_bytes: kept.left_out_bytes,
        at: record.recorded_at,
        metadata: kept.metadata,
        file: kept.file,
    }
}

fn offer(id: RecordId, said: &str) -> Offer {
    Offer {
        origin: Origin::Record(id),
        text: said.to_owned(),
        ..Offer::default()
    }
}

/// The longest end of a text that fits as JSON.
fn kept_end(whole: &str) -> &str {
    let mut left = limits::OUTPUT_FULL_BYTES_MAX;
    for (at, c) in whole.char_indices().rev() {
        let needs = match c {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        };
        if needs > left {
            return text::clip_start(whole, text::chars(&whole[at + c.len_utf8()..]));
        }
        left -= needs;
    }
    whole
}

/// An id that the same thing has whenever it is imported.
pub(super) fn id_of(at: Timestamp, parts: &[&str]) -> RecordId {
    let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
    let hash = u64::from_str_radix(&text::hash_parts(parts), 16).unwrap_or(0);
    let more = [parts, &["more"]].concat();
    let more = u64::from_str_radix(&text::hash_parts(&more), 16).unwrap_or(0);
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    bytes[6..8].copy_from_slice(&more.to_be_bytes()[..2]);
    bytes[8..].copy_from_slice(&hash.to_be_bytes());
    bytes[6] = 0x70 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    RecordId::from_bytes(bytes)
}
