//! The worker's side: reads requests from one pipe, answers on the other, under limits that the
//! system enforces.

use std::io::{self, Read, Write};

use model::Warning;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::{Cap, Error};
use crate::output::Output;
use crate::pool::protocol::{Request, read_request, write_answer};
use crate::{Caps, Extracted, Format, extract};

/// The hidden argument that makes the executable a worker.
pub const ARGUMENT: &str = "--extract-worker";

/// The stack of the thread that reads documents; foreign readers recurse.
const STACK_BYTES: usize = 64 << 20;

/// Processor time a document gets beyond its time cap, should nobody be there to kill the worker.
const GRACE_SECONDS: u64 = 10;

/// Runs as a worker until the pipe closes, when the first argument says so.
///
/// Gives whether it did; an executable that starts workers from itself calls this first thing
/// and ends when it is true.
pub fn main_if_asked() -> bool {
    if std::env::args_os().nth(1).is_none_or(|argument| argument != ARGUMENT) {
        return false;
    }
    // A panic is an answer here, not a message for a terminal.
    std::panic::set_hook(Box::new(|_| {}));
    // A broken pipe means that nobody waits for an answer any more.
    let _ = run_worker(&mut io::stdin().lock(), &mut io::stdout().lock());
    true
}

/// Answers requests until the pipe closes.
///
/// # Errors
///
/// When a pipe breaks in the middle of a message.
pub fn run_worker(requests: &mut impl Read, answers: &mut impl Write) -> io::Result<()> {
    while let Some(request) = read_request(requests)? {
        set_limits(&request.caps);
        write_answer(answers, &read_document(request))?;
    }
    Ok(())
}

fn read_document(request: Request) -> (Extracted, Vec<Warning>) {
    let caps = request.caps.clone();
    let reader = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || extract(&request.bytes, &request.name, &request.caps));
    let error = match reader.map(std::thread::JoinHandle::join) {
        Ok(Ok(answer)) => return answer,
        Ok(Err(_)) => Error::WorkerDied { status: "its reading thread failed".to_owned() },
        // Only memory for its stack can be missing.
        Err(_) => Output::new(&caps, 0).capped(Cap::Memory),
    };
    let warning = Warning::new(error.code(), error.to_string());
    let extracted = Extracted::without_text(Format::Binary, error.outcome(), error.to_string());
    (extracted, vec![warning])
}

/// Sets what the system enforces for the next document. Not every system has every limit, so a
/// refusal leaves the pool's own limits.
fn set_limits(caps: &Caps) {
    let memory = caps.memory_bytes.saturating_add(STACK_BYTES as u64);
    set_limit(Resource::As, memory);
    set_limit(Resource::Core, 0);
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    let used = u64::try_from(used).unwrap_or_default();
    set_limit(Resource::Cpu, used + caps.time.as_secs() + GRACE_SECONDS);
}

fn set_limit(resource: Resource, value: u64) {
    let maximum = getrlimit(resource).maximum;
    let value = maximum.map_or(value, |maximum| value.min(maximum));
    // A limit that cannot be set is one the system does not have.
    let _ = setrlimit(resource, Rlimit { current: Some(value), maximum });
}
