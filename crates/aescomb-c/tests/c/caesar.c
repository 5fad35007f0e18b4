/* The CAESAR interface, as a harness uses it: compiled for each mode, it links
 * crypto_aead_encrypt and crypto_aead_decrypt. Its results are those of aescomb.h. */
#define AESCOMB_CAESAR_DEFINE
#include <aescomb_caesar.h>

#include "check.h"

#ifndef MODE
#error "MODE is the mode's name for aescomb.h, AESCOMB_CAESAR_MODE the one for here"
#endif

int main(void) {
    aescomb_error error;
    aescomb_info info;
    aescomb_key *key;
    uint8_t k[CRYPTO_KEYBYTES], npub[CRYPTO_NPUBBYTES];
    memset(k, 0x42, sizeof k);
    memset(npub, 7, sizeof npub);
    GOOD(aescomb_mode_info(MODE, &info, &error));
    GOOD(aescomb_key_new(MODE, k, sizeof k, &key, &error));
    CHECK(sizeof npub == info.nonce_len_usual);
    CHECK(CRYPTO_NSECBYTES == 0);
    aescomb_comb *comb = new_comb();
    size_t tag_len = info.tag_lens[info.tag_len_count - 1];
    for (size_t len = 0; len < 200; len += 1 + len / 7) {
        for (size_t data_len = 0; data_len < 40; data_len += 13) {
            uint8_t *m = take(len), *ad = take(data_len), *c = take(len + CRYPTO_ABYTES);
            size_t sealed_len;
            GOOD(aescomb_mode_encrypted_len(MODE, len, &sealed_len, &error));
            uint8_t *expected = take(sealed_len + tag_len);
            aescomb_message message = {0};
            message.src = m;
            message.src_len = len;
            message.dst = expected;
            message.dst_len = sealed_len + tag_len;
            message.nonce = npub;
            message.nonce_len = sizeof npub;
            message.data = ad;
            message.data_len = data_len;
            message.tag_len = tag_len;
            message.tag_attached = 1;
            GOOD(aescomb_seal(comb, key, &message, 1, &error));

            unsigned long long clen = 0, mlen = 0;
            CHECK(crypto_aead_encrypt(c, &clen, m, len, ad, data_len, NULL, npub, k) == 0);
            CHECK(clen == message.written && clen <= len + CRYPTO_ABYTES);
            CHECK(same(c, expected, clen));
            uint8_t *opened = take(len);
            CHECK(crypto_aead_decrypt(opened, &mlen, NULL, c, clen, ad, data_len, npub, k) == 0);
            CHECK(mlen == len && same(opened, m, len));

            c[clen / 2] ^= 4;
            CHECK(crypto_aead_decrypt(opened, &mlen, NULL, c, clen, ad, data_len, npub, k) == -1);
            CHECK(crypto_aead_decrypt(opened, &mlen, NULL, c, 3, ad, data_len, npub, k) == -1);
            CHECK(crypto_aead_decrypt(opened, &mlen, NULL, NULL, clen, ad, data_len, npub, k) ==
                  -1);
            CHECK(crypto_aead_encrypt(NULL, &clen, m, len, ad, data_len, NULL, npub, k) == -1);
            free(m);
            free(ad);
            free(c);
            free(expected);
            free(opened);
        }
    }
    aescomb_comb_free(comb);
    aescomb_key_free(key);
    return 0;
}
