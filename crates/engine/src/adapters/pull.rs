//! Pull requests named by their addresses in an agent's output.

/// What stands between the repository and the number of a pull or merge request.
const PATHS: [&str; 4] = ["/pull/", "/-/merge_requests/", "/pulls/", "/pull-requests/"];

/// The number of the last pull request or merge request whose address is in the text.
///
/// With `repository` (`host/owner/name`) only addresses of that repository count: agents also talk
/// about other people's pull requests. GitHub, GitLab, Gitea and Bitbucket addresses are known.
pub fn find_pr(text: &str, repository: Option<&str>) -> Option<u64> {
    let mut last = None;
    for (scheme, _) in text.match_indices("://") {
        let address = text[scheme + 3..]
            .split(|c: char| c.is_whitespace() || "<>\"'`)]}|\\".contains(c))
            .next()
            .unwrap_or_default();
        if let Some((place, number)) = read_address(address)
            && repository.is_none_or(|wanted| place.eq_ignore_ascii_case(wanted))
        {
            last = Some(number);
        }
    }
    last
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
