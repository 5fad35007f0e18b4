//! Record batches there and back: types, nulls, slices, formats, keys and mistakes.

use aescomb_columns::{
    Beside, Cipher, ColumnHeader, Encryption, Error, Failure, Format, Header, KeyType, Keyset,
    METADATA_KEY, OnFailure, Prefix, Reason, Spec, Status,
};
use arrow_array::builder::{BinaryViewBuilder, FixedSizeBinaryBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, Field, IntervalUnit, Schema, TimeUnit};
use proptest::prelude::*;
use std::sync::Arc;

fn keyset(of: &str) -> Keyset {
    let mut keys = Keyset::new();
    keys.generate(of.parse().unwrap()).unwrap();
    keys
}

/// Every format with every mode that encrypts in it.
const WAYS: [(&str, &str, &str); 16] = [
    ("tink", "randomized", "aes-128-gcm"),
    ("tink", "randomized", "aes-256-gcm"),
    ("tink", "randomized", "aes-256-gcm-siv"),
    ("tink", "deterministic", "aes-256-siv"),
    ("plain", "randomized", "aes-256-cmac-prf"),
    ("plain", "randomized", "aes-128-gcm-siv"),
    ("plain", "deterministic", "aes-256-siv"),
    ("spark", "randomized", "aes-128-gcm"),
    ("spark", "randomized", "aes-192-gcm"),
    ("spark", "randomized", "aes-256-gcm"),
    ("spark", "randomized", "aes-128-cbc-pkcs7"),
    ("spark", "randomized", "aes-256-cbc-pkcs7"),
    ("clickhouse", "randomized", "aes-256-gcm"),
    ("clickhouse", "randomized", "aes-192-cbc-pkcs7"),
    ("clickhouse", "randomized", "aes-256-ctr"),
    ("clickhouse", "randomized", "aes-128-ofb"),
];

