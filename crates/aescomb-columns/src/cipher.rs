//! [`Cipher`]: encrypts and decrypts the columns of record batches.

use crate::arrays::{self, TAKEN};
use crate::error::{Error, Failure, Reason};
use crate::header::{ColumnHeader, Header, METADATA_KEY};
use crate::kdf;
use crate::keyset::{Count, Entry, Keyset, Status};
use crate::spec::{ColumnSpec, Encryption, Format, MOST_VALUES, Spec, parse_type};
use crate::values::{
    self, Columns, Data, Flat, Keyed, Made, Places, Present, Results, Stopped, TagPlace, Values,
    fits,
};
use aescomb::{Key, Lengths, Mode, Op};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Metadata, Schema, SchemaRef};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// What is to be done with values that cannot be decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The first is an error.
    Stop,
    /// They become null, and are reported.
    Null,
}

/// Encrypts and decrypts columns, as a [`Header`] says, with the keys of keysets.
///
/// ```
/// use aescomb_columns::{Cipher, Keyset, OnFailure, Spec};
/// use arrow_array::{RecordBatch, StringArray, record_batch};
///
/// let mut keys = Keyset::new();
/// keys.generate("aes-256-siv".parse()?)?;
/// let spec = Spec::from_json(r#"{
///     "dataset": "people",
///     "columns": { "name": { "encryption": "deterministic", "format": "tink" } }
/// }"#)?;
/// let people = record_batch!(
///     ("id", Int32, [1, 2, 3]),
///     ("name", Utf8, [Some("Ada"), None, Some("Grace")])
/// ).unwrap();
///
/// let cipher = Cipher::new(&spec, &[keys.clone()], &people.schema())?;
/// let encrypted = cipher.encrypt(&people)?;
///
/// // What was done is in the metadata of the schema.
/// let cipher = Cipher::of_schema(&encrypted.schema(), None, &[keys])?;
/// let (decrypted, failures) = cipher.decrypt(&encrypted, OnFailure::Stop)?;
/// assert_eq!(decrypted, people);
/// assert!(failures.is_empty());
/// # Ok::<(), aescomb_columns::Error>(())
/// ```
pub struct Cipher {
    header: Header,
    treatments: Vec<Treatment>,
    threads: NonZeroUsize,
}

/// Where nonces are.
enum Nonces {
    None,
    /// In front of values, so many bytes.
    Inline(usize),
    /// In a column of this name, so many bytes.
    Column(String, usize),
}

impl Nonces {
    fn width(&self) -> usize {
        match self {
            Nonces::None => 0,
            Nonces::Inline(width) | Nonces::Column(_, width) => *width,
        }
    }

    /// Bytes in front of values.
    fn inline(&self) -> usize {
        match self {
            Nonces::Inline(width) => *width,
            _ => 0,
        }
    }
}

/// A key that values may have.
struct Candidate {
    id: u32,
    enabled: bool,
    prefix: Vec<u8>,
    key: Key,
    count: Option<Count>,
}

/// What is done with a column.
struct Treatment {
    name: String,
    format: Format,
    encryption: Encryption,
    mode: Mode,
    nonces: Nonces,
    tags: TagPlace,
    /// `None` where the mode takes none.
    data: Option<Vec<u8>>,
    keys: Vec<Candidate>,
    /// The place of the key of new values, if it is there.
    own: Option<usize>,
    key_column: Option<String>,
    /// The type of decrypted values.
    of: DataType,
}

/// An encrypted column.
pub struct Encrypted {
    /// Its values.
    pub values: ArrayRef,
    /// The name and the values of the column of nonces, if it has one.
    pub nonces: Option<(String, ArrayRef)>,
}

/// What belongs to a column, from other columns.
#[derive(Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Identifiers of keys: [`Cipher::key_column`].
    pub keys: Option<&'a ArrayRef>,
    /// Nonces of values that are decrypted: [`Cipher::nonce_column`].
    pub nonces: Option<&'a ArrayRef>,
}

/// Prefix of the metadata of fields that tell what extension type they are of, while they are not.
const EXTENSION: &str = "ARROW:extension:";
const HIDDEN: &str = "aescomb:ARROW:extension:";

impl Cipher {
    /// For the encryption of batches of this schema.
    ///
    /// A key of a file is derived here, with a new salt: make one for each file, and do
    /// not encrypt more files with it.
    ///
    /// # Errors
    ///
    /// Columns that are not there or of a type that is not taken, keys that do not fit, and
    /// whatever else a spec may have wrong.
    pub fn new(spec: &Spec, keysets: &[Keyset], schema: &Schema) -> Result<Cipher, Error> {
        if spec.dataset.is_empty() || spec.dataset.contains('\0') {
            let allowed = "a name without zero bytes";
            return Err(Error::spec(
                "dataset",
                format!("{:?}", spec.dataset),
                allowed,
            ));
        }
        let mut header = Header::new(spec.dataset.clone());
        for (name, column) in &spec.columns {
            let field = one_field(schema, name)?;
            let of = field.data_type();
            if !arrays::is_taken(of) {
                return Err(Error::column(name, of, TAKEN));
            }
            if schema.metadata().contains_key(METADATA_KEY) {
                let what = "a file whose columns are encrypted already";
                return Err(Error::spec(
                    "schema",
                    what,
                    "one without; decrypt or rotate it",
                ));
            }
            let made = column.header(name, keysets, of.to_string())?;
            for beside in [&made.key_column, &made.nonces].into_iter().flatten() {
                if spec.columns.contains_key(beside) {
                    let what = format!("{beside:?}, which is encrypted itself");
                    let field = format!("columns.{name}");
                    return Err(Error::spec(field, what, "another column"));
                }
            }
            if let Some(ids) = &made.key_column {
                let of = one_field(schema, ids)?.data_type();
                if !of.is_integer() {
                    return Err(Error::column(ids, of, "integers, as identifiers of keys"));
                }
            }
            if let Some(nonces) = &made.nonces
                && (schema.index_of(nonces).is_ok()
                    || header
                        .columns
                        .values()
                        .any(|other| other.nonces == made.nonces))
            {
                let what = format!("a column {nonces:?} that is there");
                let field = format!("columns.{name}.nonces");
                return Err(Error::spec(field, what, "the name of a new column"));
            }
            header.columns.insert(name.clone(), made);
        }
        let cipher = Cipher::with_header(header, Some(spec), keysets)?;
        for treatment in &cipher.treatments {
            treatment.can_encrypt()?;
        }
        Ok(cipher)
    }

