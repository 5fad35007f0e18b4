//! Files there and back: what is kept, what is hidden, and what is left of a run that fails.

use aescomb_columns::files::{Done, Job, Options, Watch, inspect, run};
use aescomb_columns::{Error, Failure, Header, Keyset, METADATA_KEY, OnFailure, Spec};
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// What is nowhere else in a file.
const SECRET: &str = "Xylophon-";
const ROWS: usize = 5000;

fn people() -> RecordBatch {
    let names = (0..ROWS).map(|i| match i % 10 {
        3 => None,
        _ => Some(format!("{SECRET}{:04}", i % 100)),
    });
    let names: Vec<Option<String>> = names.collect();
    let dictionary: DictionaryArray<Int32Type> = names.iter().map(Option::as_deref).collect();
    let numbers = (0..ROWS as i64).map(|i| 0x5345_4352_4554_0000 + i % 7);
    let fields = vec![
        Field::new("id", DataType::Int32, false),
        Field::new("name", DataType::Utf8, true),
        Field::new("kind", dictionary.data_type().clone(), true),
        Field::new("number", DataType::Int64, false),
        Field::new("open", DataType::Utf8, true),
    ];
    let open = (0..ROWS).map(|i| Some(format!("open {}", i % 13)));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..ROWS as i32)),
        Arc::new(StringArray::from(names)),
        Arc::new(dictionary),
        Arc::new(Int64Array::from_iter_values(numbers)),
        Arc::new(StringArray::from_iter(open)),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// With everything that could tell of values: statistics, page indexes, Bloom filters, a sorting
/// order, dictionaries.
fn write(path: &Path, batch: &RecordBatch, group: usize) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_bloom_filter_enabled(true)
        .set_sorting_columns(Some(vec![SortingColumn {
            column_idx: 1,
            descending: false,
            nulls_first: true,
        }]))
        .set_max_row_group_row_count(Some(group))
        .set_key_value_metadata(Some(vec![KeyValue::new(
            "made by".into(),
            "tests".to_owned(),
        )]))
        .build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn read(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

/// Without dictionaries, whose values may have other places.
fn plain(batch: &RecordBatch) -> Vec<ArrayRef> {
    let decoded = |array: &ArrayRef| match array.data_type() {
        DataType::Dictionary(_, values) => arrow_cast::cast(array, values).unwrap(),
        _ => array.clone(),
    };
    batch.columns().iter().map(decoded).collect()
}

fn spec() -> Spec {
    Spec::from_toml(
        r#"
        dataset = "people"

        [columns.name]
        encryption = "deterministic"
        format = "tink"

        [columns.kind]
        encryption = "deterministic"
        format = "plain"

        [columns.number]
        encryption = "randomized"
        format = "plain"
        "#,
    )
    .unwrap()
}

fn keys() -> Vec<Keyset> {
    let make = |of: &str| {
        let mut keys = Keyset::new();
        keys.generate(of.parse().unwrap()).unwrap();
        keys
    };
    vec![make("aes-256-siv"), make("aes-256-cmac-prf")]
}

fn options(keysets: &[Keyset]) -> Options {
    Options {
        keysets: keysets.to_vec(),
        threads: std::num::NonZeroUsize::MIN,
        on_failure: OnFailure::Stop,
        overwrite: false,
    }
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(Result::unwrap).map(name).collect();
        names.sort();
        names
    }
}

fn holds(path: &Path, needle: &[u8]) -> bool {
    fs::read(path)
        .unwrap()
        .windows(needle.len())
        .any(|window| window == needle)
}

