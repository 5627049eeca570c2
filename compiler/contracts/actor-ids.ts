/** Compares the ids of the actors of a project and of the contracts that it uses. */
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import type { Schema } from "../model/index.js";
import { withoutExtension } from "../model/schema-paths.js";
import type { Contract } from "./contract.js";

/** @param lock the lock of the project, at which the problem is reported */
export function sameActorIds(schema: Schema, contracts: readonly Contract[], lock: string): readonly Diagnostic[] {
  const own = schema.modules.flatMap(({ path, actors }) =>
    actors.map(({ name, id }) => ({ id, key: `${schema.package}/${withoutExtension(path)}#${name}` })),
  );
  const others = contracts.flatMap(({ actors }) => actors.map(({ key, id }) => ({ id: Number(`0x${id}`), key })));
  const holders = new Map<number, string>();
  return [...own, ...others].flatMap(({ id, key }) => {
    const first = holders.get(id);
    holders.set(id, first ?? key);
    if (first === undefined || first === key) return [];
    const hex = `0x${id.toString(16).padStart(8, "0")}`;
    return [diagnostic("VC4003", { file: lock, line: 1, column: 1 }, { first, second: key, id: hex })];
  });
}
