// Batches through ipsec-mb: its jobs one by one, its bursts of jobs, and for GCM its
// calls for one message.
#include "peers.h"

#include <intel-ipsec-mb.h>
#include <stdlib.h>
#include <string.h>



struct peer {
    IMB_MGR *mgr;
    enum mode mode;
    const uint8_t *data;
    size_t data_len;
    DECLARE_ALIGNED(uint32_t enc[4 * 15], 16);
    DECLARE_ALIGNED(uint32_t dec[4 * 15], 16);
    DECLARE_ALIGNED(uint8_t sub[2][16], 16);
    struct gcm_key_data gcm;
};

struct peer *imb_peer_new(int mode, const uint8_t key[16], const uint8_t *data, size_t data_len)
{
    struct peer *p = aligned_alloc(64, (sizeof *p + 63) / 64 * 64);
    if (p == NULL)
        return NULL;
    memset(p, 0, sizeof *p);
    p->mgr = alloc_mb_mgr(0);
    if (p->mgr == NULL) {
        free(p);
        return NULL;
    }
    init_mb_mgr_auto(p->mgr, NULL);
    p->mode = mode;
    p->data = data;
    p->data_len = data_len;
    IMB_AES_KEYEXP_128(p->mgr, key, p->enc, p->dec);
    IMB_AES_CMAC_SUBKEY_GEN_128(p->mgr, p->enc, p->sub[0], p->sub[1]);
    IMB_AES128_GCM_PRE(p->mgr, key, &p->gcm);
    return p;
}

void imb_peer_free(struct peer *p)
{
    free_mb_mgr(p->mgr);
    free(p);
}

static void fill(const struct peer *p, IMB_JOB *job, const struct message *m)
{
    job->cipher_direction = p->mode == DO_CBC_DECRYPT ? IMB_DIR_DECRYPT : IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_CIPHER_HASH;
    job->hash_alg = IMB_AUTH_NULL;
    job->enc_keys = p->enc;
    job->dec_keys = p->dec;
    job->key_len_in_bytes = 16;
    job->src = m->text;
    job->dst = m->text;
    job->cipher_start_src_offset_in_bytes = 0;
    job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_cipher_in_bytes = m->len;
    job->msg_len_to_hash_in_bytes = m->len;
    job->iv = m->nonce;
    job->iv_len_in_bytes = 16;
    job->auth_tag_output = m->tag;
    job->auth_tag_output_len_in_bytes = 16;
    switch (p->mode) {
    case DO_CBC:
    case DO_CBC_DECRYPT:
        job->cipher_mode = IMB_CIPHER_CBC;
        break;
    case DO_CTR:
        job->cipher_mode = IMB_CIPHER_CNTR;
        break;
    case DO_CMAC:
        job->cipher_mode = IMB_CIPHER_NULL;
        job->hash_alg = IMB_AUTH_AES_CMAC;
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->u.CMAC._key_expanded = p->enc;
        job->u.CMAC._skey1 = p->sub[0];
        job->u.CMAC._skey2 = p->sub[1];
        break;
    case DO_CCM:
        job->cipher_mode = IMB_CIPHER_CCM;
        job->hash_alg = IMB_AUTH_AES_CCM;
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->iv_len_in_bytes = 12;
        job->u.CCM.aad = p->data;
        job->u.CCM.aad_len_in_bytes = p->data_len;
        break;
    case DO_GCM:
        job->cipher_mode = IMB_CIPHER_GCM;
        job->hash_alg = IMB_AUTH_AES_GMAC;
        job->enc_keys = &p->gcm;
        job->dec_keys = &p->gcm;
        job->iv_len_in_bytes = 12;
        job->u.GCM.aad = p->data;
        job->u.GCM.aad_len_in_bytes = p->data_len;
        break;
    case DO_CFB:
    case DO_OCB:
        // Not in version 1.3.
        break;
    }
}

// Each returns how many messages failed.

int imb_peer_jobs(struct peer *p, const struct message *messages, size_t n)
{
    int failed = 0;
    IMB_JOB *job;
    for (size_t i = 0; i < n; i++) {
        job = IMB_GET_NEXT_JOB(p->mgr);
        fill(p, job, &messages[i]);
        job = IMB_SUBMIT_JOB_NOCHECK(p->mgr);
        while (job != NULL) {
            failed += job->status != IMB_STATUS_COMPLETED;
            job = IMB_GET_COMPLETED_JOB(p->mgr);
        }
    }
    while ((job = IMB_FLUSH_JOB(p->mgr)) != NULL)
        failed += job->status != IMB_STATUS_COMPLETED;
    return failed;
}

int imb_peer_burst(struct peer *p, const struct message *messages, size_t n)
{
    enum { BURST = 32 };
    IMB_JOB *jobs[BURST];
    int failed = 0;
    for (size_t i = 0; i < n;) {
        uint32_t want = n - i < BURST ? (uint32_t)(n - i) : BURST;
        uint32_t got = IMB_GET_NEXT_BURST(p->mgr, want, jobs);
        if (got == 0) {
            uint32_t done = IMB_FLUSH_BURST(p->mgr, BURST, jobs);
            for (uint32_t j = 0; j < done; j++)
                failed += jobs[j]->status != IMB_STATUS_COMPLETED;
            continue;
        }
        for (uint32_t j = 0; j < got; j++)
            fill(p, jobs[j], &messages[i + j]);
        i += got;
        uint32_t done = IMB_SUBMIT_BURST_NOCHECK(p->mgr, got, jobs);
        for (uint32_t j = 0; j < done; j++)
            failed += jobs[j]->status != IMB_STATUS_COMPLETED;
    }
    uint32_t done;
    while ((done = IMB_FLUSH_BURST(p->mgr, BURST, jobs)) > 0)
        for (uint32_t j = 0; j < done; j++)
            failed += jobs[j]->status != IMB_STATUS_COMPLETED;
    return failed;
}

int imb_peer_gcm(struct peer *p, const struct message *messages, size_t n)
{
    struct gcm_context_data context;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        IMB_AES128_GCM_ENC(p->mgr, &p->gcm, &context, m->text, m->text, m->len, m->nonce,
                           p->data, p->data_len, m->tag, 16);
    }
    return 0;
}
