//! Proves, against a server that speaks the start of the protocol, that: `require` encrypts and
//! checks the certificate; a certificate that nobody vouches for ends the connection before the
//! password is sent; a server that cannot encrypt is refused; other modes are plain.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{PostgresAddress, PostgresError};

/// Made for these tests alone: for loopback, trusted by nobody else.
const CERTIFICATE: &[u8] = include_bytes!("loopback-certificate.pem");
const KEY: &[u8] = include_bytes!("loopback-key.pem");

/// The message with which a client asks for encryption.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// "You are in" and "ready".
const WELCOME: [u8; 15] = [b'R', 0, 0, 0, 8, 0, 0, 0, 0, b'Z', 0, 0, 0, 5, b'I'];

/// What a server does with a client that asks for encryption.
#[derive(Clone, Copy)]
enum Offers {
    Encryption,
    Nothing,
}

/// Starts a server for one client, which gives the startup message it read in the end.
fn server(offers: Offers) -> (u16, JoinHandle<Option<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (port, std::thread::spawn(move || serve_one(&listener, offers)))
}

fn serve_one(listener: &TcpListener, offers: Offers) -> Option<Vec<u8>> {
    let (mut stream, _) = listener.accept().ok()?;
    let mut first = [0; 8];
    stream.read_exact(&mut first).ok()?;
    if first != SSL_REQUEST {
        return welcome(&mut stream, &first);
    }
    match offers {
        Offers::Nothing => {
            stream.write_all(b"N").ok()?;
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).ok()?;
            (!rest.is_empty()).then_some(rest)
        }
        Offers::Encryption => {
            stream.write_all(b"S").ok()?;
            welcome(&mut encrypted(stream), &[])
        }
    }
}

fn encrypted(stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream)
}

/// Reads the startup message and lets the client in.
fn welcome(stream: &mut (impl Read + Write), begun: &[u8]) -> Option<Vec<u8>> {
    let mut message = begun.to_vec();
    let mut length = [0; 4];
    if message.is_empty() {
        stream.read_exact(&mut length).ok()?;
        message.extend(length);
    } else {
        length.copy_from_slice(&message[..4]);
    }
    let n_left = (u32::from_be_bytes(length) as usize).checked_sub(message.len())?;
    let mut rest = vec![0; n_left];
    stream.read_exact(&mut rest).ok()?;
    message.extend(rest);
    stream.write_all(&WELCOME).ok()?;
    stream.flush().ok()?;
    Some(message)
}

#[track_caller]
fn connect(url: &str) -> Result<(), String> {
    let address =
        PostgresAddress::parse(url, Duration::from_secs(20)).map_err(|error| error.to_string())?;
    match super::wait_for(address.begin()).unwrap() {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string))
        }
    }
}

fn roots() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("roots.pem");
    fs_err::write(&path, CERTIFICATE).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn required_encryption_is_used_and_its_certificate_checked() {
    let (_folder, roots) = roots();
    for host in ["localhost", "127.0.0.1"] {
        let (port, server) = server(Offers::Encryption);
        let url = format!(
            "postgres://ada@{host}:{port}/db?sslmode=require&hostaddr=127.0.0.1&sslrootcert={roots}"
        );
        connect(&url).unwrap();
        let startup = server.join().unwrap().expect("the client came through");
        assert!(startup.windows(3).any(|part| part == b"ada"));
    }
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let (port, server) = server(Offers::Encryption);
    let error =
        connect(&format!("postgres://ada:secret@127.0.0.1:{port}/db?sslmode=require")).unwrap_err();
    assert!(error.contains("certificate"), "{error}");
    assert_eq!(server.join().unwrap(), None, "nothing was sent to a stranger");
}

#[test]
fn a_server_that_cannot_encrypt_is_refused() {
    let (_folder, roots) = roots();
    let (port, server) = server(Offers::Nothing);
    let url = format!("postgres://ada@127.0.0.1:{port}/db?sslmode=require&sslrootcert={roots}");
    let error = connect(&url).unwrap_err();
    assert!(error.contains("TLS"), "{error}");
    assert_eq!(server.join().unwrap(), None);
}

#[test]
fn other_modes_are_plain() {
    for mode in ["", "?sslmode=disable", "?sslmode=prefer"] {
        let (port, server) = server(Offers::Nothing);
        connect(&format!("postgres://ada@127.0.0.1:{port}/db{mode}")).unwrap();
        assert!(server.join().unwrap().is_some());
    }
}

#[test]
fn addresses_that_cannot_be_used_are_named() {
    let limit = Duration::from_secs(1);
    let bad = PostgresAddress::parse("http://example.org", limit).unwrap_err();
    assert!(matches!(bad, PostgresError::BadAddress(_)), "{bad}");
    let url = "postgres://h/d?sslmode=require&sslrootcert=/no/such/file.pem";
    let bad = PostgresAddress::parse(url, limit).unwrap_err();
    assert_eq!(
        bad.to_string(),
        "`sslrootcert` names `/no/such/file.pem`, which holds no certificates in PEM form"
    );
    let shown = PostgresAddress::parse("postgres://u:secret@h/d", limit).unwrap();
    assert!(!format!("{shown:?}").contains("secret"));
}
