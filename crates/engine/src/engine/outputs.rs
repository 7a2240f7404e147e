//! Outputs: the last output of each agent in a plan.

use super::Engine;
use super::new_record::{check_scope, name_fault};
use super::record_import::ImportWriter;
use heirloom_formats::outputs::{OutputFile, check_path_part, parse};
use heirloom_model::kinds::Output;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{
    Fault, Kind, KindData, MergeRule, PlanName, Record, RecordId, Scope, Timestamp, limits, text,
};
use heirloom_store::{AppliedChange, Change, Filter};
use serde_json::Value;

/// Source of imported records.
const SOURCE: &str = "import";

/// New output.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewOutput {
    /// The plan, `PLAN` or `STAGE/PLAN`.
    pub plan: String,
    /// The agent.
    pub agent: String,
    /// The plan's stage, if known and not in its name.
    pub stage: Option<String>,
    /// Complete output of the agent.
    pub content: String,
    /// Additional data.
    pub metadata: Attrs,
}

/// Last output of an agent in a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOutput {
    /// Id of its record.
    pub id: RecordId,
    /// The plan.
    pub plan: String,
    /// The agent.
    pub agent: String,
    /// The plan's stage.
    pub stage: Option<String>,
    /// Its last [`limits::OUTPUT_CHARS_MAX`] characters.
    pub content: String,
    /// All that is stored of it.
    pub full: String,
    /// Bytes at its beginning that are not stored.
    pub left_out_bytes: u64,
    /// Time of the output.
    pub at: Timestamp,
    /// Additional data.
    pub metadata: Attrs,
    /// Additional fields of the imported file.
    pub file: Attrs,
}

impl PlanOutput {
    /// Returns the part for prompts: the last characters, from the start of a line or a word.
    fn prompt_text(&self) -> &str {
        match self.full.len() > self.content.len() {
            true => text::clip_start_at_boundary(&self.full, limits::OUTPUT_CHARS_MAX),
            false => &self.content,
        }
    }
}

/// Output file to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSource {
    /// Path, as it is shown.
    pub path: String,
    /// Stage in the folder's name.
    pub stage: String,
    /// Plan in the folder's name.
    pub plan: String,
    /// Agent in the file's name, if it has one.
    pub agent: Option<String>,
    /// Modification time in seconds since 1970, for outputs without a time.
    pub changed: i64,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// Outputs of the agents of a plan, as records and as files.
#[derive(Clone, Copy)]
pub struct Outputs<'e> {
    pub(super) engine: &'e Engine,
}

