//! Kept answers of servers that share a catalogue.
//!
//! A thread writes them, some at a time: a call does not wait for the database.
//!
//! **Erasure.** Each tenant has an epoch, and so have all tenants together. An answer is written
//! under the epochs that its server knew when it left; an erasure ends an epoch, erases what was
//! written under it and begins the next one, by one transaction. What another server still has on
//! its way belongs to an epoch that is over, and is refused: that server drops it, and whatever was
//! being answered then. An index that follows the catalogue may be behind, so that it keeps nothing
//! of that tenant for as long as that can be.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::{Clock, Timestamp};
use parking_lot::{Condvar, Mutex};
use serde_json::Value;
use store::{Change, Error, ObjectKey, Objects};

use super::epochs::{
    EPOCH, EVERYONE, epoch_key, epoch_row, epochs, latest_epoch, name_of, whose_of,
};
use super::rows::{HOUR_MILLIS, REMAINS, WHOLE, hour_of, id_of, row};
use super::{LeavingAnswer, MAX_REMAINS_BYTES, StoredAnswer};
use crate::AuditConfig;

/// How long answers are gathered before they are written.
const GATHER: Duration = Duration::from_millis(250);
/// Answers that are written by one transaction.
const MAX_WRITTEN_AT_ONCE: usize = 100;
/// Bytes of answers that wait to be written; beyond it they are lost.
const MAX_WAITING_BYTES: usize = 16 << 20;
/// How long nothing is kept after an erasure by another server was noticed, in milliseconds: an
/// index that is further behind says so in its answers.
const MAX_LAG_MILLIS: i64 = 10_000;
/// How often the space is looked at, in milliseconds, and after which part of it was written.
const TRIM_EVERY: i64 = 10 * 60_000;
const TRIMS_PER_SPACE: u64 = 16;

pub(super) struct CatalogueAnswers {
    inner: Arc<Inner>,
    thread: OnceLock<()>,
}

struct Inner {
    objects: Arc<dyn Objects>,
    config: AuditConfig,
    clock: Clock,
    /// Names this server in the rows that count bytes.
    server: String,
    state: Mutex<State>,
    changed: Condvar,
    /// Held by the one who writes, so that answers are written in their order.
    writing: Mutex<Written>,
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    n_waiting_bytes: usize,
    n_lost: usize,
    /// The epochs that this server knows, by whose they are.
    epochs: HashMap<String, u64>,
    /// Answers of calls up to these times are not kept, by whose they are.
    silent_until: HashMap<String, Timestamp>,
    /// Erasures that the catalogue has not taken yet.
    unerased: BTreeSet<String>,
    is_closing: bool,
}

#[derive(Default)]
struct Written {
    hour: i64,
    n_bytes: u64,
    n_remains_bytes: u64,
    n_bytes_since_trim: u64,
    trimmed_at: Option<Timestamp>,
    /// An hour that takes all the space by itself: no more of it is kept.
    full_hour: Option<i64>,
}

/// An answer on its way.
struct Waiting {
    at: Timestamp,
    id: String,
    tenant: String,
    whole: String,
    remains: String,
}

impl CatalogueAnswers {
    pub(super) fn open(
        objects: Arc<dyn Objects>,
        config: &AuditConfig,
        clock: Clock,
    ) -> std::io::Result<Self> {
        let epochs = epochs(&*objects, None).map_err(failed)?;
        let inner = Inner {
            objects,
            config: config.clone(),
            clock,
            server: random_name(),
            state: Mutex::new(State { epochs, ..State::default() }),
            changed: Condvar::new(),
            writing: Mutex::default(),
        };
        Ok(CatalogueAnswers { inner: Arc::new(inner), thread: OnceLock::new() })
    }

    pub(super) fn keep(&self, answer: &LeavingAnswer<'_>) -> std::io::Result<()> {
        let waiting = Waiting {
            at: answer.at,
            id: id_of(answer.request, answer.at),
            tenant: answer.tenant.to_owned(),
            whole: serde_json::to_string(answer)?,
            remains: serde_json::to_string(&remains_of(answer))?,
        };
        {
            let mut state = self.inner.state.lock();
            if state.n_waiting_bytes + waiting.n_bytes() > MAX_WAITING_BYTES {
                state.n_lost += 1;
                return Ok(());
            }
            state.n_waiting_bytes += waiting.n_bytes();
            state.waiting.push(waiting);
        }
        self.inner.changed.notify_all();
        self.start()
    }

