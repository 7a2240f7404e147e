//! Baseline: `pgbench` with the statements of one write, without Heirloom.
#![expect(clippy::disallowed_methods, reason = "the script is thrown away")]

use super::load::Load;
use std::fs;
use std::process::Command;

/// Statements of the write of one new record. The project is one of those that the load has filled.
const SCRIPT: &str = r#"\set project random(1, :projects)
\set ordinal random(1000000000, 9000000000000000)
BEGIN;
SELECT version FROM schema_state WHERE id = 1;
SELECT texts, merged FROM index_totals WHERE project = :project FOR UPDATE;
INSERT INTO ordinals (project, ordinal, id, is_turn) VALUES (:project, :ordinal, gen_random_uuid(), 0);
INSERT INTO tail (project, ordinal, terms, pieces, vector) VALUES (:project, :ordinal, decode(repeat('ab', 84), 'hex'), decode(repeat('ab', 32), 'hex'), decode(repeat('ab', 260), 'hex'));
INSERT INTO records (project, id, kind, key, text, attrs, source, confidence, tokens, recorded_at, ordinal) VALUES (:project, gen_random_uuid(), 'knowledge', 'b' || :ordinal, 'number 1: the deploy of the service failed the night', '{"category":"fact"}', 'user', 1, 12, 1, :ordinal);
UPDATE index_totals SET len = len + 1 WHERE project = :project;
COMMIT;
"#;

/// Runs the baseline and returns its rate, as text.
pub(super) fn measure(url: &str, load: &Load) -> Result<String, String> {
    let script = std::env::temp_dir().join(format!("heirloom-fleet-{}.sql", std::process::id()));
    fs::write(&script, SCRIPT).map_err(|error| format!("{}: {error}", script.display()))?;
    let output = Command::new("pgbench")
        .args([
            "--no-vacuum",
            "--client",
            &load.clients.to_string(),
            "--jobs",
            "2",
        ])
        .args(["--time", &load.seconds.to_string()])
        .args(["--define", &format!("projects={}", load.projects)])
        .arg("--file")
        .arg(&script)
        .arg(url)
        .output()
        .map_err(|error| format!("cannot start pgbench: {error}"));
    drop(fs::remove_file(&script));
    let output = output?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |name: &str| text.lines().find(|line| line.starts_with(name));
    match (line("tps = "), line("latency average = ")) {
        (Some(rate), Some(latency)) => Ok(format!("{rate}, {latency}")),
        _ => Err(format!(
            "pgbench: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