fn spec(columns: &[(&str, &str, &str)]) -> Spec {
    let columns = columns.iter().map(|(name, format, encryption)| {
        let nonces = match *format {
            "clickhouse" => format!(r#", "nonces": "{name} nonce""#),
            _ => String::new(),
        };
        format!(r#""{name}": {{"format": "{format}", "encryption": "{encryption}"{nonces}}}"#)
    });
    let columns: Vec<String> = columns.collect();
    let text = format!(
        r#"{{"dataset": "tests", "columns": {{ {} }}}}"#,
        columns.join(", ")
    );
    Spec::from_json(&text).unwrap()
}

fn batch(array: ArrayRef) -> RecordBatch {
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(0..array.len() as i64));
    let fields = vec![
        Field::new("id", DataType::Int64, false),
        Field::new("value", array.data_type().clone(), true),
    ];
    let metadata = [("owner", "somebody")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let schema = Schema::new_with_metadata(fields, std::collections::HashMap::from(metadata));
    RecordBatch::try_new(Arc::new(schema), vec![id, array]).unwrap()
}

/// Encrypts and decrypts it, by a header that went through JSON.
fn there_and_back(batch: &RecordBatch, spec: &Spec, keys: &[Keyset]) -> RecordBatch {
    let cipher = Cipher::new(spec, keys, &batch.schema()).unwrap();
    let encrypted = cipher.encrypt(batch).unwrap();
    assert_eq!(
        encrypted.schema(),
        cipher.encrypted_schema(&batch.schema()).unwrap()
    );
    assert_eq!(encrypted.num_rows(), batch.num_rows());
    let (a, b) = (
        batch.column(1).logical_nulls(),
        encrypted.column(1).logical_nulls(),
    );
    let count = |nulls: Option<arrow_buffer::NullBuffer>| nulls.map_or(0, |n| n.null_count());
    assert_eq!(count(a), count(b));
    let cipher = Cipher::of_schema(&encrypted.schema(), None, keys).unwrap();
    let (back, failures) = cipher.decrypt(&encrypted, OnFailure::Stop).unwrap();
    assert_eq!(failures, []);
    back
}

#[test]
fn every_way_there_and_back() {
    let texts = StringArray::from(vec![
        Some("Ada"),
        None,
        Some(""),
        Some("Grace Hopper, 1906"),
    ]);
    let batch = batch(Arc::new(texts));
    for (format, encryption, key) in WAYS {
        let keys = [keyset(key)];
        let spec = spec(&[("value", format, encryption)]);
        assert_eq!(
            there_and_back(&batch, &spec, &keys),
            batch,
            "{format} {key}"
        );
        let none = batch.slice(1, 1);
        assert_eq!(
            there_and_back(&none, &spec, &keys),
            none,
            "{format} {key}, all null"
        );
        let empty = batch.slice(0, 0);
        assert_eq!(
            there_and_back(&empty, &spec, &keys),
            empty,
            "{format} {key}, no rows"
        );
    }
}

/// The bytes of a value, by the format's table.
#[test]
fn bytes_of_formats() {
    let batch = batch(Arc::new(StringArray::from(vec!["seven b"])));
    for (format, encryption, key) in WAYS {
        let keys = [keyset(key)];
        let id = keys[0].primary().unwrap().id();
        let spec = spec(&[("value", format, encryption)]);
        let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
        let encrypted = cipher.encrypt(&batch).unwrap();
        let value = encrypted.column(1).as_binary::<i32>().value(0).to_vec();
        let prefix = [&[1][..], &id.to_be_bytes()].concat();
        let (front, sealed) = match format {
            "tink" => (prefix.len(), value.strip_prefix(&prefix[..]).unwrap()),
            _ => (0, &value[..]),
        };
        let expected = match (format, key) {
            ("clickhouse", "aes-256-gcm") => 7 + 16,
            ("clickhouse", "aes-192-cbc-pkcs7") => 16,
            ("clickhouse", _) => 7,
            (_, key) if key.ends_with("cbc-pkcs7") => 16 + 16,
            (_, "aes-256-siv") => 16 + 7,
            _ => 12 + 7 + 16,
        };
        assert_eq!(sealed.len(), expected, "{format} {key}, behind {front}");
        let again = cipher.encrypt(&batch).unwrap();
        let same = again.column(1).as_binary::<i32>().value(0) == value;
        assert_eq!(same, encryption == "deterministic", "{format} {key}");
        let header = &cipher.header().columns["value"];
        assert_eq!(header.salt.is_some(), key == "aes-256-cmac-prf");
        assert_eq!(header.key, id);
        let nonce_columns = encrypted.num_columns() - batch.num_columns();
        assert_eq!(nonce_columns, usize::from(format == "clickhouse"));
    }
}

/// One array of each type that is taken, with a null, and one that begins behind others.
fn arrays() -> Vec<ArrayRef> {
    let mut fixed = FixedSizeBinaryBuilder::new(5);
    fixed.append_value(b"five!").unwrap();
    fixed.append_null();
    fixed.append_value(b"other").unwrap();
    let mut views = StringViewBuilder::new();
    let mut bytes = BinaryViewBuilder::new();
    for text in [
        Some("short"),
        None,
        Some("a text that is longer than a view"),
    ] {
        views.append_option(text);
        bytes.append_option(text.map(str::as_bytes));
    }
    let texts = vec![Some("Ada"), None, Some("Grace")];
    let blobs: Vec<Option<&[u8]>> = vec![Some(b"\xff\x00"), None, Some(b"")];
    let ints = Int64Array::from(vec![Some(i64::MIN), None, Some(77)]);
    let mut all: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(texts.clone())),
        Arc::new(LargeStringArray::from(texts.clone())),
        Arc::new(views.finish()),
        Arc::new(BinaryArray::from(blobs.clone())),
        Arc::new(LargeBinaryArray::from(blobs)),
        Arc::new(bytes.finish()),
        Arc::new(fixed.finish()),
        Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        Arc::new(Float16Array::from(vec![Some(half()), None, Some(half())])),
        Arc::new(Float32Array::from(vec![
            Some(1.5),
            None,
            Some(f32::INFINITY),
        ])),
        Arc::new(Float64Array::from(vec![Some(-0.0), None, Some(1e300)])),
        Arc::new(
            texts
                .iter()
                .copied()
                .collect::<DictionaryArray<Int32Type>>(),
        ),
        Arc::new(IntervalDayTimeArray::from(vec![
            Some(arrow_buffer::IntervalDayTime::new(1, -2)),
            None,
            Some(arrow_buffer::IntervalDayTime::new(0, 3)),
        ])),
        Arc::new(IntervalMonthDayNanoArray::from(vec![
            Some(arrow_buffer::IntervalMonthDayNano::new(1, 2, 3)),
            None,
            Some(arrow_buffer::IntervalMonthDayNano::new(-1, 0, 9)),
        ])),
    ];
    let zone: Arc<str> = "Europe/Berlin".into();
    for of in [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Date32,
        DataType::Date64,
        DataType::Time32(TimeUnit::Second),
        DataType::Time32(TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond),
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::Timestamp(TimeUnit::Second, None),
        DataType::Timestamp(TimeUnit::Millisecond, Some(zone.clone())),
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)),
        DataType::Timestamp(TimeUnit::Nanosecond, None),
        DataType::Duration(TimeUnit::Second),
        DataType::Duration(TimeUnit::Nanosecond),
        DataType::Interval(IntervalUnit::YearMonth),
        DataType::Decimal32(9, 2),
        DataType::Decimal64(18, 0),
        DataType::Decimal128(38, -3),
        DataType::Decimal256(76, 10),
    ] {
        let width = of.primitive_width().unwrap();
        // Small numbers, which all types have.
        let mut bytes = vec![0; 3 * width];
        (bytes[0], bytes[2 * width]) = (7, 100);
        let data = arrow_data::ArrayData::builder(of)
            .len(3)
            .add_buffer(arrow_buffer::Buffer::from_vec(bytes))
            .nulls(ints.nulls().cloned())
            .align_buffers(true);
        all.push(make_array(data.build().unwrap()));
    }
    all
}

fn half() -> <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native {
    use arrow_buffer::ArrowNativeType;
    ArrowNativeType::usize_as(2)
}

#[test]
fn every_type_there_and_back() {
    let keys = [
        keyset("aes-256-siv"),
        keyset("aes-256-gcm"),
        keyset("aes-256-cmac-prf"),
    ];
    let ways = [
        ("tink", "deterministic"),
        ("tink", "randomized"),
        ("plain", "randomized"),
    ];
    for array in arrays() {
        for (format, encryption) in ways {
            let spec = spec(&[("value", format, encryption)]);
            for part in [
                array.clone(),
                array.slice(1, 2),
                array.slice(2, 1),
                array.slice(1, 1),
            ] {
                let batch = batch(part);
                let of = batch.column(1).data_type();
                assert_eq!(there_and_back(&batch, &spec, &keys), batch, "{of} {format}");
            }
        }
    }
}

