//! The worker's side: gives away every right it does not need, then reads requests from one pipe
//! and answers on the other, under limits that the system enforces.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use model::Warning;

use crate::error::{Cap, Error};
use crate::extract::{note_panic_place, panic_message};
use crate::output::Output;
use crate::pool::protocol::{Request, read_request, write_answer};
use crate::{Caps, Confinement, Extracted, Format, extract, platform};

/// The hidden argument that makes the executable a worker.
pub const ARGUMENT: &str = "--extract-worker";

/// The stack of the thread that reads documents; foreign readers recurse.
const STACK_BYTES: usize = 64 << 20;

/// Runs as a worker until the pipe closes, when the first argument says so.
///
/// Gives whether it did; an executable that starts workers from itself calls this first thing
/// and ends when it is true.
pub fn main_if_asked() -> bool {
    if std::env::args_os().nth(1).is_none_or(|argument| argument != ARGUMENT) {
        return false;
    }
    serve(extract);
    true
}

/// What reads a document; [`extract`] in every worker of the product.
pub type Reader = fn(&[u8], &str, &Caps) -> (Extracted, Vec<Warning>);

/// Answers the requests on the standard pipes with a reader, until they close.
pub fn serve(reader: Reader) {
    // A panic is an answer here, not a message for a terminal.
    std::panic::set_hook(Box::new(|panic| note_panic_place(panic.location())));
    // A broken pipe means that nobody waits for an answer any more.
    let _ = run_worker(reader, &mut io::stdin().lock(), &mut io::stdout().lock(), confine());
}

/// Takes from this process, for good, what a reader of documents does not need: files, network,
/// other processes, new privileges, and whatever is open but the standard three. Gives what the
/// system agreed to.
///
/// Threads that run already keep their rights, and files that are open are closed behind their
/// owner's back: call it before anything else.
pub fn confine() -> Confinement {
    platform::confine()
}

/// Answers requests until the pipe closes.
///
/// # Errors
///
/// When a pipe breaks in the middle of a message.
fn run_worker(
    reader: Reader,
    requests: &mut impl Read,
    answers: &mut impl Write,
    confinement: Confinement,
) -> io::Result<()> {
    while let Some(request) = read_request(requests)? {
        platform::limit(&request.caps, STACK_BYTES as u64);
        write_answer(answers, read_document(reader, request), confinement)?;
    }
    Ok(())
}

fn read_document(read: Reader, request: Request) -> (Extracted, Vec<Warning>) {
    let caps = request.caps.clone();
    let reader = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let read = || read(&request.bytes, &request.name, &request.caps);
        // The place of a panic is known in its own thread alone.
        catch_unwind(AssertUnwindSafe(read)).map_err(|panic| panic_message(panic.as_ref()))
    });
    let error = match reader.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(answer))) => return answer,
        Ok(Ok(Err(detail))) => Error::Panicked { format: Format::Binary, detail },
        Ok(Err(panic)) => {
            Error::Panicked { format: Format::Binary, detail: panic_message(panic.as_ref()) }
        }
        // Only memory for its stack can be missing.
        Err(_) => Output::new(&caps, 0).capped(Cap::Memory),
    };
    let warning = Warning::new(error.code(), error.to_string());
    let extracted = Extracted::without_text(Format::Binary, error.outcome(), error.to_string());
    (extracted, vec![warning])
}
