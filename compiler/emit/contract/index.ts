/** Emits `contract.json`, from which other packages learn the schemas of this one. */
import { contractFile, printContract } from "../../contracts/contract.js";
import { printLock } from "../../lock/index.js";
import type { Module } from "../../model/index.js";
import type { ArtefactInput, EmittedArtefact } from "../artefact.js";
import { createContext, type EmitContext } from "../typescript/emit-context.js";

export function emitContract(input: ArtefactInput): EmittedArtefact {
  const { schema, schemaRoot, protoPackage, version, out, texts, lock } = input;
  const context = createContext(schema, schemaRoot, { protoPackage });
  const text = printContract({
    viceroy: version,
    package: schema.package,
    protoPackage,
    out,
    modules: schema.modules.map((module) => ({
      path: module.path,
      output: context.fileOf(module),
      fingerprint: hex(context.fingerprints.module(module), 16),
      exports: exportsOf(module, context),
      text: texts.get(module.path) ?? "",
    })),
    actors: schema.modules.flatMap(({ actors }) =>
      actors.map(({ key, id }) => ({
        key: context.actorKey(key),
        base: context.actorClass(key).name,
        id: hex(BigInt(id), 8),
        fingerprint: hex(context.fingerprints.actor(key), 16),
      })),
    ),
    lock: printLock(lock),
  });
  return { files: [{ path: contractFile, content: text }], diagnostics: [] };
}

/** Returns the values that a generated file exports for other generated files and for actors. */
function exportsOf({ types, actors }: Module, context: EmitContext): readonly string[] {
  const codecs = types.filter(({ key }) => context.isExported(key)).map(({ key }) => context.codec(key).name);
  const names = actors.flatMap(({ key }) => [context.actorClass(key).name, context.descriptor(key).name]);
  return [...codecs, ...names];
}

function hex(value: bigint, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
