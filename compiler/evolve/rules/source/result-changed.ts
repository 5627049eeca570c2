/**
 * Reports changed result types of endpoints and tasks. If the wire format of an endpoint changed too, the wire rules report
 * the endpoint instead.
 */
import { typeText } from "../../../lock/type-text.js";
import type { Endpoint, Type } from "../../../model/index.js";
import type { BreakRule } from "../../break-rule.js";

export const resultChanged: BreakRule = {
  code: "VC5041",
  name: "result-changed",
  class: "SOURCE",
  find({ endpoints, tasks, currentTypeText: textNow }) {
    const functions = [
      ...endpoints.map(({ older, newer, actor }) => ({
        older,
        newer,
        place: `${actor.name}.${newer.name}`,
        words: ofEndpoints,
      })),
      ...tasks.map(({ older, newer }) => ({ older, newer, place: newer.name, words: ofTasks })),
    ];
    return functions.flatMap(({ older, newer, place, words }) => {
      const was = resultText(older, typeText);
      const is = resultText(newer, typeText);
      if (resultText(older, textNow) === is) return [];
      const [before, now, what] = words;
      const text = `${place} ${before} ${was} and ${now} ${is}: code that uses the ${what} may not compile`;
      return [{ place, at: newer.at, side: "newer" as const, text }];
    });
  },
};

const ofEndpoints = ["answered", "answers", "answer"] as const;
const ofTasks = ["returned", "returns", "result"] as const;

function resultText({ result }: Pick<Endpoint, "result">, textOf: (type: Type) => string): string {
  return result === undefined ? "void" : textOf(result);
}
