/* aescomb: AES for many independent messages at once.
 *
 * A batch of messages is worked on side by side, so that modes that are serial inside a
 * message (CBC, CFB, OFB, CMAC, CCM, ...) keep the AES units busy, too. Make a key for a
 * mode (aescomb_key_new) and a scheduler for each thread (aescomb_comb_new), describe the
 * messages (aescomb_message, or aescomb_packed for columns), and call one of
 *
 *     aescomb_encrypt  aescomb_decrypt    ciphers
 *     aescomb_mac      aescomb_verify     message authentication codes
 *     aescomb_seal     aescomb_open       authenticated encryption
 *
 * or the same with _packed. When it returns, every message is done. Format-preserving
 * encryption wants no scheduler: aescomb_ff1_new, aescomb_ff1_encrypt, aescomb_ff1_decrypt.
 *
 * Errors. A function that can fail returns an aescomb_code; AESCOMB_OK is 0. Where it is
 * given an aescomb_error, that says which message and which member of it is wrong, what
 * was given and what is allowed, as numbers and as text. Everything is checked before any
 * message is touched. A wrong tag or invalid padding makes the call return
 * AESCOMB_MESSAGES_FAILED, so that it cannot be missed by looking at the return code only;
 * the status of each message says which failed.
 * No panic of the library crosses into C; the process ends only if memory does.
 *
 * Threads. Keys and FF1 never change: any number of threads may use one. A scheduler is for one
 * call at a time: give each thread its own; a second call at the same time is refused with
 * AESCOMB_BUSY. A handle may be made in one thread and used and freed in another. Functions
 * that take neither may be called at any time.
 *
 * Memory. The caller frees keys, schedulers and FF1, with the functions of that name, and
 * nothing else: strings that the library returns are static. It keeps no pointer to memory
 * of the caller after a call.
 *
 * Made by cbindgen from the sources in Rust. */

#ifndef AESCOMB_H
#define AESCOMB_H

#include <stddef.h>
#include <stdint.h>
/** The `message` of an `aescomb_error` that belongs to no message. */
#define AESCOMB_NO_MESSAGE SIZE_MAX

/**
 * Bytes of the text of an error, with its NUL.
 */
#define AESCOMB_TEXT_BYTES 320



/**
 * What a call returns: whether it did its work, and if not, what is wrong. A number
 * never gets another meaning; new ones may come.
 */
