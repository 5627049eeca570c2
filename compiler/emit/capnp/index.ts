/**
 * The Cap'n Proto emitter. It writes a `.capnp` file for every schema file that declares types, and a file of readers
 * beside it if TypeScript is emitted. The readers read payloads in place, from shared or registered memory. Types of other
 * packages are written to files of their own below `packages`, with ids of this package.
 */

import { lowerToCapnp } from "../../capnp/lower.js";
import { diagnostic } from "../../diagnostics/index.js";
import { outputPath } from "../../model/schema-paths.js";
import type { ArtefactInput, EmittedArtefact } from "../artefact.js";
import { createContext } from "../typescript/emit-context.js";
import { printCapnpFile } from "./print.js";
import { emitCapnpReaders } from "./readers.js";

export function emitCapnp(input: Omit<ArtefactInput, "lowered" | "protoPackage">): EmittedArtefact {
  const { schema, lock, previousLock: before, typeScript, version, schemaRoot, importExtension = ".js" } = input;
  const { importedLocks } = input;
  const { files, diagnostics } = lowerToCapnp({ schema, lock, previousLock: before, schemaRoot, importedLocks });
  const context = createContext(schema, schemaRoot, { importExtension });
  const emitted = files.flatMap((file) => {
    const notation = {
      path: `${file.path}.capnp`,
      content: printCapnpFile(file, { package: schema.package, version }),
    };
    const readers = typeScript ? emitCapnpReaders(file, { version, context }) : undefined;
    return readers === undefined ? [notation] : [notation, { path: `${file.path}.ts`, content: readers }];
  });
  const paths = new Map(schema.modules.map((module) => [outputPath(module.path, schemaRoot), module.path]));
  const clashes = files.flatMap((file) => {
    const output = `${file.path}.ts`;
    const other = paths.get(output);
    const at = { file: file.module, line: 1, column: 1 };
    return other === undefined ? [] : [diagnostic("VC1008", at, { output, file: file.module, other })];
  });
  return { files: emitted, diagnostics: [...diagnostics, ...(typeScript ? clashes : [])] };
}
