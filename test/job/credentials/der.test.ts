/** Tests of the encoder of certificates: openssl encodes the same values to the same bytes. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  bitString,
  derTrue,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  taggedBytes,
  taggedValues,
  time,
  utf8String,
} from "../../../runtime/job/credentials/der.js";

const folder = mkdtempSync(path.join(tmpdir(), "viceroy-der-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the encoding of a value. @param value in the language of `openssl asn1parse -genconf` */
function byOpenssl(...lines: string[]): string {
  const [settings, out] = [path.join(folder, "value.cnf"), path.join(folder, "value.der")];
  writeFileSync(settings, `${lines.join("\n")}\n`);
  execFileSync("openssl", ["asn1parse", "-genconf", settings, "-noout", "-out", out]);
  return readFileSync(out).toString("hex");
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

test.each([1, 127, 128, 255, 256, 5000])("%d bytes", (length) => {
  const bytes = randomBytes(length);
  expect(hex(octetString(bytes))).toBe(byOpenssl(`asn1=FORMAT:HEX,OCTETSTRING:${hex(bytes)}`));
  expect(hex(bitString(bytes))).toBe(byOpenssl(`asn1=FORMAT:HEX,BITSTR:${hex(bytes)}`));
});

test("65,536 bytes have three bytes of length", () => {
  expect(hex(octetString(Buffer.alloc(65_536)).subarray(0, 6))).toBe("048301000000");
});

test.each(["0.9.2342", "1.2.840.10045.4.3.2", "2.5.29.37", "2.999.127.128.16383.16384.2097152"])(
  "the identifier %s",
  (id) => {
    expect(hex(objectIdentifier(id))).toBe(byOpenssl(`asn1=OID:${id}`));
  },
);

test("numbers, texts, truth, and bits that are no whole bytes", () => {
  expect(hex(integer(Buffer.from([0x40, 0xff])))).toBe(byOpenssl("asn1=INTEGER:0x40ff"));
  expect(hex(utf8String("Viceroy job"))).toBe(byOpenssl("asn1=UTF8String:Viceroy job"));
  expect(hex(derTrue)).toBe(byOpenssl("asn1=BOOL:TRUE"));
  expect(hex(bitString(Buffer.from([0b0000_0110]), 1))).toBe(byOpenssl("asn1=FORMAT:BITLIST,BITSTR:5,6"));
});

test("times before and after the year 2050, in whole seconds", () => {
  expect(hex(time(Date.UTC(2049, 11, 31, 23, 59, 59, 999)))).toBe(byOpenssl("asn1=UTCTIME:491231235959Z"));
  expect(hex(time(Date.UTC(2050, 0, 1)))).toBe(byOpenssl("asn1=GENERALIZEDTIME:20500101000000Z"));
});

test("values inside of others", () => {
  const inner = integer(Buffer.from([2]));
  const section = ["[inside]", "one=INTEGER:2", "two=BOOL:TRUE"];
  expect(hex(sequence(inner, derTrue))).toBe(byOpenssl("asn1=SEQUENCE:inside", ...section));
  expect(hex(setOf(inner))).toBe(byOpenssl("asn1=SET:inside", "[inside]", "one=INTEGER:2"));
  expect(hex(taggedValues(3, inner))).toBe(byOpenssl("asn1=EXPLICIT:3,INTEGER:2"));
  expect(hex(taggedBytes(6, Buffer.from("uri")))).toBe(byOpenssl("asn1=IMPLICIT:6,IA5STRING:uri"));
});
