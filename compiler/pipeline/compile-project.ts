/**
 * Compiles schema files to the texts of generated files without writing them: reads the schemas, assigns ids, finds
 * actors, and emits. A run reports all problems together. It emits nothing if there are errors.
 */
import path from "node:path";
import { findActors } from "../actors/index.js";
import type { Config } from "../config/index.js";
import { type Diagnostic, diagnostic, sortDiagnostics } from "../diagnostics/index.js";
import {
  type ArtefactInput,
  artefactEmitters,
  commonRoot,
  type EmittedArtefact,
  emitTypeScript,
  findClashes,
  generatedBases,
} from "../emit/index.js";
import { assignIds, type Lock, printLock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import { matchingFiles, type OutputFile } from "../output/index.js";
import { checkProtobuf } from "../protobuf/check-protobuf.js";
import { lowerToProtobuf, nameEnums } from "../protobuf/lower/lower.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";
import { protoPackageOf } from "../protobuf/proto-package.js";
import { readSchema, type TypeSource } from "../source/index.js";
import type { CompileMemory } from "./compile-memory.js";
import { chooseImportExtension } from "./import-extension.js";
import { lockDiagnostic } from "./lock-diagnostics.js";
import { type LockOnDisk, packageName, readIfThere, readLock, readSchemaTexts } from "./project-files.js";

export interface Compilation {
  /** The diagnostics, sorted by position. */
  readonly diagnostics: readonly Diagnostic[];
  /** The output, or undefined if there are errors. */
  readonly output: CompiledOutput | undefined;
}

export interface CompiledOutput {
  readonly schema: Schema;
  /** The schema as declared, without ids and with the members that `@retired` removes. */
  readonly declared: Schema;
  /** All generated files, relative to the folder of the config. */
  readonly files: readonly OutputFile[];
  readonly lock: NextLock;
  /** The absolute paths of the settings of TypeScript that the run has read. */
  readonly settings: readonly string[];
}

/** The lock that the schema requires. Its text is printed on demand, because watch mode does not need it. */
export class NextLock {
  readonly lock: Lock;
  readonly onDisk: LockOnDisk;
  #text: string | undefined;

  constructor(lock: Lock, onDisk: LockOnDisk) {
    this.lock = lock;
    this.onDisk = onDisk;
  }

  /** The lock on disk, or undefined if there is none. */
  get previous(): Lock | undefined {
    return this.onDisk.lock;
  }

  get text(): string {
    this.#text ??= printLock(this.lock);
    return this.#text;
  }

  /** Whether the lock on disk differs or is missing. */
  get differsFromDisk(): boolean {
    return this.text !== this.onDisk.text;
  }
}

/**
 * @param version the version of Viceroy
 * @param memory the results of earlier runs with the same config
 * @throws ConfigError if the project has no name
 */
export function compileProject(
  config: Config,
  source: TypeSource,
  version: string,
  memory?: CompileMemory,
): Compilation {
  const name = packageName(config);
  const { texts: sources, diagnostics: unreadable } = readSchemaTexts(config);
  source.update(sources);
  const schemas = readSchema(source, name);
  const onDisk = memory === undefined ? readLock(config) : memory.readLock(config);
  const diagnostics = [...unreadable, ...schemas.diagnostics, ...onDisk.diagnostics];
  if (hasErrors(diagnostics)) return { diagnostics: sortDiagnostics(diagnostics), output: undefined };

  const { schema, lock, problems } = assignIds(schemas.schema, onDisk.lock, memory?.assign);
  const schemaRoot = commonRoot(config.schemas);
  diagnostics.push(
    ...problems.map(lockDiagnostic),
    ...nameClashDiagnostics(schema, schemaRoot),
    ...checkProtobuf(schema),
  );
  if (hasErrors(diagnostics)) return { diagnostics: sortDiagnostics(diagnostics), output: undefined };

  const protoPackage = config.proto.package ?? protoPackageOf(name);
  const naming = { package: protoPackage, schemaRoot };
  let lowered: LoweredSchema | undefined;
  // Lowered on demand, because not all emitters need it.
  const lowerOnce = (): LoweredSchema => (lowered ??= lowerToProtobuf(schema, lock, naming));
  let named: LoweredSchema["enumNames"] | undefined;
  const enumNames = () => (named ??= memory?.enumNames.enumNames(schema, naming) ?? nameEnums(schema, naming));
  const actorFiles = matchingFiles(config, config.actors);
  const sourceTexts = new Map<string, string | undefined>();
  const read = (file: string): string | undefined => {
    if (!sourceTexts.has(file)) sourceTexts.set(file, readIfThere(path.join(config.root, file)));
    return sourceTexts.get(file);
  };
  const chosen =
    memory?.importExtension ?? chooseImportExtension(config, () => actorFiles.map((file) => read(file) ?? ""));
  if (memory !== undefined) memory.importExtension = chosen;
  const { extension: importExtension, settings } = chosen;
  const options = { version, schemaRoot, out: config.out, protoPackage, enumNames, importExtension };
  const { actors, undecided: unclear } = findActors({
    files: actorFiles,
    read,
    outline: (file, text) => source.outline(file, text),
    generatedBase: generatedBases(schema, options),
  });
  diagnostics.push(
    ...unclear.map(({ path: file, name, line, column }) => diagnostic("VC1011", { file, line, column }, { name })),
  );
  const texts = config.emit.includes("ts") ? emitTypeScript(schema, { ...options, actors }, memory?.emit) : [];
  const typeScript = texts.map(({ path, text }) => ({ path, content: text }));
  const typeScriptToo = config.emit.includes("ts");
  const others = emitArtefacts(config, {
    ...{ schema, lock, previousLock: onDisk.lock, typeScript: typeScriptToo, version, schemaRoot, protoPackage },
    importExtension,
    get lowered() {
      return lowerOnce();
    },
  });
  diagnostics.push(...others.diagnostics);
  if (hasErrors(diagnostics)) return { diagnostics: sortDiagnostics(diagnostics), output: undefined };
  const files = [...typeScript, ...others.files].map((file) => ({ ...file, path: `${config.out}/${file.path}` }));
  const output = { schema, declared: schemas.schema, files, lock: new NextLock(lock, onDisk), settings };
  return { diagnostics: sortDiagnostics(diagnostics), output };
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

function nameClashDiagnostics(schema: Schema, schemaRoot: string): readonly Diagnostic[] {
  return findClashes(schema, schemaRoot).map(({ name, first, second, at }) => {
    if (name.endsWith(".ts")) return diagnostic("VC1008", at, { output: name, file: second, other: first });
    return diagnostic("VC1202", at, { name, first, second });
  });
}

/** Emits the artefacts other than TypeScript that the config requests. */
function emitArtefacts(config: Config, input: ArtefactInput): EmittedArtefact {
  const emitted = config.emit
    .filter((artefact) => artefact !== "ts")
    .map((artefact) => artefactEmitters[artefact](input));
  return {
    files: emitted.flatMap(({ files }) => files),
    diagnostics: emitted.flatMap(({ diagnostics }) => diagnostics),
  };
}
