"""FF1 of SP 800-38G revision 1, section 5.1, one value at a time."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


def encrypt(key: bytes, radix: int, tweak: bytes, value: list[int]) -> list[int]:
    u, v = len(value) // 2, len(value) - len(value) // 2
    a, b = value[:u], value[u:]
    for i in range(10):
        m = u if i % 2 == 0 else v
        c = (number(a, radix) + y(key, radix, tweak, len(value), i, b)) % radix**m
        a, b = b, numerals(c, radix, m)
    return a + b


def decrypt(key: bytes, radix: int, tweak: bytes, value: list[int]) -> list[int]:
    u, v = len(value) // 2, len(value) - len(value) // 2
    a, b = value[:u], value[u:]
    for i in reversed(range(10)):
        m = u if i % 2 == 0 else v
        c = (number(b, radix) - y(key, radix, tweak, len(value), i, a)) % radix**m
        a, b = numerals(c, radix, m), a
    return a + b


def number(value: list[int], radix: int) -> int:
    x = 0
    for numeral in value:
        x = x * radix + numeral
    return x


def numerals(x: int, radix: int, m: int) -> list[int]:
    value = []
    for _ in range(m):
        x, numeral = divmod(x, radix)
        value.append(numeral)
    return value[::-1]


def y(key: bytes, radix: int, tweak: bytes, n: int, i: int, half: list[int]) -> int:
    u, t = n // 2, len(tweak)
    b = -(-(radix ** (n - u) - 1).bit_length() // 8)
    d = 4 * -(-b // 4) + 4
    p = bytes([1, 2, 1]) + radix.to_bytes(3) + bytes([10, u % 256]) + n.to_bytes(4) + t.to_bytes(4)
    q = tweak + bytes((-t - b - 1) % 16) + bytes([i]) + number(half, radix).to_bytes(b)
    cipher = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    r = cipher.update(p + q)[-16:]
    blocks = [bytes(x ^ y for x, y in zip(r, j.to_bytes(16))) for j in range(1, -(-d // 16))]
    s = r + Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(b"".join(blocks))
    return int.from_bytes(s[:d])
