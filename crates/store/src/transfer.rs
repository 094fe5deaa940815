//! Copies everything that cannot be derived from one catalogue into another, whatever they are.
//!
//! A copy can be interrupted and repeated: documents that are there already are passed over. At the
//! end both sides are read again and compared by counts and hashes. What engines have derived, and
//! leases, are not copied; numbers of namespaces and passages are the new catalogue's own.

use std::collections::BTreeMap;
use std::path::Path;

use model::{Clock, NamespaceId, PassageId, TenantId};
use sha2::{Digest, Sha256};

use crate::sqlite;
use crate::{
    Catalogue, Change, Counts, Document, DocumentInfo, DocumentPage, Error, Manifest, Object,
    ObjectKey, ObjectPage, Result, limits,
};

/// Documents read at once.
const DOCUMENTS_PER_PAGE: usize = 256;
/// Passages written in one transaction, about; a document is never split.
const PASSAGES_PER_WRITE: usize = 4_096;
/// Vectors written in one transaction.
const VECTORS_PER_WRITE: usize = 1_024;
/// Kinds of objects that belong to one catalogue begin with these words: what engines note about
/// what they have derived, what lasts no longer than servers run, and the note of an unfinished move.
const OWN_KINDS: [&str; 4] = ["turbopuffer_", "qdrant_", MOMENT_KINDS, MOVE_KIND];
/// What kinds of objects begin with that mean nothing elsewhere or later: which servers run, links
/// that they gave. Copies leave them out.
pub const MOMENT_KINDS: &str = "moment_";
/// The kind of the object that names the catalogue that is being moved here.
const MOVE_KIND: &str = "move";

/// What a copy consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// Copied with their manifests.
    pub n_namespaces: usize,
    /// Documents, passages and vectors.
    pub counts: Counts,
    /// Objects of all kinds.
    pub n_objects: usize,
    /// Files in pieces.
    pub n_files: usize,
    /// Hashes of documents with their passages and blobs, of vectors, of objects, and of files.
    pub hashes: Vec<String>,
}

/// Copies a catalogue into another and compares them; `say` is told what is being copied.
///
/// # Errors
///
/// [`Error::ManifestMismatch`] when the other one has a namespace with another manifest,
/// [`Error::CopyDiffers`] when they are not the same in the end: the other catalogue held something
/// else, or the first one was written meanwhile.
pub fn copy(from: &dyn Catalogue, to: &dyn Catalogue, say: &dyn Fn(&str)) -> Result<Copied> {
    for state in from.namespaces()? {
        let id = &state.info.id;
        say(&format!("namespace {id}: {} documents", state.counts.n_documents));
        copy_namespace(from, to, id, &state.info.manifest)?;
    }
    let kinds = kinds_of(from)?;
    for kind in &kinds {
        say(&format!("objects of kind {kind}"));
        each_object(from, kind, |object| {
            let is_there = to.get(&object.key)?.is_some_and(|there| is_same(&there, &object));
            if !is_there {
                to.apply(&[Change::Put(object)])?;
            }
            Ok(())
        })?;
    }
    say("files");
    each_file(from, |file, piece, bytes| {
        if to.piece(file, piece)?.as_deref() != Some(bytes) {
            to.put_piece(file, piece, bytes)?;
        }
        Ok(())
    })?;
    say("comparing");
    let (original, copied) = (describe(from)?, describe(to)?);
    compare(&original, &copied)?;
    Ok(copied)
}

/// Moves everything into a catalogue that is empty, or that an interrupted move from the same one
/// left unfinished: then what it brought and is gone by now is taken out again. Afterwards both hold
/// the same; the first one is left as it is. It is unfinished until [`end_move`].
///
/// # Errors
///
/// [`Error::NotEmpty`] when the other catalogue holds something else, and as [`copy`].
pub fn move_into(from: &dyn Catalogue, to: &dyn Catalogue, say: &dyn Fn(&str)) -> Result<Copied> {
    let key = ObjectKey::new(MOVE_KIND, "from");
    let identity = serde_json::Value::from(from.identity()?);
    match to.get(&key)? {
        Some(note) if note.body == identity => take_out_what_is_gone(from, to)?,
        None if is_empty(to)? => {
            let note = Object {
                key,
                tenant: TenantId::local(),
                parent: None,
                body: identity,
                lookups: vec![],
                version: 0,
            };
            to.apply(&[Change::Put(note)])?;
        }
        _ => return Err(Error::NotEmpty),
    }
    copy(from, to, say)
}

