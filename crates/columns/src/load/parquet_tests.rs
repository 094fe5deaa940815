//! Proves that every type a Parquet file is likely to have comes out as the cell it means.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    DictionaryArray, DurationMillisecondArray, Float32Array, Float64Array, Int16Array,
    LargeListArray, NullArray, RecordBatch, StringArray, StructArray, Time32SecondArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, UInt64Array,
};
use parquet::arrow::ArrowWriter;

use crate::{Cells, ColumnSpec, Dataset, Kind, Result, TableSpec, Value};

fn read(array: ArrayRef, kind: Kind, cells: Cells) -> Result<(Vec<Value>, Dataset)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let batch = RecordBatch::try_from_iter_with_nullable([("c", array, true)]).unwrap();
    let file = fs_err::File::create(&path).unwrap().into_file();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let spec = TableSpec::of(vec![ColumnSpec { cells, ..ColumnSpec::new("c", kind) }]);
    let dataset = Dataset::read(&path, &spec)?;
    let values = (0..dataset.n_rows()).map(|row| dataset.all_columns()[0].value(row)).collect();
    Ok((values, dataset))
}

#[track_caller]
fn check(array: impl arrow_array::Array + 'static, kind: Kind, expected: &[Value]) {
    let (values, dataset) = read(Arc::new(array), kind, Cells::One).unwrap();
    assert_eq!(values, expected);
    assert!(dataset.report().is_clean());
}

#[test]
fn every_type_gives_the_cell_it_means() {
    check(Int16Array::from(vec![Some(3), None]), Kind::Number, &[3.into(), Value::Null]);
    check(UInt64Array::from(vec![7]), Kind::Number, &[7.into()]);
    check(Float32Array::from(vec![0.5, f32::NAN]), Kind::Number, &[0.5.into(), Value::Null]);
    check(BooleanArray::from(vec![true, false]), Kind::Boolean, &[true.into(), false.into()]);
    check(
        Date32Array::from(vec![1, -1]),
        Kind::Timestamp,
        &[Value::Timestamp(86_400_000), Value::Timestamp(-86_400_000)],
    );
    check(
        TimestampMicrosecondArray::from(vec![-1, 1999]),
        Kind::Timestamp,
        &[Value::Timestamp(-1), Value::Timestamp(1)],
    );
    let decimals = Decimal128Array::from(vec![1250]).with_precision_and_scale(10, 2).unwrap();
    check(decimals, Kind::Number, &[12.5.into()]);
    check(
        StringArray::from(vec!["2024-01-01"]),
        Kind::Timestamp,
        &[Value::Timestamp(1_704_067_200_000)],
    );
    check(Int16Array::from(vec![5]), Kind::Text, &["5".into()]);
    let dictionary: DictionaryArray<Int32Type> =
        vec![Some("x"), None, Some("x")].into_iter().collect();
    check(dictionary, Kind::Text, &["x".into(), Value::Null, "x".into()]);
}

#[test]
fn lists_become_lists() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("a"), None, Some("b")]);
    lists.append_null();
    lists.append_value([Some("b"), Some("b")]);
    let cells = Cells::Many { separator: ';' };
    let (values, _) = read(Arc::new(lists.finish()), Kind::Text, cells).unwrap();
    assert_eq!(
        values,
        [
            Value::List(vec!["a".into(), "b".into()]),
            Value::List(vec![]),
            Value::List(vec!["b".into()]),
        ]
    );
}

#[test]
fn what_does_not_fit_is_reported_and_what_cannot_be_read_is_named() {
    let reals = Float64Array::from(vec![1.0, f64::INFINITY]);
    let (values, dataset) = read(Arc::new(reals), Kind::Number, Cells::One).unwrap();
    assert_eq!(values, [1.0.into(), Value::Null]);
    assert_eq!(dataset.report().misfits[0].line, 2);
    let months = arrow_array::IntervalYearMonthArray::from(vec![3]);
    let error = read(Arc::new(months), Kind::Text, Cells::One).unwrap_err();
    assert!(matches!(error, crate::Error::Parquet { .. }), "{error}");
}

