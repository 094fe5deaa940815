//! Tokens of an issuer that does not exist, to try what a server makes of them.
//!
//! The RS256 tokens were signed once with keys that were then thrown away; they expire in the
//! year 2100, but for the one that is expired. HS256 tokens are signed here, for any claims.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The issuer of every token here.
pub const ISSUER: &str = "https://id.example.org";
/// Whom the good ones are meant for.
pub const AUDIENCE: &str = "dowse";

/// An RS256 token of `ann` at `acme`, signed with the key `first`.
pub const SIGNED_FIRST: &str = "\
    eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImZpcnN0In0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1w\
    bGUub3JnIiwiYXVkIjoiZG93c2UiLCJzdWIiOiJhbm4iLCJ0ZW5hbnRfaWQiOiJhY21lIiwiZXhwIjo0MTAyNDQ0\
    ODAwfQ.ivwnHdrZGqZQkJjVUoJpfkIxUryPrAeT1qsO41Jp5fGSktrmnnmdtVuVI56N49ElKESdKtpaffnBZcmV-\
    GYDOkc-FFDeGQTvsZACY7xW827kYkUTQvlLACO87GRIft_ab8WXZsO2snJZwjLEhlL3XgUHgzJ6dErGF6kkjbQ73\
    hv_BwzfvIUuUm9HOEfNWhyRZUBGblAeTiUCAR0QtvZBw0wszXYlluxpb8m9xz8rfsf6KHp6XDWuT-\
    70G2zq4Qf19SYaaVLuoHEG0-wxThFuTocW4UJDzrY_2MgF-\
    eM8xi_SpmoHXJKOExVorolbViAOq1Fq6IgfnLKv8sqzMBWjlg";

/// The same, signed with the key `second`.
pub const SIGNED_SECOND: &str = "\
    eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InNlY29uZCJ9.eyJpc3MiOiJodHRwczovL2lkLmV4YW1\
    wbGUub3JnIiwiYXVkIjoiZG93c2UiLCJzdWIiOiJhbm4iLCJ0ZW5hbnRfaWQiOiJhY21lIiwiZXhwIjo0MTAyNDQ\
    0ODAwfQ.ccE2-ticbY4A3r9D8JTfFBZFCsjS-oP-\
    c3LPMiypAOZUbMJqJaI1cogkdE9ZlWLgykNtdknzAk0ob5v96J4TJhtwGmlnwFjXXk3dLcfO51QJZ8BOehoiVFP-\
    TatNtCKOpokfekkPhUDQRNCoXaJuN_CsQkjTcWRvQqHlhoEhw8zrrRodK3gf92eNZCOmlKnVxOBgntX3BEqpuORe\
    A7KUK2XuNNmyMsSUp328UJXtTR56IhSpxLYTx3w_4TmXJ-\
    yuQ5Ub7CzLb6EFm97dw5k3FdJC9lAvZBlVdLqO652hDXIR0snZlvtla40m1Uhlt7dZ-r0IfOPTbsD0togNZDNuww";

/// Signed with `first`, for another audience.
pub const SIGNED_FOR_ANOTHER: &str = "\
    eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImZpcnN0In0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1w\
    bGUub3JnIiwiYXVkIjoiYW5vdGhlciIsInN1YiI6ImFubiIsInRlbmFudF9pZCI6ImFjbWUiLCJleHAiOjQxMDI0\
    NDQ4MDB9.nKXRebCKiEM0bTmw0v7cWT54vAEk8XM07voas470UrikngzBYp6uQzEVwUGcJ57D2S4IH8BY1sOCEf0\
    BkxIxECFRK2LHxR7RMpkPWOoylktW-0Snb-\
    Tryxu5j4s20VPiPe7sZnzYCzz31ZY7XNNwpX1D3STFILmayZBD_gvEIBSnUceXo-llMASZwHyAbiffRm4ae76ALf\
    y-\
    6JpidkkJib7jNGOYoLCYo2Huo2u7xP0Sz7bdZ8NsZydGk3RDVCwW7A0fS9yiVyLvEqtdXun3pb1jn5L1CdZBYzX2\
    kkVq_gWo3C8vb38KX4nLhJNzFH7JFc2JWa3RfnwzUSxyw8pNeg";