impl Outputs<'_> {
    /// Stores the last output of an agent in a plan, replacing the former one; durable when it returns.
    ///
    /// Errors: `Usage` for an empty output, one over [`limits::OUTPUT_INPUT_BYTES_MAX`], too large metadata or an
    /// invalid name; `Refused` for a name that would lead out of a folder.
    pub fn put(&self, new: &NewOutput) -> Result<AppliedChange, Fault> {
        let record = self.output_record(new, None, Attrs::new(), &new.agent)?;
        self.engine.records().apply_one(Change::Put {
            record: Box::new(record),
            merge: MergeRule::Replace,
        })
    }

    /// Returns the last output of an agent in a plan. Errors: `NotFound`.
    pub fn get(&self, plan: &str, agent: &str) -> Result<PlanOutput, Fault> {
        let found = self.find_outputs(Some(plan), Some(agent), 1)?.pop();
        found.ok_or_else(|| {
            let (plan, agent) = (text::excerpt(plan, 60), text::excerpt(agent, 60));
            Fault::not_found(format!("no output of `{agent}` in the plan `{plan}`"))
                .hint("`heirloom output list --plan PLAN` lists the agents with an output")
        })
    }

    /// Returns the last outputs in a plan, or in all plans, one for each agent; newest first.
    pub fn list(&self, plan: Option<&str>) -> Result<Vec<PlanOutput>, Fault> {
        self.find_outputs(plan, None, limits::FIND_MAX)
    }

    /// Returns what is stored of an agent's newest output, in one plan or in any, and its record.
    pub(super) fn output_lines(
        &self,
        plan: Option<&str>,
        agent: &str,
    ) -> Result<Option<(String, RecordId)>, Fault> {
        let found = self.find_outputs(plan, Some(agent), 1)?.pop();
        Ok(found.map(|output| (output.full, output.id)))
    }

    /// Returns an agent's last output as a section of its next prompt: in this plan, or in any.
    pub fn own_output_section(&self, plan: Option<&str>, agent: &str) -> Result<Section, Fault> {
        let found = self.find_outputs(plan, Some(agent), 1)?;
        let notes = (found.iter())
            .filter(|output| output.full.len() > output.content.len())
            .map(|output| format!("the last {} characters", text::chars(output.prompt_text())));
        Ok(Section {
            name: "own_output".to_owned(),
            heading: "## Your Last Output".to_owned(),
            notes: notes.collect(),
            offers: found.iter().map(|o| offer(o.id, o.prompt_text())).collect(),
            ..Section::default()
        })
    }

    /// Returns the last outputs of the other agents in a plan, newest first.
    pub fn other_outputs_section(&self, plan: &str, agent: Option<&str>) -> Result<Section, Fault> {
        let mut found = self.find_outputs(Some(plan), None, limits::CONTEXT_OUTPUTS_MAX + 2)?;
        let me = agent.map(|agent| {
            self.engine
                .redaction()
                .redact_input(agent.trim())
                .into_owned()
        });
        found.retain(|output| me.as_ref() != Some(&output.agent));
        let mut notes = Vec::new();
        if found.len() > limits::CONTEXT_OUTPUTS_MAX {
            found.truncate(limits::CONTEXT_OUTPUTS_MAX);
            notes.push(format!("only the newest {} are offered", found.len()));
        }
        let to_offer = |output: &PlanOutput| {
            let who = text::one_line(&output.agent).replace(['[', ']'], "|");
            offer(output.id, &format!("[{who}]: {}", output.prompt_text()))
        };
        Ok(Section {
            name: "other_outputs".to_owned(),
            heading: "## Outputs of Other Agents".to_owned(),
            offers: found.iter().map(to_offer).collect(),
            notes,
            ..Section::default()
        })
    }

    /// Adds output files to an import; stored outputs stay unchanged.
    pub(super) fn add_outputs(
        &self,
        files: &[OutputSource],
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        for file in files {
            let record = match self.record_of_file(file) {
                Ok(record) => record,
                Err(problem) => {
                    writer.diagnose(format!("{}: {problem}; skipped", file.path));
                    continue;
                }
            };
            let agent = record.scope.agent.as_deref();
            let plan = PlanName::parse(&file.plan).plan;
            let stored = self.find_outputs(Some(plan), agent, 1)?.pop();
            if let Some(stored) =
                stored.filter(|stored| stored.id != record.id && stored.at < record.recorded_at)
            {
                let (then, at) = (stored.at, record.recorded_at);
                writer.diagnose(format!(
                    "{}: is from {at}, the stored output is from {then} and stays; skipped",
                    file.path
                ));
            }
            let put = Change::Put {
                record: Box::new(record),
                merge: MergeRule::Keep,
            };
            writer.add(0, put)?;
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
            ("", None) => return Err("neither its content nor its name has the agent".to_owned()),
            (agent, Some(named)) if agent != named => {
                return Err(format!(
                    "its agent is `{}`, but its name has `{}`",
                    text::excerpt(agent, 60),
                    text::excerpt(named, 60)
                ));
            }
            (agent, _) => agent.to_owned(),
        };
        // A folder's name may contain the stage, encoded.
        let name = PlanName::parse(&file.plan);
        let new = NewOutput {
            plan: name.plan.to_owned(),
            agent,
            stage: Some(name.stage.unwrap_or(&file.stage).to_owned()),
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
            check_name(what, name).map_err(|bad| name_fault(&bad))?;
        }
        let stage = stage_of(new)?;
        for (what, name) in [
            ("plan", new.plan.as_str()),
            ("agent", &new.agent),
            ("stage", stage),
        ] {
            check_path_part(what, name).map_err(|bad| Fault::refused(bad.to_string()))?;
        }
        if new.content.len() > limits::OUTPUT_INPUT_BYTES_MAX {
            let most = limits::OUTPUT_INPUT_BYTES_MAX;
            return Err(Fault::usage(format!(
                "the output has more than {most} bytes"
            )));
        }
        // Redact before truncating: a cut secret no longer matches its pattern.
        let whole = self
            .engine
            .redaction()
            .redact_input(new.content.trim_end())
            .into_owned();
        if whole.trim().is_empty() {
            return Err(Fault::usage("the output is empty").hint("it comes from standard input"));
        }
        let metadata = new.metadata.clone();
        let size = Value::Object(metadata.clone()).to_string().len()
            + Value::Object(file.clone()).to_string().len();
        if size > limits::OUTPUT_METADATA_BYTES_MAX {
            let most = limits::OUTPUT_METADATA_BYTES_MAX;
            return Err(Fault::usage(format!(
                "the metadata has {size} bytes of JSON; at most {most} are stored"
            )));
        }
        let name = |name: &str| {
            Some(
                self.engine
                    .redaction()
                    .redact_input(name.trim())
                    .into_owned(),
            )
            .filter(|n| !n.is_empty())
        };
        let scope = Scope {
            plan: name(PlanName::parse(&new.plan).plan),
            agent: name(&new.agent),
            phase: name(stage),
            ..Scope::default()
        };
        check_scope(&scope)?;
        let content = text::clip_start(&whole, limits::OUTPUT_CHARS_MAX);
        let full = json_tail(&whole);
        let output = Output {
            metadata,
            full: (full.len() > content.len()).then(|| full.to_owned()),
            left_out_bytes: (whole.len() - full.len()) as u64,
            file,
            extra: Attrs::new(),
        };
        let mut record = self
            .engine
            .records()
            .draft(Kind::Output, content, scope, source);
        let (plan, agent) = (record.scope.plan.clone(), record.scope.agent.clone());
        let (plan, agent) = (plan.unwrap_or_default(), agent.unwrap_or_default());
        record.key = Some(Output::key(&plan, &agent));
        record.attrs = output.to_attrs();
        if let Some(at) = at {
            record.recorded_at = at;
            record.id = RecordId::from_parts(at, &["output", &plan, &agent, &whole]);
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
            plan: plan.map(|name| PlanName::parse(name).plan.to_owned()),
            agent: named(agent),
            ..Scope::default()
        };
        let outputs = Filter::current(&[Kind::Output], self.engine.now());
        let filter = outputs.clone().scope(scope).limit(limit);
        let mut found = self.engine.records().find(&filter)?;
        if let Some(name) = plan.filter(|name| found.is_empty() && name.contains('/')) {
            // Earlier versions stored the name together with its stage.
            let scope = Scope {
                agent: named(agent),
                ..Scope::default()
            };
            found = self.engine.records().find(&outputs.scope(scope))?;
            found.retain(|record| record.scope.plan.as_deref() == Some(name.trim()));
            found.truncate(limit);
        }
        Ok(found.into_iter().map(plan_output).collect())
    }
}

