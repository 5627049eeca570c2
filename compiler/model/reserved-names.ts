/**
 * Names that an endpoint cannot have, because every mesh or actor already has a member of this name, with the reasons.
 * A test compares this list with the members of the runtime's classes.
 */

const mesh = "slice split rename flatten byKey extent size at toTable ready stop checkpoint".split(" ");
/** Members of endpoints. They are reserved on meshes too. */
const adverbs = "call callOne callSettled broadcast choose stream rref reduce map mapSettled send with".split(" ");
const actor = "init supervise undeliverable cleanup context".split(" ");
const object = [
  ..."constructor toString toLocaleString toJSON valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable".split(" "),
  ..."__proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ prototype".split(" "),
];
const promise = ["then", "catch", "finally"];

const reasons: ReadonlyMap<string, string> = new Map([
  ...mesh.map((name) => [name, "every mesh has a member of this name"] as const),
  ...adverbs.map((name) => [name, "it is a method of endpoints"] as const),
  ...actor.map((name) => [name, "every actor has a member of this name"] as const),
  ...object.map((name) => [name, "every object has a property of this name"] as const),
  ...promise.map((name) => [name, "a mesh with this member would be treated as a promise"] as const),
]);

export const reservedEndpointNames: ReadonlySet<string> = new Set(reasons.keys());

/** Returns why an endpoint cannot be called `name`, or undefined if it can. */
export function whyReserved(name: string): string | undefined {
  if (name.startsWith("$")) return "names that begin with $ are reserved for Viceroy";
  return reasons.get(name);
}
