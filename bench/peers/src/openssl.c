// Batches through OpenSSL's EVP, message by message, with one context that keeps the key.
#include "peers.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum kind { CIPHER, AEAD, MAC };

static const struct algorithm {
    const char *mode;
    const char *name;
    enum kind kind;
} algorithms[] = {
    {"ecb", "AES-128-ECB", CIPHER},    {"cbc", "AES-128-CBC", CIPHER},
    {"cfb128", "AES-128-CFB", CIPHER}, {"ofb", "AES-128-OFB", CIPHER},
    {"ctr", "AES-128-CTR", CIPHER},    {"xts", "AES-128-XTS", CIPHER},
    {"ccm", "AES-128-CCM", AEAD},      {"gcm", "AES-128-GCM", AEAD},
    {"ocb", "AES-128-OCB", AEAD},      {"siv", "AES-128-SIV", AEAD},
    {"cmac", "AES-128-CBC", MAC},      {"gmac", "AES-128-GCM", MAC},
};

struct peer {
    const struct task *task;
    enum kind kind;
    int is_ccm;
    int is_siv;
    EVP_CIPHER_CTX *cipher;
    EVP_MAC_CTX *mac;
};

const char *ossl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

void ossl_free(struct peer *p)
{
    EVP_CIPHER_CTX_free(p->cipher);
    EVP_MAC_CTX_free(p->mac);
    free(p);
}

static int start_mac(struct peer *p, const char *cipher)
{
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, (char *)cipher, 0),
        OSSL_PARAM_construct_end(),
    };
    const char *name = strcmp(p->task->mode, "cmac") == 0 ? "CMAC" : "GMAC";
    EVP_MAC *mac = EVP_MAC_fetch(NULL, name, NULL);
    p->mac = EVP_MAC_CTX_new(mac);
    EVP_MAC_free(mac);
    return p->mac != NULL && EVP_MAC_init(p->mac, p->task->key, p->task->key_len, parameters);
}

static int start_cipher(struct peer *p, const char *name)
{
    const struct task *t = p->task;
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, NULL);
    p->cipher = EVP_CIPHER_CTX_new();
    int ok = cipher != NULL && p->cipher != NULL &&
             EVP_CipherInit_ex(p->cipher, cipher, NULL, NULL, NULL, !t->backward);
    EVP_CIPHER_free(cipher);
    if (p->kind == AEAD && !p->is_siv)
        ok = ok && EVP_CIPHER_CTX_ctrl(p->cipher, EVP_CTRL_AEAD_SET_IVLEN, (int)t->nonce_len, NULL);
    if (p->is_ccm || strcmp(t->mode, "ocb") == 0)
        ok = ok && EVP_CIPHER_CTX_ctrl(p->cipher, EVP_CTRL_AEAD_SET_TAG, TAG, NULL);
    ok = ok && EVP_CipherInit_ex(p->cipher, NULL, NULL, t->key, NULL, -1);
    return ok && EVP_CIPHER_CTX_set_padding(p->cipher, 0);
}

struct peer *ossl_new(const struct task *task)
{
    struct peer *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->task = task;
    p->is_ccm = strcmp(task->mode, "ccm") == 0;
    p->is_siv = strcmp(task->mode, "siv") == 0;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        const struct algorithm *a = &algorithms[i];
        if (strcmp(a->mode, task->mode) != 0)
            continue;
        p->kind = a->kind;
        if (a->kind == MAC ? start_mac(p, a->name) : start_cipher(p, a->name))
            return p;
    }
    ossl_free(p);
    return NULL;
}

int ossl_ciphers(struct peer *p, const struct message *messages, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        int len;
        // ECB has no nonce, and nothing to begin.
        int ok = p->task->nonce_len == 0 ||
                 EVP_CipherInit_ex(p->cipher, NULL, NULL, NULL, m->nonce, -1);
        if (!ok || !EVP_CipherUpdate(p->cipher, m->to, &len, m->from, (int)m->len))
            return FAILED;
    }
    return 0;
}

int ossl_macs(struct peer *p, const struct message *messages, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        size_t nonce_len = p->task->nonce_len, len;
        OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, (void *)m->nonce, nonce_len),
            OSSL_PARAM_construct_end(),
        };
        if (!EVP_MAC_init(p->mac, NULL, 0, nonce_len > 0 ? parameters : NULL) ||
            !EVP_MAC_update(p->mac, m->from, m->len) || !EVP_MAC_final(p->mac, m->tag, &len, TAG))
            return FAILED;
    }
    return 0;
}

int ossl_aeads(struct peer *p, const struct message *messages, size_t n)
{
    const struct task *t = p->task;
    int refused = 0;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        int len, ok;
        // A context of SIV is for one message: the key has to be set anew. Its nonce is
        // the last component of the associated data.
        if (p->is_siv)
            ok = EVP_CipherInit_ex(p->cipher, NULL, NULL, t->key, NULL, -1);
        else
            ok = EVP_CipherInit_ex(p->cipher, NULL, NULL, NULL, m->nonce, -1);
        if (t->backward)
            ok = ok && EVP_CIPHER_CTX_ctrl(p->cipher, EVP_CTRL_AEAD_SET_TAG, TAG, m->tag);
        if (p->is_ccm)
            ok = ok && EVP_CipherUpdate(p->cipher, NULL, &len, NULL, (int)m->len);
        if (t->data_len > 0)
            ok = ok && EVP_CipherUpdate(p->cipher, NULL, &len, t->data, (int)t->data_len);
        if (p->is_siv)
            ok = ok && EVP_CipherUpdate(p->cipher, NULL, &len, m->nonce, (int)t->nonce_len);
        if (!ok)
            return FAILED;
        // Only the tag can be wrong from here on.
        ok = EVP_CipherUpdate(p->cipher, m->to, &len, m->from, (int)m->len) > 0;
        if (ok && !(p->is_ccm && t->backward))
            ok = EVP_CipherFinal_ex(p->cipher, m->to + len, &len) > 0;
        if (!t->backward &&
            (!ok || !EVP_CIPHER_CTX_ctrl(p->cipher, EVP_CTRL_AEAD_GET_TAG, TAG, m->tag)))
            return FAILED;
        refused += !ok;
    }
    return refused;
}
