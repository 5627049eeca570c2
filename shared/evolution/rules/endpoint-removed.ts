/** Reports endpoints that the newer schema does not have. Calls to them are refused. */
import type { ServiceRule } from "../wire-rule.js";

export const endpointRemoved: ServiceRule = {
  code: "VC5015",
  name: "endpoint-removed",
  fix: "Keep the endpoint until nobody calls it. If it was renamed, write `@was` with the old name above the new one.",
  compares: "service",
  find({ older, newer }) {
    const known = newer.methods.flatMap(({ id, name }) => [id, name]);
    return older.methods
      .filter(({ id, name }) => !known.includes(id) && !known.includes(name))
      .map(({ name }) => ({
        place: `${newer.name}.${name}`,
        text: "the endpoint has gone: calls of the older schema are refused",
      }));
  },
};
