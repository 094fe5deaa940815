//! How signatures of tokens are checked: by `ring`, which the TLS client brings anyway.
//!
//! The token library's own choices are a C library that must be compiled, and a pure RSA crate
//! with an open advisory on private-key operations (RUSTSEC-2023-0071). Nothing here has a
//! private key: HS256 and RS256 are verified, and nothing is signed.

use std::sync::Once;

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::hmac;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes the token library use this; harmless when repeated.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Another provider in the same process checks signatures just as well.
        let _ = PROVIDER.install_default();
    });
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::InvalidAlgorithm.into())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    match (algorithm, key.kind()) {
        (Algorithm::HS256, DecodingKeyKind::SecretOrDer(secret)) => {
            Ok(Box::new(Hs256(hmac::Key::new(hmac::HMAC_SHA256, secret))))
        }
        (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
            Ok(Box::new(Rs256 { n: n.clone(), e: e.clone() }))
        }
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

struct Hs256(hmac::Key);

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], given: &Vec<u8>) -> Result<(), signature::Error> {
        hmac::verify(&self.0, message, given).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

/// A public key; one of less than 2,048 bits verifies nothing.
struct Rs256 {
    n: Vec<u8>,
    e: Vec<u8>,
}

impl Verifier<Vec<u8>> for Rs256 {
    fn verify(&self, message: &[u8], given: &Vec<u8>) -> Result<(), signature::Error> {
        // A modulus may be published with leading zeros, which `ring` does not take.
        let without_zeros = |number: &'_ [u8]| -> Vec<u8> {
            number.iter().copied().skip_while(|byte| *byte == 0).collect()
        };
        let key = RsaPublicKeyComponents { n: without_zeros(&self.n), e: without_zeros(&self.e) };
        key.verify(&RSA_PKCS1_2048_8192_SHA256, message, given).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Rs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}
