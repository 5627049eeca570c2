/**
 * Qualified names of declarations. `Order.Line` is the type `Line` in the namespace `Order`. The parts of a name
 * contain no dots.
 */

/** Returns whether a declaration is inside a namespace. */
export function isNested(name: string): boolean {
  return name.includes(".");
}

/** Returns the last part of a name: `Line` for `Order.Line`. */
export function simpleName(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** Returns the namespace of a declaration: `Order` for `Order.Line`, the empty string at the top level. */
export function namespaceOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf(".")));
}

/** Returns the first part of a name, which is what a file exports or keeps private: `Order` for `Order.Line.Tax`. */
export function rootName(name: string): string {
  const end = name.indexOf(".");
  return end < 0 ? name : name.slice(0, end);
}

/** Returns the name without dots, for places that do not allow them: `OrderLine` for `Order.Line`. */
export function flatName(name: string): string {
  if (!isNested(name)) return name;
  const [first = "", ...others] = name.split(".");
  return first + others.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
}

/** Returns the namespaces around a declaration, outermost first: `Order` and `Order.Line` for `Order.Line.Tax`. */
export function namespacesOf(name: string): readonly string[] {
  const parts = name.split(".");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("."));
}

/** Returns whether a text is a valid name of a declaration. */
export function isQualifiedName(text: string): boolean {
  return /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)*$/u.test(text);
}
