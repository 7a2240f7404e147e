//! Operations of the HTTP API that the client calls.

/// RequestEffect of an operation, which decides about its idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestEffect {
    /// It reads. A `POST` that only reads has no key: its stored answer would displace others.
    Read,
    /// It writes, and has an idempotency key.
    Write,
}

/// Operation of the HTTP API.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    /// Path with placeholders: `/api/records/{id}`.
    pub(crate) path: &'static str,
    pub(crate) effect: RequestEffect,
}

macro_rules! operations {
    ($($name:ident: $method:literal $path:literal $effect:ident,)*) => {
        $(
            pub(crate) const $name: Operation = Operation {
                method: $method,
                path: $path,
                effect: RequestEffect::$effect,
            };
        )*

        /// All operations, for the comparison with the API description.
        #[cfg(test)]
        pub(crate) const ALL: &[Operation] = &[$($name),*];
    };
}

operations! {
    ADD_KNOWLEDGE: "POST" "/api/memory/knowledge" Write,
    RECALL: "POST" "/api/recall" Read,
    BUILD_CONTEXT: "POST" "/api/context" Read,
    GET_RECORD: "GET" "/api/records/{id}" Read,
    LIST_RECORDS: "GET" "/api/records" Read,
    RETIRE_RECORD: "DELETE" "/api/records/{id}" Write,
    MARK_RECORD: "POST" "/api/records/{id}/mark" Write,
    UNDO_CHANGE: "POST" "/api/undo/{id}" Write,
    GET_RECORD_HISTORY: "GET" "/api/history/{id}" Read,
    LIST_CHANGES: "GET" "/api/history" Read,
    LIST_CONFLICTS: "GET" "/api/conflicts" Read,
    RESOLVE_CONFLICT: "POST" "/api/conflicts/{id}/resolve" Write,
    LIST_SIMILAR_ATTEMPTS: "GET" "/api/tried" Read,
    LOG_EPISODE: "POST" "/api/memory/episodes" Write,
    LOG_ERROR: "POST" "/api/errors" Write,
    RESOLVE_ERROR: "POST" "/api/errors/{id}/resolve" Write,
    SET_TASK: "PUT" "/api/tasks/{id}" Write,
    GET_TASK: "GET" "/api/tasks/{id}" Read,
    LIST_TASKS: "GET" "/api/tasks" Read,
    RECORD_STEP: "POST" "/api/tasks/{id}/steps" Write,
    END_TASK: "POST" "/api/tasks/{id}/end" Write,
    ADD_MESSAGE: "POST" "/api/sessions/{id}/messages" Write,
    LIST_MESSAGES: "GET" "/api/sessions/{id}/messages" Read,
    SEARCH_MESSAGES: "GET" "/api/messages" Read,
    GET_SESSION_SUMMARY: "GET" "/api/sessions/{id}/summary" Read,
    COMPACT_CONVERSATION: "POST" "/api/compact" Write,
    EXPAND_CONTENT: "GET" "/api/expand/{id}" Read,
    ADD_NOTE: "POST" "/api/notes" Write,
    LIST_NOTES: "GET" "/api/notes" Read,
    GET_WORKSPACE: "GET" "/api/workspace" Read,
    ADD_WORKSPACE_ENTRY: "POST" "/api/workspace" Write,
    CALL_MEMORY_TOOL: "POST" "/api/memory/tool" Write,
    GET_STATUS: "GET" "/api/status" Read,
    FOLLOW_EVENTS: "GET" "/api/events" Read,
}

/// Fills the placeholder of a path with an id, as one segment of the path.
///
/// Returns `None` for an id that no path can have.
pub(crate) fn fill_path(path: &str, id: &str) -> Option<String> {
    if matches!(id, "" | "." | "..") {
        return None;
    }
    Some(path.replace("{id}", &encode(id)))
}

/// Appends parameters to a path.
pub(crate) fn append_query(path: &mut String, query: &[(&str, String)]) {
    for (name, value) in query {
        path.push(if path.contains('?') { '&' } else { '?' });
        path.push_str(name);
        path.push('=');
        path.push_str(&encode(value));
    }
}

/// Percent-encodes everything but the unreserved characters of RFC 3986.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_one_segment_of_the_path() {
        let path = fill_path("/api/tasks/{id}/end", "a/b ?é#").unwrap();
        assert_eq!(path, "/api/tasks/a%2Fb%20%3F%C3%A9%23/end");
        for id in ["", ".", ".."] {
            assert_eq!(fill_path("/api/tasks/{id}", id), None);
        }
    }

    #[test]
    fn parameters_are_encoded_and_joined() {
        let mut path = "/api/records".to_owned();
        append_query(&mut path, &[("kind", "a&b=c".to_owned())]);
        append_query(&mut path, &[("limit", "1".to_owned())]);
        assert_eq!(path, "/api/records?kind=a%26b%3Dc&limit=1");
    }
}
