//! Parser of knowledge graphs in JSON lines, the format of the reference server "memory" of the Model Context
//! Protocol.
//!
//! Pure: any bytes in, statements and diagnostics out.

mod fact;

pub use fact::{Entity, Fact, GRAPH_ATTR, KEY_PREFIX, KnowledgeGraph, Relation};

use heirloom_model::signal::Diagnostic;
use heirloom_model::text::counted;
use heirloom_model::{limits, text};
use serde::Deserialize;

/// Category of relations.
const RELATION_CATEGORY: &str = "relation";
/// Maximum length of a category in characters; it fits a name in any alphabet.
const CATEGORY_CHARS: usize = 50;

/// A statement of a graph: an entity, an observation or a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphStatement {
    /// Line, from 1.
    pub line: u64,
    /// Type of the entity, or `relation`; empty if the entity has no type.
    pub category: String,
    /// Statement as text, with the names of its entities; never empty.
    pub text: String,
    /// Statement with its fields.
    pub fact: Fact,
}

/// Parsed graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedGraph {
    /// Statements, in the order of the file.
    pub statements: Vec<GraphStatement>,
    /// Diagnostics of skipped lines; at most [`limits::DIAGNOSTICS_MAX`] and one.
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum GraphLine {
    #[serde(rename_all = "camelCase")]
    Entity {
        name: String,
        #[serde(default)]
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    Relation {
        from: String,
        to: String,
        relation_type: String,
    },
}

/// Parses a graph. An entity is one statement for each of its observations, or one without observations; a relation
/// is one statement. Unusable lines are skipped with a diagnostic.
pub fn parse(bytes: &[u8]) -> ParsedGraph {
    let mut graph = ParsedGraph::default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut unreported_count = 0_u64;
    for (line, text) in (1_u64..).zip(bytes.split(|byte| *byte == b'\n')) {
        let text = text.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let problem = match serde_json::from_slice(text) {
            Ok(text) => match graph.add_line(line, text) {
                true => continue,
                false => "it is empty".to_owned(),
            },
            Err(error) => {
                let text = error.to_string();
                // Without the position, which would always be on line 1.
                let text = text.split(" at line ").next().unwrap_or_default();
                format!("neither an entity nor a relation: {text}")
            }
        };
        if graph.diagnostics.len() < limits::DIAGNOSTICS_MAX {
            let message = format!("{problem}; skipped");
            graph.diagnostics.push(Diagnostic { line, message });
        } else {
            unreported_count += 1;
        }
    }
    if unreported_count > 0 {
        let line = graph.diagnostics.last().map_or(0, |last| last.line);
        let message = format!(
            "{} skipped",
            counted(unreported_count, "more line was", "more lines were")
        );
        graph.diagnostics.push(Diagnostic { line, message });
    }
    graph
}

impl ParsedGraph {
    /// Adds the statements of a line; returns true if there are any.
    fn add_line(&mut self, line: u64, parsed: GraphLine) -> bool {
        let before = self.statements.len();
        match parsed {
            GraphLine::Entity {
                name,
                entity_type,
                observations,
            } => {
                let (name, entity_type) = (name.trim(), entity_type.trim());
                let observations = observations.iter().map(|text| text.trim());
                let observations = observations.filter(|text| !text.is_empty());
                let (entity, kind) = (|| name.to_owned(), || entity_type.to_owned());
                for text in observations {
                    let fact = Fact::Observation {
                        entity: entity(),
                        entity_type: kind(),
                        observation: text.to_owned(),
                    };
                    self.push_statement(line, entity_type, [name, text], ": ", fact);
                }
                if self.statements.len() == before && !name.is_empty() {
                    let (entity, kind) = (entity(), kind());
                    let there = Fact::Entity {
                        entity,
                        entity_type: kind,
                    };
                    self.push_statement(line, entity_type, [name, entity_type], ": ", there);
                }
            }
            GraphLine::Relation {
                from,
                to,
                relation_type,
            } => {
                let parts = [from.trim(), relation_type.trim(), to.trim()];
                if parts.iter().all(|part| !part.is_empty()) {
                    let [from, relation_type, to] = parts.map(str::to_owned);
                    let fact = Fact::Relation(Relation {
                        from,
                        to,
                        relation_type,
                    });
                    self.push_statement(line, RELATION_CATEGORY, parts, " ", fact);
                }
            }
        }
        self.statements.len() > before
    }

    fn push_statement<const N: usize>(
        &mut self,
        line: u64,
        category: &str,
        parts: [&str; N],
        between: &str,
        fact: Fact,
    ) {
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let category = text::normalize(&text::one_line(category));
        self.statements.push(GraphStatement {
            line,
            category: text::clip(&category, CATEGORY_CHARS).trim_end().to_owned(),
            text: parts.collect::<Vec<_>>().join(between),
            fact,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_entities_and_relations_and_reports_the_rest() {
        let lines = concat!(
            "{\"type\":\"entity\",\"name\":\"Shop\",\"entityType\":\"Service\",\"observations\":[\"runs on 8080\",\" \",\"in Rust\"]}\n",
            "\n",
            "{\"type\":\"relation\",\"from\":\"Shop\",\"to\":\"Db\",\"relationType\":\"uses\"}\r\n",
            "{\"type\":\"entity\",\"name\":\"Db\",\"entityType\":\"\"}\n",
            "{\"type\":\"entity\",\"name\":\"half",
        );
        let graph = parse(lines.as_bytes());
        let text = |one: &GraphStatement| format!("{} {}|{}", one.line, one.category, one.text);
        let text: Vec<_> = graph.statements.iter().map(text).collect();
        assert_eq!(
            text,
            [
                "1 service|Shop: runs on 8080",
                "1 service|Shop: in Rust",
                "3 relation|Shop uses Db",
                "4 |Db",
            ]
        );
        assert_eq!(graph.diagnostics.len(), 1);
        assert_eq!(graph.diagnostics[0].line, 5);
    }

    #[test]
    fn parse_of_other_bytes_is_empty_with_limited_diagnostics() {
        for bad in ["[]", "{}", "\0\u{7f}", "{\"type\":\"thing\"}", "7"] {
            let graph = parse(bad.as_bytes());
            assert!(graph.statements.is_empty(), "{bad}");
            assert_eq!(graph.diagnostics.len(), 1, "{bad}");
        }
        let empty = "{\"type\":\"relation\",\"from\":\"\",\"to\":\"b\",\"relationType\":\"c\"}";
        assert_eq!(parse(empty.as_bytes()).diagnostics.len(), 1);
        let many = "x\n".repeat(limits::DIAGNOSTICS_MAX + 2);
        let diagnostics = parse(many.as_bytes()).diagnostics;
        assert_eq!(diagnostics.len(), limits::DIAGNOSTICS_MAX + 1);
        assert!(
            diagnostics[limits::DIAGNOSTICS_MAX]
                .message
                .starts_with("2 more")
        );
        assert_eq!(parse(b"\xff\xfe").statements, []);
    }
}