enum aescomb_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * All is well; every message is done.
     */
    AESCOMB_OK = 0,
    /**
     * The call was carried out, and one message or more failed: their tags or paddings
     * are wrong. Each says so in its status, and its output was wiped; the others are done.
     * `given` is how many failed, `message` the first of them.
     */
    AESCOMB_MESSAGES_FAILED = 1,
    /**
     * A pointer is NULL and must not be, or is not aligned for its type; `field` is its
     * name.
     */
    AESCOMB_POINTER = 2,
    /**
     * No mode has this name.
     */
    AESCOMB_UNKNOWN_MODE = 3,
    /**
     * No backend has this name.
     */
    AESCOMB_UNKNOWN_BACKEND = 4,
    /**
     * Another thread is in a call with this scheduler.
     */
    AESCOMB_BUSY = 5,
    /**
     * Key of a length that the mode does not take; in bytes.
     */
    AESCOMB_KEY_LENGTH = 6,
    /**
     * A message has no key, and the call has none for all.
     */
    AESCOMB_KEY_MISSING = 7,
    /**
     * Key for another mode than that of the call's first; `given` and `low` are places of
     * modes, for `aescomb_mode_name`.
     */
    AESCOMB_KEY_MODE = 8,
    /**
     * The key's mode has no such operation.
     */
    AESCOMB_OPERATION = 9,
    /**
     * Nonce of a length that the mode does not take; in bytes.
     */
    AESCOMB_NONCE_LENGTH = 10,
    /**
     * Tag of a length that the mode does not take; or, if `field` is "tag_attached", a tag of a
     * MAC that is attached to its text; in bytes.
     */
    AESCOMB_TAG_LENGTH = 11,
    /**
     * Text of a length that the mode does not take; in bytes.
     */
    AESCOMB_TEXT_LENGTH = 12,
    /**
     * `opened_len` contradicts the length of the sealed text; in bytes.
     */
    AESCOMB_OPENED_LENGTH = 13,
    /**
     * Associated data of more bytes than the mode takes.
     */
    AESCOMB_DATA_LENGTH = 14,
    /**
     * Associated data of more components than the mode takes.
     */
    AESCOMB_DATA_COUNT = 15,
    /**
     * The destination is too short for the result; in bytes.
     */
    AESCOMB_OUTPUT_LENGTH = 16,
    /**
     * Source and destination overlap and are not the same place; `given` is the distance
     * between their first bytes.
     */
    AESCOMB_OVERLAP = 17,
    /**
     * An offset, start or length of a packed batch is beyond the buffer, or not in
     * ascending order.
     */
    AESCOMB_OFFSET = 18,
    /**
     * More messages than a call takes (4,294,967,294), or a column of another length.
     */
    AESCOMB_COUNT = 19,
    /**
     * No parallelism degree that the backend has.
     */
    AESCOMB_LANES = 20,
    /**
     * This CPU lacks what the backend needs.
     */
    AESCOMB_BACKEND = 21,
    /**
     * No kind of layout; `given` is the number.
     */
    AESCOMB_LAYOUT = 22,
    /**
     * Offsets of another width than 4 or 8 bytes.
     */
    AESCOMB_OFFSET_BYTES = 23,
    /**
     * A mistake in the library itself, caught before it could cross into C. Please
     * report it.
     */
    AESCOMB_INTERNAL = 24,
    /**
     * The two halves of a key are equal, in a mode that needs two different keys; `given`
     * is the length of each in bytes.
     */
    AESCOMB_KEY_HALVES = 25,
    /**
     * No radix that FF1 has.
     */
    AESCOMB_RADIX = 26,
    /**
     * A character that an alphabet cannot have, its code in `given`, at `position`; or text
     * without an alphabet.
     */
    AESCOMB_ALPHABET = 27,
    /**
     * Value of too few or too many numerals.
     */
    AESCOMB_VALUE_LENGTH = 28,
    /**
     * A numeral that is not below the radix, at `position` of its value.
     */
    AESCOMB_NUMERAL = 29,
    /**
     * A character that is not in the alphabet, its code in `given`, at `position` of its
     * value.
     */
    AESCOMB_CHARACTER = 30,
    /**
     * Tweak of a length that is not allowed; in bytes.
     */
    AESCOMB_TWEAK_LENGTH = 31,
    /**
     * Number of a key that there is not.
     */
    AESCOMB_KEY_INDEX = 32,
    /**
     * Numerals of another width than 1 or 2 bytes.
     */
    AESCOMB_NUMERAL_BYTES = 33,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum aescomb_code aescomb_code;
#else
typedef uint32_t aescomb_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a field may be; `low`, `high` and `list` of an `aescomb_error` say the rest.
 */
enum aescomb_allowed
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Nothing: the field does not apply here.
     */
    AESCOMB_ALLOWED_NOTHING = 0,
    /**
     * `low`, and nothing else.
     */
    AESCOMB_ALLOWED_EXACTLY = 1,
    /**
     * One of the `list_len` numbers at `list`.
     */
    AESCOMB_ALLOWED_ONE_OF = 2,
    /**
     * From `low` to `high`, both included.
     */
    AESCOMB_ALLOWED_BETWEEN = 3,
    /**
     * Any multiple of `low`, zero included.
     */
    AESCOMB_ALLOWED_MULTIPLE_OF = 4,
    /**
     * `low` or more.
     */
    AESCOMB_ALLOWED_AT_LEAST = 5,
    /**
     * `high` or less.
     */
    AESCOMB_ALLOWED_AT_MOST = 6,
    /**
     * A character of those in `text`; `low` and `high` are the least and greatest code.
     */
    AESCOMB_ALLOWED_CHARACTERS = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum aescomb_allowed aescomb_allowed;
#else
typedef uint32_t aescomb_allowed;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What became of a message.
 */
enum aescomb_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * No call has finished it.
     */
    AESCOMB_PENDING = 0,
    /**
     * Done; for a tag that was checked: it is right.
     */
    AESCOMB_DONE = 1,
    /**
     * Invalid padding; the output was wiped.
     */
    AESCOMB_BAD_PADDING = 2,
    /**
     * The tag does not belong to the message; what was opened was wiped.
     */
    AESCOMB_BAD_TAG = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum aescomb_status aescomb_status;
#else
typedef uint32_t aescomb_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a mode is for, and so which operations it has.
 */
