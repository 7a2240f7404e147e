//! `heirloom group`.

use super::session::text_or_input;
use crate::store_access::CliSession;
use heirloom_engine::NewNote;
use heirloom_formats::group::GROUP_DEFAULT;
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::text::counted;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

/// Notes of a group of agents: .heirloom/groups/NAME/MEMORY.md
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Agents without another channel put a file into .heirloom/inbox/ (write it elsewhere, then rename it):
  {\"type\":\"update_memory\",\"group\":\"main\",\"payload\":{\"content\":\"…\",\"section\":\"Notes\",\"agent_id\":\"ann\"}}"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: GroupSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum GroupSubcommand {
    /// Add a note: at the end of MEMORY.md, and as a record that recall finds
    Note {
        /// The group, such as main
        group: String,
        /// The note; - reads it from standard input
        #[arg(allow_hyphen_values = true)]
        content: String,
        /// The section; default: Notes
        #[arg(long, value_name = "NAME")]
        section: Option<String>,
        /// The agent that writes it; default: unknown
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// Show what the group's files contribute to a prompt
    Show {
        /// The group
        #[arg(default_value = GROUP_DEFAULT)]
        group: String,
    },
    /// List the groups
    List,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    match args.action {
        GroupSubcommand::Note {
            content,
            group,
            section,
            agent,
        } => {
            let note = NewNote {
                content: text_or_input(content, "a note")?,
                section,
                agent,
                // An empty name is refused instead of replaced by the default.
                group: Some(group),
            };
            add_note(&note, session)
        }
        GroupSubcommand::Show { group } => show(&group, session),
        GroupSubcommand::List => list(session),
    }
}

fn add_note(note: &NewNote, session: &mut CliSession) -> Result<u8, Fault> {
    let noted = session.open()?.groups().add_note(note)?;
    if session.out.json {
        let mut value = json!({
            "id": noted.id.to_string(),
            "outcome": "created",
            "group": noted.group,
            "file": noted.file.to_string_lossy(),
        });
        if noted.repaired > 0 {
            value["mended"] = json!(noted.repaired);
        }
        if !noted.redacted.is_empty() {
            value["redacted"] = json!(noted.redacted);
        }
        session.out.value(&value);
        return Ok(0);
    }
    let group = &noted.group;
    session.out.line(&format!("{} noted for {group}", noted.id));
    if noted.repaired > 0 {
        let mended = noted.repaired;
        let message = format!(
            "{} added again",
            counted(
                mended,
                "earlier note that was missing in the file was",
                "earlier notes that were missing in the file were"
            )
        );
        session.out.talk(&message);
    }
    if !noted.redacted.is_empty() {
        let kinds = noted.redacted.join(", ");
        session
            .out
            .talk(&format!("stored without secrets: {kinds}"));
    }
    Ok(0)
}

fn show(group: &str, session: &mut CliSession) -> Result<u8, Fault> {
    let sections = session.open()?.groups().sections(group)?;
    if session.out.json {
        let sections: Vec<_> = sections.iter().map(section_value).collect();
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
            session
                .out
                .line(&text::replace_control_chars(offer.text.trim_end()));
        }
    }
    if is_empty {
        let message = format!("{group} has no notes yet: heirloom group note {group} \"TEXT\"");
        session.out.talk(&text::one_line(&message));
    }
    Ok(0)
}

fn list(session: &mut CliSession) -> Result<u8, Fault> {
    let groups = session.open()?.groups().list()?;
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

fn section_value(section: &Section) -> Value {
    let offers: Vec<_> = section.offers.iter().map(offer_value).collect();
    json!({"name": section.name, "heading": section.heading, "items": offers, "notes": section.notes})
}

fn offer_value(offer: &Offer) -> Value {
    let mut value = json!({ "text": offer.text });
    if let Origin::File { path, line } = &offer.origin {
        value["file"] = json!(path);
        if let Some(line) = line {
            value["line"] = json!(line);
        }
    }
    value
}
