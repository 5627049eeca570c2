/**
 * Checks the states of actors. A checkpoint outlives the program that wrote it, so a state is a message with a name in the
 * lock, and contains nothing that belongs to a running process.
 */
import { type Diagnostic, diagnostic } from "../../diagnostics/index.js";
import type { Schema, Type } from "../../model/index.js";
import { instantiate, partsOf, partsOfShape, type SchemaIndex, typeKey } from "../../model/resolve.js";

/** The kinds of types that belong to a running process, as the diagnostic names them. */
const handles: Readonly<Partial<Record<Type["kind"], string>>> = {
  port: "a port",
  mesh: "a mesh",
  rdmaBuffer: "an RdmaBuffer",
  tensor: "a tensor",
  objectRef: "an ObjectRef",
};

/** Returns the problems of the states of actors. */
export function checkStates(schema: Schema, index: SchemaIndex): readonly Diagnostic[] {
  return schema.modules.flatMap(({ actors }) =>
    actors.flatMap(({ name, state, at }) => {
      const why = state === undefined ? undefined : whyNotStored(state, index);
      return why === undefined ? [] : [diagnostic("VC1221", at, { name, why })];
    }),
  );
}

function whyNotStored(state: Type, index: SchemaIndex): string | undefined {
  if (state.kind === "unsupported") return undefined;
  if (!isNamedMessage(state, index)) return "it is not a named interface or object type";
  const handle = handleIn(state, index, new Set());
  return handle === undefined ? undefined : `it contains ${handle}, which belongs to a running process`;
}

/** Returns whether a type is a declared message or union, directly or through aliases. */
function isNamedMessage(type: Type, index: SchemaIndex): boolean {
  if (type.kind !== "ref" || type.args.length > 0) return false;
  const { shape } = index.type(type.target);
  if (shape.kind === "alias") return isNamedMessage(shape.type, index);
  return shape.kind !== "enum";
}

/** Returns the first handle that values of a type can contain. `seen` has the keys of the types that were searched. */
function handleIn(type: Type, index: SchemaIndex, seen: Set<string>): string | undefined {
  const handle = handles[type.kind];
  if (handle !== undefined) return handle;
  const parts = [...partsOf(type)];
  if (type.kind === "ref") {
    const key = typeKey(type);
    if (seen.has(key)) return undefined;
    seen.add(key);
    parts.push(...partsOfShape(instantiate(index.type(type.target), type.args)));
  }
  for (const part of parts) {
    const found = handleIn(part, index, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}