/// Ends a move: from now on the catalogue counts as one of its own, and takes no other move.
pub fn end_move(to: &dyn Catalogue) -> Result<()> {
    to.apply(&[Change::Delete(ObjectKey::new(MOVE_KIND, "from"))])?;
    Ok(())
}

fn is_empty(catalogue: &dyn Catalogue) -> Result<bool> {
    Ok(catalogue.namespaces()?.is_empty()
        && kinds_of(catalogue)?.is_empty()
        && catalogue.files(None, 1)?.is_empty())
}

/// Erases from a copy what its original does not have.
fn take_out_what_is_gone(from: &dyn Catalogue, to: &dyn Catalogue) -> Result<()> {
    for state in to.namespaces()? {
        let id = &state.info.id;
        if from.namespace(id)?.is_none_or(|there| there.info.manifest != state.info.manifest) {
            to.drop_namespace(id)?;
            continue;
        }
        let mut gone = vec![];
        each_document(to, id, |info| {
            if from.document(id, &info.id)?.is_none() {
                gone.push(info.id);
            }
            Ok(())
        })?;
        for some in gone.chunks(DOCUMENTS_PER_PAGE) {
            to.delete(id, some)?;
        }
    }
    for dropped in to.dropped()? {
        to.erase_dropped(&dropped)?;
    }
    for kind in kinds_of(to)? {
        let mut gone = vec![];
        each_object(to, &kind, |object| {
            if from.get(&object.key)?.is_none() {
                gone.push(Change::Delete(object.key));
            }
            Ok(())
        })?;
        for some in gone.chunks(DOCUMENTS_PER_PAGE) {
            to.apply(some)?;
        }
    }
    let pieces = |catalogue: &dyn Catalogue| -> Result<BTreeMap<String, u32>> {
        let mut found = BTreeMap::new();
        loop {
            let after = found.last_key_value().map(|(file, _): (&String, _)| file.clone());
            let page = catalogue.files(after.as_deref(), limits::MAX_PAGE)?;
            let is_last = page.len() < limits::MAX_PAGE;
            found.extend(page);
            if is_last {
                return Ok(found);
            }
        }
    };
    let wanted = pieces(from)?;
    for (file, n_pieces) in pieces(to)? {
        // A file that is shorter now is written anew.
        if wanted.get(&file).is_none_or(|n_wanted| *n_wanted < n_pieces) {
            to.erase_file(&file)?;
        }
    }
    Ok(())
}

/// Writes a catalogue to a new file, as a SQLite catalogue that [`crate::restore`] and [`import`]
/// take. The caller gives a catalogue of one moment.
///
/// # Errors
///
/// [`Error::AlreadyThere`] when the file exists, and as [`copy`].
pub fn export(from: &dyn Catalogue, file: &Path, clock: &Clock) -> Result<()> {
    sqlite::create(file, clock, |to| copy(from, to, &|_| ()).map(|_| ()))
}

/// Reads a backup into an empty catalogue.
///
/// # Errors
///
/// [`Error::NotEmpty`] when the catalogue is not empty, [`Error::Damaged`] and
/// [`Error::CatalogueDamaged`] when the backup cannot be used, and as [`copy`].
pub fn import(file: &Path, to: &dyn Catalogue, clock: &Clock) -> Result<Copied> {
    if !is_empty(to)? {
        return Err(Error::NotEmpty);
    }
    let mut aside = file.as_os_str().to_owned();
    aside.push(format!(".reading-{:08x}", rand::random::<u32>()));
    let aside = Path::new(&aside);
    let copied = sqlite::open_backup(file, aside, clock).and_then(|from| copy(&from, to, &|_| ()));
    for ending in ["", "-wal", "-shm"] {
        let mut path = aside.as_os_str().to_owned();
        path.push(ending);
        let _ = fs_err::remove_file(Path::new(&path));
    }
    copied
}

fn copy_namespace(
    from: &dyn Catalogue,
    to: &dyn Catalogue,
    id: &NamespaceId,
    manifest: &Manifest,
) -> Result<()> {
    to.create_namespace(id, manifest)?;
    let mut gathered = vec![];
    let mut n_passages = 0;
    each_document(from, id, |info| {
        if to.document(id, &info.id)?.as_ref() == Some(&info)
            && has_same_blobs(from, to, id, &info)?
        {
            return Ok(());
        }
        let passages = from.passages_of(id, &info.id)?;
        n_passages += passages.len();
        let document = Document {
            id: info.id,
            title: info.title,
            attributes: info.attributes,
            metadata: info.metadata,
            fingerprint: info.fingerprint,
            passages,
        };
        gathered.push((document, info.updated_at));
        if n_passages >= PASSAGES_PER_WRITE {
            n_passages = 0;
            write_documents(from, to, id, &std::mem::take(&mut gathered))?;
        }
        Ok(())
    })?;
    write_documents(from, to, id, &gathered)?;
    if manifest.vectors.is_none() {
        return Ok(());
    }
    each_vectors(from, id, |vectors| {
        let ids: Vec<PassageId> = vectors.iter().map(|(id, _)| id.clone()).collect();
        let missing: std::collections::HashSet<PassageId> =
            to.without_vectors(id, &ids)?.into_iter().map(|stored| stored.passage.id).collect();
        let wanted: Vec<_> = vectors.into_iter().filter(|(id, _)| missing.contains(id)).collect();
        if !wanted.is_empty() {
            to.set_vectors(id, &wanted)?;
        }
        Ok(())
    })
}

