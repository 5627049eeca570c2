/** Random schemas: the capnp tool accepts the printed files and places every member as our layout does. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CapnpFile, CapnpStruct } from "../../../../compiler/capnp/capnp-schema.js";
import { lowerToCapnp } from "../../../../compiler/capnp/lower.js";
import { printCapnpFile } from "../../../../compiler/emit/capnp/print.js";
import { assignIds } from "../../../../compiler/lock/index.js";
import { peer, runPeer } from "../../../peers.js";
import { arbitrarySchema } from "../arbitrary-schema.js";

/** The plugin of the capnp tool that prints schemas with the places of their members. */
const besides = fileURLToPath(new URL("../../../../.peers/usr/bin/capnpc-capnp", import.meta.url));
const plugin = peer("capnp")?.includes(".peers") ? besides : "capnp";

/** The sizes and places of all structs of a file, as the tool prints them. */
function toldBy(text: string): readonly string[] {
  const found: string[] = [];
  for (const line of text.split("\n")) {
    const struct = /struct \w+ @0x\w+( \$.*)? \{ {2}# (\d+) bytes, (\d+) ptrs/.exec(line);
    const tag = /# tag bits \[(\d+), /.exec(line);
    const data = /@(\d+) :.*# bits\[(\d+), (\d+)\)/.exec(line);
    const pointer = /@(\d+) :.*# ptr\[(\d+)\]/.exec(line);
    if (struct !== null) found.push(`struct of ${struct[2]} bytes and ${struct[3]} pointers`);
    else if (tag !== null) found.push(`tag at ${tag[1]}`);
    else if (data !== null && data[2] !== data[3]) found.push(`@${data[1]} at bit ${data[2]}`);
    else if (pointer !== null) found.push(`@${pointer[1]} is pointer ${pointer[2]}`);
  }
  return found;
}

function oursOf(file: CapnpFile): readonly string[] {
  return file.types.flatMap((type) => (type.kind === "struct" ? ofStruct(type) : sizeOfConstants(type.kind)));
}

function sizeOfConstants(kind: "enum" | "constants"): readonly string[] {
  return kind === "constants" ? ["struct of 0 bytes and 0 pointers"] : [];
}

function ofStruct({ layout, members, nested, shape }: CapnpStruct): readonly string[] {
  const found = [`struct of ${layout.dataWords * 8} bytes and ${layout.pointerWords} pointers`];
  if ((shape === "choice" || shape === "nullable") && members.length > 1) found.push(`tag at ${layout.tag}`);
  members.forEach((member, i) => {
    const { ordinal, at, tag } = layout.slots[i] as CapnpStruct["layout"]["slots"][0];
    const number = ordinal + member.ordinals - 1;
    if (member.ordinals > 1) found.push(`tag at ${tag}`);
    const { kind } = member.type;
    if (kind === "data" || kind === "enum") found.push(`@${number} at bit ${at}`);
    else if (kind !== "void") found.push(`@${number} is pointer ${at}`);
  });
  return [...found, ...nested.flatMap((type) => (type.kind === "struct" ? ofStruct(type) : []))];
}

test.skipIf(peer("capnp") === undefined)("the capnp tool places structs and members as our layout does", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-capnp-"));
  try {
    let structs = 0;
    fc.assert(
      fc.property(arbitrarySchema, (random) => {
        const { schema, lock } = assignIds(random);
        const { files } = lowerToCapnp({ schema, lock, previousLock: undefined, schemaRoot: "schemas" });
        if (files.length === 0) return;
        for (const file of files) {
          const place = path.join(folder, `${file.path}.capnp`);
          mkdirSync(path.dirname(place), { recursive: true });
          writeFileSync(place, printCapnpFile(file, { package: "p", version: "0.1.0" }));
        }
        for (const file of files) {
          const run = runPeer("capnp", ["compile", `-o${plugin}`, `${file.path}.capnp`], { cwd: folder });
          expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: "" });
          expect([...toldBy(run.stdout.toString())].sort()).toEqual([...oursOf(file)].sort());
          structs += file.types.length;
        }
        rmSync(path.join(folder, "capnp"), { recursive: true });
      }),
      { numRuns: 40, endOnFailure: true },
    );
    expect(structs).toBeGreaterThan(50);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
