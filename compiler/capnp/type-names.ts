/** Chooses the names of structs and enumerations. Declared names are kept, and derived names avoid them. */
import { createHash } from "node:crypto";
import { type DeclarationKey, type Module, type SchemaIndex, type Type, textOf, typeKey } from "../model/index.js";
import { typeName, uniqueName } from "./spelling.js";

export class CapnpTypeNames {
  readonly #index: SchemaIndex;
  readonly #fileOf: (module: Module) => object;
  readonly #names = new Map<object, Set<string>>();
  readonly #declaredNames = new Map<string, string>();

  constructor(index: SchemaIndex, fileOf: (module: Module) => object) {
    this.#index = index;
    this.#fileOf = fileOf;
  }

  /** Returns the names that are in use in a file or in a struct. */
  namesIn(scope: object): Set<string> {
    const known = this.#names.get(scope) ?? new Set<string>();
    this.#names.set(scope, known);
    return known;
  }

  /** Returns the name of a type, which is unique in its file: `Tree`, `PageOfItem`. */
  nameOf(ref: Extract<Type, { kind: "ref" }>): string {
    const key = typeKey(ref);
    const known = this.#declaredNames.get(key);
    if (known !== undefined) return known;
    const names = this.namesIn(this.#fileOf(this.#index.moduleOf(ref.target)));
    const wanted = typeName(this.#wordFor(ref));
    const name = ref.args.length === 0 && !this.#hasDeclared(ref.target, wanted) ? wanted : uniqueName(wanted, names);
    this.#declaredNames.set(key, name);
    return name;
  }

  /** Returns whether another declaration of the file uses the name. */
  #hasDeclared(key: DeclarationKey, name: string): boolean {
    return [...this.#declaredNames].some(([other, taken]) => {
      return taken === name && other !== key && other.slice(0, other.indexOf("#")) === key.slice(0, key.indexOf("#"));
    });
  }

  #wordFor(type: Type): string {
    switch (type.kind) {
      case "ref": {
        const { name } = this.#index.type(type.target);
        return type.args.length === 0 ? name : `${name} of ${type.args.map((arg) => this.#wordFor(arg)).join(" and ")}`;
      }
      case "scalar":
        return type.scalar;
      case "wellKnown":
        return type.name;
      case "typedArray":
        return `${type.element} array`;
      case "array":
        return `list of ${this.#wordFor(type.element)}`;
      case "set":
        return `set of ${this.#wordFor(type.element)}`;
      case "map":
        return `map of ${this.#wordFor(type.key)} to ${this.#wordFor(type.value)}`;
      case "record":
        return `record of ${this.#wordFor(type.value)}`;
      case "nullable":
        return `nullable ${this.#wordFor(type.inner)}`;
      default:
        return `${type.kind} ${createHash("sha256").update(textOf(type)).digest("hex").slice(0, 6)}`;
    }
  }
}