#[test]
fn nothing_of_values_is_in_the_file() {
    let folder = Folder::new();
    let (from, to) = (
        folder.path("people.parquet"),
        folder.path("encrypted.parquet"),
    );
    write(&from, &people(), 1500);
    let number = 0x5345_4352_4554_0003_i64.to_le_bytes();
    assert!(holds(&from, SECRET.as_bytes()) && holds(&from, &number));
    run(
        &Job::Encrypt(spec()),
        &from,
        Some(&to),
        &options(&keys()),
        &mut (),
    )
    .unwrap();
    for value in [SECRET.as_bytes(), &number, &number[1..], b"ylophon"] {
        assert!(!holds(&to, value), "{}", value.escape_ascii());
    }
    let report = inspect(&to).unwrap();
    assert_eq!((report.rows, report.row_groups), (Some(ROWS as u64), 4));
    assert_eq!(report.dataset.as_deref(), Some("people"));
    for column in &report.columns {
        let clear = ["id", "open"].contains(&&*column.name);
        assert_eq!(column.statistics, clear, "{}", column.name);
        assert_eq!(column.encrypted.is_none(), clear, "{}", column.name);
    }
    let metadata = ParquetRecordBatchReaderBuilder::try_new(File::open(&to).unwrap()).unwrap();
    let metadata = metadata.metadata().clone();
    for group in metadata.row_groups() {
        assert!(group.sorting_columns().is_none());
        for (column, name) in group
            .columns()
            .iter()
            .zip(["id", "name", "kind", "number", "open"])
        {
            let clear = ["id", "open"].contains(&name);
            assert_eq!(column.statistics().is_some(), clear, "{name}");
            assert_eq!(column.bloom_filter_offset().is_some(), clear, "{name}");
            assert_eq!(column.column_index_offset().is_some(), clear, "{name}");
        }
    }
    let pairs = metadata.file_metadata().key_value_metadata().unwrap();
    let find = |key: &str| pairs.iter().find(|pair| pair.key == key);
    assert_eq!(find("made by").unwrap().value.as_deref(), Some("tests"));
    let header = find("aescomb").unwrap().value.as_deref().unwrap();
    assert!(
        header.contains(r#""format":"tink""#) && header.contains("salt"),
        "{header}"
    );
}

#[test]
fn there_and_back_rotated_and_verified() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let people = people();
    write(&file("in.parquet"), &people, 1500);
    let mut keys = keys();
    let go = |job: &Job, from: &str, to: Option<&str>, keys: &[Keyset]| {
        let to = to.map(|to| folder.path(to));
        run(
            job,
            &folder.path(from),
            to.as_deref(),
            &options(keys),
            &mut (),
        )
    };
    let done = go(
        &Job::Encrypt(spec()),
        "in.parquet",
        Some("a.parquet"),
        &keys,
    )
    .unwrap();
    let all = Done {
        files: 1,
        skipped: 0,
        rows: ROWS as u64,
        failures: 0,
    };
    assert_eq!(done, all);
    assert_eq!(
        go(&Job::Verify(None), "a.parquet", None, &keys).unwrap(),
        all
    );
    let new = keys[0].generate("aes-256-siv".parse().unwrap()).unwrap();
    let old = keys[0].primary().unwrap().id();
    keys[0].set_primary(new).unwrap();
    assert_eq!(
        go(&Job::Rotate(None), "a.parquet", Some("b.parquet"), &keys).unwrap(),
        all
    );
    keys[0].remove(old).unwrap();
    assert!(go(&Job::Decrypt(None), "a.parquet", Some("c.parquet"), &keys).is_err());
    assert!(!file("c.parquet").exists());
    go(&Job::Decrypt(None), "b.parquet", Some("c.parquet"), &keys).unwrap();
    let back = read(&file("c.parquet"));
    assert_eq!(back.schema().fields(), people.schema().fields());
    assert_eq!(plain(&back), plain(&people));
    let report = inspect(&file("c.parquet")).unwrap();
    assert!(
        report
            .columns
            .iter()
            .all(|column| column.statistics && column.encrypted.is_none())
    );
    assert_eq!(report.dataset, None);
    assert_eq!(
        folder.names(),
        ["a.parquet", "b.parquet", "c.parquet", "in.parquet"]
    );
}

