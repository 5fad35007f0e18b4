//! [`Cipher`]: encrypts and decrypts the columns of record batches.

use crate::arrays::{self, TAKEN, TEXT};
use crate::error::{Error, Failure, Reason};
use crate::header::{Header, METADATA_KEY};
use crate::keyset::Keyset;
use crate::spec::{Format, Spec};
use crate::treatment::{Nonces, Treatment};
use aescomb::Op;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, FieldRef, Metadata, Schema, SchemaRef};
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

impl Beside<'_> {
    /// Refuses columns of other lengths than the one that they belong to.
    fn check(&self, name: &str, rows: usize) -> Result<(), Error> {
        let arrays = [("key identifiers", self.keys), ("nonces", self.nonces)];
        for (of, array) in arrays {
            if let Some(array) = array.filter(|array| array.len() != rows) {
                let what = format!("{} {of}", array.len());
                return Err(Error::column(name, what, format!("{rows}, as it has rows")));
            }
        }
        Ok(())
    }
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
        if schema.metadata().contains_key(METADATA_KEY) {
            let what = "columns that are encrypted already";
            let allowed = "others; decrypt or rotate these";
            return Err(Error::spec("schema", what, allowed));
        }
        let mut header = Header::new(spec.dataset.clone());
        for (name, column) in &spec.columns {
            let field = one_field(schema, name)?;
            let of = field.data_type();
            if !arrays::is_taken(of) {
                return Err(Error::column(name, of, TAKEN));
            }
            if column.format == Format::Ff1 && !arrays::is_text(of) {
                return Err(Error::column(name, of, TEXT));
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
    /// authenticated with values.
    ///
    /// Nothing authenticates a header. If `spec` is given, the header must agree with it: on the
    /// dataset, and for each column of the spec on `encryption`, `format`, `key_column` and
    /// `nonces`. So a column of the spec cannot pass as one that is not encrypted.
    ///
    /// It also encrypts, under the same keys and keys of files: for workers that share in a file.
    /// Each then counts its own values towards limits.
    ///
    /// # Errors
    ///
    /// Keys that are not there, a header that is wrong, and one that does not agree with the
    /// spec.
    pub fn with_header(
        header: Header,
        spec: Option<&Spec>,
        keysets: &[Keyset],
    ) -> Result<Cipher, Error> {
        if let Some(spec) = spec {
            header.agrees(spec)?;
        }
        Cipher::made(header, spec, keysets)
    }

    fn made(header: Header, spec: Option<&Spec>, keysets: &[Keyset]) -> Result<Cipher, Error> {
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
        Cipher::with_header(header_of(schema, spec, keysets)?, spec, keysets)
    }

    /// As [`Cipher::of_schema`], with the spec that the columns are encrypted by next: it must be
    /// about the same columns, but may say something else of each.
    #[cfg(feature = "files")]
    pub(crate) fn to_rotate(
        schema: &Schema,
        spec: Option<&Spec>,
        keysets: &[Keyset],
    ) -> Result<Cipher, Error> {
        let header = header_of(schema, spec, keysets)?;
        if let Some(spec) = spec {
            header.has_columns_of(spec)?;
            for name in header.columns.keys() {
                if !spec.columns.contains_key(name) {
                    let allowed = "every column that is encrypted: no other stays so";
                    return Err(Error::spec(format!("columns.{name}"), "missing", allowed));
                }
            }
        }
        Cipher::made(header, spec, keysets)
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
        beside.check(name, array.len())?;
        if *array.data_type() != treatment.of {
            return Err(Error::column(name, array.data_type(), &treatment.of));
        }
        if let Some(tokens) = &treatment.tokens {
            let run = |array: &ArrayRef, beside: Beside<'_>, _| {
                treatment.tokens(tokens, Op::Encrypt, array, beside.keys, self.threads)
            };
            let (values, failed) = each(treatment, array, beside, OnFailure::Stop, &run)?;
            return match failed.into_iter().next() {
                Some((row, reason)) => Err(Error::value(name, row, reason)),
                None => Ok(Encrypted {
                    values,
                    nonces: None,
                }),
            };
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
        beside.check(name, array.len())?;
        let (fits, allowed) = match treatment.tokens {
            Some(_) => (arrays::is_text(array.data_type()), TEXT),
            None => {
                let allowed = "binary values, as encrypted ones are";
                (arrays::is_binary(array.data_type()), allowed)
            }
        };
        if !fits {
            return Err(Error::column(name, array.data_type(), allowed));
        }
        let run = |array: &ArrayRef, beside: Beside<'_>, on_failure| match &treatment.tokens {
            Some(tokens) => treatment.tokens(tokens, Op::Decrypt, array, beside.keys, self.threads),
            None => treatment.decrypt(array, beside, self.threads, on_failure),
        };
        let (array, failed) = each(treatment, array, beside, on_failure, &run)?;
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

/// An array, and what failed in it, by rows.
pub(crate) type Done = Result<(ArrayRef, Vec<(usize, Reason)>), Error>;

/// What `run` makes of values; of those of a dictionary once, if it may stay one.
fn each(
    treatment: &Treatment,
    array: &ArrayRef,
    beside: Beside<'_>,
    on_failure: OnFailure,
    run: &dyn Fn(&ArrayRef, Beside<'_>, OnFailure) -> Done,
) -> Done {
    match array.as_any_dictionary_opt() {
        None => run(array, beside, on_failure),
        Some(dictionary) if treatment.keeps_dictionaries() => {
            // No row may have the value that fails.
            let on_failure = OnFailure::Null;
            let (values, failed) = run(dictionary.values(), Beside::default(), on_failure)?;
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
            Ok((dictionary.with_values(values), rows))
        }
        Some(dictionary) => {
            let keys = dictionary.keys();
            let array = arrow_select::take::take(dictionary.values(), keys, None);
            let array = array.map_err(|error| treatment.wrong(error))?;
            run(&array, beside, on_failure)
        }
    }
}

/// The header of a schema, or the one that the spec makes where it has none.
fn header_of(schema: &Schema, spec: Option<&Spec>, keysets: &[Keyset]) -> Result<Header, Error> {
    let header = match (Header::of_schema(schema)?, spec) {
        (Some(header), _) => header,
        (None, Some(spec)) => {
            let mut header = Header::new(spec.dataset.clone());
            for (name, column) in &spec.columns {
                let of = column.of.clone().unwrap_or_else(|| {
                    let usual = match column.format {
                        Format::Ff1 => "string",
                        _ => "binary",
                    };
                    usual.to_owned()
                });
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
    Ok(header)
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
