/** Reports endpoints whose id changed. Calls contain the id of an endpoint, not its name. */
import type { ServiceRule } from "../wire-rule.js";

export const endpointIdChanged: ServiceRule = {
  code: "VC5016",
  name: "endpoint-id-changed",
  fix: "Restore the endpoint's line in the lock from version control.",
  compares: "service",
  find({ older, newer }) {
    const ids = new Set(newer.methods.map(({ id }) => id));
    return older.methods.flatMap(({ id, name }) => {
      const now = newer.methods.find((method) => method.name === name);
      if (ids.has(id) || now === undefined) return [];
      const text = `its id was ${id} and is ${now.id}: calls of the older schema are refused`;
      return [{ place: `${newer.name}.${name}`, text }];
    });
  },
};
