//! What a browser keeps for the console: cookies that only this server can read or make, and the
//! token that proves that a form came from one of its own pages.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{hkdf, hmac};

/// Bytes of the secret that everything here is derived from.
pub(super) const SECRET_BYTES: usize = 32;

/// Seals and opens. Two servers with the same secret read each other's cookies.
pub(crate) struct Seal {
    cookies: LessSafeKey,
    forms: hmac::Key,
    random: SystemRandom,
}

impl Seal {
    /// Derives one key for each purpose.
    pub(crate) fn new(secret: &[u8; SECRET_BYTES]) -> Self {
        let mut cookie_key = [0; SECRET_BYTES];
        let mut form_key = [0; SECRET_BYTES];
        for (purpose, key) in [("cookies", &mut cookie_key), ("forms", &mut form_key)] {
            hkdf::Salt::new(hkdf::HKDF_SHA256, b"dowse console")
                .extract(secret)
                .expand(&[purpose.as_bytes()], hkdf::HKDF_SHA256)
                .and_then(|derived| derived.fill(key))
                .expect("32 bytes are what HKDF with SHA-256 gives");
        }
        let key = UnboundKey::new(&AES_256_GCM, &cookie_key).expect("the key has 32 bytes");
        Seal {
            cookies: LessSafeKey::new(key),
            forms: hmac::Key::new(hmac::HMAC_SHA256, &form_key),
            random: SystemRandom::new(),
        }
    }

    /// Seals a value for one purpose; nothing when the system gives no randomness.
    pub(crate) fn seal(&self, purpose: &str, plain: &[u8]) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).ok()?;
        let mut sealed = plain.to_vec();
        self.cookies
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(purpose),
                &mut sealed,
            )
            .ok()?;
        let mut bytes = nonce.to_vec();
        bytes.append(&mut sealed);
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Opens what was sealed for the same purpose; nothing when it was changed or is another's.
    pub(crate) fn open(&self, purpose: &str, sealed: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let plain = self.cookies.open_in_place(nonce, Aad::from(purpose), &mut sealed).ok()?;
        Some(plain.to_vec())
    }

    /// Gives the token for the forms of one session.
    pub(crate) fn form_token(&self, session: &str) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.forms, session.as_bytes()))
    }

    /// Tells whether a token belongs to a session; takes the same time either way.
    pub(crate) fn is_form_token(&self, session: &str, token: &str) -> bool {
        URL_SAFE_NO_PAD
            .decode(token)
            .is_ok_and(|token| hmac::verify(&self.forms, session.as_bytes(), &token).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_and_purpose_open() {
        let (ours, theirs) = (Seal::new(&[1; 32]), Seal::new(&[2; 32]));
        let sealed = ours.seal("session", b"a key").unwrap();
        assert_eq!(ours.open("session", &sealed).as_deref(), Some(&b"a key"[..]));
        assert_eq!(ours.open("view", &sealed), None);
        assert_eq!(theirs.open("session", &sealed), None);
        assert_ne!(ours.seal("session", b"a key").unwrap(), sealed, "nonces differ");
        for cut in 0..sealed.len() {
            assert_eq!(ours.open("session", &sealed[..cut]), None, "cut at {cut}");
        }
        for position in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[position] = if changed[position] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last character may hold bits that mean nothing.
            if URL_SAFE_NO_PAD.decode(&changed) != URL_SAFE_NO_PAD.decode(&sealed) {
                assert_eq!(ours.open("session", &changed), None, "changed at {position}");
            }
        }
    }

    #[test]
    fn a_form_token_belongs_to_one_session() {
        let seal = Seal::new(&[1; 32]);
        let token = seal.form_token("one");
        assert!(seal.is_form_token("one", &token));
        assert!(!seal.is_form_token("two", &token));
        assert!(!Seal::new(&[2; 32]).is_form_token("one", &token));
        assert!(!seal.is_form_token("one", ""));
    }
}
