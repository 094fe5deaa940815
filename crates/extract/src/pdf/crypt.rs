//! Documents that anyone may open but that are encrypted all the same: the standard handler with
//! the empty password. A document that needs a real password is reported as encrypted.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256, Block};
use md5::{Digest, Md5};
use sha2::{Sha256, Sha384, Sha512};

use super::object::{Dict, Object, ObjectNumber};

/// The bytes that fill a password up, from the specification.
const PADDING: [u8; 32] = [
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08,
    0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Identity,
    Rc4,
    Aes128,
    Aes256,
}

/// What opens the strings and streams of a document.
#[derive(Debug, Clone)]
pub(super) struct Key {
    key: Vec<u8>,
    strings: Method,
    streams: Method,
    pub(super) encrypts_metadata: bool,
}

impl Key {
    /// Tries the empty password; `None` when the document needs another, or another handler.
    pub(super) fn with_empty_password(encrypt: &Dict, first_id: &[u8]) -> Option<Key> {
        let number = |name: &str| encrypt.raw(name).and_then(Object::as_integer);
        let string = |name: &str| encrypt.raw(name).and_then(Object::as_string).unwrap_or_default();
        if encrypt.raw("Filter").and_then(Object::as_name)? != "Standard" {
            return None;
        }
        let version = number("V").unwrap_or(0);
        let revision = number("R").unwrap_or(2);
        let n_bits = number("Length").unwrap_or(40);
        let n_bits = if n_bits < 40 { n_bits * 8 } else { n_bits };
        let mut key_len = usize::try_from(n_bits / 8).ok()?.clamp(5, 32);
        let encrypts_metadata = encrypt.raw("EncryptMetadata") != Some(&Object::Bool(false));
        let (strings, streams) = match version {
            1 | 2 => (Method::Rc4, Method::Rc4),
            4 | 5 => (filter_method(encrypt, "StrF"), filter_method(encrypt, "StmF")),
            _ => return None,
        };
        if version == 1 {
            key_len = 5;
        }
        if version == 4 {
            key_len = 16;
        }
        let key = if revision >= 5 {
            large_key(string("U"), string("UE"), revision)?
        } else {
            let permissions = number("P").unwrap_or(0) as u32;
            let mut digest = Md5::new();
            digest.update(PADDING);
            digest.update(string("O").get(..32).unwrap_or_default());
            digest.update(permissions.to_le_bytes());
            digest.update(first_id);
            if revision >= 4 && !encrypts_metadata {
                digest.update([0xff; 4]);
            }
            let mut key = digest.finalize().to_vec();
            if revision >= 3 {
                for _ in 0..50 {
                    key = Md5::digest(key.get(..key_len.min(16))?).to_vec();
                }
            }
            key.truncate(key_len.min(16));
            opens(&key, revision, first_id, string("U")).then_some(key)?
        };
        Some(Key { key, strings, streams, encrypts_metadata })
    }

    pub(super) fn open_string(
        &self,
        bytes: &[u8],
        number: ObjectNumber,
        generation: u16,
    ) -> Vec<u8> {
        self.open(bytes, number, generation, self.strings)
    }

    pub(super) fn open_stream(
        &self,
        bytes: &[u8],
        number: ObjectNumber,
        generation: u16,
    ) -> Vec<u8> {
        self.open(bytes, number, generation, self.streams)
    }

    fn open(&self, bytes: &[u8], number: ObjectNumber, generation: u16, method: Method) -> Vec<u8> {
        let object_key = || {
            let mut digest = Md5::new();
            digest.update(&self.key);
            digest.update(number.to_le_bytes().get(..3).unwrap_or_default());
            digest.update(generation.to_le_bytes());
            if method == Method::Aes128 {
                digest.update(b"sAlT");
            }
            let mut key = digest.finalize().to_vec();
            key.truncate((self.key.len() + 5).min(16));
            key
        };
        match method {
            Method::Identity => bytes.to_vec(),
            Method::Rc4 => rc4(&object_key(), bytes),
            Method::Aes128 => aes_cbc_open(&object_key(), bytes),
            Method::Aes256 => aes_cbc_open(&self.key, bytes),
        }
    }
}

fn filter_method(encrypt: &Dict, which: &str) -> Method {
    let name = encrypt.raw(which).and_then(Object::as_name).unwrap_or("Identity");
    let filter = encrypt
        .raw("CF")
        .and_then(Object::as_dict)
        .and_then(|filters| filters.raw(name))
        .and_then(Object::as_dict);
    match filter.and_then(|filter| filter.raw("CFM")).and_then(Object::as_name) {
        Some("V2") => Method::Rc4,
        Some("AESV2") => Method::Aes128,
        Some("AESV3") => Method::Aes256,
        _ => Method::Identity,
    }
}

