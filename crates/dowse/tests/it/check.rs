//! `dowse check` tells the operator what tables and dimensions hold, and which cells do not fit.

use testkit::Folder;

use crate::test_server::dowse;

#[test]
fn sources_are_counted_and_what_does_not_fit_is_shown() {
    let folder = Folder::new();
    folder.write("things.csv", "name,n\na,1\nb,many\n");
    folder.write("places.csv", "id,name\n1,Cluj\n,nowhere\n");
    let config = folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n\
         [[tables]]\nname = \"things\"\nsource = \"things.csv\"\n[tables.fields]\n\
         name = { type = \"string\" }\nn = { type = \"number\" }\n\
         [[dimensions]]\ncategory = \"place\"\nsource = \"places.csv\"\nvalue = \"id\"\n\
         filter_key = \"place_ids\"\nname = \"name\"\n",
    );
    let output = dowse("check").arg("--config").arg(config).output().unwrap();
    // Problems were found, which is no failure of the command.
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let sources: Vec<&str> =
        printed.lines().skip_while(|line| !line.starts_with("table ")).collect();
    assert_eq!(
        sources,
        [
            "table `things`: 2 rows",
            "  1 row does not fit the schema",
            "  line 3, n: the cell is not one of the numbers: `many`",
            "dimension `place`: 1 entry",
            "  1 row of dimension `place` could not be used: it lacks a value or a name",
        ]
    );
}

/// A file whose name ends a line made a draft that is no TOML, one with a backslash a source that
/// is not there, and a row that does not fit a draft that `check` refuses.
#[test]
fn whatever_init_drafts_passes_the_check() {
    let names = [
        "sales",
        "Sales 2024",
        "東京 売上",
        "a\"b",
        "it's",
        "x#y",
        "a\\b",
        "two\nlines",
        "tab\there",
        "[[tables]]",
        "{curly}",
        "\u{1}",
        "\u{7f}",
        "\u{202e}evil",
        "-dash",
        "a=b",
        "trailing ",
        "İ",
        "name.with.dots",
        "select",
    ];
    let contents: [&[u8]; 14] = [
        b"",
        b"\n\n\n",
        b"day,amount\n2024-01-01,3\n2024-01-02,4\n",
        b"a,b,c\n1,2\n1,2,3,4\n5,6,7\n",
        b"a,b\n1,\"open\n2,3\n",
        b"a,a,,a\n1,2,3,4\n",
        b"n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n \nx\n",
        b"\xff\xfe\x00a\x00,\x01b",
        "\u{feff}ann\u{e9}e;valeur\n2024;1,5\n".as_bytes(),
        b"\0\0\0\0\0\0\0\0",
        b"[{\"a\": 1}, {\"a\": {\"b\": [1, {}]}}]",
        b"[{\"a\": 1}, {\"a\"",
        b"{\"a\": 1}\n{\"b\": \"x\"}\nnot json\n",
        b"only one line without an end",
    ];
    for extension in ["csv", "tsv", "json", "jsonl", "parquet", "db", "xlsx\ncsv"] {
        let folder = testkit::Folder::new();
        for (name_idx, name) in names.iter().enumerate() {
            let content = contents[(name_idx + extension.len()) % contents.len()];
            folder.write(format!("{name}/{name}.{extension}"), content);
        }
        let run = |words: &[&str]| {
            let mut command = dowse(words[0]);
            command.args(&words[1..]).current_dir(folder.path()).output().unwrap()
        };
        let drafted = run(&["init"]);
        assert_eq!(drafted.status.code(), Some(0), "{extension}: {drafted:?}");
        let checked = run(&["check", "--no-model"]);
        let said = String::from_utf8_lossy(&checked.stdout);
        let draft = folder.read("dowse.toml");
        assert_eq!(checked.status.code(), Some(0), "{extension}: {said}\n{checked:?}\n{draft}");
    }
}

/// A table of which a row does not fit is in the draft, with the reason and not served.
#[test]
fn init_says_what_it_left_out_and_why() {
    let folder = testkit::Folder::new();
    folder.write("good.csv", "day,amount\n2024-01-01,3\n2024-01-02,4\n");
    folder.write("torn.csv", "a,b,c\n1,2,3\n1,2\n5,6,7\n");
    let drafted = dowse("init").current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&drafted.stderr);
    assert!(said.contains("1 table is left out"), "{said}");
    let draft = folder.read("dowse.toml");
    assert!(draft.contains("# `torn.csv` is left out") && draft.contains("line 3"), "{draft}");
    // Without the first `#` of each line it is the table.
    let table = draft.split("does not fit.\n").nth(1).unwrap();
    let served: String = table.lines().map(|line| format!("{}\n", &line[2..])).collect();
    let all = format!("{}{served}", draft.replace(table, ""));
    folder.write("dowse.toml", all);
    let checked = dowse("check").arg("--no-model").current_dir(folder.path()).output().unwrap();
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(said.contains("table `torn`: 3 rows"), "{said}");
}