/// With the encodings that the Python package documents.
#[test]
fn encodings() {
    let keys = [keyset("aes-256-siv")];
    let spec = spec(&[("value", "plain", "deterministic")]);
    let decrypted_as = |array: ArrayRef, of: &str| {
        let batch = batch(array);
        let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
        let encrypted = cipher.encrypt(&batch).unwrap();
        let mut header = cipher.header().clone();
        header.columns.get_mut("value").unwrap().of = of.to_owned();
        let cipher = Cipher::with_header(header, None, &keys).unwrap();
        cipher
            .decrypt(&encrypted, OnFailure::Stop)
            .unwrap()
            .0
            .column(1)
            .clone()
    };
    let bytes = |array: ArrayRef| {
        let array = decrypted_as(array, "binary");
        array.as_binary::<i32>().value(0).to_vec()
    };
    assert_eq!(bytes(Arc::new(Int32Array::from(vec![258]))), [2, 1, 0, 0]);
    assert_eq!(bytes(Arc::new(BooleanArray::from(vec![true]))), [1]);
    assert_eq!(
        bytes(Arc::new(StringArray::from(vec!["é"]))),
        "é".as_bytes()
    );
    let decimal = Decimal128Array::from(vec![-2])
        .with_precision_and_scale(10, 2)
        .unwrap();
    assert_eq!(bytes(Arc::new(decimal)), (-2i128).to_le_bytes());
    let floats = decrypted_as(
        Arc::new(Int64Array::from(vec![1.5f64.to_bits() as i64])),
        "float64",
    );
    assert_eq!(
        floats
            .as_primitive::<arrow_array::types::Float64Type>()
            .value(0),
        1.5
    );
}

#[test]
fn dictionaries_stay_where_equal_values_are_equal() {
    let array: DictionaryArray<Int32Type> = vec![Some("a"), Some("b"), None, Some("a")]
        .into_iter()
        .collect();
    let batch = batch(Arc::new(array));
    let keys = [keyset("aes-256-siv"), keyset("aes-256-gcm")];
    let encrypted = |encryption| {
        let spec = spec(&[("value", "tink", encryption)]);
        let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
        cipher.encrypt(&batch).unwrap().column(1).clone()
    };
    let kept = encrypted("deterministic");
    let kept = kept.as_any_dictionary();
    assert_eq!(
        (
            kept.values().len(),
            kept.keys().len(),
            kept.keys().null_count()
        ),
        (2, 4, 1)
    );
    let decoded = encrypted("randomized");
    assert_eq!(
        (decoded.data_type(), decoded.null_count()),
        (&DataType::Binary, 1)
    );
    let values = decoded.as_binary::<i32>();
    assert_ne!(values.value(0), values.value(3));
}

#[test]
fn values_open_in_their_own_column_and_dataset_alone() {
    let batch = batch(Arc::new(StringArray::from(vec!["Ada"])));
    for (format, encryption, key) in &WAYS[..7] {
        let keys = [keyset(key)];
        let spec = spec(&[("value", format, encryption)]);
        let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
        let encrypted = cipher.encrypt(&batch).unwrap();
        let open = |header: &Header, name: &str| {
            let cipher = Cipher::with_header(header.clone(), None, &keys).unwrap();
            let (array, beside) = (encrypted.column(1), Default::default());
            cipher
                .decrypt_column(name, array, beside, OnFailure::Stop)
                .map(|_| ())
        };
        let mut header = cipher.header().clone();
        let column = header.columns["value"].clone();
        header.columns.insert("another".into(), column);
        assert!(open(&header, "value").is_ok());
        let wrong = Failure {
            column: "another".into(),
            row: 0,
            reason: Reason::Authentication,
        };
        match open(&header, "another") {
            Err(Error::Value(failure)) => assert_eq!(failure, wrong, "{format} {key}"),
            other => panic!("{format} {key}: {other:?}"),
        }
        header.dataset = "other".into();
        assert!(open(&header, "value").is_err(), "{format} {key}");
    }
}

