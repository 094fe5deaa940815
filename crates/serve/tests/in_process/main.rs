//! The whole server in this process, over real sockets, with tools that a test holds in its hand:
//! what a real binary cannot be made to do at the right moment.

mod house;

mod in_flight;
mod reading;
