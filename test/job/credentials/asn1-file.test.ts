/** Tests of the file with the encoder of certificates in the build. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const dist = path.resolve(import.meta.dirname, "../../../dist");

test("the encoder of certificates is a file of its own, with the licenses of its libraries", async () => {
  const text = readFileSync(path.join(dist, "asn1.js"), "utf8");
  expect(text).toMatch(/^\/\*! This file contains:\n\nasn1js 4\.\d+\.\d+\n\nCopyright \(c\) 2014, GMO GlobalSign\n/);
  expect(text).toContain("Redistributions in binary form must reproduce the above copyright notice");
  expect(text).toMatch(/\n@peculiar\/utils 4\.\d+\.\d+\n\nMIT License\n/);
  const { Integer, Sequence } = (await import(path.join(dist, "asn1.js"))) as typeof import("asn1js");
  const encoded = new Sequence({ value: [new Integer({ value: 5 })] }).toBER();
  expect(Buffer.from(encoded).toString("hex")).toBe("3003020105");
  // Processes that sign nothing do not load it.
  for (const file of ["runtime.cjs", "boot.cjs", "index.js"]) {
    expect(readFileSync(path.join(dist, file), "utf8")).not.toContain("GeneralizedTime");
  }
});
