/* The examples in C of the chapter "Batches". */
#include <aescomb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void messages(aescomb_comb *comb, const aescomb_key *key) {
    // ANCHOR: messages
    uint8_t packets[2][64] = {"the first packet", "the second"};
    const size_t lengths[2] = {16, 10};
    static const uint8_t nonces[2][12] = {{1}, {2}};

    aescomb_message batch[2];
    memset(batch, 0, sizeof batch);
    for (size_t i = 0; i < 2; i++) {
        batch[i].src = batch[i].dst = packets[i];
        batch[i].src_len = lengths[i];
        batch[i].dst_len = sizeof packets[i]; /* room for the tag */
        batch[i].nonce = nonces[i];
        batch[i].nonce_len = 12;
        batch[i].data = "header";
        batch[i].data_len = 6;
        batch[i].tag_len = 16;
        batch[i].tag_attached = 1;
    }
    aescomb_error error;
    if (aescomb_seal(comb, key, batch, 2, &error) != AESCOMB_OK) fail(error.text);

    for (size_t i = 0; i < 2; i++) batch[i].src_len = batch[i].written; /* with the tag */
    if (aescomb_open(comb, key, batch, 2, &error) != AESCOMB_OK) fail(error.text);
    // ANCHOR_END: messages
    if (batch[1].written != 10 || memcmp(packets[1], "the second", 10) != 0)
        fail("not what was sealed");
}

static void packed(aescomb_comb *comb, const aescomb_key *key) {
    // ANCHOR: packed
    uint8_t ring[3 * 64] = {0}; /* three buffers of 64 bytes */
    const uint32_t lengths[3] = {5, 60, 17};
    uint8_t nonces[3][12] = {{0}, {1}, {2}}, tags[3][16];
    aescomb_result results[3];

    aescomb_packed batch;
    memset(&batch, 0, sizeof batch);
    batch.count = 3;
    batch.offset_bytes = sizeof lengths[0];
    batch.src = batch.dst = ring;
    batch.src_len = batch.dst_len = sizeof ring;
    batch.src_layout.kind = AESCOMB_LAYOUT_RING;
    batch.src_layout.lengths = lengths;
    batch.src_layout.stride = 64;
    batch.nonces = nonces[0];
    batch.nonce_len = batch.nonce_stride = sizeof nonces[0];
    batch.tags = tags[0];
    batch.tag_len = batch.tag_stride = sizeof tags[0];
    batch.results = results;
    aescomb_error error;
    if (aescomb_seal_packed(comb, key, &batch, &error) != AESCOMB_OK) fail(error.text);
    // ANCHOR_END: packed
    ring[64] ^= 1;
    if (aescomb_open_packed(comb, key, &batch, &error) != AESCOMB_MESSAGES_FAILED ||
        error.message != 1 || results[1].status != AESCOMB_BAD_TAG ||
        results[2].status != AESCOMB_DONE)
        fail("a forged message was not found");
}

int main(void) {
    static const uint8_t bytes[16] = "an example's key";
    aescomb_error error;
    aescomb_key *key;
    aescomb_comb *comb;
    if (aescomb_key_new("gcm", bytes, sizeof bytes, &key, &error) != AESCOMB_OK ||
        aescomb_comb_new(NULL, &comb, &error) != AESCOMB_OK)
        fail(error.text);
    messages(comb, key);
    packed(comb, key);
    aescomb_comb_free(comb);
    aescomb_key_free(key);
    return 0;
}
