//! A knowledge graph as lines of JSON, as the reference server "memory" of the Model Context Protocol keeps it.
//!
//! Pure: bytes in, statements and diagnostics out, whatever the bytes are.

mod fact;

pub use fact::{Entity, Fact, GRAPH, KEY_PREFIX, KnowledgeGraph, Relation};

use heirloom_model::signal::Diagnostic;
use heirloom_model::{limits, text};
use serde::Deserialize;

/// The category of a statement about two entities.
const RELATION: &str = "relation";
/// Longest category, characters: it fits a name whatever alphabet it is in.
const CATEGORY_CHARS: usize = 50;

/// Something that a graph says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The line that says it, from 1.
    pub line: u64,
    /// The type of its entity, or `relation`; empty if nothing is said.
    pub category: String,
    /// What is said, with the names that it is about; never empty.
    pub text: String,
    /// The same with its parts.
    pub fact: Fact,
}

/// What a graph says, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// Its statements.
    pub statements: Vec<Statement>,
    /// Lines that could not be used; at most [`limits::DIAGNOSTICS_MAX`] and one.
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Said {
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

/// Reads a graph: an entity is a statement for each of its observations, or one that it is there; a relation is one.
/// A line that cannot be used is told and left out.
pub fn parse(bytes: &[u8]) -> Graph {
    let mut graph = Graph::default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut untold = 0_u64;
    for (line, said) in (1_u64..).zip(bytes.split(|byte| *byte == b'\n')) {
        let said = said.trim_ascii();
        if said.is_empty() {
            continue;
        }
        let problem = match serde_json::from_slice(said) {
            Ok(said) => match graph.take(line, said) {
                true => continue,
                false => "it says nothing".to_owned(),
            },
            Err(error) => {
                let said = error.to_string();
                // The place in the line, which would be told as line 1.
                let said = said.split(" at line ").next().unwrap_or_default();
                format!("no entity and no relation: {said}")
            }
        };
        if graph.diagnostics.len() < limits::DIAGNOSTICS_MAX {
            let message = format!("{problem}; skipped");
            graph.diagnostics.push(Diagnostic { line, message });
        } else {
            untold += 1;
        }
    }
    if untold > 0 {
        let line = graph.diagnostics.last().map_or(0, |last| last.line);
        let message = format!("{untold} more lines were skipped");
        graph.diagnostics.push(Diagnostic { line, message });
    }
    graph
}

impl Graph {
    /// Adds what a line says; whether it says something.
    fn take(&mut self, line: u64, said: Said) -> bool {
        let before = self.statements.len();
        match said {
            Said::Entity {
                name,
                entity_type,
                observations,
            } => {
                let (name, sort) = (name.trim(), entity_type.trim());
                let observations = observations.iter().map(|said| said.trim());
                let observations = observations.filter(|said| !said.is_empty());
                let (entity, kind) = (|| name.to_owned(), || sort.to_owned());
                for said in observations {
                    let fact = Fact::Observation {
                        entity: entity(),
                        sort: kind(),
                        observation: said.to_owned(),
                    };
                    self.say(line, sort, [name, said], ": ", fact);
                }
                if self.statements.len() == before && !name.is_empty() {
                    let (entity, kind) = (entity(), kind());
                    let there = Fact::There { entity, sort: kind };
                    self.say(line, sort, [name, sort], ": ", there);
                }
            }
            Said::Relation {
                from,
                to,
                relation_type,
            } => {
                let parts = [from.trim(), relation_type.trim(), to.trim()];
                if parts.iter().all(|part| !part.is_empty()) {
                    let [from, sort, to] = parts.map(str::to_owned);
                    let fact = Fact::Relation(Relation { from, to, sort });
                    self.say(line, RELATION, parts, " ", fact);
                }
            }
        }
        self.statements.len() > before
    }

    fn say<const N: usize>(
        &mut self,
        line: u64,
        sort: &str,
        parts: [&str; N],
        between: &str,
        fact: Fact,
    ) {
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let sort = text::normal(&text::one_line(sort));
        self.statements.push(Statement {
            line,
            category: text::clip(&sort, CATEGORY_CHARS).trim_end().to_owned(),
            text: parts.collect::<Vec<_>>().join(between),
            fact,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_and_relations_are_statements_and_the_rest_is_told() {
        let lines = concat!(
            "{\"type\":\"entity\",\"name\":\"Shop\",\"entityType\":\"Service\",\"observations\":[\"runs on 8080\",\" \",\"in Rust\"]}\n",
            "\n",
            "{\"type\":\"relation\",\"from\":\"Shop\",\"to\":\"Db\",\"relationType\":\"uses\"}\r\n",
            "{\"type\":\"entity\",\"name\":\"Db\",\"entityType\":\"\"}\n",
            "{\"type\":\"entity\",\"name\":\"half",
        );
        let graph = parse(lines.as_bytes());
        let said = |one: &Statement| format!("{} {}|{}", one.line, one.category, one.text);
        let said: Vec<_> = graph.statements.iter().map(said).collect();
        assert_eq!(
            said,
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
    fn what_is_no_graph_says_nothing_and_is_told_within_bounds() {
        for bad in ["[]", "{}", "\0\u{7f}", "{\"type\":\"thing\"}", "7"] {
            let graph = parse(bad.as_bytes());
            assert!(graph.statements.is_empty(), "{bad}");
            assert_eq!(graph.diagnostics.len(), 1, "{bad}");
        }
        let empty = "{\"type\":\"relation\",\"from\":\"\",\"to\":\"b\",\"relationType\":\"c\"}";
        assert_eq!(parse(empty.as_bytes()).diagnostics.len(), 1);
        let many = "x\n".repeat(limits::DIAGNOSTICS_MAX + 2);
        let told = parse(many.as_bytes()).diagnostics;
        assert_eq!(told.len(), limits::DIAGNOSTICS_MAX + 1);
        assert!(told[limits::DIAGNOSTICS_MAX].message.starts_with("2 more"));
        assert_eq!(parse(b"\xff\xfe").statements, []);
    }
}