enum aescomb_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Encrypts and decrypts, and does not authenticate.
     */
    AESCOMB_CIPHER = 0,
    /**
     * Computes and verifies tags, and does not encrypt.
     */
    AESCOMB_MAC = 1,
    /**
     * Authenticated encryption with associated data: seals and opens.
     */
    AESCOMB_AEAD = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum aescomb_kind aescomb_kind;
#else
typedef uint32_t aescomb_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How the lengths of messages and results go together.
 */
enum aescomb_lengths
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Whole blocks of 16 bytes only; the result is as long.
     */
    AESCOMB_WHOLE_BLOCKS = 0,
    /**
     * Any number of bytes; the result is as long.
     */
    AESCOMB_ANY_LENGTH = 1,
    /**
     * 16 bytes or more; the result is as long.
     */
    AESCOMB_FROM_ONE_BLOCK = 2,
    /**
     * Any number of bytes; encrypting adds padding of 1 to 16 bytes, which decrypting
     * takes off.
     */
    AESCOMB_PADDED = 3,
    /**
     * Any number of bytes, made whole blocks, at least one; opening finds what was added.
     */
    AESCOMB_FILLED = 4,
    /**
     * Any number of bytes, made whole blocks; who opens it must say how many there were,
     * in `opened_len`.
     */
    AESCOMB_UNTOLD = 5,
    /**
     * Any number of bytes, and no result but the tag.
     */
    AESCOMB_TAG_ONLY = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum aescomb_lengths aescomb_lengths;
#else
typedef uint32_t aescomb_lengths;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How messages lie in a buffer.
 */
enum aescomb_layout_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * There is none.
     */
    AESCOMB_LAYOUT_NONE = 0,
    /**
     * One after the other: message `i` is from `starts[i]` to `starts[i + 1]`, as in an Arrow
     * binary column. There are `count + 1` starts.
     */
    AESCOMB_LAYOUT_OFFSETS = 1,
    /**
     * Message `i` begins at `starts[i]` and has `lengths[i]` bytes; they are in ascending
     * order and do not overlap.
     */
    AESCOMB_LAYOUT_SLOTS = 2,
    /**
     * Message `i` begins at `i * stride` and has `lengths[i]` bytes, `stride` at most, as
     * in a ring of packets.
     */
    AESCOMB_LAYOUT_RING = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum aescomb_layout_kind aescomb_layout_kind;
#else
typedef uint32_t aescomb_layout_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A scheduler: it holds the backend, the number of messages in flight and the memory
 * that scheduling needs, so that calls allocate nothing once it has grown to the largest
 * batch. It is for one call at a time: give every thread its own. A call while another
 * one is at work is refused with `AESCOMB_BUSY`.
 */
typedef struct aescomb_comb aescomb_comb;

/**
 * FF1 of SP 800-38G revision 1 with one radix, under one key or several. It never changes: any
 * number of threads and calls may use it at the same time.
 */
typedef struct aescomb_ff1 aescomb_ff1;

/**
 * A key for one mode, expanded. It never changes: any number of threads and calls may
 * use it at the same time.
 */
typedef struct aescomb_key aescomb_key;

/**
 * What is wrong with a call. Wherever a function takes one it may be NULL. Functions
 * write it whenever they return: with `AESCOMB_OK`, only `code` and an empty `text`.
 * Nothing in it needs to be freed.
 */
typedef struct aescomb_error {
    /**
     * What the function returned.
     */
    aescomb_code code;
    /**
     * What kind of limit was broken.
     */
    aescomb_allowed allowed;
    /**
     * Place of the message in its batch, from 0, or `AESCOMB_NO_MESSAGE`.
     */
    size_t message;
    /**
     * Name of the parameter or member that is wrong, such as "nonce_len" or
     * "src_layout.starts". Static.
     */
    const char *field;
    /**
     * What was given, in the unit of the code.
     */
    size_t given;
    /**
     * Least value that is allowed, or the only one, or the one whose multiples are.
     */
    size_t low;
    /**
     * Greatest value that is allowed.
     */
    size_t high;
    /**
     * The values that are allowed, for `AESCOMB_ALLOWED_ONE_OF`; otherwise NULL. Static.
     */
    const size_t *list;
    /**
     * How many they are.
     */
    size_t list_len;
    /**
     * Place of a numeral or character in its value, or of a character in an alphabet, from
     * 0; for other codes 0.
     */
    size_t position;
    /**
     * All of this for people, in English, one line without a newline.
     */
    char text[AESCOMB_TEXT_BYTES];
} aescomb_error;

