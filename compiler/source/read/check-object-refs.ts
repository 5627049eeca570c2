/**
 * Checks where references to values of tasks are. They are not promises and cannot be awaited, so that no promise has one as its value: one
 * that is a result or a message would be awaited by mistake. Objects and arrays of references can be everywhere.
 */
import { type Diagnostic, diagnostic } from "../../diagnostics/index.js";
import type { ActorDeclaration, Position, Schema, Shape, TaskDeclaration, Type } from "../../model/index.js";
import { partsOf, partsOfShape, type SchemaIndex } from "../../model/resolve.js";

const awaited = "a promise cannot have a reference as its value";
const resolved = "a task gets the value of a reference that is its argument";

/** Returns the problems of references that are results, messages of ports, or arguments of tasks. */
export function checkObjectRefs(schema: Schema, index: SchemaIndex): readonly Diagnostic[] {
  return schema.modules.flatMap(({ types, actors, tasks }) => [
    ...types.flatMap(({ name, shape, at }) =>
      membersOf(shape, at).flatMap(([type, place]) => checkPorts(type, name, place, index)),
    ),
    ...actors.flatMap((actor) => checkActor(actor, index)),
    ...tasks.flatMap((task) => checkTask(task, index)),
  ]);
}

function checkActor({ name, args, endpoints }: ActorDeclaration, index: SchemaIndex): readonly Diagnostic[] {
  return [
    ...args.flatMap(({ type, at }) => checkPorts(type, name, at, index)),
    ...endpoints.flatMap(({ name: endpoint, params, result, stream, options, at }) => {
      const full = `${name}.${endpoint}`;
      const ports = params.flatMap((param) => checkPorts(param.type, full, param.at, index));
      if (result === undefined || options.respond) return ports;
      const place = stream ? `an item of the stream of ${full}` : `the result of ${full}`;
      const own = isObjectRef(result, index) ? [diagnostic("VC1125", at, { place, why: awaited })] : [];
      return [...ports, ...own, ...checkPorts(result, full, at, index)];
    }),
  ];
}

function checkTask({ name, args, result, at }: TaskDeclaration, index: SchemaIndex): readonly Diagnostic[] {
  const own = args.flatMap((arg) => [
    ...(isObjectRef(arg.type, index)
      ? [diagnostic("VC1125", arg.at, { place: `the argument ${arg.name} of task ${name}`, why: resolved })]
      : []),
    ...checkPorts(arg.type, name, arg.at, index),
  ]);
  if (result === undefined) return own;
  const lone = isObjectRef(result, index)
    ? [diagnostic("VC1125", at, { place: `the result of task ${name}`, why: awaited })]
    : [];
  return [...own, ...lone, ...checkPorts(result, name, at, index)];
}

/** Reports the ports in a type whose messages are references. */
function checkPorts(type: Type, owner: string, at: Position, index: SchemaIndex): readonly Diagnostic[] {
  const inside = partsOf(type).flatMap((part) => checkPorts(part, owner, at, index));
  if (type.kind !== "port" || !isObjectRef(type.element, index)) return inside;
  return [diagnostic("VC1125", at, { place: `the message of a port of ${owner}`, why: awaited }), ...inside];
}

/** Returns the types of the members of a shape, with their places. */
function membersOf(shape: Shape, at: Position): readonly (readonly [Type, Position])[] {
  if (shape.kind === "message") return shape.fields.map((field) => [field.type, field.at]);
  return partsOfShape(shape).map((type) => [type, at]);
}

/** Returns whether a type is a reference, or null, directly or through aliases. */
function isObjectRef(type: Type, index: SchemaIndex, seen: ReadonlySet<string> = new Set()): boolean {
  if (type.kind === "objectRef") return true;
  if (type.kind === "nullable") return isObjectRef(type.inner, index, seen);
  if (type.kind !== "ref" || seen.has(type.target)) return false;
  const { shape } = index.type(type.target);
  return shape.kind === "alias" && isObjectRef(shape.type, index, new Set([...seen, type.target]));
}