    pub(super) fn find(
        &self,
        request: &str,
        at: Timestamp,
    ) -> std::io::Result<Option<StoredAnswer>> {
        self.inner.write_waiting();
        let id = id_of(request, at);
        let read = |kind: &str| -> std::io::Result<Option<StoredAnswer>> {
            let found = self.inner.objects.get(&ObjectKey::new(kind, &id)).map_err(failed)?;
            Ok(found.and_then(|row| serde_json::from_str(row.body.as_str()?).ok()))
        };
        if let Some(whole) = read(WHOLE.kind)? {
            return Ok(Some(whole));
        }
        let Some(remains) = read(REMAINS.kind)? else { return Ok(None) };
        let is_erased = self.inner.is_erased(&remains.tenant, at).map_err(failed)?;
        Ok(Some(StoredAnswer { is_erased, ..remains }))
    }

    /// Lets go of answers that are over their time, or of all where none are kept any more.
    pub(super) fn let_old_go(&self, now: Timestamp, is_keeping: bool) -> std::io::Result<()> {
        let hour = hour_of(now);
        let mut written = self.inner.writing.lock();
        let trimmed = match is_keeping {
            true => self.inner.trim(&mut written, now),
            // Those of this hour as well.
            false => WHOLE.trim(&*self.inner.objects, hour + 1, hour + 1, 0).map(|_| ()),
        };
        trimmed.map_err(failed)
    }

    pub(super) fn erase(&self, tenant: Option<&str>) -> std::io::Result<()> {
        let whose = tenant.map_or(EVERYONE.to_owned(), name_of);
        let erased = self.inner.erase(&whose);
        if erased.is_err() {
            self.inner.state.lock().unerased.insert(whose);
            self.inner.changed.notify_all();
            self.start()?;
        }
        erased.map_err(failed)
    }

    /// Starts the thread that writes, unless it runs.
    fn start(&self) -> std::io::Result<()> {
        if self.thread.set(()).is_err() {
            return Ok(());
        }
        let inner = Arc::clone(&self.inner);
        std::thread::Builder::new().name("answers".to_owned()).spawn(move || run(&inner))?;
        Ok(())
    }
}

impl Drop for CatalogueAnswers {
    fn drop(&mut self) {
        // The thread writes what waits, and ends.
        self.inner.state.lock().is_closing = true;
        self.inner.changed.notify_all();
    }
}

fn run(inner: &Inner) {
    loop {
        {
            let mut state = inner.state.lock();
            if state.waiting.is_empty() && state.unerased.is_empty() && !state.is_closing {
                inner.changed.wait(&mut state);
            }
        }
        std::thread::sleep(GATHER);
        // Looked at before: nothing waits once it is set and what waited was written.
        let is_closing = inner.state.lock().is_closing;
        inner.write_waiting();
        inner.erase_late();
        if is_closing {
            return;
        }
    }
}

impl Inner {
    /// Writes the answers that wait.
    fn write_waiting(&self) {
        let mut written = self.writing.lock();
        loop {
            let (some, n_lost) = {
                let mut state = self.state.lock();
                let n_some = state.waiting.len().min(MAX_WRITTEN_AT_ONCE);
                let some: Vec<Waiting> = state.waiting.drain(..n_some).collect();
                state.n_waiting_bytes -= some.iter().map(Waiting::n_bytes).sum::<usize>();
                (some, std::mem::take(&mut state.n_lost))
            };
            if n_lost > 0 {
                tracing::warn!(n_lost, "answers were not stored for replay: too many wait");
            }
            if some.is_empty() {
                return;
            }
            let mut by_tenant: HashMap<String, Vec<Waiting>> = HashMap::new();
            for waiting in some {
                by_tenant.entry(waiting.tenant.clone()).or_default().push(waiting);
            }
            for (tenant, answers) in by_tenant {
                let n_answers = answers.len();
                if let Err(error) = self.write(&mut written, &tenant, answers) {
                    tracing::warn!(%error, n_answers, "answers were not stored for replay");
                }
            }
        }
    }

