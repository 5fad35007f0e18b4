// Batches through ipsec-mb: its jobs one by one, its bursts of jobs, its synchronous
// bursts of ciphers, and for GCM its calls for one message. Opening, it computes tags;
// comparing them is left to the caller, here to `compare`.
#include "peers.h"

// Without the short names of older versions.
#define NO_COMPAT_IMB_API_053
#include <intel-ipsec-mb.h>
#include <stdlib.h>
#include <string.h>

// Version 1.3 has these.
enum mode { ECB, CBC, CTR, CMAC, GMAC, CCM, GCM, MODES };
static const char *const names[MODES] = {"ecb", "cbc", "ctr", "cmac", "gmac", "ccm", "gcm"};

struct peer {
    IMB_MGR *mgr;
    const struct task *task;
    enum mode mode;
    // Computed tags of messages that are opened.
    uint8_t (*tags)[TAG];
    DECLARE_ALIGNED(uint32_t enc[4 * 15], 16);
    DECLARE_ALIGNED(uint32_t dec[4 * 15], 16);
    DECLARE_ALIGNED(uint8_t sub[2][16], 16);
    struct gcm_key_data gcm;
};

const char *imb_version(void)
{
    return imb_get_version_str();
}

void imb_free(struct peer *p)
{
    if (p->mgr != NULL)
        free_mb_mgr(p->mgr);
    free(p->tags);
    free(p);
}

struct peer *imb_new(const struct task *task)
{
    struct peer *p = aligned_alloc(64, (sizeof *p + 63) / 64 * 64);
    if (p == NULL)
        return NULL;
    memset(p, 0, sizeof *p);
    p->task = task;
    while (p->mode < MODES && strcmp(names[p->mode], task->mode) != 0)
        p->mode++;
    p->mgr = alloc_mb_mgr(0);
    p->tags = calloc(task->messages, TAG);
    if (p->mode == MODES || p->mgr == NULL || p->tags == NULL) {
        imb_free(p);
        return NULL;
    }
    init_mb_mgr_auto(p->mgr, NULL);
    IMB_AES_KEYEXP_128(p->mgr, task->key, p->enc, p->dec);
    IMB_AES_CMAC_SUBKEY_GEN_128(p->mgr, p->enc, p->sub[0], p->sub[1]);
    IMB_AES128_GCM_PRE(p->mgr, task->key, &p->gcm);
    return p;
}

static void fill(struct peer *p, IMB_JOB *job, const struct message *m, size_t i)
{
    const struct task *t = p->task;
    job->cipher_direction = t->backward ? IMB_DIR_DECRYPT : IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_CIPHER_HASH;
    job->hash_alg = IMB_AUTH_NULL;
    job->enc_keys = p->enc;
    job->dec_keys = p->dec;
    job->key_len_in_bytes = 16;
    job->src = m->from;
    job->dst = m->to;
    job->cipher_start_src_offset_in_bytes = 0;
    job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_cipher_in_bytes = m->len;
    job->msg_len_to_hash_in_bytes = m->len;
    job->iv = m->nonce;
    job->iv_len_in_bytes = t->nonce_len;
    job->auth_tag_output = t->backward ? p->tags[i] : m->tag;
    job->auth_tag_output_len_in_bytes = TAG;
    switch (p->mode) {
    case ECB:
        job->cipher_mode = IMB_CIPHER_ECB;
        break;
    case CBC:
        job->cipher_mode = IMB_CIPHER_CBC;
        break;
    case CTR:
        job->cipher_mode = IMB_CIPHER_CNTR;
        break;
    case CMAC:
        job->cipher_mode = IMB_CIPHER_NULL;
        job->hash_alg = IMB_AUTH_AES_CMAC;
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->u.CMAC._key_expanded = p->enc;
        job->u.CMAC._skey1 = p->sub[0];
        job->u.CMAC._skey2 = p->sub[1];
        break;
    case GMAC:
        job->cipher_mode = IMB_CIPHER_NULL;
        job->hash_alg = IMB_AUTH_AES_GMAC_128;
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->u.GMAC._key = &p->gcm;
        job->u.GMAC._iv = m->nonce;
        job->u.GMAC.iv_len_in_bytes = t->nonce_len;
        break;
    case CCM:
        job->cipher_mode = IMB_CIPHER_CCM;
        job->hash_alg = IMB_AUTH_AES_CCM;
        job->chain_order = t->backward ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
        job->u.CCM.aad = t->data;
        job->u.CCM.aad_len_in_bytes = t->data_len;
        break;
    case GCM:
        job->cipher_mode = IMB_CIPHER_GCM;
        job->hash_alg = IMB_AUTH_AES_GMAC;
        job->chain_order = t->backward ? IMB_ORDER_HASH_CIPHER : IMB_ORDER_CIPHER_HASH;
        job->enc_keys = &p->gcm;
        job->dec_keys = &p->gcm;
        job->u.GCM.aad = t->data;
        job->u.GCM.aad_len_in_bytes = t->data_len;
        break;
    case MODES:
        break;
    }
}