/// A column of values, with some of them changed.
fn with_values(batch: &RecordBatch, values: Vec<Option<Vec<u8>>>) -> RecordBatch {
    let array = BinaryArray::from_iter(values);
    let mut columns = batch.columns().to_vec();
    columns[1] = Arc::new(array);
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

#[test]
fn mistakes_name_column_row_and_reason() {
    let texts: Vec<String> = (0..6).map(|i| format!("value {i}")).collect();
    let batch = batch(Arc::new(StringArray::from_iter_values(texts)));
    let mut keys = keyset("aes-256-gcm");
    let old = keys.primary().unwrap().id();
    let new = keys.generate("aes-128-gcm".parse().unwrap()).unwrap();
    let spec = spec(&[("value", "tink", "randomized")]);
    let cipher = Cipher::new(&spec, std::slice::from_ref(&keys), &batch.schema()).unwrap();
    let encrypted = cipher.encrypt(&batch).unwrap();
    let mut values: Vec<Option<Vec<u8>>> = encrypted
        .column(1)
        .as_binary::<i32>()
        .iter()
        .map(|value| value.map(<[u8]>::to_vec))
        .collect();
    values[0].as_mut().unwrap()[20] ^= 1;
    values[1].as_mut().unwrap().truncate(32);
    values[2].as_mut().unwrap()[1..5].copy_from_slice(&7u32.to_be_bytes());
    values[3].as_mut().unwrap()[1..5].copy_from_slice(&new.to_be_bytes());
    values[4] = Some(b"\xffno prefix, but long enough for nonce and tag".to_vec());
    let damaged = with_values(&encrypted, values);
    let reasons = |keys: &Keyset| {
        let cipher =
            Cipher::of_schema(&damaged.schema(), None, std::slice::from_ref(keys)).unwrap();
        let (back, failures) = cipher.decrypt(&damaged, OnFailure::Null).unwrap();
        assert_eq!(back.column(1).null_count(), failures.len());
        assert!(failures.iter().all(|failure| failure.column == "value"));
        match cipher.decrypt(&damaged, OnFailure::Stop) {
            Err(Error::Value(first)) => assert_eq!(first, failures[0]),
            other => panic!("{other:?}"),
        }
        let reasons = failures
            .into_iter()
            .map(|failure| (failure.row, failure.reason));
        (reasons.collect::<Vec<_>>(), back)
    };
    let (found, back) = reasons(&keys);
    assert_eq!(
        found,
        [
            (0, Reason::Authentication),
            (
                1,
                Reason::Truncated {
                    given: 32,
                    least: 33
                }
            ),
            (2, Reason::UnknownKey(7)),
            (3, Reason::Authentication),
            (4, Reason::Prefix),
        ]
    );
    assert_eq!(back.column(1).as_string::<i32>().value(5), "value 5");
    keys.set_primary(new).unwrap();
    keys.set_status(old, Status::Disabled).unwrap();
    let (found, _) = reasons(&keys);
    assert_eq!(found[0], (0, Reason::DisabledKey(old)));
    assert_eq!(found[4], (4, Reason::Prefix));
    assert_eq!(found.last(), Some(&(5, Reason::DisabledKey(old))));
}

#[test]
fn values_of_another_type() {
    let keys = [keyset("aes-256-siv")];
    let spec = spec(&[("value", "tink", "deterministic")]);
    let given =
        BinaryArray::from_iter([Some(&b"\xc3\xa9"[..]), Some(b"\xc3"), None, Some(b"\x01")]);
    let batch = batch(Arc::new(given));
    let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
    let encrypted = cipher.encrypt(&batch).unwrap();
    for (of, wrong) in [
        ("string", &[1][..]),
        ("large_string", &[1]),
        ("string_view", &[1]),
        ("bool", &[0, 1]),
        ("int16", &[1, 3]),
        ("FixedSizeBinary(2)", &[1, 3]),
    ] {
        let mut header = cipher.header().clone();
        header.columns.get_mut("value").unwrap().of = of.to_owned();
        let cipher = Cipher::with_header(header, None, &keys).unwrap();
        let (back, failures) = cipher.decrypt(&encrypted, OnFailure::Null).unwrap();
        let rows: Vec<u64> = failures.iter().map(|failure| failure.row).collect();
        assert_eq!(rows, wrong, "{of}");
        let typed = |failure: &Failure| matches!(failure.reason, Reason::Type(_));
        assert!(failures.iter().all(typed), "{of}: {failures:?}");
        assert_eq!(back.column(1).null_count(), 1 + wrong.len(), "{of}");
    }
}

/// A header that was changed makes no array that no memory has space for.
#[test]
fn widths_that_no_value_has() {
    let keys = [keyset("aes-256-siv")];
    let spec = spec(&[("value", "tink", "deterministic")]);
    let texts = |text: Option<&str>| -> ArrayRef { Arc::new(StringArray::from(vec![text; 100])) };
    for (value, failing) in [(Some("Ada"), true), (None, false)] {
        let batch = batch(texts(value));
        let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
        let encrypted = cipher.encrypt(&batch).unwrap();
        let mut header = cipher.header().clone();
        header.columns.get_mut("value").unwrap().of = "FixedSizeBinary(2147483647)".to_owned();
        let cipher = Cipher::with_header(header, None, &keys).unwrap();
        let stopped = cipher.decrypt(&encrypted, OnFailure::Stop);
        match stopped.unwrap_err() {
            Error::Value(failure) => assert!(failing && failure.row == 0, "{failure}"),
            other => assert!(!failing && other.to_string().contains("which no value has")),
        }
        let refused = cipher.decrypt(&encrypted, OnFailure::Null).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("which no value has"), "{text}");
    }
    // What fails first is told first, whatever is wrong with it.
    let batch = batch(texts(Some("Ada")).slice(0, 3));
    let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
    let encrypted = cipher.encrypt(&batch).unwrap();
    let mut header = cipher.header().clone();
    header.columns.get_mut("value").unwrap().of = "int32".to_owned();
    let values = encrypted.column(1).as_binary::<i32>().iter();
    let mut values: Vec<_> = values.map(|value| value.map(<[u8]>::to_vec)).collect();
    values[1].as_mut().unwrap()[9] ^= 1;
    let damaged = with_values(&encrypted, values);
    let cipher = Cipher::with_header(header, None, &keys).unwrap();
    match cipher.decrypt(&damaged, OnFailure::Stop) {
        Err(Error::Value(failure)) => {
            assert_eq!(failure.row, 0);
            assert!(matches!(failure.reason, Reason::Type(_)), "{failure}");
        }
        other => panic!("{other:?}"),
    }
    let (_, failures) = cipher.decrypt(&damaged, OnFailure::Null).unwrap();
    let rows: Vec<_> = failures.iter().map(|failure| failure.row).collect();
    assert_eq!(rows, [0, 1, 2]);
    assert_eq!(failures[1].reason, Reason::Authentication);
}

#[test]
fn errors_do_not_show_values() {
    let batch = batch(Arc::new(UInt8Array::from(vec![0, 173])));
    let keys = [keyset("aes-256-siv")];
    let spec = spec(&[("value", "tink", "deterministic")]);
    let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
    let encrypted = cipher.encrypt(&batch).unwrap();
    let mut header = cipher.header().clone();
    header.columns.get_mut("value").unwrap().of = "bool".to_owned();
    let cipher = Cipher::with_header(header, None, &keys).unwrap();
    let (_, failures) = cipher.decrypt(&encrypted, OnFailure::Null).unwrap();
    let stopped = cipher.decrypt(&encrypted, OnFailure::Stop).unwrap_err();
    for text in [failures[0].to_string(), stopped.to_string()] {
        assert!(
            text.contains("row 1: result that is neither 0 nor 1"),
            "{text}"
        );
        assert!(!text.contains("173"), "{text}");
    }
}

