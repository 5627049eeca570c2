/** What callers get. Where the bytes are other ones too, the rules of the wire say so instead. */
import { typeText } from "../../../lock/type-text.js";
import type { Endpoint } from "../../../model/index.js";
import type { BreakRule } from "../../rule.js";

export const resultChanged: BreakRule = {
  code: "VC5041",
  name: "result-changed",
  class: "SOURCE",
  find({ endpoints }) {
    return endpoints.flatMap(({ older, newer, actor }) => {
      const was = resultText(older);
      const is = resultText(newer);
      if (was === is || older.stream !== newer.stream) return [];
      const place = `${actor.name}.${newer.name}`;
      const text = `${place} answered ${was} and answers ${is}: code that uses the answer may not compile`;
      return [{ place, at: newer.at, side: "newer" as const, text }];
    });
  },
};

function resultText({ result }: Endpoint): string {
  return result === undefined ? "void" : typeText(result);
}
