/** protoc and buf accept the emitted .proto files, and the descriptor set beside them describes the same schema. */
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { descriptorSet } from "../../../../compiler/emit/descriptor/index.js";
import { emitProto } from "../../../../compiler/emit/proto/index.js";
import { peer, runPeer } from "../../../peers.js";
import { cases, inputOfCase } from "./cases.js";
import { emitInto, goldenCases, goldenInput, protoFiles } from "./lowered.js";
import { describeText } from "./protoc.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const all = [...cases, ...goldenCases];

function emitted(name: string) {
  const input = cases.includes(name) ? inputOfCase(name) : goldenInput(name);
  const { folder, files } = emitInto(emitProto, input);
  folders.push(folder);
  return { input, folder, files: protoFiles(files) };
}

describe.skipIf(peer("protoc") === undefined)("protoc", () => {
  test.each(all)("accepts %s and describes it like our descriptor set", (name) => {
    const { input, folder, files } = emitted(name);
    const root = path.join(folder, "proto");
    const out = path.join(folder, "protoc.binpb");
    const { status, stderr } = runPeer("protoc", ["-I", root, "--include_imports", "-o", out, ...files]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const ours = path.join(folder, "ours.binpb");
    writeFileSync(ours, descriptorSet(input.lowered, "0.1.0"));
    const described = describeText(out);
    expect(Object.keys(described)).toEqual(expect.arrayContaining([...files]));
    expect(describeText(ours)).toEqual(described);
  });
});

/** The files in which buf finds its configuration, in addition to the emitted files. */
const workspaces = {
  "without a configuration": {},
  "in a workspace of version 1": { "buf.work.yaml": "version: v1\ndirectories:\n  - proto\n" },
  "in a workspace of version 2": {
    "buf.yaml": "version: v2\nmodules:\n  - path: proto\nlint:\n  use:\n    - STANDARD\n",
  },
};

describe.skipIf(peer("buf") === undefined)("buf", () => {
  describe.each(Object.entries(workspaces))("%s", (_, config) => {
    test.each(all)("reports no lint finding in %s and builds it", (name) => {
      const { folder } = emitted(name);
      for (const [file, text] of Object.entries(config)) writeFileSync(path.join(folder, file), text);
      for (const command of ["lint", "build"]) {
        const input = Object.keys(config).length === 0 ? ["proto"] : [];
        const { status, stdout, stderr } = runPeer("buf", [command, ...input], { cwd: folder });
        expect({ command, status, output: `${stdout}${stderr}` }).toEqual({ command, status: 0, output: "" });
      }
    });
  });
});
