/* The example of the chapter "From OpenSSL EVP": what one seals, both open. */
#include <aescomb.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100, MAX = 300, HEADER = 8, TAG = 16 };

struct packet {
    uint8_t bytes[MAX];
    size_t len;
    uint8_t nonce[12], header[HEADER], tag[TAG];
    int good;
};

static void fail(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void before(struct packet *packets, size_t count, const uint8_t raw[16]) {
    // ANCHOR: before
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (context == NULL ||
        !EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), NULL, raw, NULL))
        fail("no context");
    for (size_t i = 0; i < count; i++) {
        struct packet *p = &packets[i];
        int len, rest;
        p->good = EVP_DecryptInit_ex(context, NULL, NULL, NULL, p->nonce) &&
                  EVP_DecryptUpdate(context, NULL, &len, p->header, HEADER) &&
                  EVP_DecryptUpdate(context, p->bytes, &len, p->bytes, (int)p->len) &&
                  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG, p->tag) &&
                  EVP_DecryptFinal_ex(context, p->bytes + len, &rest) > 0;
        if (!p->good) memset(p->bytes, 0, p->len); /* or what is there will be used */
    }
    EVP_CIPHER_CTX_free(context);
    // ANCHOR_END: before
}

static void after(struct packet *packets, size_t count, const uint8_t raw[16]) {
    // ANCHOR: after
    aescomb_error error;
    aescomb_comb *comb;
    aescomb_key *key;
    if (aescomb_comb_new(NULL, &comb, &error) != AESCOMB_OK ||
        aescomb_key_new("gcm", raw, 16, &key, &error) != AESCOMB_OK)
        fail(error.text);

    aescomb_message *batch = calloc(count, sizeof *batch);
    if (batch == NULL) fail("no memory");
    for (size_t i = 0; i < count; i++) {
        struct packet *p = &packets[i];
        batch[i].src = batch[i].dst = p->bytes;
        batch[i].src_len = batch[i].dst_len = p->len;
        batch[i].nonce = p->nonce;
        batch[i].nonce_len = sizeof p->nonce;
        batch[i].data = p->header;
        batch[i].data_len = HEADER;
        batch[i].tag = p->tag;
        batch[i].tag_len = TAG;
    }
    aescomb_code code = aescomb_open(comb, key, batch, count, &error);
    if (code != AESCOMB_OK && code != AESCOMB_MESSAGES_FAILED) fail(error.text);
    for (size_t i = 0; i < count; i++) packets[i].good = batch[i].status == AESCOMB_DONE;
    // ANCHOR_END: after
    free(batch);
    aescomb_key_free(key);
    aescomb_comb_free(comb);
}

static void seal(struct packet *p, const uint8_t raw[16]) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int len, rest;
    if (context == NULL ||
        !EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, raw, p->nonce) ||
        !EVP_EncryptUpdate(context, NULL, &len, p->header, HEADER) ||
        !EVP_EncryptUpdate(context, p->bytes, &len, p->bytes, (int)p->len) ||
        !EVP_EncryptFinal_ex(context, p->bytes + len, &rest) ||
        !EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, p->tag))
        fail("cannot seal");
    EVP_CIPHER_CTX_free(context);
}

static struct packet one[COUNT], other[COUNT];

int main(void) {
    static const uint8_t raw[16] = "an example's key";
    for (size_t i = 0; i < COUNT; i++) {
        one[i].len = 1 + i * 2;
        memset(one[i].bytes, (int)i, one[i].len);
        one[i].nonce[0] = (uint8_t)i;
        seal(&one[i], raw);
    }
    one[42].tag[0] ^= 1;
    memcpy(other, one, sizeof one);
    before(one, COUNT, raw);
    after(other, COUNT, raw);
    for (size_t i = 0; i < COUNT; i++) {
        if (one[i].good != (i != 42) || one[i].good != other[i].good) fail("other verdicts");
        if (memcmp(one[i].bytes, other[i].bytes, MAX) != 0) fail("other plaintexts");
        if (one[i].bytes[0] != (i == 42 ? 0 : i)) fail("not what was sealed");
    }
    return 0;
}
