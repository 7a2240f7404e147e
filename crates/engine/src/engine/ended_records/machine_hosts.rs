//! Hosts in a text that are reached from one machine or its network: private addresses and names, and targets of `ssh`.

/// Last labels of names in a private network.
const PRIVATE_SUFFIXES: [&str; 9] = [
    ".internal",
    ".intranet",
    ".corp",
    ".lan",
    ".localdomain",
    ".home.arpa",
    ".private",
    ".ts.net",
    ".local",
];
/// Labels of private zones below a public one, as in `db3.internal.example`.
const PRIVATE_LABELS: [&str; 5] = ["internal", "intranet", "corp", "lan", "intra"];
/// Last labels after such a label. Other dotted words are paths of modules, such as `app.internal.models`.
const TOP_LABELS: [&str; 24] = [
    "example", "test", "com", "net", "org", "io", "dev", "cloud", "app", "de", "fr", "es", "it",
    "nl", "eu", "uk", "us", "ch", "at", "jp", "cn", "br", "co", "tech",
];
/// Names that are the same on every machine: of containers, clusters and cloud services.
const NAMES_ANYWHERE: [&str; 6] = [
    "host.docker.internal",
    "gateway.docker.internal",
    "metadata.google.internal",
    "kubernetes.docker.internal",
    ".cluster.local",
    "host.containers.internal",
];
/// Domains of public services to which one also connects by `ssh`.
const PUBLIC_SERVICES: [&str; 10] = [
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "sr.ht",
    "dev.azure.com",
    "sourceforge.net",
    "huggingface.co",
    "amazonaws.com",
    "googlesource.com",
];
/// Programs whose arguments name a host, as in `ssh build@host`.
const REMOTE_PROGRAMS: [&str; 6] = ["ssh", "scp", "sftp", "rsync", "mosh", "ssh-copy-id"];
/// Words of examples in place of an account.
const PLACEHOLDERS: [&str; 6] = ["user", "username", "you", "me", "git", "name"];
/// Words from such a program to the host.
const NEAR_MAX: usize = 8;

/// Returns true if a text names a host that other machines need not reach.
pub(super) fn names_private_host(text: &str) -> bool {
    let is_gap = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')');
    let words: Vec<&str> = text
        .split(is_gap)
        .map(|word| {
            let word = word.trim_start_matches(|c: char| !(c.is_alphanumeric() || c == '.'));
            word.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '/'))
        })
        .filter(|word| !word.is_empty())
        .collect();
    words.iter().any(|word| is_private(word)) || names_remote_target(&words)
}

fn is_private(word: &str) -> bool {
    let (host, has_port) = host_of(word);
    is_private_address(host, word) || is_private_name(host, has_port || word.contains("://"))
}

/// Returns the host in a word, without protocol, account, port and path, and true if it has a port.
fn host_of(word: &str) -> (&str, bool) {
    let rest = word.split_once("://").map_or(word, |(_, rest)| rest);
    let rest = rest
        .split(['/', '?', '#', '\'', '"', '`'])
        .next()
        .unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let (host, port) = rest.split_once(':').unwrap_or((rest, ""));
    let has_port = port
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit());
    (host.trim_end_matches('.'), has_port)
}

/// Returns true for an address of a private network, and not for a whole network such as `10.0.0.0/8`.
fn is_private_address(host: &str, word: &str) -> bool {
    let is_network = word.split_once(host).is_some_and(|(_, after)| {
        let mut after = after.chars();
        after.next() == Some('/') && after.next().is_some_and(|c| c.is_ascii_digit())
    });
    let Ok(address) = host.parse::<std::net::Ipv4Addr>() else {
        return false;
    };
    (address.is_private() || address.is_link_local()) && !is_network
}

fn is_private_name(host: &str, is_address: bool) -> bool {
    let lower = host.to_lowercase();
    let is_name = lower
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    let labels: Vec<&str> = lower.split('.').collect();
    if !is_name || labels.len() < 2 || labels.iter().any(|label| label.is_empty()) {
        return false;
    }
    if NAMES_ANYWHERE.iter().any(|name| lower.ends_with(name)) {
        return false;
    }
    // `settings.local` and `app.internal` are also files and modules.
    let first = labels.first().copied().unwrap_or_default();
    let is_numbered = first
        .bytes()
        .any(|byte| byte.is_ascii_digit() || byte == b'-');
    let has_suffix = PRIVATE_SUFFIXES
        .iter()
        .any(|suffix| lower.ends_with(suffix));
    let is_below = labels.len() > 2
        && labels.last().is_some_and(|last| TOP_LABELS.contains(last))
        && labels
            .iter()
            .rev()
            .skip(1)
            .any(|label| PRIVATE_LABELS.contains(label));
    is_below || has_suffix && (is_address || is_numbered || labels.len() > 2)
}

/// Returns true if a command names the account and host, as in `ssh build@host` or `scp a.tar deploy@web1:/srv`.
fn names_remote_target(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        REMOTE_PROGRAMS.contains(word)
            && words
                .iter()
                .skip(at + 1)
                .take(NEAR_MAX)
                .any(|word| is_target(word))
    })
}

fn is_target(word: &str) -> bool {
    let word = word.strip_prefix("ssh://").unwrap_or(word);
    let Some((account, rest)) = word.split_once('@') else {
        return false;
    };
    let host = rest
        .split([':', '/'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
    };
    let is_public = PUBLIC_SERVICES
        .iter()
        .any(|service| host == *service || host.ends_with(&format!(".{service}")));
    let is_own = host == "localhost" || host.starts_with("127.");
    is_name(account) && is_name(&host) && !PLACEHOLDERS.contains(&account) && !is_public && !is_own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_hosts_are_found() {
        for text in [
            "The staging database is db3.internal.example.",
            "The staging database is `db3.internal.example:5432`.",
            "The printer has the address 192.168.1.7.",
            "The registry is http://10.1.2.3:5000/v2.",
            "Deploy with `ssh build@host`.",
            "Copy it with scp -r dist deploy@web1:/srv/www.",
            "Run `rsync -av out/ ci@203.0.113.9:/data`",
            "Logs are on https://grafana.corp.example.com/d/1",
            "The NAS is nas-2.local.",
            "Metrics: http://metrics.lan:9090",
            "The queue runs on mq1.prod.internal",
            "Use postgres://app@172.20.0.4/shop for the tests.",
        ] {
            assert!(names_private_host(text), "{text}");
        }
    }

    #[test]
    fn public_and_local_hosts_are_the_same_on_every_machine() {
        for text in [
            "The server listens on localhost:8080.",
            "The server listens on 127.0.0.1:8080 and 0.0.0.0.",
            "The code is on github.com.",
            "Clone it with git@github.com:acme/shop.git.",
            "Push by ssh to git@gitlab.com:acme/shop.git",
            "Packages come from https://pypi.org/simple.",
            "See https://docs.rs/tokio/latest.",
            "Mail goes to ann@example.com.",
            "From the container the host is host.docker.internal.",
            "The service is api.default.svc.cluster.local.",
            "The API is at http://api:3000 in the compose network.",
            "Import it from app.internal.models.",
            "Packages in pkg/internal/store are private.",
            "Put secrets into .env.local or settings.local.json.",
            "The version is 10.0.1.",
            "The firewall allows 10.0.0.0/8.",
            "Connect with ssh user@host.",
            "ssh keys are in the vault.",
            "Use @internal for such functions.",
            "",
        ] {
            assert!(!names_private_host(text), "{text}");
        }
    }
}
