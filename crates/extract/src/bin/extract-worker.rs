//! A worker of its own, for the tests of the pool and for measurements outside the server.
//!
//! With `--probe FILE PORT` it confines itself as a worker does, then tries what a worker must not
//! be able to do, and writes a line for each: what was tried, and `done` or `refused`. With
//! `--panic` it is a worker whose reader panics.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    if extract::worker::main_if_asked() {
        return Ok(());
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--panic"] {
        extract::worker::serve(|_, name, _| panic!("no word of `{name}` can be read"));
        return Ok(());
    }
    let [mode, file, port] = arguments.as_slice() else { return Ok(()) };
    match (mode.as_str(), port.parse()) {
        ("--probe", Ok(port)) => probe(Path::new(file), port),
        _ => Ok(()),
    }
}

fn probe(file: &Path, port: u16) -> std::io::Result<()> {
    let beside: PathBuf = file.with_extension("written");
    let confinement = extract::worker::confine();
    let mut out = std::io::stdout().lock();
    writeln!(out, "confined {}", confinement.is_whole())?;
    let mut told = |what: &str, is_done: bool| {
        writeln!(out, "{what} {}", if is_done { "done" } else { "refused" })
    };
    told("read a file", fs_err::read(file).is_ok())?;
    told("write a file", fs_err::write(&beside, "words").is_ok())?;
    told("remove a file", fs_err::remove_file(file).is_ok())?;
    told("list a folder", fs_err::read_dir("/").is_ok_and(|mut all| all.next().is_some()))?;
    told("connect", TcpStream::connect(("127.0.0.1", port)).is_ok())?;
    told("open a datagram socket", UdpSocket::bind(("127.0.0.1", 0)).is_ok())?;
    let program = std::env::current_exe().unwrap_or_default();
    told("start a program", std::process::Command::new(program).spawn().is_ok())?;
    // What readers need still works.
    told("start a thread", std::thread::Builder::new().spawn(|| ()).is_ok())?;
    told("read a pipe", std::io::stdin().read_to_end(&mut Vec::new()).is_ok())
}