    fn write(
        &self,
        written: &mut Written,
        tenant: &str,
        mut answers: Vec<Waiting>,
    ) -> store::Result<()> {
        let now = self.clock.now();
        if self.is_trim_due(written, now) {
            self.trim(written, now)?;
        }
        let hour = hour_of(now);
        if written.full_hour == Some(hour) {
            return Ok(());
        }
        let whose = name_of(tenant);
        let of_all = self.epoch(EVERYONE)?;
        let own = self.epoch(&whose)?;
        {
            let state = self.state.lock();
            answers.retain(|answer| {
                let is_silent = |whose: &str| {
                    state.silent_until.get(whose).is_some_and(|until| answer.at <= *until)
                };
                !is_silent(&whose) && !is_silent(EVERYONE)
            });
        }
        if answers.is_empty() {
            return Ok(());
        }
        if written.hour != hour {
            (written.hour, written.n_bytes, written.n_remains_bytes) = (hour, 0, 0);
        }
        let n_whole: usize = answers.iter().map(|answer| answer.whole.len()).sum();
        let n_remains: usize = answers.iter().map(|answer| answer.remains.len()).sum();
        let (n_bytes, n_remains_bytes) =
            (written.n_bytes + n_whole as u64, written.n_remains_bytes + n_remains as u64);
        let mut changes = vec![
            Change::Require(of_all),
            Change::Require(own.clone()),
            WHOLE.counted(&self.server, hour, n_bytes),
            REMAINS.counted(&self.server, hour, n_remains_bytes),
        ];
        for answer in answers {
            let mut whole = row(WHOLE.kind, answer.id.clone(), tenant, Value::from(answer.whole));
            whole.parent = Some(own.id.clone());
            changes.push(Change::Put(whole));
            let remains = row(REMAINS.kind, answer.id, tenant, Value::from(answer.remains));
            changes.push(Change::Put(remains));
        }
        match self.objects.apply(&changes) {
            Err(Error::MissingObject { kind, id }) if kind == EPOCH => {
                self.notice_erasure(whose_of(&id))
            }
            applied => {
                applied?;
                written.n_bytes_since_trim += n_whole as u64;
                (written.n_bytes, written.n_remains_bytes) = (n_bytes, n_remains_bytes);
                Ok(())
            }
        }
    }

    /// Tells whether so much time or space has passed that answers may be over theirs.
    fn is_trim_due(&self, written: &Written, now: Timestamp) -> bool {
        written.trimmed_at.is_none_or(|at| now.0 - at.0 >= TRIM_EVERY)
            || written.n_bytes_since_trim > self.max_bytes() / TRIMS_PER_SPACE
    }

    fn max_bytes(&self) -> u64 {
        self.config.keep_answers_mb.saturating_mul(1_000_000)
    }

    /// Lets go of answers that are over their time, and of the oldest where all take too much.
    fn trim(&self, written: &mut Written, now: Timestamp) -> store::Result<()> {
        let (hour, max_bytes) = (hour_of(now), self.max_bytes());
        let days = i64::from(self.config.keep_answers_days);
        let oldest = hour - days * (super::folder::DAY_MILLIS / HOUR_MILLIS);
        let n_of_hour = WHOLE.trim(&*self.objects, oldest, hour, max_bytes)?;
        REMAINS.trim(&*self.objects, 0, hour, MAX_REMAINS_BYTES)?;
        if n_of_hour > max_bytes && written.full_hour != Some(hour) {
            tracing::warn!(
                "the answers of this hour have reached their limit: no more of it are stored"
            );
        }
        written.full_hour = (n_of_hour > max_bytes).then_some(hour);
        written.trimmed_at = Some(now);
        written.n_bytes_since_trim = 0;
        Ok(())
    }

    /// Gives the row of the epoch that this server knows, or that it finds. One that others have
    /// begun since this server started is the sign of an erasure.
    fn epoch(&self, whose: &str) -> store::Result<ObjectKey> {
        let known = || self.state.lock().epochs.get(whose).copied();
        if let Some(epoch) = known() {
            return Ok(epoch_key(whose, epoch));
        }
        if latest_epoch(&*self.objects, whose)?.is_none() {
            self.objects.apply(&[Change::Put(epoch_row(whose, 0, None))])?;
        }
        // Looked at again: an erasure may have begun the next one at the same time.
        match latest_epoch(&*self.objects, whose)? {
            None | Some(0) => {
                self.state.lock().epochs.insert(whose.to_owned(), 0);
            }
            Some(_) => self.notice_erasure(whose)?,
        }
        Ok(epoch_key(whose, known().unwrap_or(0)))
    }

