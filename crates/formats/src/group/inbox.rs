//! Parser of requests in inbox files.

use serde_json::{Map, Value};

/// Request to add a note. Names and texts are not validated yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxRequest {
    /// Group.
    pub group: Option<String>,
    /// Text of the note.
    pub content: String,
    /// Section.
    pub section: Option<String>,
    /// Author of the note.
    pub agent: Option<String>,
}

/// The only type of request.
const UPDATE_MEMORY: &str = "update_memory";
/// Names of this type in other hosts.
const ALIASES: [&str; 3] = [
    "UpdateMemory",
    "updateMemory",
    "IpcMessageType.UpdateMemory",
];

/// Parses a file of the inbox: our own format, or that of the host, whose payload is JSON in a string.
///
/// Errors: a sentence with the problem.
pub fn parse_request(bytes: &[u8]) -> Result<InboxRequest, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err("it is empty".to_owned());
    }
    let value: Value =
        serde_json::from_slice(bytes).map_err(|bad| format!("it is not JSON: {bad}"))?;
    let Value::Object(map) = value else {
        return Err("it is not a JSON object".to_owned());
    };
    let sort = text_field(&map, &["type", "Type"])?.ok_or("it has no `type`")?;
    if sort != UPDATE_MEMORY && !ALIASES.contains(&sort.as_str()) {
        let sort = heirloom_model::text::excerpt(&sort, 60);
        return Err(format!(
            "its type `{sort}` is unknown; the only type is: {UPDATE_MEMORY}"
        ));
    }
    let group = text_field(&map, &["group", "group_name", "GroupName", "groupName"])?;
    let payload = match ["payload", "Payload"]
        .iter()
        .find_map(|name| map.get(*name))
    {
        Some(Value::Object(payload)) => payload.clone(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(payload)) => payload,
            Ok(_) => return Err("its payload is not a JSON object".to_owned()),
            Err(bad) => return Err(format!("its payload is not JSON: {bad}")),
        },
        Some(_) => return Err("its `payload` is neither an object nor a text".to_owned()),
        None => return Err("it has no `payload`".to_owned()),
    };
    Ok(InboxRequest {
        group,
        content: text_field(&payload, &["content", "Content"])?
            .ok_or("its payload has no `content`")?,
        section: text_field(&payload, &["section", "Section"])?,
        agent: text_field(&payload, &["agent_id", "agentId", "AgentID", "AgentId"])?,
    })
}

/// Returns the text of the first of these fields that exists. A blank text counts as missing, except for the content.
fn text_field(map: &Map<String, Value>, names: &[&str]) -> Result<Option<String>, String> {
    for name in names {
        match map.get(*name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.trim().is_empty() && names[0] != "content" => {}
            Some(Value::String(text)) => return Ok(Some(text.clone())),
            Some(_) => return Err(format!("its `{name}` is not a text")),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_request_reads_both_formats() {
        let ours = br#"{"type":"update_memory","group":"g","payload":{"content":"c","section":"s","agent_id":"a"}}"#;
        let hosts = br#"{"Type":"update_memory","GroupName":"g","Payload":"{\"content\":\"c\",\"section\":\"s\",\"agent_id\":\"a\"}"}"#;
        let request = parse_request(ours).unwrap();
        assert_eq!(Ok(request.clone()), parse_request(hosts));
        assert_eq!(
            request,
            InboxRequest {
                group: Some("g".to_owned()),
                content: "c".to_owned(),
                section: Some("s".to_owned()),
                agent: Some("a".to_owned()),
            }
        );
        for form in [
            r#"{"type":"UpdateMemory","groupName":"g","payload":{"content":"c","section":"s","agentId":"a"}}"#,
            r#"{"type":"updateMemory","groupName":"g","payload":"{\"content\":\"c\",\"section\":\"s\",\"agentId\":\"a\"}"}"#,
            r#"{"Type":"UpdateMemory","GroupName":"g","Payload":{"Content":"c","Section":"s","AgentId":"a"}}"#,
            r#"{"Type":"UpdateMemory","GroupName":"g","Payload":"{\"Content\":\"c\",\"Section\":\"s\",\"AgentId\":\"a\"}"}"#,
            r#"{"Type":"IpcMessageType.UpdateMemory","GroupName":"g","Payload":{"Content":"c","Section":"s","AgentID":"a"}}"#,
        ] {
            assert_eq!(
                parse_request(form.as_bytes()),
                Ok(request.clone()),
                "{form}"
            );
        }
        let little =
            parse_request(br#"{"type":"update_memory","payload":{"content":"c"}}"#).unwrap();
        assert_eq!(
            (little.group, little.section, little.agent),
            (None, None, None)
        );
    }

    #[test]
    fn parse_request_reports_the_problem() {
        for (bytes, why) in [
            ("", "empty"),
            (" \n", "empty"),
            ("{\"type\":", "not JSON"),
            ("[]", "not a JSON object"),
            ("{}", "no `type`"),
            ("{\"type\":\"drop\"}", "`drop`"),
            ("{\"type\":7}", "not a text"),
            ("{\"type\":\"UpdateMemories\"}", "`UpdateMemories`"),
            ("{\"type\":\"UpdateMemory\"}", "no `payload`"),
            ("{\"Type\":\"UpdateMemory\",\"Payload\":{}}", "no `content`"),
            ("{\"type\":\"update_memory\"}", "no `payload`"),
            ("{\"type\":\"update_memory\",\"payload\":7}", "neither"),
            (
                "{\"type\":\"update_memory\",\"payload\":\"x\"}",
                "payload is not JSON",
            ),
            (
                "{\"type\":\"update_memory\",\"payload\":{}}",
                "no `content`",
            ),
            (
                "{\"type\":\"update_memory\",\"group\":[],\"payload\":{}}",
                "`group`",
            ),
        ] {
            let error = parse_request(bytes.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{bytes}: {error}");
        }
        assert!(parse_request(b"\xff\xfe").is_err());
    }
}
