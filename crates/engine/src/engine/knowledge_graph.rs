//! Knowledge graph on top of records: one record for each fact, so that recall finds them.

use super::Engine;
use heirloom_formats::knowledge_graph::{
    Entity, Fact, GRAPH_ATTR, KEY_PREFIX, KnowledgeGraph, Relation,
};
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::check_name;
use heirloom_model::{Fault, Kind, KindData, MergeRule, Record, Scope, text};
use heirloom_store::{Change, Filter};
use std::collections::HashSet;

/// Fact with its record.
type StoredFact = (Record, Fact);

/// Knowledge graph of entities, relations and observations, stored as facts.
#[derive(Clone, Copy)]
pub struct Graph<'e> {
    pub(super) engine: &'e Engine,
}

impl Graph<'_> {
    /// Returns the current graph.
    pub fn read(&self) -> Result<KnowledgeGraph, Fault> {
        let stored = self.stored_facts()?;
        Ok(KnowledgeGraph::from_facts(
            stored.into_iter().map(|(_, fact)| fact),
        ))
    }

    /// Adds entities; existing names are skipped. Returns the new ones.
    ///
    /// Like all changes of the graph: durable when it returns, attributed to `source`, and repeated if another
    /// process was faster.
    pub fn add_entities(&self, entities: &[Entity], source: &str) -> Result<Vec<Entity>, Fault> {
        let entities: Vec<_> = entities
            .iter()
            .map(|entity| self.redact_entity(entity))
            .collect();
        let mut new = Vec::new();
        self.graph_change(|graph| {
            let known: HashSet<_> = graph.entities.iter().map(|e| e.name.as_str()).collect();
            let is_new = |entity: &&Entity| !known.contains(entity.name.as_str());
            new = entities.iter().filter(is_new).cloned().collect();
            let facts = new.iter().flat_map(facts_of);
            facts.map(|fact| self.fact_change(&fact, source)).collect()
        })?;
        Ok(new)
    }

    /// Adds relations; existing ones are skipped. Returns the new ones.
    pub fn add_relations(
        &self,
        relations: &[Relation],
        source: &str,
    ) -> Result<Vec<Relation>, Fault> {
        let relations: Vec<_> = relations
            .iter()
            .map(|one| self.redact_relation(one))
            .collect();
        let mut new = Vec::new();
        self.graph_change(|graph| {
            let is_new = |relation: &&Relation| !graph.relations.contains(relation);
            new = relations.iter().filter(is_new).cloned().collect();
            let facts = new.iter().cloned().map(Fact::Relation);
            facts.map(|fact| self.fact_change(&fact, source)).collect()
        })?;
        Ok(new)
    }

    /// Adds observations to entities. Returns the new ones by name. Errors: `NotFound` for an unknown name; then
    /// nothing is added.
    pub fn add_observations(
        &self,
        given: &[(String, Vec<String>)],
        source: &str,
    ) -> Result<Vec<(String, Vec<String>)>, Fault> {
        let clean = |words: &String| self.engine.redaction().redact_input(words).into_owned();
        let given = given
            .iter()
            .map(|(name, all)| (clean(name), all.iter().map(clean).collect()));
        let given: Vec<(String, Vec<String>)> = given.collect();
        let mut new = Vec::new();
        self.graph_change(|graph| {
            let mut added = HashSet::new();
            let mut changes = Vec::new();
            new.clear();
            for (name, observations) in &given {
                let Some(entity) = graph.entity(name) else {
                    let name = text::excerpt(name, 200);
                    return Err(Fault::not_found(format!(
                        "Entity with name {name} not found"
                    )));
                };
                let mut new_observations = Vec::new();
                for observation in observations {
                    let is_known = entity.observations.contains(observation);
                    if is_known || !added.insert((name, observation)) {
                        continue;
                    }
                    new_observations.push(observation.clone());
                    changes.push(self.fact_change(&observed(entity, observation), source)?);
                }
                new.push((name.clone(), new_observations));
            }
            Ok(changes)
        })?;
        Ok(new)
    }

    /// Removes entities and all their relations; `undo` restores each fact.
    pub fn remove_entities(&self, names: &[String], by: &str) -> Result<(), Fault> {
        let names: HashSet<_> = names
            .iter()
            .map(|name| self.engine.redaction().redact_input(name))
            .collect();
        let is_one = |name: &str| names.contains(name);
        self.graph_retire(by, |fact| match fact {
            Fact::Observation { entity, .. } | Fact::Entity { entity, .. } => is_one(entity),
            Fact::Relation(relation) => is_one(&relation.from) || is_one(&relation.to),
        })
    }

    /// Removes observations of entities; the entities stay.
    pub fn remove_observations(
        &self,
        given: &[(String, Vec<String>)],
        by: &str,
    ) -> Result<(), Fault> {
        let pairs = given
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |one| (name, one)));
        let pairs: HashSet<_> = pairs
            .map(|(name, one)| {
                (
                    self.engine.redaction().redact_input(name).into_owned(),
                    self.engine.redaction().redact_input(one).into_owned(),
                )
            })
            .collect();
        self.graph_retire(by, |fact| match fact {
            Fact::Observation {
                entity,
                observation,
                ..
            } => pairs.contains(&(entity.clone(), observation.clone())),
            Fact::Entity { .. } | Fact::Relation(_) => false,
        })
    }

    /// Removes relations.
    pub fn remove_relations(&self, relations: &[Relation], by: &str) -> Result<(), Fault> {
        let removed: HashSet<_> = relations
            .iter()
            .map(|one| self.redact_relation(one))
            .collect();
        self.graph_retire(by, |fact| match fact {
            Fact::Relation(relation) => removed.contains(relation),
            Fact::Observation { .. } | Fact::Entity { .. } => false,
        })
    }

    /// Returns the current facts, oldest first.
    fn stored_facts(&self) -> Result<Vec<StoredFact>, Fault> {
        let filter = Filter {
            key_prefix: Some(KEY_PREFIX.to_owned()),
            ..Filter::current(&[Kind::Knowledge], self.engine.now()).oldest_first()
        };
        let found = self.engine.records().find(&filter)?.into_iter();
        Ok(found
            .filter_map(|record| {
                let fact = Fact::from_attrs(&record.attrs)?;
                Some((record, fact))
            })
            .collect())
    }

    fn graph_change(
        &self,
        mut decide: impl FnMut(&KnowledgeGraph) -> Result<Vec<Change>, Fault>,
    ) -> Result<(), Fault> {
        self.engine
            .apply_decided(|| decide(&self.read()?))
            .map(drop)
    }

    /// Retires facts. Errors: `Refused` if an agent would retire a fact of a person or the orchestrator. An entity
    /// that loses its last fact by this keeps a fact of its existence.
    fn graph_retire(&self, by: &str, is_gone: impl Fn(&Fact) -> bool) -> Result<(), Fault> {
        check_name("source", by).map_err(|bad| super::new_record::name_fault(&bad))?;
        let by = self.engine.redaction().redact_input(by).into_owned();
        self.engine
            .apply_decided(|| {
                let stored = self.stored_facts()?;
                let (removed, stays): (Vec<_>, Vec<_>) =
                    stored.into_iter().partition(|(_, fact)| is_gone(fact));
                let left = KnowledgeGraph::from_facts(stays.into_iter().map(|(_, fact)| fact));
                let at = self.engine.now();
                let mut changes = Vec::with_capacity(removed.len());
                let mut bare = HashSet::new();
                for (record, fact) in removed {
                    super::records::check_may_retire(&record, &by)?;
                    let (id, by) = (record.id, by.clone());
                    changes.push(Change::Retire { id, at, by });
                    if let Fact::Observation {
                        entity,
                        entity_type,
                        ..
                    } = fact
                        && left.entity(&entity).is_none()
                    {
                        bare.insert((entity, entity_type));
                    }
                }
                for (entity, entity_type) in bare {
                    let existence = Fact::Entity {
                        entity,
                        entity_type,
                    };
                    if !is_gone(&existence) {
                        changes.push(self.fact_change(&existence, &by)?);
                    }
                }
                Ok(changes)
            })
            .map(drop)
    }

    /// Returns the change that stores a fact, which must be redacted.
    pub(super) fn fact_change(&self, fact: &Fact, source: &str) -> Result<Change, Fault> {
        check_name("source", source).map_err(|bad| super::new_record::name_fault(&bad))?;
        let mut record =
            self.engine
                .records()
                .draft(Kind::Knowledge, &fact.to_text(), Scope::default(), source);
        let mut knowledge = Knowledge::with_category(&fact.category());
        knowledge.proposal = !can_arbitrate(source);
        record.key = Some(fact.key());
        record.attrs = knowledge.to_attrs();
        record.attrs.insert(GRAPH_ATTR.to_owned(), fact.to_value());
        let record = Box::new(record);
        let merge = MergeRule::Keep;
        Ok(Change::Put { record, merge })
    }

    fn redact_entity(&self, entity: &Entity) -> Entity {
        let clean = |words: &String| self.engine.redaction().redact_input(words).into_owned();
        Entity {
            name: clean(&entity.name),
            entity_type: clean(&entity.entity_type),
            observations: entity.observations.iter().map(clean).collect(),
        }
    }

    fn redact_relation(&self, relation: &Relation) -> Relation {
        Relation {
            from: self
                .engine
                .redaction()
                .redact_input(&relation.from)
                .into_owned(),
            to: self
                .engine
                .redaction()
                .redact_input(&relation.to)
                .into_owned(),
            relation_type: self
                .engine
                .redaction()
                .redact_input(&relation.relation_type)
                .into_owned(),
        }
    }

    /// Redacts a fact of a file.
    pub(super) fn redact_fact(&self, fact: &Fact) -> Fact {
        let clean = |words: &String| self.engine.redaction().redact_input(words).into_owned();
        match fact {
            Fact::Relation(relation) => Fact::Relation(self.redact_relation(relation)),
            Fact::Entity {
                entity,
                entity_type,
            } => Fact::Entity {
                entity: clean(entity),
                entity_type: clean(entity_type),
            },
            Fact::Observation {
                entity,
                entity_type,
                observation,
            } => Fact::Observation {
                entity: clean(entity),
                entity_type: clean(entity_type),
                observation: clean(observation),
            },
        }
    }
}

/// Returns the facts of an entity: its existence, and each observation.
fn facts_of(entity: &Entity) -> Vec<Fact> {
    let existence = Fact::Entity {
        entity: entity.name.clone(),
        entity_type: entity.entity_type.clone(),
    };
    let observations = entity.observations.iter().map(|one| observed(entity, one));
    std::iter::once(existence).chain(observations).collect()
}

fn observed(entity: &Entity, observation: &str) -> Fact {
    Fact::Observation {
        entity: entity.name.clone(),
        entity_type: entity.entity_type.clone(),
        observation: observation.to_owned(),
    }
}
