//! The block cipher of FIPS 197 (2001, updated 2023); section numbers are those of the update.

use std::array::from_fn;

/// FIPS 197, 3.4: the state, `state[r][c]` being row `r` of column `c`.
type State = [[u8; 4]; 4];

/// FIPS 197, 5.1.1, Table 4: the S-box.
const SBOX: [u8; 256] = sbox();

/// FIPS 197, 5.3.2, Table 6: the inverse of the S-box.
const INV_SBOX: [u8; 256] = inv_sbox();

/// FIPS 197, 5.1.3, Equation 5.7: each row of the matrix is the one above, turned right by one.
const MIX: [[u8; 4]; 4] = [
    [0x02, 0x03, 0x01, 0x01],
    [0x01, 0x02, 0x03, 0x01],
    [0x01, 0x01, 0x02, 0x03],
    [0x03, 0x01, 0x01, 0x02],
];

/// FIPS 197, 5.3.3: the inverse of [`MIX`].
const INV_MIX: [[u8; 4]; 4] = [
    [0x0e, 0x0b, 0x0d, 0x09],
    [0x09, 0x0e, 0x0b, 0x0d],
    [0x0d, 0x09, 0x0e, 0x0b],
    [0x0b, 0x0d, 0x09, 0x0e],
];

/// A matrix as what its columns come to with all bytes: `[k][b][r]` is the product of `b` with the
/// coefficient in row `r` and column `k`.
type Products = [[[u8; 4]; 256]; 4];

/// The products with [`MIX`].
const MIXED: Products = products(&MIX);

/// The products with [`INV_MIX`].
const INV_MIXED: Products = products(&INV_MIX);

/// AES under one key of 128, 192 or 256 bits.
pub struct Aes {
    /// `w` of FIPS 197, 5.2: 4 * (Nr + 1) words.
    w: Vec<[u8; 4]>,
    /// Nr: 10, 12 or 14.
    rounds: usize,
}

impl Aes {
    /// The cipher under `key`; `None` unless the key is 16, 24 or 32 bytes long.
    pub fn new(key: &[u8]) -> Option<Self> {
        let rounds = match key.len() {
            16 => 10,
            24 => 12,
            32 => 14,
            _ => return None,
        };
        let w = key_expansion(key, rounds);
        Some(Self { w, rounds })
    }

    /// The cipher of 128-bit keys with these round keys, of whatever key or none.
    pub(crate) fn with_round_keys(round_keys: &[[u8; 16]; 11]) -> Self {
        let words = round_keys.as_flattened().as_chunks().0;
        Self {
            w: words.to_vec(),
            rounds: 10,
        }
    }

    /// The round keys, from that of the first ADDROUNDKEY() to the last one's. `None` unless the
    /// key has 128 bits.
    pub(crate) fn round_keys(&self) -> Option<[[u8; 16]; 11]> {
        let (round_keys, _) = self.w.as_flattened().as_chunks();
        round_keys.try_into().ok()
    }

    /// FIPS 197, 5.1: CIPHER().
    pub fn encrypt_block(&self, input: &[u8; 16]) -> [u8; 16] {
        let mut state = to_state(input);
        state = self.add_round_key(state, 0);
        for round in 1..self.rounds {
            state = sub_bytes(state, &SBOX);
            state = shift_rows(state);
            state = mix_columns(state, &MIXED);
            state = self.add_round_key(state, round);
        }
        state = sub_bytes(state, &SBOX);
        state = shift_rows(state);
        state = self.add_round_key(state, self.rounds);
        from_state(state)
    }

    /// FIPS 197, 5.3: INVCIPHER().
    pub fn decrypt_block(&self, input: &[u8; 16]) -> [u8; 16] {
        let mut state = to_state(input);
        state = self.add_round_key(state, self.rounds);
        for round in (1..self.rounds).rev() {
            state = inv_shift_rows(state);
            state = sub_bytes(state, &INV_SBOX);
            state = self.add_round_key(state, round);
            state = mix_columns(state, &INV_MIXED);
        }
        state = inv_shift_rows(state);
        state = sub_bytes(state, &INV_SBOX);
        state = self.add_round_key(state, 0);
        from_state(state)
    }

    /// FIPS 197, 5.1.4: ADDROUNDKEY(); column `c` takes word `4 * round + c`.
    fn add_round_key(&self, state: State, round: usize) -> State {
        from_fn(|r| from_fn(|c| state[r][c] ^ self.w[4 * round + c][r]))
    }
}

/// FIPS 197, 5.2: KEYEXPANSION(); `nk` is the key's length in words.
fn key_expansion(key: &[u8], rounds: usize) -> Vec<[u8; 4]> {
    let nk = key.len() / 4;
    let mut rcon = 0x01;
    let mut w: Vec<[u8; 4]> = (0..nk).map(|i| from_fn(|j| key[4 * i + j])).collect();
    for i in nk..4 * (rounds + 1) {
        let mut temp = w[i - 1];
        if i % nk == 0 {
            temp = sub_word(rot_word(temp));
            temp[0] ^= rcon;
            rcon = multiply(rcon, 0x02);
        } else if nk > 6 && i % nk == 4 {
            temp = sub_word(temp);
        }
        let before = w[i - nk];
        w.push(from_fn(|j| before[j] ^ temp[j]));
    }
    w
}

