//! Baseline: `pgbench` with the statements of one write, without Heirloom.
//!
//! The statements are prepared, as those of the servers, and sent one after the other.
#![expect(clippy::disallowed_methods, reason = "the script is thrown away")]

use super::load::{Load, Rate};
use std::fs;
use std::process::Command;

/// Statements of the write of one new record, as Heirloom sends them, in projects
/// that no server uses.
const SCRIPT: &str = r#"\set project random(1000001, 1000000 + :projects)
\set ordinal random(1000000000, 9000000000000000)
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT version FROM schema_state WHERE id = 1;
SELECT lane, texts, merged FROM index_totals WHERE project = :project ORDER BY lane FOR UPDATE;
SELECT found.* FROM unnest(ARRAY[gen_random_uuid()]) AS wanted (id) CROSS JOIN LATERAL (SELECT id, kind, key, text, attrs, plan, "group", session, task, agent, phase, iteration, source, confidence, tokens, recorded_at, true_from, true_to, retired_at, replaced_by, expires_at, ordinal, batch FROM records WHERE project = :project AND records.id = wanted.id LIMIT 1) AS found;
SELECT found.* FROM json_array_elements(json_build_array(json_build_array('knowledge', 'b' || :ordinal, 'fact'))) AS wanted (identity) CROSS JOIN LATERAL (SELECT id, kind, key, text, attrs, plan, "group", session, task, agent, phase, iteration, source, confidence, tokens, recorded_at, true_from, true_to, retired_at, replaced_by, expires_at, ordinal, batch FROM records WHERE project = :project AND kind = wanted.identity ->> 0 AND key = wanted.identity ->> 1 AND coalesce(category, '') = wanted.identity ->> 2 AND retired_at IS NULL LIMIT 1) AS found;
INSERT INTO ordinals (project, lane, ordinal, id) VALUES (:project, 0, :ordinal, gen_random_uuid());
INSERT INTO tail (project, lane, ordinal, terms, pieces, vector) VALUES (:project, 0, :ordinal, decode(repeat('ab', 84), 'hex'), decode(repeat('ab', 32), 'hex'), decode(repeat('ab', 260), 'hex'));
INSERT INTO records (project, id, kind, key, text, attrs, source, confidence, tokens, recorded_at, ordinal) VALUES (:project, gen_random_uuid(), 'knowledge', 'b' || :ordinal, 'number 1: the deploy of the service failed the night', '{"category":"fact"}', 'user', 1, 12, 1, :ordinal);
INSERT INTO index_totals VALUES (:project, 0, 0, 9, 9, 0, 0) ON CONFLICT (project, lane) DO UPDATE SET len = index_totals.len + excluded.len, head_len = index_totals.head_len + excluded.head_len RETURNING texts, merged;
INSERT INTO commits (project, token) VALUES (:project, gen_random_uuid());
COMMIT;
SELECT pg_notify('heirloom', 'project-' || :project);
"#;

/// Runs the baseline; its latency is the mean.
pub(super) fn measure(url: &str, load: &Load, seconds: u64) -> Result<Rate, String> {
    let script = std::env::temp_dir().join(format!("heirloom-fleet-{}.sql", std::process::id()));
    fs::write(&script, SCRIPT).map_err(|error| format!("{}: {error}", script.display()))?;
    let output = Command::new("pgbench")
        .args([
            "--no-vacuum",
            "--protocol",
            "prepared",
            "--client",
            &load.clients.to_string(),
            "--jobs",
            "2",
        ])
        .args(["--time", &seconds.to_string()])
        .args(["--define", &format!("projects={}", load.projects)])
        .arg("--file")
        .arg(&script)
        .arg(url)
        .output()
        .map_err(|error| format!("cannot start pgbench: {error}"));
    drop(fs::remove_file(&script));
    let output = output?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok())
    };
    match (number("tps = "), number("latency average = ")) {
        (Some(per_second), Some(latency)) => Ok(Rate {
            per_second,
            median: latency,
            p99: latency,
        }),
        _ => Err(format!(
            "pgbench: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
