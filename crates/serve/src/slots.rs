//! Slots for calls in progress: so many in all, so many for one caller and for one tenant, and a
//! fair queue for the rest.
//!
//! A slot that comes free goes to the callers in turn, whoever has more calls waiting. A caller
//! or tenant at its own limit is passed over until one of its calls ends, so that nobody waits
//! for somebody else's crowd. A call that only waits for other work lends its slot
//! ([`model::while_waiting`]).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use model::{Caller, Identity, Lender};
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Calls of one caller that may wait, for a slot or for other work; one more is turned away.
const MAX_WAITING_PER_CALLER: usize = 64;

/// How many calls may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotLimits {
    /// Of everybody together.
    pub total: usize,
    /// So that one agent cannot take them all.
    pub per_caller: usize,
    /// So that many keys of one tenant cannot.
    pub per_tenant: usize,
}

impl SlotLimits {
    /// Takes the limits of a configuration.
    pub fn of(limits: &guard::LimitsConfig) -> Self {
        SlotLimits {
            total: limits.concurrent_calls.max(1),
            per_caller: limits.concurrent_calls_per_caller.max(1),
            per_tenant: limits.concurrent_calls_per_tenant.max(1),
        }
    }
}

/// Why there is no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSlot {
    /// None came free in time.
    Busy,
    /// The caller has too many calls waiting already.
    TooManyWaiting {
        /// How many may wait.
        allowed: usize,
    },
}

/// Hands out slots. It outlives a change of the configuration, so that calls in progress count.
pub struct Slots(Mutex<State>);

struct State {
    limits: SlotLimits,
    n_running: usize,
    by_tenant: HashMap<String, usize>,
    by_caller: HashMap<String, OfCaller>,
    /// Callers with calls that wait for a slot, in the order of their turns.
    turns: VecDeque<String>,
}

#[derive(Default)]
struct OfCaller {
    tenant: String,
    /// On loopback without authentication everyone is the same caller: only the total counts.
    is_everyone: bool,
    n_running: usize,
    n_lent: usize,
    queue: VecDeque<oneshot::Sender<Slot>>,
}

/// A slot that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<Held>);

struct Held {
    slots: Arc<Slots>,
    caller: String,
    is_lent: Mutex<bool>,
}

impl Slots {
    /// Starts with all slots free.
    pub fn new(limits: SlotLimits) -> Arc<Self> {
        Arc::new(Slots(Mutex::new(State {
            limits,
            n_running: 0,
            by_tenant: HashMap::new(),
            by_caller: HashMap::new(),
            turns: VecDeque::new(),
        })))
    }

    /// Takes other limits; calls in progress go on.
    pub fn set_limits(self: &Arc<Self>, limits: SlotLimits) {
        let mut state = self.0.lock();
        state.limits = limits;
        let granted = state.grant(self);
        drop(state);
        deliver(granted);
    }

    /// Waits for a slot.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        caller: &Caller,
        wait: Duration,
    ) -> Result<Slot, NoSlot> {
        let waiting = {
            let mut state = self.0.lock();
            let key = caller.client_key();
            let of_caller = state.by_caller.entry(key.clone()).or_default();
            of_caller.tenant = caller.tenant.to_string();
            of_caller.is_everyone = caller.identity == Identity::Local;
            of_caller.queue.retain(|waiter| !waiter.is_closed());
            let may_wait = if of_caller.is_everyone { usize::MAX } else { MAX_WAITING_PER_CALLER };
            if of_caller.queue.len() + of_caller.n_lent >= may_wait {
                return Err(NoSlot::TooManyWaiting { allowed: may_wait });
            }
            let (sender, waiting) = oneshot::channel();
            if of_caller.queue.is_empty() {
                state.turns.push_back(key.clone());
            }
            if let Some(of_caller) = state.by_caller.get_mut(&key) {
                of_caller.queue.push_back(sender);
            }
            let granted = state.grant(self);
            drop(state);
            deliver(granted);
            waiting
        };
        match tokio::time::timeout(wait, waiting).await {
            Ok(Ok(slot)) => Ok(slot),
            Ok(Err(_)) | Err(_) => Err(NoSlot::Busy),
        }
    }

    fn release(self: &Arc<Self>, caller: &str, was_lent: bool) {
        let mut state = self.0.lock();
        if was_lent {
            if let Some(of_caller) = state.by_caller.get_mut(caller) {
                of_caller.n_lent -= 1;
            }
        } else {
            state.stop_running(caller);
        }
        state.forget_idle(caller);
        let granted = state.grant(self);
        drop(state);
        deliver(granted);
    }
}

