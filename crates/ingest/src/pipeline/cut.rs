//! How documents become passages: the family's choice, behind one function.

use std::fmt;
use std::sync::Arc;

use chunk::{Piece, ProseConfig, cut_prose};
use model::{Block, DocumentId, Passage, PassageId};

/// A way to cut blocks into pieces, and to name them.
#[derive(Clone)]
pub struct Cut {
    cut: Arc<CutBlocks>,
    name: Arc<NamePiece>,
}

type CutBlocks = dyn Fn(Vec<Block>) -> Vec<Piece> + Send + Sync;
type NamePiece = dyn Fn(&DocumentId, &Piece, u32) -> PassageId + Send + Sync;

impl Cut {
    /// Cuts by sentences, in the standard size; passages are named `document#ordinal`.
    pub fn prose() -> Self {
        Cut::by(|blocks| cut_prose(blocks, &ProseConfig::standard()))
    }

    /// Cuts as the function does; passages are named `document#ordinal`.
    pub fn by(cut: impl Fn(Vec<Block>) -> Vec<Piece> + Send + Sync + 'static) -> Self {
        let name = |document: &DocumentId, _: &Piece, ordinal: u32| {
            PassageId::new(format!("{document}#{ordinal}"))
        };
        Cut { cut: Arc::new(cut), name: Arc::new(name) }
    }

    /// Names passages as the function does; ids have to be unique in the namespace.
    #[must_use]
    pub fn named(
        mut self,
        name: impl Fn(&DocumentId, &Piece, u32) -> PassageId + Send + Sync + 'static,
    ) -> Self {
        self.name = Arc::new(name);
        self
    }

    /// Gives the passages of a document, whose blocks are used up.
    pub fn passages(&self, document: &DocumentId, blocks: Vec<Block>) -> Vec<Passage> {
        let pieces = (self.cut)(blocks);
        (0..)
            .zip(pieces)
            .map(|(ordinal, piece)| Passage {
                id: (self.name)(document, &piece, ordinal),
                ordinal,
                text: piece.text,
                span: piece.span,
                pointer: piece.pointer,
                headings: piece.headings,
            })
            .collect()
    }
}

impl fmt::Debug for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cut")
    }
}