/// FIPS 197, 5.2, Equation 5.10.
fn rot_word([a0, a1, a2, a3]: [u8; 4]) -> [u8; 4] {
    [a1, a2, a3, a0]
}

/// FIPS 197, 5.2, Equation 5.11.
fn sub_word(word: [u8; 4]) -> [u8; 4] {
    word.map(|byte| SBOX[usize::from(byte)])
}

/// FIPS 197, 3.4: the input fills the state column by column.
fn to_state(input: &[u8; 16]) -> State {
    from_fn(|r| from_fn(|c| input[r + 4 * c]))
}

/// FIPS 197, 3.4: the output is read column by column.
fn from_state(state: State) -> [u8; 16] {
    from_fn(|i| state[i % 4][i / 4])
}

/// FIPS 197, 5.1.1 and 5.3.2: SUBBYTES() with the S-box, INVSUBBYTES() with its inverse.
fn sub_bytes(state: State, table: &[u8; 256]) -> State {
    from_fn(|r| from_fn(|c| table[usize::from(state[r][c])]))
}

/// FIPS 197, 5.1.2: SHIFTROWS(); row `r` moves left by `r`.
fn shift_rows(state: State) -> State {
    from_fn(|r| from_fn(|c| state[r][(c + r) % 4]))
}

/// FIPS 197, 5.3.1: INVSHIFTROWS(); row `r` moves right by `r`.
fn inv_shift_rows(state: State) -> State {
    from_fn(|r| from_fn(|c| state[r][(c + 4 - r) % 4]))
}

/// FIPS 197, 5.1.3 and 5.3.3: MIXCOLUMNS() with [`MIX`], INVMIXCOLUMNS() with [`INV_MIX`]; every
/// column is multiplied by the matrix.
fn mix_columns(state: State, products: &Products) -> State {
    let mut mixed = State::default();
    for c in 0..4 {
        for (k, row) in state.iter().enumerate() {
            let terms = products[k][usize::from(row[c])];
            for r in 0..4 {
                mixed[r][c] ^= terms[r];
            }
        }
    }
    mixed
}

/// FIPS 197, 4.2: XTIMES(), the product with x modulo x^8 + x^4 + x^3 + x + 1.
const fn xtimes(b: u8) -> u8 {
    if b & 0x80 == 0 {
        b << 1
    } else {
        (b << 1) ^ 0x1b
    }
}

/// FIPS 197, 4.2: the product in GF(2^8), the sum of `a` times x^i over the set bits i of `b`.
const fn multiply(a: u8, b: u8) -> u8 {
    let mut product = 0;
    let mut power = a;
    let mut rest = b;
    while rest != 0 {
        if rest & 1 == 1 {
            product ^= power;
        }
        power = xtimes(power);
        rest >>= 1;
    }
    product
}

const fn products(matrix: &[[u8; 4]; 4]) -> Products {
    let mut table = [[[0; 4]; 256]; 4];
    let mut value = 0;
    while value < 256 {
        let mut i = 0;
        while i < 16 {
            let (r, k) = (i / 4, i % 4);
            table[k][value][r] = multiply(value as u8, matrix[r][k]);
            i += 1;
        }
        value += 1;
    }
    table
}

/// FIPS 197, 4.4: the inverse in GF(2^8), which is b^254; 0 for 0.
const fn inverse(b: u8) -> u8 {
    // b^254 = b^2 * b^4 * b^8 * b^16 * b^32 * b^64 * b^128.
    let mut inverse = 1;
    let mut power = b;
    let mut i = 1;
    while i < 8 {
        power = multiply(power, power);
        inverse = multiply(inverse, power);
        i += 1;
    }
    inverse
}

/// FIPS 197, 5.1.1, Equations 5.2 and 5.3: the inverse, then
/// b'_i = b_i + b_(i+4) + b_(i+5) + b_(i+6) + b_(i+7) + c_i, indices modulo 8, c = 01100011.
const fn sbox() -> [u8; 256] {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        let b = inverse(value as u8);
        // Turning right by n brings bit i + n (modulo 8) to bit i.
        table[value] = b
            ^ b.rotate_right(4)
            ^ b.rotate_right(5)
            ^ b.rotate_right(6)
            ^ b.rotate_right(7)
            ^ 0b0110_0011;
        value += 1;
    }
    table
}

/// FIPS 197, 5.3.2: the S-box read backwards.
const fn inv_sbox() -> [u8; 256] {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        table[SBOX[value] as usize] = value as u8;
        value += 1;
    }
    table
}
