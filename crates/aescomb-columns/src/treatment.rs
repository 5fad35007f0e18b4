//! What is done with a column, and the encryption of its values.

use crate::arrays::{self, TAKEN, TEXT};
use crate::cipher::Encrypted;
use crate::error::{Error, Reason};
use crate::header::{ColumnHeader, METADATA_KEY};
use crate::kdf;
use crate::keyset::{Count, Keyset, Status};
use crate::spec::{ColumnSpec, Encryption, Format, MOST_VALUES, Spec, parse_type};
use crate::tokens::{ALPHABET, Tokens};
use crate::values::{
    self, Columns, Data, Flat, Keep, Keyed, Made, Results, STRETCH, Soon, Stopped, fits, growth,
};
use aescomb::{AnyKey, Mode, Offset, Op};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, OffsetSizeTrait};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// Where nonces are.
pub(crate) enum Nonces {
    None,
    /// In front of values, so many bytes.
    Inline(usize),
    /// In a column of this name, so many bytes.
    Column(String, usize),
}

impl Nonces {
    pub(crate) fn width(&self) -> usize {
        match self {
            Nonces::None => 0,
            Nonces::Inline(width) | Nonces::Column(_, width) => *width,
        }
    }

    /// Bytes in front of values.
    pub(crate) fn inline(&self) -> usize {
        match self {
            Nonces::Inline(width) => *width,
            _ => 0,
        }
    }
}

/// A key that values may have.
pub(crate) struct Candidate {
    pub(crate) id: u32,
    pub(crate) enabled: bool,
    pub(crate) prefix: Vec<u8>,
    pub(crate) key: AnyKey,
    pub(crate) count: Option<Count>,
}

/// What is done with a column.
pub(crate) struct Treatment {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) encryption: Encryption,
    pub(crate) mode: Mode,
    pub(crate) nonces: Nonces,
    pub(crate) tags: usize,
    /// `None` where the mode takes none.
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) keys: Vec<Candidate>,
    /// What makes tokens, under keys of the same places, in the format for them.
    pub(crate) tokens: Option<Tokens>,
    /// The place of the key of new values, if it is there.
    pub(crate) own: Option<usize>,
    pub(crate) key_column: Option<String>,
    /// The type of decrypted values.
    pub(crate) of: DataType,
}

/// Without the column that has the identifiers of keys.
pub(crate) fn no_ids(name: &str) -> Error {
    Error::column(name, "missing", "a column of key identifiers")
}

