/* Threads with schedulers of their own share a key; two threads with one scheduler are told
 * so, and harm nothing. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

enum { N = 64, LEN = 1000, ROUNDS = 50 };

static aescomb_key *key;
static aescomb_comb *shared_comb;
static uint8_t expected[N][LEN];
static atomic_size_t busy, done;

static void fill(aescomb_message *messages, uint8_t (*texts)[LEN], uint8_t (*nonces)[16]) {
    memset(messages, 0, N * sizeof *messages);
    for (size_t i = 0; i < N; i++) {
        memset(texts[i], (int)i, LEN);
        memset(nonces[i], (int)(i + 1), 16);
        messages[i].src = messages[i].dst = texts[i];
        messages[i].src_len = messages[i].dst_len = LEN - i;
        messages[i].nonce = nonces[i];
        messages[i].nonce_len = 16;
    }
}

static void *work(void *own) {
    aescomb_comb *comb = own != NULL ? new_comb() : shared_comb;
    aescomb_message *messages = take(N * sizeof *messages);
    uint8_t(*texts)[LEN] = take(N * LEN), nonces[N][16];
    aescomb_error error;
    for (size_t round = 0; round < ROUNDS; round++) {
        fill(messages, texts, nonces);
        aescomb_code code = aescomb_encrypt(comb, key, messages, N, &error);
        if (own == NULL && code == AESCOMB_BUSY) {
            atomic_fetch_add(&busy, 1);
            for (size_t i = 0; i < N; i++)
                for (size_t j = 0; j < LEN; j++) CHECK(texts[i][j] == i);
            continue;
        }
        CHECK(code == AESCOMB_OK);
        CHECK(memcmp(texts, expected, sizeof expected) == 0);
        atomic_fetch_add(&done, 1);
    }
    if (own != NULL) aescomb_comb_free(comb);
    free(messages);
    free(texts);
    return NULL;
}

int main(void) {
    static const uint8_t raw[16] = {5};
    aescomb_error error;
    GOOD(aescomb_key_new("cbc", raw, sizeof raw, &key, &error));
    aescomb_key_free(key);
    GOOD(aescomb_key_new("cfb128", raw, sizeof raw, &key, &error));
    shared_comb = new_comb();
    aescomb_message messages[N];
    uint8_t nonces[N][16];
    fill(messages, expected, nonces);
    GOOD(aescomb_encrypt(shared_comb, key, messages, N, &error));

    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, work, i < 2 ? &threads : NULL) == 0);
    for (size_t i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(done + busy == 4 * ROUNDS && done >= 2 * ROUNDS);
    printf("threads: %zu calls done, %zu refused as busy\n", (size_t)done, (size_t)busy);
    aescomb_comb_free(shared_comb);
    aescomb_key_free(key);
    return 0;
}