#[test]
fn columns_beside_have_as_many_rows() {
    let batch = batch(Arc::new(StringArray::from(vec!["Ada", "Grace"])));
    let keys = [keyset("aes-256-gcm")];
    let spec = Spec::from_json(
        r#"{"dataset": "d", "columns": {"value": {"format": "clickhouse",
            "encryption": "randomized", "nonces": "iv", "key_column": "id"}}}"#,
    )
    .unwrap();
    let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
    let id = i64::from(keys[0].primary().unwrap().id());
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![id; 2]));
    let (few, value) = (ids.slice(0, 1), batch.column(1));
    let beside = |keys| Beside {
        keys: Some(keys),
        nonces: None,
    };
    let text = |error: Option<Error>| error.unwrap().to_string();
    let refused = cipher.encrypt_column("value", value, beside(&few)).err();
    assert!(text(refused).contains("1 key identifiers; allowed: 2"));
    let encrypted = cipher.encrypt_column("value", value, beside(&ids)).unwrap();
    let nonces = encrypted.nonces.unwrap().1;
    let decrypt = |keys: &ArrayRef, nonces: &ArrayRef| {
        let beside = Beside {
            keys: Some(keys),
            nonces: Some(nonces),
        };
        cipher.decrypt_column("value", &encrypted.values, beside, OnFailure::Null)
    };
    assert_eq!(&decrypt(&ids, &nonces).unwrap().0, value);
    assert!(text(decrypt(&few, &nonces).err()).contains("1 key identifiers; allowed: 2"));
    assert!(text(decrypt(&ids, &nonces.slice(0, 1)).err()).contains("1 nonces; allowed: 2"));
}

/// Those that Arrow makes no dictionaries of, when they are decrypted.
#[test]
fn dictionaries_that_are_refused() {
    let keys = [keyset("aes-256-siv")];
    let spec = spec(&[("value", "tink", "deterministic")]);
    for (of, taken) in [
        (DataType::Boolean, false),
        (DataType::Duration(TimeUnit::Second), false),
        (DataType::Interval(IntervalUnit::DayTime), false),
        (DataType::Date32, true),
    ] {
        let of = DataType::Dictionary(Box::new(DataType::Int32), Box::new(of));
        let schema = Schema::new(vec![Field::new("value", of.clone(), true)]);
        assert_eq!(Cipher::new(&spec, &keys, &schema).is_ok(), taken, "{of}");
    }
}

#[test]
fn damaged_padding() {
    let batch = batch(Arc::new(StringArray::from(vec!["Ada", "Grace", "Alan"])));
    let keys = [keyset("aes-128-cbc-pkcs7")];
    let spec = spec(&[("value", "spark", "randomized")]);
    let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
    let encrypted = cipher.encrypt(&batch).unwrap();
    let mut values: Vec<Option<Vec<u8>>> = encrypted
        .column(1)
        .as_binary::<i32>()
        .iter()
        .map(|value| value.map(<[u8]>::to_vec))
        .collect();
    // The last byte of the nonce is that of the padding, here.
    values[0].as_mut().unwrap()[15] ^= 0x80;
    values[2].as_mut().unwrap().push(0);
    let damaged = with_values(&encrypted, values);
    let (back, failures) = cipher.decrypt(&damaged, OnFailure::Null).unwrap();
    let reasons: Vec<_> = failures.into_iter().map(|f| (f.row, f.reason)).collect();
    assert_eq!(reasons, [(0, Reason::Padding), (2, Reason::TextLength(17))]);
    assert_eq!(back.column(1).as_string::<i32>().value(1), "Grace");
}

#[test]
fn keys_are_rotated_by_identifier() {
    let batch = batch(Arc::new(StringArray::from(vec!["Ada", "Grace"])));
    let spec = spec(&[("value", "tink", "deterministic")]);
    let mut keys = keyset("aes-256-siv");
    let encrypt = |keys: &Keyset| {
        let cipher = Cipher::new(&spec, std::slice::from_ref(keys), &batch.schema()).unwrap();
        cipher.encrypt(&batch).unwrap()
    };
    let before = encrypt(&keys);
    let new = keys.generate("aes-256-siv".parse().unwrap()).unwrap();
    assert_eq!(encrypt(&keys), before);
    keys.set_primary(new).unwrap();
    let after = encrypt(&keys);
    assert_ne!(after.column(1), before.column(1));
    for encrypted in [before, after] {
        let cipher =
            Cipher::of_schema(&encrypted.schema(), None, std::slice::from_ref(&keys)).unwrap();
        assert_eq!(
            cipher.decrypt(&encrypted, OnFailure::Stop).unwrap().0,
            batch
        );
    }
}

/// What Tink calls raw: nothing says which key, so all are tried.
#[test]
fn raw_keys_are_tried() {
    let batch = batch(Arc::new(StringArray::from(vec!["a", "b", "c", "d"])));
    let spec = spec(&[("value", "tink", "randomized")]);
    let of: KeyType = "aes-128-gcm".parse().unwrap();
    let mut keys = Keyset::new();
    let ids = [Prefix::Raw, Prefix::Tink, Prefix::Raw, Prefix::Crunchy]
        .into_iter()
        .enumerate();
    let ids: Vec<u32> = ids
        .map(|(i, prefix)| keys.import(of, &[i as u8; 16], prefix).unwrap())
        .collect();
    let mut rows: Vec<ArrayRef> = Vec::new();
    let mut encrypted = None;
    for (i, id) in ids.into_iter().enumerate() {
        keys.set_primary(id).unwrap();
        let cipher = Cipher::new(&spec, std::slice::from_ref(&keys), &batch.schema()).unwrap();
        let whole = cipher.encrypt(&batch).unwrap();
        rows.push(whole.column(1).slice(i, 1));
        encrypted = Some(whole);
    }
    let values = rows
        .iter()
        .map(|row| Some(row.as_binary::<i32>().value(0).to_vec()));
    let mixed = with_values(&encrypted.unwrap(), values.collect());
    let cipher = Cipher::of_schema(&mixed.schema(), None, &[keys]).unwrap();
    assert_eq!(cipher.decrypt(&mixed, OnFailure::Stop).unwrap().0, batch);
}

