/** Reports changed parameters of endpoints, constructors and tasks. Code that calls them does not compile any more. */
import { typeText } from "../../../lock/type-text.js";
import type { Parameter, Position, Type } from "../../../model/index.js";
import type { BreakFinding, BreakRule } from "../../break-rule.js";

export const parametersChanged: BreakRule = {
  code: "VC5040",
  name: "parameters-changed",
  class: "SOURCE",
  find({ endpoints, actors, tasks, currentTypeText: textNow }) {
    return [
      ...actors.flatMap(({ older, newer }) =>
        compareCalls(newer.name, older.args, newer.args, newer.at, textNow, ofActors),
      ),
      ...endpoints.flatMap(({ older, newer, actor }) =>
        compareCalls(`${actor.name}.${newer.name}`, older.params, newer.params, newer.at, textNow, ofActors),
      ),
      ...tasks.flatMap(({ older, newer }) =>
        compareCalls(newer.name, older.args, newer.args, newer.at, textNow, ofTasks),
      ),
    ];
  },
};

/** The advice for a parameter that has gone, and for one that has another type. */
interface Fixes {
  readonly gone: string;
  readonly changed: string;
}

const ofActors: Fixes = {
  gone: "Keep it; the actor may leave it unused.",
  changed: "Add an endpoint with another name, and keep this one for older callers.",
};
const ofTasks: Fixes = {
  gone: "Keep it; the task may leave it unused.",
  changed: "Add a task with another name, and keep this one for its callers.",
};

/** Compares parameters by position. Their names do not matter to callers. */
function compareCalls(
  place: string,
  older: readonly Parameter[],
  newer: readonly Parameter[],
  at: Position,
  textNow: (type: Type) => string,
  fixes: Fixes,
): readonly BreakFinding[] {
  const found = (text: string, where: Position, fix: string): readonly BreakFinding[] => [
    {
      place,
      at: where,
      side: "newer",
      text: `${place}: ${text}: calls do not compile`,
      fix,
    },
  ];
  for (const [i, was] of older.entries()) {
    const is = newer[i];
    if (is === undefined) return found(`the parameter ${was.name} has gone`, at, fixes.gone);
    if (textNow(was.type) !== typeText(is.type)) {
      const text = `parameter ${i + 1}, ${is.name}, was ${typeText(was.type)} and is ${typeText(is.type)}`;
      return found(text, is.at, fixes.changed);
    }
    if (was.optional && !is.optional)
      return found(`the parameter ${is.name} must be given now`, is.at, `Write \`${is.name}?\`.`);
  }
  const added = newer.slice(older.length).find(({ optional }) => !optional);
  if (added === undefined) return [];
  return found(`the parameter ${added.name} is new and must be given`, added.at, `Write \`${added.name}?\`.`);
}
