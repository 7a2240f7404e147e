//! `heirloom receipts`.

use crate::receipt_table::{self, ReceiptRow};
use crate::store_access::CliSession;
use heirloom_engine::{ReceiptPart, StoredReceipt};
use heirloom_model::text::counted;
use heirloom_model::{Fault, limits, text};
use serde_json::{Value, json};

/// Show the receipts of the newest contexts
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: heirloom receipts diff 0190a1 0190a2")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: ReceiptsSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum ReceiptsSubcommand {
    /// List receipts, newest first
    List {
        /// At most this many
        #[arg(short = 'n', long, value_name = "N", default_value_t = limits::RECEIPTS_KEPT)]
        limit: usize,
    },
    /// Show one item by item: what was included, what was not, and why
    Show {
        /// The receipt
        id: String,
    },
    /// Show what was added and removed between two receipts
    Diff {
        /// The earlier receipt
        first: String,
        /// The later receipt
        second: String,
    },
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.action {
        ReceiptsSubcommand::List { limit } => {
            let heads = engine.contexts().receipt_heads(limit)?;
            let found: Vec<StoredReceipt> = heads.into_iter().map(|head| head.receipt).collect();
            if session.out.json {
                let all: Vec<Value> = found.iter().map(receipt_value).collect();
                session.out.value(&json!({ "receipts": all }));
                return Ok(0);
            }
            let rows: Vec<_> = found.iter().map(row).collect();
            if rows.is_empty() {
                session.out.talk("no contexts yet");
            } else {
                session.out.table(&rows, &[0]);
            }
        }
        ReceiptsSubcommand::Show { id } => {
            let found = engine.contexts().receipt(&id)?;
            if session.out.json {
                session.out.value(&receipt_value(&found));
                return Ok(0);
            }
            session.out.line(&row(&found).join("  "));
            print_sections(&found, session);
        }
        ReceiptsSubcommand::Diff { first, second } => {
            let diff = engine.contexts().receipt_diff(&first, &second)?;
            let list = |parts: &[ReceiptPart]| -> Vec<Value> {
                let part =
                    |p: &ReceiptPart| json!({"section": p.section, "name": p.name, "text": p.text});
                parts.iter().map(part).collect()
            };
            if session.out.json {
                session.out.value(&json!({
                    "came": list(&diff.added), "went": list(&diff.removed), "stayed": diff.common,
                }));
                return Ok(0);
            }
            for (sign, parts) in [("-", &diff.removed), ("+", &diff.added)] {
                for part in parts {
                    let words = text::excerpt(&part.text, 80);
                    session
                        .out
                        .line(&format!("{sign} {:18} {words}", part.section));
                }
            }
            session.out.talk(&format!(
                "{} in both",
                counted(diff.common, "item is", "items are")
            ));
        }
    }
    Ok(0)
}

fn receipt_value(receipt: &StoredReceipt) -> Value {
    let mut value = receipt.body.clone();
    value.insert("id".to_owned(), receipt.id.to_string().into());
    value.insert("at".to_owned(), receipt.at.to_string().into());
    Value::Object(value)
}

fn row(receipt: &StoredReceipt) -> Vec<String> {
    let field = |name: &str| match receipt.body.get(name) {
        Some(Value::String(text)) => text::excerpt(text, 40),
        Some(Value::Number(n)) => n.to_string(),
        _ => String::new(),
    };
    let size = format!(
        "{} of {} {}",
        field(&field("unit")),
        field("budget"),
        field("unit")
    );
    let filters = ["task", "phase", "agent", "plan", "session", "query"].map(field);
    let filters: Vec<String> = filters
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    vec![
        receipt.id.to_string(),
        receipt.at.to_string(),
        size,
        filters.join(" "),
    ]
}

fn print_sections(receipt: &StoredReceipt, session: &mut CliSession) {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let field = |value: &Value, name: &str| match value.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(n)) => n.to_string(),
        _ => String::new(),
    };
    for section in list(receipt.body.get("sections")) {
        let items = list(section.get("items"));
        session.out.line(&format!(
            "{}: {} characters",
            field(&section, "name"),
            field(&section, "chars")
        ));
        let row = |item: &Value| ReceiptRow {
            is_included: item.get("included") == Some(&Value::Bool(true)),
            reason: field(item, "reason"),
            relevance: item.get("relevance").and_then(Value::as_f64),
            worth: item.get("worth").and_then(Value::as_f64),
            chars: item.get("chars").and_then(Value::as_u64).unwrap_or(0),
            origin: [field(item, "id"), field(item, "file")].concat(),
            text: field(item, "text"),
        };
        for line in receipt_table::item_lines(items.iter().map(row).collect()) {
            session.out.line(&line);
        }
        if let Some(more) = section.get("more_left_out").and_then(Value::as_u64) {
            session.out.line(&format!("  out  and {more} more"));
        }
    }
    for note in list(receipt.body.get("notes")) {
        session
            .out
            .line(&format!("note: {}", note.as_str().unwrap_or_default()));
    }
}