/// Columns of many stretches, on one thread and on several: results that fail, or are shorter than
/// their places, are at all places of stretches and of what threads do.
#[test]
fn long_columns() {
    const ROWS: usize = 50_003;
    let text = |i: usize| (i % 11 != 3).then(|| format!("{i}").repeat(i % 9));
    let arrays: [ArrayRef; 3] = [
        Arc::new((0..ROWS).map(text).collect::<StringArray>()),
        Arc::new((0..ROWS).map(text).collect::<LargeStringArray>()),
        Arc::new((0..ROWS as i64).map(Some).collect::<Int64Array>()),
    ];
    for (format, encryption, key) in WAYS {
        let keys = [keyset(key)];
        let spec = spec(&[("value", format, encryption)]);
        for array in &arrays {
            let batch = batch(array.slice(1, ROWS - 2));
            let mut made = Vec::new();
            for threads in [1, 3] {
                let mut cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
                cipher.set_threads(threads.try_into().unwrap());
                let encrypted = cipher.encrypt(&batch).unwrap();
                let mut cipher = Cipher::of_schema(&encrypted.schema(), None, &keys).unwrap();
                cipher.set_threads(threads.try_into().unwrap());
                let (back, _) = cipher.decrypt(&encrypted, OnFailure::Stop).unwrap();
                assert_eq!(back, batch, "{format} {key} {threads}");
                made.push(encrypted);
                if !key.contains("gcm") || array.data_type().is_numeric() {
                    continue;
                }
                let values = made[made.len() - 1].column(1);
                let damaged = |(i, value): (usize, Option<&[u8]>)| {
                    let mut value = value?.to_vec();
                    match i % 1000 {
                        0 => value.truncate(3),
                        999 => *value.last_mut().unwrap() ^= 1,
                        _ => {}
                    }
                    Some(value)
                };
                let damaged: ArrayRef = match values.data_type() {
                    DataType::Binary => Arc::new(BinaryArray::from_iter(
                        values.as_binary::<i32>().iter().enumerate().map(damaged),
                    )),
                    _ => Arc::new(LargeBinaryArray::from_iter(
                        values.as_binary::<i64>().iter().enumerate().map(damaged),
                    )),
                };
                let mut columns = made[made.len() - 1].columns().to_vec();
                columns[1] = damaged;
                let schema = made[made.len() - 1].schema();
                let damaged = RecordBatch::try_new(schema, columns).unwrap();
                let (back, failures) = cipher.decrypt(&damaged, OnFailure::Null).unwrap();
                let wrong = |i: &usize| matches!(i % 1000, 0 | 999) && batch.column(1).is_valid(*i);
                let rows = (0..batch.num_rows()).filter(wrong).map(|i| i as u64);
                assert!(failures.iter().map(|failure| failure.row).eq(rows));
                for i in 0..batch.num_rows() {
                    let (back, given) = (back.column(1).slice(i, 1), batch.column(1).slice(i, 1));
                    assert!(if wrong(&i) {
                        back.is_null(0)
                    } else {
                        back == given
                    });
                }
            }
            if encryption == "deterministic" {
                assert_eq!(made[0], made[1]);
            }
        }
    }
}

#[test]
fn a_key_for_each_row() {
    let mut keys = Keyset::new();
    let of: KeyType = "aes-256-gcm".parse().unwrap();
    let ids: Vec<u32> = (0..3).map(|_| keys.generate(of).unwrap()).collect();
    let text = |format: &str| {
        format!(
            r#"{{"dataset": "tests", "columns": {{"value": {{
            "format": "{format}", "encryption": "randomized", "key_column": "tenant"}}}}}}"#
        )
    };
    let tenants = |ids: Vec<Option<i64>>| -> ArrayRef { Arc::new(Int64Array::from(ids)) };
    let batch = |tenants: ArrayRef| {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![
            Some("a"),
            None,
            Some("c"),
            Some("d"),
        ]));
        RecordBatch::try_from_iter_with_nullable([
            ("tenant", tenants, true),
            ("value", texts, true),
        ])
        .unwrap()
    };
    let good = batch(tenants(vec![
        Some(ids[0].into()),
        None,
        Some(ids[2].into()),
        Some(ids[1].into()),
    ]));
    for format in ["tink", "spark"] {
        let spec = Spec::from_json(&text(format)).unwrap();
        assert_eq!(
            there_and_back(&good, &spec, std::slice::from_ref(&keys)),
            good,
            "{format}"
        );
        let cipher = Cipher::new(&spec, std::slice::from_ref(&keys), &good.schema()).unwrap();
        let unknown = batch(tenants(vec![
            Some(ids[0].into()),
            None,
            Some(12),
            Some(ids[1].into()),
        ]));
        let null = batch(tenants(vec![
            Some(ids[0].into()),
            None,
            None,
            Some(ids[1].into()),
        ]));
        for (wrong, reason) in [(unknown, Reason::UnknownKey(12)), (null, Reason::NullKey)] {
            match cipher.encrypt(&wrong) {
                Err(Error::Value(failure)) => {
                    assert_eq!((failure.row, failure.reason), (2, reason));
                }
                other => panic!("{other:?}"),
            }
        }
        // Without identifiers, no row has the key of another.
        let column = good.column_by_name("value").unwrap();
        let text = cipher
            .encrypt_column("value", column, Beside::default())
            .err()
            .unwrap()
            .to_string();
        assert!(text.contains("\"tenant\": missing"), "{text}");
    }
}

