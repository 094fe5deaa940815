//! One HTTP client for every room that talks to the outside: time-outs, retries with jitter,
//! size limits, and no private addresses unless the configuration says so.
