//! A file without text says why: what became of it, or what leaves it out.

use super::*;

fn warning(opened: &Opened, path: &Path) -> Vec<String> {
    let path = path.to_str().unwrap().to_owned();
    let request = PreviewRequest { path, ..PreviewRequest::default() };
    let preview = opened.service.preview(&Caller::local_admin(), &request).unwrap();
    preview.warnings.into_iter().map(|warning| warning.message).collect()
}

/// One sentence named every cause there may be, and advised to index again whatever it was.
#[test]
fn a_file_without_text_says_what_became_of_it_or_what_leaves_it_out() {
    let world = Fixture::new();
    world.write(".gitignore", "secret/\n");
    world.write("fine.txt", "The lighthouse was painted.");
    let opened = world.open(FilesConfig {
        roots: vec![RootConfig::Path("root".into())],
        max_file_bytes: 10_000,
        ignore: vec!["old/".to_owned()],
        exts: ["txt", "md", "docx", "png"].map(str::to_owned).into(),
        ..FilesConfig::default()
    });
    let files = [
        ("empty.txt", "", "empty (the file is empty); no search finds it"),
        (
            "large.txt",
            &"word ".repeat(5_000),
            "too_large (it is larger than `files.max_file_bytes`",
        ),
        ("broken.docx", "PK\x03\x04 and nothing more", "broken (the zip document is damaged"),
        ("p.png", "\u{1}", "no search finds it, `listFiles` shows it"),
        ("secret/a.txt", "a", "an ignore rule leaves it out"),
        ("old/deep/a.txt", "a", "an ignore rule leaves it out"),
        (".a.txt", "a", "it is hidden"),
        (".folder/b.txt", "a", "it is hidden"),
        ("secret/.b.txt", "a", "an ignore rule leaves it out"),
        ("a.log", "a", "`.log` is not among `[files] exts`"),
        ("README", "a", "it has no extension"),
        ("data/note.txt", "a", "it is in a data folder of Dowse"),
    ];
    let paths: Vec<PathBuf> = files.iter().map(|(name, text, _)| world.write(name, text)).collect();
    opened.index_all();
    for ((name, _, said), path) in files.iter().zip(&paths) {
        let warnings = warning(&opened, path);
        assert_eq!(warnings.len(), 1, "{name}");
        assert!(warnings[0].contains(said), "{name}: {warnings:?}");
        assert!(!warnings[0].contains("indexFolder"), "{name}: {warnings:?}");
    }
    let new = world.write("sub/new.txt", "The harbour was closed.");
    let changed = world.write("empty.txt", "It was filled.");
    for (path, said) in [(&new, "not indexed yet"), (&changed, "it has changed since")] {
        let warnings = warning(&opened, path);
        assert!(warnings[0].contains(said), "{warnings:?}");
        assert!(warnings[0].ends_with("`indexFolder` takes it in"), "{warnings:?}");
    }
    opened.index_all();
    assert!(warning(&opened, &new).is_empty() && warning(&opened, &changed).is_empty());
}