/**
 * Where messages lie in a buffer. Offsets and lengths are in bytes; they are unsigned
 * integers of `offset_bytes` bytes each, aligned.
 */
typedef struct aescomb_layout {
    /**
     * An `aescomb_layout_kind`.
     */
    uint32_t kind;
    /**
     * First byte of every message; for `AESCOMB_LAYOUT_OFFSETS` and `_SLOTS`.
     */
    const void *starts;
    /**
     * Bytes of every message; for `AESCOMB_LAYOUT_SLOTS` and `_RING`.
     */
    const void *lengths;
    /**
     * Bytes from one message's beginning to the next one's; for `AESCOMB_LAYOUT_RING`.
     */
    size_t stride;
} aescomb_layout;

/**
 * Values in one buffer, with their tweaks and the numbers of their keys. Set all of it to zero,
 * then what there is.
 */
typedef struct aescomb_ff1_values {
    /**
     * Values.
     */
    size_t count;
    /**
     * Bytes of an offset or length in the columns: 4 or 8.
     */
    uint32_t offset_bytes;
    /**
     * 1: values are text over the alphabet. 2: they are numerals, each a `uint16_t`.
     */
    uint32_t numeral_bytes;
    /**
     * Where the values are read.
     */
    const void *src;
    /**
     * Characters or numerals at `src`.
     */
    size_t src_len;
    /**
     * Where the results go, each to the place that its value has in `src`: the same memory as
     * `src`, or some that has no byte in common with it, with as much room. What is between
     * places is left alone.
     */
    void *dst;
    /**
     * Characters or numerals at `dst`.
     */
    size_t dst_len;
    /**
     * How values lie in `src`. Offsets, lengths and strides count characters or numerals.
     */
    struct aescomb_layout layout;
    /**
     * Tweaks of all values, or, with a `tweak_layout` of kind `AESCOMB_LAYOUT_NONE`, one that
     * all have.
     */
    const uint8_t *tweaks;
    /**
     * Bytes at `tweaks`.
     */
    size_t tweaks_len;
    /**
     * How they lie there, in bytes.
     */
    struct aescomb_layout tweak_layout;
    /**
     * The number of each value's key, from 0 on. NULL: all have the first.
     */
    const uint32_t *keys;
} aescomb_ff1_values;

/**
 * What the library notes in a message. Its content means nothing to others.
 */
typedef struct aescomb_internal {
    /**
     * Bytes of text without those of a tag.
     */
    size_t len;
    /**
     * The place of its key in the table.
     */
    uint32_t key_index;
    /**
     * What associated data there is.
     */
    uint32_t components;
} aescomb_internal;

/**
 * One message of a batch. All lengths are in bytes. Set all of it to zero, then what the
 * message has: a pointer may be NULL where its length is 0. The library keeps no pointer
 * after the call, and a struct may be used again.
 */
typedef struct aescomb_message {
    /**
     * Where the text is read.
     */
    const uint8_t *src;
    /**
     * Its length; with an attached tag that is opened, with the tag.
     */
    size_t src_len;
    /**
     * Where the result goes: the same place as `src`, or one that has no byte in common
     * with it. NULL for tags only.
     */
    uint8_t *dst;
    /**
     * Its room. At least as much as `aescomb_mode_encrypted_len` says of the plaintext,
     * also for opening; with an attached tag that is sealed, and the tag.
     */
    size_t dst_len;
    /**
     * Nonce: initialisation vector, initial counter block or tweak.
     */
    const uint8_t *nonce;
    /**
     * Associated data: bytes, or, if `component_count` is not 0, so many `aescomb_slice`.
     * NULL: none, which for "siv" is not the same as an empty component.
     */
    const void *data;
    /**
     * Bytes of associated data that is one component.
     */
    size_t data_len;
    /**
     * Where the tag goes, or where it is if it is to be checked, and then it is only
     * read. If it is attached, the library may write here where it was found or put.
     */
    uint8_t *tag;
    /**
     * Bytes of the nonce.
     */
    uint32_t nonce_len;
    /**
     * Bytes of the tag.
     */
    uint32_t tag_len;
    /**
     * 1: ciphertext and tag are in one piece, of which `tag_len` bytes are the tag: the last,
     * or the first where `tag_first` of `aescomb_info` says so ("siv"). For sealing and
     * opening. Otherwise 0.
     */
    uint32_t tag_attached;
    /**
     * Components of associated data, for modes that take several ("siv"); 0 for one, or
     * none.
     */
    uint32_t component_count;
    /**
     * For modes of which `aescomb_info` says `AESCOMB_UNTOLD`: how many bytes the message
     * has when it is opened. Others do not look at it.
     */
    size_t opened_len;
    /**
     * The message's own key; NULL for the one of the call.
     */
    const struct aescomb_key *key;
    /**
     * Written by the library: bytes of result, an attached tag included. 0 if the message
     * failed, and for tags only.
     */
    size_t written;
    /**
     * Written by the library: what became of the message.
     */
    aescomb_status status;
    /**
     * The library's own.
     */
    struct aescomb_internal internal;
} aescomb_message;

