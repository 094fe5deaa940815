//! What is inside a root, by examples and against a naive model.

use std::io::Read;

use super::*;

struct Fixture {
    folder: tempfile::TempDir,
    roots: Roots,
}

/// `allowed/inside.txt`, `allowed-not/secret.txt`, and links from one to the other.
fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs_err::create_dir_all(at("allowed/sub")).unwrap();
    fs_err::create_dir_all(at("allowed-not")).unwrap();
    fs_err::write(at("allowed/inside.txt"), "in").unwrap();
    fs_err::write(at("allowed-not/secret.txt"), "out").unwrap();
    std::os::unix::fs::symlink(at("allowed-not"), at("allowed/way-out")).unwrap();
    std::os::unix::fs::symlink(at("allowed-not/secret.txt"), at("allowed/link.txt")).unwrap();
    std::os::unix::fs::symlink("inside.txt", at("allowed/alias.txt")).unwrap();
    let roots = Roots::open(&[RootConfig::Path(at("allowed"))], Path::new("/")).unwrap();
    Fixture { folder, roots }
}

#[track_caller]
fn check(world: &Fixture, given: &str, expected: &str) {
    let path = world.folder.path().join(given);
    let outcome = match world.roots.locate(&Caller::local_admin(), path.to_str().unwrap()) {
        Ok(_) => "inside",
        Err(Error::Forbidden { .. }) => "forbidden",
        Err(Error::NotFound { .. }) => "missing",
        Err(_) => "bad",
    };
    assert_eq!(outcome, expected, "{given}");
}

#[test]
fn only_what_resolves_into_a_root_is_inside() {
    let world = fixture();
    check(&world, "allowed", "inside");
    check(&world, "allowed/inside.txt", "inside");
    check(&world, "allowed/./sub/../inside.txt", "inside");
    check(&world, "allowed/alias.txt", "inside");
    check(&world, "allowed/none.txt", "missing");
    check(&world, "allowed/../allowed/none.txt", "missing");
    check(&world, "allowed-not/secret.txt", "forbidden");
    check(&world, "allowed-not/none.txt", "forbidden");
    check(&world, "allowed/../allowed-not/secret.txt", "forbidden");
    check(&world, "allowed/way-out/secret.txt", "forbidden");
    check(&world, "allowed/link.txt", "forbidden");
    check(&world, "", "forbidden");
    assert!(world.roots.locate(&Caller::local_admin(), "relative.txt").is_err());
    // A relative path that names one thing in a root names it; a way out names nothing.
    let relative = |given: &str| {
        let located = world.roots.locate(&Caller::local_admin(), given);
        located.ok().map(|(root, path)| path.strip_prefix(&root.path).unwrap().to_owned())
    };
    assert_eq!(relative("inside.txt"), Some("inside.txt".into()));
    assert_eq!(relative("allowed/inside.txt"), Some("inside.txt".into()));
    assert_eq!(relative("sub/../alias.txt"), Some("inside.txt".into()));
    assert_eq!(relative("allowed"), Some("".into()));
    for outside in ["../allowed-not/secret.txt", "way-out/secret.txt", "link.txt", "etc/passwd"] {
        assert_eq!(relative(outside), None, "{outside}");
    }
    assert!(world.roots.locate(&Caller::local_admin(), "/a\0b").is_err());
    assert!(world.roots.locate(&Caller::local_admin(), &"/x".repeat(4096)).is_err());
}

