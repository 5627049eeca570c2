/**
 * Types as the lock writes them: short, on one line, without the ids of other declarations. Two texts are equal when the
 * types are the same as far as names go.
 */
import type { DeclarationKey, Type } from "../model/index.js";

/** The name of a declaration, without its file. */
export function nameOf(key: DeclarationKey): string {
  return key.slice(key.lastIndexOf("#") + 1);
}

export function typeText(type: Type): string {
  switch (type.kind) {
    case "scalar":
      return type.scalar;
    case "typedArray":
      return `${type.element}array`;
    case "array":
      return `${typeText(type.element)}[]`;
    case "tuple": {
      const elements = type.elements.map((element) => typeText(element.type) + (element.optional ? "?" : ""));
      if (type.rest !== undefined) elements.push(`...${typeText(type.rest)}[]`);
      return `[${elements.join(", ")}]`;
    }
    case "map":
      return `map<${typeText(type.key)}, ${typeText(type.value)}>`;
    case "set":
      return `set<${typeText(type.element)}>`;
    case "record":
      return `record<${typeText(type.value)}>`;
    case "nullable":
      return `nullable<${typeText(type.inner)}>`;
    case "ref":
      return nameOf(type.target) + (type.args.length === 0 ? "" : `<${type.args.map(typeText).join(", ")}>`);
    case "parameter":
      return type.name;
    case "inline":
      return type.shape.kind === "alias" ? typeText(type.shape.type) : type.shape.kind;
    case "port":
      return `port<${typeText(type.element)}>`;
    case "mesh":
      return `mesh<${[nameOf(type.actor), ...(type.dimensions ?? []).map((name) => JSON.stringify(name))].join(", ")}>`;
    case "rdmaBuffer":
      return "rdmabuffer";
    case "tensor":
      return "tensor";
    case "wellKnown":
      return type.name.toLowerCase();
    case "unsupported":
      return "unsupported";
  }
}
