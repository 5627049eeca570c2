/** Schemas of tests as what is emitted from them beside TypeScript. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { ArtefactEmitter, ArtefactFile, ArtefactInput } from "../../../../compiler/emit/artefact.js";
import { assignIds, emptyLock, type Lock } from "../../../../compiler/lock/index.js";
import type { Schema } from "../../../../compiler/model/index.js";
import { lowerToProtobuf } from "../../../../compiler/protobuf/lower/lower.js";
import { openTypeSource, readSchema, type SourceText } from "../../../../compiler/source/index.js";

const source = openTypeSource({ exists: () => false });

/** The input of an emitter. Texts must be free of errors. */
export function inputOf(texts: readonly SourceText[], lock: Lock = emptyLock): ArtefactInput {
  source.update(texts);
  const read = readSchema(source, "golden");
  const assigned = assignIds(read.schema, lock);
  const found = [...read.diagnostics.map(({ text }) => text), ...assigned.problems.map(({ kind }) => kind)];
  if (found.length > 0) throw new Error(`cannot compile ${texts.map((text) => text.path)}: ${found.join("\n")}`);
  return inputOfSchema(assigned.schema, assigned.lock);
}

/** @param schema with ids */
export function inputOfSchema(schema: Schema, lock: Lock = emptyLock, protoPackage = "golden.v1"): ArtefactInput {
  const lowered = lowerToProtobuf(schema, lock, { package: protoPackage, schemaRoot: "schemas" });
  const paths = { schemaRoot: "schemas", out: "generated", texts: new Map() };
  return { schema, lock, version: "0.1.0", protoPackage, lowered, ...paths };
}

/** Schema files of a folder, as if they stood in `schemas/`. */
export function schemasIn(folder: string): readonly SourceText[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  return names.map((name) => {
    return { path: `schemas/${name.replaceAll(path.sep, "/")}`, text: readFileSync(path.join(folder, name), "utf8") };
  });
}

/** The inputs of the cases that the TypeScript emitter has too, by name. */
export const goldenFolder = fileURLToPath(new URL("../golden/", import.meta.url));
export const goldenCases: readonly string[] = readdirSync(goldenFolder);

export function goldenInput(name: string): ArtefactInput {
  return inputOf(schemasIn(path.join(goldenFolder, name, "input")));
}

/** What an emitter makes, in a folder of its own. */
export function emitInto(
  emit: ArtefactEmitter,
  input: ArtefactInput,
): { readonly folder: string; readonly files: readonly ArtefactFile[] } {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-artefact-"));
  const { files } = emit(input);
  for (const file of files) {
    mkdirSync(path.dirname(path.join(folder, file.path)), { recursive: true });
    writeFileSync(path.join(folder, file.path), file.content);
  }
  return { folder, files };
}

/** The `.proto` files among what is emitted, as protoc has to be told of them. */
export function protoFiles(files: readonly ArtefactFile[]): readonly string[] {
  return files.filter((file) => file.path.endsWith(".proto")).map((file) => file.path.replace(/^proto\//, ""));
}
