/**
 * The state that the parts of the TypeScript emitter share: the generated file and the names of each declaration. These
 * names are public (`CounterActor`, `TreeCodec`, `SquareTask`). All other names of a generated file are private.
 */
import { posix } from "node:path";
import { flatName, isNested, rootName } from "../../../shared/names/qualified-name.js";
import { pascalCase, serviceName } from "../../../shared/protobuf/names.js";
import { ConfigError } from "../../config/index.js";
import { type Fingerprints, fingerprint } from "../../model/fingerprint.js";
import { importedRoot } from "../../model/imported-path.js";
import type { ImportedModule, Module, Schema } from "../../model/index.js";
import { indexSchema, partsOf, type SchemaIndex, typesOf } from "../../model/resolve.js";
import { outputPath, withoutExtension } from "../../model/schema-paths.js";
import type { DeclarationKey, Shape, Type } from "../../model/type.js";
import { protoDeclarationName } from "../../protobuf/declared-names.js";
import { protoPackageOf } from "../../protobuf/proto-package.js";
import {
  type Code,
  type ImportExtension,
  type ImportedName,
  importedType,
  importedValue,
  qualified,
  relativeSpecifier,
} from "../kit/index.js";
import { memoizeByKey } from "./abi-names.js";

export interface EmitContext {
  readonly schema: Schema;
  readonly index: SchemaIndex;
  readonly fingerprints: Fingerprints;
  /** The extension with which generated files import TypeScript files. */
  readonly importExtension: ImportExtension;
  /** Returns the generated file of a schema module, below the output folder: `a/counter.ts`. */
  fileOf(module: Module): string;
  /**
   * Returns the specifier of a file beside a schema module, for the generated file of the module: `../src/shapes.ts`.
   */
  specifierBeside(module: Module, path: string): string;
  /** Returns the generated type of a type declaration: `Tree`, `Order.Line`. */
  type(key: DeclarationKey): Code;
  /**
   * Returns the name of a codec, or of the function from codecs to a codec of a generic declaration: `TreeCodec`,
   * `OrderLineCodec`.
   */
  codec(key: DeclarationKey): ImportedName;
  actorClass(key: DeclarationKey): ImportedName;
  mesh(key: DeclarationKey): ImportedName;
  meshKind(key: DeclarationKey): ImportedName;
  descriptor(key: DeclarationKey): ImportedName;
  /** Returns the name of the constant that describes a task: `SquareTask`. */
  task(key: DeclarationKey): ImportedName;
  /** Returns the runtime's key of an actor: `<package>/<schema path without extension>#Counter`. */
  actorKey(key: DeclarationKey): string;
  /** Returns the runtime's key of a task: `<package>/<schema path without extension>#Square`. */
  taskKey(key: DeclarationKey): string;
  /** Returns the full name of the protobuf service of an actor: `acme.shop.v1.CounterService`. */
  service(key: DeclarationKey): string;
  /** Returns the full name of the protobuf message of an exported type, or undefined for generic and private types. */
  exportedMessage(key: DeclarationKey): string | undefined;
  /** Returns the full protobuf name of a type declaration that is a message or an enum: `acme.shop.v1.Order.Line`. */
  protoName(key: DeclarationKey): string;
  /** Returns the full protobuf name of an inline enum, or undefined if protobuf names are not computed. */
  enumName(shape: Shape): string | undefined;
  /** Returns whether another package declares the type or actor. */
  isImported(key: DeclarationKey): boolean;
  /** Returns whether generated code can import the type or actor: it is the project's own, or a dependency exports it. */
  canImport(key: DeclarationKey): boolean;
  /** Returns whether the generated file exports a type: its schema exports it, or another file refers to it. */
  isExported(key: DeclarationKey): boolean;
}

export interface ProtoNaming {
  /** The protobuf package. The default is derived from the name of the npm package. */
  readonly protoPackage?: string;
  /** Returns the full names of inline enums. It is called only for schemas that have one. */
  readonly enumNames?: () => ReadonlyMap<Shape, string>;
}

export interface OutputNaming extends ProtoNaming {
  /** The output folder, relative to the folder of the config: `generated`. */
  readonly out?: string;
  /** The extension with which generated files import TypeScript files. Default: `.js`. */
  readonly importExtension?: ImportExtension;
}

