//! `dowse bench knowledge`: knowledge bases as users and agents meet them, through a server in a
//! process of its own. Documents go in over REST; questions are asked over MCP.

mod client;
mod figures;
mod run;
mod set;

pub(super) use run::run;
