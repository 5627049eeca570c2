/** Reports members that the newer schema requires and that the older side may omit or does not know. */

import { demandedOnlyBy } from "../demanded-fields.js";
import type { MessageRule } from "../wire-rule.js";

export const requiredAdded: MessageRule = {
  code: "VC5004",
  name: "required-added",
  fix: "Make it optional with `?`, an answer with `| null`: readers of this schema then take messages without it.",
  compares: "message",
  find({ older, newer }, { schemas }) {
    return demandedOnlyBy(newer, older, schemas.newer).map(({ name }) => ({
      place: `${newer.name}.${name}`,
      text: "it is required now: messages of the older schema without it are refused",
    }));
  },
};
