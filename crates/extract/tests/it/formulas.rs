//! Formulas of a sheet that no program has computed are in the text as they were written; those
//! that have a value are shown by it.

use extract::{Caps, extract};

use crate::fixtures;

#[track_caller]
fn check(file: &[u8], name: &str, expected: &str) {
    let (document, warnings) = extract(file, name, &Caps::standard());
    assert_eq!(warnings, []);
    let rows = document.blocks.last().map(|block| block.text.as_str());
    assert_eq!(rows, Some(expected), "{name}");
}

#[test]
fn of_a_workbook() {
    let sheet = "<worksheet><sheetData>\
        <row r='1'><c r='A1'><v>1</v></c><c r='B1'><f>A1*2</f><v>2</v></c></row>\
        <row r='2'><c r='A2'><v>3</v></c><c r='B2'><f t='shared' ref='B2:B4' si='0'>A2*2</f></c></row>\
        <row r='3'><c r='A3'><f>SUM(A1:A2)</f><v></v></c><c r='B3'><f t='shared' si='0'/><v/></c></row>\
        <row r='4'><c r='A4' t='str'><f>IF(A1,\"\")</f><v></v></c><c r='B4'><f t='shared' si='7'/></c></row>\
        </sheetData></worksheet>";
    let file = fixtures::zip_of(&[
        ("[Content_Types].xml", b"<Types/>"),
        (
            "xl/workbook.xml",
            b"<workbook><sheets><sheet name='Q2' sheetId='1' r:id='r1'/></sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            b"<Relationships><Relationship Id='r1' Type='x/worksheet' Target='worksheets/sheet1.xml'/></Relationships>",
        ),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ]);
    let expected =
        "1 | 2\n3 | =A2*2\n=SUM(A1:A2) | =A2*2 (as in B2)\n | =(formula without a value)";
    check(&file, "a.xlsx", expected);
}

#[test]
fn of_an_open_document() {
    let content = "<office:document-content><office:body><office:spreadsheet>\
        <table:table table:name='Data'>\
        <table:table-row><table:table-cell office:value-type='float' office:value='1'/>\
        <table:table-cell table:formula='of:=[.A1]*2' office:value-type='float' office:value='2'><text:p>2.00</text:p></table:table-cell></table:table-row>\
        <table:table-row><table:table-cell table:formula='of:=SUM([.A1:.$B$1];[$Other.C3])&amp;\"[.x]\"'/>\
        <table:table-cell table:formula='of:=IF([.A1];\"\")' office:value-type='string'/>\
        <table:table-cell table:formula='oooc:=[.B1]+1'/></table:table-row>\
        </table:table></office:spreadsheet></office:body></office:document-content>";
    let file = fixtures::zip_of(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", content.as_bytes()),
    ]);
    let expected = "1 | 2.00\n=SUM(A1:$B$1;$Other.C3)&\"[.x]\" |  | =B1+1";
    check(&file, "a.ods", expected);
}

#[test]
fn of_an_old_workbook() {
    check(&fixtures::xls_formulas(None), "a.xls", "1.5\n2\n=SUM(A1:A2)\n=A1+A2");
    // One that has a value tells that the other has an empty text.
    check(&fixtures::xls_formulas(Some(3.5)), "a.xls", "1.5\n2\n3.5");
}