#[test]
fn tokens_are_rotated() {
    let folder = Folder::new();
    let number = |i: usize| (i % 10 != 3).then(|| format!("{:08}", i * 7));
    let numbers: Vec<Option<String>> = (0..ROWS).map(number).collect();
    let fields = vec![Field::new("number", DataType::Utf8, true)];
    let columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(numbers))];
    let people = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    write(&folder.path("in.parquet"), &people, 1500);
    let spec = |more: &str| {
        let column = "encryption = \"deterministic\"\nformat = \"ff1\"\nalphabet = \"digits\"";
        let text = format!("dataset = \"people\"\n[columns.number]\n{column}\n{more}");
        Spec::from_toml(&text).unwrap()
    };
    let mut keys = Keyset::new();
    let old = keys.generate("aes-256-ff1".parse().unwrap()).unwrap();
    let go = |job: &Job, from: &str, to: Option<&str>, keys: &Keyset| {
        let to = to.map(|to| folder.path(to));
        let options = options(std::slice::from_ref(keys));
        run(job, &folder.path(from), to.as_deref(), &options, &mut ())
    };
    for kind in ["parquet", "csv"] {
        let file = |name: &str| format!("{name}.{kind}");
        let (a, b, c) = (file("a"), file("b"), format!("{kind}.parquet"));
        go(&Job::Encrypt(spec("")), "in.parquet", Some(&a), &keys).unwrap();
        let new = keys.generate("aes-128-ff1".parse().unwrap()).unwrap();
        let was = keys.primary().unwrap().id();
        keys.set_primary(new).unwrap();
        match kind {
            "parquet" => {
                let token = read(&folder.path(&a));
                assert_eq!(token.schema().field(0).data_type(), &DataType::Utf8);
                assert_ne!(token.columns(), people.columns());
                assert!(!inspect(&folder.path(&a)).unwrap().columns[0].statistics);
                go(&Job::Rotate(None), &a, Some(&b), &keys).unwrap();
                let mut left = keys.clone();
                left.remove(old).unwrap();
                assert!(go(&Job::Verify(None), &a, None, &left).is_err());
                assert_eq!(go(&Job::Verify(None), &b, None, &left).unwrap().failures, 0);
                go(&Job::Decrypt(None), &b, Some(&c), &left).unwrap();
            }
            // Nothing in it says which key.
            _ => {
                let spec = spec(&format!("key = {was}"));
                go(&Job::Decrypt(Some(spec)), &a, Some(&c), &keys).unwrap();
            }
        }
        assert_eq!(read(&folder.path(&c)).columns(), people.columns());
    }
}

