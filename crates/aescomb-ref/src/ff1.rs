//! FF1 of SP 800-38G revision 1, section 5.1, and what it is made of.
//!
//! Numbers are numerals from first to last: a sum modulo radix^m is a sum of m numerals without
//! its last carry.

use crate::aes::Aes;
use crate::modes::xor;

/// FF1.Encrypt(K, T, X): `None` for a key of a wrong length, a radix that is not from 2 to 65,536,
/// a numeral that is not below it, and a value that is too short: with fewer than two numerals, or
/// for which radix^n is below a million.
pub fn ff1_encrypt(key: &[u8], radix: u32, tweak: &[u8], x: &[u16]) -> Option<Vec<u16>> {
    let aes = checked(key, radix, x)?;
    let (mut a, mut b) = (x[..x.len() / 2].to_vec(), x[x.len() / 2..].to_vec());
    for i in 0..10 {
        let y = round(&aes, radix, tweak, x.len(), i, &b);
        let c = combine(&a, &y, radix, |a, y| a + y);
        (a, b) = (b, c);
    }
    a.append(&mut b);
    Some(a)
}

/// FF1.Decrypt(K, T, X); `None` as for [`ff1_encrypt`].
pub fn ff1_decrypt(key: &[u8], radix: u32, tweak: &[u8], x: &[u16]) -> Option<Vec<u16>> {
    let aes = checked(key, radix, x)?;
    let (mut a, mut b) = (x[..x.len() / 2].to_vec(), x[x.len() / 2..].to_vec());
    for i in (0..10).rev() {
        let y = round(&aes, radix, tweak, x.len(), i, &a);
        let c = combine(&b, &y, radix, |b, y| b - y);
        (a, b) = (c, a);
    }
    a.append(&mut b);
    Some(a)
}

fn checked(key: &[u8], radix: u32, x: &[u16]) -> Option<Aes> {
    let values = f64::from(radix).powi(x.len().min(20) as i32);
    let good = (2..=65536).contains(&radix)
        && x.len() >= 2
        && values >= 1e6
        && x.iter().all(|x| u32::from(*x) < radix);
    if good { Aes::new(key) } else { None }
}

/// Steps 3 to 6.iv: NUM(S) as numerals, the highest first, all that there are.
fn round(aes: &Aes, radix: u32, tweak: &[u8], n: usize, i: u8, half: &[u16]) -> Vec<u16> {
    let (u, t) = (n / 2, tweak.len());
    // Step 3: bytes of the greatest number of v numerals.
    let b = bytes(&vec![(radix - 1) as u16; n - u], radix).len();
    let d = 4 * b.div_ceil(4) + 4;
    let mut p = vec![1, 2, 1];
    p.extend(&radix.to_be_bytes()[1..]);
    p.extend([10, u as u8]);
    p.extend((n as u32).to_be_bytes());
    p.extend((t as u32).to_be_bytes());
    let mut q = tweak.to_vec();
    while !(q.len() + b + 1).is_multiple_of(16) {
        q.push(0);
    }
    q.push(i);
    let number = bytes(half, radix);
    q.resize(q.len() + b - number.len(), 0);
    q.extend(number);
    let mut r = [0; 16];
    for block in p.chunks(16).chain(q.chunks(16)) {
        r = aes.encrypt_block(&xor(&r, block.try_into().expect("whole blocks")));
    }
    let mut s = r.to_vec();
    for j in 1u128.. {
        if s.len() >= d {
            break;
        }
        s.extend(aes.encrypt_block(&xor(&r, &j.to_be_bytes())));
    }
    numerals(&s[..d], radix)
}

/// NUM_radix as bytes, the highest first, without zeros before them.
fn bytes(numerals: &[u16], radix: u32) -> Vec<u8> {
    let mut lowest_first: Vec<u8> = Vec::new();
    for numeral in numerals {
        let mut carry = u32::from(*numeral);
        for byte in &mut lowest_first {
            carry += u32::from(*byte) * radix;
            *byte = carry as u8;
            carry >>= 8;
        }
        while carry > 0 {
            lowest_first.push(carry as u8);
            carry >>= 8;
        }
    }
    lowest_first.reverse();
    lowest_first
}

/// The numerals of a number, by divisions until nothing is left.
fn numerals(number: &[u8], radix: u32) -> Vec<u16> {
    let (mut number, mut lowest_first) = (number.to_vec(), Vec::new());
    while number.iter().any(|byte| *byte > 0) {
        let mut rest = 0;
        for byte in &mut number {
            rest = rest << 8 | u32::from(*byte);
            *byte = (rest / radix) as u8;
            rest %= radix;
        }
        lowest_first.push(rest as u16);
    }
    lowest_first.reverse();
    lowest_first
}

/// Steps 6.v to 6.vii: `x` plus or minus `y`, in as many numerals as `x` has.
fn combine(x: &[u16], y: &[u16], radix: u32, by: impl Fn(i64, i64) -> i64) -> Vec<u16> {
    let (mut carry, mut result) = (0, Vec::new());
    let mut y = y.iter().rev();
    for x in x.iter().rev() {
        let y = y.next().copied().unwrap_or(0);
        let sum = by(i64::from(*x), i64::from(y)) + carry;
        carry = sum.div_euclid(i64::from(radix));
        result.push(sum.rem_euclid(i64::from(radix)) as u16);
    }
    result.reverse();
    result
}
