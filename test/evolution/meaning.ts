/** Whether a value means the same to two sides: what has the same name, now or before, has the same value. */
import { isDeepStrictEqual } from "node:util";
import { instantiate, type SchemaIndex, type Shape, type Type } from "../../compiler/model/index.js";
import { originalName } from "./garden.js";

export interface Meant {
  readonly value: unknown;
  readonly type: Type;
  readonly index: SchemaIndex;
}

/** What means something else to the one who gets it; undefined: nothing. What the other does not know it need not mean. */
export function misunderstood(sent: Meant, got: Meant, place = ""): string | undefined {
  const [a, b] = [sent, got].map(shapeOf) as [Shape | Type, Shape | Type];
  const wrong = `${place}: ${JSON.stringify(sent.value)} is ${JSON.stringify(got.value)}`;
  if (a.kind === "enum" && b.kind === "enum") {
    const [was, is] = [namesOf(a, sent.value), namesOf(b, got.value)];
    // A number, or a value, that the other one does not know.
    return is.length === 0 || was.some((name) => is.includes(name)) ? undefined : wrong;
  }
  // Enums are open: their numbers may be read as numbers.
  if (a.kind === "enum" || b.kind === "enum") {
    return b.kind === "wellKnown" || a.kind === "wellKnown" ? wrong : undefined;
  }
  if (a.kind === "message" && b.kind === "message") return ofMessages(sent, a, got, b, place);
  if (a.kind === "oneof" && b.kind === "oneof") {
    const [was, is] = [sent.value, got.value] as { case: string; value: unknown }[];
    if (is?.case === "$unknown") return undefined;
    if (originalName(was?.case ?? "") !== originalName(is?.case ?? "")) return wrong;
    return isDeepStrictEqual(was?.value, is?.value) ? undefined : wrong;
  }
  if (a.kind === "union" && b.kind === "union") {
    const [was, is] = [sent.value, got.value] as { kind: string }[];
    return is?.kind === "$unknown" || was?.kind === is?.kind ? undefined : wrong;
  }
  if (a.kind === "array" && b.kind === "array") {
    const [was, is] = [sent.value as unknown[], got.value as unknown[]];
    if (was.length !== is.length) return wrong;
    return first(was, (one, i) =>
      misunderstood(
        { ...sent, value: one, type: a.element },
        { ...got, value: is[i], type: b.element },
        `${place}[${i}]`,
      ),
    );
  }
  return isDeepStrictEqual(sent.value, got.value) ? undefined : wrong;
}

function ofMessages(
  sent: Meant,
  a: Extract<Shape, { kind: "message" }>,
  got: Meant,
  b: Extract<Shape, { kind: "message" }>,
  place: string,
): string | undefined {
  const known = new Map(b.fields.map((field) => [originalName(field.name), field]));
  const lost = first(a.fields, (field) => {
    const other = known.get(originalName(field.name));
    if (other === undefined) return undefined;
    known.delete(originalName(field.name));
    const [was, is] = [member(sent.value, field.name), member(got.value, other.name)];
    const here = `${place}.${field.name}`;
    if (was === undefined || is === undefined) {
      return isNothing(was) && isNothing(is) ? undefined : `${here}: ${JSON.stringify(was)} is ${JSON.stringify(is)}`;
    }
    return misunderstood({ ...sent, value: was, type: field.type }, { ...got, value: is, type: other.type }, here);
  });
  if (lost !== undefined) return lost;
  // Nobody has sent these.
  return first([...known.values()], ({ name }) =>
    isNothing(member(got.value, name)) ? undefined : `${place}.${name} is ${JSON.stringify(member(got.value, name))}`,
  );
}

function first<T>(list: readonly T[], find: (one: T, i: number) => string | undefined): string | undefined {
  for (const [i, one] of list.entries()) {
    const found = find(one, i);
    if (found !== undefined) return found;
  }
  return undefined;
}

function member(object: unknown, name: string): unknown {
  return Object.hasOwn(object as object, name) ? (object as Record<string, unknown>)[name] : undefined;
}

/** Absent, or the default that is not on the wire. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === 0 || value === "" || isDeepStrictEqual(value, []);
}

function shapeOf({ type, index }: Meant): Shape | Type {
  if (type.kind === "ref") return instantiate(index.type(type.target), type.args);
  return type.kind === "inline" ? type.shape : type;
}

function namesOf({ values }: Extract<Shape, { kind: "enum" }>, value: unknown): readonly string[] {
  return values.filter((one) => one.value === value).map(({ name }) => originalName(name));
}
