//! Records of TLS 1.2 with an AEAD (RFC 5246, section 6.2.3.3; RFC 5288; RFC 6655), one at a
//! time, for rustls.

use crate::Aead;
use crate::record::{EXPLICIT_NONCE, MAX_DATA, RecordKey};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, KeyBlockShape, MessageDecrypter,
    MessageEncrypter, OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload,
    Tls12AeadAlgorithm, UnsupportedOperationError, make_tls12_aad,
};
use rustls::{ConnectionTrafficSecrets, Error, ProtocolVersion};

/// The records of a suite.
pub(crate) struct Records(pub(crate) Aead);

impl Records {
    fn key(&self, key: &AeadKey, iv: [u8; 12]) -> Box<One> {
        let version = ProtocolVersion::TLSv1_2;
        let key = RecordKey::new(self.0, version, key.as_ref(), iv)
            .expect("rustls gives keys of the length that `key_block_shape` says");
        Box::new(One(key))
    }
}

/// The part of the nonce that both sides derive, and where the other part begins, which
/// records carry.
fn nonce(fixed: &[u8], explicit: &[u8]) -> [u8; 12] {
    let mut iv = [0; 12];
    iv[..4].copy_from_slice(fixed);
    iv[4..].copy_from_slice(explicit);
    iv
}

impl Tls12AeadAlgorithm for Records {
    fn encrypter(&self, key: AeadKey, iv: &[u8], extra: &[u8]) -> Box<dyn MessageEncrypter> {
        self.key(&key, nonce(iv, extra))
    }

    fn decrypter(&self, key: AeadKey, iv: &[u8]) -> Box<dyn MessageDecrypter> {
        self.key(&key, nonce(iv, &[0; EXPLICIT_NONCE]))
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape {
            enc_key_len: self.0.key_bytes,
            fixed_iv_len: 4,
            explicit_nonce_len: EXPLICIT_NONCE,
        }
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: &[u8],
        explicit: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.0.secrets(key, Iv::new(nonce(iv, explicit)))
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
        let nonce = self.0.nonce(seq);
        let data = make_tls12_aad(seq, msg.typ, msg.version, msg.payload.len());
        payload.extend_from_slice(&nonce[4..]);
        payload.extend_from_chunks(&msg.payload);
        let mut tag = [0; 16];
        let tag = &mut tag[..self.0.tag_bytes()];
        let text = &mut payload.as_mut()[EXPLICIT_NONCE..];
        self.0
            .key()
            .seal_in_place(&nonce, &data, text, tag)
            .map_err(|_| Error::EncryptError)?;
        payload.extend_from_slice(tag);
        Ok(OutboundOpaqueMessage::new(msg.typ, msg.version, payload))
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        EXPLICIT_NONCE + payload_len + self.0.tag_bytes()
    }
}

impl MessageDecrypter for One {
    fn decrypt<'a>(
        &mut self,
        mut msg: InboundOpaqueMessage<'a>,
        seq: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let (typ, version) = (msg.typ, msg.version);
        let payload = &mut msg.payload;
        let len = payload
            .len()
            .checked_sub(EXPLICIT_NONCE + self.0.tag_bytes())
            .ok_or(Error::DecryptError)?;
        let (explicit, rest) = payload
            .split_first_chunk_mut()
            .ok_or(Error::DecryptError)?;
        let (text, tag) = rest.split_at_mut(len);
        let nonce = self.0.explicit(*explicit);
        let data = make_tls12_aad(seq, typ, version, len);
        self.0
            .key()
            .open_in_place(&nonce, &data, text, tag)
            .map_err(|_| Error::DecryptError)?;
        if len > MAX_DATA {
            return Err(Error::PeerSentOversizedRecord);
        }
        Ok(msg.into_plain_message_range(EXPLICIT_NONCE..EXPLICIT_NONCE + len))
    }
}