    /// Keeps nothing that may hold what another server has erased, and takes part in the epoch that
    /// came after.
    fn notice_erasure(&self, whose: &str) -> store::Result<()> {
        let epoch = latest_epoch(&*self.objects, whose)?.unwrap_or(0);
        // After the look: an erasure since then is noticed by its own epoch.
        let until = Timestamp(self.clock.now().0 + MAX_LAG_MILLIS);
        let mut state = self.state.lock();
        state.epochs.insert(whose.to_owned(), epoch);
        state.silent_until.insert(whose.to_owned(), until);
        Ok(())
    }

    fn erase(&self, whose: &str) -> store::Result<()> {
        let found = latest_epoch(&*self.objects, whose)?;
        let next = found.map_or(1, |epoch| epoch + 1);
        let mut changes = vec![];
        // All before the next one: an earlier one is left where a server was just beginning it.
        for epoch in [0, next - 1] {
            let key = epoch_key(whose, epoch);
            changes.extend([Change::DeleteChildren(key.clone()), Change::Delete(key)]);
        }
        changes.push(Change::Put(epoch_row(whose, next, Some(self.clock.now()))));
        self.objects.apply(&changes)?;
        if whose == EVERYONE {
            // From here on nothing is written under the epochs of tenants that is older than this.
            for (tenant, epoch) in epochs(&*self.objects, None)? {
                let key = epoch_key(&tenant, epoch);
                self.objects.apply(&[Change::DeleteChildren(key)])?;
            }
        }
        // What is being answered now may hold what was erased; where others have erased as well,
        // the index of this server may be behind them.
        let mut now = self.clock.now();
        let mut state = self.state.lock();
        let known = state.epochs.insert(whose.to_owned(), next);
        if found.is_some_and(|epoch| epoch > 0) && known != found {
            now.0 += MAX_LAG_MILLIS;
        }
        let until = state.silent_until.entry(whose.to_owned()).or_insert(now);
        *until = (*until).max(now);
        Ok(())
    }

    /// Tries again what the catalogue did not take.
    fn erase_late(&self) {
        let unerased = self.state.lock().unerased.clone();
        for whose in unerased {
            if self.erase(&whose).is_ok() {
                self.state.lock().unerased.remove(&whose);
            }
        }
    }

    /// Tells whether a call that arrived at a time was answered before an erasure.
    fn is_erased(&self, tenant: &str, at: Timestamp) -> store::Result<bool> {
        for whose in [name_of(tenant), EVERYONE.to_owned()] {
            let Some(epoch) = latest_epoch(&*self.objects, &whose)? else { continue };
            let row = self.objects.get(&epoch_key(&whose, epoch))?;
            let erased_at = row.and_then(|row| row.body["erased_at"].as_i64());
            if erased_at.is_some_and(|erased_at| at.0 <= erased_at) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Waiting {
    fn n_bytes(&self) -> usize {
        self.whole.len() + self.remains.len()
    }
}

fn remains_of(answer: &LeavingAnswer<'_>) -> StoredAnswer {
    StoredAnswer {
        at: answer.at,
        request: answer.request.to_owned(),
        tool: answer.tool.to_owned(),
        tenant: answer.tenant.to_owned(),
        caller: answer.caller.to_owned(),
        rights: None,
        arguments: None,
        answer: None,
        is_erased: false,
        ids: answer.ids.iter().map(|id| (*id).to_owned()).collect(),
        hash: answer.hash.to_owned(),
        generation: answer.generation,
    }
}

fn random_name() -> String {
    let random = ring::rand::SystemRandom::new();
    let bytes = ring::rand::generate::<[u8; 8]>(&random).map(ring::rand::Random::expose);
    model::hex(bytes.unwrap_or_default())
}

fn failed(error: Error) -> std::io::Error {
    std::io::Error::other(error)
}
