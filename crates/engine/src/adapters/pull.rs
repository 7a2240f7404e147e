//! Pull requests named by their addresses in an agent's output.

/// What stands between the repository and the number of a pull or merge request.
const PATHS: [&str; 4] = ["/pull/", "/-/merge_requests/", "/pulls/", "/pull-requests/"];

/// The number of the last pull request or merge request whose address is in the text.
///
/// With `repository` (`host/owner/name`) only addresses on that host of a repository of that name
/// count: agents also talk about other people's pull requests. The owner may differ, since a fork's
/// requests are at the repository that it came from. A `repository` of another form, such as a name
/// that somebody gave the project, says nothing about addresses and is ignored. GitHub, GitLab, Gitea
/// and Bitbucket addresses are known.
pub fn find_pr(text: &str, repository: Option<&str>) -> Option<u64> {
    let wanted = repository.and_then(host_and_name);
    let mut last = None;
    for (scheme, _) in text.match_indices("://") {
        let address = text[scheme + 3..]
            .split(|c: char| c.is_whitespace() || "<>\"'`)]}|\\".contains(c))
            .next()
            .unwrap_or_default();
        if let Some((place, number)) = read_address(address)
            && (wanted.is_none() || host_and_name(&place) == wanted)
        {
            last = Some(number);
        }
    }
    last
}

/// The host and the last part of `host/owner/name`, case folded.
fn host_and_name(place: &str) -> Option<(String, String)> {
    let (host, rest) = place.split_once('/')?;
    let (owner, name) = rest.rsplit_once('/')?;
    let whole = !host.is_empty() && !owner.is_empty() && !name.is_empty();
    whole.then(|| (host.to_ascii_lowercase(), name.to_ascii_lowercase()))
}

/// The repository (`host/owner/name`) and number in an address without its scheme.
fn read_address(address: &str) -> Option<(String, u64)> {
    let (at, path) = PATHS
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