/**
 * What is known of a mode. All pointers are to static memory; all lengths are in bytes.
 */
typedef struct aescomb_info {
    /**
     * Short name, such as "cbc".
     */
    const char *name;
    /**
     * One line of description.
     */
    const char *title;
    /**
     * Standard and section.
     */
    const char *source;
    /**
     * What happens when a nonce repeats under one key.
     */
    const char *nonce_reuse;
    /**
     * NULL for modes of a standard. For the others, which are for research and comparison
     * and not for new protocols, what became of them.
     */
    const char *research;
    /**
     * Operations.
     */
    aescomb_kind kind;
    /**
     * Message and result lengths.
     */
    aescomb_lengths lengths;
    /**
     * Lengths of key that it takes, in ascending order.
     */
    const size_t *key_lens;
    /**
     * How many they are.
     */
    size_t key_len_count;
    /**
     * The shortest nonce (initialisation vector, initial counter block, tweak).
     */
    size_t nonce_len_min;
    /**
     * The longest; 0 where there is none.
     */
    size_t nonce_len_max;
    /**
     * The length that is used most.
     */
    size_t nonce_len_usual;
    /**
     * Lengths of tag that it takes, in ascending order; NULL where there is none.
     */
    const size_t *tag_lens;
    /**
     * How many they are.
     */
    size_t tag_len_count;
    /**
     * Not 0: a tag that is attached to a ciphertext stands before it ("siv").
     */
    uint32_t tag_first;
    /**
     * The most components of associated data: 0, 1 or more. Where the nonce may be left
     * out (`nonce_len_min` is 0 and `nonce_len_max` is not), it is one of them.
     */
    size_t component_max;
} aescomb_info;

/**
 * What became of a message of a packed batch.
 */
typedef struct aescomb_result {
    /**
     * Bytes of result, an attached tag included. 0 if the message failed, and for tags
     * only.
     */
    size_t written;
    /**
     * What became of the message.
     */
    aescomb_status status;
} aescomb_result;

/**
 * A batch of messages that lie in one buffer, with their nonces, tags and keys in
 * columns. Nothing is copied. All lengths are in bytes. Set all of it to zero, then what
 * the batch has.
 */