/// Who may write a file may change its header: a spec that is given is what counts.
#[test]
fn headers_of_others() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let keys = keys();
    write(&file("in.parquet"), &people(), 1500);
    let go = |job: Job, from: &str, to: Option<&str>| {
        let to = to.map(file);
        let done = run(&job, &file(from), to.as_deref(), &options(&keys), &mut ());
        done.map_err(|error| error.to_string())
    };
    go(Job::Encrypt(spec()), "in.parquet", Some("a.parquet")).unwrap();
    go(Job::Verify(Some(spec())), "a.parquet", None).unwrap();
    // A column that was replaced by a plain one, and left out of the header.
    let (plain, sealed) = (people(), read(&file("a.parquet")));
    let mut columns = sealed.columns().to_vec();
    let mut fields: Vec<_> = sealed.schema().fields().iter().cloned().collect();
    columns[3] = plain.column(3).clone();
    fields[3] = plain.schema().fields()[3].clone();
    let mut metadata = sealed.schema().metadata().clone();
    let mut header = Header::from_json(&metadata[METADATA_KEY]).unwrap();
    header.columns.remove("number").unwrap();
    metadata.insert(METADATA_KEY.to_owned(), header.to_json().unwrap());
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let forged = RecordBatch::try_new(schema, columns).unwrap();
    let created = File::create(file("b.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(created, forged.schema(), None).unwrap();
    writer.write(&forged).unwrap();
    writer.close().unwrap();
    for (job, to) in [
        (Job::Verify(Some(spec())), None),
        (Job::Decrypt(Some(spec())), Some("c.parquet")),
        (Job::Rotate(Some(spec())), Some("c.parquet")),
    ] {
        let text = go(job, "b.parquet", to).unwrap_err();
        assert!(text.contains("aescomb.columns.number: missing"), "{text}");
        assert!(!file("c.parquet").exists());
    }
    // Nor is a column decrypted for good.
    let mut fewer = spec();
    fewer.columns.remove("kind").unwrap();
    let text = go(Job::Rotate(Some(fewer)), "a.parquet", Some("c.parquet")).unwrap_err();
    assert!(text.contains("columns.kind: missing"), "{text}");
    // Another format is what rotation to a spec is for.
    let mut other = spec();
    other.columns.get_mut("name").unwrap().format = aescomb_columns::Format::Plain;
    assert!(
        go(
            Job::Decrypt(Some(other.clone())),
            "a.parquet",
            Some("c.parquet")
        )
        .is_err()
    );
    go(Job::Rotate(Some(other)), "a.parquet", Some("c.parquet")).unwrap();
}

/// What a run said.
#[derive(Default)]
struct Said {
    total: Option<u64>,
    rows: u64,
    failures: Vec<Failure>,
    skipped: usize,
}

impl Watch for Said {
    fn total(&mut self, rows: Option<u64>) {
        self.total = rows;
    }

    fn rows(&mut self, rows: u64) {
        self.rows += rows;
    }

    fn failure(&mut self, _: &Path, failure: &Failure) -> Result<(), Error> {
        self.failures.push(failure.clone());
        Ok(())
    }

    fn skipped(&mut self, _: &Path) {
        self.skipped += 1;
    }
}

#[test]
fn folders_go_on_where_they_were() {
    let folder = Folder::new();
    let (from, to) = (folder.path("in"), folder.path("out"));
    fs::create_dir_all(from.join("part=1")).unwrap();
    let people = people();
    for name in ["a.parquet", "b.parquet", "part=1/c.parquet"] {
        write(&from.join(name), &people, 2000);
    }
    fs::write(from.join("_SUCCESS"), "").unwrap();
    fs::write(from.join(".hidden.parquet"), "").unwrap();
    fs::write(from.join("notes.txt"), "").unwrap();
    let (keys, job) = (keys(), Job::Encrypt(spec()));
    let go = |options: &Options| {
        let mut said = Said::default();
        (run(&job, &from, Some(&to), options, &mut said), said)
    };
    // Somebody else's file is not touched.
    fs::create_dir_all(&to).unwrap();
    fs::write(to.join("b.parquet"), "another's").unwrap();
    let (result, _) = go(&options(&keys));
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("b.parquet") && text.contains("--overwrite"),
        "{text}"
    );
    assert_eq!(fs::read(to.join("b.parquet")).unwrap(), b"another's");
    assert!(to.join("a.parquet").exists() && !to.join("part=1").exists());
    fs::remove_file(to.join("b.parquet")).unwrap();
    // What a run that was killed has left.
    fs::write(to.join(".b.parquet.partial"), vec![7; 1 << 20]).unwrap();
    let before = fs::metadata(to.join("a.parquet"))
        .unwrap()
        .modified()
        .unwrap();
    let (result, said) = go(&options(&keys));
    let rows = ROWS as u64;
    assert_eq!(
        result.unwrap(),
        Done {
            files: 2,
            skipped: 1,
            rows: 2 * rows,
            failures: 0
        }
    );
    assert_eq!(
        (said.total, said.rows, said.skipped),
        (Some(3 * rows), 3 * rows, 1)
    );
    assert_eq!(
        fs::metadata(to.join("a.parquet"))
            .unwrap()
            .modified()
            .unwrap(),
        before
    );
    assert!(!to.join(".b.parquet.partial").exists());
    for name in ["b.parquet", "part=1/c.parquet"] {
        assert_eq!(inspect(&to.join(name)).unwrap().rows, Some(rows), "{name}");
    }
    // Another key is another result.
    let mut other = keys.clone();
    let new = other[0].generate("aes-256-siv".parse().unwrap()).unwrap();
    other[0].set_primary(new).unwrap();
    assert!(
        go(&options(&other))
            .0
            .unwrap_err()
            .to_string()
            .contains("--overwrite")
    );
    let overwrite = Options {
        overwrite: true,
        ..options(&other)
    };
    assert_eq!(go(&overwrite).0.unwrap().files, 3);
    // Nor is one done whose source has changed.
    std::thread::sleep(std::time::Duration::from_millis(20));
    write(&from.join("a.parquet"), &people, 100);
    assert!(go(&options(&other)).0.is_err());
}

