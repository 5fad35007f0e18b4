/* What the tests share. */
#ifndef CHECK_H
#define CHECK_H

#include <aescomb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);        \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

/* A call that must do its work. */
#define GOOD(call)                                                                         \
    do {                                                                                   \
        if ((call) != AESCOMB_OK) {                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, error.text);     \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

/* Memory of just that size, so that tools see every byte beyond it. */
static inline void *take(size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    CHECK(memory != NULL);
    memset(memory, 0xc5, size > 0 ? size : 1);
    return memory;
}

/* memcpy and memcmp want no NULL, not even for 0 bytes. */
static inline void copy(void *to, const void *from, size_t len) {
    if (len > 0) memcpy(to, from, len);
}

static inline int same(const void *a, const void *b, size_t len) {
    return len == 0 || memcmp(a, b, len) == 0;
}

/* The backend to test: an environment variable names it, as tools do not know all. */
static inline aescomb_comb *new_comb(void) {
    aescomb_comb *comb;
    aescomb_error error;
    GOOD(aescomb_comb_new(getenv("AESCOMB_TEST_BACKEND"), &comb, &error));
    return comb;
}

#endif