type Granted = Vec<(oneshot::Sender<Slot>, Slot)>;

/// Hands slots over outside the lock: one that nobody waits for any more is dropped here, and
/// its drop takes the lock again.
fn deliver(granted: Granted) {
    for (waiter, slot) in granted {
        let _ = waiter.send(slot);
    }
}

impl State {
    /// Gives free slots to those who wait, in turn.
    fn grant(&mut self, slots: &Arc<Slots>) -> Granted {
        let mut granted = Vec::new();
        let mut n_passed_over = 0;
        while self.n_running < self.limits.total && n_passed_over < self.turns.len() {
            let Some(key) = self.turns.pop_front() else { break };
            let Some(of_caller) = self.by_caller.get_mut(&key) else { continue };
            of_caller.queue.retain(|waiter| !waiter.is_closed());
            if of_caller.queue.is_empty() {
                self.forget_idle(&key);
                continue;
            }
            let of_tenant = self.by_tenant.get(&of_caller.tenant).copied().unwrap_or(0);
            let has_own_slot = of_caller.is_everyone
                || (of_caller.n_running < self.limits.per_caller
                    && of_tenant < self.limits.per_tenant);
            if !has_own_slot {
                self.turns.push_back(key);
                n_passed_over += 1;
                continue;
            }
            n_passed_over = 0;
            if let Some(waiter) = of_caller.queue.pop_front() {
                of_caller.n_running += 1;
                *self.by_tenant.entry(of_caller.tenant.clone()).or_default() += 1;
                self.n_running += 1;
                let held = Held {
                    slots: Arc::clone(slots),
                    caller: key.clone(),
                    is_lent: Mutex::new(false),
                };
                granted.push((waiter, Slot(Arc::new(held))));
            }
            if !of_caller.queue.is_empty() {
                self.turns.push_back(key);
            }
        }
        granted
    }

    fn start_running(&mut self, caller: &str) {
        self.n_running += 1;
        if let Some(of_caller) = self.by_caller.get_mut(caller) {
            of_caller.n_running += 1;
            *self.by_tenant.entry(of_caller.tenant.clone()).or_default() += 1;
        }
    }

    fn stop_running(&mut self, caller: &str) {
        self.n_running -= 1;
        let Some(of_caller) = self.by_caller.get_mut(caller) else { return };
        of_caller.n_running -= 1;
        if let Some(of_tenant) = self.by_tenant.get_mut(&of_caller.tenant) {
            *of_tenant -= 1;
            if *of_tenant == 0 {
                self.by_tenant.remove(&of_caller.tenant);
            }
        }
    }

    /// Callers that are gone cost nothing.
    fn forget_idle(&mut self, caller: &str) {
        let is_idle = self.by_caller.get(caller).is_some_and(|of_caller| {
            of_caller.n_running == 0 && of_caller.n_lent == 0 && of_caller.queue.is_empty()
        });
        if is_idle {
            self.by_caller.remove(caller);
            self.turns.retain(|turn| turn != caller);
        }
    }
}

impl Slot {
    /// Gives what lends the slot while its thread waits.
    pub(crate) fn lender(&self) -> Arc<dyn Lender> {
        Arc::clone(&self.0) as Arc<dyn Lender>
    }
}

impl Lender for Held {
    fn lend(&self) {
        let mut is_lent = self.is_lent.lock();
        if !std::mem::replace(&mut *is_lent, true) {
            let mut state = self.slots.0.lock();
            state.stop_running(&self.caller);
            if let Some(of_caller) = state.by_caller.get_mut(&self.caller) {
                of_caller.n_lent += 1;
            }
            let granted = state.grant(&self.slots);
            drop(state);
            deliver(granted);
        }
    }

    /// Goes on at once, even beyond the limits: what comes after a wait is writing the answer,
    /// and whoever waited must not wait again for those who came later.
    fn take_back(&self) {
        let mut is_lent = self.is_lent.lock();
        if std::mem::replace(&mut *is_lent, false) {
            let mut state = self.slots.0.lock();
            if let Some(of_caller) = state.by_caller.get_mut(&self.caller) {
                of_caller.n_lent -= 1;
            }
            state.start_running(&self.caller);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let was_lent = *self.is_lent.lock();
        self.slots.release(&self.caller, was_lent);
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("caller", &self.caller).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
