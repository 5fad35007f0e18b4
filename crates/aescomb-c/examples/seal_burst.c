/* Seals a burst of packets, as a gateway does: each has the key of its session, a counter
 * as its nonce, a header that is authenticated, and room for the tag at its end.
 *
 *     cc seal_burst.c $(pkg-config --cflags --libs aescomb) -o seal_burst */
#include <aescomb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PACKETS = 256, SESSIONS = 8, HEADER = 12, PAYLOAD_MAX = 1440, TAG = 16 };

struct packet {
    uint8_t bytes[HEADER + PAYLOAD_MAX + TAG]; /* header, payload, tag */
    size_t payload;                            /* bytes of payload */
    unsigned session;
    uint8_t nonce[12];
};

static struct packet burst[PACKETS];
static aescomb_message messages[PACKETS];

static int failed(const char *what, const aescomb_error *error) {
    fprintf(stderr, "%s: %s\n", what, error->text);
    return 1;
}

/* Says where the parts of the packets are. */
static void describe(aescomb_key *const *keys, size_t tag) {
    memset(messages, 0, sizeof messages);
    for (size_t i = 0; i < PACKETS; i++) {
        struct packet *p = &burst[i];
        aescomb_message *m = &messages[i];
        m->key = keys[p->session];
        m->nonce = p->nonce;
        m->nonce_len = sizeof p->nonce;
        m->data = p->bytes;
        m->data_len = HEADER;
        m->src = m->dst = p->bytes + HEADER;
        m->src_len = p->payload + tag; /* a packet to open ends in its tag */
        m->dst_len = p->payload + TAG;
        m->tag_len = TAG;
        m->tag_attached = 1;
    }
}

int main(void) {
    aescomb_error error;
    aescomb_key *keys[SESSIONS];
    for (unsigned i = 0; i < SESSIONS; i++) {
        /* Yours come from a key exchange. */
        uint8_t bytes[16] = {(uint8_t)i};
        if (aescomb_key_new("gcm", bytes, sizeof bytes, &keys[i], &error) != AESCOMB_OK)
            return failed("a key", &error);
    }
    /* Keep it: it holds the scheduling memory. One for each thread. */
    aescomb_comb *comb;
    if (aescomb_comb_new(NULL, &comb, &error) != AESCOMB_OK)
        return failed("a scheduler", &error);

    for (size_t i = 0; i < PACKETS; i++) {
        struct packet *p = &burst[i];
        p->session = (unsigned)(i % SESSIONS);
        p->payload = i % 3 == 0 ? PAYLOAD_MAX : 40 + i % 60;
        for (size_t b = 0; b < 8; b++) p->nonce[4 + b] = (uint8_t)(i >> (56 - 8 * b));
        memset(p->bytes, 'a' + (int)(i % 26), HEADER + p->payload);
    }

    describe(keys, 0);
    if (aescomb_seal(comb, NULL, messages, PACKETS, &error) != AESCOMB_OK)
        return failed("sealing", &error);
    size_t bytes = 0;
    for (size_t i = 0; i < PACKETS; i++) bytes += messages[i].written;
    printf("sealed %d packets, %zu bytes with their tags\n", PACKETS, bytes);

    burst[42].bytes[HEADER] ^= 1; /* somebody on the way */
    describe(keys, TAG);
    aescomb_code code = aescomb_open(comb, NULL, messages, PACKETS, &error);
    if (code != AESCOMB_OK && code != AESCOMB_MESSAGES_FAILED)
        return failed("opening", &error);
    size_t good = 0;
    for (size_t i = 0; i < PACKETS; i++) {
        if (messages[i].status == AESCOMB_DONE)
            good++;
        else
            printf("packet %zu is forged: dropped\n", i);
    }
    printf("opened %zu packets\n", good);

    aescomb_comb_free(comb);
    for (unsigned i = 0; i < SESSIONS; i++) aescomb_key_free(keys[i]);
    return good == PACKETS - 1 ? 0 : 1;
}
