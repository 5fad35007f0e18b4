//! Against `num-bigint`, with numbers at the edges.

use super::*;
use num_bigint::BigUint;

fn numbers(limit: &BigUint) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let mut all = vec![
        BigUint::ZERO,
        one.clone(),
        limit - &one,
        limit >> 1,
        limit / 3u8,
    ];
    let bits = limit.bits();
    for bit in (31..=bits).step_by(32) {
        let two = &one << bit;
        all.extend([&two - &one, two.clone(), two + &one]);
    }
    // All words ones or zeros but one bit, and what looks random.
    let mut x = BigUint::from(0x9e37_79b9_7f4a_7c15u64);
    for _ in 0..20 {
        x = (&x * &x + &x * 7u8 + 3u8) % ((&one << (bits + 64)) - &one);
        all.push(x.clone());
    }
    all.retain(|x| x < limit);
    all
}

fn words(x: &BigUint, count: usize) -> Vec<u64> {
    let mut words = x.to_u64_digits();
    assert!(words.len() <= count);
    words.resize(count, 0);
    words
}

fn number(words: &[u64]) -> BigUint {
    let halves = words.iter().flat_map(|x| [*x as u32, (x >> 32) as u32]);
    BigUint::new(halves.collect())
}

#[test]
fn words_are_divided() {
    let edges = |bits| {
        let power = 1u64 << bits;
        [power - 1, power, power + 1, power + (power >> 1)]
    };
    let all: Vec<u64> = (0..63)
        .flat_map(edges)
        .chain([u64::MAX, u64::MAX - 1])
        .collect();
    for d in all.iter().copied().filter(|d| *d > 0) {
        let by = Divisor::new(d);
        for x in &all {
            assert_eq!(by.divide_word(*x), (x / d, x % d), "{x} / {d}");
            let high = x % by.normal;
            for low in &all {
                let whole = u128::from(high) << 64 | u128::from(*low);
                let d = u128::from(by.normal);
                let expected = ((whole / d) as u64, (whole % d) as u64);
                assert_eq!(by.divide(high, *low), expected, "{whole} / {d}");
            }
        }
    }
}

fn block(x: &BigUint, bytes: usize) -> [u8; 16] {
    let digits = x.to_bytes_be();
    // What follows is not looked at.
    let mut block = [0xa5; 16];
    block[..bytes].fill(0);
    block[bytes - digits.len()..bytes].copy_from_slice(&digits);
    block
}

fn check_modulus(modulus: &impl Modulus, bytes: usize) {
    let m = BigUint::from(modulus.value());
    for x in numbers(&(BigUint::from(1u8) << (8 * bytes))) {
        let rest = modulus.reduce(&block(&x, bytes));
        assert_eq!(BigUint::from(rest), &x % &m, "{x} mod {m}");
    }
    for x in numbers(&m) {
        for y in numbers(&m) {
            let [a, b] = [&x, &y].map(|x| words(x, 1)[0]);
            let sum = BigUint::from(modulus.add(a, b));
            assert_eq!(sum, (&x + &y) % &m, "{x} + {y} mod {m}");
            let less = BigUint::from(modulus.subtract(a, b));
            assert_eq!(less, (&x + &m - &y) % &m, "{x} - {y} mod {m}");
        }
    }
}

#[test]
fn small_moduli() {
    for m in [2, 3, 10, 1000, 65_536, 100_000_000, (1 << 32) - 1, 1 << 32] {
        check_modulus(&Small::new(m), 8);
    }
}

#[test]
fn moduli_of_a_word() {
    let powers = [2, 1 << 16, 10_u64.pow(9), 10_u64.pow(19), 85_u64.pow(9)];
    for m in powers
        .into_iter()
        .chain([1 << 33, 1 << 63, u64::MAX, (1 << 32) + 1])
    {
        check_modulus(&Word::new(m), 12);
    }
}

#[test]
fn big_moduli() {
    for (radix, exponents) in [
        (10, &[19, 20, 38, 39, 40, 77, 200][..]),
        (2, &[64, 65, 127, 128, 129, 500]),
        (3, &[41, 81, 300]),
        (65_535, &[3, 4, 5, 8, 40]),
        (65_536, &[4, 5, 8, 9, 33]),
    ] {
        for exponent in exponents {
            let power = Numerals::new(radix).big_power(*exponent);
            let m = BigUint::from(radix).pow(*exponent as u32);
            assert_eq!(number(&power), m);
            let big = Big::new(power);
            let n = big.words();
            for more in [0, 1, 2, 3] {
                for x in numbers(&(BigUint::from(1u8) << (64 * (n + more)))) {
                    let mut sum = words(&x, n + more + 1);
                    big.reduce(&mut sum);
                    assert_eq!(number(&sum[..n]), &x % &m, "{x} mod {m}");
                }
            }
            for x in numbers(&m) {
                for y in numbers(&m) {
                    let (mut a, b) = (words(&x, n), words(&y, n));
                    big.add(&mut a, &b);
                    assert_eq!(number(&a), (&x + &y) % &m, "{x} + {y} mod {m}");
                    big.subtract(&mut a, &b);
                    assert_eq!(number(&a), x, "{x} + {y} - {y} mod {m}");
                }
            }
        }
    }
}

/// Estimates of quotients that are one and two too large, and those of more than a word.
#[test]
fn wrong_estimates_are_mended() {
    let (ones, top) = (u64::MAX, 1 << 63);
    for modulus in [
        vec![ones, top],
        vec![ones, 0, top],
        vec![1, top],
        vec![0, ones, ones],
    ] {
        let m = number(&modulus);
        let big = Big::new(modulus);
        let n = big.words();
        for quotient in [ones, ones - 1, top, top - 1, 1, 0] {
            for rest in [BigUint::ZERO, BigUint::from(1u8), &m - 1u8, &m >> 1] {
                let x = &m * quotient + &rest;
                let mut sum = words(&x, n + 2);
                big.reduce(&mut sum);
                assert_eq!(number(&sum[..n]), rest, "{quotient} {m} + {rest}");
            }
        }
    }
}

#[test]
fn numerals_and_numbers() {
    for radix in [
        2, 3, 7, 10, 16, 26, 255, 256, 1000, 32_768, 32_769, 65_535, 65_536,
    ] {
        let of = Numerals::new(radix);
        for len in (1..=70).chain([128, 300]) {
            let limit = BigUint::from(radix).pow(len as u32);
            for x in numbers(&limit) {
                let mut expected = x.clone();
                let mut digits = vec![0u16; len];
                for digit in digits.iter_mut().rev() {
                    *digit = (&expected % radix)
                        .to_u32_digits()
                        .first()
                        .map_or(0, |x| *x as u16);
                    expected /= radix;
                }
                let mut made = vec![0; limit.bits().div_ceil(64) as usize];
                of.big_number(&digits, &mut made);
                assert_eq!(number(&made), x);
                let mut back = vec![0; len];
                of.split_big(&mut made, &mut back);
                assert_eq!(back, digits, "{radix} {x}");
                if limit.bits() <= 64 {
                    let x = words(&x, 1)[0];
                    assert_eq!(of.number(&digits), x);
                    of.split(x, &mut back);
                    assert_eq!(back, digits, "{radix} {x}");
                }
            }
        }
    }
}
