//! `heirloom workspace`.

use super::session::text_or_input;
use crate::store_access::CliSession;
use heirloom_engine::{Engine, EntryReport, Workspace};
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use serde_json::json;

/// Write, show and sync the Markdown files that people and agents both edit
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The files are in .heirloom/workspace; edit them freely: the next command reads the changes."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: WorkspaceSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum WorkspaceSubcommand {
    /// Add a fact to MEMORY.md
    Fact(EntryArgs),
    /// Add a learning to LEARNINGS.md
    Learning(EntryArgs),
    /// Add an error pattern, and its solution, to ERRORS.md
    Error {
        /// The error pattern; - reads it from standard input
        pattern: String,
        /// The solution
        #[arg(long)]
        solution: Option<String>,
        /// In the user's own workspace
        #[arg(long)]
        user: bool,
    },
    /// Add a line to the log of today
    Daily(EntryArgs),
    /// Add a feature request to FEATURE_REQUESTS.md
    Feature(EntryArgs),
    /// Print what prompts get from the files
    Show,
    /// Sync all files, even those that look unchanged
    Sync,
}

#[derive(Debug, clap::Args)]
struct EntryArgs {
    /// The text; - reads it from standard input
    text: String,
    /// In the user's own workspace
    #[arg(long)]
    user: bool,
}

impl EntryArgs {
    /// Returns the text, from standard input for `-`.
    fn text(&self) -> Result<String, Fault> {
        text_or_input(self.text.clone(), "an entry")
    }
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let written = match args.action {
        WorkspaceSubcommand::Fact(entry) => engine
            .workspace()
            .save_fact(workspace_of(entry.user), &entry.text()?)?,
        WorkspaceSubcommand::Learning(entry) => engine
            .workspace()
            .log_learning(workspace_of(entry.user), &entry.text()?)?,
        WorkspaceSubcommand::Error {
            pattern,
            solution,
            user,
        } => engine.workspace().log_error(
            workspace_of(user),
            &text_or_input(pattern, "an error")?,
            solution.as_deref(),
        )?,
        WorkspaceSubcommand::Daily(entry) => engine
            .workspace()
            .append_daily_log(workspace_of(entry.user), &entry.text()?)?,
        WorkspaceSubcommand::Feature(entry) => engine
            .workspace()
            .add_feature_request(workspace_of(entry.user), &entry.text()?)?,
        WorkspaceSubcommand::Show => return Ok(show(&engine, session)),
        WorkspaceSubcommand::Sync => return sync(&engine, session),
    };
    print_written(&written, session);
    Ok(0)
}

fn workspace_of(user: bool) -> Workspace {
    match user {
        true => Workspace::User,
        false => Workspace::Project,
    }
}

fn print_written(written: &EntryReport, session: &mut CliSession) {
    let path = written.path.to_escaped();
    let archived = written.archived.as_ref().map(|path| path.to_escaped());
    let outcome = if written.added { "added" } else { "unchanged" };
    if session.out.json {
        let mut value = json!({"path": path, "outcome": outcome, "archived": archived});
        if !written.redacted.is_empty() {
            value["redacted"] = json!(written.redacted);
        }
        return session.out.value(&value);
    }
    session.out.line(&format!("{outcome} {path}"));
    for kind in &written.redacted {
        session.out.talk(&format!("a secret was removed: {kind}"));
    }
    if let Some(archive) = archived {
        session
            .out
            .talk(&format!("the oldest entries were moved to {archive}"));
    }
}

fn show(engine: &Engine, session: &mut CliSession) -> u8 {
    let section = engine.workspace().section();
    let texts: Vec<_> = section
        .offers
        .iter()
        .map(|offer| offer.text.as_str())
        .collect();
    let text = match texts.as_slice() {
        [] => String::new(),
        texts => format!(
            "{}\n{}\n{}\n",
            section.heading,
            texts.join("\n"),
            section.closing
        ),
    };
    if session.out.json {
        session
            .out
            .value(&json!({"text": text, "notes": section.notes}));
        return 0;
    }
    session.out.data(&text);
    if text.is_empty() {
        session
            .out
            .talk("the workspace is empty: heirloom workspace fact \"…\"");
    }
    section.notes.iter().for_each(|note| session.out.talk(note));
    0
}

fn sync(engine: &Engine, session: &mut CliSession) -> Result<u8, Fault> {
    let report = engine.workspace().resync()?;
    if session.out.json {
        session.out.value(&json!({
            "created": report.created, "replaced": report.replaced, "retired": report.retired,
            "notes": report.notes,
        }));
        return Ok(0);
    }
    let (created, replaced, retired) = (report.created, report.replaced, report.retired);
    session.out.line(&format!(
        "{created} new, {replaced} changed, {retired} gone"
    ));
    report.notes.iter().for_each(|note| session.out.talk(note));
    Ok(0)
}
