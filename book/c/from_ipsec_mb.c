/* The example of the chapter "From ipsec-mb": both ways must give the same. */
#include <aescomb.h>
#include <intel-ipsec-mb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100, MAX = 300, HEADER = 8, TAG = 8 };

struct record {
    uint8_t bytes[MAX];
    size_t len;
    uint8_t nonce[13], header[HEADER], tag[TAG];
    int done;
};

static void fail(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void before(struct record *records, size_t count, const uint8_t raw[16]) {
    // ANCHOR: before
    IMB_MGR *mgr = alloc_mb_mgr(0);
    if (mgr == NULL) fail("no memory");
    init_mb_mgr_auto(mgr, NULL);
    DECLARE_ALIGNED(uint32_t enc[4 * 15], 16);
    DECLARE_ALIGNED(uint32_t dec[4 * 15], 16);
    IMB_AES_KEYEXP_128(mgr, raw, enc, dec);

    IMB_JOB *job;
    for (size_t i = 0; i < count; i++) {
        struct record *r = &records[i];
        job = IMB_GET_NEXT_JOB(mgr);
        job->cipher_mode = IMB_CIPHER_CCM;
        job->hash_alg = IMB_AUTH_AES_CCM;
        job->cipher_direction = IMB_DIR_ENCRYPT;
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->enc_keys = enc;
        job->dec_keys = dec;
        job->key_len_in_bytes = 16;
        job->src = job->dst = r->bytes;
        job->cipher_start_src_offset_in_bytes = 0;
        job->hash_start_src_offset_in_bytes = 0;
        job->msg_len_to_cipher_in_bytes = r->len;
        job->msg_len_to_hash_in_bytes = r->len;
        job->iv = r->nonce;
        job->iv_len_in_bytes = sizeof r->nonce;
        job->u.CCM.aad = r->header;
        job->u.CCM.aad_len_in_bytes = HEADER;
        job->auth_tag_output = r->tag;
        job->auth_tag_output_len_in_bytes = TAG;
        job->user_data = r;
        /* Which job comes back, and when, the library decides. */
        for (job = IMB_SUBMIT_JOB(mgr); job != NULL; job = IMB_GET_COMPLETED_JOB(mgr))
            ((struct record *)job->user_data)->done = job->status == IMB_STATUS_COMPLETED;
    }
    while ((job = IMB_FLUSH_JOB(mgr)) != NULL)
        ((struct record *)job->user_data)->done = job->status == IMB_STATUS_COMPLETED;
    free_mb_mgr(mgr);
    // ANCHOR_END: before
}

static void after(struct record *records, size_t count, const uint8_t raw[16]) {
    // ANCHOR: after
    aescomb_error error;
    aescomb_comb *comb;
    aescomb_key *key;
    if (aescomb_comb_new(NULL, &comb, &error) != AESCOMB_OK ||
        aescomb_key_new("ccm", raw, 16, &key, &error) != AESCOMB_OK)
        fail(error.text);

    aescomb_message *batch = calloc(count, sizeof *batch);
    if (batch == NULL) fail("no memory");
    for (size_t i = 0; i < count; i++) {
        struct record *r = &records[i];
        batch[i].src = batch[i].dst = r->bytes;
        batch[i].src_len = batch[i].dst_len = r->len;
        batch[i].nonce = r->nonce;
        batch[i].nonce_len = sizeof r->nonce;
        batch[i].data = r->header;
        batch[i].data_len = HEADER;
        batch[i].tag = r->tag;
        batch[i].tag_len = TAG;
    }
    /* When this returns, all are done. */
    if (aescomb_seal(comb, key, batch, count, &error) != AESCOMB_OK) fail(error.text);
    // ANCHOR_END: after
    for (size_t i = 0; i < count; i++) records[i].done = batch[i].status == AESCOMB_DONE;
    free(batch);
    aescomb_key_free(key);
    aescomb_comb_free(comb);
}

static struct record one[COUNT], other[COUNT];

int main(void) {
    static const uint8_t raw[16] = "an example's key";
    for (size_t i = 0; i < COUNT; i++) {
        one[i].len = i * 3;
        memset(one[i].bytes, (int)i, one[i].len);
        one[i].nonce[0] = (uint8_t)i;
        memset(one[i].header, (int)(i + 1), HEADER);
    }
    memcpy(other, one, sizeof one);
    before(one, COUNT, raw);
    after(other, COUNT, raw);
    for (size_t i = 0; i < COUNT; i++) {
        if (!one[i].done || !other[i].done) fail("not done");
        if (memcmp(one[i].bytes, other[i].bytes, MAX) != 0) fail("other ciphertexts");
        if (memcmp(one[i].tag, other[i].tag, TAG) != 0) fail("other tags");
    }
    return 0;
}
