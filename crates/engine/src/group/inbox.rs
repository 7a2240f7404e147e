//! What a file in the inbox asks for.

use serde_json::{Map, Value};

/// A note that a file asks for. Names and words are not checked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// The group.
    pub group: Option<String>,
    /// What is to be noted.
    pub content: String,
    /// The section.
    pub section: Option<String>,
    /// Who notes it.
    pub agent: Option<String>,
}

/// The only thing that can be asked for.
const UPDATE_MEMORY: &str = "update_memory";

/// Reads a file of the inbox: our own form, or the host's, whose payload is JSON in a text.
///
/// Errors: what is wrong with it, as a sentence.
pub fn read_ask(bytes: &[u8]) -> Result<Ask, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err("it is empty".to_owned());
    }
    let value: Value =
        serde_json::from_slice(bytes).map_err(|bad| format!("it is no JSON: {bad}"))?;
    let Value::Object(map) = value else {
        return Err("it is no JSON object".to_owned());
    };
    let sort = said(&map, &["type", "Type"])?.ok_or("it has no `type`")?;
    if sort != UPDATE_MEMORY {
        let sort = heirloom_model::text::excerpt(&sort, 60);
        return Err(format!("its type `{sort}` is none of: {UPDATE_MEMORY}"));
    }
    let group = said(&map, &["group", "group_name", "GroupName"])?;
    let payload = match ["payload", "Payload"]
        .iter()
        .find_map(|name| map.get(*name))
    {
        Some(Value::Object(payload)) => payload.clone(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(payload)) => payload,
            Ok(_) => return Err("its payload is no JSON object".to_owned()),
            Err(bad) => return Err(format!("its payload is no JSON: {bad}")),
        },
        Some(_) => return Err("its `payload` is neither an object nor a text".to_owned()),
        None => return Err("it has no `payload`".to_owned()),
    };
    Ok(Ask {
        group,
        content: said(&payload, &["content", "Content"])?.ok_or("its payload has no `content`")?,
        section: said(&payload, &["section", "Section"])?,
        agent: said(&payload, &["agent_id", "agentId", "AgentID", "AgentId"])?,
    })
}

/// The text under the first of these names that is there; a blank one counts as none but for what is noted.
fn said(map: &Map<String, Value>, names: &[&str]) -> Result<Option<String>, String> {
    for name in names {
        match map.get(*name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.trim().is_empty() && names[0] != "content" => {}
            Some(Value::String(text)) => return Ok(Some(text.clone())),
            Some(_) => return Err(format!("its `{name}` is no text")),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let ours = br#"{"type":"update_memory","group":"g","payload":{"content":"c","section":"s","agent_id":"a"}}"#;
        let hosts = br#"{"Type":"update_memory","GroupName":"g","Payload":"{\"content\":\"c\",\"section\":\"s\",\"agent_id\":\"a\"}"}"#;
        let asked = read_ask(ours).unwrap();
        assert_eq!(Ok(asked.clone()), read_ask(hosts));
        assert_eq!(
            asked,
            Ask {
                group: Some("g".to_owned()),
                content: "c".to_owned(),
                section: Some("s".to_owned()),
                agent: Some("a".to_owned()),
            }
        );
        let little = read_ask(br#"{"type":"update_memory","payload":{"content":"c"}}"#).unwrap();
        assert_eq!(
            (little.group, little.section, little.agent),
            (None, None, None)
        );
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (bytes, why) in [
            ("", "empty"),
            (" \n", "empty"),
            ("{\"type\":", "no JSON"),
            ("[]", "no JSON object"),
            ("{}", "no `type`"),
            ("{\"type\":\"drop\"}", "`drop`"),
            ("{\"type\":7}", "no text"),
            ("{\"type\":\"update_memory\"}", "no `payload`"),
            ("{\"type\":\"update_memory\",\"payload\":7}", "neither"),
            (
                "{\"type\":\"update_memory\",\"payload\":\"x\"}",
                "payload is no JSON",
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
            let said = read_ask(bytes.as_bytes()).unwrap_err();
            assert!(said.contains(why), "{bytes}: {said}");
        }
        assert!(read_ask(b"\xff\xfe").is_err());
    }
}