export function createContext(schema: Schema, schemaRoot: string, placing: OutputNaming = {}): EmitContext {
  const { protoPackage = protoPackageOf(schema.package), enumNames, out = "", importExtension = ".js" } = placing;
  const index = indexSchema(schema);
  const fileOf = (module: Module) => outputPath(module.path, schemaRoot);
  const imported = new Map<Module, ImportedModule>(schema.imported?.map((module) => [module, module]));
  const source = (key: DeclarationKey) => {
    const module = index.moduleOf(key);
    const other = imported.get(module);
    return other === undefined ? { file: fileOf(module) } : specifierOf(other);
  };
  const protoPackageOfKey = (key: DeclarationKey) => imported.get(index.moduleOf(key))?.protoPackage ?? protoPackage;
  const runtimeKey = (key: DeclarationKey, name: string): string => {
    const module = index.moduleOf(key);
    const path = imported.has(module) ? module.path.slice(importedRoot.length) : `${schema.package}/${module.path}`;
    return `${withoutExtension(path)}#${name}`;
  };
  // Computed on first use, because not every caller needs it.
  let shared: ReadonlySet<DeclarationKey> | undefined;
  const isShared = (key: DeclarationKey): boolean => {
    shared ??= sharedTypes(schema, index);
    return shared.has(key);
  };
  const protoName = (key: DeclarationKey) =>
    `${protoPackageOfKey(key)}.${protoDeclarationName(index.type(key).name, index.moduleOf(key))}`;
  let fingerprints: Fingerprints | undefined;
  return {
    schema,
    index,
    get fingerprints() {
      fingerprints ??= fingerprint(index);
      return fingerprints;
    },
    importExtension,
    fileOf,
    specifierBeside: (module, path) =>
      relativeSpecifier(posix.join(out, fileOf(module)), posix.join(posix.dirname(module.path), path), importExtension),
    type: memoizeByKey((key): Code => {
      const { name } = index.type(key);
      const root = importedType(source(key), rootName(name));
      return isNested(name) ? qualified(root, name.slice(root.name.length + 1)) : root;
    }),
    codec: memoizeByKey((key) => importedValue(source(key), `${flatName(index.type(key).name)}Codec`)),
    actorClass: memoizeByKey((key) => importedValue(source(key), `${index.actor(key).name}Actor`)),
    mesh: memoizeByKey((key) => importedType(source(key), `${index.actor(key).name}Mesh`)),
    meshKind: memoizeByKey((key) => importedType(source(key), `${index.actor(key).name}Kind`)),
    descriptor: memoizeByKey((key) => importedValue(source(key), `${lowerFirst(index.actor(key).name)}Descriptor`)),
    task: memoizeByKey((key) => importedValue(source(key), `${index.task(key).name}Task`)),
    actorKey: (key) => runtimeKey(key, index.actor(key).name),
    taskKey: (key) => runtimeKey(key, index.task(key).name),
    service: (key) => `${protoPackageOfKey(key)}.${serviceName(pascalCase(index.actor(key).name))}`,
    exportedMessage(key) {
      const { exported, typeParameters } = index.type(key);
      return exported && typeParameters.length === 0 ? protoName(key) : undefined;
    },
    protoName,
    enumName: (shape) => enumNames?.().get(shape),
    isImported: (key) => imported.has(index.moduleOf(key)),
    canImport(key) {
      const other = imported.get(index.moduleOf(key));
      return other === undefined || other.specifier !== undefined;
    },
    isExported: (key) => index.type(key).exported || isShared(key),
  };
}

/** @throws ConfigError if generated code cannot import the module */
function specifierOf({ specifier, package: name, path }: ImportedModule): string {
  if (specifier !== undefined) return specifier;
  throw new ConfigError(
    `cannot generate an import of ${path.slice(importedRoot.length)}: the schemas need its types, and this package cannot import ` +
      `them. Add ${name} to the dependencies, and export the generated module in "exports" of its package.json`,
  );
}

/** Converts the initial to lower case: `HTTPServer` -> `httpServer`. */
export function lowerFirst(name: string): string {
  return name.replace(/^\p{Lu}+(?=\p{Lu}\p{Ll})|^\p{Lu}+$|^\p{Lu}/u, (capitals) => capitals.toLowerCase());
}

/** Returns the types to which other modules refer. */
function sharedTypes(schema: Schema, index: SchemaIndex): ReadonlySet<DeclarationKey> {
  const shared = new Set<DeclarationKey>();
  for (const module of schema.modules) {
    for (const target of targetsOf(module)) if (index.moduleOf(target) !== module) shared.add(target);
  }
  return shared;
}

/**
 * Returns the types to which a module refers. The result is cached, because modules are immutable and watch mode asks
 * after every edit.
 */
function targetsOf(module: Module): ReadonlySet<DeclarationKey> {
  let targets = targetsByModule.get(module);
  if (targets === undefined) {
    const found = new Set<DeclarationKey>();
    const visit = (type: Type): void => {
      if (type.kind === "ref") found.add(type.target);
      partsOf(type).forEach(visit);
    };
    typesOf(module).forEach(visit);
    targets = found;
    targetsByModule.set(module, targets);
  }
  return targets;
}

const targetsByModule = new WeakMap<Module, ReadonlySet<DeclarationKey>>();
