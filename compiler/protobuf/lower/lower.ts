/**
 * Lowers the schema model to protobuf, as docs/reference/protobuf-layout.md describes: every declared type, everything
 * that these types need as a message of its own, and a service for every actor. It is a pure function: the same schema
 * and lock give the same result in any order of files.
 *
 * `compiler/protobuf/form` determines how types are represented in messages. Here messages get names, files and
 * tombstones.
 */
import { emptyLock, type Lock } from "../../lock/index.js";
import { components } from "../../model/connected-components.js";
import { packageOfPath } from "../../model/imported-path.js";
import { indexSchema, partsOf, type SchemaIndex, typesOf } from "../../model/resolve.js";
import type { Module, Schema } from "../../model/schema.js";
import type { DeclarationKey, Type } from "../../model/type.js";
import { FileSorter } from "./file-sorter.js";
import type { LoweredSchema } from "./lowered-schema.js";
import { MessageLowering } from "./message-lowering.js";
import { PackageNames } from "./message-names.js";
import { ModuleOrigins } from "./module-origins.js";
import { NamePaths } from "./name-paths.js";
import { needed } from "./needed-files.js";
import { scopeClashes } from "./scope-clashes.js";
import { ServiceLowering } from "./service-lowering.js";
import { Tombstones } from "./tombstones.js";

export interface LowerOptions {
  /** The protobuf package: `acme.shop.v1`. */
  readonly package: string;
  /** The folder that contains all schema files. File names are relative to it. */
  readonly schemaRoot: string;
  /** The locks of the packages from which the schema imports types, which contain their tombstones. */
  readonly importedLocks?: ReadonlyMap<string, Lock>;
}

/**
 * Lowers a schema to protobuf.
 * @param schema the schema, with ids and without errors
 * @param lock the lock of this schema, which contains the tombstones
 */
export function lowerToProtobuf(schema: Schema, lock: Lock, options: LowerOptions): LoweredSchema {
  const { messages, services, files, names } = lowerInto(schema, lock, options, false);
  const lowered = { messages: messages.messages, enums: messages.enums, services: services.services };
  const clashes = [...names.clashes, ...scopeClashes(lowered, messages.origins)];
  return {
    package: options.package,
    ...needed(lowered, files.sort(lowered)),
    origins: messages.origins,
    memberNames: messages.memberNames,
    enumNames: messages.enumNames,
    constructors: services.constructors,
    clashes,
  };
}

/**
 * Returns the same full names of enums as `lowerToProtobuf`, at a fraction of its cost. Codecs need only these names.
 */
export function nameEnums(schema: Schema, options: LowerOptions): LoweredSchema["enumNames"] {
  return lowerInto(schema, emptyLock, options, true).messages.enumNames;
}

interface ProtobufLowering {
  readonly messages: MessageLowering;
  readonly services: ServiceLowering;
  readonly files: FileSorter;
  readonly names: PackageNames;
}

function lowerInto(schema: Schema, lock: Lock, options: LowerOptions, namesOnly: boolean): ProtobufLowering {
  const index = indexSchema(schema);
  const origins = new ModuleOrigins(schema, options);
  const names = new PackageNames(origins);
  const places = new NamePaths(index, names, origins);
  const files = new FileSorter(origins);
  const all = [...schema.modules, ...(schema.imported ?? [])];
  const tombstones = new Tombstones(lock, all, options.importedLocks);
  const surroundings = { index, names, origins, places, files, tombstones, namesOnly };
  const messages = new MessageLowering(surroundings);
  const services = new ServiceLowering(surroundings, messages);
  // Other packages come first, so that they have the names that they have without this project.
  const groups = [...importedInOrder(index), inOrder(schema.modules)];
  const modules = groups.flat();
  for (const module of modules) for (const declaration of module.types) places.claim(declaration, module);
  for (const module of modules) places.claimScopes(module);
  for (const group of groups) {
    for (const module of group) {
      for (const declaration of module.types) messages.declaration(declaration);
      for (const actor of module.actors) services.add(actor, module);
    }
    for (const { types } of group) for (const declaration of types) messages.enumsOfGeneric(declaration);
  }
  return { messages, services, files, names };
}

/** Returns modules in an order that does not depend on that of the files. */
function inOrder<M extends Module>(modules: readonly M[]): readonly M[] {
  return [...modules].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the modules of each other package. A package comes after those from which it imports types. */
function importedInOrder(index: SchemaIndex): readonly (readonly Module[])[] {
  const { imported = [] } = index.schema;
  const packages = [...new Set(imported.map((module) => module.package))].sort();
  const of = (name: string) => imported.filter((module) => module.package === name);
  const used = (name: string) =>
    of(name).flatMap((module) => targetsOf(module).map((key) => packageOfPath(index.moduleOf(key).path)));
  return components(packages, used).map((group) => group.flatMap((name) => inOrder(of(name))));
}

function targetsOf(module: Module): readonly DeclarationKey[] {
  const visit = (type: Type): readonly DeclarationKey[] => [
    ...(type.kind === "ref" ? [type.target] : type.kind === "mesh" ? [type.actor] : []),
    ...partsOf(type).flatMap(visit),
  ];
  return typesOf(module).flatMap(visit);
}
