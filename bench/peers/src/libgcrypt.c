// Batches through libgcrypt, message by message, with one handle that keeps the key.
#include "peers.h"

#include <gcrypt.h>
#include <stdlib.h>
#include <string.h>

static const struct algorithm {
    const char *mode;
    // One of the two.
    int cipher;
    int mac;
} algorithms[] = {
    {"ecb", GCRY_CIPHER_MODE_ECB, 0},    {"cbc", GCRY_CIPHER_MODE_CBC, 0},
    {"cfb128", GCRY_CIPHER_MODE_CFB, 0}, {"ofb", GCRY_CIPHER_MODE_OFB, 0},
    {"ctr", GCRY_CIPHER_MODE_CTR, 0},    {"xts", GCRY_CIPHER_MODE_XTS, 0},
    {"ccm", GCRY_CIPHER_MODE_CCM, 0},    {"gcm", GCRY_CIPHER_MODE_GCM, 0},
    {"ocb", GCRY_CIPHER_MODE_OCB, 0},    {"siv", GCRY_CIPHER_MODE_SIV, 0},
    {"cmac", 0, GCRY_MAC_CMAC_AES},      {"gcm-siv", GCRY_CIPHER_MODE_GCM_SIV, 0},
    {"gmac", 0, GCRY_MAC_GMAC_AES},
};

struct peer {
    const struct task *task;
    int mode;
    gcry_cipher_hd_t cipher;
    gcry_mac_hd_t mac;
};

const char *libgcrypt_version(void)
{
    return gcry_check_version(NULL);
}

void libgcrypt_free(struct peer *p)
{
    gcry_cipher_close(p->cipher);
    gcry_mac_close(p->mac);
    free(p);
}

struct peer *libgcrypt_new(const struct task *task)
{
    struct peer *p = calloc(1, sizeof *p);
    if (p == NULL || gcry_check_version(NULL) == NULL) {
        free(p);
        return NULL;
    }
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    p->task = task;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        const struct algorithm *a = &algorithms[i];
        if (strcmp(a->mode, task->mode) != 0)
            continue;
        p->mode = a->cipher;
        int failed = a->mac != 0 ? gcry_mac_open(&p->mac, a->mac, 0, NULL) ||
                                       gcry_mac_setkey(p->mac, task->key, task->key_len)
                                 : gcry_cipher_open(&p->cipher, GCRY_CIPHER_AES128, a->cipher, 0) ||
                                       gcry_cipher_setkey(p->cipher, task->key, task->key_len);
        if (!failed)
            return p;
    }
    libgcrypt_free(p);
    return NULL;
}

// As in the other calls, 0 is good.
static gcry_error_t text(struct peer *p, const struct message *m)
{
    // In place it wants no source.
    int in_place = m->from == m->to;
    const uint8_t *from = in_place ? NULL : m->from;
    size_t from_len = in_place ? 0 : m->len;
    return p->task->backward ? gcry_cipher_decrypt(p->cipher, m->to, m->len, from, from_len)
                             : gcry_cipher_encrypt(p->cipher, m->to, m->len, from, from_len);
}

int libgcrypt_ciphers(struct peer *p, const struct message *messages, size_t n)
{
    size_t nonce_len = p->task->nonce_len;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        gcry_error_t wrong = 0;
        if (p->mode == GCRY_CIPHER_MODE_CTR)
            wrong = gcry_cipher_setctr(p->cipher, m->nonce, nonce_len);
        else if (nonce_len > 0)
            wrong = gcry_cipher_setiv(p->cipher, m->nonce, nonce_len);
        if (wrong || text(p, m))
            return FAILED;
    }
    return 0;
}

int libgcrypt_macs(struct peer *p, const struct message *messages, size_t n)
{
    size_t nonce_len = p->task->nonce_len;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        size_t len = TAG;
        if (gcry_mac_reset(p->mac) ||
            (nonce_len > 0 && gcry_mac_setiv(p->mac, m->nonce, nonce_len)) ||
            gcry_mac_write(p->mac, m->from, m->len) || gcry_mac_read(p->mac, m->tag, &len))
            return FAILED;
    }
    return 0;
}

int libgcrypt_aeads(struct peer *p, const struct message *messages, size_t n)
{
    const struct task *t = p->task;
    int siv = p->mode == GCRY_CIPHER_MODE_SIV, gcm_siv = p->mode == GCRY_CIPHER_MODE_GCM_SIV;
    int refused = 0;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        gcry_error_t wrong = siv || gcm_siv ? gcry_cipher_reset(p->cipher) : 0;
        if (!siv)
            wrong = wrong || gcry_cipher_setiv(p->cipher, m->nonce, t->nonce_len);
        if (p->mode == GCRY_CIPHER_MODE_CCM) {
            uint64_t lengths[3] = {m->len, t->data_len, TAG};
            wrong = wrong || gcry_cipher_ctl(p->cipher, GCRYCTL_SET_CCM_LENGTHS, lengths,
                                             sizeof lengths);
        }
        if (t->data_len > 0)
            wrong = wrong || gcry_cipher_authenticate(p->cipher, t->data, t->data_len);
        // In SIV the nonce is the last component of the associated data.
        if (siv)
            wrong = wrong || gcry_cipher_setiv(p->cipher, m->nonce, t->nonce_len);
        if (t->backward && (siv || gcm_siv))
            wrong = wrong || gcry_cipher_set_decryption_tag(p->cipher, m->tag, TAG);
        if (p->mode == GCRY_CIPHER_MODE_OCB)
            wrong = wrong || gcry_cipher_final(p->cipher);
        if (wrong)
            return FAILED;
        wrong = text(p, m);
        if (!wrong && !t->backward)
            wrong = gcry_cipher_gettag(p->cipher, m->tag, TAG);
        if (!wrong && t->backward && !siv && !gcm_siv)
            wrong = gcry_cipher_checktag(p->cipher, m->tag, TAG);
        if (gcry_err_code(wrong) == GPG_ERR_CHECKSUM)
            refused++;
        else if (wrong)
            return FAILED;
    }
    return refused;
}
