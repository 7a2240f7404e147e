//! False alarms of redaction in texts without secrets.

use crate::{Outcome, results};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

pub(crate) fn measure(heirloom: Option<&Path>, data: Option<&Path>) -> Outcome<()> {
    let (Some(heirloom), Some(data)) = (heirloom, data) else {
        println!("alarms: skipped, no --heirloom BINARY or no --data FOLDER of published code");
        return Ok(());
    };
    let output = Command::new(heirloom)
        .args(["redact", "--json", "--check"])
        .arg(data)
        .output()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let listed = report["findings"].as_array().map_or(0, Vec::len) as u64;
    let found = listed + report["unlisted"].as_u64().unwrap_or(0);
    let megabytes = report["bytes"].as_f64().ok_or("no size")? / 1e6;
    let name = format!("redact, alarms in {megabytes:.0} MB of published code");
    results::value("alarms.rate", &name, "/MB", found as f64 / megabytes);
    Ok(())
}
