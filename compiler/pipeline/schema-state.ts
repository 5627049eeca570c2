/** Reads one side of a comparison: the schemas with their ids, and their protobuf form. */

import { lowerToCapnp } from "../capnp/lower.js";
import { type Config, configNames } from "../config/index.js";
import { ContractError, ContractStore, type InstalledContract } from "../contracts/index.js";
import { type Diagnostic, diagnostic, sortDiagnostics } from "../diagnostics/index.js";
import { commonRoot } from "../emit/index.js";
import type { SchemaState } from "../evolve/index.js";

import { assignIds, type Lock, parseLock, printLock } from "../lock/index.js";
import { lowerToProtobuf } from "../protobuf/lower/lower.js";
import { protoPackageOf } from "../protobuf/proto-package.js";
import { openModuleResolver, type SourceText, type TypeSource } from "../source/index.js";
import { version } from "../version.js";
import { hasErrors } from "./compile-project.js";
import { lockDiagnostic } from "./lock-diagnostics.js";
import { type ReadProject, readProject } from "./read-project.js";
import { usedModules } from "./used-modules.js";

export interface ReadState {
  /** The state, or undefined if there are errors. */
  readonly state: SchemaState | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The locks of the packages from which the schemas import types, by package. */
  readonly importedLocks?: ReadonlyMap<string, Lock>;
  /** The contracts that were read. */
  readonly contracts?: readonly InstalledContract[];
}

/**
 * @param schemas the texts of the schemas
 * @param lock the lock; undefined if there is none yet
 * @param diagnostics the problems found so far
 * @param readForeign reads a file of another package; by default from the disk
 */
export function readSchemaState(
  config: Config,
  packageName: string,
  schemas: readonly SourceText[],
  lock: string | undefined,
  source: TypeSource,
  diagnostics: readonly Diagnostic[],
  readForeign?: (file: string) => string | undefined,
): ReadState {
  const store = new ContractStore({
    root: config.root,
    openResolver: openModuleResolver,
    version,
    configNames,
    ...(readForeign && { readText: readForeign }),
  });
  let read: ReadProject;
  try {
    read = readProject(schemas, packageName, source, store);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const at = { file: config.file, line: 1, column: 1 };
    const { message: why, hint } = error;
    return { state: undefined, diagnostics: [diagnostic("VC4005", at, { why, hint })] };
  }
  const parsed = lock === undefined ? undefined : parseLock(config.lock, lock);
  const found = [...diagnostics, ...read.diagnostics, ...(parsed?.problems ?? []).map(lockDiagnostic)];
  if (hasErrors(found)) return { state: undefined, diagnostics: sortDiagnostics(found) };
  const assigned = assignIds(read.schema, parsed?.lock);
  found.push(...assigned.problems.map(lockDiagnostic));
  if (hasErrors(found)) return { state: undefined, diagnostics: sortDiagnostics(found) };
  const { imported, importedLocks } = read;
  const whole = { ...assigned.schema, imported };
  const schemaRoot = commonRoot(config.schemas);
  const lowered = lowerToProtobuf(whole, assigned.lock, {
    package: config.proto.package ?? protoPackageOf(packageName),
    schemaRoot,
    importedLocks,
  });
  const capnp = config.emit.includes("capnp")
    ? lowerToCapnp({ schema: whole, lock: assigned.lock, schemaRoot, importedLocks }).files
    : undefined;
  const side: SchemaState = {
    // Imported types are compared like own ones, because they are parts of the same messages.
    schema: { ...assigned.schema, modules: [...assigned.schema.modules, ...usedModules(whole)] },
    lock: withLines(config.lock, assigned.lock),
    lockFile: config.lock,
    lowered,
    ...(capnp && { capnp }),
  };
  return { state: side, diagnostics: sortDiagnostics(found), importedLocks, contracts: store.contracts };
}

/** Returns the lock with the line numbers of its entries. */
function withLines(file: string, lock: Lock): Lock {
  return parseLock(file, printLock(lock)).lock;
}