#[test]
fn failures_are_errors_or_nulls() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    write(&file("in.parquet"), &people(), 1500);
    let keys = keys();
    let job = Job::Encrypt(spec());
    run(
        &job,
        &file("in.parquet"),
        Some(&file("a.parquet")),
        &options(&keys),
        &mut (),
    )
    .unwrap();
    let batch = read(&file("a.parquet"));
    let name = batch.column(1).clone();
    let name = name.as_any().downcast_ref::<BinaryArray>().unwrap();
    let mut values: Vec<Option<Vec<u8>>> = name.iter().map(|v| v.map(<[u8]>::to_vec)).collect();
    values[1600].as_mut().unwrap()[10] ^= 1;
    values[4999] = Some(b"short".to_vec());
    let mut columns = batch.columns().to_vec();
    columns[1] = Arc::new(BinaryArray::from_iter(values));
    let damaged = RecordBatch::try_new(batch.schema(), columns).unwrap();
    write(&file("damaged.parquet"), &damaged, 1500);
    let (from, to) = (file("damaged.parquet"), file("back.parquet"));
    let text = run(
        &Job::Decrypt(None),
        &from,
        Some(&to),
        &options(&keys),
        &mut (),
    );
    let text = text.unwrap_err().to_string();
    assert!(
        text.ends_with("column \"name\", row 1600: authentication failed"),
        "{text}"
    );
    let left = ["a.parquet", "damaged.parquet", "in.parquet"];
    assert_eq!(folder.names(), left);
    let mut said = Said::default();
    let done = run(&Job::Verify(None), &from, None, &options(&keys), &mut said).unwrap();
    assert_eq!(done.failures, 2);
    let shown: Vec<String> = said.failures.iter().map(Failure::to_string).collect();
    assert_eq!(
        shown,
        [
            "column \"name\", row 1600: authentication failed",
            "column \"name\", row 4999: no key identifier at the beginning",
        ]
    );
    let lenient = Options {
        on_failure: OnFailure::Null,
        ..options(&keys)
    };
    run(&Job::Decrypt(None), &from, Some(&to), &lenient, &mut ()).unwrap();
    let back = read(&to);
    assert!(back.column(1).is_null(1600) && back.column(1).is_null(4999));
    assert_eq!(back.column(1).null_count(), ROWS / 10 + 2);
}

#[test]
fn csv_there_and_back() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let text = "id,name,city\n1,Ada,London\n2,,Paris\n3,\"Grace, H\",\n";
    fs::write(file("in.csv"), text).unwrap();
    let keys = keys();
    let spec = |format: &str| {
        Spec::from_toml(&format!(
            "dataset = 'people'\n[columns.name]\nencryption = 'deterministic'\nformat = '{format}'"
        ))
        .unwrap()
    };
    let go = |job: Job, from: &str, to: &str| {
        run(&job, &file(from), Some(&file(to)), &options(&keys), &mut ())
    };
    go(Job::Encrypt(spec("tink")), "in.csv", "a.csv").unwrap();
    let encrypted = fs::read_to_string(file("a.csv")).unwrap();
    assert!(
        !encrypted.contains("Ada") && encrypted.contains("London"),
        "{encrypted}"
    );
    assert_eq!(encrypted.lines().nth(2), Some("2,,Paris"));
    go(Job::Decrypt(Some(spec("tink"))), "a.csv", "b.csv").unwrap();
    assert_eq!(fs::read_to_string(file("b.csv")).unwrap(), text);
    go(Job::Encrypt(spec("plain")), "in.csv", "c.parquet").unwrap();
    go(Job::Decrypt(None), "c.parquet", "d.csv").unwrap();
    assert_eq!(fs::read_to_string(file("d.csv")).unwrap(), text);
    // Without its header, nothing says what a file is.
    assert!(go(Job::Decrypt(None), "a.csv", "e.csv").is_err());
    // Its salt has no place in CSV.
    let salted = Spec::from_toml(
        "dataset = 'd'\n[columns.name]\nencryption = 'randomized'\nformat = 'plain'",
    );
    let text = go(Job::Encrypt(salted.unwrap()), "in.csv", "e.csv")
        .unwrap_err()
        .to_string();
    assert!(text.contains("no place for its salt"), "{text}");
    fs::write(file("bad.csv"), encrypted.replacen("\n1,A", "\n1,!", 1)).unwrap();
    let text = go(Job::Decrypt(Some(spec("tink"))), "bad.csv", "e.csv")
        .unwrap_err()
        .to_string();
    assert!(!file("e.csv").exists(), "{text}");
    assert!(
        text.contains("bad.csv") && text.contains("row 0: it is no base64"),
        "{text}"
    );
    // In a batch that is not the first.
    let rows = encrypted.lines().skip(1).cycle().take(30_000);
    let mut long: Vec<&str> = encrypted.lines().take(1).chain(rows).collect();
    long.push("1,!,London");
    fs::write(file("long.csv"), long.join("\n")).unwrap();
    let text = go(Job::Decrypt(Some(spec("tink"))), "long.csv", "e.csv")
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("long.csv") && text.contains("row 30000:"),
        "{text}"
    );
    // Rows without columns enough.
    fs::write(file("short.csv"), "id,name\n1,2\n3\n").unwrap();
    let text = go(Job::Encrypt(spec("tink")), "short.csv", "e.csv")
        .unwrap_err()
        .to_string();
    assert!(text.contains("short.csv"), "{text}");
    assert!(!file("e.csv").exists());
}