    /// For what was encrypted as a header says. `spec` is needed where a spec said what is
    /// authenticated with values; if it is given, it must be of the same dataset.
    ///
    /// It also encrypts, under the same keys and keys of files: for workers that share in a file.
    /// Each then counts its own values towards limits.
    ///
    /// # Errors
    ///
    /// Keys that are not there, and a header that is wrong.
    pub fn with_header(
        header: Header,
        spec: Option<&Spec>,
        keysets: &[Keyset],
    ) -> Result<Cipher, Error> {
        if let Some(spec) = spec
            && spec.dataset != header.dataset
        {
            let what = format!("dataset {:?}", header.dataset);
            return Err(Error::spec(
                METADATA_KEY,
                what,
                format!("{:?}", spec.dataset),
            ));
        }
        let treatments = header.columns.iter().map(|(name, column)| {
            let spec = spec.and_then(|spec| spec.columns.get(name));
            Treatment::new(&header.dataset, name, column, spec, keysets)
        });
        let treatments = treatments.collect::<Result<_, _>>()?;
        Ok(Cipher {
            header,
            treatments,
            threads: NonZeroUsize::MIN,
        })
    }

    /// For the decryption of batches of this schema: as the header in its metadata says, or
    /// without one as the spec does.
    ///
    /// # Errors
    ///
    /// Without a header and a spec, and as [`Cipher::with_header`].
    pub fn of_schema(
        schema: &Schema,
        spec: Option<&Spec>,
        keysets: &[Keyset],
    ) -> Result<Cipher, Error> {
        let header = match (Header::of_schema(schema)?, spec) {
            (Some(header), _) => header,
            (None, Some(spec)) => {
                let mut header = Header::new(spec.dataset.clone());
                for (name, column) in &spec.columns {
                    let of = column.of.clone().unwrap_or_else(|| "binary".to_owned());
                    let made = column.header(name, keysets, of)?;
                    if made.salt.is_some() {
                        let what = "values under the key of a file, without its salt";
                        let field = format!("columns.{name}");
                        let allowed = "a file with the header that was written with them";
                        return Err(Error::spec(field, what, allowed));
                    }
                    header.columns.insert(name.clone(), made);
                }
                header
            }
            (None, None) => {
                let allowed = "a file that was encrypted here, or a spec";
                return Err(Error::spec(METADATA_KEY, "no such metadata", allowed));
            }
        };
        for name in header.columns.keys() {
            one_field(schema, name)?;
        }
        Cipher::with_header(header, spec, keysets)
    }

    /// The most threads that work on a column.
    pub fn set_threads(&mut self, threads: NonZeroUsize) {
        self.threads = threads;
    }

    /// What is done, for the metadata of schemas.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The column with the identifiers of a column's keys, if it has one.
    pub fn key_column(&self, name: &str) -> Option<&str> {
        self.find(name)?.key_column.as_deref()
    }

    /// The column with the nonces of a column, if it has one.
    pub fn nonce_column(&self, name: &str) -> Option<&str> {
        match &self.find(name)?.nonces {
            Nonces::Column(nonces, _) => Some(nonces),
            _ => None,
        }
    }

    fn find(&self, name: &str) -> Option<&Treatment> {
        self.treatments.iter().find(|column| column.name == name)
    }

    fn treatment(&self, name: &str) -> Result<&Treatment, Error> {
        self.find(name).ok_or_else(|| {
            let allowed: Vec<&String> = self.header.columns.keys().collect();
            Error::column(name, "not one that is encrypted", format!("{allowed:?}"))
        })
    }

    /// The schema of encrypted batches, with the header.
    ///
    /// # Errors
    ///
    /// As [`Cipher::encrypt`].
    pub fn encrypted_schema(&self, schema: &Schema) -> Result<SchemaRef, Error> {
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut nonces = Vec::new();
        for field in schema.fields() {
            let Some(treatment) = self.find(field.name()) else {
                fields.push(field.clone());
                continue;
            };
            let of = treatment.encrypted_type(field.data_type());
            fields.push(Arc::new(typed(field, of, EXTENSION, HIDDEN)));
            if let Nonces::Column(name, width) = &treatment.nonces {
                // Its width is 12 or 16.
                let of = DataType::FixedSizeBinary(*width as i32);
                nonces.push(Arc::new(Field::new(name, of, true)));
            }
        }
        fields.extend(nonces);
        let mut metadata = schema.metadata().clone();
        metadata.insert(METADATA_KEY.to_owned(), self.header.to_json()?);
        Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
    }

    /// The schema of decrypted batches.
    pub fn decrypted_schema(&self, schema: &Schema) -> SchemaRef {
        let mut fields: Vec<FieldRef> = Vec::new();
        for field in schema.fields() {
            match self.find(field.name()) {
                _ if self.holds_nonces(field.name()) => {}
                None => fields.push(field.clone()),
                Some(treatment) => {
                    let of = treatment.of.clone();
                    fields.push(Arc::new(typed(field, of, HIDDEN, EXTENSION)));
                }
            }
        }
        let mut metadata = schema.metadata().clone();
        metadata.remove(METADATA_KEY);
        Arc::new(Schema::new_with_metadata(fields, metadata))
    }

    fn holds_nonces(&self, name: &str) -> bool {
        let is = |other: &Treatment| matches!(&other.nonces, Nonces::Column(nonces, _) if nonces == name);
        self.treatments.iter().any(is)
    }

