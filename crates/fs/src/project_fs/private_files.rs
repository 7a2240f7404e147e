//! Private files: names of files with keys or passwords, and internal files of git and of Heirloom. Contexts never
//! include them.

/// Private folders, at any level.
const FOLDERS: [&str; 8] = [
    ".git",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
];
/// Private file names.
const FILES: [&str; 14] = [
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".dockercfg",
    ".git-credentials",
    ".vault-token",
    ".terraformrc",
    ".env",
    ".envrc",
    "kubeconfig",
];
/// Prefixes of private names.
const BEGINNINGS: [&str; 5] = [".env.", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
/// Private extensions.
const ENDINGS: [&str; 15] = [
    "pem", "key", "p12", "pfx", "p8", "ppk", "keystore", "jks", "kdbx", "kdb", "keychain",
    "agekey", "env", "tfvars", "tfstate",
];
/// Names of files with secrets, unless the extension is that of a program or a text.
const SUBJECTS: [&str; 4] = ["credentials", "credential", "secrets", "secret"];
/// Extensions of data files, for which [`SUBJECTS`] applies.
const DATA: [&str; 16] = [
    "json",
    "yaml",
    "yml",
    "toml",
    "ini",
    "cfg",
    "conf",
    "csv",
    "txt",
    "xml",
    "properties",
    "enc",
    "db",
    "bak",
    "old",
    "gpg",
];
/// Extensions of samples, which contain no secrets.
const SAMPLES: [&str; 5] = ["example", "sample", "template", "dist", "defaults"];
/// Folders in `.heirloom` with Markdown and TOML files that may be read.
const READABLE: [&str; 4] = ["workspace", "shared", "groups", "commands"];

/// Returns the reason for which a file of a project is private; `None` for every other file.
///
/// The path has `/` and no links. Case is ignored, as on some file systems.
pub fn private_reason(path: &str) -> Option<&'static str> {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (name, folders) = parts.split_last()?;
    if parts.contains(&super::HEIRLOOM_FOLDER) || parts.contains(&".git") {
        return reserved_reason(&path);
    }
    if folders.iter().any(|folder| FOLDERS.contains(folder)) || is_secret(name) {
        return Some("files of this name hold keys or passwords");
    }
    None
}

/// Returns the reason for which a file is no result of work: git and Heirloom keep it for themselves; `None` for every
/// other file. The path is that of [`private_reason`].
pub fn reserved_reason(path: &str) -> Option<&'static str> {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if parts.contains(&".git") {
        return Some("it belongs to git");
    }
    if let Some(at) = parts
        .iter()
        .position(|part| *part == super::HEIRLOOM_FOLDER)
    {
        let below = &parts[at + 1..];
        return (!is_readable(below)).then_some("it is a file of Heirloom's own");
    }
    None
}

/// Returns true if a file below `.heirloom` is meant for people and agents.
fn is_readable(below: &[&str]) -> bool {
    let (Some(first), Some(name)) = (below.first(), below.last()) else {
        return false;
    };
    let is_hidden = |part: &&str| part.starts_with('.') && **part != *".learnings";
    let is_text = name.ends_with(".md") || name.ends_with(".toml");
    READABLE.contains(first) && below.len() > 1 && is_text && !below.iter().any(is_hidden)
}

fn is_secret(name: &str) -> bool {
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) => (stem, ending),
        None => (name, ""),
    };
    if SAMPLES.contains(&ending) {
        return false;
    }
    // `.env.example.local` is a filled-in copy of the sample.
    let begins = BEGINNINGS.iter().any(|begin| name.starts_with(begin));
    let subject = SUBJECTS.iter().find_map(|subject| {
        let rest = stem.trim_start_matches('.').strip_prefix(subject)?;
        Some(rest.is_empty() || rest.starts_with(['.', '-', '_']))
    });
    let is_subject = subject == Some(true) && (ending.is_empty() || DATA.contains(&ending));
    FILES.contains(&name) || begins || (ENDINGS.contains(&ending)) || is_subject
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_reason_of_private_names_is_some() {
        for path in [
            ".git/config",
            "vendor/lib/.git/HEAD",
            ".git",
            ".GIT/config",
            ".heirloom/tokens.json",
            ".heirloom/heirloom.db",
            ".heirloom/heirloom.db-wal",
            ".heirloom/memory.json",
            ".heirloom/config.toml",
            ".heirloom/workspace/.trash/SOUL.md-1",
            ".heirloom/workspace/.history/x.md",
            ".heirloom/overflow/x.md",
            "sub/.Heirloom/Tokens.json",
            ".env",
            ".env.local",
            ".ENV.production",
            "prod.env",
            ".envrc",
            "deploy/server.pem",
            "Server.KEY",
            "id_rsa",
            "id_rsa.pub",
            "keys/id_ed25519",
            ".netrc",
            ".npmrc",
            ".pypirc",
            "credentials",
            "credentials.json",
            "credentials-prod.json",
            ".credentials.json",
            "secrets.yaml",
            "secrets.toml",
            "secret.txt",
            "a.p12",
            "a.pfx",
            "a.keystore",
            ".aws/credentials",
            ".aws/config",
            "home/.ssh/config",
            "vault.kdbx",
            ".docker/config.json",
        ] {
            assert!(private_reason(path).is_some(), "{path}");
        }
    }

    #[test]
    fn private_reason_of_other_files_is_none() {
        for path in [
            "README.md",
            "src/main.rs",
            ".env.example",
            ".env.sample",
            ".gitignore",
            ".github/workflows/ci.yml",
            "src/credentials.rs",
            "docs/secrets.md",
            "src/secrets.py",
            "secretary.txt",
            "src/key.rs",
            "keys.md",
            "environment.md",
            "src/env.rs",
            ".heirloom/workspace/SOUL.md",
            ".heirloom/workspace/.learnings/LEARNINGS.md",
            ".heirloom/shared/fact.md",
            ".heirloom/groups/main/MEMORY.md",
            ".heirloom/commands/review.toml",
            "git/config",
        ] {
            assert_eq!(private_reason(path), None, "{path}");
        }
    }
}
