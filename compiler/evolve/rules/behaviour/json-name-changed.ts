/**
 * Reports names that changed in JSON or `.proto` files while the name in TypeScript did not. The external name of a
 * member comes from `@name`; for values of an inline enum, the name of the member that contains it counts too.
 * TypeScript identifies parameters and elements of tuples by position, but JSON does so by name. External callers find
 * endpoints by `@name` and actors by their package.
 */

import type { Pair } from "../../../../shared/evolution/pair.js";
import type { Endpoint } from "../../../model/index.js";
import type { BreakFinding, BreakRule } from "../../break-rule.js";
import { compareMembers, type StateComparison } from "../../comparison.js";
import type { EndpointPair } from "../../endpoint-pair.js";
import { elementNames, externalNames, methodNames, parameterNames, serviceNames } from "../../external-names.js";

export const jsonNameChanged: BreakRule = {
  code: "VC5055",
  name: "json-name-changed",
  class: "BEHAVIOUR",
  find(comparison) {
    return [
      ...memberFindings(comparison),
      ...tupleFindings(comparison),
      ...comparison.endpoints.flatMap((pair) => [...parameterFindings(pair), ...methodFindings(comparison, pair)]),
      ...serviceFindings(comparison),
    ];
  },
};

function memberFindings(comparison: StateComparison): readonly BreakFinding[] {
  return comparison.shapes.flatMap((shape) =>
    compareMembers(shape).pairs.flatMap((pair): BreakFinding[] => {
      if (pair.older.name !== pair.newer.name) return [];
      const names = externalNames(comparison, shape, pair);
      if (names === undefined) return [];
      const { older, newer } = names;
      if (older.proto === newer.proto && older.json === newer.json) return [];
      const place = `${shape.place}.${pair.newer.name}`;
      const text =
        older.json === newer.json
          ? `${place} was ${older.proto} in .proto files and is ${newer.proto}: code in other languages that uses it does not compile`
          : `${place} was ${older.json} in JSON and is ${newer.json}: readers of JSON do not find it`;
      const canBeNamed = shape.newer.kind !== "enum" || shape.newer.origin === "enum";
      const tag = older.proto === newer.proto ? `@json ${older.json}` : `@name ${older.proto}`;
      const fix = canBeNamed && { fix: `Write \`${tag}\` above it.` };
      return [{ place, at: pair.newer.at, side: "newer", text, ...fix }];
    }),
  );
}

function tupleFindings({ tuples }: StateComparison): readonly BreakFinding[] {
  return tuples.flatMap(({ place, older, newer, at }) => {
    const before = elementNames(older);
    return elementNames(newer).flatMap((is, i): BreakFinding[] => {
      const was = before[i];
      if (was === undefined || was === is) return [];
      const text = `element ${i + 1} of ${place} was ${was} in JSON and is ${is}: what the other side writes as ${was} is not read as this element`;
      return [{ place: `${place}[${i}]`, at, side: "newer", text, fix: `Give it the label ${was} again.` }];
    });
  });
}

function parameterFindings({ older, newer, actor }: EndpointPair): readonly BreakFinding[] {
  const before = parameterNames(sent(older));
  const after = parameterNames(sent(newer));
  return sent(newer).flatMap((parameter): BreakFinding[] => {
    const [was, is] = [before.get(parameter.id), after.get(parameter.id)];
    if (was === undefined || was === is) return [];
    const place = `${actor.name}.${newer.name}.${parameter.name}`;
    const text = `the parameter ${parameter.name} of ${actor.name}.${newer.name} was ${was} in JSON and is ${is}: what callers in JSON give as ${was} is not found`;
    return [{ place, at: parameter.at, side: "newer", text, fix: `Call it ${was} again.` }];
  });
}

/** Returns the parameters that callers pass, which excludes the port of `@respond`. */
function sent({ params, options }: Endpoint): Endpoint["params"] {
  return options.respond ? params.slice(1) : params;
}

function methodFindings(
  { states: sides }: StateComparison,
  { older, newer, actor }: EndpointPair,
): readonly BreakFinding[] {
  if (older.name !== newer.name) return [];
  const was = methodNames(sides.older.lowered).get(actor.id)?.get(older.id);
  const is = methodNames(sides.newer.lowered).get(actor.id)?.get(newer.id);
  if (was === undefined || is === undefined || was === is) return [];
  const place = `${actor.name}.${newer.name}`;
  const text = `${place} was ${was} in .proto files and at the gateway and is ${is}: callers from outside do not find it`;
  return [{ place, at: newer.at, side: "newer", text, fix: `Write \`@name ${was}\` above it.` }];
}

function serviceFindings({ states: sides, actors }: StateComparison): readonly BreakFinding[] {
  const [before, after] = [serviceNames(sides.older.lowered), serviceNames(sides.newer.lowered)];
  return actors.flatMap(
    ({ older, newer }: Pair<{ id: number; name: string; at: BreakFinding["at"] }>): BreakFinding[] => {
      const [was, is] = [before.get(older.id), after.get(newer.id)];
      if (older.name !== newer.name || was === undefined || is === undefined || was === is) return [];
      const text = `${newer.name} was ${was} in .proto files and at the gateway and is ${is}: callers from outside do not find it`;
      return [
        { place: newer.name, at: newer.at, side: "newer", text, fix: "Name the older package in `proto.package`." },
      ];
    },
  );
}