fn read_beneath(root: &Root, relative: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    root.open_beneath(relative)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[test]
fn a_file_is_opened_beneath_its_root_or_not_at_all() {
    let world = fixture();
    let root = &world.roots.all()[0];
    assert_eq!(read_beneath(root, Path::new("inside.txt")).unwrap(), b"in");
    assert_eq!(read_beneath(root, Path::new("alias.txt")).unwrap(), b"in");
    for escape in
        ["link.txt", "way-out/secret.txt", "../allowed-not/secret.txt", "/etc/hostname", "sub"]
    {
        assert!(read_beneath(root, Path::new(escape)).is_err(), "{escape}");
    }
}

#[test]
fn a_root_that_a_caller_may_not_use_does_not_exist() {
    let world = fixture();
    let path = world.folder.path().join("allowed");
    let access = Access { tenants: vec![], roles: vec!["finance".to_owned()] };
    let config = RootConfig::Restricted { path: path.clone(), allow: access };
    let roots = Roots::open(&[config], Path::new("/")).unwrap();
    let mut caller = Caller::local_admin();
    caller.identity = model::Identity::Key;
    assert!(roots.visible(&caller).is_empty());
    assert!(matches!(roots.locate(&caller, path.to_str().unwrap()), Err(Error::Forbidden { .. })));
}

/// A world of folders `a`, `b`, `c` inside and outside a root, with files and links that point
/// anywhere, and paths that walk about in it.
mod law {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "root"];

    fn step() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => proptest::sample::select(&NAMES[..]).prop_map(str::to_owned),
            1 => Just("..".to_owned()),
            1 => Just(".".to_owned()),
            1 => Just("A".to_owned()),
        ]
    }

    fn path() -> impl Strategy<Value = String> {
        proptest::collection::vec(step(), 1..6).prop_map(|steps| steps.join("/"))
    }

    /// A link at the first path to the second, taken from the world's folder or from the link.
    fn link() -> impl Strategy<Value = (String, String, bool)> {
        (path(), path(), any::<bool>())
    }

    fn build(files: &[String], links: &[(String, String, bool)]) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let base = fs_err::canonicalize(folder.path()).unwrap();
        fs_err::create_dir_all(base.join("root")).unwrap();
        // Whatever cannot be made, since something else is there already, is left out.
        let place = |path: &str| {
            let place = lexically_resolved(&base.join(path));
            let is_ours = place.starts_with(&base) && place != base;
            let parent = place.parent()?;
            (is_ours && fs_err::create_dir_all(parent).is_ok()).then_some(place)
        };
        for file in files {
            if let Some(place) = place(file).filter(|place| !place.exists()) {
                // A file says where it really is.
                let really = place.parent().and_then(|parent| fs_err::canonicalize(parent).ok());
                let is_inside = really.is_some_and(|parent| parent.starts_with(base.join("root")));
                let _ = fs_err::write(&place, if is_inside { "inside" } else { "outside" });
            }
        }
        for (at, to, is_absolute) in links {
            if let Some(place) = place(at) {
                let target = if *is_absolute { base.join(to) } else { PathBuf::from(to) };
                let _ = std::os::unix::fs::symlink(target, place);
            }
        }
        let config = RootConfig::Path(base.join("root"));
        let roots = Roots::open(&[config], Path::new("/")).unwrap();
        Fixture { folder, roots }
    }

    proptest! {
        #[test]
        fn only_what_stands_inside_is_located_and_read(
            files in proptest::collection::vec(path(), 1..10),
            links in proptest::collection::vec(link(), 0..8),
            asked in proptest::collection::vec(path(), 1..20),
        ) {
            let world = build(&files, &links);
            let base = fs_err::canonicalize(world.folder.path()).unwrap();
            let root_text = format!("{}/", base.join("root").to_str().unwrap());
            for asked in asked {
                let path = base.join(&asked);
                // The naive model: ask the system where the path leads, compare as text.
                let leads_inside = fs_err::canonicalize(&path).is_ok_and(|real| {
                    format!("{}/", real.to_str().unwrap()).starts_with(&root_text)
                });
                let located =
                    world.roots.locate(&Caller::local_admin(), path.to_str().unwrap());
                prop_assert_eq!(located.is_ok(), leads_inside, "{}", asked);
                // Reading by any path relative to the root never gives what is outside.
                let root = &world.roots.all()[0];
                if let Ok(bytes) = read_beneath(root, Path::new(&asked)) {
                    prop_assert_eq!(bytes, b"inside");
                }
                if let Ok((root, resolved)) = located {
                    let relative = resolved.strip_prefix(&root.path).unwrap();
                    if let Ok(bytes) = read_beneath(root, relative) {
                        prop_assert_eq!(bytes, b"inside");
                    }
                }
            }
        }
    }
}

