//! What slots promise: never more than the limits, nobody behind somebody else's crowd, nothing
//! held while waiting, nothing lost when a waiter gives up.

use std::collections::BTreeMap;

use model::TenantId;
use proptest::prelude::*;

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn caller(tenant: &str, subject: &str) -> Caller {
    Caller {
        subject: subject.to_owned(),
        tenant: TenantId::new(tenant),
        identity: Identity::Key,
        ..Caller::local_admin()
    }
}

fn slots(total: usize, per_caller: usize, per_tenant: usize) -> Arc<Slots> {
    Slots::new(SlotLimits { total, per_caller, per_tenant })
}

/// Takes a slot that must be free.
fn now(slots: &Arc<Slots>, caller: &Caller) -> Option<Slot> {
    futures::FutureExt::now_or_never(Box::pin(slots.acquire(caller, LONG))).map(Result::unwrap)
}

#[tokio::test]
async fn one_callers_crowd_leaves_slots_for_others() {
    let slots = slots(8, 2, 4);
    let crowd = caller("acme", "crowd");
    let held: Vec<Slot> = (0..2).filter_map(|_| now(&slots, &crowd)).collect();
    assert_eq!(held.len(), 2);
    let third = tokio::spawn({
        let (slots, crowd) = (Arc::clone(&slots), crowd.clone());
        async move { slots.acquire(&crowd, LONG).await.map(drop) }
    });
    tokio::task::yield_now().await;
    assert!(now(&slots, &caller("acme", "ann")).is_some(), "another caller waits for nobody");
    assert!(now(&slots, &caller("other", "bob")).is_some());
    drop(held);
    assert_eq!(third.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn one_tenants_crowd_leaves_slots_for_others() {
    let slots = slots(4, 2, 3);
    let names = ["a", "b", "c", "d"];
    let held: Vec<_> = names.iter().filter_map(|n| now(&slots, &caller("acme", n))).collect();
    assert_eq!(held.len(), 3);
    assert!(now(&slots, &caller("other", "bob")).is_some());
}

#[tokio::test]
async fn a_waiting_call_holds_no_slot() {
    let slots = slots(1, 1, 1);
    let ann = caller("acme", "ann");
    let waiting = now(&slots, &ann).unwrap();
    assert!(now(&slots, &caller("acme", "bob")).is_none());
    let lender = waiting.lender();
    let (work_slots, bob) = (Arc::clone(&slots), caller("acme", "bob"));
    model::with_lender(lender, || {
        model::while_waiting(|| assert!(now(&work_slots, &bob).is_some()));
        assert!(now(&work_slots, &bob).is_none(), "after the wait the slot is held again");
    });
    drop(waiting);
    assert!(now(&slots, &bob).is_some());
}

#[tokio::test]
async fn too_many_waiting_calls_are_turned_away_and_those_that_left_are_forgotten() {
    let slots = slots(1, 1, 1);
    let ann = caller("acme", "ann");
    let held = now(&slots, &ann).unwrap();
    let mut waiting: Vec<_> =
        (0..MAX_WAITING_PER_CALLER).map(|_| Box::pin(slots.acquire(&ann, LONG))).collect();
    for wait in &mut waiting {
        assert!(futures::poll!(wait).is_pending());
    }
    let refused = slots.acquire(&ann, LONG).await.unwrap_err();
    assert_eq!(refused, NoSlot::TooManyWaiting { allowed: MAX_WAITING_PER_CALLER });
    drop(waiting);
    drop(held);
    assert!(now(&slots, &ann).is_some());
    assert!(slots.0.lock().by_caller.is_empty());
}

#[derive(Debug, Clone)]
enum Step {
    Ask(usize),
    End(usize),
    GiveUp(usize),
    Lend(usize),
    TakeBack(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..6_usize).prop_map(Step::Ask),
        3 => (0..64_usize).prop_map(Step::End),
        1 => (0..64_usize).prop_map(Step::GiveUp),
        1 => (0..64_usize).prop_map(Step::Lend),
        1 => (0..64_usize).prop_map(Step::TakeBack),
    ]
}

proptest! {
    /// Against a count by hand: limits hold at every step, no slot stays free while somebody
    /// who may have it waits, and at the end nothing is left.
    #[test]
    fn limits_hold_and_nobody_waits_for_nothing(
        total in 1..5_usize, per_caller in 1..4_usize, per_tenant in 1..5_usize,
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _entered = runtime.enter();
        let slots = slots(total, per_caller, per_tenant);
        let callers: Vec<Caller> =
            (0..6).map(|n| caller(["a", "b"][n % 2], &format!("c{n}"))).collect();
        let mut held: Vec<(usize, Slot)> = Vec::new();
        let mut waiting = Vec::new();
        let mut lent: Vec<usize> = Vec::new();
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut has_overdrawn = false;
        for step in steps {
            match step {
                Step::Ask(n) => {
                    let (slots, caller) = (Arc::clone(&slots), callers[n].clone());
                    waiting.push((n, Box::pin(async move { slots.acquire(&caller, LONG).await })));
                }
                Step::End(n) if !held.is_empty() => {
                    let at = n % held.len();
                    held.remove(at);
                    lent.retain(|index| *index != at);
                    lent.iter_mut().for_each(|index| *index -= usize::from(*index > at));
                }
                Step::GiveUp(n) if !waiting.is_empty() => drop(waiting.remove(n % waiting.len())),
                Step::Lend(n) if !held.is_empty() && !lent.contains(&(n % held.len())) => {
                    lent.push(n % held.len());
                    held[n % held.len()].1.lender().lend();
                }
                Step::TakeBack(n) if !lent.is_empty() => {
                    let at = lent.remove(n % lent.len());
                    held[at].1.lender().take_back();
                    has_overdrawn = true;
                }
                Step::End(_) | Step::GiveUp(_) | Step::Lend(_) | Step::TakeBack(_) => {}
            }
            waiting.retain_mut(|(n, wait)| match wait.as_mut().poll(&mut context) {
                std::task::Poll::Ready(slot) => { held.push((*n, slot.unwrap())); false }
                std::task::Poll::Pending => true,
            });
            let mut by_caller = BTreeMap::<usize, usize>::new();
            let mut by_tenant = BTreeMap::<usize, usize>::new();
            for (index, (n, _)) in held.iter().enumerate() {
                if !lent.contains(&index) {
                    *by_caller.entry(*n).or_default() += 1;
                    *by_tenant.entry(n % 2).or_default() += 1;
                }
            }
            let n_running: usize = by_caller.values().sum();
            if !has_overdrawn {
                prop_assert!(n_running <= total);
                prop_assert!(by_caller.values().all(|n| *n <= per_caller));
                prop_assert!(by_tenant.values().all(|n| *n <= per_tenant));
            }
            for (n, _) in &waiting {
                let has_own = by_caller.get(n).copied().unwrap_or(0) < per_caller
                    && by_tenant.get(&(n % 2)).copied().unwrap_or(0) < per_tenant;
                prop_assert!(n_running >= total || !has_own, "c{n} waits for nothing");
            }
        }
        drop((held, waiting));
        let state = slots.0.lock();
        prop_assert!(state.n_running == 0 && state.by_tenant.is_empty());
    }
}
