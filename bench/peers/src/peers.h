// What both C files share with c.rs.
#include <stddef.h>
#include <stdint.h>

enum mode { DO_CBC, DO_CBC_DECRYPT, DO_CFB, DO_CTR, DO_CMAC, DO_CCM, DO_GCM, DO_OCB };

struct message {
    uint8_t *text;
    size_t len;
    const uint8_t *nonce;
    uint8_t *tag;
};
