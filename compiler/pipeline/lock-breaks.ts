/** What the schemas of a project would break of what its lock remembers: the rules of the wire alone, for `--check`. */
import type { Config } from "../config/index.js";
import { commonRoot } from "../emit/index.js";
import { type Break, findBreaks, rememberedSchema, sift } from "../evolve/index.js";
import { parseLock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import { lower } from "../protobuf/lower.js";
import { protoPackageOf } from "../protobuf/package.js";
import { readLock } from "./project.js";

/**
 * @param schema as it is, with ids
 * @param next the text of the lock that it wants
 */
export function lockBreaks(config: Config, schema: Schema, next: string): readonly Break[] {
  const { lock: before } = readLock(config);
  if (before === undefined) return [];
  const options = {
    package: config.proto.package ?? protoPackageOf(schema.package),
    schemaRoot: commonRoot(config.schemas),
  };
  const { lock } = parseLock(config.lock, next);
  const remembered = rememberedSchema(schema, before, config.lock);
  const lockFile = config.lock;
  const found = findBreaks(
    { schema: remembered, lock: before, lockFile, lowered: lower(remembered, before, options) },
    { schema, lock, lockFile, lowered: lower(schema, lock, options) },
  );
  const { breaks } = sift(found, config.break.ignore);
  return breaks.filter((one) => one.class === "WIRE");
}