    /// Encrypts the columns of a batch.
    ///
    /// # Errors
    ///
    /// Another type than the column had in the schema, a key that has encrypted as many
    /// values as it may, and a null among the identifiers of keys.
    pub fn encrypt(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let schema = self.encrypted_schema(&batch.schema())?;
        let (mut arrays, mut nonces) = (Vec::new(), Vec::new());
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            let Some(treatment) = self.find(field.name()) else {
                arrays.push(array.clone());
                continue;
            };
            let keys = beside(batch, treatment.key_column.as_deref())?;
            let beside = Beside { keys, nonces: None };
            let encrypted = self.encrypt_column(field.name(), array, beside)?;
            arrays.push(encrypted.values);
            nonces.extend(encrypted.nonces.map(|(_, array)| array));
        }
        arrays.extend(nonces);
        batch_of(schema, arrays, batch.num_rows())
    }

    /// Encrypts a column.
    ///
    /// # Errors
    ///
    /// As [`Cipher::encrypt`].
    pub fn encrypt_column(
        &self,
        name: &str,
        array: &ArrayRef,
        beside: Beside<'_>,
    ) -> Result<Encrypted, Error> {
        let treatment = self.treatment(name)?;
        treatment.can_encrypt()?;
        if *array.data_type() != treatment.of {
            return Err(Error::column(name, array.data_type(), &treatment.of));
        }
        let Some(dictionary) = array.as_any_dictionary_opt() else {
            return treatment.encrypt(array, beside.keys, self.threads);
        };
        if treatment.keeps_dictionaries() {
            let encrypted = treatment.encrypt(dictionary.values(), None, self.threads)?;
            return Ok(Encrypted {
                values: dictionary.with_values(encrypted.values),
                nonces: None,
            });
        }
        let array = arrow_select::take::take(dictionary.values(), dictionary.keys(), None);
        let array = array.map_err(|error| treatment.wrong(error))?;
        treatment.encrypt(&array, beside.keys, self.threads)
    }

    /// Decrypts the columns of a batch, and reports what failed, if that is no error.
    ///
    /// # Errors
    ///
    /// Columns that are not there or not binary, and values that cannot be decrypted.
    pub fn decrypt(
        &self,
        batch: &RecordBatch,
        on_failure: OnFailure,
    ) -> Result<(RecordBatch, Vec<Failure>), Error> {
        let schema = self.decrypted_schema(&batch.schema());
        let (mut arrays, mut failures) = (Vec::new(), Vec::new());
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            if self.holds_nonces(field.name()) {
                continue;
            }
            let Some(treatment) = self.find(field.name()) else {
                arrays.push(array.clone());
                continue;
            };
            let nonces = match &treatment.nonces {
                Nonces::Column(name, _) => beside(batch, Some(name))?,
                _ => None,
            };
            let keys = match treatment.format {
                // Its values say it.
                Format::Tink => None,
                _ => beside(batch, treatment.key_column.as_deref())?,
            };
            let beside = Beside { keys, nonces };
            let (array, failed) = self.decrypt_column(field.name(), array, beside, on_failure)?;
            arrays.push(array);
            failures.extend(failed);
        }
        // A field that was not null may have nulls in place of what failed.
        let schema = match failures.is_empty() {
            true => schema,
            false => nullable(&schema, &failures),
        };
        let batch = batch_of(schema, arrays, batch.num_rows())?;
        Ok((batch, failures))
    }

    /// Decrypts a column, and reports what failed, if that is no error.
    ///
    /// # Errors
    ///
    /// As [`Cipher::decrypt`].
    pub fn decrypt_column(
        &self,
        name: &str,
        array: &ArrayRef,
        beside: Beside<'_>,
        on_failure: OnFailure,
    ) -> Result<(ArrayRef, Vec<Failure>), Error> {
        let treatment = self.treatment(name)?;
        if !arrays::is_binary(array.data_type()) {
            let allowed = "binary values, as encrypted ones are";
            return Err(Error::column(name, array.data_type(), allowed));
        }
        let (array, failed) = match array.as_any_dictionary_opt() {
            None => treatment.decrypt(array, beside, self.threads)?,
            Some(dictionary) if treatment.keeps_dictionaries() => {
                let values = dictionary.values();
                let (values, failed) =
                    treatment.decrypt(values, Beside::default(), self.threads)?;
                let failed: HashMap<usize, Reason> = failed.into_iter().collect();
                let mut rows = Vec::new();
                if !failed.is_empty() {
                    let keys = dictionary.normalized_keys();
                    let here = |row: &usize| dictionary.keys().is_valid(*row);
                    for row in (0..keys.len()).filter(here) {
                        let reason = failed.get(&keys[row]);
                        rows.extend(reason.map(|reason| (row, reason.clone())));
                    }
                }
                (dictionary.with_values(values), rows)
            }
            Some(dictionary) => {
                let keys = dictionary.keys();
                let array = arrow_select::take::take(dictionary.values(), keys, None);
                let array = array.map_err(|error| treatment.wrong(error))?;
                treatment.decrypt(&array, beside, self.threads)?
            }
        };
        if let (OnFailure::Stop, Some((row, reason))) = (on_failure, failed.first()) {
            return Err(Error::value(name, *row, reason.clone()));
        }
        let array = match *array.data_type() == treatment.of {
            true => array,
            false => {
                arrow_cast::cast(&array, &treatment.of).map_err(|error| treatment.wrong(error))?
            }
        };
        let failure = |(row, reason)| Failure {
            column: name.to_owned(),
            row: row as u64,
            reason,
        };
        Ok((array, failed.into_iter().map(failure).collect()))
    }
}

/// The one field of this name.
fn one_field<'a>(schema: &'a Schema, name: &str) -> Result<&'a FieldRef, Error> {
    let mut found = schema.fields().iter().filter(|field| field.name() == name);
    match (found.next(), found.next()) {
        (Some(field), None) => Ok(field),
        (None, _) => Err(Error::column(name, "no such column", "one of that name")),
        _ => Err(Error::column(name, "several columns", "one of that name")),
    }
}