#[test]
fn every_codec_is_read_and_what_is_not_is_named() {
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let column: ArrayRef = Arc::new(StringArray::from(vec!["a value"; 2000]));
    let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
    let spec = TableSpec::of(vec![ColumnSpec::new("c", Kind::Text)]);
    let write = |codec: Compression| {
        let properties = WriterProperties::builder().set_compression(codec).build();
        let file = fs_err::File::create(&path).unwrap().into_file();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    };
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
    ] {
        write(codec);
        let dataset = Dataset::read(&path, &spec).unwrap();
        assert_eq!(dataset.n_rows(), 2000, "{codec}");
        assert_eq!(dataset.all_columns()[0].value(1999), "a value".into(), "{codec}");
    }
    // Nobody here writes LZO; the mark of the codec is the byte behind the path of the column.
    write(Compression::SNAPPY);
    let mut bytes = fs_err::read(&path).unwrap();
    let mark = bytes.windows(4).rposition(|window| window == [0x18, 1, b'c', 0x15]).unwrap() + 4;
    assert_eq!(bytes[mark], 2, "a zigzag 1");
    bytes[mark] = 6;
    fs_err::write(&path, bytes).unwrap();
    let error = Dataset::read(&path, &spec).unwrap_err().to_string();
    assert!(error.contains("column `c` is compressed with LZO"), "{error}");
    assert!(error.contains("write it with ZSTD"), "{error}");
}

#[test]
fn a_rare_type_is_text_or_a_number_and_stops_no_table() {
    let text = |array: ArrayRef, expected: &[&str]| {
        let (values, _) = read(array, Kind::Text, Cells::One).unwrap();
        let expected: Vec<Value> = expected
            .iter()
            .map(|text| if text.is_empty() { Value::Null } else { (*text).into() })
            .collect();
        assert_eq!(values, expected);
    };
    text(Arc::new(Time32SecondArray::from(vec![Some(5 * 3600 + 61), None])), &["05:01:01", ""]);
    text(Arc::new(Time64MicrosecondArray::from(vec![1_500_000])), &["00:00:01.5"]);
    text(Arc::new(NullArray::new(2)), &["", ""]);
    text(Arc::new(BinaryArray::from_vec(vec![b"abc", "Zürich".as_bytes()])), &["abc", "Zürich"]);
    text(Arc::new(BinaryArray::from_vec(vec![b"abc", &[0xff, 0]])), &["616263", "ff00"]);
    let wide = Decimal256Array::from(vec![arrow_buffer::i256::from_i128(123_456)]);
    text(Arc::new(wide.with_precision_and_scale(40, 3).unwrap()), &["123.456"]);
    let numbers: ArrayRef = Arc::new(Int16Array::from(vec![Some(1), None]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let records = StructArray::try_from(vec![("n", numbers), ("name", names)]).unwrap();
    text(Arc::new(records), &[r#"{"n":1,"name":"a"}"#, r#"{"n":null,"name":"b"}"#]);
    let mut lists = ListBuilder::new(ListBuilder::new(StringBuilder::new()));
    lists.values().append_value([Some("a"), Some("b")]);
    lists.values().append_value([Some("c")]);
    lists.append(true);
    lists.append_null();
    text(Arc::new(lists.finish()), &[r#"[["a","b"],["c"]]"#, ""]);
    check(DurationMillisecondArray::from(vec![1500]), Kind::Number, &[1.5.into()]);
    let large: LargeListArray =
        LargeListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), Some(2)])]);
    let cells = Cells::Many { separator: ';' };
    let (values, _) = read(Arc::new(large), Kind::Number, cells).unwrap();
    assert_eq!(values, [Value::List(vec![1.into(), 2.into()])]);
}
