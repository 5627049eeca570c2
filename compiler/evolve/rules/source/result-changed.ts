/** Reports changed result types. If the wire format changed too, the wire rules report the endpoint instead. */
import { typeText } from "../../../lock/type-text.js";
import type { Endpoint, Type } from "../../../model/index.js";
import type { BreakRule } from "../../break-rule.js";

export const resultChanged: BreakRule = {
  code: "VC5041",
  name: "result-changed",
  class: "SOURCE",
  find({ endpoints, currentTypeText: textNow }) {
    return endpoints.flatMap(({ older, newer, actor }) => {
      const was = resultText(older, typeText);
      const is = resultText(newer, typeText);
      if (resultText(older, textNow) === is) return [];
      const place = `${actor.name}.${newer.name}`;
      const text = `${place} answered ${was} and answers ${is}: code that uses the answer may not compile`;
      return [{ place, at: newer.at, side: "newer" as const, text }];
    });
  },
};

function resultText({ result }: Endpoint, textOf: (type: Type) => string): string {
  return result === undefined ? "void" : textOf(result);
}