/// A column of a batch that belongs to another.
fn beside<'a>(batch: &'a RecordBatch, name: Option<&str>) -> Result<Option<&'a ArrayRef>, Error> {
    let find = |name: &str| {
        let found = batch.column_by_name(name);
        found.ok_or_else(|| Error::column(name, "no such column", "one of that name"))
    };
    name.map(find).transpose()
}

/// The field with values of another type, and what says that it is of an extension type under
/// another name.
fn typed(field: &Field, of: DataType, from: &str, to: &str) -> Field {
    let renamed = field.metadata().iter().map(|(key, value)| {
        let key = match key.strip_prefix(from) {
            Some(rest) => format!("{to}{rest}"),
            None => key.to_string(),
        };
        (key, value.to_string())
    });
    let metadata: Metadata = renamed.collect();
    field.clone().with_data_type(of).with_metadata(metadata)
}

/// The schema with nulls allowed in columns that now have some.
fn nullable(schema: &Schema, failures: &[Failure]) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let failed = failures
            .iter()
            .any(|failure| failure.column == *field.name());
        match failed && !field.is_nullable() {
            true => Arc::new(Field::clone(field).with_nullable(true)),
            false => field.clone(),
        }
    });
    let fields: Vec<FieldRef> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn batch_of(schema: SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, Error> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(schema, arrays, &options);
    batch.map_err(|error| Error::spec("batch", error, "one that Arrow takes"))
}

#[cfg(feature = "files")]
impl ColumnSpec {
    /// Whether the primary key of a keyset can do it.
    pub(crate) fn fits(&self, keysets: &[Keyset]) -> bool {
        let primaries = keysets.iter().filter_map(|keyset| keyset.primary().ok());
        let mut ways = primaries.filter_map(|key| self.format.mode(key.key_type()));
        ways.any(|(_, encryption)| encryption == self.encryption)
    }

    /// The type of new keys for it, unless it only decrypts.
    pub(crate) fn usual_key(&self) -> Option<crate::KeyType> {
        let name = match (self.format, self.encryption) {
            (Format::Tink | Format::Plain, Encryption::Deterministic) => "aes-256-siv",
            (Format::Plain, Encryption::Randomized) => "aes-256-cmac-prf",
            (_, Encryption::Randomized) => "aes-256-gcm",
            _ => return None,
        };
        name.parse().ok()
    }
}

impl ColumnSpec {
    /// What a file says of a column that is encrypted so.
    fn header(&self, name: &str, keysets: &[Keyset], of: String) -> Result<ColumnHeader, Error> {
        let at = |field: &str| format!("columns.{name}.{field}");
        let fit = |key: &Entry| {
            let (mode, encryption) = self.format.mode(key.key_type())?;
            (encryption == self.encryption).then_some(mode)
        };
        let wanted = format!("{} values in the format {}", self.encryption, self.format);
        let key = match self.key {
            Some(id) => keysets.iter().find_map(|keyset| keyset.get(id)),
            None => {
                let primaries = keysets.iter().filter_map(|keyset| keyset.primary().ok());
                let mut fitting = primaries.filter(|key| fit(key).is_some());
                match (fitting.next(), fitting.next()) {
                    (Some(a), Some(b)) if a.id() != b.id() => {
                        let what = format!("keys {} and {} for {wanted}", a.id(), b.id());
                        return Err(Error::spec(at("key"), what, "the identifier of one"));
                    }
                    (found, _) => found,
                }
            }
        };
        let Some(key) = key else {
            return Err(match self.key {
                Some(id) => Error::key(id, format!("unknown key, for column {name:?}")),
                None => {
                    let what = format!("no keyset whose primary key can do {wanted}");
                    Error::spec(at("key"), what, fitting_keys(self.format, self.encryption))
                }
            });
        };
        let Some(mode) = fit(key) else {
            let what = format!("a key for {}, for {wanted}", key.key_type());
            return Err(Error::spec(
                at("key"),
                what,
                fitting_keys(self.format, self.encryption),
            ));
        };
        let separate = self.format == Format::Clickhouse && mode.info().usual_nonce() > 0;
        if separate != self.nonces.is_some() {
            let (what, allowed) = match separate {
                true => ("missing", "the name of a column for nonces"),
                false => ("given", "none: values have their nonces with them"),
            };
            return Err(Error::spec(at("nonces"), what, allowed));
        }
        if self.associated_data.is_some() && mode.info().data_components == 0 {
            let what = format!("given, for {mode}, which authenticates nothing");
            return Err(Error::spec(at("associated_data"), what, "none"));
        }
        if let Some(limit) = self.limit
            && !(1..=MOST_VALUES).contains(&limit)
        {
            return Err(Error::spec(
                at("limit"),
                limit,
                format!("1 to {MOST_VALUES}"),
            ));
        }
        if name.contains('\0') {
            return Err(Error::spec(
                "columns",
                format!("{name:?}"),
                "names without zero bytes",
            ));
        }
        let salt = match key.key_type() == crate::KeyType::DERIVATION {
            true => Some(ColumnHeader::salt_text(&values::nonces(1, kdf::SALT)?)),
            false => None,
        };
        Ok(ColumnHeader {
            encryption: self.encryption,
            format: self.format,
            mode: mode.name().to_owned(),
            key: key.id(),
            of,
            salt,
            key_column: self.key_column.clone(),
            nonces: self.nonces.clone(),
            associated_data: self.associated_data.is_some(),
        })
    }
}

fn fitting_keys(format: Format, encryption: Encryption) -> &'static str {
    match (format, encryption) {
        (Format::Tink, Encryption::Randomized) => "a key for gcm or gcm-siv",
        (Format::Plain, Encryption::Randomized) => "a key for aes-256-cmac-prf or gcm-siv",
        (Format::Tink | Format::Plain, Encryption::Deterministic) => "a key for aes-256-siv",
        (Format::Spark, Encryption::Randomized) => "a key for gcm or cbc-pkcs7",
        (Format::Clickhouse, Encryption::Randomized) => {
            "a key for gcm, cbc-pkcs7, ctr, ofb or cfb128"
        }
        (_, Encryption::Deterministic) => "a key for ecb-pkcs7, to decrypt",
    }
}

