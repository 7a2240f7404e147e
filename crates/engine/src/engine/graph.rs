//! A knowledge graph over records: a statement each, so that recall finds what the graph says.

use super::Engine;
use crate::graph::{Entity, Fact, GRAPH, KEY_PREFIX, KnowledgeGraph, Relation};
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::check_name;
use heirloom_model::{Fault, Kind, KindData, Merge, RecordId, Scope, text};
use heirloom_store::{Change, Filter};
use std::collections::HashSet;

/// A statement, and the record that keeps it.
type Kept = (RecordId, Fact);

impl Engine {
    /// The graph as it is.
    pub fn graph(&self) -> Result<KnowledgeGraph, Fault> {
        let kept = self.kept_facts()?;
        Ok(KnowledgeGraph::of(kept.into_iter().map(|(_, fact)| fact)))
    }

    /// Adds entities; those whose name is there already stay as they are. Answers those that are new.
    ///
    /// As all of these: durable when it returns, by `source`, and decided anew when another process was faster.
    pub fn graph_add_entities(
        &self,
        entities: &[Entity],
        source: &str,
    ) -> Result<Vec<Entity>, Fault> {
        let entities: Vec<_> = entities
            .iter()
            .map(|entity| self.clean_entity(entity))
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

    /// Adds relations that are not there yet; answers those that are new.
    pub fn graph_add_relations(
        &self,
        relations: &[Relation],
        source: &str,
    ) -> Result<Vec<Relation>, Fault> {
        let relations: Vec<_> = relations
            .iter()
            .map(|one| self.clean_relation(one))
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

    /// Says something of entities: of each name what is new of it. Errors: `NotFound` for a name that is not there; then
    /// nothing is added.
    pub fn graph_observe(
        &self,
        said: &[(String, Vec<String>)],
        source: &str,
    ) -> Result<Vec<(String, Vec<String>)>, Fault> {
        let clean = |words: &String| self.clean(words).into_owned();
        let said = said
            .iter()
            .map(|(name, all)| (clean(name), all.iter().map(clean).collect()));
        let said: Vec<(String, Vec<String>)> = said.collect();
        let mut new = Vec::new();
        self.graph_change(|graph| {
            let mut added = HashSet::new();
            let mut changes = Vec::new();
            new.clear();
            for (name, observations) in &said {
                let Some(entity) = graph.entity(name) else {
                    let name = text::excerpt(name, 200);
                    return Err(Fault::not_found(format!(
                        "Entity with name {name} not found"
                    )));
                };
                let mut fresh = Vec::new();
                for observation in observations {
                    let is_known = entity.observations.contains(observation);
                    if is_known || !added.insert((name, observation)) {
                        continue;
                    }
                    fresh.push(observation.clone());
                    changes.push(self.fact_change(&observed(entity, observation), source)?);
                }
                new.push((name.clone(), fresh));
            }
            Ok(changes)
        })?;
        Ok(new)
    }

    /// Takes entities out of the graph, with all relations that they are a part of; `undo` brings each statement back.
    pub fn graph_remove_entities(&self, names: &[String], by: &str) -> Result<(), Fault> {
        let names: HashSet<_> = names.iter().map(|name| self.clean(name)).collect();
        let is_one = |name: &str| names.contains(name);
        self.graph_retire(by, |fact| match fact {
            Fact::Observation { entity, .. } | Fact::There { entity, .. } => is_one(entity),
            Fact::Relation(relation) => is_one(&relation.from) || is_one(&relation.to),
        })
    }

    /// Takes back what is said of entities, which stay.
    pub fn graph_remove_observations(
        &self,
        said: &[(String, Vec<String>)],
        by: &str,
    ) -> Result<(), Fault> {
        let pairs = said
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |one| (name, one)));
        let pairs: HashSet<_> = pairs
            .map(|(name, one)| (self.clean(name).into_owned(), self.clean(one).into_owned()))
            .collect();
        self.graph_retire(by, |fact| match fact {
            Fact::Observation {
                entity,
                observation,
                ..
            } => pairs.contains(&(entity.clone(), observation.clone())),
            Fact::There { .. } | Fact::Relation(_) => false,
        })
    }

    /// Takes relations out of the graph.
    pub fn graph_remove_relations(&self, relations: &[Relation], by: &str) -> Result<(), Fault> {
        let gone: HashSet<_> = relations
            .iter()
            .map(|one| self.clean_relation(one))
            .collect();
        self.graph_retire(by, |fact| match fact {
            Fact::Relation(relation) => gone.contains(relation),
            Fact::Observation { .. } | Fact::There { .. } => false,
        })
    }

