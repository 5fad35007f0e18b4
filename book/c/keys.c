/* The example in C of the chapter "Keys". */
#include <aescomb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

enum { SESSIONS = 3 };

int main(void) {
    aescomb_error error;
    aescomb_comb *comb;
    if (aescomb_comb_new(NULL, &comb, &error) != AESCOMB_OK) fail(error.text);
    uint8_t raw[SESSIONS][16] = {{1}, {2}, {3}};

    // ANCHOR: own
    aescomb_key *keys[SESSIONS];
    for (size_t i = 0; i < SESSIONS; i++)
        if (aescomb_key_new("cmac", raw[i], sizeof raw[i], &keys[i], &error) != AESCOMB_OK)
            fail(error.text);

    uint8_t tags[SESSIONS][16];
    aescomb_message batch[SESSIONS];
    memset(batch, 0, sizeof batch);
    for (size_t i = 0; i < SESSIONS; i++) {
        batch[i].src = (const uint8_t *)"the same message";
        batch[i].src_len = 16;
        batch[i].tag = tags[i];
        batch[i].tag_len = sizeof tags[i];
        batch[i].key = keys[i]; /* its own */
    }
    if (aescomb_mac(comb, NULL, batch, SESSIONS, &error) != AESCOMB_OK) fail(error.text);
    // ANCHOR_END: own
    if (memcmp(tags[0], tags[1], 16) == 0) fail("two keys make one tag");
    if (aescomb_verify(comb, keys[2], &batch[2], 1, &error) != AESCOMB_OK) fail(error.text);

    for (size_t i = 0; i < SESSIONS; i++) aescomb_key_free(keys[i]);
    aescomb_comb_free(comb);
    return 0;
}