impl Treatment {
    fn new(
        dataset: &str,
        name: &str,
        header: &ColumnHeader,
        spec: Option<&ColumnSpec>,
        keysets: &[Keyset],
    ) -> Result<Treatment, Error> {
        let at = |field: &str| format!("{METADATA_KEY}.columns.{name}.{field}");
        let mode: Mode = header
            .mode
            .parse()
            .map_err(|error| Error::spec(at("mode"), format!("{:?}", header.mode), error))?;
        let info = mode.info();
        let salt = header.salt(&at("salt"))?;
        let given = spec.and_then(|spec| spec.associated_data.as_deref());
        if header.associated_data != given.is_some() && (header.associated_data || spec.is_some()) {
            let (what, allowed) = match given {
                None => ("missing", "what was given when it was encrypted"),
                Some(_) => ("given", "none, as none was when it was encrypted"),
            };
            return Err(Error::spec(
                format!("columns.{name}.associated_data"),
                what,
                allowed,
            ));
        }
        let data = Spec::associated_data(dataset, name, header.format, given);
        let of = parse_type(&at("type"), &header.of)?;
        if !arrays::is_taken(&of) {
            return Err(Error::spec(at("type"), of, TAKEN));
        }
        let mut treatment = Treatment {
            name: name.to_owned(),
            format: header.format,
            encryption: header.encryption,
            mode,
            nonces: match (info.usual_nonce(), &header.nonces) {
                // Its nonce is a component of associated data.
                _ if mode == Mode::Siv => Nonces::None,
                (0, _) => Nonces::None,
                (width, None) => Nonces::Inline(width),
                (width, Some(nonces)) => Nonces::Column(nonces.clone(), width),
            },
            tags: match mode {
                // As RFC 5297 has it.
                Mode::Siv => TagPlace::Front(info.longest_tag()),
                _ => TagPlace::Behind(info.longest_tag()),
            },
            data: (info.data_components > 0).then(|| data.clone()),
            keys: Vec::new(),
            own: None,
            key_column: header.key_column.clone(),
            of,
        };
        let limit = spec.and_then(|spec| spec.limit).unwrap_or(MOST_VALUES);
        for key in keysets.iter().flat_map(Keyset::keys) {
            let fit = header.format.mode(key.key_type());
            let derived = key.key_type() == crate::KeyType::DERIVATION;
            if fit != Some((mode, header.encryption)) || derived != salt.is_some() {
                continue;
            }
            let all = header.format == Format::Tink || header.key_column.is_some();
            if !all && key.id() != header.key {
                continue;
            }
            let (expanded, used) = match &salt {
                None => (key.expand(mode)?, key.used().clone()),
                Some(salt) => {
                    let secret = kdf::derive(key.secret(), salt, &data)?;
                    let expanded = Key::new(mode, &secret);
                    (
                        expanded.map_err(|error| Error::key(key.id(), error))?,
                        Arc::default(),
                    )
                }
            };
            if key.id() == header.key && treatment.own.is_none() {
                treatment.own = Some(treatment.keys.len());
            }
            treatment.keys.push(Candidate {
                id: key.id(),
                enabled: key.status() == Status::Enabled,
                prefix: match header.format {
                    Format::Tink => key.prefix().bytes(key.id()),
                    _ => Vec::new(),
                },
                key: expanded,
                count: (mode == Mode::Gcm).then_some(Count { used, limit }),
            });
        }
        if header.format != Format::Tink && header.key_column.is_none() {
            match treatment.own {
                None => {
                    let what = format!("unknown key, for {mode} in column {name:?}");
                    return Err(Error::key(header.key, what));
                }
                Some(own) if !treatment.keys[own].enabled => {
                    return Err(Error::key(
                        header.key,
                        format!("not enabled, for column {name:?}"),
                    ));
                }
                _ => {}
            }
        }
        Ok(treatment)
    }

    fn wrong(&self, error: ArrowError) -> Error {
        Error::column(&self.name, error, "what Arrow takes")
    }

    fn failed(&self, row: usize, reason: Reason) -> Error {
        Error::value(&self.name, row, reason)
    }

    fn can_encrypt(&self) -> Result<(), Error> {
        if self.mode == Mode::EcbPkcs7 {
            let what = format!(
                "{} encrypts no new values: equal blocks are seen",
                self.mode
            );
            return Err(Error::column(&self.name, what, "decryption"));
        }
        match self.own.map(|own| &self.keys[own]) {
            Some(key) if key.enabled => Ok(()),
            Some(key) => Err(Error::key(key.id, "not enabled")),
            None => Err(Error::key(
                None,
                format!("no key for column {:?}", self.name),
            )),
        }
    }

    /// Whether equal values always are equal, so that dictionaries may stay.
    fn keeps_dictionaries(&self) -> bool {
        self.encryption == Encryption::Deterministic && self.key_column.is_none()
    }

    /// Bytes that values of so many bytes have.
    fn len(&self, len: usize) -> usize {
        let prefix = self.own.map_or(0, |own| self.keys[own].prefix.len());
        let fronts = prefix + self.nonces.inline();
        fronts + self.mode.info().encrypted_len(len) + self.tags.bytes()
    }

    fn encrypted_type(&self, of: &DataType) -> DataType {
        match of {
            DataType::Dictionary(keys, values) => {
                let values = self.encrypted_type(values);
                match self.keeps_dictionaries() {
                    true => DataType::Dictionary(keys.clone(), Box::new(values)),
                    false => values,
                }
            }
            other => arrays::encrypted_type(other, |len| self.len(len)),
        }
    }

    /// The place of a key.
    fn place(&self, id: i64) -> Option<usize> {
        self.keys.iter().position(|key| i64::from(key.id) == id)
    }

