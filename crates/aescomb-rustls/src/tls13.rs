//! Records of TLS 1.3 (RFC 8446, section 5.2), one at a time, for rustls.

use crate::Aead;
use crate::record::RecordKey;
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter,
    OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm,
    UnsupportedOperationError, make_tls13_aad,
};
use rustls::{ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion};

/// The records of a suite.
pub(crate) struct Records(pub(crate) Aead);

impl Records {
    fn key(&self, key: &AeadKey, iv: &Iv) -> Box<One> {
        let iv = iv
            .as_ref()
            .try_into()
            .expect("rustls' nonces have 12 bytes");
        let version = ProtocolVersion::TLSv1_3;
        let key = RecordKey::new(self.0, version, key.as_ref(), iv)
            .expect("rustls gives keys of the length that `key_len` says");
        Box::new(One(key))
    }
}

impl Tls13AeadAlgorithm for Records {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        self.key(&key, &iv)
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        self.key(&key, &iv)
    }

    fn key_len(&self) -> usize {
        self.0.key_bytes
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.0.secrets(key, iv)
    }
}

/// One record at a time.
struct One(RecordKey);

impl MessageEncrypter for One {
    fn encrypt(
        &mut self,
        msg: OutboundPlainMessage<'_>,
        seq: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        let len = self.encrypted_payload_len(msg.payload.len());
        let mut payload = PrefixedPayload::with_capacity(len);
        payload.extend_from_chunks(&msg.payload);
        payload.extend_from_slice(&[msg.typ.into()]);
        let (nonce, data) = (self.0.nonce(seq), make_tls13_aad(len));
        let mut tag = [0; 16];
        let tag = &mut tag[..self.0.tag_bytes()];
        self.0
            .key()
            .seal_in_place(&nonce, &data, payload.as_mut(), tag)
            .map_err(|_| Error::EncryptError)?;
        payload.extend_from_slice(tag);
        Ok(OutboundOpaqueMessage::new(
            ContentType::ApplicationData,
            // What all records of TLS 1.3 say.
            ProtocolVersion::TLSv1_2,
            payload,
        ))
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        payload_len + 1 + self.0.tag_bytes()
    }
}

impl MessageDecrypter for One {
    fn decrypt<'a>(
        &mut self,
        mut msg: InboundOpaqueMessage<'a>,
        seq: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let payload = &mut msg.payload;
        let (nonce, data) = (self.0.nonce(seq), make_tls13_aad(payload.len()));
        let len = payload
            .len()
            .checked_sub(self.0.tag_bytes())
            .ok_or(Error::DecryptError)?;
        let (text, tag) = payload.split_at_mut(len);
        self.0
            .key()
            .open_in_place(&nonce, &data, text, tag)
            .map_err(|_| Error::DecryptError)?;
        payload.truncate(len);
        msg.into_tls13_unpadded_message()
    }
}
