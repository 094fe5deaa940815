//! How many bodies of one caller and of one tenant may be arriving at once: whoever sends bodies
//! that do not end holds a share of the connections, from however many addresses.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use model::Caller;
use parking_lot::Mutex;

/// Bodies of one caller that may be arriving at once.
const MAX_PER_CALLER: usize = 64;

/// Bodies of one tenant that may be arriving at once.
const MAX_PER_TENANT: usize = 256;

/// The bodies that are arriving.
pub(crate) static ARRIVING: Arriving = Arriving(Mutex::new(None));

type Counts = HashMap<String, usize>;

/// Counts of bodies by caller and by tenant; only those that are not 0.
pub(crate) struct Arriving(Mutex<Option<Counts>>);

/// A caller or a tenant has as many bodies arriving as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{who} has {allowed} requests whose bodies are still arriving, which is the limit")]
pub(crate) struct TooManyBodies {
    pub(crate) who: &'static str,
    pub(crate) allowed: usize,
}

/// The place of one body among those of its caller and its tenant, until it is dropped.
struct ArrivingSlot {
    of: &'static Arriving,
    keys: [String; 2],
}

impl Drop for ArrivingSlot {
    fn drop(&mut self) {
        let mut counts = self.of.0.lock();
        let counts = counts.get_or_insert_default();
        for key in &self.keys {
            match counts.get_mut(key) {
                Some(count) if *count > 1 => *count -= 1,
                _ => {
                    counts.remove(key);
                }
            }
        }
    }
}

impl Arriving {
    /// Counts a body until it ended or was dropped.
    ///
    /// # Errors
    ///
    /// [`TooManyBodies`] when its caller or tenant has too many already.
    pub(crate) fn count(
        &'static self,
        caller: &Arc<Caller>,
        body: Body,
    ) -> Result<Body, TooManyBodies> {
        let tenant = caller.tenant.as_str();
        let keys = [format!("caller {}", caller.client_key()), format!("tenant {tenant}")];
        let mut counts = self.0.lock();
        let counts = counts.get_or_insert_default();
        let limits = [("the caller", MAX_PER_CALLER), ("the tenant", MAX_PER_TENANT)];
        for (key, (who, allowed)) in keys.iter().zip(limits) {
            if counts.get(key).copied().unwrap_or(0) >= allowed {
                return Err(TooManyBodies { who, allowed });
            }
        }
        for key in &keys {
            *counts.entry(key.clone()).or_default() += 1;
        }
        Ok(Body::new(Counted { body, place: Some(ArrivingSlot { of: self, keys }) }))
    }
}

struct Counted {
    body: Body,
    place: Option<ArrivingSlot>,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) || self.body.is_end_stream() {
            self.place = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use model::{Identity, TenantId};

    use super::*;

    static HERE: Arriving = Arriving(Mutex::new(None));

    fn caller(tenant: &str, subject: &str) -> Arc<Caller> {
        Arc::new(Caller {
            subject: subject.to_owned(),
            tenant: TenantId::new(tenant),
            identity: Identity::Key,
            ..Caller::local_admin()
        })
    }

    /// Bodies of one caller that never ended, from several addresses, shut out everybody.
    #[tokio::test]
    async fn others_are_not_shut_out() {
        let endless = || Body::from_stream(futures::stream::pending::<std::io::Result<Bytes>>());
        let ann = caller("acme", "ann");
        let mut held: Vec<Body> =
            (0..MAX_PER_CALLER).map(|_| HERE.count(&ann, endless()).unwrap()).collect();
        let refused = HERE.count(&ann, endless()).unwrap_err();
        assert_eq!((refused.who, refused.allowed), ("the caller", MAX_PER_CALLER));
        let bob = caller("acme", "bob");
        let body = HERE.count(&bob, Body::from("x")).unwrap();
        assert_eq!(body.collect().await.unwrap().to_bytes(), "x");
        // Those of one tenant together do not shut out another one.
        for n in 1..MAX_PER_TENANT / MAX_PER_CALLER {
            let more = caller("acme", &format!("more{n}"));
            held.extend((0..MAX_PER_CALLER).map(|_| HERE.count(&more, endless()).unwrap()));
        }
        assert_eq!(HERE.count(&bob, endless()).unwrap_err().who, "the tenant");
        assert!(HERE.count(&caller("other", "ann"), endless()).is_ok());
        drop(held);
        assert!(HERE.0.lock().as_ref().is_some_and(HashMap::is_empty));
    }
}
