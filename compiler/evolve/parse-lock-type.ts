/**
 * Parses types as the lock writes them. The lock names an inline shape by its kind alone, and a declaration by its
 * name; the caller resolves both.
 */

import type { ScalarName, Type, TypedArrayElement } from "../model/index.js";
import { wellKnownNames } from "../model/well-known.js";

export interface LockTypeResolver {
  /** Returns the declaration, actor or type parameter with a name, or undefined if none is known. */
  named(name: string, args: readonly Type[]): Type | undefined;
  /** Returns an inline type; `step` is the path to it from the parsed type, as `[]` in `Entry.meta[]`. */
  inline(kind: "message" | "oneof" | "union" | "enum", step: string): Type | undefined;
}

/** Returns the type, or undefined if the text is malformed or contains a name that is no longer known. */
export function parseLockType(text: string, names: LockTypeResolver): Type | undefined {
  return new LockTypeParser(text, names).whole();
}

const scalars: ReadonlySet<string> = new Set<ScalarName>([
  ...(["boolean", "double", "float32", "int32", "uint32", "sint32", "fixed32", "sfixed32", "int64", "uint64"] as const),
  ...(["sint64", "fixed64", "sfixed64", "string", "bytes", "date"] as const),
]);
const typedArrays: ReadonlySet<string> = new Set<TypedArrayElement>([
  ...(["int8", "uint8clamped", "int16", "uint16", "int32", "uint32"] as const),
  ...(["bigint64", "biguint64", "float32", "float64"] as const),
]);

class UnknownTypeName extends Error {}

class LockTypeParser {
  readonly #text: string;
  readonly #names: LockTypeResolver;
  #at = 0;

  constructor(text: string, names: LockTypeResolver) {
    this.#text = text;
    this.#names = names;
  }

  whole(): Type | undefined {
    try {
      const type = this.#type("");
      return this.#at === this.#text.length ? type : undefined;
    } catch (error) {
      if (error instanceof UnknownTypeName) return undefined;
      throw error;
    }
  }

  /** The marks of an array follow its element, but the element's own path is one step longer for each mark. */
  #type(step: string): Type {
    return this.#arrays(step, this.#arrayDepth());
  }

  #arrays(step: string, depth: number): Type {
    let type = this.#one(step + "[]".repeat(depth));
    for (let i = 0; i < depth; i++) type = { kind: "array", element: type, readonly: false };
    this.#at += "[]".length * depth;
    return type;
  }

  /** Returns how many `[]` follow the type that begins here. */
  #arrayDepth(): number {
    let at = this.#at;
    let open = 0;
    for (; at < this.#text.length; at++) {
      const c = this.#text[at] as string;
      if (open === 0 && /[,>?\]]/.test(c)) return 0;
      // The first bracket of a tuple opens the type itself; any later one follows the type.
      if (open === 0 && c === "[" && at > this.#at) break;
      if (c === "<" || c === "[") open++;
      if ((c === ">" || c === "]") && --open === 0) {
        at++;
        break;
      }
    }
    return (/^(\[\])*/.exec(this.#text.slice(at))?.[0].length ?? 0) / 2;
  }

  #one(step: string): Type {
    if (this.#skip("[")) return this.#tuple(step);
    const name = this.#name();
    if (this.#text[this.#at] !== "<") return this.#plain(name, step);
    this.#at++;
    switch (name) {
      case "map": {
        const key = this.#type(`${step}{key}`);
        this.#expect(",");
        return this.#close({ kind: "map", key, value: this.#type(`${step}{}`), readonly: false });
      }
      case "set":
        return this.#close({ kind: "set", element: this.#type(`${step}[]`), readonly: false });
      case "record":
        return this.#close({ kind: "record", value: this.#type(`${step}{}`) });
      case "nullable":
        return this.#close({ kind: "nullable", inner: this.#type(step) });
      case "port":
        return this.#close({ kind: "port", element: this.#type(`${step}(port)`) });
      case "objectref":
        return this.#close({ kind: "objectRef", element: this.#type(`${step}(value)`) });
      case "mesh":
        return this.#mesh();
      default:
        return this.#reference(name, step);
    }
  }

  #plain(name: string, step: string): Type {
    const wellKnown = wellKnownNames.find((known) => known.toLowerCase() === name);
    if (wellKnown !== undefined) return { kind: "wellKnown", name: wellKnown };
    if (scalars.has(name)) return { kind: "scalar", scalar: name as ScalarName };
    const element = /^(\w+)array$/.exec(name)?.[1];
    if (element !== undefined && typedArrays.has(element)) {
      return { kind: "typedArray", element: element as TypedArrayElement };
    }
    switch (name) {
      case "rdmabuffer":
        return { kind: "rdmaBuffer" };
      case "tensor":
        return { kind: "tensor" };
      case "message":
      case "oneof":
      case "union":
      case "enum":
        return requireKnown(this.#names.inline(name, step));
      default:
        return requireKnown(this.#names.named(name, []));
    }
  }

  #reference(name: string, step: string): Type {
    const args: Type[] = [];
    do args.push(this.#type(`${step}<${args.length}>`));
    while (this.#comma());
    return this.#close(requireKnown(this.#names.named(name, args)));
  }

  #mesh(): Type {
    const actor = requireKnown(this.#names.named(this.#name(), []));
    if (actor.kind !== "mesh") throw new UnknownTypeName();
    const dimensions: string[] = [];
    while (this.#comma()) dimensions.push(this.#quoted());
    return this.#close(dimensions.length === 0 ? actor : { ...actor, dimensions });
  }

  #tuple(step: string): Type {
    const elements: { readonly type: Type; readonly optional: boolean }[] = [];
    let rest: Type | undefined;
    if (!this.#skip("]")) {
      do {
        if (this.#skip("...")) {
          // The last mark shows the repetition. It is not a step of the path.
          const depth = this.#arrayDepth() - 1;
          if (depth < 0) throw new UnknownTypeName();
          rest = this.#arrays(`${step}[...]`, depth);
          this.#expect("[]");
        } else {
          const type = this.#type(`${step}[${elements.length}]`);
          elements.push({ type, optional: this.#skip("?") });
        }
      } while (this.#comma());
      this.#expect("]");
    }
    return { kind: "tuple", elements, ...(rest !== undefined && { rest }), readonly: false };
  }

  #close(type: Type): Type {
    this.#expect(">");
    return type;
  }

  #comma(): boolean {
    if (!this.#skip(",")) return false;
    this.#skip(" ");
    return true;
  }

  #name(): string {
    const found = /[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)*/uy;
    found.lastIndex = this.#at;
    const name = found.exec(this.#text)?.[0];
    if (name === undefined) throw new UnknownTypeName();
    this.#at += name.length;
    return name;
  }

  #quoted(): string {
    const found = /"(?:[^"\\]|\\.)*"/y;
    found.lastIndex = this.#at;
    const text = found.exec(this.#text)?.[0];
    if (text === undefined) throw new UnknownTypeName();
    this.#at += text.length;
    try {
      return JSON.parse(text) as string;
    } catch {
      // The lock was edited by hand.
      throw new UnknownTypeName();
    }
  }

  #skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #expect(text: string): void {
    if (!this.#skip(text)) throw new UnknownTypeName();
    if (text === ",") this.#skip(" ");
  }
}

function requireKnown(type: Type | undefined): Type {
  if (type === undefined) throw new UnknownTypeName();
  return type;
}
