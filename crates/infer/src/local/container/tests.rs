//! Proves that a whole file is read, and that a cut, bent or foreign one is an error in words.

use proptest::prelude::*;

use super::*;
use crate::local::tiny::Tiny;

fn parse(bytes: Vec<u8>) -> Result<Container> {
    Container::parse(Path::new("tiny.e5s1"), bytes)
}

#[test]
fn a_whole_file_is_read() {
    let tiny = Tiny::new(1, 64, 2);
    let container = parse(tiny.bytes()).unwrap();
    assert_eq!((container.shape.hidden, container.shape.n_heads), (64, 2));
    assert_eq!(container.vocabulary.scores.len(), tiny.pieces.len());
    assert_eq!(container.vocabulary.replacements[1], ('Ａ', "a".into()));
    assert_eq!(container.vector("emb.ln.w", 64).unwrap().len(), 64);
    assert!(container.tensor("l1.fo.w", 64 * 128).is_ok());
}

#[test]
fn what_is_wrong_is_said_in_words() {
    let whole = Tiny::new(1, 64, 2).bytes();
    let bent = |at: usize, bytes: &[u8]| {
        let mut file = whole.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        parse(file).map(|_| "it was read".to_owned()).unwrap_or_else(|error| error.to_string())
    };
    let said = [
        bent(0, b"GGUF"),
        bent(8, &(-5i32).to_le_bytes()),
        bent(8, &48i32.to_le_bytes()),
        bent(16, &3i32.to_le_bytes()),
        bent(36, &f32::NAN.to_le_bytes()),
        bent(40, &64i32.to_le_bytes()),
        bent(48, &999i32.to_le_bytes()),
        bent(64, &u64::MAX.to_le_bytes()),
    ];
    insta::assert_snapshot!(said.join("\n"));
    let container = parse(whole).unwrap();
    let said = [
        container.tensor("l9.q.w", 1).unwrap_err().to_string(),
        container.tensor("emb.type", 65).unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_cut_file_is_refused(end in 0usize..1_000_000) {
        let mut file = Tiny::new(1, 64, 2).bytes();
        file.truncate(end % file.len());
        prop_assert!(parse(file).is_err());
    }

    #[test]
    fn bent_bytes_never_panic(changes in proptest::collection::vec((0usize..6000, any::<u8>()), 1..20)) {
        let mut file = Tiny::new(1, 64, 2).bytes();
        for (at, byte) in changes {
            let at = at % file.len();
            file[at] = byte;
        }
        if let Ok(container) = parse(file) {
            let _ = container.vector("emb.ln.w", container.shape.hidden);
        }
    }
}