/// Checks a key against what the document stores about it.
fn opens(key: &[u8], revision: i64, first_id: &[u8], stored: &[u8]) -> bool {
    if revision == 2 {
        return rc4(key, &PADDING) == stored.get(..32).unwrap_or_default();
    }
    let mut digest = Md5::new();
    digest.update(PADDING);
    digest.update(first_id);
    let mut value = rc4(key, &digest.finalize());
    for round in 1..=19_u8 {
        let round_key: Vec<u8> = key.iter().map(|byte| byte ^ round).collect();
        value = rc4(&round_key, &value);
    }
    stored.get(..16).is_some_and(|stored| stored == value)
}

fn large_key(stored: &[u8], packed_key: &[u8], revision: i64) -> Option<Vec<u8>> {
    let check_salt = stored.get(32..40)?;
    let key_salt = stored.get(40..48)?;
    let hashed = |salt: &[u8]| {
        if revision == 5 { Sha256::digest(salt).to_vec() } else { hardened_hash(salt) }
    };
    if hashed(check_salt) != stored.get(..32)? {
        return None;
    }
    let key = hashed(key_salt);
    let packed_key = packed_key.get(..32)?;
    Some(cbc_blocks(&key, [0; 16], packed_key))
}

/// The hash of revision 6, for the empty password.
fn hardened_hash(salt: &[u8]) -> Vec<u8> {
    let mut key = Sha256::digest(salt).to_vec();
    let mut round = 0_usize;
    loop {
        let repeated = key.repeat(64);
        let (Some(cipher_key), Some(start)) = (key.first_chunk::<16>(), key.get(16..32)) else {
            return Vec::new();
        };
        let cipher = Aes128::new(&(*cipher_key).into());
        let mut chain = [0_u8; 16];
        chain.copy_from_slice(start);
        let mut packed = Vec::with_capacity(repeated.len());
        for block in repeated.as_chunks::<16>().0 {
            let mut mixed = Block::default();
            for ((mixed, plain), chained) in mixed.iter_mut().zip(block).zip(chain) {
                *mixed = plain ^ chained;
            }
            cipher.encrypt_block(&mut mixed);
            chain.copy_from_slice(&mixed);
            packed.extend_from_slice(&mixed);
        }
        let remainder = packed.iter().take(16).map(|byte| u32::from(*byte)).sum::<u32>() % 3;
        key = match remainder {
            0 => Sha256::digest(&packed).to_vec(),
            1 => Sha384::digest(&packed).to_vec(),
            _ => Sha512::digest(&packed).to_vec(),
        };
        round += 1;
        let last = usize::from(packed.last().copied().unwrap_or_default());
        if round >= 64 && last + 32 <= round {
            key.truncate(32);
            return key;
        }
    }
}

fn aes_cbc_open(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let Some((start, packed)) = bytes.split_first_chunk::<16>() else { return Vec::new() };
    let mut plain = cbc_blocks(key, *start, packed);
    // The last byte says how many bytes only fill the last block.
    if let Some(n_filling) = plain.last().copied().map(usize::from)
        && (1..=16).contains(&n_filling)
    {
        plain.truncate(plain.len().saturating_sub(n_filling));
    }
    plain
}

fn cbc_blocks(key: &[u8], start: [u8; 16], packed: &[u8]) -> Vec<u8> {
    let open: Box<dyn Fn(&mut Block)> = if let Some(key) = key.first_chunk::<32>() {
        let cipher = Aes256::new(&(*key).into());
        Box::new(move |block| cipher.decrypt_block(block))
    } else if let Some(key) = key.first_chunk::<16>() {
        let cipher = Aes128::new(&(*key).into());
        Box::new(move |block| cipher.decrypt_block(block))
    } else {
        return Vec::new();
    };
    let mut chain = start;
    let mut plain = Vec::with_capacity(packed.len());
    for chunk in packed.as_chunks::<16>().0 {
        let mut block = Block::from(*chunk);
        open(&mut block);
        plain.extend(block.iter().zip(chain).map(|(byte, chained)| byte ^ chained));
        chain = *chunk;
    }
    plain
}

fn rc4(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    if key.is_empty() {
        return bytes.to_vec();
    }
    let mut state: [u8; 256] = std::array::from_fn(|at| at as u8);
    let mut swapped = 0_u8;
    for (at, key) in (0..=255_u8).zip(key.iter().cycle()) {
        swapped = swapped.wrapping_add(state[usize::from(at)]).wrapping_add(*key);
        state.swap(usize::from(at), usize::from(swapped));
    }
    let (mut first, mut second) = (0_u8, 0_u8);
    bytes
        .iter()
        .map(|byte| {
            first = first.wrapping_add(1);
            second = second.wrapping_add(state[usize::from(first)]);
            state.swap(usize::from(first), usize::from(second));
            let sum = state[usize::from(first)].wrapping_add(state[usize::from(second)]);
            byte ^ state[usize::from(sum)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rc4_matches_the_published_vectors() {
        assert_eq!(
            rc4(b"Key", b"Plaintext"),
            [0xbb, 0xf3, 0x16, 0xe8, 0xd9, 0x40, 0xaf, 0x0a, 0xd3]
        );
        assert_eq!(rc4(b"Wiki", b"pedia"), [0x10, 0x21, 0xbf, 0x04, 0x20]);
    }
}
