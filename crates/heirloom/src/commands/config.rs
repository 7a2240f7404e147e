//! `heirloom config`.

use crate::config::{KEYS, Layer};
use crate::store_access::CliSession;
use heirloom_model::Fault;
use serde_json::json;

/// Show the settings, and the origin of each value
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Later layers win: defaults, user, project, HEIRLOOM_<SECTION>_<KEY>, --set."
)]
pub(crate) struct Args {
    /// Show only keys that begin with this
    key: Option<String>,
    /// Show the layer, and the file, variable or flag
    #[arg(long)]
    show_origin: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let config = match session.find_project() {
        Ok(found) => found.config,
        Err(fault) if fault.kind == heirloom_model::ErrorKind::NotFound => {
            session.config_without_project()?
        }
        Err(fault) => return Err(fault),
    };
    let wanted = args.key.unwrap_or_default();
    let chosen = KEYS.iter().filter(|key| key.name.starts_with(&wanted));
    let rows: Vec<_> = chosen
        .filter_map(|key| Some((key, config.get(key)?)))
        .collect();
    if rows.is_empty() {
        return Err(Fault::not_found(format!("no key begins with `{wanted}`"))
            .hint("`heirloom config` lists every key"));
    }
    if session.out.json {
        let list: Vec<_> = rows
            .iter()
            .map(|(key, (value, origin))| {
                json!({"key": key.name, "value": value, "origin": origin.layer.as_str(), "place": origin.place})
            })
            .collect();
        let warnings: Vec<_> = config
            .warnings
            .iter()
            .map(|w| json!({"place": w.place, "message": w.message}))
            .collect();
        session
            .out
            .value(&json!({"config": list, "warnings": warnings}));
        return Ok(0);
    }
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|(key, (value, origin))| {
            let mut row = vec![key.name.to_owned()];
            if args.show_origin {
                let from = match origin.layer {
                    Layer::Default => origin.layer.as_str().to_owned(),
                    Layer::User | Layer::Project | Layer::Environment | Layer::Flag => {
                        format!("{}: {}", origin.layer.as_str(), origin.place)
                    }
                };
                row.push(from);
            }
            // The last column may have several lines.
            row.push(value.to_string());
            row
        })
        .collect();
    session.out.wrapped_table(&lines);
    Ok(0)
}
