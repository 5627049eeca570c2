/**
 * What the parts of the TypeScript emitter share: which file a declaration is generated into, and under which names.
 * The names are the contract with users (`CounterActor`, `TreeCodec`); everything else in a generated file is private.
 */
import { posix } from "node:path";
import { flatName, isNested, rootName } from "../../../shared/names/qualified-name.js";
import { pascalCase, serviceName } from "../../../shared/protobuf/names.js";
import { type Fingerprints, fingerprint } from "../../model/fingerprint.js";
import type { Module, Schema } from "../../model/index.js";
import { indexSchema, partsOf, type SchemaIndex, typesOf } from "../../model/resolve.js";
import { outputPath, withoutExtension } from "../../model/schema-paths.js";
import type { DeclarationKey, Shape, Type } from "../../model/type.js";
import { protoDeclarationName } from "../../protobuf/declared-names.js";
import { protoPackageOf } from "../../protobuf/proto-package.js";
import {
  type Code,
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
  /** The generated file of a schema module, below the output folder: `a/counter.ts`. */
  fileOf(module: Module): string;
  /** The specifier in the generated file of a schema module of what stands beside the module: `../src/shapes.ts`. */
  specifierBeside(module: Module, path: string): string;
  /** The generated type of a type declaration: `Tree`, `Order.Line`. */
  type(key: DeclarationKey): Code;
  /** `TreeCodec`, `OrderLineCodec`: a codec, or for a generic declaration a function from codecs to a codec. */
  codec(key: DeclarationKey): ImportedName;
  actorClass(key: DeclarationKey): ImportedName;
  mesh(key: DeclarationKey): ImportedName;
  meshKind(key: DeclarationKey): ImportedName;
  descriptor(key: DeclarationKey): ImportedName;
  /** `<package>/<schema path without extension>#Counter`, as the runtime knows the actor. */
  actorKey(key: DeclarationKey): string;
  /** The full name of the service that an actor is in protobuf: `acme.shop.v1.CounterService`. */
  service(key: DeclarationKey): string;
  /** The full name of the message that an exported type is in protobuf; undefined of generic ones and what is not exported. */
  exportedMessage(key: DeclarationKey): string | undefined;
  /** The full name that a type declaration has in protobuf, if it is a message or an enum there: `acme.shop.v1.Order.Line`. */
  protoName(key: DeclarationKey): string;
  /** The full protobuf name of an enum that is written in place; undefined where protobuf names do not matter. */
  enumName(shape: Shape): string | undefined;
  /** Whether the generated file must export a type: because its schema does, or another file refers to it. */
  isExported(key: DeclarationKey): boolean;
}

export interface ProtoNaming {
  /** The protobuf package; made of the package's name if not given. */
  readonly protoPackage?: string;
  /** Full names of enums that are written in place; asked for where there is one. */
  readonly enumNames?: () => ReadonlyMap<Shape, string>;
}

export interface OutputNaming extends ProtoNaming {
  /** The output folder, relative to the config's root: `generated`. */
  readonly out?: string;
}

export function createContext(schema: Schema, schemaRoot: string, placing: OutputNaming = {}): EmitContext {
  const { protoPackage = protoPackageOf(schema.package), enumNames, out = "" } = placing;
  const index = indexSchema(schema);
  const fileOf = (module: Module) => outputPath(module.path, schemaRoot);
  const source = (key: DeclarationKey) => ({ file: fileOf(index.moduleOf(key)) });
  // Worked out when they are first asked for: not everybody does.
  let shared: ReadonlySet<DeclarationKey> | undefined;
  const isShared = (key: DeclarationKey): boolean => {
    shared ??= sharedTypes(schema, index);
    return shared.has(key);
  };
  const protoName = (key: DeclarationKey) =>
    `${protoPackage}.${protoDeclarationName(index.type(key).name, index.moduleOf(key))}`;
  let fingerprints: Fingerprints | undefined;
  return {
    schema,
    index,
    get fingerprints() {
      fingerprints ??= fingerprint(index);
      return fingerprints;
    },
    fileOf,
    specifierBeside: (module, path) =>
      relativeSpecifier(posix.join(out, fileOf(module)), posix.join(posix.dirname(module.path), path)),
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
    actorKey: (key) => `${schema.package}/${withoutExtension(index.moduleOf(key).path)}#${index.actor(key).name}`,
    service: (key) => `${protoPackage}.${serviceName(pascalCase(index.actor(key).name))}`,
    exportedMessage(key) {
      const { exported, typeParameters } = index.type(key);
      return exported && typeParameters.length === 0 ? protoName(key) : undefined;
    },
    protoName,
    enumName: (shape) => enumNames?.().get(shape),
    isExported: (key) => index.type(key).exported || isShared(key),
  };
}

/** `HTTPServer` -> `httpServer`. */
export function lowerFirst(name: string): string {
  return name.replace(/^\p{Lu}+(?=\p{Lu}\p{Ll})|^\p{Lu}+$|^\p{Lu}/u, (capitals) => capitals.toLowerCase());
}

/** The types that a module other than their own refers to. */
function sharedTypes(schema: Schema, index: SchemaIndex): ReadonlySet<DeclarationKey> {
  const shared = new Set<DeclarationKey>();
  for (const module of schema.modules) {
    for (const target of targetsOf(module)) if (index.moduleOf(target) !== module) shared.add(target);
  }
  return shared;
}

/** The types that a module refers to. Modules do not change, and whoever watches asks again and again. */
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
