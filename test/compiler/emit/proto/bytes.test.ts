/** Bytes are exchanged with protoc: it prints our messages as text, and we decode the messages that it encodes. */
import assert from "node:assert";
import { rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ArtefactInput } from "../../../../compiler/emit/artefact.js";
import { emitProto } from "../../../../compiler/emit/proto/index.js";
import { indexSchema } from "../../../../compiler/model/resolve.js";
import { peer, runPeer } from "../../../peers.js";
import { cases } from "../../../profile.js";
import { Composer } from "../compose.js";
import { randomCodecs } from "../random-codecs.js";
import { inputOfCase } from "./cases.js";
import { emitInto, protoFiles } from "./lowered.js";

/** protoc on the files of one schema. */
class Protoc {
  readonly #root: string;
  readonly #files: readonly string[];

  constructor(folder: string, files: readonly string[]) {
    this.#root = path.join(folder, "proto");
    this.#files = files.map((file) => file.replace(/^proto\//, ""));
  }

  text(message: string, bytes: Uint8Array): string {
    return this.#run(`--decode=${message}`, bytes).toString();
  }

  bytes(message: string, text: string): Uint8Array {
    return new Uint8Array(this.#run(`--encode=${message}`, Buffer.from(text)));
  }

  #run(option: string, input: Uint8Array): Buffer {
    const { status, stdout, stderr } = runPeer("protoc", ["-I", this.#root, option, ...this.#files], { input });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return stdout;
  }
}

const folders: string[] = [];

function protocOf(input: ArtefactInput): Protoc {
  const { folder, files } = emitInto(emitProto, input);
  folders.push(folder);
  return new Protoc(
    folder,
    protoFiles(files).map((file) => `proto/${file}`),
  );
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(peer("protoc") === undefined)("protoc", () => {
  test("knows every field of random values and returns equal values", () => {
    let count = 0;
    for (const { input, codecs } of randomCodecs(cases(10), 31, 2)) {
      const protoc = protocOf(input);
      for (const { codec, message, values } of codecs) {
        for (const value of values) {
          const text = protoc.text(message, codec.toProtobuf(value));
          // A field that protoc does not know has a number in place of a name.
          expect(text).not.toMatch(/^\s*\d+(:| \{)/m);
          assert.deepStrictEqual(codec.fromProtobuf(protoc.bytes(message, text)), value);
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(cases(10));
  });

  describe("with the messages of a fixed schema", () => {
    const input = inputOfCase("messages");
    const composer = new Composer(indexSchema(input.schema));
    let protoc: Protoc;
    beforeAll(() => {
      protoc = protocOf(input);
    });

    test.each<[type: string, value: unknown, text: string]>([
      ["Inner", { id: 18446744073709551615n }, "id: 18446744073709551615\n"],
      ["Key", { case: "name", value: "" }, 'name: ""\n'],
      ["Shape", { kind: "circle", radius: 0.5 }, "circle {\n  radius: 0.5\n}\n"],
      [
        "Shape",
        { kind: "many", shapes: [{ kind: "square", side: 0 }] },
        "many {\n  shapes {\n    square {\n    }\n  }\n}\n",
      ],
      ["Rows", [{ id: 0n }, { id: 1n }], "items {\n}\nitems {\n  id: 1\n}\n"],
      ["Row", [1, -0.5], "items: 1\nitems: -0.5\n"],
      ["Matrix", [[], [1]], "items {\n}\nitems {\n  items: 1\n}\n"],
      ["Position", [1, 0], "x: 1\n"],
      ["MaybeRows", null, ""],
      ["MaybeRows", [], "value {\n}\n"],
      ["ItemEntry", { value: 'tab\t"quote"' }, 'value: "tab\\t\\"quote\\""\n'],
    ])("reads and writes %s %o as the text %j", (type, value, text) => {
      const codec = composer.type({ kind: "ref", target: `schemas/messages.ts#${type}`, args: [] });
      const message = `golden.v1.${type}`;
      const bytes = codec.toProtobuf(value);
      expect(protoc.text(message, bytes)).toBe(text);
      expect(codec.fromProtobuf(protoc.bytes(message, text))).toEqual(value);
      expect(protoc.bytes(message, text)).toEqual(bytes);
    });
  });
});