/// A header, which anybody may have changed, does not override a spec that is given.
#[test]
fn headers_that_a_spec_does_not_agree_with() {
    let batch = batch(Arc::new(StringArray::from(vec!["Ada"])));
    let keys = [keyset("aes-256-gcm")];
    let spec = spec(&[("value", "tink", "randomized")]);
    let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
    let open = |header: &Header| {
        Cipher::with_header(header.clone(), Some(&spec), &keys)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(open(cipher.header()), "");
    // A column that is said not to be encrypted, with values of anybody.
    let mut header = cipher.header().clone();
    header.columns.clear();
    assert!(open(&header).starts_with("aescomb.columns.value: missing"));
    type Change = (&'static str, fn(&mut ColumnHeader));
    let changes: [Change; 4] = [
        ("encryption: deterministic; allowed: randomized", |column| {
            column.encryption = Encryption::Deterministic;
        }),
        ("format: spark; allowed: tink", |column| {
            column.format = Format::Spark;
        }),
        ("key_column: \"id\"; allowed: none", |column| {
            column.key_column = Some("id".to_owned());
        }),
        ("nonces: \"id\"; allowed: none", |column| {
            column.nonces = Some("id".to_owned());
        }),
    ];
    for (words, change) in changes {
        let mut header = cipher.header().clone();
        change(header.columns.get_mut("value").unwrap());
        let text = open(&header);
        assert!(text.starts_with("aescomb.columns.value."), "{text}");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn limits_are_kept() {
    let batch = batch(Arc::new(Int32Array::from_iter_values(0..10)));
    let text = r#"{"dataset": "tests", "columns": {"value": {
        "format": "FORMAT", "encryption": "randomized", "limit": 25}}}"#;
    for (format, key) in [("tink", "aes-128-gcm"), ("plain", "aes-256-cmac-prf")] {
        let spec = Spec::from_json(&text.replace("FORMAT", format)).unwrap();
        let keys = [keyset(key)];
        let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
        cipher.encrypt(&batch).unwrap();
        cipher.encrypt(&batch).unwrap();
        match cipher.encrypt(&batch) {
            Err(Error::Limit {
                column, limit: 25, ..
            }) => assert_eq!(column, "value"),
            other => panic!("{other:?}"),
        }
        // A key of a file is another for the next file; a key that is used itself is not.
        let next = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
        assert_eq!(next.encrypt(&batch).is_ok(), format == "plain");
    }
}

#[test]
fn files_have_keys_of_their_own() {
    let batch = batch(Arc::new(StringArray::from(vec!["Ada"])));
    let keys = [keyset("aes-256-cmac-prf")];
    let spec = spec(&[("value", "plain", "randomized")]);
    let encrypt = || {
        let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
        (cipher.header().clone(), cipher.encrypt(&batch).unwrap())
    };
    let ((a, encrypted), (b, _)) = (encrypt(), encrypt());
    assert_ne!(a.columns["value"].salt, b.columns["value"].salt);
    let other = Cipher::with_header(b, None, &keys).unwrap();
    assert!(other.decrypt(&encrypted, OnFailure::Stop).is_err());
    // Workers share the key of a file by its header.
    let worker = Cipher::with_header(a.clone(), None, &keys).unwrap();
    let encrypted = worker.encrypt(&batch).unwrap();
    let reader = Cipher::with_header(a, None, &keys).unwrap();
    assert_eq!(
        reader.decrypt(&encrypted, OnFailure::Stop).unwrap().0,
        batch
    );
}

#[test]
fn specs_that_are_refused() {
    let batch = batch(Arc::new(StringArray::from(vec!["Ada"])));
    let keys = [
        keyset("aes-256-gcm"),
        keyset("aes-256-siv"),
        keyset("aes-128-ecb-pkcs7"),
    ];
    let column =
        |fields: &str| format!(r#"{{"dataset": "d", "columns": {{"value": {{{fields}}}}}}}"#);
    for (fields, words) in [
        (r#""format": "tink""#, "encryption"),
        (r#""encryption": "randomized""#, "format"),
        (
            r#""format": "tink", "encryption": "randomised""#,
            "randomised",
        ),
        (
            r#""format": "tink", "encryption": "randomized", "kee": 1"#,
            "kee",
        ),
        (
            r#""format": "plain", "encryption": "randomized""#,
            "aes-256-cmac-prf",
        ),
        (
            r#""format": "spark", "encryption": "deterministic""#,
            "encrypts no new values",
        ),
        (
            r#""format": "tink", "encryption": "randomized", "key": 5"#,
            "key 5",
        ),
        (
            r#""format": "clickhouse", "encryption": "randomized""#,
            "nonces: missing",
        ),
        (
            r#""format": "tink", "encryption": "randomized", "nonces": "n""#,
            "nonces: given",
        ),
        (
            r#""format": "clickhouse", "encryption": "randomized", "nonces": "id""#,
            "that is there",
        ),
        (
            r#""format": "tink", "encryption": "randomized", "limit": 0"#,
            "1 to 4294967296",
        ),
        (
            r#""format": "tink", "encryption": "randomized", "key_column": "value""#,
            "encrypted itself",
        ),
    ] {
        let made = Spec::from_json(&column(fields))
            .and_then(|spec| Cipher::new(&spec, &keys, &batch.schema()));
        let text = made
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(text.contains(words), "{fields}: {text}");
    }
    let two = [keyset("aes-256-gcm"), keyset("aes-128-gcm")];
    let spec = spec(&[("value", "tink", "randomized")]);
    let text = Cipher::new(&spec, &two, &batch.schema())
        .err()
        .unwrap()
        .to_string();
    assert!(text.contains("the identifier of one"), "{text}");
    let own = Cipher::new(&spec, &two[..1], &batch.schema()).unwrap();
    let encrypted = own.encrypt(&batch).unwrap();
    let text = Cipher::new(&spec, &two[..1], &encrypted.schema())
        .err()
        .unwrap()
        .to_string();
    assert!(text.contains("encrypted already"), "{text}");
    let missing = self::spec(&[("nobody", "tink", "randomized")]);
    let text = Cipher::new(&missing, &two, &batch.schema())
        .err()
        .unwrap()
        .to_string();
    assert!(text.contains("no such column"), "{text}");
}

/// What is authenticated is not in the header if a spec said it, as it would prove nothing.
#[test]
fn given_associated_data_must_be_given_again() {
    let batch = batch(Arc::new(StringArray::from(vec!["Ada"])));
    let keys = [keyset("aes-256-gcm")];
    let spec = |data: &str| {
        Spec::from_json(&format!(
            r#"{{"dataset": "tests", "columns": {{"value": {{"format": "spark",
                "encryption": "randomized", "associated_data": "{data}"}}}}}}"#
        ))
        .unwrap()
    };
    let cipher = Cipher::new(&spec("ours"), &keys, &batch.schema()).unwrap();
    let encrypted = cipher.encrypt(&batch).unwrap();
    let metadata = encrypted.schema().metadata()[METADATA_KEY].clone();
    assert!(!metadata.contains("ours"), "{metadata}");
    let open = |spec: Option<&Spec>| {
        let cipher = Cipher::of_schema(&encrypted.schema(), spec, &keys)?;
        cipher.decrypt(&encrypted, OnFailure::Stop)
    };
    assert_eq!(open(Some(&spec("ours"))).unwrap().0, batch);
    assert!(
        open(None)
            .unwrap_err()
            .to_string()
            .contains("associated_data")
    );
    assert!(matches!(open(Some(&spec("theirs"))), Err(Error::Value(_))));
}

