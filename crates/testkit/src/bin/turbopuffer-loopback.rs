//! The loopback turbopuffer as a process of its own, for clients in other languages.
//!
//! Prints its address and its key on one line, and runs until its input ends.

use std::io::{Read, Write};

use testkit::turbopuffer::TurbopufferServer;

fn main() -> std::io::Result<()> {
    let server = TurbopufferServer::start();
    writeln!(std::io::stdout(), "{} {}", server.url(), server.key())?;
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
