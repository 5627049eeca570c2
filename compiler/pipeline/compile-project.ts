/**
 * Compiles schema files to the texts of generated files without writing them: reads the schemas, assigns ids, finds
 * actors, and emits. A run reports all problems together. It emits nothing if there are errors.
 */
import path from "node:path";
import { type Config, configNames } from "../config/index.js";
import { ContractError, ContractStore, sameActorIds } from "../contracts/index.js";
import { type Diagnostic, diagnostic, sortDiagnostics } from "../diagnostics/index.js";
import {
  type ArtefactInput,
  artefactEmitters,
  commonRoot,
  type EmittedArtefact,
  emitTypeScript,
  findClashes,
} from "../emit/index.js";
import { assignIds, type Lock, printLock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import { matchingFiles, type OutputFile } from "../output/index.js";
import { checkProtobuf } from "../protobuf/check-protobuf.js";
import { lowerToProtobuf, nameEnums } from "../protobuf/lower/lower.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";
import { protoPackageOf } from "../protobuf/proto-package.js";
import { openModuleResolver, type TypeSource } from "../source/index.js";
import type { CompileMemory } from "./compile-memory.js";
import { chooseImportExtension } from "./import-extension.js";
import { lockDiagnostic } from "./lock-diagnostics.js";
import { findProjectActors } from "./project-actors.js";
import { type LockOnDisk, packageName, readIfThere, readLock, readSchemaTexts } from "./project-files.js";
import { type ReadProject, readProject } from "./read-project.js";

export interface Compilation {
  /** The diagnostics, sorted by position. */
  readonly diagnostics: readonly Diagnostic[];
  /** The output, or undefined if there are errors. */
  readonly output: CompiledOutput | undefined;
  /** The files of other packages on which the result depends. See `ContractStore.texts`. */
  readonly foreignTexts: ReadonlyMap<string, string | undefined>;
}

export interface CompiledOutput {
  readonly schema: Schema;
  /** The schema as declared, without ids and with the members that `@retired` removes. */
  readonly declared: Schema;
  /** All generated files, relative to the folder of the config. */
  readonly files: readonly OutputFile[];
  readonly lock: NextLock;
  /** The absolute paths of further files on which the output depends: contracts of other packages, and settings. */
  readonly externals: readonly string[];
}

/** The lock that the schema requires. Its text is printed on demand, because watch mode does not need it. */
export class NextLock {
  readonly lock: Lock;
  readonly onDisk: LockOnDisk;
  #text: string | undefined;

  /** Whether the project has schemas. Without schemas, it has no lock. */
  readonly isNeeded: boolean;

  constructor(lock: Lock, onDisk: LockOnDisk, isNeeded = true) {
    this.lock = lock;
    this.onDisk = onDisk;
    this.isNeeded = isNeeded;
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
    return this.isNeeded && this.text !== this.onDisk.text;
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
  const store = new ContractStore({ root: config.root, openResolver: openModuleResolver, version, configNames });
  return { ...compileWith(store, config, source, version, memory), foreignTexts: store.texts };
}

function compileWith(
  store: ContractStore,
  config: Config,
  source: TypeSource,
  version: string,
  memory: CompileMemory | undefined,
): Omit<Compilation, "foreignTexts"> {
  const name = packageName(config);
  const { texts: sources, diagnostics: unreadable } = readSchemaTexts(config);
  let read: ReadProject;
  try {
    read = readProject(sources, name, source, store);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const at = { file: config.file, line: 1, column: 1 };
    const { message: why, hint } = error;
    return { diagnostics: [diagnostic("VC4005", at, { why, hint })], output: undefined };
  }
  const onDisk = memory === undefined ? readLock(config) : memory.readLock(config);
  const diagnostics = [...unreadable, ...read.diagnostics, ...onDisk.diagnostics];
  if (hasErrors(diagnostics)) return { diagnostics: sortDiagnostics(diagnostics), output: undefined };

  const { schema: own, lock, problems } = assignIds(read.schema, onDisk.lock, memory?.assign);
  const schema: Schema = read.imported.length === 0 ? own : { ...own, imported: read.imported };
  const schemaRoot = commonRoot(config.schemas);
  diagnostics.push(
    ...problems.map(lockDiagnostic),
    ...nameClashDiagnostics(schema, schemaRoot),
    ...checkProtobuf(schema),
  );
  if (hasErrors(diagnostics)) return { diagnostics: sortDiagnostics(diagnostics), output: undefined };

  const protoPackage = config.proto.package ?? protoPackageOf(name);
  const naming = { package: protoPackage, schemaRoot, importedLocks: read.importedLocks };
  let lowered: LoweredSchema | undefined;
  // Lowered on demand, because not all emitters need it.
  const lowerOnce = (): LoweredSchema => (lowered ??= lowerToProtobuf(schema, lock, naming));
  let named: LoweredSchema["enumNames"] | undefined;
  const enumNames = () => (named ??= memory?.enumNames.enumNames(schema, naming) ?? nameEnums(schema, naming));
  const chosen =
    memory?.importExtension ??
    chooseImportExtension(config, () =>
      matchingFiles(config, config.actors).map((file) => readIfThere(path.join(config.root, file)) ?? ""),
    );
  if (memory !== undefined) memory.importExtension = chosen;
  const { extension: importExtension, settings } = chosen;
  const options = { version, schemaRoot, out: config.out, protoPackage, enumNames, importExtension };
  const { actors, diagnostics: ofActors } = findProjectActors(config, schema, schemaRoot, source, store);
  diagnostics.push(...ofActors, ...sameActorIds(schema, store.contracts, config.lock));
  if (hasErrors(diagnostics)) return { diagnostics: sortDiagnostics(diagnostics), output: undefined };
  const texts = config.emit.includes("ts") ? emitTypeScript(schema, { ...options, actors }, memory?.emit) : [];
  const typeScript = texts.map(({ path, text }) => ({ path, content: text }));
  const typeScriptToo = config.emit.includes("ts");
  const others = emitArtefacts(config, {
    ...{ schema, lock, previousLock: onDisk.lock, typeScript: typeScriptToo, version, schemaRoot, protoPackage },
    importExtension,
    importedLocks: read.importedLocks,
    isEmittedBy: (name, file) => store.hasGenerated(name, file),
    ...{ out: config.out, texts: new Map(sources.map(({ path, text }) => [path, text])) },
    get lowered() {
      return lowerOnce();
    },
  });
  diagnostics.push(...others.diagnostics);
  if (hasErrors(diagnostics)) return { diagnostics: sortDiagnostics(diagnostics), output: undefined };
  const files = [...typeScript, ...others.files].map((file) => ({ ...file, path: `${config.out}/${file.path}` }));
  const next = new NextLock(lock, onDisk, config.schemas.length > 0);
  const output = {
    schema,
    declared: read.schema,
    files,
    lock: next,
    externals: [...[...store.texts.keys()].sort(), ...settings],
  };
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
