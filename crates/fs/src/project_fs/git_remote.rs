//! Normalisation of the addresses of git remotes to one name.

/// Returns `host/owner/name` of the URL of a remote; `None` if it has no host (a path, a file).
///
/// Scheme, user, password, port, `.git` and trailing slashes are removed and the host is in lower case, so that all
/// addresses of a repository give one name without secrets.
pub fn normalise_remote(url: &str) -> Option<String> {
    let url = url.trim();
    let (authority, path) = match url.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => return None,
        Some((_, rest)) => rest.split_once('/')?,
        None => split_scp(url)?,
    };
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = without_port(host)
        .trim_end_matches('.')
        .to_ascii_lowercase();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let strange = |c: char| c.is_whitespace() || c.is_control();
    let fits = !host.is_empty() && !parts.is_empty() && !url.contains(strange);
    fits.then(|| format!("{host}/{}", parts.join("/")))
}

/// Splits `user@host:path`; a slash before the colon makes it a local path.
fn split_scp(url: &str) -> Option<(&str, &str)> {
    let after_brackets = url.find(']').unwrap_or(0);
    let colon = after_brackets + url[after_brackets..].find(':')?;
    let (authority, path) = (&url[..colon], &url[colon + 1..]);
    // A single letter is a drive of Windows; `a::b` names a helper program.
    let is_host = !authority.contains('/') && authority.len() > 1 && !path.starts_with(':');
    is_host.then_some((authority, path))
}

/// Removes the port of a host; an IPv6 address keeps its brackets.
fn without_port(host: &str) -> &str {
    match host.find(']') {
        Some(end) => &host[..=end],
        None => host.split(':').next().unwrap_or(host),
    }
}

#[cfg(test)]
mod tests {
    use super::normalise_remote;

    #[test]
    fn normalise_remote_of_all_address_forms_is_equal() {
        for url in [
            "https://github.com/Owner/name",
            "https://github.com/Owner/name.git",
            "https://GitHub.com/Owner/name.git/",
            "https://user:secret@github.com:443/Owner/name.git",
            "https://token@github.com//Owner/name/",
            "http://github.com/Owner/name.git",
            "git://github.com/Owner/name.git",
            "ssh://git@github.com/Owner/name.git",
            "ssh://git@github.com:22/Owner/name.git",
            "git+ssh://git@github.com/Owner/name",
            "git@github.com:Owner/name.git",
            "git@github.com:/Owner/name.git",
            "github.com:Owner/name",
            "  git@github.com.:Owner/name.git\n",
        ] {
            let name = normalise_remote(url);
            assert_eq!(name.as_deref(), Some("github.com/Owner/name"), "{url}");
        }
    }

    #[test]
    fn normalise_remote_of_other_addresses() {
        let check = |url, expected: Option<&str>| {
            assert_eq!(normalise_remote(url).as_deref(), expected, "{url}");
        };
        check("https://gitlab.com/a/b/c.git", Some("gitlab.com/a/b/c"));
        check("ssh://git@[::1]:2222/a/b.git", Some("[::1]/a/b"));
        check("git@[::1]:a/b.git", Some("[::1]/a/b"));
        check("ssh://host/~user/repo", Some("host/~user/repo"));
        check("https://h/a/b?x=secret#y", Some("h/a/b"));
        check("/srv/git/name.git", None);
        check("../name", None);
        check("./a:b", None);
        check("file:///srv/git/name.git", None);
        check("C:\\repos\\name", None);
        check("ext::sh -c x", None);
        check("https://", None);
        check("https://host", None);
        check("https:///a/b", None);
        check("git@host:", None);
        check("https://host/a\u{1b}[31m/b", None);
        check("", None);
    }
}
