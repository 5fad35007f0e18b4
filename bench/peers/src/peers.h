// What the C and C++ files share with c.rs. Each implements, for its library NAME,
//
//     struct peer *NAME_new(const struct task *);   NULL: out of memory, or not to be had
//     void NAME_free(struct peer *);
//     const char *NAME_version(void);
//
// and one or more ways to do a batch:
//
//     int NAME_run(struct peer *, const struct message *, size_t n);
//
// which give the number of messages that were refused because their tags are wrong, or
// FAILED.
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>
#include <stdint.h>

enum { TAG = 16, FAILED = -1 };

struct message {
    const uint8_t *from;
    // `from` itself, or a place that does not overlap it.
    uint8_t *to;
    size_t len;
    const uint8_t *nonce;
    // Of TAG bytes: written, or read where messages are opened.
    uint8_t *tag;
};

// What is done with every message. All pointers stay good as long as the peer.
struct task {
    // As aescomb calls it.
    const char *mode;
    // Whether to decrypt or open.
    int backward;
    const uint8_t *key;
    size_t key_len;
    size_t nonce_len;
    // Associated data.
    const uint8_t *data;
    size_t data_len;
    // Messages in the batch.
    size_t messages;
};

#endif
