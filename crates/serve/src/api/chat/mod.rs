//! `POST /v1/chat`.

mod said;
mod stream;

pub(super) use stream::routes;
