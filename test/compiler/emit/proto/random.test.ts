/** protoc accepts the emitted files of random schemas and describes them like our descriptor sets. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { descriptorSet } from "../../../../compiler/emit/descriptor/index.js";
import { emitProto } from "../../../../compiler/emit/proto/index.js";
import { assignIds } from "../../../../compiler/lock/index.js";
import { checkProtobuf } from "../../../../compiler/protobuf/check-protobuf.js";
import { peer, runPeer } from "../../../peers.js";
import { cases } from "../../../profile.js";
import { arbitrarySchema } from "../arbitrary-schema.js";
import { nestedSchema } from "../nested-schema.js";
import { inputOfSchema, protoFiles } from "./lowered.js";
import { describeText } from "./protoc.js";

const count = cases(60, 600);

describe.skipIf(peer("protoc") === undefined)("protoc", () => {
  test("accepts random schemas and describes them like our descriptor sets", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "viceroy-random-"));
    try {
      const files: string[] = [];
      const sets: Uint8Array[] = [];
      const plain = fc.sample(arbitrarySchema, { numRuns: count, seed: 3 });
      const nested = fc.sample(nestedSchema, { numRuns: count, seed: 4 });
      for (const [i, schema] of [...plain, ...nested].entries()) {
        const assigned = assignIds(schema);
        if (checkProtobuf(assigned.schema).length > 0) continue;
        const input = inputOfSchema(assigned.schema, assigned.lock, `random${i}.v1`);
        const emitted = emitProto(input);
        if (emitted.diagnostics.length > 0) continue;
        for (const file of emitted.files) {
          const place = path.join(folder, file.path);
          mkdirSync(path.dirname(place), { recursive: true });
          writeFileSync(place, file.content);
        }
        files.push(...protoFiles(emitted.files));
        sets.push(descriptorSet(input.lowered, "0.1.0"));
      }
      // Most schemas are emitted: some have names that clash in protobuf and get a diagnostic.
      expect(sets.length).toBeGreaterThan((count * 2) / 3);
      const out = path.join(folder, "all.binpb");
      const names = [...new Set(files)];
      const args = ["-I", path.join(folder, "proto"), "--include_imports", "-o", out, ...names];
      const { status, stderr } = runPeer("protoc", args);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      // Concatenated descriptor sets are one descriptor set.
      const ours = path.join(folder, "ours.binpb");
      writeFileSync(ours, Buffer.concat(sets));
      expect(describeText(ours)).toEqual(describeText(out));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