/// Signed with `first`, expired in 2020.
pub const SIGNED_EXPIRED: &str = "\
    eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImZpcnN0In0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1w\
    bGUub3JnIiwiYXVkIjoiZG93c2UiLCJzdWIiOiJhbm4iLCJ0ZW5hbnRfaWQiOiJhY21lIiwiZXhwIjoxNjAwMDAw\
    MDAwfQ.WR4z7rBp1SFeuRSRt86jeo-Hb3DTO2D6Iz5FbLVyPc3Hz70FRWaOJkU9yG9cRT5xi5sd4Ckf_9DaRZQ0Z\
    qnQ3pHqoN29s8C3EhnZbUZZ6-j7YByfF65CuXYwqff-kBo-0DPVMw7vbLq-ohY2x83Rswzdn7Nse8gJ9t2-\
    zWqUdm_WUWseD-\
    7Fkk5t53T8rhLUrGYuzVLV3EWA806fHpSeNlf1WG6bWkaXhhdqppKY35FWo2nDDdvKo5ElD0gISAwY55-\
    2y6bcoAlU75vrQREQTeL1C3PSxlzyGqUNUT-MjjZmPWQyO0GchB3Ws3t66_4o0yVJUXdnoHaoOvhqNxy3YQ";

/// The public part of `first`.
const MODULUS_FIRST: &str = "\
    uGXRB4s7x1YR1emg9_jUAbpMml0-A_NBg8geuKLmBwPPkS3V9K_H73pFnq6XLXCOBa6X4h2zTG4LQHD-\
    5p8WleX_2zli4CJ9jMhGAqMCiqSN36IWszjBEZPMUSshn78rZnUE94d01J7PHSBCIPBy2viqk5dbkBvokqPT_oPr\
    oN3jXOOUss4M0gowRBDZ6mAgOrDZSSFTTCQys_gvnz7el1S8MnQK5uyawixBf34a7CrO3qGOUtIsuDIw8tn9X6Ia\
    5Un8Ha160Ce_Cv25bdUyxEmyNfQ1IJgOSVpX8MFsVm5KWDnCuJhyXk6-Wy1-WAAPqWnXZCPTUf_VP8ajlFM7sw";

/// The public part of `second`.
const MODULUS_SECOND: &str = "\
    hQdH68p_MqH28Ib9J1CKsW70W2TTeg6aZl7zD7Q88zenV2W1Cg5RuD04uEYX9P17J6qcM9vXF0RaZl5NECEGVKwe\
    vKNPOPqM5aKmh75MUT8VX-zwvxhx3vqYqgt8EwbRKy3NXyd-i1SHh-WJx7Kzcd90jCF-\
    aCdnDT-7-P3NdlcYEoAAfVYFltjGnd32ET-jLWvHvD3XINSyHIP8TEKQh5BsIzoZqrd9ghVNtEASEdC6kdGlTRHm\
    dL5Aa05ylbIJ0sMW5U54A5cnm1k2VVW9Fa_1fVagZGEGPtRHb2PYtHKKLCEhezW4wwSjhb0HgfnSQBjg8SpMzGI-\
    SDY_R7-IuQ";

/// A block of SHA-256, as HMAC counts it.
const BLOCK_BYTES: usize = 64;

/// Gives the list in which an issuer publishes these keys: `first`, `second`.
pub fn published_keys(names: &[&str]) -> String {
    let keys: Vec<Value> = names
        .iter()
        .map(|name| {
            let modulus = if *name == "second" { MODULUS_SECOND } else { MODULUS_FIRST };
            json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": name, "n": modulus, "e": "AQAB" })
        })
        .collect();
    json!({ "keys": keys }).to_string()
}

/// Gives good claims: `ann` of `acme`, until the year 2100.
pub fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "tenant_id": "acme", "exp": 4_102_444_800_u64,
    })
}

/// Signs claims with a shared secret.
pub fn hs256(claims: &Value, secret: &[u8]) -> String {
    signed_under(&json!({ "alg": "HS256", "typ": "JWT", "kid": "first" }), claims, secret)
}

/// Signs claims with a shared secret under any header, whatever it says.
pub fn signed_under(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let signed = format!("{}.{}", encoded(header), encoded(claims));
    let signature = hmac(secret, signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Writes claims under `alg: none`, without a signature.
pub fn unsigned(claims: &Value) -> String {
    let header = json!({ "alg": "none", "typ": "JWT", "kid": "first" });
    format!("{}.{}.", encoded(&header), encoded(claims))
}

fn encoded(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

fn hmac(secret: &[u8], message: &[u8]) -> Vec<u8> {
    let mut key = [0_u8; BLOCK_BYTES];
    if secret.len() > BLOCK_BYTES {
        key[..32].copy_from_slice(&Sha256::digest(secret));
    } else {
        key[..secret.len()].copy_from_slice(secret);
    }
    let inner = Sha256::new().chain_update(key.map(|byte| byte ^ 0x36)).chain_update(message);
    let outer = Sha256::new().chain_update(key.map(|byte| byte ^ 0x5c));
    outer.chain_update(inner.finalize()).finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_follows_the_published_examples() {
        // RFC 4231, test case 2.
        let hex: String = hmac(b"Jefe", b"what do ya want for nothing?")
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
