// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Row keys as Java programs on HBase compute them, for comparison.
//
//   java TextKeys.java ORDERS > KEYS
//
// ORDERS has a line per order: order id, seller and buyer in hexadecimal UTF-8,
// the time in milliseconds and the number of items, with tabs between. KEYS
// gets a line per scheme and order: the scheme, the number of the order from 0,
// the key in hexadecimal. A salt is left out of its key.

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.zip.CRC32;

public class TextKeys {
  record Order(String id, String seller, String buyer, long ts, int items) {}

  static byte[] utf8(String s) {
    return s.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] digest(String algorithm, String s) throws Exception {
    return MessageDigest.getInstance(algorithm).digest(utf8(s));
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  static String md5Hex(String s) throws Exception {
    return hex(digest("MD5", s));
  }

  static long crc32(String s) {
    CRC32 crc = new CRC32();
    crc.update(utf8(s));
    return crc.getValue();
  }

  static String reverse(String s) {
    return new StringBuilder(s).reverse().toString();
  }

  // MurmurHash3 x86_32, seed 0.
  static int murmur3(String s) {
    byte[] data = utf8(s);
    int h = 0;
    for (int i = 0; i < data.length; i += 4) {
      int k = 0;
      int n = Math.min(4, data.length - i);
      for (int b = 0; b < n; b++) k |= (data[i + b] & 0xff) << (8 * b);
      k = Integer.rotateLeft(k * 0xcc9e2d51, 15) * 0x1b873593;
      h ^= k;
      if (n == 4) h = Integer.rotateLeft(h, 13) * 5 + 0xe6546b64;
    }
    h ^= data.length;
    h = (h ^ (h >>> 16)) * 0x85ebca6b;
    h = (h ^ (h >>> 13)) * 0xc2b2ae35;
    return h ^ (h >>> 16);
  }

  // XXH3, 64 bits, no seed, of at most 128 bytes. The constants are those of
  // its specification.
  static final ByteBuffer SECRET = ByteBuffer.wrap(HexFormat.of().parseHex(
      "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
      + "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
      + "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
      + "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"))
      .order(ByteOrder.LITTLE_ENDIAN);

  static long secret(int at) {
    return SECRET.getLong(at);
  }

  static long fold(long a, long b) {
    long high = Math.multiplyHigh(a, b) + ((a >> 63) & b) + ((b >> 63) & a);
    return (a * b) ^ high;
  }

  static long mix16(ByteBuffer in, int at, int s) {
    return fold(in.getLong(at) ^ secret(s), in.getLong(at + 8) ^ secret(s + 8));
  }

  static long finish64(long h) {
    h = (h ^ (h >>> 33)) * 0xC2B2AE3D27D4EB4FL;
    h = (h ^ (h >>> 29)) * 0x165667B19E3779F9L;
    return h ^ (h >>> 32);
  }

  static long finish(long h) {
    h = (h ^ (h >>> 37)) * 0x165667919E3779F9L;
    return h ^ (h >>> 32);
  }

  static long xxh3(String s) {
    byte[] data = utf8(s);
    int n = data.length;
    ByteBuffer in = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    if (n == 0) return finish64(secret(56) ^ secret(64));
    if (n <= 3) {
      long mixed = (data[0] & 0xffL) << 16 | (data[n >> 1] & 0xffL) << 24
          | (data[n - 1] & 0xffL) | (long) n << 8;
      return finish64(
          mixed ^ ((SECRET.getInt(0) ^ SECRET.getInt(4)) & 0xffffffffL));
    }
    if (n <= 8) {
      long first = in.getInt(0) & 0xffffffffL;
      long last = in.getInt(n - 4) & 0xffffffffL;
      long h = (last + (first << 32)) ^ secret(8) ^ secret(16);
      h ^= Long.rotateLeft(h, 49) ^ Long.rotateLeft(h, 24);
      h *= 0x9FB21C651E98DF25L;
      h ^= (h >>> 35) + n;
      h *= 0x9FB21C651E98DF25L;
      return h ^ (h >>> 28);
    }
    if (n <= 16) {
      long lo = in.getLong(0) ^ secret(24) ^ secret(32);
      long hi = in.getLong(n - 8) ^ secret(40) ^ secret(48);
      return finish(n + Long.reverseBytes(lo) + hi + fold(lo, hi));
    }
    if (n > 128) throw new IllegalArgumentException("too long: " + n);
    long acc = n * 0x9E3779B185EBCA87L;
    for (int i = (n - 1) / 32; i >= 0; i--) {
      acc += mix16(in, 16 * i, 32 * i);
      acc += mix16(in, n - 16 * (i + 1), 32 * i + 16);
    }
    return finish(acc);
  }

  static String[] schemes(Order o) throws Exception {
    int java = o.seller.hashCode();
    int murmur = murmur3(o.seller);
    long xxh3 = xxh3(o.seller);
    long desc = Long.MAX_VALUE - o.ts;
    return new String[] {
      "md5_seller_desc",
      md5Hex(o.seller).substring(0, 4) + "-" + o.seller + "-" + desc + "-" + o.id,
      "md5_odd_upper",
      md5Hex(o.seller).substring(0, 5).toUpperCase() + "::" + o.seller + "::"
          + String.format("%013d", o.ts) + "::" + o.id,
      "md5_fields_joined",
      md5Hex(o.seller + "_" + o.ts).substring(0, 8)
          + String.format("%013d", o.ts) + o.id,
      "md5_reversed_id",
      md5Hex(reverse(o.id)).substring(0, 6) + "-" + o.id,
      "md5_big_mod",
      String.format("%02d", new BigInteger(1, digest("MD5", o.buyer))
          .mod(BigInteger.valueOf(97))) + "_" + o.buyer + "_" + o.id,
      "sha1_whole", hex(digest("SHA-1", o.id)) + "|" + o.id,
      "sha256_decimal",
      new BigInteger(1, digest("SHA-256", o.seller)) + "|" + o.seller + "|" + o.id,
      "crc32_hex_string", Long.toHexString(crc32(o.id)) + "_" + o.id,
      "crc32_padded",
      String.format("%010d", crc32(o.seller)) + o.seller + "_" + o.id,
      "crc32_bucket",
      String.format("%02x", crc32(o.seller) % 256) + "_" + o.seller + "_" + o.id,
      "java_abs",
      String.format("%03d", Math.abs(java) % 100) + "_" + o.seller + "_"
          + (9999999999999L - o.ts) + "_" + o.id,
      "java_mask",
      String.format("%02d", (java & Integer.MAX_VALUE) % 64) + "|" + o.seller
          + "|" + o.ts + "|" + o.id,
      "java_floor",
      String.format("%04d", Math.floorMod(java, 1000)) + "|" + o.seller + "|" + o.id,
      "java_mod_abs",
      Math.abs(java % 1000) + "|" + o.seller + "|" + o.id,
      "java_signed", java + "|" + o.seller + "|" + o.id,
      "java_hex", Integer.toHexString(java) + "-" + o.seller + "-" + o.id,
      "murmur3_signed", murmur + "|" + o.seller + "|" + o.id,
      "murmur3_hex",
      String.format("%08x", murmur) + "-" + o.seller + "-" + o.id,
      "murmur3_abs",
      String.format("%03d", Math.abs(murmur) % 1000) + "_" + o.seller + "_" + o.id,
      "xxh3_hex", String.format("%016x", xxh3) + "-" + o.seller + "-" + o.id,
      "xxh3_mask",
      String.format("%04d", (xxh3 & Long.MAX_VALUE) % 4096) + "_" + o.seller
          + "_" + o.id,
      "xxh3_signed", xxh3 + "|" + o.seller + "|" + o.id,
      "reversed_numbers",
      reverse(String.format("%06d", o.items)) + "_" + reverse(o.seller) + "_"
          + reverse(o.id),
      "salt", "_" + o.seller + "_" + o.id,
    };
  }

  static String text(String hex) {
    return new String(HexFormat.of().parseHex(hex), StandardCharsets.UTF_8);
  }

  public static void main(String[] args) throws Exception {
    StringBuilder out = new StringBuilder();
    int number = 0;
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] f = line.split("\t", -1);
      Order order = new Order(text(f[0]), text(f[1]), text(f[2]),
          Long.parseLong(f[3]), Integer.parseInt(f[4]));
      String[] keys = schemes(order);
      for (int i = 0; i < keys.length; i += 2) {
        out.append(keys[i]).append('\t').append(number).append('\t')
            .append(hex(utf8(keys[i + 1]))).append('\n');
      }
      number++;
    }
    System.out.print(out);
  }
}
