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
            "  1 rows of dimension `place` could not be used: they lack a value or a name",
        ]
    );
}
