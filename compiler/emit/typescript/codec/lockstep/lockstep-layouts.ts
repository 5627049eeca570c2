/**
 * The lockstep layout of types: slot sizes, offsets in rows, whether values can hold text or blocks, and which types
 * are recursive. The properties are computed once, on demand. This module prints no code.
 */
import { components } from "../../../../model/connected-components.js";
import { type CoreType, type PeeledType, peel, shapeOf } from "../../../../model/core-type.js";
import { partsOfShape, type SchemaIndex, typeKey } from "../../../../model/resolve.js";
import type { Field, Shape, TupleElement, Type } from "../../../../model/type.js";
import { layOutRow, type Row, type RowPart } from "./row.js";
import { wellKnownLayouts } from "./well-known-layouts.js";

type Reference = Extract<CoreType, { kind: "ref" }>;

/** The kinds of content that values can hold. */
interface ContentTraits {
  readonly text: boolean;
  readonly bulk: boolean;
  readonly tensors: boolean;
}

interface TypeTraits extends ContentTraits {
  readonly recursive: boolean;
  /** Whether the type refers to itself in any way. */
  readonly circular: boolean;
}

export class LockstepLayouts {
  readonly #index: SchemaIndex;
  readonly #traits = new Map<string, TypeTraits>();
  readonly #slots = new Map<string, number>();
  readonly #rows = new WeakMap<readonly RowPart[], Row>();

  constructor(index: SchemaIndex) {
    this.#index = index;
  }

  peel(type: Type): PeeledType {
    return peel(type, this.#index);
  }

  shape(core: Extract<CoreType, { kind: "ref" | "inline" }>): Shape {
    return shapeOf(core, this.#index);
  }

  /** Returns the size of a slot in bytes. Outside a row, the slot of a nullable type is 1 byte. */
  slotSize(core: CoreType): number {
    switch (core.kind) {
      case "scalar":
        return scalarSlot(core.scalar);
      case "array":
        return 1;
      case "wellKnown":
        return wellKnownLayouts[core.name].slot;
      case "tuple":
        return this.row(tupleParts(core)).size;
      case "inline":
        return this.#shapeSlot(core.shape);
      case "ref":
        return this.#referenceSlot(core);
      default:
        return 4;
    }
  }

  /** Returns the slot size of an element of an array, of a map, or of a case. Parts of rows are different. */
  elementSlotSize(type: Type): number {
    const { core, nullable } = this.peel(type);
    return nullable ? 1 : this.slotSize(core);
  }

  row(parts: readonly RowPart[]): Row {
    let row = this.#rows.get(parts);
    if (row === undefined) {
      row = layOutRow(
        parts,
        (type) => this.peel(type),
        (core) => this.slotSize(core),
      );
      this.#rows.set(parts, row);
    }
    return row;
  }

  holdsText(type: Type): boolean {
    return this.#holds(type, "text", (reference) => this.#traitsOf(reference));
  }

  holdsBulk(type: Type): boolean {
    return this.#holds(type, "bulk", (reference) => this.#traitsOf(reference));
  }

  holdsTensors(type: Type): boolean {
    return this.#holds(type, "tensors", (reference) => this.#traitsOf(reference));
  }

  /**
   * Returns whether values of a named type can contain values of the same type, which count towards the depth limit.
   */
  isRecursive(core: CoreType): boolean {
    return core.kind === "ref" && this.#traitsOf(core).recursive;
  }

  #shapeSlot(shape: Shape): number {
    switch (shape.kind) {
      case "message":
        return this.row(shape.fields).size;
      case "enum":
        return indexSize(shape.values.length);
      case "union":
        return indexSize(shape.variants.length);
      case "oneof":
        return indexSize(shape.cases.length);
      case "alias":
        return this.elementSlotSize(shape.type);
    }
  }

  #referenceSlot(reference: Reference): number {
    const key = typeKey(reference);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    // A type whose every value contains another value of it has no values, so any size is correct.
    const isEndless = this.#traitsOf(reference).circular && this.#contains(reference, key, new Set());
    const size = isEndless ? 1 : this.#shapeSlot(this.shape(reference));
    this.#slots.set(key, size);
    return size;
  }

