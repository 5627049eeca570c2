/**
 * Names of declarations: `Order.Line` is the type `Line` in the namespace `Order`. The parts of a name have no dots.
 */

/** Whether a declaration stands in a namespace. */
export function isNested(name: string): boolean {
  return name.includes(".");
}

/** `Line` of `Order.Line`. */
export function simpleName(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** `Order` of `Order.Line`; empty for a declaration at the top level. */
export function namespaceOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf(".")));
}

/** `Order` of `Order.Line.Tax`: what a file exports, or keeps to itself. */
export function rootName(name: string): string {
  const end = name.indexOf(".");
  return end < 0 ? name : name.slice(0, end);
}

/** `OrderLine` of `Order.Line`: for places where names have no dots. */
export function flatName(name: string): string {
  if (!isNested(name)) return name;
  const [first = "", ...others] = name.split(".");
  return first + others.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
}

/** `Order` and `Order.Line` of `Order.Line.Tax`: the namespaces around a declaration, the outermost first. */
export function namespacesOf(name: string): readonly string[] {
  const parts = name.split(".");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("."));
}

/** Whether a text can be the name of a declaration. */
export function isQualifiedName(text: string): boolean {
  return /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)*$/u.test(text);
}
