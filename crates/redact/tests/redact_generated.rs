//! Tests that samples of every rule are redacted in every surrounding, and ordinary code is not.
//!
//! The samples are generated from the table of formats and from names, so that this file contains none for a scanner
//! to find.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/secret_samples.rs"]
mod secret_samples;

use heirloom_redact::Redactor;
use secret_samples::Random;
use std::path::{Path, PathBuf};

/// Number of samples of each rule.
const SAMPLES: u64 = 4;
/// Percentage of the samples that must be found in each surrounding.
const FOUND_MIN: f64 = 99.0;

/// A secret, and its name in surroundings with names.
struct Sample {
    rule: String,
    name: String,
    secret: String,
    /// True if it is found without its name.
    has_form: bool,
}

/// Generates samples of every row of the table.
fn formats() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (number, rule) in heirloom_redact::formats().enumerate() {
        for seed in 1..=SAMPLES {
            let mut random = Random::new(seed * 1_000 + number as u64);
            samples.push(Sample {
                rule: format!("{} {}", rule.kind, rule.expression),
                // A name that does not suggest a secret.
                name: "value".to_owned(),
                secret: random.sample(rule.before) + &random.sample(rule.expression),
                has_form: true,
            });
        }
    }
    samples
}

/// Names of secrets without a format, and the expressions of their values.
const NAMED: &[(&str, &str)] = &[
    ("api_token", "[A-Za-z0-9]{32}"),
    ("access_token", "[A-Za-z0-9_-]{43}"),
    ("auth_token", "[a-f0-9]{40}"),
    ("finnhub_token", "[a-z0-9]{20}"),
    ("kucoin_token", "[a-f0-9]{24}"),
    ("discord_token", "[0-9]{18}"),
    ("asana_token", "[0-9]{16}"),
    ("linkedin_token", "[A-Za-z0-9]{16}"),
    ("bundle_gems__contribsys__com", "[a-f0-9]{8}:[a-f0-9]{8}"),
    ("api_key", "[A-Za-z0-9]{39}"),
    ("mailgun_key", "[a-f0-9]{32}"),
    (
        "heroku_key",
        "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
    ),
    ("secret_access_key", "[A-Za-z0-9/+]{40}"),
    ("client_secret", "[A-Za-z0-9_-]{32}"),
    ("jwt_secret", "[a-z]{6}[0-9]{2}[a-z]{6}[A-Z]{2}"),
    ("db_password", "[a-z]{6}[0-9]{3}[A-Z]{4}"),
    ("passwd", "[a-zA-Z]{5}[0-9]{3}[!]{1}[a-z]{3}"),
    ("root_pw", "[a-z]{7}[0-9]{3}"),
    ("passphrase", "[a-z]{4}[0-9]{2}[A-Z]{3}[a-z]{5}"),
];

fn named() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (number, (name, expression)) in NAMED.iter().enumerate() {
        for seed in 1..=8 * SAMPLES {
            let mut random = Random::new(seed * 7_000 + number as u64);
            samples.push(Sample {
                rule: (*name).to_owned(),
                name: (*name).to_owned(),
                secret: random.sample(expression),
                has_form: false,
            });
        }
    }
    samples
}

/// Writes a sample into its surrounding.
type Surrounding = fn(&Sample) -> String;

