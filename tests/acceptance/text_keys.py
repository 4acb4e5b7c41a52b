#!/usr/bin/env python3
# Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
"""Row keys as TextKeys.java computes them, once more and without a JDK.

    text_keys.py ORDERS > KEYS

The formats are those of TextKeys.java.
"""

import hashlib
import sys
import zlib

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
LONG_MAX = (1 << 63) - 1
INT_MAX = (1 << 31) - 1

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364")


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


def java_hash(text):
    units = text.encode("utf-16-be")
    h = 0
    for i in range(0, len(units), 2):
        h = (31 * h + int.from_bytes(units[i:i + 2], "big")) & M32
    return signed(h, 32)


def java_rem(a, n):
    """Java's %: the sign is that of a."""
    return -(-a % n) if a < 0 else a % n


def java_abs(value, bits):
    """Math.abs: the least integer stays as it is."""
    return value if value == -(1 << (bits - 1)) else abs(value)


def padded(number, width):
    """%0<width>d: the zeros stand behind the sign."""
    return f"{number:0{width}d}"


def rotl(value, count, bits):
    mask = (1 << bits) - 1
    return (value << count | value >> (bits - count)) & mask


def murmur3(data):
    h = 0
    for i in range(0, len(data), 4):
        block = data[i:i + 4]
        k = int.from_bytes(block, "little")
        k = rotl(k * 0xcc9e2d51 & M32, 15, 32) * 0x1b873593 & M32
        h ^= k
        if len(block) == 4:
            h = (rotl(h, 13, 32) * 5 + 0xe6546b64) & M32
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85ebca6b & M32
    h = (h ^ h >> 13) * 0xc2b2ae35 & M32
    return h ^ h >> 16


def le(data, at, size=8):
    return int.from_bytes(data[at:at + size], "little")


def fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def mix16(data, at, s):
    return fold(le(data, at) ^ le(SECRET, s),
                le(data, at + 8) ^ le(SECRET, s + 8))


def finish64(h):
    h = (h ^ h >> 33) * 0xC2B2AE3D27D4EB4F & M64
    h = (h ^ h >> 29) * 0x165667B19E3779F9 & M64
    return h ^ h >> 32


def finish(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def xxh3(data):
    """XXH3, 64 bits, no seed, of at most 128 bytes."""
    n = len(data)
    if n == 0:
        return finish64(le(SECRET, 56) ^ le(SECRET, 64))
    if n <= 3:
        mixed = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return finish64(mixed ^ le(SECRET, 0, 4) ^ le(SECRET, 4, 4))
    if n <= 8:
        h = (le(data, n - 4, 4) + (le(data, 0, 4) << 32)) & M64
        h ^= le(SECRET, 8) ^ le(SECRET, 16)
        h ^= rotl(h, 49, 64) ^ rotl(h, 24, 64)
        h = h * 0x9FB21C651E98DF25 & M64
        h ^= (h >> 35) + n
        h = h * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 28
    if n <= 16:
        lo = le(data, 0) ^ le(SECRET, 24) ^ le(SECRET, 32)
        hi = le(data, n - 8) ^ le(SECRET, 40) ^ le(SECRET, 48)
        swapped = int.from_bytes(lo.to_bytes(8, "little"), "big")
        return finish((n + swapped + hi + fold(lo, hi)) & M64)
    if n > 128:
        raise ValueError(f"too long: {n}")
    acc = n * 0x9E3779B185EBCA87
    for i in range((n - 1) // 32, -1, -1):
        acc += mix16(data, 16 * i, 32 * i)
        acc += mix16(data, n - 16 * (i + 1), 32 * i + 16)
    return finish(acc & M64)


def schemes(order, seller, buyer, ts, items):
    raw = seller.encode()
    java = java_hash(seller)
    unsigned = java & M32
    murmur = murmur3(raw)
    xxh = xxh3(raw)
    md5 = hashlib.md5(raw).hexdigest()
    crc = zlib.crc32(raw)
    joined = hashlib.md5(f"{seller}_{ts}".encode()).hexdigest()
    reversed_md5 = hashlib.md5(order[::-1].encode()).hexdigest()
    big = int(hashlib.md5(buyer.encode()).hexdigest(), 16)
    sha256 = int(hashlib.sha256(raw).hexdigest(), 16)
    abs_java = java_rem(java_abs(java, 32), 100)
    abs_murmur = java_rem(java_abs(signed(murmur, 32), 32), 1000)
    return {
        "md5_seller_desc": f"{md5[:4]}-{seller}-{LONG_MAX - ts}-{order}",
        "md5_odd_upper":
            f"{md5[:5].upper()}::{seller}::{padded(ts, 13)}::{order}",
        "md5_fields_joined": f"{joined[:8]}{padded(ts, 13)}{order}",
        "md5_reversed_id": f"{reversed_md5[:6]}-{order}",
        "md5_big_mod": f"{padded(big % 97, 2)}_{buyer}_{order}",
        "sha1_whole":
            f"{hashlib.sha1(order.encode()).hexdigest()}|{order}",
        "sha256_decimal": f"{sha256}|{seller}|{order}",
        "crc32_hex_string": f"{zlib.crc32(order.encode()):x}_{order}",
        "crc32_padded": f"{padded(crc, 10)}{seller}_{order}",
        "crc32_bucket": f"{crc % 256:02x}_{seller}_{order}",
        "java_abs":
            f"{padded(abs_java, 3)}_{seller}_{9999999999999 - ts}_{order}",
        "java_mask":
            f"{padded((java & INT_MAX) % 64, 2)}|{seller}|{ts}|{order}",
        "java_floor": f"{padded(java % 1000, 4)}|{seller}|{order}",
        "java_mod_abs": f"{abs(java_rem(java, 1000))}|{seller}|{order}",
        "java_signed": f"{java}|{seller}|{order}",
        "java_hex": f"{unsigned:x}-{seller}-{order}",
        "murmur3_signed": f"{signed(murmur, 32)}|{seller}|{order}",
        "murmur3_hex": f"{murmur:08x}-{seller}-{order}",
        "murmur3_abs": f"{padded(abs_murmur, 3)}_{seller}_{order}",
        "xxh3_hex": f"{xxh:016x}-{seller}-{order}",
        "xxh3_mask":
            f"{padded((xxh & LONG_MAX) % 4096, 4)}_{seller}_{order}",
        "xxh3_signed": f"{signed(xxh, 64)}|{seller}|{order}",
        "reversed_numbers":
            f"{padded(items, 6)[::-1]}_{seller[::-1]}_{order[::-1]}",
        "salt": f"_{seller}_{order}",
    }


def main():
    out = []
    with open(sys.argv[1], encoding="ascii") as orders:
        for number, line in enumerate(orders):
            fields = line.rstrip("\n").split("\t")
            texts = [bytes.fromhex(f).decode() for f in fields[:3]]
            keys = schemes(*texts, int(fields[3]), int(fields[4]))
            for scheme, key in keys.items():
                out.append(f"{scheme}\t{number}\t{key.encode().hex()}\n")
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
