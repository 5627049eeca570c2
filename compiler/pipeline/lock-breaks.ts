/** Finds the changes of the wire format between a lock and the schemas of a project. */

import { lowerToCapnp } from "../capnp/lower.js";
import type { Config } from "../config/index.js";
import { commonRoot } from "../emit/index.js";
import { applyIgnores, type Break, findBreaks, rememberedSchema, type SchemaState } from "../evolve/index.js";
import { type Lock, parseLock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import { lowerToProtobuf } from "../protobuf/lower/lower.js";
import { protoPackageOf } from "../protobuf/proto-package.js";

/**
 * @param schema the current schema, with ids. Types of other packages are the same on both sides: the compilation of
 *   their package reports their changes
 * @param before the published lock
 * @param next the text of the lock that the schema requires
 */
export function lockBreaks(config: Config, schema: Schema, before: Lock, next: string): readonly Break[] {
  const options = {
    package: config.proto.package ?? protoPackageOf(schema.package),
    schemaRoot: commonRoot(config.schemas),
  };
  const side = (of: Schema, lock: Lock): SchemaState => ({
    ...{ schema: of, lock, lockFile: config.lock, lowered: lowerToProtobuf(of, lock, options) },
    ...(config.emit.includes("capnp") && {
      capnp: lowerToCapnp({ schema: of, lock, schemaRoot: options.schemaRoot }).files,
    }),
  });
  const remembered = rememberedSchema(schema, before, config.lock);
  const found = findBreaks(side(remembered, before), side(schema, parseLock(config.lock, next).lock));
  const { breaks } = applyIgnores(found, config.break.ignore);
  return breaks.filter((one) => one.class === "WIRE");
}