/// Returns the stage of a new output, empty if unknown. Errors: `Usage` for two different stages.
fn stage_of(new: &NewOutput) -> Result<&str, Fault> {
    let given = new.stage.as_deref().map(str::trim).unwrap_or_default();
    match PlanName::parse(&new.plan).stage {
        Some(named) if given.is_empty() || given == named => Ok(named),
        Some(named) => {
            let (named, given) = (text::excerpt(named, 60), text::excerpt(given, 60));
            Err(
                Fault::usage(format!("two stages are given: `{named}` and `{given}`"))
                    .hint("name the stage once"),
            )
        }
        None => Ok(given),
    }
}

fn plan_output(record: Record) -> PlanOutput {
    let output = Output::from_record(&record).unwrap_or_default();
    PlanOutput {
        id: record.id,
        plan: record.scope.plan.unwrap_or_default(),
        agent: record.scope.agent.unwrap_or(record.source),
        stage: record.scope.phase,
        full: output.full.unwrap_or_else(|| record.text.clone()),
        content: record.text,
        left_out_bytes: output.left_out_bytes,
        at: record.recorded_at,
        metadata: output.metadata,
        file: output.file,
    }
}

fn offer(id: RecordId, content: &str) -> Offer {
    Offer {
        origin: Origin::Record(id),
        text: content.to_owned(),
        ..Offer::default()
    }
}

/// Returns the longest end of a text that fits into its JSON limit.
fn json_tail(whole: &str) -> &str {
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