/// The surroundings, by name.
const SURROUNDINGS: &[(&str, Surrounding)] = &[
    ("bare", |sample| match sample.has_form {
        true => sample.secret.clone(),
        false => format!("{}: {}", sample.name, sample.secret),
    }),
    ("env", |sample| {
        format!(
            "A=1\n{}={}\nB=2\n",
            sample.name.to_uppercase(),
            sample.secret
        )
    }),
    ("JSON in JSON", |sample| {
        let inner = serde_json::json!({&sample.name: sample.secret, "n": 1}).to_string();
        let middle = serde_json::json!({"body": inner, "more": ["x"]}).to_string();
        serde_json::json!({"content": format!("a line\n{middle}")}).to_string()
    }),
    ("YAML", |sample| {
        format!(
            "app:\n  {}: \"{}\"\n  debug: true\n",
            sample.name, sample.secret
        )
    }),
    ("YAML block", |sample| {
        format!(
            "app:\n  {}: |\n    {}\n  debug: true\n",
            sample.name, sample.secret
        )
    }),
    ("XML", |sample| {
        format!(
            "<app>\n  <{0}>\n    {1}\n  </{0}>\n</app>",
            sample.name, sample.secret
        )
    }),
    ("XML attribute", |sample| {
        format!(
            "<add key=\"{}\" value=\"{}\" />",
            sample.name, sample.secret
        )
    }),
    ("Rust", |sample| {
        format!(
            "const {}: &str = \"{}\";\n",
            sample.name.to_uppercase(),
            sample.secret
        )
    }),
    ("Go", |sample| {
        format!("var {} string = \"{}\"\n", sample.name, sample.secret)
    }),
    ("Python", |sample| {
        format!("{} = '{}'\n", sample.name, sample.secret)
    }),
    ("JavaScript", |sample| {
        format!(
            "const c = {{ {}: '{}', n: 1 }};\n",
            sample.name, sample.secret
        )
    }),
    ("PHP", |sample| {
        format!("${} .= \"{}\";\n", sample.name, sample.secret)
    }),
    ("Java", |sample| {
        let name = sample.name.to_uppercase();
        format!("System.setProperty(\"{name}\", \"{}\");\n", sample.secret)
    }),
    ("log with colour", |sample| {
        format!(
            "12:00:01 \x1b[32mINFO\x1b[0m \x1b[1m{}\x1b[0m=\x1b[31m{}\x1b[0m done\n",
            sample.name, sample.secret
        )
    }),
    ("URL", |sample| {
        let secret: String = sample.secret.bytes().map(percent).collect();
        format!(
            "GET https://example.org/a?x=%20&{}={secret}&y=1\n",
            sample.name
        )
    }),
    ("curl", |sample| {
        format!(
            "curl -s -H \"X-{}: {}\" \\\n  https://example.org/a\n",
            sample.name.replace('_', "-"),
            sample.secret
        )
    }),
];

/// Returns the percent-encoding of a byte.
fn percent(byte: u8) -> String {
    match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    }
}

/// Returns true if a large part of the secret remains in a text.
fn is_left(clean: &str, secret: &str) -> bool {
    let secret: Vec<char> = secret.chars().collect();
    let part: String = secret[secret.len() / 3..].iter().collect();
    let encoded: String = part.bytes().map(percent).collect();
    clean.contains(&part) || clean.contains(&encoded)
}

/// Checks that at least [`FOUND_MIN`] percent are found in each surrounding; prints the others.
fn check(samples: &[Sample]) {
    let redactor = Redactor::default();
    let mut bad = Vec::new();
    for (surrounding, write) in SURROUNDINGS {
        let mut missed = Vec::new();
        for sample in samples {
            let text = write(sample);
            let clean = redactor.redact(&text);
            if is_left(&clean, &sample.secret) {
                missed.push(format!("{}: {clean:?}", sample.rule));
            }
            assert!(
                redactor.is_clean(&clean),
                "{surrounding}: {text:?} left {clean:?}"
            );
            if surrounding.starts_with("JSON") {
                serde_json::from_str::<serde_json::Value>(&clean).unwrap();
            }
        }
        let found = 100.0 - 100.0 * missed.len() as f64 / samples.len() as f64;
        if found < FOUND_MIN {
            missed.truncate(12);
            bad.push(format!(
                "{surrounding}: {found:.2} %\n  {}",
                missed.join("\n  ")
            ));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn redact_every_format_in_every_surrounding() {
    let samples = formats();
    assert!(samples.len() > 800, "{}", samples.len());
    check(&samples);
}

#[test]
fn redact_named_secrets_in_every_surrounding() {
    check(&named());
}

/// Returns the repository's own files, without those that contain test secrets.
fn ordinary_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = ["crates", "docs", "bench", "xtask"]
        .map(|name| root.join(name))
        .to_vec();
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        let own = path.strip_prefix(&root).unwrap_or(&path);
        let shown = own.to_string_lossy();
        // Tests contain secrets that look real.
        if shown.contains("redact") || path.ends_with("tests") {
            continue;
        }
        if path.is_dir() {
            open.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if [".rs", ".md", ".toml", ".js", ".css", ".html"]
            .iter()
            .any(|end| shown.ends_with(end))
        {
            files.push(path);
        }
    }
    files
}

#[test]
fn redact_ordinary_code_false_alarms_are_rare() {
    let redactor = Redactor::default();
    let mut bytes = 0;
    let mut found = Vec::new();
    for path in ordinary_files() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        bytes += text.len();
        for one in redactor.find(&text) {
            found.push(format!(
                "{}: {} {:?}",
                path.display(),
                one.kind,
                &text[one.start..one.end]
            ));
        }
    }
    assert!(bytes > 2_000_000, "{bytes} bytes");
    let rate = found.len() as f64 * 1e6 / bytes as f64;
    assert!(
        rate <= 1.0,
        "{rate:.2} in a megabyte of {bytes}:\n{}",
        found.join("\n")
    );
}