/// Associated data so long that it is not repeated for as many values as are done at a time: the
/// same for each, alone, too.
#[test]
fn long_associated_data() {
    let names: Vec<_> = (0..11).map(|i| format!("name {i}")).collect();
    let batch = batch(Arc::new(StringArray::from(names)));
    let keys = [keyset("aes-256-gcm")];
    let data = "associated ".repeat(30_000);
    let spec = Spec::from_json(&format!(
        r#"{{"dataset": "tests", "columns": {{"value": {{"format": "spark",
            "encryption": "randomized", "associated_data": "{data}"}}}}}}"#
    ))
    .unwrap();
    let cipher = Cipher::new(&spec, &keys, &batch.schema()).unwrap();
    let encrypted = cipher.encrypt(&batch).unwrap();
    let cipher = Cipher::of_schema(&encrypted.schema(), Some(&spec), &keys).unwrap();
    let (back, _) = cipher.decrypt(&encrypted, OnFailure::Stop).unwrap();
    assert_eq!(back, batch);
    for i in 0..batch.num_rows() {
        let one = encrypted.slice(i, 1);
        let (back, _) = cipher.decrypt(&one, OnFailure::Stop).unwrap();
        assert_eq!(back, batch.slice(i, 1));
    }
}

/// Values that others have encrypted, by a spec alone.
#[test]
fn old_data_in_ecb() {
    let key = [7; 16];
    let mut text = *b"Ada\r\r\r\r\r\r\r\r\r\r\r\r\r";
    aescomb::AnyKey::for_mode(aescomb::Mode::Ecb, &key)
        .unwrap()
        .encrypt_in_place(&[], &mut text)
        .unwrap();
    let batch = batch(Arc::new(BinaryArray::from_vec(vec![&text])));
    let mut keys = Keyset::new();
    keys.import("aes-128-ecb-pkcs7".parse().unwrap(), &key, Prefix::Raw)
        .unwrap();
    let spec = Spec::from_json(
        r#"{"dataset": "old", "columns": {"value": {
            "format": "spark", "encryption": "deterministic", "type": "string"}}}"#,
    )
    .unwrap();
    let cipher = Cipher::of_schema(&batch.schema(), Some(&spec), &[keys]).unwrap();
    let (back, _) = cipher.decrypt(&batch, OnFailure::Stop).unwrap();
    assert_eq!(back.column(1).as_string::<i32>().value(0), "Ada");
}

#[test]
fn names_of_formats() {
    for (format, encryption, _) in WAYS {
        let of: Format = serde_json::from_value(format.into()).unwrap();
        assert_eq!(of.to_string(), format);
        let of: Encryption = serde_json::from_value(encryption.into()).unwrap();
        assert_eq!(of.to_string(), encryption);
    }
}

fn texts() -> impl Strategy<Value = Vec<Option<String>>> {
    prop::collection::vec(prop::option::of(".{0,40}"), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Texts and nulls, any part of a column, in any layout, every way.
    #[test]
    fn any_column_there_and_back(
        texts in texts(),
        cut in (0usize..70, 0usize..70),
        layout in 0usize..7,
        way in 0usize..WAYS.len(),
    ) {
        let array: ArrayRef = match layout {
            0 => Arc::new(StringArray::from(texts)),
            1 => Arc::new(LargeStringArray::from(texts)),
            2 => Arc::new(StringViewArray::from_iter(texts)),
            3 => Arc::new(BinaryArray::from_iter(texts)),
            4 => Arc::new(BinaryViewArray::from_iter(texts)),
            5 => Arc::new(BooleanArray::from_iter(texts.iter().map(|t| Some(t.as_ref()?.len() % 2 == 0)))),
            _ => Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>()),
        };
        let start = cut.0.min(array.len());
        let array = array.slice(start, cut.1.min(array.len() - start));
        let (format, encryption, key) = WAYS[way];
        let spec = spec(&[("value", format, encryption)]);
        let batch = batch(array);
        let back = there_and_back(&batch, &spec, &[keyset(key)]);
        // A dictionary may come back with its values in other places.
        let plain = |batch: &RecordBatch| match batch.column(1).as_any_dictionary_opt() {
            Some(_) => arrow_cast::cast(batch.column(1), &DataType::Utf8).unwrap(),
            None => batch.column(1).clone(),
        };
        let (a, b) = (plain(&back), plain(&batch));
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(back.schema(), batch.schema());
    }
}
