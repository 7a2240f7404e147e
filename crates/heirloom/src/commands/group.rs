//! `heirloom group`.

use crate::open::Session;
use heirloom_engine::NewNote;
use heirloom_engine::group::GROUP_DEFAULT;
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

/// Notes of a group of agents: .heirloom/groups/NAME/MEMORY.md
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Agents without another channel drop a file into .heirloom/inbox/ (written elsewhere, renamed):
  {\"type\":\"update_memory\",\"group\":\"main\",\"payload\":{\"content\":\"…\",\"section\":\"Notes\",\"agent_id\":\"ann\"}}"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Note something: behind what MEMORY.md says, and as a record that recall finds
    Note {
        /// The group, such as main
        group: String,
        /// What is noted
        #[arg(allow_hyphen_values = true)]
        content: String,
        /// The section; Notes
        #[arg(long, value_name = "NAME")]
        section: Option<String>,
        /// The agent that notes it; unknown
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// Show what a group's files have for a prompt
    Show {
        /// The group
        #[arg(default_value = GROUP_DEFAULT)]
        group: String,
    },
    /// List the groups
    List,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    match args.action {
        Action::Note {
            content,
            group,
            section,
            agent,
        } => {
            let note = NewNote {
                content,
                section,
                agent,
                // A name that is empty is refused and not replaced.
                group: Some(group),
            };
            take_note(&note, session)
        }
        Action::Show { group } => show(&group, session),
        Action::List => list(session),
    }
}

fn take_note(note: &NewNote, session: &mut Session) -> Result<u8, Fault> {
    let noted = session.open()?.update_memory(note)?;
    if session.out.json {
        let mut value = json!({
            "id": noted.id.to_string(),
            "outcome": "created",
            "group": noted.group,
            "file": noted.file.to_string_lossy(),
        });
        if noted.mended > 0 {
            value["mended"] = json!(noted.mended);
        }
        if !noted.redacted.is_empty() {
            value["redacted"] = json!(noted.redacted);
        }
        session.out.value(&value);
        return Ok(0);
    }
    let group = &noted.group;
    session.out.line(&format!("{} noted for {group}", noted.id));
    if noted.mended > 0 {
        let mended = noted.mended;
        let said = format!("{mended} earlier notes that the file lacked are in it again");
        session.out.talk(&said);
    }
    if !noted.redacted.is_empty() {
        let kinds = noted.redacted.join(", ");
        session.out.talk(&format!("kept without secrets: {kinds}"));
    }
    Ok(0)
}

fn show(group: &str, session: &mut Session) -> Result<u8, Fault> {
    let sections = session.open()?.group_sections(group)?;
    if session.out.json {
        let sections: Vec<_> = sections.iter().map(of_section).collect();
        session
            .out
            .value(&json!({"group": group, "sections": sections}));
        return Ok(0);
    }
    let mut is_empty = true;
    for section in &sections {
        for note in &section.notes {
            session.out.talk(&format!("heirloom: {note}"));
        }
        if !section.offers.is_empty() && !section.heading.is_empty() {
            session.out.line(&section.heading);
        }
        for offer in &section.offers {
            is_empty = false;
            session.out.line(&text::printable(offer.text.trim_end()));
        }
    }
    if is_empty {
        let said = format!("{group} has nothing yet: heirloom group note {group} \"TEXT\"");
        session.out.talk(&text::one_line(&said));
    }
    Ok(0)
}

fn list(session: &mut Session) -> Result<u8, Fault> {
    let groups = session.open()?.groups()?;
    if session.out.json {
        let groups: Vec<_> = groups
            .iter()
            .map(|group| json!({"name": group.name, "files": group.files}))
            .collect();
        session.out.value(&json!({ "groups": groups }));
        return Ok(0);
    }
    if groups.is_empty() {
        session
            .out
            .talk("no groups yet: heirloom group note main \"TEXT\"");
    }
    for group in groups {
        let files = group.files.join(", ");
        session.out.line(&format!("{}  {files}", group.name));
    }
    Ok(0)
}

fn of_section(section: &Section) -> Value {
    let offers: Vec<_> = section.offers.iter().map(of_offer).collect();
    json!({"name": section.name, "heading": section.heading, "items": offers, "notes": section.notes})
}

fn of_offer(offer: &Offer) -> Value {
    let mut value = json!({ "text": offer.text });
    if let Origin::File { path, line } = &offer.origin {
        value["file"] = json!(path);
        if let Some(line) = line {
            value["line"] = json!(line);
        }
    }
    value
}
