import { expect, test } from "vitest";
import { crc32, crc32ByTable } from "../../../runtime/proc/checkpoint/crc32.js";

test.each([
  ["of Node.js, or the table if it has none", crc32],
  ["of the table", crc32ByTable],
])("the checksum %s is CRC-32, also of bytes in several parts", (_name, checksum) => {
  const bytes = Buffer.from("123456789");
  // The check value that the catalogue of CRCs lists for CRC-32/ISO-HDLC.
  expect(checksum(bytes)).toBe(0xcbf4_3926);
  expect(checksum(bytes.subarray(4), checksum(bytes.subarray(0, 4)))).toBe(0xcbf4_3926);
  expect(checksum(new Uint8Array(0))).toBe(0);
});