impl Treatment {
    pub(crate) fn new(
        dataset: &str,
        name: &str,
        header: &ColumnHeader,
        spec: Option<&ColumnSpec>,
        keysets: &[Keyset],
    ) -> Result<Treatment, Error> {
        let at = |field: &str| format!("{METADATA_KEY}.columns.{name}.{field}");
        let mode = header.format.mode_of(&header.mode);
        let mode =
            mode.map_err(|allowed| Error::spec(at("mode"), format!("{:?}", header.mode), allowed))?;
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
        let given = match header.format {
            Format::Ff1 => header.tweak.as_deref(),
            _ => given,
        };
        let data = Spec::associated_data(dataset, name, header.format, given);
        let of = parse_type(&at("type"), &header.of)?;
        if !arrays::is_taken(&of) {
            return Err(Error::spec(at("type"), of, TAKEN));
        }
        if header.format == Format::Ff1 && !arrays::is_text(&of) {
            return Err(Error::spec(at("type"), of, TEXT));
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
            tags: info.longest_tag(),
            data: (info.data_components > 0).then(|| data.clone()),
            // Keys that are moved to more memory would leave their bytes behind.
            keys: Vec::with_capacity(keysets.iter().flat_map(Keyset::keys).count()),
            own: None,
            tokens: None,
            key_column: header.key_column.clone(),
            of,
        };
        let mut secrets = Vec::new();
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
                    let expanded = AnyKey::for_mode(mode, &secret);
                    (
                        expanded.map_err(|error| Error::key(key.id(), error))?,
                        Arc::default(),
                    )
                }
            };
            if key.id() == header.key && treatment.own.is_none() {
                treatment.own = Some(treatment.keys.len());
            }
            secrets.push(key.secret());
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
        if header.format == Format::Ff1 {
            let field = at("alphabet");
            let Some(alphabet) = &header.alphabet else {
                return Err(Error::spec(field, "missing", ALPHABET));
            };
            let tokens = Tokens::new((&field, alphabet), (&at("tweak"), data), &secrets)?;
            treatment.tokens = Some(tokens);
        }
        Ok(treatment)
    }

    pub(crate) fn wrong(&self, error: ArrowError) -> Error {
        Error::column(&self.name, error, "what Arrow takes")
    }

    pub(crate) fn failed(&self, row: usize, reason: Reason) -> Error {
        Error::value(&self.name, row, reason)
    }

    pub(crate) fn can_encrypt(&self) -> Result<(), Error> {
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
    pub(crate) fn keeps_dictionaries(&self) -> bool {
        self.encryption == Encryption::Deterministic && self.key_column.is_none()
    }

    /// Bytes that values of so many bytes have.
    fn len(&self, len: usize) -> usize {
        let prefix = self.own.map_or(0, |own| self.keys[own].prefix.len());
        let fronts = prefix + self.nonces.inline();
        fronts + self.mode.info().encrypted_len(len) + self.tags
    }

    pub(crate) fn encrypted_type(&self, of: &DataType) -> DataType {
        match of {
            DataType::Dictionary(keys, values) => {
                let values = self.encrypted_type(values);
                match self.keeps_dictionaries() {
                    true => DataType::Dictionary(keys.clone(), Box::new(values)),
                    false => values,
                }
            }
            other if self.tokens.is_some() => other.clone(),
            other => arrays::encrypted_type(other, |len| self.len(len)),
        }
    }

    /// The place of a key.
    fn place(&self, id: i64) -> Option<usize> {
        self.keys.iter().position(|key| i64::from(key.id) == id)
    }

    /// The identifiers of rows' keys.
    pub(crate) fn ids(&self, ids: &ArrayRef) -> Result<ArrayRef, Error> {
        let wide = match ids.data_type().is_integer() {
            true => arrow_cast::cast(ids, &DataType::Int64),
            false => {
                let allowed = "integers, as identifiers of keys";
                return Err(Error::column(&self.name, ids.data_type(), allowed));
            }
        };
        wide.map_err(|error| self.wrong(error))
    }

    pub(crate) fn key(&self, ids: &ArrayRef, row: usize) -> Result<usize, Reason> {
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
    pub(crate) fn keyed(&self, places: Vec<u32>) -> Keyed<'_> {
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
    pub(crate) fn data<O: Offset + OffsetSizeTrait>(
        &self,
        count: usize,
    ) -> Option<Data<'static, O>> {
        let data = self.data.as_ref()?;
        Some(Data::same(data, count.min(STRETCH)))
    }

    /// Threads, as many as these values pay for.
    pub(crate) fn worth(array: &ArrayRef, threads: NonZeroUsize) -> usize {
        let bytes = arrays::bytes(array, 0..array.len());
        values::worth(threads, array.len(), bytes)
    }

    /// How many bytes, and how many messages, these values have at most when they are
    /// encrypted.
    fn most(&self, array: &ArrayRef, rows: Range<usize>) -> (usize, usize) {
        let nulls = array.nulls();
        let nulls = nulls.map_or(0, |nulls| nulls.slice(rows.start, rows.len()).null_count());
        let count = rows.len() - nulls;
        let bytes = arrays::bytes(array, rows);
        let padding = growth(self.mode.info());
        let prefixes = self.keys.iter().map(|key| key.prefix.len());
        let prefix = prefixes.max().unwrap_or(0);
        let more = prefix + self.nonces.inline() + padding + self.tags;
        let most = bytes.saturating_add(count.saturating_mul(more));
        (most, count)
    }

    /// The keys of rows by their places, where a column has their identifiers.
    fn places(&self, array: &ArrayRef, ids: Option<&ArrayRef>) -> Result<Option<Vec<u32>>, Error> {
        let Some(name) = &self.key_column else {
            return Ok(None);
        };
        // Without them, all rows would silently have the same key.
        let ids = self.ids(ids.ok_or_else(|| no_ids(name))?)?;
        let mut places = vec![0; array.len()];
        for row in arrays::present(array).whole().rows() {
            let key = self.key(&ids, row);
            places[row] = key.map_err(|reason| self.failed(row, reason))? as u32;
        }
        Ok(Some(places))
    }

    /// Counts the values that keys are to encrypt.
    fn count(&self, array: &ArrayRef, places: Option<&[u32]>) -> Result<(), Error> {
        let mut uses = vec![0; self.keys.len()];
        match (places, self.own) {
            (Some(places), _) => arrays::present(array)
                .whole()
                .rows()
                .for_each(|row| uses[places[row] as usize] += 1),
            (None, Some(own)) => uses[own] = array.len() - array.logical_null_count(),
            (None, None) => {}
        }
        let used = self.keys.iter().zip(&uses).filter(|(_, used)| **used > 0);
        let mut widths = used.clone().map(|(key, _)| (key.id, key.prefix.len()));
        if let Some((_, width)) = widths.next()
            && let Some((id, _)) = widths.find(|(_, other)| *other != width)
        {
            let what = "another output prefix type than that of other rows";
            return Err(Error::key(id, what));
        }
        for (key, used) in used {
            if let Some(counted) = &key.count
                && !counted.take(*used)
            {
                return Err(Error::Limit {
                    column: self.name.clone(),
                    id: key.id,
                    limit: counted.limit,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn encrypt(
        &self,
        array: &ArrayRef,
        ids: Option<&ArrayRef>,
        threads: NonZeroUsize,
    ) -> Result<Encrypted, Error> {
        match arrays::is_large(array.data_type()) {
            true => self.encrypt_by::<i64>(array, ids, threads),
            false => self.encrypt_by::<i32>(array, ids, threads),
        }
    }

    /// With such offsets.
    fn encrypt_by<O: Offset + OffsetSizeTrait>(
        &self,
        array: &ArrayRef,
        ids: Option<&ArrayRef>,
        threads: NonZeroUsize,
    ) -> Result<Encrypted, Error> {
        let places = self.places(array, ids)?;
        self.count(array, places.as_deref())?;
        // The check of the treatment was that there is one.
        let own = [self.own.unwrap_or(0) as u32];
        let data = self.data::<O>(array.len());
        let of = self.encrypted_type(array.data_type());
        let op = match self.tags {
            0 => Op::Encrypt,
            _ => Op::Seal,
        };
        let threads = Treatment::worth(array, threads);
        let most = |rows| self.most(array, rows);
        let (keep, all) = (Keep::Yes, array.len());
        let (made, nonces) = Made::by_stretches(threads, keep, all, most, |rows, making| {
            let (start, stretch) = (rows.start, array.slice(rows.start, rows.len()));
            let present = arrays::present(&stretch);
            let rows = present.whole();
            let count = rows.count();
            let places: Vec<u32> = match &places {
                Some(places) => rows.rows().map(|row| places[start + row]).collect(),
                None => own.to_vec(),
            };
            let width = self.nonces.width();
            let given = stretch.to_data();
            let texts = arrays::values(&stretch, &given, rows);
            let soon = Soon {
                read: texts.span(0..count),
                written: making.next(self.most(&stretch, 0..stretch.len()).0),
            };
            let nonces = values::nonces_before(&soon, count, width)?;
            let columns = Columns {
                texts,
                count,
                nonces: (width > 0).then(|| Flat {
                    bytes: (&nonces[..]).into(),
                    width,
                }),
                data: data.as_ref().map(|data| data.part(0..count)),
                prefixes: self.prefixes(&places, count),
                inline: self.nonces.inline() > 0,
            };
            let keyed = self.keyed(places);
            let made = columns.texts(&keyed, 0..count, op, self.tags, making);
            made.map_err(|stopped| self.stopped(stopped, |i| start + rows.row(i)))?;
            let mut every = Vec::new();
            if let Nonces::Column(_, width) = &self.nonces {
                every.resize(stretch.len() * width, 0);
                for (place, nonce) in rows.places().zip(nonces.chunks_exact(*width)) {
                    every[place * width..][..*width].copy_from_slice(nonce);
                }
            }
            Ok::<_, Error>(every)
        })?;
        fits(made.bytes.len(), &of).map_err(|refused| self.unfit(&refused))?;
        let present = arrays::present(array);
        let rows = present.whole();
        let results = Results {
            bytes: made.bytes,
            ends: made.ends,
            rows,
            failed: &[],
            row: &|i| rows.row(i),
        };
        let values = results.array(&of);
        let values = values.map_err(|refused| self.unfit(&refused))?;
        let nonces = match &self.nonces {
            Nonces::Column(name, width) => {
                let (every, nulls) = (Buffer::from_vec(nonces.concat()), array.logical_nulls());
                let array = FixedSizeBinaryArray::try_new(*width as i32, every, nulls);
                let array = array.map_err(|error| self.wrong(error))?;
                Some((name.clone(), Arc::new(array) as ArrayRef))
            }
            _ => None,
        };
        Ok(Encrypted { values, nonces })
    }

    /// What values begin with, if anything.
    fn prefixes(&self, places: &[u32], count: usize) -> Option<Flat<'static>> {
        let prefix = |place: &u32| &self.keys[*place as usize].prefix[..];
        let width = prefix(places.first()?).len();
        let bytes = match self.key_column {
            None => prefix(&places[0]).repeat(count),
            Some(_) => places.iter().flat_map(prefix).copied().collect(),
        };
        (width > 0).then(|| Flat {
            bytes: bytes.into(),
            width,
        })
    }

    pub(crate) fn stopped(&self, stopped: Stopped, row: impl Fn(usize) -> usize) -> Error {
        match stopped {
            Stopped::Memory(error) => error.into(),
            Stopped::System(error) => error.into(),
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

    pub(crate) fn unfit(&self, refused: &values::Refused) -> Error {
        match refused.row {
            Some(row) => self.failed(row, Reason::Type(refused.to_string())),
            None => Error::column(&self.name, &refused.what, &refused.allowed),
        }
    }
}
