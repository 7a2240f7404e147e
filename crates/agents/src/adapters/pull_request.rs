//! Pull request URLs in an agent's output.

/// Path segments between the repository and the number of a pull or merge request.
const REQUEST_PATHS: [&str; 4] = ["/pull/", "/-/merge_requests/", "/pulls/", "/pull-requests/"];

/// Returns the number of the last pull or merge request whose URL is in the text.
///
/// With `repository` (`host/owner/name`) only URLs with that host and repository name count, because agents also
/// mention pull requests of other projects. The owner may differ: requests of a fork are in the upstream repository.
/// A `repository` in any other form is ignored. Supports URLs of GitHub, GitLab, Gitea and Bitbucket.
pub fn find_pr(text: &str, repository: Option<&str>) -> Option<u64> {
    let expected = repository.and_then(host_and_name);
    let mut last = None;
    for (scheme, _) in text.match_indices("://") {
        let address = text[scheme + 3..]
            .split(|c: char| c.is_whitespace() || "<>\"'`)]}|\\".contains(c))
            .next()
            .unwrap_or_default();
        if let Some((place, number)) = parse_request_address(address)
            && (expected.is_none() || host_and_name(&place) == expected)
        {
            last = Some(number);
        }
    }
    last
}

/// Returns the host and the last part of `host/owner/name`, in lower case.
fn host_and_name(place: &str) -> Option<(String, String)> {
    let (host, rest) = place.split_once('/')?;
    let (owner, name) = rest.rsplit_once('/')?;
    let whole = !host.is_empty() && !owner.is_empty() && !name.is_empty();
    whole.then(|| (host.to_ascii_lowercase(), name.to_ascii_lowercase()))
}

/// Parses a URL without its scheme into repository (`host/owner/name`) and number.
fn parse_request_address(address: &str) -> Option<(String, u64)> {
    let (at, path) = REQUEST_PATHS
        .iter()
        .filter_map(|path| Some((address.find(path)?, path)))
        .min()?;
    let digits = address[at + path.len()..]
        .split(|c: char| !c.is_ascii_digit())
        .next()?;
    let number = digits.parse().ok().filter(|number| *number > 0)?;
    let (authority, rest) = address[..at].split_once('/')?;
    if !rest.contains('/') {
        return None;
    }
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host);
    (!host.is_empty()).then(|| (format!("{host}/{rest}"), number))
}
