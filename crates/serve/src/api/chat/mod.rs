//! `POST /v1/chat`.

mod stream;
mod transcript;

pub(super) use stream::routes;