    /// The statements that are current, the oldest first.
    fn kept_facts(&self) -> Result<Vec<Kept>, Fault> {
        let filter = Filter {
            key_prefix: Some(KEY_PREFIX.to_owned()),
            ..Filter::current(&[Kind::Knowledge], self.now()).oldest_first()
        };
        let found = self.find(&filter)?.into_iter();
        Ok(found
            .filter_map(|record| Some((record.id, Fact::of(&record.attrs)?)))
            .collect())
    }

    fn graph_change(
        &self,
        mut decide: impl FnMut(&KnowledgeGraph) -> Result<Vec<Change>, Fault>,
    ) -> Result<(), Fault> {
        self.apply_decided(|| decide(&self.graph()?)).map(drop)
    }

    /// Retires statements. An entity of which nothing is left but that somebody spoke of it stays as one that is there.
    fn graph_retire(&self, by: &str, is_gone: impl Fn(&Fact) -> bool) -> Result<(), Fault> {
        check_name("source", by).map_err(|bad| super::new_record::bad_name(&bad))?;
        let by = self.clean(by).into_owned();
        self.apply_decided(|| {
            let kept = self.kept_facts()?;
            let (gone, stays): (Vec<_>, Vec<_>) =
                kept.into_iter().partition(|(_, fact)| is_gone(fact));
            let left = KnowledgeGraph::of(stays.into_iter().map(|(_, fact)| fact));
            let at = self.now();
            let mut changes = Vec::with_capacity(gone.len());
            let mut bare = HashSet::new();
            for (id, fact) in gone {
                let by = by.clone();
                changes.push(Change::Retire { id, at, by });
                if let Fact::Observation { entity, sort, .. } = fact
                    && left.entity(&entity).is_none()
                {
                    bare.insert((entity, sort));
                }
            }
            for (entity, sort) in bare {
                let there = Fact::There { entity, sort };
                if !is_gone(&there) {
                    changes.push(self.fact_change(&there, &by)?);
                }
            }
            Ok(changes)
        })
        .map(drop)
    }

    /// The change that keeps a statement; what it says has no secrets any more.
    pub(super) fn fact_change(&self, fact: &Fact, source: &str) -> Result<Change, Fault> {
        check_name("source", source).map_err(|bad| super::new_record::bad_name(&bad))?;
        let mut record = self.draft(Kind::Knowledge, &fact.words(), Scope::default(), source);
        let mut knowledge = Knowledge::of_category(&fact.category());
        knowledge.proposal = !may_arbitrate(source);
        record.key = Some(fact.key());
        record.attrs = knowledge.to_attrs();
        record.attrs.insert(GRAPH.to_owned(), fact.value());
        let record = Box::new(record);
        let merge = Merge::Keep;
        Ok(Change::Put { record, merge })
    }

    fn clean_entity(&self, entity: &Entity) -> Entity {
        let clean = |words: &String| self.clean(words).into_owned();
        Entity {
            name: clean(&entity.name),
            sort: clean(&entity.sort),
            observations: entity.observations.iter().map(clean).collect(),
        }
    }

    fn clean_relation(&self, relation: &Relation) -> Relation {
        Relation {
            from: self.clean(&relation.from).into_owned(),
            to: self.clean(&relation.to).into_owned(),
            sort: self.clean(&relation.sort).into_owned(),
        }
    }

    /// A statement of a file, without its secrets.
    pub(super) fn clean_fact(&self, fact: &Fact) -> Fact {
        let clean = |words: &String| self.clean(words).into_owned();
        match fact {
            Fact::Relation(relation) => Fact::Relation(self.clean_relation(relation)),
            Fact::There { entity, sort } => Fact::There {
                entity: clean(entity),
                sort: clean(sort),
            },
            Fact::Observation {
                entity,
                sort,
                observation,
            } => Fact::Observation {
                entity: clean(entity),
                sort: clean(sort),
                observation: clean(observation),
            },
        }
    }
}

/// What an entity says: that it is there, and each of its observations.
fn facts_of(entity: &Entity) -> Vec<Fact> {
    let there = Fact::There {
        entity: entity.name.clone(),
        sort: entity.sort.clone(),
    };
    let said = entity.observations.iter().map(|one| observed(entity, one));
    std::iter::once(there).chain(said).collect()
}

fn observed(entity: &Entity, observation: &str) -> Fact {
    Fact::Observation {
        entity: entity.name.clone(),
        sort: entity.sort.clone(),
        observation: observation.to_owned(),
    }
}
