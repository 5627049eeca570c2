/** Reports changes of a map's key type. No two key types read each other's values correctly in all cases. */
import type { FieldRule } from "../wire-rule.js";

export const mapKeyChanged: FieldRule = {
  code: "VC5003",
  name: "map-key-changed",
  fix: "Add a map with the new keys, under another name, and keep this one until nobody sends it.",
  compares: "field",
  find({ older, newer }) {
    if (older.cardinality !== "map" || newer.cardinality !== "map" || older.key === newer.key) return undefined;
    return `its keys were ${older.key} and are ${newer.key}: entries get other keys, or are lost`;
  },
};