typedef struct aescomb_packed {
    /**
     * Messages.
     */
    size_t count;
    /**
     * Bytes of an offset or length in the columns: 4 or 8.
     */
    uint32_t offset_bytes;
    /**
     * Not 0: each ciphertext is in one piece with a tag of so many bytes, as `tag_attached` of
     * `aescomb_message` says, and `tags` is not looked at. Texts that are sealed become so much
     * longer and want a `dst_layout`, or a ring with room.
     */
    uint32_t tag_attached;
    /**
     * Where the texts are read.
     */
    const uint8_t *src;
    /**
     * Bytes at `src`.
     */
    size_t src_len;
    /**
     * How they lie there.
     */
    struct aescomb_layout src_layout;
    /**
     * Where the results go: the same place as `src`, or one that has no byte in common
     * with it. NULL for tags only.
     */
    uint8_t *dst;
    /**
     * Bytes at `dst`.
     */
    size_t dst_len;
    /**
     * How results lie there, if not as the texts in `src`; not in place. The places may be
     * larger than the results.
     */
    struct aescomb_layout dst_layout;
    /**
     * Nonce `i` is the `nonce_len` bytes from `i * nonce_stride` on.
     */
    const uint8_t *nonces;
    /**
     * Bytes of a nonce.
     */
    size_t nonce_len;
    /**
     * Bytes from one nonce to the next.
     */
    size_t nonce_stride;
    /**
     * Tag `i` is the `tag_len` bytes from `i * tag_stride` on. They are only read if they
     * are to be checked.
     */
    uint8_t *tags;
    /**
     * Bytes of a tag.
     */
    size_t tag_len;
    /**
     * Bytes from one tag to the next.
     */
    size_t tag_stride;
    /**
     * Associated data of all messages, one component each.
     */
    const uint8_t *data;
    /**
     * Bytes at `data`.
     */
    size_t data_len;
    /**
     * How they lie there; `AESCOMB_LAYOUT_NONE`: there are none.
     */
    struct aescomb_layout data_layout;
    /**
     * The key of every message; NULL, or an entry that is NULL: the one of the call.
     */
    const struct aescomb_key *const *keys;
    /**
     * For modes of which `aescomb_info` says `AESCOMB_UNTOLD`: how many bytes each message
     * has when it is opened. NULL for others.
     */
    const void *opened_lens;
    /**
     * Where it is written what became of each message. NULL: nowhere; not for
     * `aescomb_verify_packed` and `aescomb_open_packed`, nor to take off padding.
     */
    struct aescomb_result *results;
} aescomb_packed;

/**
 * Bytes somewhere: `bytes` may be NULL if `len` is 0.
 */
typedef struct aescomb_slice {
    /**
     * First byte.
     */
    const uint8_t *bytes;
    /**
     * How many there are.
     */
    size_t len;
} aescomb_slice;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Makes a scheduler.
 *
 * `backend` is the name of an implementation of AES (see `aescomb_backend_name`), or NULL
 * for what measures best on this CPU. The handle at `comb` is the caller's, who gives it
 * to `aescomb_comb_free`; it is NULL if there is an error.
 *
 * Errors: `AESCOMB_UNKNOWN_BACKEND`; `AESCOMB_BACKEND` where this CPU lacks what it needs;
 * `AESCOMB_POINTER` if `comb` is NULL.
 */
aescomb_code aescomb_comb_new(const char *backend,
                              struct aescomb_comb **comb,
                              struct aescomb_error *error);

/**
 * Sets how many messages are in flight: fewer mean less latency for a message, more mean
 * more throughput, up to what the CPU can overlap. 1 turns interleaving off.
 * What a new scheduler has measures best.
 *
 * Errors: `AESCOMB_LANES` for 0 and for more than the backend has (32 for vaes512, 16 for
 * vaes256 and vaes256vl, 8 for aesni, 4 for portable); `AESCOMB_POINTER`, `AESCOMB_BUSY`.
 */
aescomb_code aescomb_comb_set_lanes(struct aescomb_comb *comb,
                                    size_t lanes,
                                    struct aescomb_error *error);

/**
 * Frees a scheduler, having wiped what it holds of keys and states. NULL is allowed. No
 * call may be at work with it.
 */
void aescomb_comb_free(struct aescomb_comb *comb);

/**
 * One line in English for a code. Static; never NULL.
 */
const char *aescomb_code_text(uint32_t code);

/**
 * Makes FF1 for a radix from 2 to 65,536, or for text over an alphabet: characters of ASCII,
 * each once, which stand for the numerals 0, 1, 2 and so on, and whose number is the radix.
 * `alphabet` is NULL for numerals alone; with one, `radix` is 0. `bytes` are `keys` keys of
 * `len` bytes each (16, 24 or 32), one after the other. `backend` is as for `aescomb_comb_new`.
 * The library keeps no pointer to any of them. The handle at `ff1` is the caller's, who gives it
 * to `aescomb_ff1_free`; it is NULL if there is an error.
 *
 * Errors: `AESCOMB_RADIX`; `AESCOMB_ALPHABET`; `AESCOMB_KEY_LENGTH`; `AESCOMB_COUNT` for no key
 * and more than 65,536; `AESCOMB_UNKNOWN_BACKEND`, `AESCOMB_BACKEND`; `AESCOMB_POINTER` if
 * `bytes` or `ff1` is NULL.
 */
aescomb_code aescomb_ff1_new(uint32_t radix,
                             const char *alphabet,
                             const uint8_t *bytes,
                             size_t len,
                             size_t keys,
                             const char *backend,
                             struct aescomb_ff1 **ff1,
                             struct aescomb_error *error);