/// A document may have been written before its blobs when a copy was interrupted.
fn has_same_blobs(
    from: &dyn Catalogue,
    to: &dyn Catalogue,
    id: &NamespaceId,
    info: &DocumentInfo,
) -> Result<bool> {
    let ids: Vec<PassageId> =
        from.passages_of(id, &info.id)?.into_iter().map(|passage| passage.id).collect();
    Ok(from.blobs(id, &ids)? == to.blobs(id, &ids)?)
}

fn write_documents(
    from: &dyn Catalogue,
    to: &dyn Catalogue,
    id: &NamespaceId,
    documents: &[(Document, model::Timestamp)],
) -> Result<()> {
    if documents.is_empty() {
        return Ok(());
    }
    to.import(id, documents)?;
    for (document, _) in documents {
        let ids: Vec<PassageId> =
            document.passages.iter().map(|passage| passage.id.clone()).collect();
        let blobs = from.blobs(id, &ids)?;
        let found: Vec<(PassageId, Vec<u8>)> =
            ids.into_iter().zip(blobs).filter_map(|(id, blob)| Some((id, blob?))).collect();
        if !found.is_empty() {
            to.set_blobs(id, &found)?;
        }
    }
    Ok(())
}

/// Reads a catalogue and gives its counts and hashes.
fn describe(catalogue: &dyn Catalogue) -> Result<Copied> {
    let mut copied = Copied::default();
    let (mut documents, mut vectors) = (Sha256::new(), Sha256::new());
    for state in catalogue.namespaces()? {
        let id = &state.info.id;
        copied.n_namespaces += 1;
        copied.counts.n_documents += state.counts.n_documents;
        copied.counts.n_passages += state.counts.n_passages;
        copied.counts.n_vectors += state.counts.n_vectors;
        add(&mut documents, id.as_str().as_bytes());
        add(&mut documents, state.info.manifest.to_string().as_bytes());
        each_document(catalogue, id, |info| {
            add(&mut documents, json(&info).as_bytes());
            let passages = catalogue.passages_of(id, &info.id)?;
            let ids: Vec<PassageId> = passages.iter().map(|passage| passage.id.clone()).collect();
            add(&mut documents, json(&passages).as_bytes());
            for blob in catalogue.blobs(id, &ids)? {
                add(&mut documents, &blob.unwrap_or_default());
            }
            Ok(())
        })?;
        // The order of the numbers is each catalogue's own: hashes of single vectors are added up.
        let mut sum = [0u64; 4];
        each_vectors(catalogue, id, |found| {
            for (passage, vector) in found {
                let mut one = Sha256::new();
                add(&mut one, passage.as_str().as_bytes());
                vector.iter().for_each(|number| one.update(number.to_le_bytes()));
                let digest = one.finalize();
                let (words, _) = digest.as_chunks::<8>();
                for (sum, word) in sum.iter_mut().zip(words) {
                    *sum = sum.wrapping_add(u64::from_le_bytes(*word));
                }
            }
            Ok(())
        })?;
        sum.iter().for_each(|word| vectors.update(word.to_le_bytes()));
    }
    let mut objects = Sha256::new();
    for kind in kinds_of(catalogue)? {
        each_object(catalogue, &kind, |object| {
            copied.n_objects += 1;
            add(&mut objects, object.key.kind.as_bytes());
            add(&mut objects, object.key.id.as_bytes());
            add(&mut objects, object.tenant.as_str().as_bytes());
            add(&mut objects, object.parent.as_deref().unwrap_or_default().as_bytes());
            add(&mut objects, object.body.to_string().as_bytes());
            for lookup in &object.lookups {
                add(&mut objects, lookup.name.as_bytes());
                add(&mut objects, lookup.value.as_bytes());
            }
            Ok(())
        })?;
    }
    let mut files = Sha256::new();
    each_file(catalogue, |file, piece, bytes| {
        copied.n_files += usize::from(piece == 0);
        add(&mut files, file.as_bytes());
        add(&mut files, bytes);
        Ok(())
    })?;
    copied.hashes =
        [documents, vectors, objects, files].map(|hash| model::hex(hash.finalize())).to_vec();
    Ok(copied)
}

