//! Tokens of a step or message.

use crate::json_fields::{Field, as_count, as_object};
use heirloom_model::event_stream::Usage;
use serde::Deserialize;

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    reasoning: Field<'a>,
    #[serde(borrow)]
    cache: Field<'a>,
}

#[derive(Deserialize)]
struct CacheTokens<'a> {
    #[serde(borrow)]
    read: Field<'a>,
    #[serde(borrow)]
    write: Field<'a>,
}

/// Parses token usage. opencode counts cached input and reasoning separately.
pub(super) fn parse_usage(tokens: Field<'_>) -> Option<Usage> {
    let tokens: Tokens<'_> = as_object(tokens)?;
    let cache = as_object::<CacheTokens<'_>>(tokens.cache);
    let (read, write) = cache.map_or((0, 0), |cache| {
        (as_count(cache.read), as_count(cache.write))
    });
    Some(Usage {
        input: as_count(tokens.input).saturating_add(write),
        cached: read,
        output: as_count(tokens.output).saturating_add(as_count(tokens.reasoning)),
    })
}
