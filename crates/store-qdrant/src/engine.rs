//! The engine as a whole.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Deadline, NamespaceId};
use qdrant_client::qdrant::{Condition, CountPointsBuilder, Filter as ServerFilter};
use store::remote::{self, Field};
use store::{
    Candidates, Catalogue, Changes, DroppedNamespace, Engine, EngineInfo, EnginePlace,
    EngineServer, Erased, Error, Form, NamespaceHead, NamespaceState, Position, Rebuild, Result,
    Search, TermCount, TermStatistics, follow_known, state_of,
};

use crate::client::{Client, QUESTION_LIMIT};
use crate::collection::Collections;
use crate::condition::of_tenant;
use crate::figures::Figures;
use crate::following::Follower;
use crate::ledger::{Entry, Tenant, is_current};
use crate::namespace::Turns;
use crate::point::DENSE;
use crate::terms::Term;
use crate::word_memory::{Shared, WordMemory};
use crate::{ENGINE, QdrantConfig};

/// How often to ask whether the cluster answers.
const REACH_EVERY: Duration = Duration::from_secs(3);
/// How long the peers together may take to say that they are there: one that hangs is given two
/// seconds before the next one is asked.
const REACH_LIMIT: Duration = Duration::from_secs(8);

/// Words and vectors in Qdrant, over any catalogue.
pub struct QdrantEngine {
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) client: Arc<Client>,
    pub(crate) figures: Figures,
    pub(crate) words: WordMemory,
    pub(crate) config: QdrantConfig,
    collections: Collections,
    turns: Turns,
}

impl QdrantEngine {
    /// Makes the clients; nothing is asked of Qdrant yet, so that a server starts while it cannot be
    /// reached. `holder` names this process among all that write.
    ///
    /// # Errors
    ///
    /// [`Error::EngineSettings`] when the settings cannot be used.
    pub fn open(
        config: &QdrantConfig,
        catalogue: Arc<dyn Catalogue>,
        holder: impl Into<String>,
    ) -> Result<Self> {
        Ok(QdrantEngine {
            catalogue,
            client: Arc::new(Client::open(config)?),
            figures: Figures::default(),
            words: WordMemory::default(),
            config: config.clone(),
            collections: Collections::default(),
            turns: Turns::new(holder.into()),
        })
    }

    /// Tells whether the words of a namespace are in memory, so that questions neither count in Qdrant
    /// nor read payloads. Nobody is asked.
    pub fn has_words_in_memory(&self, namespace: &NamespaceId) -> bool {
        self.words.has(namespace)
    }

    pub(crate) fn word_table(&self, state: &NamespaceState, entry: &Entry) -> Option<Shared> {
        self.words.of(&self.client, &*self.catalogue, entry, state)
    }

    fn follower(&self) -> Follower<'_> {
        Follower {
            catalogue: &*self.catalogue,
            client: &self.client,
            collections: &self.collections,
            config: &self.config,
            turns: &self.turns,
        }
    }

    fn count(&self, entry: &Entry, condition: Option<Condition>) -> Result<usize> {
        let conditions = [of_tenant(&entry.at.tenant)].into_iter().chain(condition);
        let request = CountPointsBuilder::new(&entry.at.collection)
            .filter(ServerFilter::must(conditions))
            .exact(true)
            .build();
        let answer = self.client.ask("count", &Deadline::after(QUESTION_LIMIT), move |peer| {
            let request = request.clone();
            async move { peer.count(request).await }
        })?;
        Ok(answer.result.map_or(0, |result| result.count as usize))
    }

    fn entries(&self) -> Result<HashMap<u32, Entry>> {
        remote::entries(&*self.catalogue)
    }

    /// Lets one namespace follow to its last change.
    fn follow_one(&self, id: &NamespaceId) -> Result<()> {
        let number = state_of(&*self.catalogue, id)?.number;
        let lock = self.turns.lock_of(number);
        let turn = self.turns.take(&*self.catalogue, number, &lock)?;
        let seen = self.follower().catch_up(id, &turn)?;
        self.words.follow(&self.client, &*self.catalogue, number)?;
        self.catalogue.release(number, ENGINE, seen)
    }

    /// Lets every namespace follow that is not at its head.
    fn follow_others(&self, heads: &[NamespaceHead]) -> Result<()> {
        // A server may have died between its write to the catalogue and the one to Qdrant.
        let entries = self.entries()?;
        let mut first_failure = Ok(());
        for head in heads {
            let has_all = |entry: &Entry| {
                entry.seen >= head.sequence && is_current(entry, &self.config.prefix)
            };
            if head.sequence == 0 || entries.get(&head.number).is_some_and(has_all) {
                continue;
            }
            match self.follow_one(&head.id) {
                Ok(()) | Err(Error::UnknownNamespace { .. }) => {}
                Err(error) if first_failure.is_ok() => first_failure = Err(error),
                Err(_) => {}
            }
        }
        first_failure
    }

    fn erase_namespace(&self, dropped: &DroppedNamespace) -> Result<()> {
        // Whoever still follows it ends first: what it writes afterwards would stay.
        let lock = self.turns.lock_of(dropped.number);
        let turn = self.turns.take(&*self.catalogue, dropped.number, &lock);
        remote::let_go::<Tenant>(&*self.catalogue, dropped.number)?;
        self.follower().erase_leftovers(turn.is_ok().then_some(dropped.number));
        turn.map(|_| ())
    }
}

