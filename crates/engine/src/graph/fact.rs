//! What a graph is made of, one statement each, as a record keeps it; and the graph that such statements make.

use super::{CATEGORY_CHARS, RELATION};
use heirloom_model::kinds::CATEGORY_FACT;
use heirloom_model::record::Attrs;
use heirloom_model::text;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The attribute of a record that is a part of a graph.
pub const GRAPH: &str = "graph";
/// What begins the key of such a record.
pub const KEY_PREFIX: &str = "graph:";

/// Something that is known by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Its name.
    pub name: String,
    /// What sort of thing it is.
    pub sort: String,
    /// What is said of it.
    pub observations: Vec<String>,
}

/// How two of them stand to each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Relation {
    /// From this one.
    pub from: String,
    /// To that one.
    pub to: String,
    /// What it is.
    #[serde(rename = "relation")]
    pub sort: String,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// Something is said of an entity.
    Observation {
        /// The entity.
        entity: String,
        /// Its sort.
        sort: String,
        /// What is said.
        observation: String,
    },
    /// An entity is there.
    There {
        /// The entity.
        entity: String,
        /// Its sort.
        sort: String,
    },
    /// Two stand in a relation.
    Relation(Relation),
}

impl Fact {
    /// The statement that the attributes of a record keep, if they do.
    pub fn of(attrs: &Attrs) -> Option<Self> {
        Self::deserialize(attrs.get(GRAPH)?).ok()
    }

    /// The statement as the value of an attribute.
    pub fn value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// What the record of it is found by: the same for the same statement, and for no other.
    pub fn key(&self) -> String {
        let hash = match self {
            Self::Observation {
                entity,
                observation,
                ..
            } => text::hash_parts(&["observation", entity, observation]),
            Self::There { entity, .. } => text::hash_parts(&["entity", entity]),
            Self::Relation(Relation { from, to, sort }) => {
                text::hash_parts(&["relation", from, sort, to])
            }
        };
        format!("{KEY_PREFIX}{hash}")
    }

    /// What it is about, as a category of knowledge: the entity's sort, or `relation`.
    pub fn category(&self) -> String {
        let sort = match self {
            Self::Observation { sort, .. } | Self::There { sort, .. } => sort.as_str(),
            Self::Relation(_) => RELATION,
        };
        let sort = text::normal(&text::one_line(sort));
        let sort = text::clip(&sort, CATEGORY_CHARS).trim_end();
        if sort.is_empty() { CATEGORY_FACT } else { sort }.to_owned()
    }

    /// The statement in words.
    pub fn words(&self) -> String {
        let (parts, between) = match self {
            Self::Observation {
                entity,
                observation,
                ..
            } => ([entity.as_str(), observation, ""], ": "),
            Self::There { entity, sort } => ([entity.as_str(), sort, ""], ": "),
            Self::Relation(Relation { from, to, sort }) => ([from.as_str(), sort, to], " "),
        };
        let parts = parts
            .into_iter()
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let words = parts.collect::<Vec<_>>().join(between);
        if words.is_empty() {
            "nothing is said".to_owned()
        } else {
            words
        }
    }
}

/// Entities and relations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnowledgeGraph {
    /// Its entities, the oldest first.
    pub entities: Vec<Entity>,
    /// Its relations, the oldest first.
    pub relations: Vec<Relation>,
}

impl KnowledgeGraph {
    /// The graph that statements make, the oldest first.
    pub fn of(facts: impl IntoIterator<Item = Fact>) -> Self {
        let mut graph = Self::default();
        let mut places = HashMap::new();
        for fact in facts {
            let (name, sort, said) = match fact {
                Fact::Relation(relation) => {
                    graph.relations.push(relation);
                    continue;
                }
                Fact::There { entity, sort } => (entity, sort, None),
                Fact::Observation {
                    entity,
                    sort,
                    observation,
                } => (entity, sort, Some(observation)),
            };
            let at = *places.entry(name.clone()).or_insert_with(|| {
                graph.entities.push(Entity {
                    name,
                    sort,
                    observations: Vec::new(),
                });
                graph.entities.len() - 1
            });
            if let Some(entity) = graph.entities.get_mut(at) {
                entity.observations.extend(said);
            }
        }
        graph
    }

    /// The entity of this name.
    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.name == name)
    }

    /// The entities of which a text stands in the name, the sort or what is said, whatever its case; with all relations
    /// that one of them is a part of.
    #[must_use]
    pub fn search(self, query: &str) -> Self {
        let query = query.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&query);
        self.with(|entity| {
            has(&entity.name) || has(&entity.sort) || entity.observations.iter().any(|o| has(o))
        })
    }

    /// The entities of these names, with all relations that one of them is a part of.
    #[must_use]
    pub fn open(self, names: &[String]) -> Self {
        self.with(|entity| names.contains(&entity.name))
    }

    fn with(mut self, wanted: impl Fn(&Entity) -> bool) -> Self {
        self.entities.retain(wanted);
        let entities = &self.entities;
        let names: std::collections::HashSet<_> =
            entities.iter().map(|e| e.name.as_str()).collect();
        let is_near =
            |r: &Relation| names.contains(r.from.as_str()) || names.contains(r.to.as_str());
        self.relations.retain(is_near);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(entity: &str, observation: &str) -> Fact {
        Fact::Observation {
            entity: entity.to_owned(),
            sort: "Service".to_owned(),
            observation: observation.to_owned(),
        }
    }

    fn between(from: &str, to: &str) -> Fact {
        Fact::Relation(Relation {
            from: from.to_owned(),
            to: to.to_owned(),
            sort: "uses".to_owned(),
        })
    }

    #[test]
    fn statements_come_back_from_attributes_and_make_a_graph() {
        let there = Fact::There {
            entity: "Db".to_owned(),
            sort: String::new(),
        };
        let facts = [
            said("Shop", "on 8080"),
            there,
            between("Shop", "Db"),
            said("Shop", ""),
        ];
        for fact in &facts {
            let attrs = Attrs::from_iter([(GRAPH.to_owned(), fact.value())]);
            assert_eq!(Fact::of(&attrs).as_ref(), Some(fact));
        }
        assert_eq!(facts[0].words(), "Shop: on 8080");
        assert_eq!(
            (facts[0].category(), facts[1].category()),
            ("service".to_owned(), "fact".to_owned())
        );
        assert_eq!(facts[2].words(), "Shop uses Db");
        let keys: std::collections::HashSet<_> = facts.iter().map(Fact::key).collect();
        assert_eq!(keys.len(), 4);
        let graph = KnowledgeGraph::of(facts);
        assert_eq!(graph.entity("Shop").unwrap().observations, ["on 8080", ""]);
        let found = graph.clone().search("ON 80");
        assert_eq!((found.entities.len(), found.relations.len()), (1, 1));
        assert_eq!(graph.clone().open(&["Db".to_owned()]).relations.len(), 1);
        assert_eq!(graph.open(&["X".to_owned()]), KnowledgeGraph::default());
    }
}