    /// The identifiers of rows' keys.
    fn ids(&self, ids: &ArrayRef) -> Result<ArrayRef, Error> {
        let wide = match ids.data_type().is_integer() {
            true => arrow_cast::cast(ids, &DataType::Int64),
            false => {
                let allowed = "integers, as identifiers of keys";
                return Err(Error::column(&self.name, ids.data_type(), allowed));
            }
        };
        wide.map_err(|error| self.wrong(error))
    }

    fn key(&self, ids: &ArrayRef, row: usize) -> Result<usize, Reason> {
        let ids = ids.as_primitive::<Int64Type>();
        if ids.is_null(row) {
            return Err(Reason::NullKey);
        }
        let id = ids.value(row);
        // What does not fit into 32 bits is no identifier.
        let shown = u32::try_from(id).unwrap_or(0);
        match self.place(id) {
            Some(place) if self.keys[place].enabled => Ok(place),
            Some(_) => Err(Reason::DisabledKey(shown)),
            None => Err(Reason::UnknownKey(shown)),
        }
    }

    /// The keys of values, by their places.
    fn keyed(&self, places: Vec<u32>) -> Keyed<'_> {
        match &self.keys[..] {
            [only] => Keyed::One(&only.key),
            keys => match places.split_first() {
                Some((first, rest)) if rest.iter().all(|place| place == first) => {
                    Keyed::One(&keys[*first as usize].key)
                }
                _ => Keyed::Places(keys.iter().map(|key| &key.key).collect(), places),
            },
        }
    }

    /// The same associated data for so many values.
    fn data(&self, count: usize) -> Option<Data<'static, i64>> {
        let data = self.data.as_ref()?;
        Some(Data::same(data, count))
    }

    fn encrypt(
        &self,
        array: &ArrayRef,
        ids: Option<&ArrayRef>,
        threads: NonZeroUsize,
    ) -> Result<Encrypted, Error> {
        let present = arrays::present(array);
        let rows = present.whole();
        let count = rows.count();
        // The check of the treatment was that there is one.
        let own = self.own.unwrap_or(0);
        let mut places = vec![own as u32; if self.key_column.is_some() { count } else { 1 }];
        if let (Some(_), Some(ids)) = (&self.key_column, ids) {
            let ids = self.ids(ids)?;
            for (place, row) in places.iter_mut().zip(rows.rows()) {
                let key = self
                    .key(&ids, row)
                    .map_err(|reason| self.failed(row, reason))?;
                *place = key as u32;
            }
        }
        for (i, key) in self.keys.iter().enumerate() {
            let used = match self.key_column {
                None if i == own => count,
                None => 0,
                Some(_) => places.iter().filter(|place| **place == i as u32).count(),
            };
            if let Some(counted) = &key.count
                && !counted.take(used)
            {
                return Err(Error::Limit {
                    column: self.name.clone(),
                    id: key.id,
                    limit: counted.limit,
                });
            }
        }
        let prefixes = self.prefixes(&places, count)?;
        let width = self.nonces.width();
        let nonces = values::nonces(count, width)?;
        let data = array.to_data();
        let columns = Columns {
            texts: arrays::values(array, &data, rows),
            count,
            nonces: (width > 0).then(|| Flat {
                bytes: (&nonces[..]).into(),
                width,
            }),
            data: self.data(count),
            prefixes,
            inline: self.nonces.inline() > 0,
            tags: None,
        };
        let of = self.encrypted_type(array.data_type());
        let op = match self.tags.bytes() {
            0 => Op::Encrypt,
            _ => Op::Seal,
        };
        let keyed = self.keyed(places);
        let made = columns.texts(threads, &keyed, 0..count, op, self.tags, |total| {
            fits(total, &of)
        });
        let made = made.map_err(|stopped| self.stopped(stopped, |i| rows.row(i)))?;
        let results = Results {
            bytes: Buffer::from_vec(made.bytes),
            ends: made.ends,
            rows,
            failed: &[],
            row: &|i| rows.row(i),
        };
        let values = results.array(&of).map_err(|refused| self.unfit(&refused))?;
        let nonces = match &self.nonces {
            Nonces::Column(name, width) => {
                let mut every = vec![0; array.len() * width];
                for (place, nonce) in rows.places().zip(nonces.chunks_exact(*width)) {
                    every[place * width..][..*width].copy_from_slice(nonce);
                }
                let (every, nulls) = (Buffer::from_vec(every), array.logical_nulls());
                let array = FixedSizeBinaryArray::try_new(*width as i32, every, nulls);
                let array = array.map_err(|error| self.wrong(error))?;
                Some((name.clone(), Arc::new(array) as ArrayRef))
            }
            _ => None,
        };
        Ok(Encrypted { values, nonces })
    }

    /// What values begin with, if anything.
    fn prefixes(&self, places: &[u32], count: usize) -> Result<Option<Flat<'static>>, Error> {
        let prefix = |place: &u32| &self.keys[*place as usize].prefix[..];
        let Some(first) = places.first() else {
            return Ok(None);
        };
        let width = prefix(first).len();
        if let Some(other) = places.iter().find(|place| prefix(place).len() != width) {
            let id = self.keys[*other as usize].id;
            return Err(Error::key(
                id,
                "another output prefix type than that of other rows",
            ));
        }
        let bytes = match self.key_column {
            None => prefix(first).repeat(count),
            Some(_) => places.iter().flat_map(prefix).copied().collect(),
        };
        Ok((width > 0).then(|| Flat {
            bytes: bytes.into(),
            width,
        }))
    }

    fn stopped(&self, stopped: Stopped, row: impl Fn(usize) -> usize) -> Error {
        match stopped {
            Stopped::Memory(error) => error.into(),
            Stopped::Unfit(refused) => self.unfit(&refused),
            Stopped::Refused(mut error, start) => {
                let at = error.message.take().map(|i| row(start + i));
                match at {
                    Some(row) => self.failed(row, Reason::Type(error.to_string())),
                    None => Error::key(None, format!("column {:?}: {error}", self.name)),
                }
            }
        }
    }

    fn unfit(&self, refused: &values::Refused) -> Error {
        match refused.row {
            Some(row) => self.failed(row, Reason::Type(refused.to_string())),
            None => Error::column(&self.name, &refused.what, &refused.allowed),
        }
    }

    /// Decrypts values: an array, and what failed, by rows.
    fn decrypt(
        &self,
        array: &ArrayRef,
        beside: Beside<'_>,
        threads: NonZeroUsize,
    ) -> Result<(ArrayRef, Vec<(usize, Reason)>), Error> {
        let of = match &self.of {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        let present = arrays::present(array);
        let all = present.whole();
        let data = array.to_data();
        let (bytes, starts, lens) = slots(arrays::values(array, &data, all));
        let ids = match (&self.key_column, beside.keys, self.format) {
            (Some(_), Some(ids), _) => Some(self.ids(ids)?),
            (Some(name), None, Format::Spark | Format::Clickhouse | Format::Plain) => {
                return Err(Error::column(
                    name,
                    "missing",
                    "a column of key identifiers",
                ));
            }
            _ => None,
        };
        let nonces = match (&self.nonces, beside.nonces) {
            (Nonces::Column(..), Some(nonces)) => Some(self.nonces_of(nonces)?),
            (Nonces::Column(name, _), None) => {
                return Err(Error::column(name, "missing", "a column of nonces"));
            }
            _ => None,
        };
        let mut values = Batch {
            treatment: self,
            bytes: &bytes,
            rows: Vec::with_capacity(starts.len()),
            starts: Vec::with_capacity(starts.len()),
            lens: Vec::with_capacity(starts.len()),
            nonces: Vec::with_capacity(starts.len() * self.nonces.width()),
            keys: Vec::with_capacity(starts.len()),
        };
        let mut failures = Vec::new();
        let raw = self.raw().next();
        for (i, row) in all.rows().enumerate() {
            let value = &bytes[starts[i] as usize..][..lens[i] as usize];
            let nonce = match &nonces {
                None => Ok(&[][..]),
                Some((_, valid)) if !valid(row) => Err(Reason::NullNonce),
                Some((nonces, _)) => Ok(nonces[row]),
            };
            let key = match &ids {
                Some(ids) => self.key(ids, row),
                None => self.key_of(value, raw),
            };
            let place =
                nonce.and_then(|nonce| Ok((self.admit(value, nonce, key.clone()?)?, nonce)));
            match place {
                Ok((place, nonce)) => values.push(row, starts[i], value, nonce, place),
                Err(reason) => failures.push((row, reason)),
            }
        }
        let mut made = values.run(threads, of)?;
        if !made.failed.is_empty() && raw.is_some() && values.try_raw(&made.failed, threads, of)? {
            made = values.run(threads, of)?;
        }
        let reason = match self.tags.bytes() {
            0 => Reason::Padding,
            _ => Reason::Authentication,
        };
        let failed = made.failed.iter();
        failures.extend(failed.map(|i| (values.rows[*i], reason.clone())));
        let good = Present::these(values.rows, array.len());
        let rows = good.whole();
        let mut results = Results {
            bytes: Buffer::from_vec(made.bytes),
            ends: made.ends,
            rows,
            failed: &made.failed,
            row: &|i| rows.row(i),
        };
        let mut failed = made.failed.clone();
        let array = match results.array(of) {
            Ok(array) => array,
            Err(_) => {
                let mut bytes = results.bytes.to_vec();
                for (i, what) in results.misfits(of) {
                    let (start, end) = (results.ends[i] as usize, results.ends[i + 1] as usize);
                    // What is null is text, too.
                    bytes[start..end].fill(0);
                    failures.push((rows.row(i), Reason::Type(what)));
                    failed.push(i);
                }
                failed.sort_unstable();
                results.bytes = Buffer::from_vec(bytes);
                results.failed = &failed;
                results.array(of).map_err(|refused| self.unfit(&refused))?
            }
        };
        failures.sort_by_key(|(row, _)| *row);
        Ok((array, failures))
    }

    /// The nonces of all rows, and which are there.
    fn nonces_of<'a>(
        &self,
        array: &'a ArrayRef,
    ) -> Result<(Vec<&'a [u8]>, impl Fn(usize) -> bool + 'a), Error> {
        let nonces: Vec<&[u8]> = match array.data_type() {
            DataType::FixedSizeBinary(_) => {
                let nonces = array.as_fixed_size_binary();
                (0..array.len()).map(|i| nonces.value(i)).collect()
            }
            DataType::Binary => {
                let nonces = array.as_binary::<i32>();
                (0..array.len()).map(|i| nonces.value(i)).collect()
            }
            DataType::LargeBinary => {
                let nonces = array.as_binary::<i64>();
                (0..array.len()).map(|i| nonces.value(i)).collect()
            }
            DataType::BinaryView => {
                let nonces = array.as_binary_view();
                (0..array.len()).map(|i| nonces.value(i)).collect()
            }
            other => return Err(Error::column(&self.name, other, "binary nonces")),
        };
        Ok((nonces, |row| array.is_valid(row)))
    }

    /// Keys whose values begin with nothing.
    fn raw(&self) -> impl Iterator<Item = usize> {
        let keys = self.keys.iter().enumerate();
        let raw = keys.filter(|(_, key)| key.enabled && key.prefix.is_empty());
        raw.map(|(i, _)| i).filter(|_| self.format == Format::Tink)
    }

    /// The key that a value says it has, or the first that says nothing.
    fn key_of(&self, value: &[u8], raw: Option<usize>) -> Result<usize, Reason> {
        if self.format != Format::Tink {
            return self.own.ok_or(Reason::Prefix);
        }
        let begins = |key: &Candidate| !key.prefix.is_empty() && value.starts_with(&key.prefix);
        match (self.keys.iter().position(begins), raw, value) {
            (Some(place), _, _) if self.keys[place].enabled => Ok(place),
            (_, Some(raw), _) => Ok(raw),
            (Some(place), ..) => Err(Reason::DisabledKey(self.keys[place].id)),
            (None, None, [0 | 1, a, b, c, d, ..]) => {
                Err(Reason::UnknownKey(u32::from_be_bytes([*a, *b, *c, *d])))
            }
            (None, None, [] | [0 | 1, ..]) => Err(Reason::Truncated {
                given: value.len(),
                least: 5 + self.nonces.inline() + self.tags.bytes(),
            }),
            _ => Err(Reason::Prefix),
        }
    }

    /// The key, if the value has the bytes that its format and mode ask for.
    fn admit(&self, value: &[u8], nonce: &[u8], key: usize) -> Result<usize, Reason> {
        let front = self.keys[key].prefix.len() + self.nonces.inline();
        let padded = self.mode.info().lengths == Lengths::Padded;
        let least = front + self.tags.bytes() + if padded { 16 } else { 0 };
        if value.len() < least {
            let given = value.len();
            return Err(Reason::Truncated { given, least });
        }
        let len = value.len() - front;
        if padded && !len.is_multiple_of(16) {
            return Err(Reason::TextLength(len));
        }
        match &self.nonces {
            Nonces::Column(_, width) if nonce.len() != *width => {
                Err(Reason::NonceLength(nonce.len()))
            }
            _ => Ok(key),
        }
    }
}

