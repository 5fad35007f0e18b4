// Batches through OpenSSL's EVP, message by message, with one context that keeps the
// key.
#include "peers.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <stdlib.h>

struct peer {
    enum mode mode;
    EVP_CIPHER_CTX *cipher;
    EVP_MAC_CTX *mac;
    const uint8_t *data;
    size_t data_len;
};

static const EVP_CIPHER *algorithm(enum mode mode)
{
    switch (mode) {
    case DO_CBC:
    case DO_CBC_DECRYPT:
        return EVP_aes_128_cbc();
    case DO_CFB:
        return EVP_aes_128_cfb128();
    case DO_CTR:
        return EVP_aes_128_ctr();
    case DO_CCM:
        return EVP_aes_128_ccm();
    case DO_GCM:
        return EVP_aes_128_gcm();
    case DO_OCB:
        return EVP_aes_128_ocb();
    default:
        return NULL;
    }
}

struct peer *ossl_peer_new(int mode, const uint8_t key[16], const uint8_t *data, size_t data_len)
{
    struct peer *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->mode = mode;
    p->data = data;
    p->data_len = data_len;
    if (mode == DO_CMAC) {
        char name[] = "AES-128-CBC";
        OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, name, 0),
            OSSL_PARAM_construct_end(),
        };
        EVP_MAC *mac = EVP_MAC_fetch(NULL, "CMAC", NULL);
        p->mac = EVP_MAC_CTX_new(mac);
        EVP_MAC_free(mac);
        if (p->mac != NULL && EVP_MAC_init(p->mac, key, 16, parameters) == 1)
            return p;
        return NULL;
    }
    p->cipher = EVP_CIPHER_CTX_new();
    int ok = p->cipher != NULL;
    ok = ok && EVP_CipherInit_ex(p->cipher, algorithm(mode), NULL, NULL, NULL, mode != DO_CBC_DECRYPT);
    if (mode == DO_CCM || mode == DO_GCM || mode == DO_OCB)
        ok = ok && EVP_CIPHER_CTX_ctrl(p->cipher, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL);
    if (mode == DO_CCM || mode == DO_OCB)
        ok = ok && EVP_CIPHER_CTX_ctrl(p->cipher, EVP_CTRL_AEAD_SET_TAG, 16, NULL);
    ok = ok && EVP_CipherInit_ex(p->cipher, NULL, NULL, key, NULL, -1);
    ok = ok && EVP_CIPHER_CTX_set_padding(p->cipher, 0);
    return ok ? p : NULL;
}

void ossl_peer_free(struct peer *p)
{
    EVP_CIPHER_CTX_free(p->cipher);
    EVP_MAC_CTX_free(p->mac);
    free(p);
}

// How many messages failed.
int ossl_peer_run(struct peer *p, const struct message *messages, size_t n)
{
    int failed = 0;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        int ok, len;
        size_t tag_len;
        if (p->mode == DO_CMAC) {
            ok = EVP_MAC_init(p->mac, NULL, 0, NULL) && EVP_MAC_update(p->mac, m->text, m->len) &&
                 EVP_MAC_final(p->mac, m->tag, &tag_len, 16);
            failed += !ok;
            continue;
        }
        ok = EVP_CipherInit_ex(p->cipher, NULL, NULL, NULL, m->nonce, -1);
        if (p->mode == DO_CCM)
            ok = ok && EVP_CipherUpdate(p->cipher, NULL, &len, NULL, (int)m->len);
        if (p->mode >= DO_CCM)
            ok = ok && EVP_CipherUpdate(p->cipher, NULL, &len, p->data, (int)p->data_len);
        ok = ok && EVP_CipherUpdate(p->cipher, m->text, &len, m->text, (int)m->len);
        if (p->mode >= DO_CCM) {
            ok = ok && EVP_CipherFinal_ex(p->cipher, m->text + len, &len);
            ok = ok && EVP_CIPHER_CTX_ctrl(p->cipher, EVP_CTRL_AEAD_GET_TAG, 16, m->tag);
        }
        failed += !ok;
    }
    return failed;
}
