//! `heirloom receipts`.

use crate::open::Session;
use crate::output;
use heirloom_engine::{ReceiptPart, StoredReceipt};
use heirloom_model::{Fault, limits, text};
use serde_json::{Value, json};

/// Show what contexts held: the receipts of the newest ones
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: heirloom receipts diff 0190a1 0190a2")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List them, newest first
    List {
        /// At most this many
        #[arg(short = 'n', long, value_name = "N", default_value_t = limits::RECEIPTS_KEPT)]
        limit: usize,
    },
    /// Show one item by item: what was in, what was not, and why
    Show {
        /// The receipt
        id: String,
    },
    /// Say what came and what went between two
    Diff {
        /// The earlier one
        first: String,
        /// The later one
        second: String,
    },
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.action {
        Action::List { limit } => {
            let found = engine.receipts(limit)?;
            if session.out.json {
                let all: Vec<Value> = found.iter().map(summary).collect();
                session.out.value(&json!({ "receipts": all }));
                return Ok(0);
            }
            let rows: Vec<_> = found.iter().map(row).collect();
            if rows.is_empty() {
                session.out.talk("no context was made here yet");
            } else {
                session.out.line(&output::table(&rows));
            }
        }
        Action::Show { id } => {
            let found = engine.receipt(&id)?;
            if session.out.json {
                session.out.value(&whole(&found));
                return Ok(0);
            }
            session.out.line(&row(&found).join("  "));
            show(&found, session);
        }
        Action::Diff { first, second } => {
            let diff = engine.receipt_diff(&first, &second)?;
            let list = |parts: &[ReceiptPart]| -> Vec<Value> {
                let part =
                    |p: &ReceiptPart| json!({"section": p.section, "name": p.name, "text": p.text});
                parts.iter().map(part).collect()
            };
            if session.out.json {
                session.out.value(&json!({
                    "came": list(&diff.came), "went": list(&diff.went), "stayed": diff.stayed,
                }));
                return Ok(0);
            }
            for (sign, parts) in [("-", &diff.went), ("+", &diff.came)] {
                for part in parts {
                    let words = text::excerpt(&part.text, 80);
                    session
                        .out
                        .line(&format!("{sign} {:18} {words}", part.section));
                }
            }
            session
                .out
                .talk(&format!("{} items are in both", diff.stayed));
        }
    }
    Ok(0)
}

/// What a receipt says of itself, without its items.
fn summary(receipt: &StoredReceipt) -> Value {
    let mut said = whole(receipt);
    if let Value::Object(said) = &mut said {
        said.remove("sections");
    }
    said
}

fn whole(receipt: &StoredReceipt) -> Value {
    let mut said = receipt.body.clone();
    said.insert("id".to_owned(), receipt.id.to_string().into());
    said.insert("at".to_owned(), receipt.at.to_string().into());
    Value::Object(said)
}

fn row(receipt: &StoredReceipt) -> Vec<String> {
    let said = |name: &str| match receipt.body.get(name) {
        Some(Value::String(said)) => text::excerpt(said, 40),
        Some(Value::Number(n)) => n.to_string(),
        _ => String::new(),
    };
    let size = format!(
        "{} of {} {}",
        said(&said("unit")),
        said("budget"),
        said("unit")
    );
    let whom = ["task", "phase", "agent", "plan", "session", "query"].map(said);
    let whom: Vec<String> = whom.into_iter().filter(|name| !name.is_empty()).collect();
    vec![
        receipt.id.to_string(),
        receipt.at.to_string(),
        size,
        whom.join(" "),
    ]
}

fn show(receipt: &StoredReceipt, session: &mut Session) {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let said = |value: &Value, name: &str| match value.get(name) {
        Some(Value::String(said)) => said.clone(),
        Some(Value::Number(n)) => n.to_string(),
        _ => String::new(),
    };
    for section in list(receipt.body.get("sections")) {
        let items = list(section.get("items"));
        session.out.line(&format!(
            "{}: {} characters",
            said(&section, "name"),
            said(&section, "chars")
        ));
        let rows: Vec<_> = items
            .iter()
            .map(|item| {
                let included = item.get("included") == Some(&Value::Bool(true));
                let id = [said(item, "id"), said(item, "file")].concat();
                vec![
                    if included { "in" } else { "out" }.to_owned(),
                    said(item, "chars"),
                    said(item, "tokens"),
                    id,
                    text::excerpt(&said(item, "score"), 6),
                    if included {
                        String::new()
                    } else {
                        said(item, "reason")
                    },
                    text::excerpt(&said(item, "text"), 60),
                ]
            })
            .collect();
        for line in output::table(&rows).lines() {
            session.out.line(&format!("  {line}"));
        }
    }
    for note in list(receipt.body.get("notes")) {
        session
            .out
            .line(&format!("note: {}", note.as_str().unwrap_or_default()));
    }
}
