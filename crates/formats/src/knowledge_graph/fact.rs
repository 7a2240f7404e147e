//! Facts of a knowledge graph, each stored in a record; and the graph that they form.

use super::{CATEGORY_CHARS, RELATION_CATEGORY};
use heirloom_model::kinds::CATEGORY_FACT;
use heirloom_model::record::Attrs;
use heirloom_model::text;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Attribute of records that belong to a graph.
pub const GRAPH_ATTR: &str = "graph";
/// Prefix of the keys of such records.
pub const KEY_PREFIX: &str = heirloom_model::kinds::GRAPH_KEY_PREFIX;

/// A named entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Name.
    pub name: String,
    /// Type of the entity.
    pub entity_type: String,
    /// Observations about the entity.
    pub observations: Vec<String>,
}

/// Relation of two entities.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Relation {
    /// Name of the source entity.
    #[serde(rename = "from")]
    pub from: String,
    /// Name of the target entity.
    #[serde(rename = "to")]
    pub to: String,
    /// Type of the relation.
    #[serde(rename = "relation")]
    pub relation_type: String,
}

/// One statement of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// An observation about an entity.
    Observation {
        /// Name of the entity.
        #[serde(rename = "entity")]
        entity: String,
        /// Type of the entity.
        #[serde(rename = "sort")]
        entity_type: String,
        /// The observation.
        #[serde(rename = "observation")]
        observation: String,
    },
    /// An entity without observations.
    Entity {
        /// Name of the entity.
        #[serde(rename = "entity")]
        entity: String,
        /// Type of the entity.
        #[serde(rename = "sort")]
        entity_type: String,
    },
    /// A relation of two entities.
    Relation(Relation),
}

impl Fact {
    /// Returns the fact in the attributes of a record, if there is one.
    pub fn from_attrs(attrs: &Attrs) -> Option<Self> {
        Self::deserialize(attrs.get(GRAPH_ATTR)?).ok()
    }

    /// Returns the fact as the value of an attribute.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the key of the record of the fact: equal facts have equal keys, others differ.
    pub fn key(&self) -> String {
        let hash = match self {
            Self::Observation {
                entity,
                observation,
                ..
            } => text::hash_parts(&["observation", entity, observation]),
            Self::Entity { entity, .. } => text::hash_parts(&["entity", entity]),
            Self::Relation(Relation {
                from,
                to,
                relation_type,
            }) => text::hash_parts(&["relation", from, relation_type, to]),
        };
        format!("{KEY_PREFIX}{hash}")
    }

    /// Returns the category of the knowledge record: the type of the entity, or `relation`.
    pub fn category(&self) -> String {
        let category = match self {
            Self::Observation { entity_type, .. } | Self::Entity { entity_type, .. } => {
                entity_type.as_str()
            }
            Self::Relation(_) => RELATION_CATEGORY,
        };
        let category = text::normalize(&text::one_line(category));
        let category = text::clip(&category, CATEGORY_CHARS).trim_end();
        if category.is_empty() {
            CATEGORY_FACT
        } else {
            category
        }
        .to_owned()
    }

    /// Returns the fact as text.
    pub fn to_text(&self) -> String {
        let (parts, between) = match self {
            Self::Observation {
                entity,
                observation,
                ..
            } => ([entity.as_str(), observation, ""], ": "),
            Self::Entity {
                entity,
                entity_type,
            } => ([entity.as_str(), entity_type, ""], ": "),
            Self::Relation(Relation {
                from,
                to,
                relation_type,
            }) => ([from.as_str(), relation_type, to], " "),
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

/// A graph of entities and relations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnowledgeGraph {
    /// Entities, oldest first.
    pub entities: Vec<Entity>,
    /// Relations, oldest first.
    pub relations: Vec<Relation>,
}

impl KnowledgeGraph {
    /// Builds the graph of facts, which are ordered oldest first.
    pub fn from_facts(facts: impl IntoIterator<Item = Fact>) -> Self {
        let mut graph = Self::default();
        let mut places = HashMap::new();
        for fact in facts {
            let (name, entity_type, observation) = match fact {
                Fact::Relation(relation) => {
                    graph.relations.push(relation);
                    continue;
                }
                Fact::Entity {
                    entity,
                    entity_type,
                } => (entity, entity_type, None),
                Fact::Observation {
                    entity,
                    entity_type,
                    observation,
                } => (entity, entity_type, Some(observation)),
            };
            let at = *places.entry(name.clone()).or_insert_with(|| {
                graph.entities.push(Entity {
                    name,
                    entity_type,
                    observations: Vec::new(),
                });
                graph.entities.len() - 1
            });
            if let Some(entity) = graph.entities.get_mut(at) {
                entity.observations.extend(observation);
            }
        }
        graph
    }

    /// Returns the entity with this name.
    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.name == name)
    }

    /// Returns the entities whose name, type or observations contain a text in any case, with all their relations.
    #[must_use]
    pub fn search(self, query: &str) -> Self {
        let query = query.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&query);
        self.retain_entities(|entity| {
            has(&entity.name)
                || has(&entity.entity_type)
                || entity.observations.iter().any(|o| has(o))
        })
    }

    /// Returns the entities with these names, with all their relations.
    #[must_use]
    pub fn open(self, names: &[String]) -> Self {
        self.retain_entities(|entity| names.contains(&entity.name))
    }

    fn retain_entities(mut self, is_selected: impl Fn(&Entity) -> bool) -> Self {
        self.entities.retain(is_selected);
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

    fn observation(entity: &str, observation: &str) -> Fact {
        Fact::Observation {
            entity: entity.to_owned(),
            entity_type: "Service".to_owned(),
            observation: observation.to_owned(),
        }
    }

    fn between(from: &str, to: &str) -> Fact {
        Fact::Relation(Relation {
            from: from.to_owned(),
            to: to.to_owned(),
            relation_type: "uses".to_owned(),
        })
    }

    #[test]
    fn facts_round_trip_through_attributes_and_form_a_graph() {
        let there = Fact::Entity {
            entity: "Db".to_owned(),
            entity_type: String::new(),
        };
        let facts = [
            observation("Shop", "on 8080"),
            there,
            between("Shop", "Db"),
            observation("Shop", ""),
        ];
        for fact in &facts {
            let attrs = Attrs::from_iter([(GRAPH_ATTR.to_owned(), fact.to_value())]);
            assert_eq!(Fact::from_attrs(&attrs).as_ref(), Some(fact));
        }
        assert_eq!(facts[0].to_text(), "Shop: on 8080");
        assert_eq!(
            (facts[0].category(), facts[1].category()),
            ("service".to_owned(), "fact".to_owned())
        );
        assert_eq!(facts[2].to_text(), "Shop uses Db");
        let keys: std::collections::HashSet<_> = facts.iter().map(Fact::key).collect();
        assert_eq!(keys.len(), 4);
        let graph = KnowledgeGraph::from_facts(facts);
        assert_eq!(graph.entity("Shop").unwrap().observations, ["on 8080", ""]);
        let found = graph.clone().search("ON 80");
        assert_eq!((found.entities.len(), found.relations.len()), (1, 1));
        assert_eq!(graph.clone().open(&["Db".to_owned()]).relations.len(), 1);
        assert_eq!(graph.open(&["X".to_owned()]), KnowledgeGraph::default());
    }
}
