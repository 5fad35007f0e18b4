/* The example in C of the chapter "What it is for". */
#include <aescomb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

int main(void) {
    // ANCHOR: batch
    static const uint8_t bytes[16] = "an example's key";
    uint8_t one[] = "a packet", two[] = "another packet";
    uint8_t tags[2][16];
    static const uint8_t nonces[2][12] = {{1}, {2}}; /* no nonce twice under a key */

    aescomb_error error;
    aescomb_key *key;
    aescomb_comb *comb; /* keep it: it holds the scheduling memory */
    if (aescomb_key_new("gcm", bytes, sizeof bytes, &key, &error) != AESCOMB_OK ||
        aescomb_comb_new(NULL, &comb, &error) != AESCOMB_OK)
        fail(error.text);

    aescomb_message batch[2] = {
        {.src = one, .src_len = 8, .dst = one, .dst_len = 8,
         .nonce = nonces[0], .nonce_len = 12, .tag = tags[0], .tag_len = 16},
        {.src = two, .src_len = 14, .dst = two, .dst_len = 14,
         .nonce = nonces[1], .nonce_len = 12, .tag = tags[1], .tag_len = 16},
    };
    if (aescomb_seal(comb, key, batch, 2, &error) != AESCOMB_OK) fail(error.text);
    /* The packets are ciphertexts now, */
    if (aescomb_open(comb, key, batch, 2, &error) != AESCOMB_OK) fail(error.text);
    /* and plaintexts again. */
    // ANCHOR_END: batch
    if (strcmp((const char *)two, "another packet") != 0) fail("not what was sealed");
    aescomb_comb_free(comb);
    aescomb_key_free(key);
    return 0;
}