impl Engine for QdrantEngine {
    fn info(&self) -> EngineInfo<'_> {
        EngineInfo { name: ENGINE, place: EnginePlace::Server(self) }
    }

    fn follow(&self, changes: Changes<'_>) -> Result<()> {
        match changes {
            Changes::Of { namespace, .. } => self.follow_one(namespace),
            Changes::OfOthers(heads) => self.follow_others(heads),
        }
    }

    fn positions(&self) -> Result<Vec<Position>> {
        let entries = self.entries()?;
        let position = |head: NamespaceHead| {
            let seen = entries.get(&head.number).map_or(0, |entry| entry.seen);
            Position { number: head.number, seen }
        };
        Ok(self.catalogue.heads()?.into_iter().map(position).collect())
    }

    fn search(
        &self,
        namespace: &NamespaceId,
        search: &Search<'_>,
        deadline: &Deadline,
    ) -> Result<(Candidates, Candidates)> {
        self.find(namespace, search, deadline)
    }

    fn term_statistics(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics> {
        let (state, entry) = remote::searched::<Tenant>(&*self.catalogue, namespace)?;
        let fields = [Field::Text, Field::Title];
        let none = || vec![0.0; terms.len() * fields.len()];
        let (totals, holding) = match entry {
            None => (crate::figures::Totals::default(), none()),
            Some(entry) => {
                let wanted: Vec<Vec<Term>> = terms
                    .iter()
                    .flat_map(|(form, term)| {
                        fields.map(|field| vec![Term::word(field, *form, term)])
                    })
                    .collect();
                let deadline = Deadline::after(QUESTION_LIMIT);
                let table = self.word_table(&state, &entry);
                let table = table.as_ref();
                self.figures.count(&self.client, &entry, table, &wanted, &deadline)?
            }
        };
        let holding = holding.chunks(fields.len());
        let counted = terms.iter().zip(holding).map(|((form, term), n_passages)| TermCount {
            form: *form,
            term: term.clone(),
            n_passages: n_passages.iter().copied().fold(0.0, f64::max) as u64,
        });
        Ok(TermStatistics {
            n_passages: totals.n_passages as u64,
            mean_length: totals.mean_coded,
            terms: counted.collect(),
        })
    }

    fn erase(&self, erased: Erased<'_>) -> Result<()> {
        match erased {
            Erased::Namespace(dropped) => self.erase_namespace(dropped),
            // Points go with the deletion: only what could not be sent then is left.
            Erased::Documents(namespaces) => follow_known(self, namespaces),
        }
    }

    fn rebuild(&self, id: &NamespaceId, when: Rebuild) -> Result<()> {
        if when == Rebuild::WhenUsed {
            return remote::outdate::<Tenant>(
                &*self.catalogue,
                state_of(&*self.catalogue, id)?.number,
            );
        }
        let state = state_of(&*self.catalogue, id)?;
        let lock = self.turns.lock_of(state.number);
        let turn = self.turns.take(&*self.catalogue, state.number, &lock)?;
        let collection =
            crate::collection::name_of(&self.config.prefix, state.info.manifest.vectors.as_ref());
        // It may be gone, which is why somebody asks.
        self.collections.forget(&collection);
        self.follower().make_anew(&state, &turn)
    }

    fn maintain(&self) -> Result<()> {
        self.follower().erase_leftovers(None);
        self.follow_others(&self.catalogue.heads()?)
    }

    fn problem(&self, id: &NamespaceId) -> Result<Option<String>> {
        self.follow_one(id)?;
        let state = state_of(&*self.catalogue, id)?;
        let Some(entry) = remote::entry(&*self.catalogue, state.number)? else {
            return Ok((state.counts.n_passages > 0).then(|| "Qdrant has nothing of it".to_owned()));
        };
        let counted = self.count(&entry, None).and_then(|n_points| {
            let n_vectors = match entry.space {
                Some(_) => self.count(&entry, Some(Condition::has_vector(DENSE)))?,
                None => 0,
            };
            Ok((n_points, n_vectors))
        });
        let (n_points, n_vectors) = match counted {
            Err(Error::EngineMissing { .. }) => (0, 0),
            counted => counted?,
        };
        let counts = state.counts;
        if n_points != counts.n_passages {
            let problem = format!("Qdrant has `{n_points}` of `{}` passages", counts.n_passages);
            return Ok(Some(problem));
        }
        if n_vectors != counts.n_vectors {
            let problem = format!("Qdrant has `{n_vectors}` of `{}` vectors", counts.n_vectors);
            return Ok(Some(problem));
        }
        Ok(None)
    }
}

impl EngineServer for QdrantEngine {
    fn reach(&self) -> Result<()> {
        let deadline = Deadline::after(REACH_LIMIT);
        let reply = self
            .client
            .look("health check", &deadline, |peer| async move { peer.health_check().await })?;
        tracing::debug!(version = reply.version, "Qdrant answers");
        Ok(())
    }

    fn has_words_here(&self, namespace: &NamespaceId) -> bool {
        self.has_words_in_memory(namespace)
    }

    fn reach_every(&self) -> Duration {
        REACH_EVERY
    }
}
