/* The examples in C of the chapter "Errors". */
#include <aescomb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

int main(void) {
    static const uint8_t bytes[16] = "an example's key";
    uint8_t packets[2][30] = {{7}, {8}}, tags[2][16];
    static const uint8_t nonces[2][12] = {{1}, {2}};
    aescomb_error error;
    aescomb_key *key;
    aescomb_comb *comb;
    if (aescomb_key_new("gcm", bytes, sizeof bytes, &key, &error) != AESCOMB_OK ||
        aescomb_comb_new(NULL, &comb, &error) != AESCOMB_OK)
        fail(error.text);
    aescomb_message batch[2];
    memset(batch, 0, sizeof batch);
    for (size_t i = 0; i < 2; i++) {
        batch[i].src = batch[i].dst = packets[i];
        batch[i].src_len = batch[i].dst_len = sizeof packets[i];
        batch[i].nonce = nonces[i];
        batch[i].nonce_len = sizeof nonces[i];
        batch[i].tag = tags[i];
        batch[i].tag_len = sizeof tags[i];
    }

    // ANCHOR: refused
    batch[1].tag_len = 5;
    if (aescomb_seal(comb, key, batch, 2, &error) != AESCOMB_TAG_LENGTH) fail("accepted");
    /* error.message is 1, error.field "tag_len", error.given 5; the first is untouched, too */
    fprintf(stderr, "%s\n", error.text);
    // ANCHOR_END: refused
    if (error.message != 1 || strcmp(error.field, "tag_len") != 0 || error.given != 5)
        fail("another error");
    if (packets[0][0] != 7 || batch[0].status != AESCOMB_PENDING) fail("touched");

    batch[1].tag_len = 16;
    if (aescomb_seal(comb, key, batch, 2, &error) != AESCOMB_OK) fail(error.text);
    packets[1][0] ^= 1;
    size_t opened = 0, dropped = 0;
    // ANCHOR: failed
    aescomb_code code = aescomb_open(comb, key, batch, 2, &error);
    if (code != AESCOMB_OK && code != AESCOMB_MESSAGES_FAILED)
        fail(error.text); /* a mistake of this program */
    for (size_t i = 0; i < 2; i++) {
        if (batch[i].status == AESCOMB_DONE)
            opened += batch[i].written; /* go on with it */
        else
            dropped++; /* forged; what was written of it is wiped */
    }
    // ANCHOR_END: failed
    if (opened != 30 || dropped != 1 || packets[0][0] != 7) fail("not what was sealed");
    aescomb_comb_free(comb);
    aescomb_key_free(key);
    return 0;
}