/// Numbers in CSV are text, but where a spec has their types.
#[test]
fn types_of_csv_columns() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    fs::write(file("in.csv"), "born\n1815\n\n1906\n").unwrap();
    let spec = Spec::from_toml(
        "dataset = 'd'\n[columns.born]\nencryption = 'randomized'\nformat = 'plain'\ntype = 'int64'",
    )
    .unwrap();
    let keys = keys();
    let go = |job: &Job, from: &str, to: &str| {
        run(job, &file(from), Some(&file(to)), &options(&keys), &mut ()).unwrap();
    };
    go(&Job::Encrypt(spec), "in.csv", "a.parquet");
    go(&Job::Decrypt(None), "a.parquet", "b.parquet");
    let back = read(&file("b.parquet"));
    assert_eq!(back.column(0).data_type(), &DataType::Int64);
}

#[test]
fn files_that_are_refused() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let keys = keys();
    let go = |from: &str, to: &str| {
        let job = Job::Encrypt(spec());
        run(&job, &file(from), Some(&file(to)), &options(&keys), &mut ())
            .unwrap_err()
            .to_string()
    };
    assert!(go("missing.parquet", "out.parquet").contains("missing.parquet"));
    fs::write(file("empty.parquet"), "").unwrap();
    assert!(go("empty.parquet", "out.parquet").contains("empty.parquet"));
    write(&file("in.parquet"), &people(), 1500);
    assert!(go("in.parquet", "out.txt").contains(".parquet or .csv"));
    let whole = fs::read(file("in.parquet")).unwrap();
    // Pages damaged, footer whole.
    let mut damaged = whole.clone();
    for byte in &mut damaged[4..600] {
        *byte ^= 0x55;
    }
    fs::write(file("damaged.parquet"), damaged).unwrap();
    go("damaged.parquet", "out.parquet");
    fs::create_dir(file("none")).unwrap();
    assert!(go("none", "out").contains("no file in it"));
    assert!(go("none", "none/out").contains("in the folder that is read"));
    assert_eq!(
        folder.names(),
        ["damaged.parquet", "empty.parquet", "in.parquet", "none"]
    );
}

/// Rows but no values, and no rows.
#[test]
fn small_files() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let keys = keys();
    for rows in [0, 1] {
        let people = people().slice(3, rows);
        write(&file("in.parquet"), &people, 1500);
        let overwrite = Options {
            overwrite: true,
            ..options(&keys)
        };
        let go = |job: &Job, from: &str, to: &str| {
            run(job, &file(from), Some(&file(to)), &overwrite, &mut ()).unwrap();
        };
        go(&Job::Encrypt(spec()), "in.parquet", "a.parquet");
        go(&Job::Decrypt(None), "a.parquet", "b.parquet");
        assert_eq!(plain(&read(&file("b.parquet"))), plain(&people));
    }
}