/// Where values lie.
fn slots(values: Values<'_, i64>) -> (std::borrow::Cow<'_, [u8]>, Vec<i64>, Vec<i64>) {
    match values.places {
        Places::Slots(starts, lens) => (values.bytes, starts, lens),
        Places::Offsets(offsets) => {
            let lens = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let starts = offsets[..offsets.len() - 1].to_vec();
            (values.bytes, starts, lens)
        }
    }
}

/// Values that are decrypted together.
struct Batch<'a> {
    treatment: &'a Treatment,
    bytes: &'a [u8],
    rows: Vec<usize>,
    /// Where they begin, prefixes and nonces included.
    starts: Vec<i64>,
    lens: Vec<i64>,
    /// Those from a column.
    nonces: Vec<u8>,
    keys: Vec<u32>,
}

impl Batch<'_> {
    fn push(&mut self, row: usize, start: i64, value: &[u8], nonce: &[u8], key: usize) {
        self.rows.push(row);
        self.starts.push(start);
        self.lens.push(value.len() as i64);
        self.nonces.extend_from_slice(nonce);
        self.keys.push(key as u32);
    }

    fn run(&self, threads: NonZeroUsize, of: &DataType) -> Result<Made<i64>, Error> {
        let treatment = self.treatment;
        let count = self.rows.len();
        let Some(first) = treatment.keys.first() else {
            // None of the values had a key.
            return Ok(Made {
                bytes: Vec::new(),
                ends: vec![0],
                failed: Vec::new(),
            });
        };
        let width = treatment.nonces.width();
        let inline = treatment.nonces.inline();
        let mut nonces = Vec::with_capacity(count * inline);
        let front = match treatment.tags {
            TagPlace::Front(bytes) => bytes,
            TagPlace::Behind(_) => 0,
        };
        let mut tags = Vec::with_capacity(count * front);
        let (mut starts, mut lens) = (self.starts.clone(), self.lens.clone());
        for (i, key) in self.keys.iter().enumerate() {
            let prefix = treatment.keys[*key as usize].prefix.len();
            let start = starts[i] as usize + prefix;
            let (nonce, rest) = self.bytes[start..].split_at(inline);
            nonces.extend_from_slice(nonce);
            tags.extend_from_slice(&rest[..front]);
            starts[i] += (prefix + inline + front) as i64;
            lens[i] -= (prefix + inline + front) as i64;
        }
        let columns = Columns {
            texts: Values {
                bytes: self.bytes.into(),
                places: Places::Slots(starts, lens),
            },
            count,
            nonces: (width > 0).then(|| Flat {
                bytes: match inline {
                    0 => (&self.nonces[..]).into(),
                    _ => nonces.into(),
                },
                width,
            }),
            data: treatment.data(count),
            prefixes: None,
            inline: false,
            tags: (front > 0).then(|| tags.into()),
        };
        let keyed = match count {
            0 => Keyed::One(&first.key),
            _ => treatment.keyed(self.keys.clone()),
        };
        let op = match treatment.tags.bytes() {
            0 => Op::Decrypt,
            _ => Op::Open,
        };
        let made = columns.texts(threads, &keyed, 0..count, op, treatment.tags, |total| {
            fits(total, of)
        });
        made.map_err(|stopped| treatment.stopped(stopped, |i| self.rows[i]))
    }

    /// Tries the keys that values do not name with those that failed, and keeps those that open
    /// them: whether one did.
    fn try_raw(
        &mut self,
        failed: &[usize],
        threads: NonZeroUsize,
        of: &DataType,
    ) -> Result<bool, Error> {
        let (mut left, mut found) = (failed.to_vec(), false);
        let raw: Vec<usize> = self.treatment.raw().collect();
        for key in raw {
            let able = |i: &usize| {
                let value = &self.bytes[self.starts[*i] as usize..][..self.lens[*i] as usize];
                // Its nonce is in front of it, in this format.
                self.keys[*i] != key as u32 && self.treatment.admit(value, &[], key).is_ok()
            };
            let tried: Vec<usize> = left.iter().copied().filter(able).collect();
            let pick = |from: &[i64]| tried.iter().map(|i| from[*i]).collect();
            let trial = Batch {
                treatment: self.treatment,
                bytes: self.bytes,
                rows: tried.iter().map(|i| self.rows[*i]).collect(),
                starts: pick(&self.starts),
                lens: pick(&self.lens),
                nonces: Vec::new(),
                keys: vec![key as u32; tried.len()],
            };
            let bad = trial.run(threads, of)?.failed;
            for (place, i) in tried.iter().enumerate() {
                if bad.binary_search(&place).is_err() {
                    self.keys[*i] = key as u32;
                    left.retain(|other| other != i);
                    found = true;
                }
            }
        }
        Ok(found)
    }
}