/**
 * Frees it, having wiped its keys. NULL is allowed. No call may be at work with it.
 */
void aescomb_ff1_free(struct aescomb_ff1 *ff1);

/**
 * The least number of characters or numerals that a value may have; the most is 65,536. 0 for
 * NULL.
 */
size_t aescomb_ff1_min_len(const struct aescomb_ff1 *ff1);

/**
 * Encrypts every value. `values` is only read, but for what its `dst` points to. Nothing is
 * written if there is an error.
 *
 * Errors: `AESCOMB_VALUE_LENGTH`, `AESCOMB_CHARACTER`, `AESCOMB_NUMERAL`, `AESCOMB_OFFSET`,
 * `AESCOMB_TWEAK_LENGTH`, `AESCOMB_KEY_INDEX` with the place of the value in `message`;
 * `AESCOMB_ALPHABET` for text without one; `AESCOMB_COUNT`, `AESCOMB_LAYOUT`,
 * `AESCOMB_OFFSET_BYTES`, `AESCOMB_NUMERAL_BYTES`, `AESCOMB_OUTPUT_LENGTH`, `AESCOMB_OVERLAP`,
 * `AESCOMB_POINTER`.
 */
aescomb_code aescomb_ff1_encrypt(const struct aescomb_ff1 *ff1,
                                 const struct aescomb_ff1_values *values,
                                 struct aescomb_error *error);

/**
 * Decrypts every value; as `aescomb_ff1_encrypt`.
 */
aescomb_code aescomb_ff1_decrypt(const struct aescomb_ff1 *ff1,
                                 const struct aescomb_ff1_values *values,
                                 struct aescomb_error *error);

/**
 * Expands a key of `len` bytes for the mode of this name (see `aescomb_mode_name`). The
 * lengths are 16, 24 or 32 bytes, or twice as many for modes with two keys, one after the
 * other; `aescomb_mode_info` says which a mode takes. The library keeps no pointer to
 * `bytes`. The handle at `key` is the caller's, who gives it to `aescomb_key_free`; it is
 * NULL if there is an error.
 *
 * Errors: `AESCOMB_UNKNOWN_MODE`; `AESCOMB_KEY_LENGTH`; `AESCOMB_POINTER` if `mode`,
 * `bytes` or `key` is NULL.
 */
aescomb_code aescomb_key_new(const char *mode,
                             const uint8_t *bytes,
                             size_t len,
                             struct aescomb_key **key,
                             struct aescomb_error *error);

/**
 * Frees a key, having wiped it. NULL is allowed. No call may be at work with it.
 */
void aescomb_key_free(struct aescomb_key *key);

/**
 * Encrypts `count` messages.
 *
 * `key` is for all messages that have none of their own; it may be NULL if each has one.
 * All keys of a call must be for one mode; their lengths may differ. Destinations must not
 * overlap each other. 0 messages are no error.
 *
 * Either every message is done, or, if there is an error, none was touched: everything
 * is checked before, and the status of all messages is `AESCOMB_PENDING`.
 *
 * Errors: any of `aescomb_code` but those of names and layouts. This is so for all six
 * operations.
 */
aescomb_code aescomb_encrypt(struct aescomb_comb *comb,
                             const struct aescomb_key *key,
                             struct aescomb_message *messages,
                             size_t count,
                             struct aescomb_error *error);

/**
 * Decrypts `count` messages; see `aescomb_encrypt`. Where padding is taken off, a message
 * with invalid padding fails: its output is wiped, and `AESCOMB_MESSAGES_FAILED` is
 * returned. Who learns which messages had wrong padding can decrypt: authenticate before
 * decrypting. Other modes cannot fail.
 */
aescomb_code aescomb_decrypt(struct aescomb_comb *comb,
                             const struct aescomb_key *key,
                             struct aescomb_message *messages,
                             size_t count,
                             struct aescomb_error *error);

/**
 * Computes the tags of `count` messages; see `aescomb_encrypt`.
 */
aescomb_code aescomb_mac(struct aescomb_comb *comb,
                         const struct aescomb_key *key,
                         struct aescomb_message *messages,
                         size_t count,
                         struct aescomb_error *error);

/**
 * Checks the tags of `count` messages, in constant time; see `aescomb_encrypt`. If any is
 * wrong, `AESCOMB_MESSAGES_FAILED` is returned, and the status of each message says
 * whether it is one of these.
 */
