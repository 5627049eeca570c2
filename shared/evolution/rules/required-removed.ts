/** Reports members that the older schema requires and that the newer side may omit or does not know. */

import { demandedOnlyBy } from "../demanded-fields.js";
import type { MessageRule } from "../wire-rule.js";

export const requiredRemoved: MessageRule = {
  code: "VC5005",
  name: "required-removed",
  fix: "Keep it, and keep it required: what older readers demand must be there as long as there are any.",
  compares: "message",
  find({ older, newer }, { schemas }) {
    return demandedOnlyBy(older, newer, schemas.older).map(({ name, number }) => {
      const now = newer.fields.find((field) => field.number === number);
      const what = now === undefined ? "it has gone" : "it is no longer required";
      return {
        place: `${newer.name}.${now?.name ?? name}`,
        text: `${what}: readers of the older schema refuse messages without it`,
      };
    });
  },
};