// How many messages have other tags than those computed.
static int compare(const struct peer *p, const struct message *messages, size_t n)
{
    int refused = 0;
    if (p->mode != CCM && p->mode != GCM)
        return 0;
    for (size_t i = 0; p->task->backward && i < n; i++) {
        uint64_t given[2], computed[2];
        memcpy(given, messages[i].tag, TAG);
        memcpy(computed, p->tags[i], TAG);
        refused += ((given[0] ^ computed[0]) | (given[1] ^ computed[1])) != 0;
    }
    return refused;
}

static int completed(const IMB_JOB *job)
{
    return job->status == IMB_STATUS_COMPLETED;
}

int imb_jobs(struct peer *p, const struct message *messages, size_t n)
{
    int good = 1;
    IMB_JOB *job;
    for (size_t i = 0; i < n; i++) {
        job = IMB_GET_NEXT_JOB(p->mgr);
        fill(p, job, &messages[i], i);
        job = IMB_SUBMIT_JOB_NOCHECK(p->mgr);
        while (job != NULL) {
            good &= completed(job);
            job = IMB_GET_COMPLETED_JOB(p->mgr);
        }
    }
    while ((job = IMB_FLUSH_JOB(p->mgr)) != NULL)
        good &= completed(job);
    return good ? compare(p, messages, n) : FAILED;
}

// The larger, the faster: bursts of 32 took up to 20 % longer.
int imb_bursts(struct peer *p, const struct message *messages, size_t n)
{
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    int good = 1;
    uint32_t done;
    for (size_t i = 0; i < n;) {
        uint32_t want = n - i < IMB_MAX_BURST_SIZE ? (uint32_t)(n - i) : IMB_MAX_BURST_SIZE;
        uint32_t got = IMB_GET_NEXT_BURST(p->mgr, want, jobs);
        if (got == 0) {
            done = IMB_FLUSH_BURST(p->mgr, IMB_MAX_BURST_SIZE, jobs);
        } else {
            for (uint32_t j = 0; j < got; j++)
                fill(p, jobs[j], &messages[i + j], i + j);
            i += got;
            done = IMB_SUBMIT_BURST_NOCHECK(p->mgr, got, jobs);
        }
        for (uint32_t j = 0; j < done; j++)
            good &= completed(jobs[j]);
    }
    while ((done = IMB_FLUSH_BURST(p->mgr, IMB_MAX_BURST_SIZE, jobs)) > 0)
        for (uint32_t j = 0; j < done; j++)
            good &= completed(jobs[j]);
    return good ? compare(p, messages, n) : FAILED;
}

// CBC and CTR only.
int imb_cipher_bursts(struct peer *p, const struct message *messages, size_t n)
{
    IMB_JOB jobs[IMB_MAX_BURST_SIZE];
    for (size_t i = 0; i < n;) {
        uint32_t some = n - i < IMB_MAX_BURST_SIZE ? (uint32_t)(n - i) : IMB_MAX_BURST_SIZE;
        for (uint32_t j = 0; j < some; j++)
            fill(p, &jobs[j], &messages[i + j], i + j);
        uint32_t done = IMB_SUBMIT_CIPHER_BURST_NOCHECK(p->mgr, jobs, some, jobs[0].cipher_mode,
                                                        jobs[0].cipher_direction, 16);
        if (done != some)
            return FAILED;
        i += some;
    }
    return 0;
}

int imb_gcm(struct peer *p, const struct message *messages, size_t n)
{
    const struct task *t = p->task;
    struct gcm_context_data context;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        if (t->backward)
            IMB_AES128_GCM_DEC(p->mgr, &p->gcm, &context, m->to, m->from, m->len, m->nonce, t->data,
                               t->data_len, p->tags[i], TAG);
        else
            IMB_AES128_GCM_ENC(p->mgr, &p->gcm, &context, m->to, m->from, m->len, m->nonce, t->data,
                               t->data_len, m->tag, TAG);
    }
    return compare(p, messages, n);
}

int imb_gmac(struct peer *p, const struct message *messages, size_t n)
{
    struct gcm_context_data context;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &messages[i];
        IMB_AES128_GMAC_INIT(p->mgr, &p->gcm, &context, m->nonce, p->task->nonce_len);
        IMB_AES128_GMAC_UPDATE(p->mgr, &p->gcm, &context, m->from, m->len);
        IMB_AES128_GMAC_FINALIZE(p->mgr, &p->gcm, &context, m->tag, TAG);
    }
    return 0;
}