fn compare(original: &Copied, copied: &Copied) -> Result<()> {
    let figures = |of: &Copied| {
        vec![
            ("the number of namespaces".to_owned(), of.n_namespaces.to_string()),
            ("the number of documents".to_owned(), of.counts.n_documents.to_string()),
            ("the number of passages".to_owned(), of.counts.n_passages.to_string()),
            ("the number of vectors".to_owned(), of.counts.n_vectors.to_string()),
            ("the number of objects".to_owned(), of.n_objects.to_string()),
            ("the number of files".to_owned(), of.n_files.to_string()),
        ]
    };
    let names = ["documents", "vectors", "objects", "files"];
    let hashes = |of: &Copied| {
        let named = names.iter().zip(&of.hashes);
        named.map(|(name, hash)| (format!("the hash of {name}"), hash.clone())).collect::<Vec<_>>()
    };
    let all = |of: &Copied| [figures(of), hashes(of)].concat();
    for ((what, expected), (_, found)) in all(original).into_iter().zip(all(copied)) {
        if expected != found {
            return Err(Error::CopyDiffers { what, expected, found });
        }
    }
    Ok(())
}

fn kinds_of(catalogue: &dyn Catalogue) -> Result<Vec<String>> {
    let mut kinds = catalogue.kinds()?;
    kinds.retain(|kind| !OWN_KINDS.iter().any(|own| kind.starts_with(own)));
    kinds.sort();
    Ok(kinds)
}

fn is_same(one: &Object, other: &Object) -> bool {
    Object { version: 0, ..one.clone() } == Object { version: 0, ..other.clone() }
}

fn each_document(
    catalogue: &dyn Catalogue,
    id: &NamespaceId,
    mut each: impl FnMut(DocumentInfo) -> Result<()>,
) -> Result<()> {
    let mut page = DocumentPage { limit: DOCUMENTS_PER_PAGE, ..DocumentPage::default() };
    loop {
        let found = catalogue.documents(id, &page)?;
        page.after = found.last().map(|last| last.id.clone());
        let is_last = found.len() < page.limit;
        found.into_iter().try_for_each(&mut each)?;
        if is_last {
            return Ok(());
        }
    }
}

fn each_vectors(
    catalogue: &dyn Catalogue,
    id: &NamespaceId,
    mut each: impl FnMut(Vec<(PassageId, Vec<f32>)>) -> Result<()>,
) -> Result<()> {
    let state = crate::store::state_of(catalogue, id)?;
    let mut rest = 0..state.next_passage;
    loop {
        let vectors = catalogue.vectors(state.number, rest.clone(), VECTORS_PER_WRITE)?;
        let numbers: Vec<u32> = vectors.iter().map(|(number, _)| *number).collect();
        let names = catalogue.names(state.number, &numbers)?;
        let is_last = vectors.len() < VECTORS_PER_WRITE;
        let named = names.into_iter().zip(vectors);
        each(named.filter_map(|(name, (_, vector))| Some((name?.1, vector))).collect())?;
        match numbers.last() {
            Some(last) if !is_last => rest.start = last + 1,
            _ => return Ok(()),
        }
    }
}

fn each_object(
    catalogue: &dyn Catalogue,
    kind: &str,
    mut each: impl FnMut(Object) -> Result<()>,
) -> Result<()> {
    let mut page = ObjectPage { limit: limits::MAX_PAGE / 10, ..ObjectPage::of(kind) };
    loop {
        let found = catalogue.list(&page)?;
        page.after = found.last().map(|last| last.key.id.clone());
        let is_last = found.len() < page.limit;
        found.into_iter().try_for_each(&mut each)?;
        if is_last {
            return Ok(());
        }
    }
}

fn each_file(
    catalogue: &dyn Catalogue,
    mut each: impl FnMut(&str, u32, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut after: Option<String> = None;
    loop {
        let found = catalogue.files(after.as_deref(), limits::MAX_PAGE)?;
        for (file, n_pieces) in &found {
            for piece in 0..*n_pieces {
                if let Some(bytes) = catalogue.piece(file, piece)? {
                    each(file, piece, &bytes)?;
                }
            }
        }
        match found.last() {
            Some((last, _)) if found.len() == limits::MAX_PAGE => after = Some(last.clone()),
            _ => return Ok(()),
        }
    }
}

fn add(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