#[test]
fn a_file_that_is_swapped_for_a_link_after_the_check_is_not_read() {
    let world = fixture();
    let path = world.folder.path().join("allowed/inside.txt");
    let (root, resolved) =
        world.roots.locate(&Caller::local_admin(), path.to_str().unwrap()).unwrap();
    fs_err::remove_file(&path).unwrap();
    let outside = world.folder.path().join("allowed-not/secret.txt");
    std::os::unix::fs::symlink(outside, &path).unwrap();
    let relative = resolved.strip_prefix(&root.path).unwrap();
    assert!(read_beneath(root, relative).is_err());
}

#[test]
fn a_root_that_is_not_there_stays_a_root() {
    let folder = tempfile::tempdir().unwrap();
    let share = folder.path().join("share");
    let config = RootConfig::Path(share.clone());
    let roots = Roots::open(&[config], Path::new("/")).unwrap();
    assert_eq!(roots.all()[0].path, share);
    let inside = share.join("a.txt");
    let located = roots.locate(&Caller::local_admin(), inside.to_str().unwrap());
    assert!(matches!(located, Err(Error::NotFound { .. })));
    fs_err::write(&share, "a file").unwrap();
    let config = RootConfig::Path(share);
    assert!(matches!(Roots::open(&[config], Path::new("/")), Err(Error::BadRoot { .. })));
}

/// A Mac stores `é` as `e` with an accent; whoever types the name found nothing.
#[test]
fn names_are_found_in_another_unicode_form() {
    let world = fixture();
    let at = |name: &str| fs_err::canonicalize(world.folder.path()).unwrap().join(name);
    let (composed, apart) = ("R\u{e9}sum\u{e9}.txt", "Re\u{301}sume\u{301}.txt");
    fs_err::create_dir_all(at("allowed/o\u{308}l")).unwrap();
    fs_err::write(at("allowed/o\u{308}l").join(apart), "apart").unwrap();
    fs_err::write(at("allowed").join(composed), "composed").unwrap();
    fs_err::write(at("allowed-not").join(apart), "out").unwrap();
    let located = |path: &Path| {
        let located = world.roots.locate(&Caller::local_admin(), path.to_str().unwrap());
        located.map(|(_, resolved)| resolved)
    };
    let stored = at("allowed/o\u{308}l").join(apart);
    assert_eq!(located(&at("allowed/\u{f6}l").join(composed)).unwrap(), stored);
    assert_eq!(located(&at("allowed/o\u{308}l").join(composed)).unwrap(), stored);
    assert_eq!(located(&at("allowed").join(apart)).unwrap(), at("allowed").join(composed));
    let relative = world.roots.locate(&Caller::local_admin(), "\u{f6}l/R\u{e9}sum\u{e9}.txt");
    assert_eq!(relative.unwrap().1, stored);
    // A name that exists as it is written is that file, whatever else looks the same.
    fs_err::write(at("allowed/o\u{308}l").join(composed), "both").unwrap();
    let exact = at("allowed/o\u{308}l").join(composed);
    assert_eq!(located(&exact).unwrap(), exact);
    // Nothing outside is found, in no form and over no link.
    let outside = located(&at("allowed-not").join(composed));
    assert!(matches!(outside, Err(Error::Forbidden { .. })), "{outside:?}");
    assert!(located(&at("allowed/way-out").join(composed)).is_err());
    let missing = located(&at("allowed/\u{e9}.txt"));
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
}

#[test]
fn a_link_that_is_turned_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let base = fs_err::canonicalize(folder.path()).unwrap();
    let at = |name: &str| base.join(name);
    for name in ["one", "two", "plain"] {
        fs_err::create_dir(at(name)).unwrap();
    }
    let turn_to = |name: &str| {
        std::os::unix::fs::symlink(name, at("new")).unwrap();
        fs_err::rename(at("new"), at("current")).unwrap();
    };
    turn_to("one");
    let configs = ["current", "plain", "plain/../plain"].map(|it| RootConfig::Path(it.into()));
    let open = || Roots::open(&configs, &base).unwrap();
    let roots = open();
    let links: Vec<bool> = roots.all().iter().map(|root| root.link.is_some()).collect();
    assert_eq!(links, [true, false, false]);
    assert!(!roots.lead_elsewhere());
    turn_to("two");
    assert!(roots.lead_elsewhere() && !open().lead_elsewhere());
    // One that leads nowhere takes nothing away.
    turn_to("gone");
    assert!(!roots.lead_elsewhere());
}
