//! Source of the current plan, from its Markdown files.

use super::SourceInput;
use crate::engine::{Contexts, Engine};
use heirloom_formats::plan_files::{self, PlanFile};
use heirloom_fs::project_fs::normalise_project_path;
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, PlanName, Scope, limits, text};
use heirloom_store::Filter;
use std::fs;
use std::io::ErrorKind;

impl Contexts<'_> {
    /// Returns the contents of the plan's files: title, goal and open tasks.
    pub(super) fn plan_section(&self, input: &SourceInput<'_>) -> Result<Section, Fault> {
        let mut section = Section {
            name: "plan".to_owned(),
            heading: "## Plan".to_owned(),
            ..Section::default()
        };
        let Some(plan) = &input.request.plan else {
            return Ok(section);
        };
        let Some(folder) = self.plan_folder(plan, &mut section.notes)? else {
            section.notes.extend(unknown_plan_note(self.engine, plan)?);
            return Ok(section);
        };
        let mut files = self.names_in(&folder, &mut section.notes)?;
        files.retain(|name| name.ends_with(".md"));
        if files.len() > limits::PLAN_FILES_MAX {
            let most = limits::PLAN_FILES_MAX;
            section.notes.push(format!(
                "only {most} of {} files of the plan are read",
                files.len()
            ));
            files.truncate(most);
        }
        for name in files {
            let path = format!("{folder}/{name}");
            match self.project_text(&path) {
                Ok(Some(text)) => section
                    .offers
                    .extend(offers(&path, &plan_files::parse_plan(&text))),
                Ok(None) => {}
                Err(problem) => section.notes.push(problem),
            }
        }
        Ok(section)
    }

    /// Returns the folder of a plan relative to the root: of `STAGE/PLAN`, or of `PLAN` in the first stage that has
    /// it.
    fn plan_folder(&self, plan: &str, notes: &mut Vec<String>) -> Result<Option<String>, Fault> {
        let root = &self.engine.settings.plans_root;
        let wanted = match plan.split_once('/') {
            Some(_) => vec![format!("{root}/{plan}")],
            None => {
                let stages = self.names_in(root, notes)?;
                stages
                    .iter()
                    .map(|stage| format!("{root}/{stage}/{plan}"))
                    .collect()
            }
        };
        for folder in wanted {
            let inside = normalise_project_path(&self.engine.root, &folder)
                .map_err(|problem| Fault::usage(problem.to_string()))?;
            if self.engine.root.join(&inside).is_dir() {
                return Ok(Some(inside));
            }
        }
        Ok(None)
    }

    /// Lists a folder of the project in order; empty if it does not exist.
    fn names_in(&self, folder: &str, notes: &mut Vec<String>) -> Result<Vec<String>, Fault> {
        let inside = normalise_project_path(&self.engine.root, folder)
            .map_err(|problem| Fault::usage(problem.to_string()))?;
        let entries = match fs::read_dir(self.engine.root.join(&inside)) {
            Ok(entries) => entries,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(Vec::new());
            }
            Err(error) => return Err(Fault::failed(format!("cannot list {folder}: {error}"))),
        };
        let most = limits::PLAN_FOLDER_ENTRIES_MAX;
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .take(most + 1)
            .collect();
        if names.len() > most {
            names.truncate(most);
            notes.push(format!("only {most} entries of {folder} are read"));
        }
        names.sort();
        Ok(names)
    }
}

/// Returns a note about a plan without files, outputs and records, which is usually a misspelt name.
fn unknown_plan_note(engine: &Engine, plan: &str) -> Result<Option<String>, Fault> {
    let scope = Scope {
        plan: Some(PlanName::parse(plan).plan.to_owned()),
        ..Scope::default()
    };
    let records = Filter::current(&[], engine.now()).scope(scope).limit(1);
    let outputs = engine.outputs().list(Some(plan))?;
    if !outputs.is_empty() || !engine.records().find(&records)?.is_empty() {
        return Ok(None);
    }
    let mut known: Vec<_> = (engine.outputs().list(None)?.into_iter())
        .map(|output| output.plan)
        .collect();
    known.sort();
    known.dedup();
    known.truncate(limits::CONTEXT_OUTPUTS_MAX);
    let known = match known.is_empty() {
        true => String::new(),
        false => format!("; plans with outputs: {}", known.join(", ")),
    };
    Ok(Some(format!(
        "nothing is stored in the plan `{}` yet{known}",
        text::one_line(plan)
    )))
}

fn offers(path: &str, plan: &PlanFile) -> Vec<Offer> {
    let offer = |line, text: String| Offer {
        origin: Origin::File {
            path: path.to_owned(),
            line,
        },
        text,
        ..Offer::default()
    };
    let about: Vec<&str> = [&plan.stage, &plan.status]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let name: Vec<&str> = [&plan.id, &plan.title]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let mut head = name.join(": ");
    if !about.is_empty() {
        head = format!("{head} ({})", about.join(", "));
    }
    let mut offers = vec![offer(None, head.trim().to_owned())];
    if !plan.goal.is_empty() {
        offers.push(offer(None, format!("Goal: {}", text::one_line(&plan.goal))));
    }
    let tasks = plan.open_tasks.iter();
    offers.extend(
        tasks.map(|(line, task)| offer(Some(*line), format!("[ ] {}", text::one_line(task)))),
    );
    if plan.done_count > 0 {
        offers.push(offer(None, format!("{} done", plan.done_count)));
    }
    offers.retain(|offer| !offer.text.is_empty());
    offers
}
