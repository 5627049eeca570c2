/**
 * Parses the types of removed members from their texts in the lock file. The position of a member depends on the sizes
 * of all earlier members, so a removed member keeps its size. An inline shape is parsed without its members, which do
 * not change its size.
 */
import { type ScalarName, type Type, type TypedArrayElement, wellKnownNames } from "../model/index.js";

/**
 * Returns the type with a name, or undefined if the type is unknown. The name `enum` stands for an inline enumeration.
 */
export type ResolveTypeName = (name: string, args: readonly Type[]) => Type | undefined;

const scalars = new Set<string>(
  "boolean double float32 int32 uint32 sint32 fixed32 sfixed32 int64 uint64 sint64 fixed64 sfixed64 string bytes date".split(
    " ",
  ),
);

const typedArray = /^(int8|uint8clamped|int16|uint16|int32|uint32|bigint64|biguint64|float32|float64)array$/;

/** A struct whose members are unknown. */
export const anyStruct: Type = { kind: "inline", shape: { kind: "message", fields: [] } };

/** @returns undefined if the text names an unknown type */
export function parseRetiredType(text: string, resolve: ResolveTypeName): Type | undefined {
  try {
    return new RetiredTypeParser(text, resolve).whole();
  } catch (error) {
    if (error instanceof UnknownRetiredType) return undefined;
    throw error;
  }
}

class UnknownRetiredType extends Error {}

class RetiredTypeParser {
  readonly #text: string;
  readonly #resolve: ResolveTypeName;
  #at = 0;

  constructor(text: string, resolve: ResolveTypeName) {
    this.#text = text;
    this.#resolve = resolve;
  }

  whole(): Type {
    const type = this.#type();
    if (this.#at < this.#text.length) throw new UnknownRetiredType();
    return type;
  }

  #type(): Type {
    let type = this.#simple();
    while (this.#skip("[]")) type = { kind: "array", element: type, readonly: false };
    return type;
  }

  #simple(): Type {
    if (this.#skip("[")) return this.#tuple();
    const name = /^[^<>[\],? ]+/.exec(this.#text.slice(this.#at))?.[0];
    if (name === undefined) throw new UnknownRetiredType();
    this.#at += name.length;
    const isMesh = name === "mesh" && this.#text[this.#at] === "<";
    const args = isMesh ? this.#skipMesh() : this.#skip("<") ? this.#types(">") : [];
    return this.#named(name, args);
  }

  #named(name: string, args: readonly Type[]): Type {
    const [first, second] = args;
    if (first === undefined) {
      if (scalars.has(name)) return { kind: "scalar", scalar: name as ScalarName };
      const element = typedArray.exec(name)?.[1];
      if (element !== undefined) return { kind: "typedArray", element: element as TypedArrayElement };
      if (name === "message" || name === "union" || name === "oneof") return anyStruct;
      if (name === "mesh" || name === "tensor") return { kind: "tensor" };
      if (name === "rdmabuffer") return { kind: "rdmaBuffer" };
    } else {
      if (name === "nullable") return { kind: "nullable", inner: first };
      if (name === "set") return { kind: "set", element: first, readonly: false };
      if (name === "record") return { kind: "record", value: first };
      if (name === "objectref") return { kind: "objectRef", element: first };
      if (name === "port") return { kind: "port", element: first };
      if (name === "map" && second !== undefined) return { kind: "map", key: first, value: second, readonly: false };
    }
    const resolved = this.#resolve(name, args);
    if (resolved !== undefined) return resolved;
    if (wellKnownNames.some((known) => known.toLowerCase() === name)) return anyStruct;
    throw new UnknownRetiredType();
  }

  #tuple(): Type {
    const elements: { readonly type: Type; readonly optional: boolean }[] = [];
    while (!this.#skip("]")) {
      this.#skip(", ");
      this.#skip("...");
      const type = this.#type();
      elements.push({ type, optional: this.#skip("?") });
    }
    return { kind: "tuple", elements, readonly: false };
  }

  #types(end: string): readonly Type[] {
    const types: Type[] = [];
    while (!this.#skip(end)) {
      this.#skip(", ");
      types.push(this.#type());
    }
    return types;
  }

  /** Skips the names of dimensions. They are JSON, or consist of letters and digits. */
  #skipMesh(): readonly Type[] {
    this.#at = this.#text.indexOf(">", this.#at) + 1;
    return [];
  }

  #skip(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }
}
