//! `heirloom workspace`.

use crate::open::Session;
use heirloom_engine::{Engine, Workspace, Written};
use heirloom_model::Fault;
use serde_json::json;

/// Write, show and take in the Markdown files that people and agents both edit
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The files are in .heirloom/workspace; edit them as you like: the next command sees it."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a fact to MEMORY.md
    Fact(Entry),
    /// Add a learning to LEARNINGS.md
    Learning(Entry),
    /// Add what goes wrong, and what helps, to ERRORS.md
    Error {
        /// What goes wrong
        pattern: String,
        /// What helps
        #[arg(long)]
        solution: Option<String>,
        /// In the person's own workspace
        #[arg(long)]
        user: bool,
    },
    /// Add a line to the log of today
    Daily(Entry),
    /// Add a wish to FEATURE_REQUESTS.md
    Feature(Entry),
    /// Print what prompts get of the files
    Show,
    /// Take in what the files say, whether they look changed or not
    Sync,
}

#[derive(Debug, clap::Args)]
struct Entry {
    /// What to write
    text: String,
    /// In the person's own workspace
    #[arg(long)]
    user: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let written = match args.action {
        Action::Fact(entry) => engine.workspace_save_fact(whose(entry.user), &entry.text)?,
        Action::Learning(entry) => engine.workspace_log_learning(whose(entry.user), &entry.text)?,
        Action::Error {
            pattern,
            solution,
            user,
        } => engine.workspace_log_error(whose(user), &pattern, solution.as_deref())?,
        Action::Daily(entry) => engine.workspace_daily_log(whose(entry.user), &entry.text)?,
        Action::Feature(entry) => {
            engine.workspace_feature_request(whose(entry.user), &entry.text)?
        }
        Action::Show => return Ok(show(&engine, session)),
        Action::Sync => return sync(&engine, session),
    };
    tell(&written, session);
    Ok(0)
}

fn whose(user: bool) -> Workspace {
    match user {
        true => Workspace::User,
        false => Workspace::Project,
    }
}

fn tell(written: &Written, session: &mut Session) {
    let path = written.path.display().to_string();
    let archived = written
        .archived
        .as_ref()
        .map(|path| path.display().to_string());
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
        session.out.talk(&format!("a secret was left out: {kind}"));
    }
    if let Some(archive) = archived {
        session
            .out
            .talk(&format!("the oldest entries are in {archive} now"));
    }
}

fn show(engine: &Engine, session: &mut Session) -> u8 {
    let section = engine.workspace_section();
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
            .talk("the workspace says nothing yet: heirloom workspace fact \"…\"");
    }
    section.notes.iter().for_each(|note| session.out.talk(note));
    0
}

fn sync(engine: &Engine, session: &mut Session) -> Result<u8, Fault> {
    let report = engine.resync_workspace()?;
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