  /** Returns whether the slot of `core` would contain the slot of the named type `key`. */
  #contains(core: CoreType, key: string, seen: Set<string>): boolean {
    const shape = core.kind === "ref" || core.kind === "inline" ? this.shape(core) : undefined;
    const parts = core.kind === "tuple" ? tupleParts(core) : shape?.kind === "message" ? shape.fields : [];
    const aliased = shape?.kind === "alias" ? [this.peel(shape.type).core] : [];
    const held = parts.filter(({ optional }) => !optional).map(({ type }) => this.peel(type));
    return [...aliased, ...held.filter(({ nullable }) => !nullable).map((part) => part.core)].some((part) => {
      if (part.kind !== "ref") return this.#contains(part, key, seen);
      const next = typeKey(part);
      if (next === key) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return this.#contains(part, key, seen);
    });
  }

  #holds(type: Type, what: keyof ContentTraits, factsOf: (reference: Reference) => TypeTraits | undefined): boolean {
    const { core } = this.peel(type);
    const leaf = leafTraits(core);
    if (leaf !== undefined) return leaf[what];
    if (core.kind === "ref") return factsOf(core)?.[what] ?? false;
    return partsOfCore(core).some((part) => this.#holds(part, what, factsOf));
  }

  #traitsOf(reference: Reference): TypeTraits {
    const key = typeKey(reference);
    if (!this.#traits.has(key)) this.#findTraits(key, reference);
    return this.#traits.get(key) as TypeTraits;
  }

  /**
   * Computes the traits of a named type without open parameters, and of all types that it reaches. It computes no
   * others, because watch mode emits few declarations again. Types that refer to each other share their content traits.
   * They are processed after all other types to which they refer.
   */
  #findTraits(root: string, reference: Reference): void {
    const nodes = new Map([[root, reference]]);
    const edges = new Map<string, ReadonlyMap<string, Reference>>();
    // A map can grow during its iteration.
    for (const [key, node] of nodes) {
      const targets = this.#referencesIn(partsOfShape(this.shape(node)));
      edges.set(key, targets);
      for (const [target, found] of targets) if (!this.#traits.has(target)) nodes.set(target, found);
    }
    const targetsOf = (key: string) => [...(edges.get(key)?.keys() ?? [])].filter((target) => nodes.has(target));
    for (const circle of components([...nodes.keys()].sort(), targetsOf)) {
      const shapes = circle.map((key) => this.shape(nodes.get(key) as Reference));
      const known = (part: Reference) => this.#traits.get(typeKey(part));
      const holds = (what: keyof ContentTraits) =>
        shapes.some((shape) => partsOfShape(shape).some((part) => this.#holds(part, what, known)));
      const facts = { text: holds("text"), bulk: holds("bulk"), tensors: holds("tensors") };
      const [first] = circle;
      const isCircle = circle.length > 1 || (first !== undefined && edges.get(first)?.has(first) === true);
      // Each object adds one level of depth. In a cycle with messages, aliases and unions add none.
      const objects = circle.filter((_, i) => isObject(shapes[i]!));
      const counted = objects.length > 0 ? objects : circle;
      for (const key of circle)
        this.#traits.set(key, { ...facts, circular: isCircle, recursive: isCircle && counted.includes(key) });
    }
  }

  #referencesIn(types: readonly Type[]): ReadonlyMap<string, Reference> {
    const found = new Map<string, Reference>();
    this.#addReferences(found, types);
    return found;
  }

  #addReferences(found: Map<string, Reference>, types: readonly Type[]): void {
    for (const type of types) {
      const { core } = this.peel(type);
      if (core.kind === "ref") found.set(typeKey(core), core);
      else if (leafTraits(core) === undefined) this.#addReferences(found, partsOfCore(core));
    }
  }
}

/** Returns whether the codec of this shape itself reads objects. */
function isObject(shape: Shape): boolean {
  if (shape.kind === "alias") return shape.type.kind === "inline" && isObject(shape.type.shape);
  if (shape.kind === "union") return shape.variants.some(({ type }) => type.kind === "inline");
  return shape.kind === "message";
}

/**
 * Returns the traits of a type without parts, or undefined for other types. The message type of a port is not a part of
 * the port.
 */
function leafTraits(core: CoreType): ContentTraits | undefined {
  switch (core.kind) {
    case "scalar":
      return { text: core.scalar === "string", bulk: core.scalar === "bytes", tensors: false };
    case "typedArray":
      return { text: false, bulk: true, tensors: false };
    case "wellKnown":
      return { ...wellKnownLayouts[core.name], tensors: false };
    case "port":
    case "mesh":
    case "rdmaBuffer":
      return { text: true, bulk: false, tensors: false };
    case "tensor":
      return { text: true, bulk: true, tensors: true };
    case "objectRef":
      return { text: true, bulk: true, tensors: false };
    default:
      return undefined;
  }
}

/** Returns the types of the parts of a value. The keys of a record are strings. */
function partsOfCore(core: CoreType): readonly Type[] {
  switch (core.kind) {
    case "array":
    case "set":
      return [core.element];
    case "map":
      return [core.key, core.value];
    case "record":
      return [{ kind: "scalar", scalar: "string" }, core.value];
    case "tuple":
      return tupleParts(core).map(({ type }) => type);
    case "inline":
      return partsOfShape(core.shape);
    default:
      return [];
  }
}

/** Returns the elements of a tuple as parts of a row. The rest elements are one array at the end. */
export function tupleParts({
  elements,
  rest,
}: Extract<Type, { kind: "tuple" }>): readonly (RowPart & Partial<TupleElement>)[] {
  if (rest === undefined) return elements;
  return [...elements, { type: { kind: "array", element: rest, readonly: false }, optional: false }];
}

/** Returns the fields in JavaScript's order of properties: numbers first. */
export function inPropertyOrder<T extends Pick<Field, "name">>(fields: readonly T[]): readonly T[] {
  const isIndex = ({ name }: T) => /^(0|[1-9]\d*)$/.test(name) && Number(name) < 2 ** 32 - 1;
  if (!fields.some(isIndex)) return fields;
  const indices = fields.filter(isIndex).sort((a, b) => Number(a.name) - Number(b.name));
  return [...indices, ...fields.filter((field) => !isIndex(field))];
}

/** Returns the size in bytes of an index below `count`. */
export function indexSize(count: number): number {
  return count <= 256 ? 1 : 2;
}

function scalarSlot(scalar: Extract<Type, { kind: "scalar" }>["scalar"]): number {
  switch (scalar) {
    case "boolean":
    case "string":
      return 1;
    case "double":
    case "date":
      return 8;
    default:
      return scalar.endsWith("64") ? 8 : 4;
  }
}