aescomb_code aescomb_verify(struct aescomb_comb *comb,
                            const struct aescomb_key *key,
                            struct aescomb_message *messages,
                            size_t count,
                            struct aescomb_error *error);

/**
 * Encrypts `count` messages and makes their tags; see `aescomb_encrypt`.
 */
aescomb_code aescomb_seal(struct aescomb_comb *comb,
                          const struct aescomb_key *key,
                          struct aescomb_message *messages,
                          size_t count,
                          struct aescomb_error *error);

/**
 * Decrypts `count` messages and checks their tags, in constant time; see
 * `aescomb_encrypt`. If any tag is wrong, `AESCOMB_MESSAGES_FAILED` is returned, and the
 * status of each message says whether it is one of these: what was written of those is
 * wiped, the others are done. Nothing of a plaintext may be used before the call returns.
 */
aescomb_code aescomb_open(struct aescomb_comb *comb,
                          const struct aescomb_key *key,
                          struct aescomb_message *messages,
                          size_t count,
                          struct aescomb_error *error);

/**
 * How many modes there are.
 */
size_t aescomb_mode_count(void);

/**
 * The name of mode number `place`, from 0; NULL beyond the last. Static.
 */
const char *aescomb_mode_name(size_t place);

/**
 * Writes what is known of the mode of this name to `info`.
 *
 * Errors: `AESCOMB_UNKNOWN_MODE`; `AESCOMB_POINTER` if `mode` or `info` is NULL.
 */
aescomb_code aescomb_mode_info(const char *mode,
                               struct aescomb_info *info,
                               struct aescomb_error *error);

/**
 * Writes to `encrypted_len` how many bytes encrypting or sealing makes of `len` bytes, tag
 * not counted: the length that a destination must have. 0 for modes with a tag only.
 *
 * Errors: `AESCOMB_UNKNOWN_MODE`; `AESCOMB_TEXT_LENGTH` if the result would not fit in
 * memory; `AESCOMB_POINTER` if `mode` or `encrypted_len` is NULL.
 */
aescomb_code aescomb_mode_encrypted_len(const char *mode,
                                        size_t len,
                                        size_t *encrypted_len,
                                        struct aescomb_error *error);

/**
 * The name of backend number `place`, from 0, the widest first; NULL beyond the last.
 * Static. Whether this CPU has it, `aescomb_comb_new` says.
 */
const char *aescomb_backend_name(size_t place);

/**
 * The version of the library, such as "0.1.0". Static.
 */
const char *aescomb_version(void);

/**
 * As `aescomb_encrypt` with a packed batch. `batch` is only read, but for what its
 * `dst`, `tags` and `results` point to. Errors of one message say which; `field` is then the
 * name of a member of `aescomb_message`, or "layout" for an offset.
 */
aescomb_code aescomb_encrypt_packed(struct aescomb_comb *comb,
                                    const struct aescomb_key *key,
                                    const struct aescomb_packed *batch,
                                    struct aescomb_error *error);

/**
 * As `aescomb_decrypt` with a packed batch.
 */
aescomb_code aescomb_decrypt_packed(struct aescomb_comb *comb,
                                    const struct aescomb_key *key,
                                    const struct aescomb_packed *batch,
                                    struct aescomb_error *error);

/**
 * As `aescomb_mac` with a packed batch.
 */
aescomb_code aescomb_mac_packed(struct aescomb_comb *comb,
                                const struct aescomb_key *key,
                                const struct aescomb_packed *batch,
                                struct aescomb_error *error);

/**
 * As `aescomb_verify` with a packed batch.
 */
aescomb_code aescomb_verify_packed(struct aescomb_comb *comb,
                                   const struct aescomb_key *key,
                                   const struct aescomb_packed *batch,
                                   struct aescomb_error *error);

/**
 * As `aescomb_seal` with a packed batch.
 */
aescomb_code aescomb_seal_packed(struct aescomb_comb *comb,
                                 const struct aescomb_key *key,
                                 const struct aescomb_packed *batch,
                                 struct aescomb_error *error);

/**
 * As `aescomb_open` with a packed batch.
 */
aescomb_code aescomb_open_packed(struct aescomb_comb *comb,
                                 const struct aescomb_key *key,
                                 const struct aescomb_packed *batch,
                                 struct aescomb_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AESCOMB_H */
