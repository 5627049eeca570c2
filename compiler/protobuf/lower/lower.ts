/**
 * Lowers the schema model to protobuf, as docs/reference/protobuf-layout.md describes: every declared type, everything
 * that these types need as a message of its own, and a service for every actor. It is a pure function: the same schema
 * and lock give the same result in any order of files.
 *
 * `compiler/protobuf/form` determines how types are represented in messages. Here messages get names, files and
 * tombstones.
 */
import { emptyLock, type Lock } from "../../lock/index.js";
import { indexSchema } from "../../model/resolve.js";
import type { Schema } from "../../model/schema.js";
import { FileSorter } from "./file-sorter.js";
import type { LoweredSchema } from "./lowered-schema.js";
import { MessageLowering } from "./message-lowering.js";
import { MessageNames } from "./message-names.js";
import { NamePaths } from "./name-paths.js";
import { scopeClashes } from "./scope-clashes.js";
import { ServiceLowering } from "./service-lowering.js";
import { Tombstones } from "./tombstones.js";

export interface LowerOptions {
  /** The protobuf package: `acme.shop.v1`. */
  readonly package: string;
  /** The folder that contains all schema files. File names are relative to it. */
  readonly schemaRoot: string;
}

/**
 * Lowers a schema to protobuf.
 * @param schema the schema, with ids and without errors
 * @param lock the lock of this schema, which contains the tombstones
 */
export function lowerToProtobuf(schema: Schema, lock: Lock, options: LowerOptions): LoweredSchema {
  const { messages, services, files, names } = lowerInto(schema, lock, options, false);
  const lowered = { messages: messages.messages, enums: messages.enums, services: services.services };
  const clashes = [...names.clashes, ...scopeClashes(lowered, messages.origins, options.package)];
  return {
    package: options.package,
    schema: lowered,
    files: files.sort(lowered),
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
  readonly names: MessageNames;
}

function lowerInto(schema: Schema, lock: Lock, options: LowerOptions, namesOnly: boolean): ProtobufLowering {
  const index = indexSchema(schema);
  const names = new MessageNames(options.package);
  const places = new NamePaths(index, names);
  const files = new FileSorter(options);
  const surroundings = { index, names, places, files, tombstones: new Tombstones(lock, schema.modules), namesOnly };
  const messages = new MessageLowering(surroundings);
  const services = new ServiceLowering(surroundings, messages);
  // The result must not depend on the order of files.
  const modules = [...schema.modules].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const module of modules) for (const declaration of module.types) places.claim(declaration, module);
  for (const module of modules) places.claimScopes(module);
  for (const module of modules) {
    for (const declaration of module.types) messages.declaration(declaration);
    for (const actor of module.actors) services.add(actor, module);
  }
  return { messages, services, files, names };
}
