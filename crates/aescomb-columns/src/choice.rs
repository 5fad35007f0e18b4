//! Which key a column has, and whether it can do what a spec says.

use crate::error::Error;
use crate::header::ColumnHeader;
use crate::kdf;
use crate::keyset::{Entry, Keyset};
use crate::spec::{ColumnSpec, Encryption, Format, MOST_VALUES};
use crate::tokens::{self, ALPHABET};
use crate::values;

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
            (Format::Ff1, Encryption::Deterministic) => "aes-256-ff1",
            (Format::Ff1, Encryption::Randomized) => return None,
            (_, Encryption::Randomized) => "aes-256-gcm",
            _ => return None,
        };
        name.parse().ok()
    }
}

impl ColumnSpec {
    /// What a file says of a column that is encrypted so.
    pub(crate) fn header(
        &self,
        name: &str,
        keysets: &[Keyset],
        of: String,
    ) -> Result<ColumnHeader, Error> {
        let at = |field: &str| format!("columns.{name}.{field}");
        self.check_tokens(&at)?;
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
            let mode = self.format.mode_name(mode);
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
            mode: self.format.mode_name(mode).to_owned(),
            key: key.id(),
            of,
            salt,
            key_column: self.key_column.clone(),
            nonces: self.nonces.clone(),
            alphabet: self.characters(),
            tweak: self.tweak.clone(),
            associated_data: self.associated_data.is_some(),
        })
    }

    /// The characters of its alphabet.
    pub(crate) fn characters(&self) -> Option<String> {
        let characters = |alphabet: &String| match &**alphabet {
            "digits" => "0123456789".to_owned(),
            own => own.to_owned(),
        };
        self.alphabet.as_ref().map(characters)
    }

    /// Refuses what tokens cannot have, and what they alone have in other formats.
    fn check_tokens(&self, at: &impl Fn(&str) -> String) -> Result<(), Error> {
        if self.format != Format::Ff1 {
            let given = [("alphabet", &self.alphabet), ("tweak", &self.tweak)];
            return match given.into_iter().find(|(_, given)| given.is_some()) {
                Some((field, _)) => {
                    let what = format!("given, for the format {}", self.format);
                    Err(Error::spec(at(field), what, "none"))
                }
                None => Ok(()),
            };
        }
        if self.encryption != Encryption::Deterministic {
            let what = format!("{}, for the format {}", self.encryption, self.format);
            let allowed = Encryption::Deterministic;
            return Err(Error::spec(at("encryption"), what, allowed));
        }
        let Some(characters) = self.characters() else {
            return Err(Error::spec(at("alphabet"), "missing", ALPHABET));
        };
        tokens::numerals(&at("alphabet"), &characters).map(drop)
    }
}

fn fitting_keys(format: Format, encryption: Encryption) -> &'static str {
    match (format, encryption) {
        (Format::Tink, Encryption::Randomized) => "a key for gcm or gcm-siv",
        (Format::Plain, Encryption::Randomized) => "a key for aes-256-cmac-prf or gcm-siv",
        (Format::Tink | Format::Plain, Encryption::Deterministic) => "a key for aes-256-siv",
        (Format::Spark, Encryption::Randomized) => "a key for gcm or cbc-pkcs7",
        (Format::Clickhouse, Encryption::Randomized) => "a key for gcm, cbc-pkcs7, ctr or ofb",
        (Format::Ff1, _) => "a key for ff1",
        (_, Encryption::Deterministic) => "a key for ecb-pkcs7, to decrypt",
    }
}
